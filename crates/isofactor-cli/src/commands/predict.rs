//! `isofactor predict`: pairs in, predictions out.

use isofactor::Side;
use isofactor_io::{Cell, Field, TableWriter, read_model};

use crate::{
    args::PredictArgs,
    failure::Failure,
    new_units::NewUnits,
    paths, reading,
    table_out::TableOut,
    text::{say, thousands},
};

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
    let out = TableOut::open(args.out.as_deref())?;
    let known = read_model(&args.model)?;
    let format = args.table.format();
    let pairs = reading::pairs(&args.pairs, &format)?;
    let new = match &args.with {
        Some(path) => NewUnits::read("--with", path, &format, &known)?,
        None => NewUnits::default(),
    };
    let mut unknown = 0;
    let mut predict = |row: &str, column: &str| {
        let (new_row, new_column) =
            (new.of(Side::Rows).find(row), new.of(Side::Columns).find(column));
        let (row, column) = (known.rows.find(row), known.columns.find(column));
        unknown += usize::from(
            (row.is_none() && new_row.is_none()) || (column.is_none() && new_column.is_none()),
        );
        match (new_row, new_column) {
            (Some((new_row, _)), _) => known.model.predict_new_row(new_row, column),
            (None, Some((new_column, _))) => known.model.predict_new_column(row, new_column),
            (None, None) => known.model.predict(row, column),
        }
    };
    out.write(|out, kind| {
        let fields = vec![Field::text("row"), Field::text("column"), Field::number("prediction")];
        let mut table = TableWriter::new(out, kind, fields)?;
        for (row, column) in pairs.iter() {
            let prediction = predict(row, column);
            table.line([Cell::Text(row), Cell::Text(column), Cell::Number(prediction)])?;
        }
        table.finish()
    })?;
    if unknown > 0 {
        let count = thousands(unknown);
        say(&format!("{count} pairs name a row or column that the model has never seen"));
    }
    Ok(())
}
