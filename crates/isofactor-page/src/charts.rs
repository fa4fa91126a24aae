//! Charts about a model that more than one page uses.

use isofactor::{FittedModel, KnownLink, TraceRow};
use isofactor_report::{Axis, Cell, Chart, Interval, Reference, Series};

use crate::{
    study::bins::{self, Bin},
    words::{count, is_identity},
};

/// Points of a drawn link.
const LINK_POINTS: usize = 241;
/// Bars of the density of the scores.
const BARS: usize = 48;
/// So many predictions are drawn one by one; more are counted in cells.
const MOST_DOTS: usize = 2_000;
/// Cells along each axis.
const CELLS: usize = 40;
/// Parts of equal count that calibration is read from.
const PARTS: usize = 10;

/// The link over the training scores, whose density lies under it; the true link beside it if it
/// is known, with `a` and `s` such that its score is `a + s x`. Over the stretches `doubted` the
/// curve is drawn as a guess.
#[must_use]
pub fn link_chart(
    model: &FittedModel,
    scores: &[f64],
    doubted: &[(f64, f64)],
    truth: Option<(&KnownLink, (f64, f64))>,
) -> Chart {
    let name = match (model.link.is_learned(), is_identity(model)) {
        (true, _) => "learned link",
        (false, true) => "the score itself",
        (false, false) => "known link",
    };
    let curve = along(model, |x| model.link.value(x));
    let mut chart = Chart::new(Axis::new("Score"), Axis::new("Value"))
        .with(Series::line(name, curve).solid().faint_over(doubted.to_vec()));
    if let Some((link, (a, s))) = truth {
        let true_curve = along(model, |x| link.value_and_slope(a + s * x).0);
        chart = chart.with(Series::line("true link", true_curve).dashed());
    }
    chart.with(Series::histogram("density of the scores", scores, BARS))
}

/// The slope of the link over the training scores.
#[must_use]
pub fn slope_chart(model: &FittedModel, scores: &[f64], doubted: &[(f64, f64)]) -> Chart {
    let curve = along(model, |x| model.link.value_and_slope(x).1);
    let mut chart = Chart::new(Axis::new("Score"), Axis::new("Slope of the link"))
        .with(Series::line("slope", curve).solid().faint_over(doubted.to_vec()));
    let bounds = model.provenance.config.slope_bounds().filter(|_| model.link.learned().is_some());
    if let Some(bounds) = bounds {
        for bound in [bounds.low, bounds.high].into_iter().filter(|b| b.is_finite()) {
            let name = format!("bound {}", isofactor_report::number(bound));
            chart = chart.with(Series::reference(name, Reference::Horizontal(bound)));
        }
    }
    chart.with(Series::histogram("density of the scores", scores, BARS))
}

fn along(model: &FittedModel, f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let (low, high) = model.provenance.score_range;
    let place = |i: usize| low + (high - low) * i as f64 / (LINK_POINTS - 1) as f64;
    (0..LINK_POINTS).map(place).map(|x| (x, f(x))).collect()
}

/// Errors of every iteration, and which iterate was kept.
#[must_use]
pub fn convergence_chart(trace: &[TraceRow], kept: usize, step: &str) -> Chart {
    let series = |pick: &dyn Fn(&TraceRow) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = trace.iter().filter_map(|row| pick(row).map(|y| (row.iteration as f64, y)));
        points.collect()
    };
    let train = series(&|row| Some(row.train_rmse));
    let held = series(&|row| row.validation_rmse);
    let mut chart =
        Chart::new(Axis::new(capital(step)).whole(), Axis::log("Root mean squared error"))
            .with(Series::line("training entries", train).solid());
    if !held.is_empty() {
        chart = chart.with(Series::line("held-out entries", held).dashed());
    }
    let name = format!("kept: {step} {}", count(kept));
    chart.with(Series::reference(name, Reference::Vertical(kept as f64)))
}

/// The first letter large.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Pairs of prediction and value with the diagonal: dots while they are few, else counts in cells;
/// and the mean value of each tenth of the predictions with its 95% interval. With it, how many
/// pairs lie beyond the axes.
#[must_use]
pub fn prediction_chart(pairs: &[(f64, f64)], value: &str) -> (Chart, usize) {
    let chart = Chart::new(Axis::new("Prediction"), Axis::new(value));
    let (chart, beyond) = if pairs.len() <= MOST_DOTS {
        (chart.with(Series::points("entries", pairs.to_vec())), 0)
    } else {
        let (cells, beyond) = cells(pairs);
        (chart.with(Series::cells("entries: the darker, the more", cells)), beyond)
    };
    let bars = intervals(&bins::equal_count(pairs.to_vec(), PARTS));
    let chart = chart
        .with(Series::intervals("mean of each tenth", bars))
        .with(Series::reference("equal", Reference::Diagonal));
    (chart, beyond)
}

