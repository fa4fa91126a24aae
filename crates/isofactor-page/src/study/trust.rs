//! How far the link can be trusted: where scores are few it is a guess, where it is flat it says
//! nothing about scores.

use isofactor::FittedModel;

use super::pass::Pass;

/// Cells of the score range.
const CELLS: usize = 200;
/// Entries are counted within this many cells to each side: 2.5% of the range.
const WINDOW: usize = 5;
/// Fewer entries than this around a score, and the link is a guess there.
pub const FEWEST: f64 = 20.0;
/// A slope below this share of the mean slope is flat.
const FLAT: f64 = 0.01;
/// A slope within this share of a bound has hit it.
const AT_BOUND: f64 = 0.01;

/// What the scores of the training entries say about the link.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// Scores between which the middle 98% of the entries lie.
    pub middle: (f64, f64),
    /// Stretches of scores with too few entries.
    pub doubted: Vec<(f64, f64)>,
    /// Stretches over which the link is flat, with the share of entries there.
    pub flat: Vec<Flat>,
    /// Share of entries at which the slope is at its lower bound, if that is above zero.
    pub at_low_bound: f64,
    /// Share of entries at which the slope is at its upper bound.
    pub at_high_bound: f64,
}

/// A stretch of scores over which the link is flat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flat {
    pub low: f64,
    pub high: f64,
    /// Share of entries there.
    pub share: f64,
}

impl Trust {
    pub fn of(model: &FittedModel, training: &Pass) -> Self {
        let mut scores: Vec<f64> = training.kept.iter().map(|seen| seen.score).collect();
        scores.sort_by(f64::total_cmp);
        if scores.is_empty() {
            return Self::default();
        }
        let at = |share: f64| scores[(share * (scores.len() - 1) as f64).round() as usize];
        let bounds =
            model.provenance.config.slope_bounds().filter(|_| model.link.learned().is_some());
        let share_of = |hit: &dyn Fn(f64) -> bool| {
            let slopes = scores.iter().map(|&x| model.link.value_and_slope(x).1);
            slopes.filter(|&slope| hit(slope)).count() as f64 / scores.len() as f64
        };
        // The kept entries stand for all.
        let weight = training.count as f64 / training.kept.len() as f64;
        Self {
            middle: (at(0.01), at(0.99)),
            doubted: doubted(&scores, weight),
            flat: flat(&scores, |x| model.link.value_and_slope(x)),
            at_low_bound: bounds
                .filter(|b| b.low > 0.0)
                .map_or(0.0, |b| share_of(&|slope| slope <= b.low * (1.0 + AT_BOUND))),
            at_high_bound: bounds
                .filter(|b| b.high.is_finite())
                .map_or(0.0, |b| share_of(&|slope| slope >= b.high * (1.0 - AT_BOUND))),
        }
    }
}

/// Stretches of the range of the (sorted) scores where fewer than twenty entries, or one in a
/// hundred if that is fewer, lie within 2.5% of the range; each score counts `weight` times.
fn doubted(scores: &[f64], weight: f64) -> Vec<(f64, f64)> {
    let (Some(&low), Some(&high)) = (scores.first(), scores.last()) else { return Vec::new() };
    let width = (high - low) / CELLS as f64;
    if width <= 0.0 {
        return Vec::new();
    }
    let needed = FEWEST.min(weight * scores.len() as f64 / 100.0);
    let count =
        |a: f64, b: f64| scores.partition_point(|&x| x <= b) - scores.partition_point(|&x| x < a);
    let is_doubted = |i: usize| {
        let middle = low + (i as f64 + 0.5) * width;
        let reach = (WINDOW as f64 + 0.5) * width;
        weight * (count(middle - reach, middle + reach) as f64) < needed
    };
    stretches((0..CELLS).map(is_doubted), low, width)
}

/// Joins neighbouring cells that are marked.
fn stretches(marks: impl Iterator<Item = bool>, low: f64, width: f64) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    let mut before = false;
    for (i, mark) in marks.enumerate() {
        let (start, end) = (low + i as f64 * width, low + (i + 1) as f64 * width);
        match (mark, before, out.last_mut()) {
            (true, true, Some(last)) => last.1 = end,
            (true, ..) => out.push((start, end)),
            _ => {}
        }
        before = mark;
    }
    out
}

/// Stretches where the slope is below a hundredth of the mean slope between the ends of the range.
fn flat(scores: &[f64], link: impl Fn(f64) -> (f64, f64)) -> Vec<Flat> {
    let (Some(&low), Some(&high)) = (scores.first(), scores.last()) else { return Vec::new() };
    let width = (high - low) / CELLS as f64;
    let mean_slope = (link(high).0 - link(low).0) / (high - low);
    if width <= 0.0 || mean_slope <= 0.0 || !mean_slope.is_finite() {
        return Vec::new();
    }
    let is_flat = |i: usize| link(low + (i as f64 + 0.5) * width).1 < FLAT * mean_slope;
    let count =
        |a: f64, b: f64| scores.partition_point(|&x| x <= b) - scores.partition_point(|&x| x < a);
    let share = |a: f64, b: f64| count(a, b) as f64 / scores.len() as f64;
    stretches((0..CELLS).map(is_flat), low, width)
        .into_iter()
        .map(|(low, high)| Flat { low, high, share: share(low, high) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand scores in [0, 1] and one far away.
    fn lonely() -> Vec<f64> {
        (0..1_000).map(|i| f64::from(i) / 999.0).chain([4.0]).collect()
    }

    #[test]
    fn a_link_is_doubted_where_scores_are_few_and_not_where_they_are_many() {
        let stretches = doubted(&lonely(), 1.0);
        assert_eq!(stretches.len(), 1);
        let (low, high) = stretches[0];
        assert!((1.0..1.2).contains(&low) && high == 4.0, "{stretches:?}");
        let even: Vec<f64> = (0..10_000).map(f64::from).collect();
        assert!(doubted(&even, 1.0).is_empty());
    }

    #[test]
    fn a_gap_in_the_middle_is_doubted() {
        let scores: Vec<f64> = (0..500)
            .map(|i| f64::from(i) / 500.0)
            .chain((0..500).map(|i| 3.0 + f64::from(i) / 500.0))
            .collect();
        let stretches = doubted(&scores, 1.0);
        assert_eq!(stretches.len(), 1);
        assert!(stretches[0].0 > 0.9 && stretches[0].1 < 3.1);
    }

    #[test]
    fn a_ramp_with_a_flat_middle_is_flat_there() {
        let link = |x: f64| match x {
            x if x < 1.0 => (x, 1.0),
            x if x < 2.0 => (1.0, 0.0),
            x => (x - 1.0, 1.0),
        };
        let scores: Vec<f64> = (0..=300).map(|i| f64::from(i) / 100.0).collect();
        let found = flat(&scores, link);
        assert_eq!(found.len(), 1);
        assert!((found[0].low - 1.0).abs() < 0.02 && (found[0].high - 2.0).abs() < 0.02);
        assert!((found[0].share - 1.0 / 3.0).abs() < 0.02);
        assert!(flat(&scores, |x| (2.0 * x, 2.0)).is_empty());
    }

    #[test]
    fn scores_that_are_all_the_same_raise_no_doubt() {
        assert!(doubted(&[1.0; 50], 1.0).is_empty());
        assert!(flat(&[1.0; 50], |x| (x, 1.0)).is_empty());
    }
}
