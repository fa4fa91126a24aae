//! `isofactor inspect`: what a model holds.

use isofactor::{FittedModel, Link, Shape};
use isofactor_io::{LabelledModel, read_model};
use serde_json::json;

use crate::{args::InspectArgs, failure::Failure, summary::describe, text::show};

/// Points of the link that are listed.
const POINTS: usize = 21;

/// Prints the model in words, or as JSON.
pub fn run(args: &InspectArgs) -> Result<(), Failure> {
    let LabelledModel { model, .. } = read_model(&args.model)?;
    if args.json {
        return Ok(show(&as_json(&model).to_string())?);
    }
    let mut text = format!("\n{}\n", describe(&model, None));
    text.push_str("\n       score        link       slope\n");
    for (score, value, slope) in points(&model) {
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
            ("theorem 4's bound", s.residual_bound),
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

fn as_json(model: &FittedModel) -> serde_json::Value {
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
    json!({
        "rows": rows,
        "columns": columns,
        "rank": model.factors.rank(),
        "link": link,
        "link_points": points(model),
        "provenance": model.provenance,
        "constants": model.constants,
        "standing": model.standing,
    })
}
