//! `isofactor evaluate`: predictions against observed values.

use isofactor::{
    Evaluation,
    evaluation::{Judged, Yardsticks},
};
use isofactor_io::{LabelledModel, read_model};
use serde::Serialize;

use crate::{
    args::EvaluateArgs,
    failure::Failure,
    given::Given,
    text::{aligned, say, short, show, strong, thousands},
};

/// The object that `evaluate --json` prints.
#[derive(Serialize)]
struct EvaluateJson<'a> {
    #[serde(flatten)]
    evaluation: &'a Evaluation,
    baseline: Yardsticks,
    /// Entries whose row or column the model has never seen.
    unseen: usize,
}

/// Reads the model and the values, and prints how well they agree.
pub fn run(args: &EvaluateArgs) -> Result<(), Failure> {
    let known = read_model(&args.model)?;
    let given = Given::read(&args.data, &args.table.format())?;
    let numbers = given.numbers(&known);
    let entries = || given.seen(&numbers);
    let baseline = Yardsticks::new(&known.model, entries());
    let evaluation = Evaluation::new(judged(&known, &given));
    let unseen = entries().filter(|(row, column, _)| row.is_none() || column.is_none()).count();
    if args.json {
        let object = EvaluateJson { evaluation: &evaluation, baseline, unseen };
        let text = serde_json::to_string(&object)
            .map_err(|e| Failure::Unexpected(format!("the result cannot be written ({e})")))?;
        return Ok(show(&text)?);
    }
    show(&in_words(&evaluation, &baseline))?;
    if unseen > 0 {
        let count = thousands(unseen);
        say(&format!("{count} entries name a row or column that the model has never seen"));
    }
    Ok(())
}

/// Every entry with its prediction.
pub fn judged(known: &LabelledModel, given: &Given) -> Vec<Judged> {
    let numbers = given.numbers(known);
    let judge =
        |(row, column, value)| Judged { prediction: known.model.predict(row, column), value };
    given.seen(&numbers).map(judge).collect()
}

/// A number that may not be defined.
pub fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), short)
}

fn in_words(evaluation: &Evaluation, baseline: &Yardsticks) -> String {
    let metrics = &evaluation.metrics;
    let mut text = format!(
        "{}   MAE {}   R2 {}   rank correlation {}   on {} entries\n",
        strong(&format!("RMSE {}", short(metrics.rmse))),
        short(metrics.mae),
        optional(evaluation.r2),
        optional(evaluation.spearman),
        thousands(metrics.count)
    );
    text.push_str(&format!("for comparison: {}\n\n", yardsticks_in_words(baseline)));
    let header = ["predicted", "observed", "entries"].map(str::to_owned).to_vec();
    let lines = evaluation
        .calibration
        .iter()
        .map(|group| vec![short(group.predicted), short(group.observed), group.count.to_string()]);
    text.push_str("  Means of entries in the order of their predictions\n");
    text.push_str(&aligned(header, lines.collect()));
    text
}

/// What the errors are to be held against.
pub fn yardsticks_in_words(baseline: &Yardsticks) -> String {
    let mean = format!("the training mean has RMSE {}", short(baseline.mean));
    match baseline.effects {
        Some(effects) => format!("{mean}, level and effects alone {}", short(effects)),
        None => mean,
    }
}
