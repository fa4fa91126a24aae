//! Beliefs seen through a link: Gauss-Newton sweeps with the link learned, or given.
//!
//! Around the present scores `m_k` the link is a line, so an entry says `z_k = m_k +
//! (y_k - phi(m_k)) / phi'(m_k)` with weight `phi'(m_k)^2`, and the sweeps of [`Belief`] apply.
//! The link is the smoothed one, `E phi` over the uncertainty of the scores. A unit whose step
//! makes its squares worse than they were, or than the line promised, takes a shorter one.
//!
//! The first links are fitted to scores as they are. Where few entries lie on a steep stretch, such
//! a link goes with whatever these entries made of their scores, and hardly moves any more. Later
//! ones are therefore fitted to what the other entries say of each score.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    belief::{Belief, Prior, Target, Targets},
    curve::{self, Bent, Point, Seen, typical_deviation},
    panel::{Panel, spread},
    units::{Lists, Units},
};
use crate::{
    Entry,
    factors::Factors,
    link::{KnownLink, Tabulated},
    model::Offsets,
    observations::Shape,
    passes::{blocks, split_at_ends},
};

/// Entries to which a link is fitted, at most.
const MOST_SEEN: usize = 200_000;
/// In the first sweeps the link is fitted before each half; and with more rounds for its penalty.
const EAGER_SWEEPS: usize = 3;
const CAREFUL_SWEEPS: usize = 8;
/// From this sweep on the link is fitted to scores that do not know their own entry.
const APART: usize = 4;
/// An entry is taken to say no more than this share of what is known of its score by its row, and
/// by its column.
const MOST_OF_ITS_OWN: f64 = 0.98;
/// A link fitted so that leaves more than this many times the squares at the scores as they are has
/// lost hold of them.
const LOST_HOLD: f64 = 1.5;
/// Slopes below this share of the mean slope count as this much.
const LEAST_SLOPE: f64 = 1e-4;
/// A step may leave this many times the squares that the line promised.
const BROKEN_PROMISE: f64 = 1.1;
const MOST_HALVINGS: usize = 6;
/// More sweeps than are ever made before there is a link.
const MOST_BEFORE: usize = 1000;

/// A belief and the link it is seen through.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Linked {
    pub belief: Belief,
    pub link: Tabulated,
    given: Option<KnownLink>,
    penalty: f64,
    sweeps: usize,
    /// Sweeps made before there was a link.
    before: usize,
}

impl Linked {
    /// Begins from the scores that the values' ranks suggest, whatever the link: a logistic
    /// distribution, which scores of few factors resemble.
    pub fn new(
        panel: &Panel<'_>,
        prior: Prior,
        given: Option<KnownLink>,
        before: usize,
        start: Option<(&Factors, Option<&Offsets>)>,
    ) -> Option<Self> {
        let z = by_rank(panel.observations.values());
        let by_column = panel.by_column(&z);
        let targets = Targets { by_row: &z, by_column: &by_column };
        let mut belief = Belief::new(panel, targets, prior);
        match start {
            Some((factors, offsets)) => belief.begin_at(factors, offsets),
            None => (0..before).for_each(|number| belief.sweep(panel, targets, number)),
        }
        let penalty = 1e-6 * z.len() as f64;
        let mut linked = Self {
            belief,
            link: curve::smoothed(&|x| x, (-1.0, 1.0), 0.0)?,
            given,
            penalty,
            sweeps: 0,
            before,
        };
        let scores = linked.scores(panel);
        linked.fit_link(panel, &scores)?;
        let values = panel.observations.values();
        let squares: f64 = scores
            .iter()
            .zip(values)
            .map(|(&x, y)| (y - linked.link.value_and_slope(x).0).powi(2))
            .sum();
        let least = 1e-12 * spread(values).1.powi(2) * values.len() as f64;
        linked.belief.noise_precision = values.len() as f64 / squares.max(least);
        Some(linked)
    }

    /// One sweep: the link, the rows, the columns. None when numbers fail. In a hurry it ends on
    /// the way.
    pub fn sweep(&mut self, panel: &Panel<'_>) -> Option<()> {
        let scores = self.scores(panel);
        if self.sweeps > 0 {
            self.fit_link(panel, &scores)?;
        }
        self.half(panel, scores, true);
        if panel.hurry.is_raised() {
            return Some(());
        }
        let scores = self.scores(panel);
        if self.sweeps < EAGER_SWEEPS {
            self.fit_link(panel, &scores)?;
        }
        self.half(panel, scores, false);
        self.belief.rotate(self.sweeps + self.before);
        self.sweeps += 1;
        Some(())
    }

