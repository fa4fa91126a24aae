//! `isofactor compare`: several models on the same entries.

use std::path::{Path, PathBuf};

use isofactor::{Evaluation, evaluation::Difference};
use isofactor_io::read_model;
use serde::Serialize;

use super::evaluate::{judged, optional};
use crate::{
    failure::Failure,
    given::Given,
    model_args::CompareArgs,
    text::{aligned, harmless, short, show, thousands},
};

/// One model in the object that `compare --json` prints.
#[derive(Serialize)]
struct ModelJson<'a> {
    model: String,
    #[serde(flatten)]
    evaluation: &'a Evaluation,
    /// To the best of them.
    difference: Difference,
}

/// The object that `compare --json` prints.
#[derive(Serialize)]
struct CompareJson<'a> {
    data: String,
    count: usize,
    best: String,
    models: Vec<ModelJson<'a>>,
}

/// A model judged, and its error on every entry.
struct Contender {
    evaluation: Evaluation,
    errors: Vec<f64>,
}

/// Judges every model on the same entries.
pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let given = Given::read(&args.data, &args.table.format())?;
    let contenders: Vec<Contender> =
        args.models.iter().map(|path| contender(path, &given)).collect::<Result<_, _>>()?;
    let rmse = |at: usize| contenders[at].evaluation.metrics.rmse;
    let best = (0..contenders.len()).min_by(|&a, &b| rmse(a).total_cmp(&rmse(b))).unwrap_or(0);
    let rows: Vec<u32> = given.entries.iter().map(|entry| entry.row as u32).collect();
    let differences: Vec<Difference> = contenders
        .iter()
        .map(|one| Difference::new(&one.errors, &contenders[best].errors, &rows))
        .collect();
    if args.json {
        return json(args, &contenders, &differences, best);
    }
    Ok(show(&in_words(&args.models, &contenders, &differences, best))?)
}

fn contender(path: &Path, given: &Given) -> Result<Contender, Failure> {
    let judged = judged(&read_model(path)?, given);
    let errors = judged.iter().map(|j| j.value - j.prediction).collect();
    Ok(Contender { evaluation: Evaluation::new(judged), errors })
}

fn json(
    args: &CompareArgs,
    contenders: &[Contender],
    differences: &[Difference],
    best: usize,
) -> Result<(), Failure> {
    let name = |path: &PathBuf| path.to_string_lossy().into_owned();
    let models = args.models.iter().zip(contenders).zip(differences);
    let object = CompareJson {
        data: name(&args.data),
        count: contenders[best].errors.len(),
        best: name(&args.models[best]),
        models: models
            .map(|((path, one), &difference)| ModelJson {
                model: name(path),
                evaluation: &one.evaluation,
                difference,
            })
            .collect(),
    };
    let text = serde_json::to_string(&object)
        .map_err(|e| Failure::Unexpected(format!("the result cannot be written ({e})")))?;
    Ok(show(&text)?)
}

fn in_words(
    paths: &[PathBuf],
    contenders: &[Contender],
    differences: &[Difference],
    best: usize,
) -> String {
    let header = ["model", "RMSE", "MAE", "R2", "rank correlation", "to the best", "+-"];
    let models = paths.iter().zip(contenders).zip(differences).enumerate();
    let line = |(at, ((path, one), difference)): (usize, ((&PathBuf, &Contender), &Difference))| {
        let evaluation = &one.evaluation;
        let (gap, error) = if at == best {
            ("best".to_owned(), String::new())
        } else {
            (short(difference.rmse), optional(difference.standard_error))
        };
        vec![
            harmless(&path.display().to_string()),
            short(evaluation.metrics.rmse),
            short(evaluation.metrics.mae),
            optional(evaluation.r2),
            optional(evaluation.spearman),
            gap,
            error,
        ]
    };
    let table = aligned(header.map(str::to_owned).to_vec(), models.map(line).collect());
    let count = thousands(contenders[best].errors.len());
    format!("{table}\n  on {count} entries; +- is the standard error of the difference, by rows")
}
