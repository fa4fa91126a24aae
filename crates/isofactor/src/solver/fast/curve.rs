//! The link for given scores: the smoothest increasing function that explains the values.
//!
//! Scores are not known exactly: entry `k` has `x_k ~ N(m_k, s_k^2)`. The link is straight between
//! nodes, rises everywhere, and minimises
//!
//! ```text
//! misfit + lambda sum_j (change of slope at node j)^2 / (spacing there)
//! ```
//!
//! with the misfit of either kind of [`Seen`]. Both average over the scores (at three points, exact
//! for cubics), and that is what keeps the link from undoing the shrinkage: scores that are
//! uncertain flatten it on average by just what their means are shrunk. `lambda` is set to what
//! makes the present link likeliest.

use rayon::prelude::*;

use crate::{
    linalg::{self, Mat},
    link::{
        SlopeBounds, Tabulated,
        monotone::{ActiveBounds, SlopeProgram},
    },
};

/// Straight pieces of the link.
const PIECES: usize = 80;
/// The smallest slope, as a share of the values' spread over the range of the scores.
const LEAST_SLOPE: f64 = 1e-3;
/// Intervals of the table by which the link is read.
const TABLE: usize = 1500;

/// An entry that the link is fitted to: mean and deviation of its score, its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub mean: f64,
    pub deviation: f64,
    pub value: f64,
    /// How much it counts.
    pub weight: f64,
}

/// What is known of the scores, and the misfit that goes with it.
#[derive(Debug)]
pub(super) enum Seen {
    /// By all entries, its own among them: `sum_k w_k E (y_k - phi(x_k))^2`.
    WithOwn(Vec<Point>),
    /// By all entries but its own: `sum_k w_k (y_k - E phi(x_k))^2`.
    WithoutOwn(Vec<Point>),
}

impl Seen {
    fn points(&self) -> &[Point] {
        match self {
            Seen::WithOwn(points) | Seen::WithoutOwn(points) => points,
        }
    }
}

/// A link that is straight between its nodes.
#[derive(Debug, Clone)]
pub(super) struct Bent {
    nodes: Vec<f64>,
    values: Vec<f64>,
}

impl Bent {
    /// The value at a score.
    pub fn value(&self, x: f64) -> f64 {
        let piece = self.nodes.partition_point(|&node| node <= x).clamp(1, self.nodes.len() - 1);
        let (x0, x1) = (self.nodes[piece - 1], self.nodes[piece]);
        let (y0, y1) = (self.values[piece - 1], self.values[piece]);
        y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    }
}

/// Fits the link; `penalty` is `lambda`, which `rounds` of its own update improve.
pub(super) fn fit(seen: &Seen, penalty: &mut f64, rounds: usize) -> Option<Bent> {
    let count = seen.points().len() as f64;
    let nodes = nodes(seen.points());
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
    let lower = linalg::cholesky(normal(*penalty).as_ref()).ok()?;
    let program = SlopeProgram::new(&rows, 1.0, bounds);
    let values = program.minimum(&lower, &sums.right, &mut ActiveBounds::default()).ok()?;
    values.iter().all(|value| value.is_finite()).then_some(Bent { nodes, values })
}

