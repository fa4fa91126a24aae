//! Pages about fits: turns models and traces into the report's figures.

use isofactor::{FittedModel, KnownLink, Observations, Shape, TraceRow};
use isofactor_report::{Axis, Block, Chart, Fact, Figure, Page, Reference, Section, Series};

use crate::{
    summary::link_in_words,
    text::{short, thousands},
};

/// Points of a drawn link.
const LINK_POINTS: usize = 241;
/// Bars of the density of the scores.
const BINS: usize = 48;

/// The page of `fit --report`.
pub fn fit_page(
    model: &FittedModel,
    train: &Observations,
    validation: Option<&Observations>,
    trace: &[TraceRow],
) -> String {
    let p = &model.provenance;
    let mut facts = vec![
        Fact::new("Rank", model.factors.rank().to_string()),
        Fact::new("Train RMSE", short(p.train.rmse)),
        Fact::new("Iterations", thousands(p.iterations)).note(format!(
            "{}; kept {}",
            p.stop,
            thousands(p.kept)
        )),
    ];
    if let Some(held) = p.validation {
        let note = format!("{} entries", thousands(held.count));
        facts.insert(1, Fact::new("Held-out RMSE", short(held.rmse)).note(note));
    }
    let judged = validation.unwrap_or(train);
    let what = if validation.is_some() { "held-out" } else { "training" };
    Page::new("Factors and the link behind a matrix", data_in_words(model))
        .with(Section::new("What was fitted").with(Block::Facts(facts)))
        .with(Section::new("The link").with(Figure::new(
            "The link over the scores of the training entries, whose density lies under it.",
            link_chart(model, &scores(model, train), None),
        )))
        .with(
            Section::new("Convergence")
                .with(Figure::new("Errors by iteration.", convergence_chart(trace))),
        )
        .with(Section::new("Predictions").with(Figure::new(
            format!("Predicted against observed values of {what} entries."),
            prediction_chart(
                judged.iter().map(|e| (model.predict(Some(e.row), Some(e.column)), e.value)),
                "Observed value",
            ),
        )))
        .to_html()
}

fn data_in_words(model: &FittedModel) -> String {
    let Shape { rows, columns } = model.shape();
    let observed = model.provenance.observed;
    format!(
        "{} entries of a matrix with {} rows and {} columns ({}% of it), explained by {} factors per \
         row and column and a {}.",
        thousands(observed),
        thousands(rows),
        thousands(columns),
        short(100.0 * observed as f64 / (rows as f64 * columns as f64)),
        model.factors.rank(),
        link_in_words(model)
    )
}

/// The scores of the training entries.
pub fn scores(model: &FittedModel, observations: &Observations) -> Vec<f64> {
    observations.iter().map(|e| model.score(Some(e.row), Some(e.column))).collect()
}

/// The link with the density of the scores under it; the true link beside it if it is known, with
/// `a` and `s` such that its score is `a + s x`.
pub fn link_chart(
    model: &FittedModel,
    scores: &[f64],
    truth: Option<(&KnownLink, (f64, f64))>,
) -> Chart {
    let (low, high) = model.provenance.score_range;
    let place = |i: usize| low + (high - low) * i as f64 / (LINK_POINTS - 1) as f64;
    let curve = |f: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
        (0..LINK_POINTS).map(place).map(|x| (x, f(x))).collect()
    };
    let name = if model.link.is_learned() { "learned link" } else { "known link" };
    let mut chart = Chart::new(Axis::new("Score"), Axis::new("Value"))
        .with(Series::line(name, curve(&|x| model.link.value(x))).solid());
    if let Some((link, (a, s))) = truth {
        let true_curve = curve(&|x| link.value_and_slope(a + s * x).0);
        chart = chart.with(Series::line("true link", true_curve).dashed());
    }
    chart.with(Series::histogram("density of the scores", scores, BINS))
}

/// Errors of every iteration.
pub fn convergence_chart(trace: &[TraceRow]) -> Chart {
    let series = |pick: &dyn Fn(&TraceRow) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = trace.iter().filter_map(|row| pick(row).map(|y| (row.iteration as f64, y)));
        points.collect()
    };
    let train = series(&|row| Some(row.train_rmse));
    let held = series(&|row| row.validation_rmse);
    let mut chart = Chart::new(Axis::new("Iteration"), Axis::log("Root mean squared error"))
        .with(Series::line("training entries", train).solid());
    if !held.is_empty() {
        chart = chart.with(Series::line("held-out entries", held).dashed());
    }
    chart
}

/// Pairs of prediction and value with the diagonal.
pub fn prediction_chart(pairs: impl Iterator<Item = (f64, f64)>, value: &str) -> Chart {
    Chart::new(Axis::new("Prediction"), Axis::new(value))
        .with(Series::points("entries", pairs.collect()))
        .with(Series::reference("equal", Reference::Diagonal))
}
