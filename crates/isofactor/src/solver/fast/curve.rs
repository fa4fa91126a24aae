//! The link for given scores: the smoothest increasing function that explains the values.
//!
//! Scores are not known exactly: entry `k` has `x_k ~ N(m_k, s_k^2)`. The link minimises
//!
//! ```text
//! sum_k E (y_k - phi(x_k))^2 + lambda sum_j (change of slope at node j)^2 / (spacing there)
//! ```
//!
//! over functions that are straight between nodes and rise everywhere. The expectation (at three
//! points, exact for cubics) is what keeps the link from undoing the shrinkage: scores that are
//! uncertain flatten it on average by just what their means are shrunk. `lambda` is set to what
//! makes the present link likeliest.

use crate::{
    linalg::{self, Mat},
    link::{SlopeBounds, Tabulated, monotone::bounded_minimum},
};

/// Straight pieces of the link.
const PIECES: usize = 80;
/// The smallest slope, as a share of the values' spread over the range of the scores.
const LEAST_SLOPE: f64 = 1e-3;
/// Intervals of the table by which the link is read.
const TABLE: usize = 1500;

/// Entries that the link is fitted to: mean and variance of the score, value.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub mean: Vec<f64>,
    pub variance: Vec<f64>,
    pub value: Vec<f64>,
}

/// A link that is straight between its nodes.
#[derive(Debug, Clone)]
pub(super) struct Bent {
    nodes: Vec<f64>,
    values: Vec<f64>,
}

impl Bent {
    fn value(&self, x: f64) -> f64 {
        let piece = self.nodes.partition_point(|&node| node <= x).clamp(1, self.nodes.len() - 1);
        let (x0, x1) = (self.nodes[piece - 1], self.nodes[piece]);
        let (y0, y1) = (self.values[piece - 1], self.values[piece]);
        y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    }
}

/// Fits the link; `penalty` is `lambda`, which `rounds` of its own update improve.
pub(super) fn fit(seen: &Seen, penalty: &mut f64, rounds: usize) -> Option<Bent> {
    let count = seen.mean.len() as f64;
    let nodes = nodes(seen);
    let range = nodes[PIECES] - nodes[0];
    if !(range > 0.0 && range.is_finite()) {
        return None;
    }
    let sums = Sums::new(seen, &nodes);
    let rough = roughness(&nodes);
    let normal = |penalty: f64| {
        let mut normal = &sums.gram + linalg::scaled(&rough, penalty);
        (0..=PIECES).for_each(|i| normal[(i, i)] += 1e-9 * count / (PIECES + 1) as f64);
        normal
    };
    for _ in 0..rounds {
        *penalty = likelier(&sums, &rough, &normal(*penalty), count)?;
    }
    let rows: Vec<Vec<f64>> = (0..PIECES)
        .map(|j| {
            let mut row = vec![0.0; PIECES + 1];
            let spacing = (nodes[j + 1] - nodes[j]) / range;
            (row[j], row[j + 1]) = (-spacing.recip(), spacing.recip());
            row
        })
        .collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let low = LEAST_SLOPE * sums.variance.sqrt();
    let bounds = SlopeBounds { low, high: f64::INFINITY };
    let values =
        bounded_minimum(normal(*penalty).as_ref(), &sums.right, &rows, 1.0, bounds).ok()?;
    values.iter().all(|value| value.is_finite()).then_some(Bent { nodes, values })
}

/// Nodes are dense where scores are: most by quantiles, some evenly, with room at both ends.
fn nodes(seen: &Seen) -> Vec<f64> {
    const BY_QUANTILE: f64 = 0.7;
    let mut sorted = seen.mean.clone();
    sorted.sort_by(f64::total_cmp);
    let deviation = (seen.variance.iter().sum::<f64>() / seen.variance.len() as f64).sqrt();
    let (low, high) = (sorted[0] - 2.0 * deviation, sorted[sorted.len() - 1] + 2.0 * deviation);
    let place = |x: f64| {
        let below = sorted.partition_point(|&m| m < x) as f64 / sorted.len() as f64;
        BY_QUANTILE * below + (1.0 - BY_QUANTILE) * (x - low) / (high - low)
    };
    (0..=PIECES)
        .map(|j| {
            let share = j as f64 / PIECES as f64;
            let (mut left, mut right) = (low, high);
            if j == 0 || j == PIECES {
                return if j == 0 { low } else { high };
            }
            for _ in 0..40 {
                let middle = 0.5 * (left + right);
                if place(middle) < share { left = middle } else { right = middle }
            }
            0.5 * (left + right)
        })
        .collect()
}

