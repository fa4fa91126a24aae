//! `isofactor man`: manual pages.

use std::{io, path::Path};

use clap::{Command, CommandFactory};
use isofactor_io::Target;

use crate::{
    args::Args,
    failure::Failure,
    model_args::ManArgs,
    table_out::TableOut,
    text::{say, thousands},
};

/// Prints one page, or writes all of them.
pub fn run(args: &ManArgs) -> Result<(), Failure> {
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    if let Some(folder) = &args.out {
        return write_all(&program, folder);
    }
    let command = match &args.command {
        None => program,
        Some(name) => page_of(&program, name).ok_or_else(|| {
            let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
            Failure::Usage(format!("there is no command '{name}': use one of {}", known.join(", ")))
        })?,
    };
    let page = rendered(command)?;
    TableOut::Stream.write(|out, _| out.write_all(&page))
}

/// The page of a command, which calls itself as one would call it.
fn page_of(program: &Command, name: &str) -> Option<Command> {
    let command = program.find_subcommand(name)?.clone();
    Some(command.version(env!("CARGO_PKG_VERSION")))
}

fn rendered(command: Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}

fn write_all(program: &Command, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Failure::Unexpected(format!("{}: cannot be made ({e})", folder.display())))?;
    let names = program.get_subcommands().map(Command::get_name);
    let pages =
        names.filter_map(|name| Some((format!("isofactor-{name}.1"), page_of(program, name)?)));
    let mut count = 0;
    for (file, command) in [("isofactor.1".to_owned(), program.clone())].into_iter().chain(pages) {
        let page = rendered(command)?;
        Target::new(&folder.join(file))?.write(|out| out.write_all(&page))?;
        count += 1;
    }
    say(&format!("wrote {} pages to {}", thousands(count), folder.display()));
    Ok(())
}
