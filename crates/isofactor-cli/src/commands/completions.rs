//! `isofactor completions`: what a shell needs to complete commands and options.

use clap::CommandFactory;

use crate::{args::Args, failure::Failure, model_args::CompletionsArgs, table_out::TableOut};

/// Prints the script of a shell.
pub fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "isofactor", &mut script);
    TableOut::Stream.write(|out, _| out.write_all(&script))
}
