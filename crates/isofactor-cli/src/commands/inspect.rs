//! `isofactor inspect`: what a model holds.

use std::path::Path;

use isofactor::{FittedModel, Link, Shape, model::Offsets};
use isofactor_io::{LabelledModel, Labels, Origin, read_model_and_origin};
use serde_json::json;

use crate::{
    args::InspectArgs,
    failure::Failure,
    summary::describe,
    text::{aligned, harmless, short, show, thousands},
};

/// Points of the link that are listed.
const POINTS: usize = 21;
/// Names that are listed of each side.
const NAMES: usize = 5;

/// Prints the model in words, or as JSON.
pub fn run(args: &InspectArgs) -> Result<(), Failure> {
    let (labelled, origin) = read_model_and_origin(&args.model)?;
    if args.json {
        return Ok(show(&as_json(&labelled, &origin).to_string())?);
    }
    let model = &labelled.model;
    let mut text = format!("\n{}\n", describe(model, None));
    text.push_str(&parts(&args.model, &labelled, &origin));
    text.push_str(&trials(model));
    text.push_str("\n       score        link       slope\n");
    for (score, value, slope) in points(model) {
        text.push_str(&format!("  {score:>10.4}  {value:>10.4}  {slope:>10.4}\n"));
    }
    if let Some(s) = model.standing {
        text.push_str("\n  Against the truth\n");
        let lines = [
            ("D = |Delta(Z)|_F^2", s.d),
            ("E = |phi - phi_sharp|_H^2", s.e),
            ("chi", s.chi),
            ("|phi - phi*|_H", s.link_distance),
            ("mu", s.incoherence),
            ("kappa", s.condition),
            ("theorem 3's bound", s.residual_bound),
        ];
        for (name, value) in lines {
            text.push_str(&format!("  {name:<26} {value:.6e}\n"));
        }
    }
    if let Some(constants) = model.constants {
        text.push_str("\n  The theory's constants\n");
        for line in constants.to_string().lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    Ok(show(&text)?)
}

/// What the file holds beside what a fit tells.
fn parts(path: &Path, labelled: &LabelledModel, origin: &Origin) -> String {
    let LabelledModel { model, rows, columns } = labelled;
    let mut text = "\n".to_owned();
    let mut line = |name: &str, words: String| text.push_str(&format!("  {name:<10} {words}\n"));
    let writer = harmless(&origin.version);
    let file = path.display();
    line("file", format!("{file}, format {}, written by isofactor {writer}", origin.format));
    line("seed", model.provenance.config.seed.to_string());
    line("mean", format!("{} of the training values", short(model.baseline.mean)));
    if let Some(offsets) = &model.offsets {
        let Offsets { level, rows, columns, range } = offsets;
        line("level", short(*level));
        if model.effects().is_some() {
            line("effects", format!("of rows {}; of columns {}", spread(rows), spread(columns)));
        }
        line(
            "range",
            format!("predictions are kept within {} and {}", short(range.0), short(range.1)),
        );
    }
    if let Some(fold_in) = &model.fold_in {
        let noise = short(fold_in.noise_precision.sqrt().recip());
        line("noise", format!("standard deviation {noise}, on the scale of the score"));
    }
    if let Some(strengths) = strengths(model) {
        let list: Vec<String> = strengths.iter().map(|&strength| short(strength)).collect();
        line("factors", format!("what each adds to scores, root mean square: {}", list.join(", ")));
    }
    line("rows", some_names(rows));
    line("columns", some_names(columns));
    text
}

/// Everything that was tried before the fit.
fn trials(model: &FittedModel) -> String {
    let Some(chosen) = model.provenance.chosen.as_ref().filter(|c| !c.trials.is_empty()) else {
        return String::new();
    };
    let header = ["tried", "RMSE", "sweeps"].map(str::to_owned).to_vec();
    let lines = chosen
        .trials
        .iter()
        .map(|trial| vec![harmless(&trial.what), short(trial.rmse), trial.sweeps.to_string()]);
    let count = thousands(chosen.judged_by);
    format!("\n{}\n  on {count} held-back entries\n", aligned(header, lines.collect()))
}

/// How far effects spread: their standard deviation and ends.
fn spread(effects: &[f64]) -> String {
    let (deviation, low, high) = measures(effects);
    format!("{} (standard deviation), {} to {}", short(deviation), short(low), short(high))
}

fn measures(effects: &[f64]) -> (f64, f64, f64) {
    let mean = effects.iter().sum::<f64>() / effects.len() as f64;
    let squares: f64 = effects.iter().map(|effect| (effect - mean).powi(2)).sum();
    let low = effects.iter().copied().fold(f64::INFINITY, f64::min);
    let high = effects.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ((squares / effects.len() as f64).sqrt(), low, high)
}

/// What each factor, turned to its principal axis, adds to the scores: root mean square over all
/// pairs. None where the factors are too large for that.
fn strengths(model: &FittedModel) -> Option<Vec<f64>> {
    let Shape { rows, columns } = model.shape();
    let pairs = rows as f64 * columns as f64;
    let (_, values) = model.factors.balanced().ok()?;
    Some(values.into_iter().map(|value| value / pairs.sqrt()).collect())
}

fn some_names(labels: &Labels) -> String {
    let first: Vec<String> = labels.names().take(NAMES).map(harmless).collect();
    let more = if labels.len() > NAMES { ", ..." } else { "" };
    format!("{}{more}", first.join(", "))
}

/// Score, link and slope over the scores of the training entries.
fn points(model: &FittedModel) -> Vec<(f64, f64, f64)> {
    let (low, high) = model.provenance.score_range;
    (0..POINTS)
        .map(|i| {
            let score = low + (high - low) * i as f64 / (POINTS - 1) as f64;
            let (value, slope) = model.link.value_and_slope(score);
            (score, value, slope)
        })
        .collect()
}

fn as_json(labelled: &LabelledModel, origin: &Origin) -> serde_json::Value {
    let model = &labelled.model;
    let Shape { rows, columns } = model.shape();
    let link = match &model.link {
        Link::Known(link) => json!({ "kind": link.to_string() }),
        Link::Tabulated(link) => {
            let (low, spacing) = link.grid();
            json!({ "kind": "learned", "low": low, "spacing": spacing, "nodes": link.values().len() })
        }
        Link::Learned(link) => json!({
            "kind": "learned",
            "kernel": link.space().kernel().family,
            "bandwidth": link.space().kernel().bandwidth,
            "half_width": link.space().half_width(),
            "norm": link.norm(),
        }),
    };
    let of_side = |effects: &[f64]| {
        let (deviation, low, high) = measures(effects);
        json!({ "deviation": deviation, "low": low, "high": high })
    };
    let effects = model.offsets.as_ref().map(|offsets| {
        json!({
            "level": offsets.level,
            "range": offsets.range,
            "rows": of_side(&offsets.rows),
            "columns": of_side(&offsets.columns),
        })
    });
    let first = |labels: &Labels| labels.names().take(NAMES).map(str::to_owned).collect::<Vec<_>>();
    json!({
        "format": origin.format,
        "version": origin.version,
        "rows": rows,
        "columns": columns,
        "rank": model.factors.rank(),
        "mean": model.baseline.mean,
        "effects": effects,
        "noise": model.fold_in.as_ref().map(|fold_in| fold_in.noise_precision.sqrt().recip()),
        "factor_strengths": strengths(model),
        "first_rows": first(&labelled.rows),
        "first_columns": first(&labelled.columns),
        "link": link,
        "link_points": points(model),
        "provenance": model.provenance,
        "constants": model.constants,
        "standing": model.standing,
    })
}
