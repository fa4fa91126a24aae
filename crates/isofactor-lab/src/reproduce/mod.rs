//! The paper's experiments: each is a file in `experiments/` and an entry in `experiments.toml`.
//!
//! An experiment is a list of independent cases and what is concluded from them. The [`Desk`] runs
//! the cases on all cores, keeps each finished one on disk so that an interrupted run goes on where
//! it was, and counts the work done. What comes out are [`Findings`]: a verdict by a computed
//! criterion, tables, figures, data. [`write_experiment`] and [`write_page`] put them on disk.

mod desk;
mod error;
mod experiments;
mod files;
mod findings;
mod made_fit;
mod page;
mod real;
mod ridge;
mod statistics;
mod study;
mod tables;

pub use desk::{Desk, Progress};
pub use error::{Error, Result};
pub use experiments::Experiment;
pub use files::{write_experiment, write_page};
pub use findings::{Findings, Outcome, Verdict};
pub use study::{Circumstances, Planned};
