//! What a fit came to, in a few lines and as JSON.

use isofactor::{
    FittedModel, KnownLink, Link, Metrics, Shape, Stop,
    config::SolverKind,
    link::SlopeBounds,
    model::{Chosen, Trial},
};
use serde::Serialize;

use crate::text::{seconds, short, thousands};

/// The object that `fit --json` prints.
#[derive(Debug, Serialize)]
pub struct FitJson<'a> {
    rows: usize,
    columns: usize,
    observed: usize,
    rank: usize,
    link: String,
    solver: String,
    iterations: usize,
    seconds: f64,
    stop: String,
    train: Metrics,
    validation: Option<Metrics>,
    model: Option<&'a str>,
    chosen: Option<&'a Chosen>,
}

impl<'a> FitJson<'a> {
    /// The object for a model, the time it took and where it was written.
    pub fn new(model: &'a FittedModel, seconds: f64, path: Option<&'a str>) -> Self {
        let Shape { rows, columns } = model.shape();
        let p = &model.provenance;
        Self {
            rows,
            columns,
            observed: p.observed,
            rank: model.factors.rank(),
            link: p.config.link.to_string(),
            solver: p.config.solver.to_string(),
            iterations: p.iterations,
            seconds,
            stop: p.stop.to_string(),
            train: p.train,
            validation: p.validation,
            model: path,
            chosen: p.chosen.as_ref(),
        }
    }
}

/// The model in words, for a terminal.
pub fn describe(model: &FittedModel, took: Option<f64>) -> String {
    let Shape { rows, columns } = model.shape();
    let p = &model.provenance;
    let share = 100.0 * p.observed as f64 / (rows as f64 * columns as f64);
    let mut lines = Vec::new();
    let mut line = |name: &str, text: String| lines.push(format!("  {name:<10} {text}"));
    let repeated = match p.repeated {
        0 => String::new(),
        count => format!(", {} of them repeated pairs", thousands(count)),
    };
    line(
        "data",
        format!(
            "{} rows x {} columns, {} observed ({}%){repeated}",
            thousands(rows),
            thousands(columns),
            thousands(p.observed),
            short(share)
        ),
    );
    let effects = if model.effects().is_some() { ", effects" } else { "" };
    line("model", format!("rank {}{effects}, {}", model.factors.rank(), link_in_words(model)));
    let ended = match p.stop {
        Stop::Converged => "converged after",
        Stop::EarlyStop => "stopped early, nothing gained on the held-out entries, after",
        Stop::ChosenNumber if p.chosen.as_ref().is_some_and(|c| c.judged_by == 0) => {
            "made the usual"
        }
        Stop::ChosenNumber => "as many as were best on held-back entries,",
        Stop::IterationLimit => "stopped at the limit of",
        Stop::TimeLimit => "stopped at the time limit, after",
        Stop::Cancelled => "interrupted after",
    };
    let took = took.map(|t| format!(", {}", seconds(t))).unwrap_or_default();
    let iterations = thousands(p.iterations);
    let steps = match p.config.solver {
        SolverKind::Fast => "sweeps",
        SolverKind::Bcd | SolverKind::Lbfgs => "iterations",
    };
    line("solver", format!("{}: {ended} {iterations} {steps}{took}", p.config.solver));
    if let Some(chosen) = &p.chosen {
        line("chosen", choice_in_words(chosen));
    }
    if p.kept != p.iterations {
        let kept = thousands(p.kept);
        let step = steps.trim_end_matches('s');
        line("returned", format!("{step} {kept}, the best on the held-out entries"));
    }
    line("scores", format!("{} to {}", short(p.score_range.0), short(p.score_range.1)));
    lines.push(String::new());
    lines.push(format!("  {:<10} {:>10} {:>10} {:>12}", "", "RMSE", "MAE", "entries"));
    let mut errors = |name: &str, m: &Metrics| {
        let (rmse, mae) = (short(m.rmse), short(m.mae));
        lines.push(format!("  {name:<10} {rmse:>10} {mae:>10} {:>12}", thousands(m.count)));
    };
    errors("train", &p.train);
    if let Some(validation) = &p.validation {
        errors("held out", validation);
    }
    lines.push(String::new());
    lines.push(link_drawing(model));
    lines.join("\n")
}

/// What was chosen, and the errors that say so.
fn choice_in_words(chosen: &Chosen) -> String {
    if chosen.trials.is_empty() {
        return format!("{}, without trials", chosen.link);
    }
    let least = |pick: &dyn Fn(&Trial) -> bool| {
        let errors = chosen.trials.iter().filter(|trial| pick(trial)).map(|trial| trial.rmse);
        errors.fold(f64::INFINITY, f64::min)
    };
    let kinds: [(&str, f64); 4] = [
        ("level", least(&|trial| trial.what == "level")),
        ("effects", least(&|trial| trial.what == "effects")),
        ("factors", least(&|trial| trial.what.starts_with("factors"))),
        ("link", least(&|trial| trial.what.contains("link"))),
    ];
    let errors: Vec<String> = kinds
        .iter()
        .filter(|(_, error)| error.is_finite())
        .map(|(name, error)| format!("{name} {}", short(*error)))
        .collect();
    format!(
        "{}, on {} held-back entries: {}",
        chosen.link,
        thousands(chosen.judged_by),
        errors.join(", ")
    )
}

/// The link of a model.
pub fn link_in_words(model: &FittedModel) -> String {
    match &model.link {
        Link::Known(KnownLink::Identity) if model.offsets.is_some() => "no link".to_owned(),
        Link::Known(link) => format!("known link {link}"),
        Link::Tabulated(_) => "learned link (increasing)".to_owned(),
        Link::Learned(link) => {
            let kernel = link.space().kernel();
            let within = match model.provenance.config.slope_bounds() {
                Some(SlopeBounds::INCREASING) => ", increasing".to_owned(),
                Some(b) => format!(", slopes within {} and {}", short(b.low), short(b.high)),
                None => String::new(),
            };
            format!(
                "learned link ({}, bandwidth {}{within})",
                kernel.family,
                short(kernel.bandwidth)
            )
        }
    }
}

/// The link over the scores of the training entries, as a row of bars with its ends labelled.
fn link_drawing(model: &FittedModel) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const WIDTH: usize = 40;
    let (low, high) = model.provenance.score_range;
    let values: Vec<f64> = (0..WIDTH)
        .map(|i| model.link.value(low + (high - low) * i as f64 / (WIDTH - 1) as f64))
        .collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bars: String = values
        .iter()
        .map(|v| {
            let share = if most > least { (v - least) / (most - least) } else { 0.5 };
            BARS[((share * 7.0).round() as usize).min(7)]
        })
        .collect();
    let (first, last) = (short(values[0]), short(values[WIDTH - 1]));
    let (low, high) = (short(low), short(high));
    let gap = WIDTH.saturating_sub(low.chars().count() + high.chars().count());
    format!(
        "  link       {first:>8} {bars} {last}\n  {:<10} {:>8} {low}{}{high}",
        "score",
        "",
        " ".repeat(gap)
    )
}
