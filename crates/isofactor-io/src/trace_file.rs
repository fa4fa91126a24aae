//! The trace of a fit as CSV, one line an iteration.

use isofactor::TraceRow;

use crate::{error::Result, write::Target};

const COLUMNS: [&str; 8] = [
    "iteration",
    "objective",
    "data_term",
    "balance_term",
    "link_norm",
    "train_rmse",
    "validation_rmse",
    "seconds",
];
const TRUTH_COLUMNS: [&str; 4] = ["factor_distance", "link_distance", "lyapunov", "regret"];

/// Writes the trace; what is not defined for a fit is left empty.
pub fn write_trace(target: Target, rows: &[TraceRow]) -> Result<()> {
    let with_truth = rows.iter().any(|row| row.truth.is_some());
    target.write(|out| {
        let mut csv = csv::Writer::from_writer(out);
        let truth_columns = TRUTH_COLUMNS.iter().filter(|_| with_truth);
        csv.write_record(COLUMNS.iter().chain(truth_columns))?;
        for row in rows {
            let mut fields = vec![
                row.iteration.to_string(),
                number(row.objective),
                number(row.data_term),
                number(row.balance_term),
                optional(row.link_norm),
                number(row.train_rmse),
                optional(row.validation_rmse),
                number(row.seconds),
            ];
            if let Some(truth) = row.truth {
                let distances = [truth.link_distance, truth.lyapunov, truth.regret].map(optional);
                fields.push(number(truth.factor_distance));
                fields.extend(distances);
            }
            csv.write_record(&fields)?;
        }
        csv.flush()
    })
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, number)
}

/// With all its digits, and an exponent where it needs one.
fn number(value: f64) -> String {
    format!("{value:?}")
}