/// Nodes are dense where scores are: most by quantiles, some evenly, with room at both ends.
fn nodes(points: &[Point]) -> Vec<f64> {
    const BY_QUANTILE: f64 = 0.7;
    let mut sorted: Vec<f64> = points.iter().map(|point| point.mean).collect();
    sorted.par_sort_unstable_by(f64::total_cmp);
    let deviation = typical_deviation(points);
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

/// The root of the mean variance.
pub(super) fn typical_deviation(points: &[Point]) -> f64 {
    let squares: f64 = points.iter().map(|point| point.deviation.powi(2)).sum();
    (squares / points.len() as f64).sqrt()
}

/// Normal equations for the tent functions `h` of the nodes: `sum_k w_k E h h'`, or `sum_k w_k
/// E h E h'`, and `sum_k w_k E h y_k`, with weights that sum up to the number of entries.
struct Sums {
    gram: Mat<f64>,
    right: Vec<f64>,
    squares: f64,
    variance: f64,
}

/// How many entries are summed up together, whatever the number of threads.
const SUMMED: usize = 1 << 14;

impl Sums {
    fn new(seen: &Seen, nodes: &[f64]) -> Self {
        let own = matches!(seen, Seen::WithOwn(_));
        let parts: Vec<Part> = seen
            .points()
            .par_chunks(SUMMED)
            .map(|points| {
                let mut part = Part::default();
                points.iter().for_each(|point| part.add(point, nodes, own));
                part
            })
            .collect();
        let mut sum = Part::default();
        parts.iter().for_each(|part| sum.merge(part));
        let scale = seen.points().len() as f64 / sum.weight;
        let place = |i: usize, j: usize| i * (PIECES + 1) + j;
        let mean = sum.total / sum.weight;
        Self {
            gram: Mat::from_fn(PIECES + 1, PIECES + 1, |i, j| scale * sum.gram[place(i, j)]),
            right: sum.right.iter().map(|right| scale * right).collect(),
            squares: scale * sum.squares,
            variance: (sum.squares / sum.weight - mean.powi(2)).max(0.0),
        }
    }
}

/// Sums over some of the entries.
struct Part {
    /// Row by row.
    gram: Vec<f64>,
    right: Vec<f64>,
    squares: f64,
    total: f64,
    weight: f64,
}

impl Default for Part {
    fn default() -> Self {
        let nodes = PIECES + 1;
        let (gram, right) = (vec![0.0; nodes * nodes], vec![0.0; nodes]);
        Self { gram, right, squares: 0.0, total: 0.0, weight: 0.0 }
    }
}

impl Part {
    fn add(&mut self, point: &Point, nodes: &[f64], own: bool) {
        const WIDE: f64 = 1.732_050_807_568_877_2;
        const THREE: [(f64, f64); 3] = [(0.0, 2.0 / 3.0), (WIDE, 1.0 / 6.0), (-WIDE, 1.0 / 6.0)];
        let &Point { mean, deviation, value, weight } = point;
        // Two tent functions at each of the three points: where, how much, and the point's share.
        let mut tents = [(0, 0.0, 0.0); 6];
        for (pair, (place, share)) in tents.chunks_exact_mut(2).zip(THREE) {
            let x = (mean + place * deviation).clamp(nodes[0], nodes[PIECES]);
            let j = nodes.partition_point(|&node| node <= x).clamp(1, PIECES) - 1;
            let t = (x - nodes[j]) / (nodes[j + 1] - nodes[j]);
            (pair[0], pair[1]) = ((j, share * (1.0 - t), share), (j + 1, share * t, share));
        }
        for (a, &(i, x, share)) in tents.iter().enumerate() {
            self.right[i] += weight * x * value;
            let row = &mut self.gram[i * (PIECES + 1)..(i + 1) * (PIECES + 1)];
            // The product of means, or the mean of products: of the tents at the same point.
            let (others, factor) = match own {
                true => (&tents[a / 2 * 2..a / 2 * 2 + 2], weight * x / share),
                false => (&tents[..], weight * x),
            };
            others.iter().for_each(|&(j, y, _)| row[j] += factor * y);
        }
        self.squares += weight * value * value;
        self.total += weight * value;
        self.weight += weight;
    }

    fn merge(&mut self, other: &Part) {
        linalg::add_scaled(&mut self.gram, 1.0, &other.gram);
        linalg::add_scaled(&mut self.right, 1.0, &other.right);
        self.squares += other.squares;
        self.total += other.total;
        self.weight += other.weight;
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
        for j in 0..p {
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
        let points = (0..4000).map(|k| {
            let mean = 3.0 * (f64::from(k) * 0.7).sin();
            let value = (1.0 + (-2.0 * mean).exp()).recip() + 0.02 * f64::from(k * k).cos();
            Point { mean, deviation: 1e-3, value, weight: 1.0 }
        });
        let seen = Seen::WithOwn(points.collect());
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

    /// Scores that are off by what they are said to be, as they are where an entry does not know
    /// of its own value: averaging the link, not its squares, finds the curve without bias.
    #[test]
    fn a_curve_is_recovered_from_uncertain_scores() {
        let deviation = 0.3;
        let noise = |k: u64, by: u64| {
            let mixed = (k * by + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed >> 11) as f64 / (1u64 << 53) as f64
        };
        let points: Vec<Point> = (0..40_000)
            .map(|k| {
                let mean = 6.0 * noise(k, 7919) - 3.0;
                let radius = (-2.0 * (1.0 - noise(k, 104_729)).ln()).sqrt();
                let x =
                    mean + deviation * radius * (std::f64::consts::TAU * noise(k, 1_299_709)).cos();
                Point { mean, deviation, value: (2.0 * x).tanh(), weight: 1.0 }
            })
            .collect();
        let largest_gap = |seen: &Seen| {
            let link = fit(seen, &mut 0.04, 6).unwrap();
            let places = (0..=40).map(|i| -2.0 + f64::from(i) / 10.0);
            places.map(|x| (link.value(x) - (2.0 * x).tanh()).abs()).fold(0.0, f64::max)
        };
        let without = largest_gap(&Seen::WithoutOwn(points.clone()));
        let with = largest_gap(&Seen::WithOwn(points));
        assert!(without < 0.05, "{without} {with}");
        assert!(with > 2.0 * without, "{with} {without}");
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
