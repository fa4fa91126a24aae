//! The program from outside: arguments and files in; exit code, output and files out.

// A test that cannot set its stage has to stop, also outside the functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod bad_data;
mod bad_models;
mod bad_settings;
mod config;
mod demo;
mod determinism;
mod evaluate;
mod examples;
mod export;
mod fast;
mod files;
mod fit;
mod generate;
mod guide;
mod help;
mod inspect;
#[cfg(target_os = "linux")]
mod interrupt;
mod kill;
mod long;
mod model_file;
mod pipes;
mod recommend;
mod report;
mod reproduce;
mod round_trip;
mod shell;
mod similar;
mod support;
mod trace;