/// `sum_k E h(x_k) h(x_k)'`, `sum_k E h(x_k) y_k` for the tent functions `h` of the nodes.
struct Sums {
    gram: Mat<f64>,
    right: Vec<f64>,
    squares: f64,
    variance: f64,
}

impl Sums {
    fn new(seen: &Seen, nodes: &[f64]) -> Self {
        let (low, high) = (nodes[0], nodes[PIECES]);
        let mut sums = Self {
            gram: Mat::zeros(PIECES + 1, PIECES + 1),
            right: vec![0.0; PIECES + 1],
            squares: 0.0,
            variance: 0.0,
        };
        let wide = 3f64.sqrt();
        let points = [(0.0, 2.0 / 3.0), (wide, 1.0 / 6.0), (-wide, 1.0 / 6.0)];
        let mut total = 0.0;
        for ((&mean, &variance), &value) in seen.mean.iter().zip(&seen.variance).zip(&seen.value) {
            total += value;
            sums.squares += value * value;
            let deviation = variance.sqrt();
            for (place, weight) in points {
                let x = (mean + place * deviation).clamp(low, high);
                let j = nodes.partition_point(|&node| node <= x).clamp(1, PIECES) - 1;
                let t = (x - nodes[j]) / (nodes[j + 1] - nodes[j]);
                let (left, right) = (1.0 - t, t);
                sums.gram[(j, j)] += weight * left * left;
                sums.gram[(j + 1, j)] += weight * left * right;
                sums.gram[(j + 1, j + 1)] += weight * right * right;
                sums.right[j] += weight * left * value;
                sums.right[j + 1] += weight * right * value;
            }
        }
        for j in 0..PIECES {
            sums.gram[(j, j + 1)] = sums.gram[(j + 1, j)];
        }
        let count = seen.value.len() as f64;
        sums.variance = (sums.squares / count - (total / count).powi(2)).max(0.0);
        sums
    }
}

/// `R` with `f'Rf = sum_j (change of slope at j)^2 / spacing_j`, the range counted as one.
fn roughness(nodes: &[f64]) -> Mat<f64> {
    let range = nodes[PIECES] - nodes[0];
    let mut rough = Mat::<f64>::zeros(PIECES + 1, PIECES + 1);
    for j in 1..PIECES {
        let left = (nodes[j] - nodes[j - 1]) / range;
        let right = (nodes[j + 1] - nodes[j]) / range;
        let change = [left.recip(), -left.recip() - right.recip(), right.recip()];
        for (a, x) in change.iter().enumerate() {
            for (b, y) in change.iter().enumerate() {
                rough[(j - 1 + a, j - 1 + b)] += x * y / (0.5 * (left + right));
            }
        }
    }
    rough
}

/// One step towards the likeliest penalty: `lambda = s2 (p - 2) / (f'Rf + s2 tr(R H^-1))`, with
/// `H` the normal matrix, `f` its solution and `s2` the variance of the residuals.
fn likelier(sums: &Sums, rough: &Mat<f64>, normal: &Mat<f64>, count: f64) -> Option<f64> {
    let lower = linalg::cholesky(normal.as_ref()).ok()?;
    let inverse = linalg::lower_inverse(lower.as_ref())?;
    let inverse = inverse.transpose() * &inverse;
    let p = sums.right.len();
    let f: Vec<f64> =
        (0..p).map(|i| (0..p).map(|j| inverse[(i, j)] * sums.right[j]).sum()).collect();
    let (mut bent, mut trace, mut fitted, mut freedom) = (0.0, 0.0, 0.0, 0.0);
    for i in 0..p {
        // Both matrices are banded.
        for j in i.saturating_sub(2)..(i + 3).min(p) {
            bent += f[i] * rough[(i, j)] * f[j];
            trace += rough[(i, j)] * inverse[(i, j)];
            fitted += f[i] * sums.gram[(i, j)] * f[j];
            freedom += sums.gram[(i, j)] * inverse[(i, j)];
        }
    }
    let cross: f64 = f.iter().zip(&sums.right).map(|(f, r)| f * r).sum();
    let residual = (sums.squares - 2.0 * cross + fitted) / (count - freedom).max(1.0);
    let noise = residual.max(1e-12 * sums.variance);
    let penalty = noise * (p as f64 - 2.0) / (bent + noise * trace);
    Some(penalty.clamp(1e-12 * count, 1e6 * count))
}

