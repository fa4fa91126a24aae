//! The page of `report`, until the one of the program is shared.

use isofactor::{FittedModel, Observations, Shape, TraceRow};
use isofactor_report::{Axis, Block, Chart, Fact, Figure, Page, Reference, Section, Series};

/// Points of the drawn link.
const POINTS: usize = 241;
/// Bars of the density of the scores.
const BINS: usize = 48;

/// What was fitted, the link, the convergence, predictions against values.
pub fn fit_page(
    model: &FittedModel,
    train: &Observations,
    validation: Option<&Observations>,
    trace: &[TraceRow],
) -> String {
    let p = &model.provenance;
    let Shape { rows, columns } = model.shape();
    let mut facts = vec![
        Fact::new("Rank", model.factors.rank().to_string()),
        Fact::new("Train RMSE", format!("{:.4}", p.train.rmse)),
        Fact::new("Iterations", p.iterations.to_string())
            .note(format!("{}; kept {}", p.stop, p.kept)),
    ];
    if let Some(held) = p.validation {
        let note = format!("{} entries", held.count);
        facts.insert(1, Fact::new("Held-out RMSE", format!("{:.4}", held.rmse)).note(note));
    }
    let judged = validation.unwrap_or(train);
    let what = if validation.is_some() { "held-out" } else { "training" };
    let about = format!(
        "{} entries of a matrix with {rows} rows and {columns} columns, explained by {} factors \
         per row and column; link: {}.",
        p.observed,
        model.factors.rank(),
        p.config.link
    );
    Page::new("Factors and the link behind a matrix", about)
        .with(Section::new("What was fitted").with(Block::Facts(facts)))
        .with(Section::new("The link").with(Figure::new(
            "The link over the scores of the training entries, whose density lies under it.",
            link_chart(model, train),
        )))
        .with(
            Section::new("Convergence")
                .with(Figure::new("Errors by iteration.", convergence_chart(trace))),
        )
        .with(Section::new("Predictions").with(Figure::new(
            format!("Predicted against observed values of {what} entries."),
            prediction_chart(model, judged),
        )))
        .to_html()
}

fn link_chart(model: &FittedModel, train: &Observations) -> Chart {
    let (low, high) = model.provenance.score_range;
    let place = |i: usize| low + (high - low) * i as f64 / (POINTS - 1) as f64;
    let curve = (0..POINTS).map(place).map(|x| (x, model.link.value(x))).collect();
    let scores: Vec<f64> = train.iter().map(|e| model.score(Some(e.row), Some(e.column))).collect();
    let name = if model.link.is_learned() { "learned link" } else { "known link" };
    Chart::new(Axis::new("Score"), Axis::new("Value"))
        .with(Series::line(name, curve).solid())
        .with(Series::histogram("density of the scores", &scores, BINS))
}

fn convergence_chart(trace: &[TraceRow]) -> Chart {
    let of = |row: &TraceRow, error: f64| (row.iteration as f64, error);
    let train = trace.iter().map(|row| of(row, row.train_rmse)).collect();
    let held: Vec<(f64, f64)> =
        trace.iter().filter_map(|row| Some(of(row, row.validation_rmse?))).collect();
    let mut chart = Chart::new(Axis::new("Iteration"), Axis::log("Root mean squared error"))
        .with(Series::line("training entries", train).solid());
    if !held.is_empty() {
        chart = chart.with(Series::line("held-out entries", held).dashed());
    }
    chart
}

fn prediction_chart(model: &FittedModel, judged: &Observations) -> Chart {
    let pairs =
        judged.iter().map(|e| (model.predict(Some(e.row), Some(e.column)), e.value)).collect();
    Chart::new(Axis::new("Prediction"), Axis::new("Observed value"))
        .with(Series::points("entries", pairs))
        .with(Series::reference("equal", Reference::Diagonal))
}
