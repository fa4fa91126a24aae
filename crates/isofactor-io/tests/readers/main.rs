//! Laws of reading entries, one topic a module.

// Functions of a test may fail as the test itself may.
#![allow(clippy::unwrap_used)]

mod arrow;
mod fixtures;
mod matrices;
mod parquet;
mod support;
mod text;
