//! `isofactor generate`: a panel whose truth is known.

use std::path::{Path, PathBuf};

use isofactor::{ConfigError, KnownLink, Shape};
use isofactor_io::{Source, Target, read_knots, write_entries, write_factors};
use isofactor_lab::{MadePanel, Noise, Observed, Panel};

use crate::{
    args::GenerateArgs,
    failure::Failure,
    paths,
    text::{say, thousands},
};

/// Makes the panel and writes it, with its truth if asked for.
pub fn run(args: &GenerateArgs) -> Result<(), Failure> {
    let made = MadePanel {
        shape: Shape { rows: args.rows, columns: args.columns },
        rank: args.rank,
        observed: observed(args)?,
        link: known_link(&args.link)?,
        noise: Noise { kind: args.noise_kind, deviation: args.noise },
        condition: args.condition,
        spread: args.spread,
        seed: args.seed,
    };
    let link = Some(PathBuf::from(&args.link)).filter(|path| is_table(path));
    paths::check(
        &[("the file of --link", link.as_ref())],
        &[("--out", Some(&args.out)), ("--truth", args.truth.as_ref())],
    )?;
    let entries = Target::new(&args.out)?;
    let truth_file = args.truth.as_deref().map(Target::new).transpose()?;
    let Panel { observations, truth } = made.make()?;
    write_entries(entries, &observations, None)?;
    if let Some(target) = truth_file {
        write_factors(target, truth.factors(), Some(truth.link()), None)?;
    }
    say(&format!(
        "wrote {} entries of a {} x {} panel to {}",
        thousands(observations.len()),
        thousands(args.rows),
        thousands(args.columns),
        args.out.display()
    ));
    Ok(())
}

fn observed(args: &GenerateArgs) -> Result<Observed, Failure> {
    if args.observed == "all" {
        return Ok(Observed::All);
    }
    let count = args.observed.parse().map_err(|_| {
        let (field, got) = ("observed", args.observed.clone());
        isofactor::Error::from(ConfigError::Unknown { field, got, choices: "a number or all" })
    })?;
    Ok(if args.distinct { Observed::Distinct(count) } else { Observed::Drawn(count) })
}

/// Whether a path names a table of text.
pub fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "csv" || e == "tsv")
}

/// A link by name, or from a file of knots.
pub fn known_link(text: &str) -> Result<KnownLink, Failure> {
    let path = Path::new(text);
    if is_table(path) {
        return Ok(KnownLink::Piecewise(read_knots(&Source::new(path))?));
    }
    Ok(text.parse::<KnownLink>().map_err(isofactor::Error::from)?)
}
