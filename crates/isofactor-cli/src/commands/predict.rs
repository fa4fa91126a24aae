//! `isofactor predict`: pairs in, predictions out.

use std::{collections::HashMap, io, path::Path};

use isofactor::solver::NewUnit;
use isofactor_io::{LabelledModel, Labels, TableFormat, Target, read_model, write_predictions};

use super::fit::table_format;

use crate::{
    args::PredictArgs,
    failure::Failure,
    paths, reading,
    text::{say, thousands},
};

/// Rows and columns that the model has not seen, placed by entries of their own.
#[derive(Default)]
struct NewUnits {
    rows: HashMap<String, NewUnit>,
    columns: HashMap<String, NewUnit>,
}

impl NewUnits {
    fn read(path: &Path, format: &TableFormat, known: &LabelledModel) -> Result<Self, Failure> {
        if known.model.fold_in.is_none() {
            let sentence = "--with needs a model of --solver fast: others have no effects to place \
                            new rows and columns by";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        let (mut rows, mut columns) = (Labels::default(), Labels::default());
        let entries = reading::entries(path, format, &mut rows, &mut columns)?;
        let mut of_rows: EntriesOf = HashMap::new();
        let mut of_columns: EntriesOf = HashMap::new();
        let mut passed_over = 0;
        for entry in entries.iter() {
            let (row, column) = (rows.name(entry.row), columns.name(entry.column));
            match (known.rows.find(row), known.columns.find(column)) {
                (None, Some(column)) => {
                    of_rows.entry(row.to_owned()).or_default().push((column, entry.value));
                }
                (Some(row), None) => {
                    of_columns.entry(column.to_owned()).or_default().push((row, entry.value));
                }
                _ => passed_over += 1,
            }
        }
        if passed_over > 0 {
            say(&format!(
                "{}: {} entries passed over: of their row and column the model must know just one",
                path.display(),
                thousands(passed_over)
            ));
        }
        Ok(Self {
            rows: placed(of_rows, |entries| known.model.new_row(entries)),
            columns: placed(of_columns, |entries| known.model.new_column(entries)),
        })
    }
}

/// The entries of each new row (column): the other unit and the value.
type EntriesOf = HashMap<String, Vec<(usize, f64)>>;

fn placed(
    of: EntriesOf,
    unit: impl Fn(&[(usize, f64)]) -> Option<NewUnit>,
) -> HashMap<String, NewUnit> {
    of.into_iter().filter_map(|(name, entries)| Some((name, unit(&entries)?))).collect()
}

/// Predicts every pair; names the model does not know get what is known about the other one.
pub fn run(args: &PredictArgs) -> Result<(), Failure> {
    paths::check(
        &[
            ("the model", Some(&args.model)),
            ("the pairs", Some(&args.pairs)),
            ("the file of --with", args.with.as_ref()),
        ],
        &[("--out", args.out.as_ref())],
    )?;
    let target = args.out.as_deref().map(Target::new).transpose()?;
    let known = read_model(&args.model)?;
    let format = table_format(&args.table);
    let pairs = reading::pairs(&args.pairs, &format)?;
    let new = match &args.with {
        Some(path) => NewUnits::read(path, &format, &known)?,
        None => NewUnits::default(),
    };
    let mut unknown = 0;
    let predictions: Vec<f64> = pairs
        .iter()
        .map(|(row, column)| {
            let (new_row, new_column) = (new.rows.get(row), new.columns.get(column));
            let (row, column) = (known.rows.find(row), known.columns.find(column));
            unknown += usize::from(
                (row.is_none() && new_row.is_none()) || (column.is_none() && new_column.is_none()),
            );
            match (new_row, new_column) {
                (Some(new_row), _) => known.model.predict_new_row(new_row, column),
                (None, Some(new_column)) => known.model.predict_new_column(row, new_column),
                (None, None) => known.model.predict(row, column),
            }
        })
        .collect();
    let named = pairs.iter().zip(&predictions).map(|((row, column), &p)| (row, column, p));
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
