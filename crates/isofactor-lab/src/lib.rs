//! Data whose truth is known, to try the program on and to judge it by.

pub mod made;

pub use made::{MadePanel, Noise, NoiseKind, Observed, Panel};
