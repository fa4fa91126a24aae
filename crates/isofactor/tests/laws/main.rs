//! Laws that the core must obey, one topic a module.

mod against_reference;
mod descent;
mod gradients;
mod invariance;
mod lemmas;
mod projections;
mod recovery;
mod reference;
mod sample;
mod truth;
