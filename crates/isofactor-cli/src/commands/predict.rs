//! `isofactor predict`: pairs in, predictions out.

use std::io;

use isofactor_io::{Source, TableFormat, Target, read_model, read_pairs, write_predictions};

use crate::{
    args::PredictArgs,
    failure::Failure,
    paths,
    text::{say, thousands},
};

/// Predicts every pair; names the model does not know get what is known about the other one.
pub fn run(args: &PredictArgs) -> Result<(), Failure> {
    paths::check(
        &[("the model", Some(&args.model)), ("the pairs", Some(&args.pairs))],
        &[("--out", args.out.as_ref())],
    )?;
    let target = args.out.as_deref().map(Target::new).transpose()?;
    let known = read_model(&args.model)?;
    let format = TableFormat {
        row: args.row.clone(),
        column: args.column.clone(),
        ..TableFormat::default()
    };
    let pairs = read_pairs(&Source::new(&args.pairs), &format)?;
    let mut unknown = 0;
    let predictions: Vec<f64> = pairs
        .iter()
        .map(|(row, column)| {
            let (row, column) = (known.rows.find(row), known.columns.find(column));
            unknown += usize::from(row.is_none() || column.is_none());
            known.model.predict(row, column)
        })
        .collect();
    let named = pairs.iter().zip(&predictions).map(|((r, c), &p)| (r.as_str(), c.as_str(), p));
    match target {
        Some(target) => target.write(|out| write_predictions(out, named))?,
        None => match write_predictions(&mut io::stdout().lock(), named) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            written => written?,
        },
    }
    if unknown > 0 {
        let count = thousands(unknown);
        say(&format!("{count} pairs name a row or column that the model has never seen"));
    }
    Ok(())
}
