//! Laws that the core must obey, one topic a module.

// Functions of a test may fail as the test itself may.
#![allow(clippy::unwrap_used)]

mod against_reference;
mod descent;
mod evaluation;
mod gradients;
mod invariance;
mod lbfgs;
mod lemmas;
mod projections;
mod recommend;
mod recovery;
mod reference;
mod resume;
mod sample;
mod similar;
mod truth;