    /// Whether it is one of a panel of this shape, after so many sweeps.
    pub fn fits(&self, shape: Shape, sweeps: usize) -> bool {
        self.belief.fits(shape) && self.sweeps == sweeps && self.before < MOST_BEFORE
    }

    /// The prediction for a pair.
    pub fn predict(&self, row: usize, column: usize) -> f64 {
        self.link.value_and_slope(self.belief.score(row, column)).0
    }

    fn scores(&self, panel: &Panel<'_>) -> Vec<f64> {
        let rows = 0..panel.observations.shape().rows;
        let scores: Vec<Vec<f64>> = rows
            .into_par_iter()
            .with_min_len(16)
            .map(|row| {
                let columns = panel.observations.row(row).columns;
                columns.iter().map(|&column| self.belief.score(row, column as usize)).collect()
            })
            .collect();
        scores.concat()
    }

    /// Fits the link to the scores and their variances, and smooths it by their mean variance.
    fn fit_link(&mut self, panel: &Panel<'_>, scores: &[f64]) -> Option<()> {
        let stride = scores.len().div_ceil(MOST_SEEN);
        let entries: Vec<(f64, Entry)> =
            scores.iter().copied().zip(panel.observations.iter()).step_by(stride).collect();
        let points: Vec<(Point, Point)> =
            entries.par_iter().map(|(score, entry)| self.points(*score, entry)).collect();
        let (with_own, without_own): (Vec<Point>, Vec<Point>) = points.into_iter().unzip();
        let deviation = typical_deviation(&with_own);
        self.link = match &self.given {
            Some(link) => {
                let range = scores
                    .iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
                curve::smoothed(&|x| link.value_and_slope(x).0, range, deviation)?
            }
            None => self.learned(with_own, without_own)?.smoothed(deviation)?,
        };
        Some(())
    }

    /// The link for scores that do not know their own entries, once there is one to begin from;
    /// unless it loses hold of the scores, then for scores as they are.
    fn learned(&mut self, with_own: Vec<Point>, without_own: Vec<Point>) -> Option<Bent> {
        let rounds = if self.sweeps < CAREFUL_SWEEPS { 3 } else { 1 };
        if self.sweeps >= APART {
            let mut penalty = self.penalty;
            let link = curve::fit(&Seen::WithoutOwn(without_own), &mut penalty, rounds)?;
            let squares = |link: &dyn Fn(f64) -> f64| -> f64 {
                with_own.iter().map(|point| (point.value - link(point.mean)).powi(2)).sum()
            };
            let allowed = LOST_HOLD * squares(&|x| self.link.value_and_slope(x).0);
            if squares(&|x| link.value(x)) <= allowed {
                self.penalty = penalty;
                return Some(link);
            }
        }
        curve::fit(&Seen::WithOwn(with_own), &mut self.penalty, rounds)
    }

    /// What is known of a score with its own entry, and without.
    ///
    /// With `h = tau phi'^2 s^2` the share of its entry in what the row (or the column) knows of a
    /// score, leaving the entry out divides the variance `s^2` by `1 - h` and moves the mean by
    /// `-tau phi' (y - phi) s^2 / (1 - h)`. Such a score tells the link no more than `1 / (1 + tau
    /// phi'^2 s^2)` of what one without uncertainty does.
    fn points(&self, score: f64, entry: &Entry) -> (Point, Point) {
        let variance = self.belief.score_variance(entry.row, entry.column);
        let (value, slope) = self.link.value_and_slope(score);
        let pull = self.belief.noise_precision * slope;
        let precision = pull * slope;
        let apart = |variance: f64| variance / (1.0 - (precision * variance).min(MOST_OF_ITS_OWN));
        let left = apart(variance.row) + apart(variance.column);
        let with_own = Point {
            mean: score,
            deviation: variance.total().sqrt(),
            value: entry.value,
            weight: 1.0,
        };
        let without_own = Point {
            mean: score - pull * (entry.value - value) * left,
            deviation: left.sqrt(),
            value: entry.value,
            weight: (1.0 + precision * left).recip(),
        };
        (with_own, without_own)
    }

