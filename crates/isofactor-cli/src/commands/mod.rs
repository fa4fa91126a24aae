//! One file a command.

pub mod demo;
pub mod evaluate;
pub mod fit;
pub mod generate;
pub mod inspect;
pub mod predict;
pub mod report;
