//! Data whose truth is known, to try the program on and to judge it by; the paper's experiments.

pub mod made;
pub mod reproduce;

pub use made::{MadePanel, Noise, NoiseKind, Observed, Panel};
