//! The program `isofactor`: raw arguments, then a plan, then the run, then an exit code.

mod args;
mod commands;
mod config_file;
mod duration;
mod failure;
mod given;
mod going_on;
mod interrupt;
mod keeper;
mod model_args;
mod names;
mod new_units;
mod paths;
mod progress;
mod reading;
mod summary;
mod table_args;
mod table_out;
mod text;

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;

use crate::{
    args::{Args, Command},
    failure::Failure,
};

/// Keeps freed memory for what comes next: a fit asks for the same large arrays again and again,
/// and giving pages back stops every thread.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    quiet_about_caught_panics();
    let raw: Vec<OsString> = std::env::args_os().collect();
    let outcome = config_file::expand(raw).and_then(|raw| match Args::try_parse_from(raw) {
        Ok(args) => run(args.command),
        Err(error) => Err(Failure::Clap(error)),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// A decoder that panics on a damaged file is caught and told in a sentence; nothing else need be
/// said about it.
fn quiet_about_caught_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !isofactor_io::panics_are_caught() {
            usual(panic);
        }
    }));
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Generate(args) => commands::generate::run(&args),
        Command::Fit(args) => commands::fit::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Evaluate(args) => commands::evaluate::run(&args),
        Command::Inspect(args) => commands::inspect::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Recommend(args) => commands::recommend::run(&args),
        Command::Similar(args) => commands::similar::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
        Command::Report(args) => commands::report::run(&args),
    }
}