/// Bins as dots with bars.
pub(crate) fn intervals(bins: &[Bin]) -> Vec<Interval> {
    let bar = |bin: &Bin| Interval {
        x: bin.place,
        low: bin.mean - bin.half,
        middle: bin.mean,
        high: bin.mean + bin.half,
    };
    bins.iter().map(bar).collect()
}

/// Counts of pairs in cells, and how many pairs lie too far out to be drawn.
fn cells(pairs: &[(f64, f64)]) -> (Vec<Cell>, usize) {
    let x = edges(pairs.iter().map(|p| p.0).collect());
    let y = edges(pairs.iter().map(|p| p.1).collect());
    let (across, up) = (x.len() - 1, y.len() - 1);
    let mut counts = vec![0usize; across * up];
    let mut beyond = 0;
    for &(a, b) in pairs {
        match (place(&x, a), place(&y, b)) {
            (Some(i), Some(j)) => counts[j * across + i] += 1,
            _ => beyond += 1,
        }
    }
    let cell = |k: usize| {
        let (i, j) = (k % across, k / across);
        Cell { x: (x[i], x[i + 1]), y: (y[j], y[j + 1]), count: counts[k] }
    };
    ((0..counts.len()).map(cell).filter(|c| c.count > 0).collect(), beyond)
}

/// The cell between whose edges a number lies.
fn place(edges: &[f64], number: f64) -> Option<usize> {
    let last = edges.len() - 1;
    (edges[0] <= number && number <= edges[last])
        .then(|| edges.partition_point(|&edge| edge <= number).clamp(1, last) - 1)
}

/// Edges of cells: halfway between values where only a few occur (ratings), else even ones.
fn edges(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_by(f64::total_cmp);
    let (low, high) = reach(&numbers);
    let mut distinct = numbers;
    distinct.dedup();
    if (2..=CELLS).contains(&distinct.len()) {
        let last = distinct.len() - 1;
        let halfway = distinct.windows(2).map(|w| 0.5 * (w[0] + w[1]));
        let first = distinct[0] - 0.5 * (distinct[1] - distinct[0]);
        let end = distinct[last] + 0.5 * (distinct[last] - distinct[last - 1]);
        return [first].into_iter().chain(halfway).chain([end]).collect();
    }
    let width = if high > low { (high - low) / CELLS as f64 } else { 1.0 };
    (0..=CELLS).map(|i| low + width * i as f64).collect()
}

/// All of the (sorted) numbers, unless a few lie so far out that the others would not be seen.
fn reach(sorted: &[f64]) -> (f64, f64) {
    let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let (low, high) = (at(0.001), at(0.999));
    let half = 0.5 * (high - low);
    (at(0.0).max(low - half), at(1.0).min(high + half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_in_a_cell_or_counted_beyond() {
        let pairs: Vec<(f64, f64)> =
            (0..5_000).map(|i| (f64::from(i).sin(), f64::from(i % 11))).collect();
        let (found, beyond) = cells(&pairs);
        assert_eq!(found.iter().map(|c| c.count).sum::<usize>() + beyond, 5_000);
        assert_eq!(beyond, 0);
    }

    #[test]
    fn a_few_values_have_a_cell_each_around_them() {
        assert_eq!(edges(vec![1.0, 2.0, 2.0, 4.0]), [0.5, 1.5, 3.0, 5.0]);
        assert_eq!(place(&[0.5, 1.5, 3.0, 5.0], 2.0), Some(1));
        assert_eq!(place(&[0.5, 1.5], 1.5), Some(0));
        assert_eq!(place(&[0.5, 1.5], 1.6), None);
    }

    #[test]
    fn one_wild_value_does_not_squeeze_the_others() {
        let mut pairs: Vec<(f64, f64)> =
            (0..5_000).map(|i| (f64::from(i).sin(), f64::from(i).cos())).collect();
        pairs[17].1 = 1e9;
        let (found, beyond) = cells(&pairs);
        assert_eq!(beyond, 1);
        assert!(found.iter().all(|c| c.y.1 < 10.0));
    }

    #[test]
    fn values_that_are_all_the_same_have_a_cell() {
        let (found, beyond) = cells(&[(1.0, 3.0); 9]);
        assert_eq!((found.len(), beyond), (1, 0));
    }
}
