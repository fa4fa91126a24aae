//! One file a command.

pub mod compare;
pub mod completions;
pub mod demo;
pub mod evaluate;
pub mod export;
pub mod fit;
pub mod generate;
pub mod inspect;
pub mod man;
pub mod predict;
pub mod recommend;
pub mod report;
pub mod reproduce;
pub mod similar;
