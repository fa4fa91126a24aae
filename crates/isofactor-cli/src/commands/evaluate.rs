//! `isofactor evaluate`: predictions against observed values.

use isofactor::{Metrics, Observations, Shape, model::metrics};
use isofactor_io::{Labels, read_model};

use super::fit::table_format;
use crate::{
    args::EvaluateArgs,
    failure::Failure,
    reading,
    text::{short, show, thousands},
};

/// Reads the model and the values, and prints the errors.
pub fn run(args: &EvaluateArgs) -> Result<(), Failure> {
    let known = read_model(&args.model)?;
    let (mut rows, mut columns) = (Labels::default(), Labels::default());
    let format = table_format(&args.table);
    let entries = reading::entries(&args.data, &format, &mut rows, &mut columns)?;
    let shape = Shape { rows: rows.len(), columns: columns.len() };
    let observations = Observations::arrange(shape, entries)?;
    let row_numbers: Vec<Option<usize>> = rows.names().map(|name| known.rows.find(name)).collect();
    let column_numbers: Vec<Option<usize>> =
        columns.names().map(|name| known.columns.find(name)).collect();
    let result = metrics(&observations, |row, column| {
        known.model.predict(row_numbers[row], column_numbers[column])
    });
    Ok(show(&written(&result, args.json)?)?)
}

fn written(result: &Metrics, json: bool) -> Result<String, Failure> {
    if json {
        return serde_json::to_string(result)
            .map_err(|e| Failure::Unexpected(format!("the result cannot be written ({e})")));
    }
    let (rmse, mae) = (short(result.rmse), short(result.mae));
    Ok(format!("RMSE {rmse}   MAE {mae}   on {} entries", thousands(result.count)))
}