    /// A half of a sweep, everything in the order of the side that moves.
    fn half(&mut self, panel: &Panel<'_>, scores: Vec<f64>, rows: bool) {
        let (scores, values) = match rows {
            true => (scores, panel.observations.values()),
            false => (panel.by_column(&scores), panel.column_values()),
        };
        let lines: Vec<(f64, f64)> =
            scores.par_iter().map(|&x| self.link.value_and_slope(x)).collect();
        let count = lines.len() as f64;
        let least = LEAST_SLOPE * lines.iter().map(|line| line.1).sum::<f64>() / count;
        let steep = |slope: f64| if slope > least { slope } else { least };
        let w: Vec<f64> = lines.iter().map(|line| steep(line.1).powi(2)).collect();
        let z: Vec<f64> = (0..values.len())
            .map(|k| scores[k] + (values[k] - lines[k].0) / steep(lines[k].1))
            .collect();
        let target = Target { z: &z, w: Some(&w) };
        let step = Step {
            link: &self.link,
            values,
            scores: &scores,
            lines: &lines,
            level: self.belief.level,
        };
        if rows {
            let old = self.belief.rows.mean.clone();
            self.belief.update_rows(panel, target);
            if panel.hurry.is_raised() {
                return;
            }
            let Belief { rows, columns, .. } = &mut self.belief;
            step.shorten(rows, columns, &old, panel.rows());
            self.belief.update_row_prior(panel, self.sweeps);
        } else {
            let old = self.belief.columns.mean.clone();
            let squares = self.belief.update_columns(panel, target);
            if panel.hurry.is_raised() {
                return;
            }
            let Belief { rows, columns, .. } = &mut self.belief;
            step.shorten(columns, rows, &old, panel.columns());
            self.belief.update_column_prior(panel, self.sweeps);
            self.belief.set_noise(squares, values.len());
        }
    }
}

/// What a step of one side is judged by.
struct Step<'a> {
    link: &'a Tabulated,
    values: &'a [f64],
    scores: &'a [f64],
    /// Value and slope of the link at the scores.
    lines: &'a [(f64, f64)],
    level: f64,
}

impl Step<'_> {
    /// Shortens the steps of the units that went too far.
    fn shorten(&self, units: &mut Units, other: &Units, old: &[f64], lists: Lists<'_>) {
        let p = units.p;
        let blocks = blocks(lists.starts);
        let ends: Vec<usize> = blocks.iter().map(|block| block.end * p).collect();
        let work = blocks.par_iter().zip(split_at_ends(&mut units.mean, &ends));
        work.for_each(|(block, means)| {
            for (unit, mean) in block.clone().zip(means.chunks_mut(p)) {
                let old = &old[unit * p..(unit + 1) * p];
                for halving in 0..=MOST_HALVINGS {
                    if self.is_good(unit, mean, other, lists) {
                        break;
                    }
                    let share = if halving == MOST_HALVINGS { 0.0 } else { 0.5 };
                    for (new, old) in mean.iter_mut().zip(old) {
                        *new = old + share * (*new - old);
                    }
                }
            }
        });
    }

    /// Whether a unit's squares are no worse than they were, or not much worse than promised.
    fn is_good(&self, unit: usize, mean: &[f64], other: &Units, lists: Lists<'_>) -> bool {
        let rank = mean.len() - 1;
        let (mut before, mut promised, mut after) = (0.0, 0.0, 0.0);
        for at in lists.starts[unit]..lists.starts[unit + 1] {
            let v = other.of(lists.others[at] as usize);
            let product: f64 = mean[..rank].iter().zip(&v[..rank]).map(|(u, v)| u * v).sum();
            let x = self.level + mean[rank] + v[rank] + product;
            let (value, slope) = self.lines[at];
            let residual = self.values[at] - value;
            before += residual * residual;
            promised += (residual - slope * (x - self.scores[at])).powi(2);
            after += (self.values[at] - self.link.value_and_slope(x).0).powi(2);
        }
        after <= f64::max(before, BROKEN_PROMISE * promised)
    }
}

/// `ln(q / (1 - q))` in units of its standard deviation, with `q` the middle rank of each value.
fn by_rank(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.par_sort_unstable_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
    let count = values.len() as f64;
    let deviation = std::f64::consts::PI / 3f64.sqrt();
    let mut scores = vec![0.0; values.len()];
    let mut first = 0;
    for group in order.chunk_by(|&a, &b| values[a as usize] == values[b as usize]) {
        let share = (first as f64 + 0.5 * group.len() as f64) / count;
        for &k in group {
            scores[k as usize] = (share / (1.0 - share)).ln() / deviation;
        }
        first += group.len();
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_become_logistic_scores() {
        let scores = by_rank(&[3.0, 1.0, 3.0, 7.0]);
        let expected = |q: f64| (q / (1.0 - q)).ln() / 1.813_799_364_234_217_8;
        assert!((scores[1] - expected(0.125)).abs() < 1e-14);
        assert!((scores[0] - expected(0.5)).abs() < 1e-14);
        assert_eq!(scores[0], scores[2]);
        assert!((scores[3] - expected(0.875)).abs() < 1e-14);
    }
}