/// `E phi(x + s e)` and its slope for normal `e`, tabulated over scores from `low` to `high`: what
/// a score known up to a deviation `s` predicts.
pub(super) fn smoothed(
    link: &dyn Fn(f64) -> f64,
    (low, high): (f64, f64),
    deviation: f64,
) -> Option<Tabulated> {
    let (low, high) = (low - 4.0 * deviation, high + 4.0 * deviation);
    let spacing = (high - low) / TABLE as f64;
    let deviation = deviation.max(0.5 * spacing);
    let points: Vec<(f64, f64)> =
        (-12..=12).map(|i| f64::from(i) * 0.3).map(|u| (u, (-0.5 * u * u).exp())).collect();
    let weight: f64 = points.iter().map(|(_, w)| w).sum();
    let second: f64 = points.iter().map(|(u, w)| w * u * u).sum();
    let (mut values, mut slopes) = (Vec::new(), Vec::new());
    for node in 0..=TABLE {
        let x = low + spacing * node as f64;
        let (mut value, mut slope) = (0.0, 0.0);
        for &(u, w) in &points {
            let at = link(x + deviation * u);
            value += w * at;
            slope += w * at * u;
        }
        values.push(value / weight);
        slopes.push((slope / second / deviation).max(0.0));
    }
    // Rounding must not make a flat stretch fall.
    for i in 1..values.len() {
        values[i] = values[i].max(values[i - 1]);
    }
    Tabulated::try_new(low, spacing, values, slopes)
}

impl Bent {
    /// The link for scores known up to a deviation.
    pub fn smoothed(&self, deviation: f64) -> Option<Tabulated> {
        let range = (self.nodes[0], self.nodes[self.nodes.len() - 1]);
        smoothed(&|x| self.value(x), range, deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a sigmoid at scores seen exactly, with a little noise.
    #[test]
    fn a_curve_is_recovered_and_rises() {
        let mut seen = Seen::default();
        for k in 0..4000 {
            let x = 3.0 * ((k as f64) * 0.7).sin();
            seen.mean.push(x);
            seen.variance.push(1e-6);
            seen.value.push((1.0 + (-2.0 * x).exp()).recip() + 0.02 * ((k * k) as f64).cos());
        }
        let mut penalty = 1e-6 * 4000.0;
        let link = fit(&seen, &mut penalty, 3).unwrap();
        assert!(link.values.windows(2).all(|pair| pair[0] < pair[1]));
        let table = link.smoothed(1e-3).unwrap();
        for i in 0..=50 {
            let x = -2.9 + 5.8 * f64::from(i) / 50.0;
            let gap = table.value_and_slope(x).0 - (1.0 + (-2.0 * x).exp()).recip();
            assert!(gap.abs() < 0.01, "{x} {gap}");
        }
    }

    /// The smoothed link of a straight line is the line itself.
    #[test]
    fn smoothing_keeps_straight_lines() {
        let table = smoothed(&|x| 2.0 * x + 1.0, (-1.0, 1.0), 0.3).unwrap();
        for x in [-1.0, -0.2, 0.9] {
            let (value, slope) = table.value_and_slope(x);
            assert!((value - (2.0 * x + 1.0)).abs() < 1e-9 && (slope - 2.0).abs() < 1e-9);
        }
    }
}
