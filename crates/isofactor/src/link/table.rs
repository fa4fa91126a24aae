//! Functions of one variable read from a uniform table, and sums over scores by the same table.
//!
//! Between two nodes a function is the quintic that matches value, slope and curvature at both
//! (Hermite). With spacing `d`, `f` is off by at most `d^6 max|f^(6)| / 46080` and its slope by
//! `d^5 max|f^(6)| sqrt(5) / 30000`. Quintics rather than cubics: a table of the same precision
//! is an order of magnitude shorter and stays in the fastest cache.
//!
//! Within an interval a function is `sum_p a_p t^p`, so a sum of `g_k f(x_k)` over many scores
//! needs only the moments `sum_k g_k t_k^p` of each interval: that is the transposed table.

use crate::simd::{self, Kernel, LANES, Lanes, Machine, ZERO};

/// Number of coefficients of a quintic.
pub(crate) const ORDER: usize = 6;

/// `HERMITE[i][p]`: coefficient of `t^p` in the quintic that is 1 in the `i`-th of
/// (value, slope, curvature) at `t = 0`, then the same three at `t = 1`, and 0 in the others.
pub(crate) const HERMITE: [[f64; ORDER]; ORDER] = [
    [1.0, 0.0, 0.0, -10.0, 15.0, -6.0],
    [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
    [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
    [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
    [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
    [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
];

/// A uniform grid over `[-half_width, half_width]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grid {
    half_width: f64,
    intervals: usize,
    /// Intervals per unit of the score: divisions are too slow for every entry.
    density: f64,
}

impl Grid {
    pub fn new(half_width: f64, intervals: usize) -> Self {
        Self { half_width, intervals, density: intervals as f64 / (2.0 * half_width) }
    }

    pub fn half_width(&self) -> f64 {
        self.half_width
    }

    pub fn intervals(&self) -> usize {
        self.intervals
    }

    pub fn nodes(&self) -> usize {
        self.intervals + 1
    }

    pub fn spacing(&self) -> f64 {
        2.0 * self.half_width / self.intervals as f64
    }

    pub fn node(&self, index: usize) -> f64 {
        let share = index as f64 / self.intervals as f64;
        self.half_width * (2.0 * share - 1.0)
    }

    /// The grid of every `stride`-th node; the stride divides the number of intervals.
    pub fn thinned(self, stride: usize) -> Self {
        Self::new(self.half_width, self.intervals / stride)
    }

    /// The interval of a score inside the grid, and where in it (0 to 1) the score lies.
    #[inline]
    pub fn locate(&self, x: f64) -> (usize, f64) {
        let position = (x + self.half_width) * self.density;
        // By way of a short integer, to which the conversion is several times faster.
        let interval = (position as i32 as usize).min(self.intervals - 1);
        (interval, position - interval as f64)
    }
}

/// One function, tabulated.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    grid: Grid,
    pieces: Vec<[f64; ORDER]>,
}

impl Table {
    /// From value, slope and curvature at each node, the derivatives scaled to the spacing
    /// (`f`, `d f'`, `d^2 f''`).
    pub fn from_nodes(grid: Grid, jets: &[f64]) -> Self {
        Self { grid, pieces: quintics(jets) }
    }

    /// The grid it is made on.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// `f(x)` and `f'(x)`; beyond the grid the function goes on straight, with the slope it has at
    /// the end, so that an increasing function stays increasing.
    #[inline]
    pub fn value_and_slope(&self, x: f64) -> (f64, f64) {
        let inside = x.clamp(-self.grid.half_width, self.grid.half_width);
        let (interval, t) = self.grid.locate(inside);
        let (value, slope) = value_and_slope(&self.pieces[interval], t);
        let slope = slope * self.grid.density;
        (value + slope * (x - inside), slope)
    }
}

/// The quintics between nodes that follow each other, from value, slope and curvature at each.
pub(crate) fn quintics(jets: &[f64]) -> Vec<[f64; ORDER]> {
    let mut pieces = vec![[0.0; ORDER]; (jets.len() / 3).saturating_sub(1)];
    simd::dispatch(ToQuintics { jets, pieces: &mut pieces });
    pieces
}

/// A quintic and its derivative at `t`, by one run of Horner's rule.
#[inline]
fn value_and_slope(piece: &[f64; ORDER], t: f64) -> (f64, f64) {
    let mut value = piece[ORDER - 1];
    let mut slope = 0.0;
    for &coefficient in piece[..ORDER - 1].iter().rev() {
        slope = slope * t + value;
        value = value * t + coefficient;
    }
    (value, slope)
}

impl Table {
    /// The quintic of each interval.
    pub fn pieces(&self) -> &[[f64; ORDER]] {
        &self.pieces
    }

    /// Smallest and largest slope over the grid, nodes and places between them.
    pub fn slope_range(&self) -> (f64, f64) {
        let (low, high) = simd::dispatch(SlopeRange { pieces: &self.pieces });
        (low * self.grid.density, high * self.grid.density)
    }
}

/// Quintics from value, slope and curvature at their ends.
struct ToQuintics<'a> {
    jets: &'a [f64],
    pieces: &'a mut [[f64; ORDER]],
}

impl Kernel for ToQuintics<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        for (interval, piece) in self.pieces.iter_mut().enumerate() {
            let ends = &self.jets[3 * interval..][..ORDER];
            // The lower half is what is at the left end.
            piece[..3].copy_from_slice(&[ends[0], ends[1], 0.5 * ends[2]]);
            for (end, hermite) in ends.iter().zip(&HERMITE) {
                for (coefficient, h) in piece[3..].iter_mut().zip(&hermite[3..]) {
                    let sum = *coefficient;
                    *coefficient = if M::FMA { h.mul_add(*end, sum) } else { h * end + sum };
                }
            }
        }
    }
}

/// The transpose: weights of nodes from the moments of the intervals between them.
struct ToNodes<'a> {
    sums: &'a [[f64; ORDER]],
    weights: &'a mut [f64],
}

impl Kernel for ToNodes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        for (interval, sums) in self.sums.iter().enumerate() {
            let ends = &mut self.weights[3 * interval..3 * interval + ORDER];
            for (p, sum) in sums.iter().enumerate() {
                for (end, hermite) in ends.iter_mut().zip(&HERMITE) {
                    *end += hermite[p] * sum;
                }
            }
        }
    }
}

/// Smallest and largest slope of quintics that follow each other, at eight places of each and at
/// the end of the last.
struct SlopeRange<'a> {
    pieces: &'a [[f64; ORDER]],
}

impl Kernel for SlopeRange<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<M: Machine>(self, _: M) -> (f64, f64) {
        const PLACES: [Lanes; 2] = [[0.0, 0.125, 0.25, 0.375], [0.5, 0.625, 0.75, 0.875]];
        let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let mut count = |slopes: Lanes| {
            for lane in 0..LANES {
                low[lane] = if slopes[lane] < low[lane] { slopes[lane] } else { low[lane] };
                high[lane] = if slopes[lane] > high[lane] { slopes[lane] } else { high[lane] };
            }
        };
        for piece in self.pieces {
            for t in PLACES {
                let mut slope = [(ORDER - 1) as f64 * piece[ORDER - 1]; LANES];
                for p in (1..ORDER - 1).rev() {
                    slope = simd::mul_add::<M>(slope, t, [p as f64 * piece[p]; LANES]);
                }
                count(slope);
            }
        }
        if let Some(last) = self.pieces.last() {
            count([value_and_slope(last, 1.0).1; LANES]);
        }
        (
            low.into_iter().fold(f64::INFINITY, f64::min),
            high.into_iter().fold(f64::NEG_INFINITY, f64::max),
        )
    }
}

/// Moments of weighted scores, interval by interval: `sum_k g_k t_k^p`, `p < P`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moments<const P: usize> {
    grid: Grid,
    sums: Vec<[f64; P]>,
}

/// Enough powers for `sum_k g_k f(x_k)`.
pub(crate) type LinearMoments = Moments<ORDER>;
/// Enough powers for `sum_k f(x_k) f(x_k)'`.
pub(crate) type GramMoments = Moments<11>;

impl<const P: usize> Moments<P> {
    pub fn zero(grid: Grid) -> Self {
        Self { grid, sums: vec![[0.0; P]; grid.intervals] }
    }

    /// Counts a score inside the grid with a weight.
    #[inline]
    pub fn add(&mut self, x: f64, weight: f64) {
        let (interval, t) = self.grid.locate(x);
        let mut power = weight;
        for sum in &mut self.sums[interval] {
            *sum += power;
            power *= t;
        }
    }

    /// The grid they are taken on.
    pub fn grid(&self) -> Grid {
        self.grid
    }
}

/// Moments of scores, plain and weighted with their targets: all that the best link needs.
#[derive(Debug, Clone)]
pub(crate) struct LinkMoments {
    grid: Grid,
    /// `sum_k t_k^p` for `p < 12`, then `sum_k y_k t_k^p` for `p < 8`: more than is needed of each,
    /// so that both are whole fours. Scores are counted here and there in turn: those that follow
    /// each other are often in the same interval, and would wait for each other.
    sums: Vec<[[Lanes; 5]; 2]>,
}

impl LinkMoments {
    pub fn zero(grid: Grid) -> Self {
        Self { grid, sums: vec![[[ZERO; 5]; 2]; grid.intervals] }
    }

    /// Counts scores inside the grid with their targets.
    pub fn add(&mut self, scores: &[f64], targets: &[f64]) {
        simd::dispatch(AddScores { moments: self, scores, targets });
    }

    /// Adds what another block of scores gathered.
    pub fn merge(&mut self, other: &Self) {
        let mine = self.sums.as_flattened_mut().as_flattened_mut();
        for (a, b) in mine.iter_mut().zip(other.sums.as_flattened().as_flattened()) {
            *a = simd::add(*a, *b);
        }
    }

    /// The plain ones and the weighted ones, each entry counted `scale` times.
    pub fn scaled(&self, scale: f64) -> (GramMoments, LinearMoments) {
        let (mut plain, mut weighted) = (Moments::zero(self.grid), Moments::zero(self.grid));
        for ((sums, plain), weighted) in
            self.sums.iter().zip(&mut plain.sums).zip(&mut weighted.sums)
        {
            let [here, there] = sums.each_ref().map(|sums| sums.as_flattened());
            let sum = |p: usize| scale * (here[p] + there[p]);
            *plain = std::array::from_fn(sum);
            *weighted = std::array::from_fn(|p| sum(3 * LANES + p));
        }
        (plain, weighted)
    }
}

struct AddScores<'a> {
    moments: &'a mut LinkMoments,
    scores: &'a [f64],
    targets: &'a [f64],
}

impl Kernel for AddScores<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        let LinkMoments { grid, sums } = self.moments;
        for (k, (&x, &y)) in self.scores.iter().zip(self.targets).enumerate() {
            let (interval, t) = grid.locate(x);
            let square = t * t;
            let (first, fourth) = ([1.0, t, square, square * t], [square * square; LANES]);
            let second = simd::mul(first, fourth);
            let [a, b, c, d, e] = &mut sums[interval][k % 2];
            *a = simd::add(*a, first);
            *b = simd::add(*b, second);
            *c = simd::mul_add::<M>(second, fourth, *c);
            *d = simd::mul_add::<M>([y; LANES], first, *d);
            *e = simd::mul_add::<M>([y; LANES], second, *e);
        }
    }
}

impl LinearMoments {
    /// Weights on the (value, slope, curvature) of nodes that follow each other, and the first of
    /// them, such that the sum over scores of any tabulated function is the sum over nodes of weight
    /// times jet: the transpose of [`Table::from_nodes`] and evaluation. Where there are no scores there
    /// are no weights.
    pub fn node_weights(&self) -> (usize, Vec<f64>) {
        let is_used = |sums: &[f64; ORDER]| *sums != [0.0; ORDER];
        let ends = self.sums.iter().position(is_used).zip(self.sums.iter().rposition(is_used));
        let Some((first, last)) = ends else { return (0, vec![]) };
        let used = &self.sums[first..=last];
        let mut weights = vec![0.0; 3 * (used.len() + 1)];
        simd::dispatch(ToNodes { sums: used, weights: &mut weights });
        (first, weights)
    }
}

impl GramMoments {
    /// For each interval, the 6 x 6 matrix `sum_k h(t_k) h(t_k)'` of its Hermite functions.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, [[f64; ORDER]; ORDER])> + '_ {
        self.sums.iter().enumerate().filter(|(_, sums)| sums[0] != 0.0).map(|(interval, sums)| {
            let block = std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    let product = |p: usize, q: usize| HERMITE[i][p] * HERMITE[j][q] * sums[p + q];
                    (0..ORDER).map(|p| (0..ORDER).map(|q| product(p, q)).sum::<f64>()).sum()
                })
            });
            (interval, block)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine_table(grid: Grid) -> Table {
        let d = grid.spacing();
        let jets: Vec<f64> = (0..grid.nodes())
            .map(|i| grid.node(i))
            .flat_map(|x| [x.sin(), d * x.cos(), -d * d * x.sin()])
            .collect();
        Table::from_nodes(grid, &jets)
    }

    #[test]
    fn the_range_of_slopes_is_that_of_a_scan_ends_included() {
        for (half_width, shift) in [(1.0, 0.3), (2.5, -1.1), (0.4, 2.0)] {
            let grid = Grid::new(half_width, 6);
            let d = grid.spacing();
            let jets: Vec<f64> = (0..grid.nodes())
                .map(|i| grid.node(i) + shift)
                .flat_map(|x| [x.exp(), d * x.exp(), d * d * x.exp()])
                .collect();
            let table = Table::from_nodes(grid, &jets);
            let (low, high) = table.slope_range();
            let places = (0..=48).map(|i| half_width * (i as f64 / 24.0 - 1.0));
            let slopes: Vec<f64> = places.map(|x| table.value_and_slope(x).1).collect();
            let least = slopes.iter().copied().fold(f64::INFINITY, f64::min);
            let most = slopes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!((low - least).abs() < 1e-12 * most && (high - most).abs() < 1e-12 * most);
        }
    }

    #[test]
    fn moments_of_scores_are_sums_of_powers() {
        let grid = Grid::new(1.0, 5);
        let scores: Vec<f64> = (0..37).map(|k| (k as f64 * 0.7).sin()).collect();
        let targets: Vec<f64> = (0..37).map(|k| (k as f64).cos()).collect();
        let (mut plain, mut weighted) = (GramMoments::zero(grid), LinearMoments::zero(grid));
        let mut moments = LinkMoments::zero(grid);
        let mut rest = LinkMoments::zero(grid);
        moments.add(&scores[..20], &targets[..20]);
        rest.add(&scores[20..], &targets[20..]);
        moments.merge(&rest);
        for (&x, &y) in scores.iter().zip(&targets) {
            plain.add(x, 2.0);
            weighted.add(x, 2.0 * y);
        }
        let (found_plain, found_weighted) = moments.scaled(2.0);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(found_plain.sums.as_flattened(), plain.sums.as_flattened()));
        assert!(near(found_weighted.sums.as_flattened(), weighted.sums.as_flattened()));
    }

    #[test]
    fn errors_stay_below_the_bounds_and_reach_a_tenth_of_them() {
        let grid = Grid::new(2.0, 13);
        let table = sine_table(grid);
        let d = grid.spacing();
        let (value_bound, slope_bound) = (d.powi(6) / 46_080.0, d.powi(5) * 5f64.sqrt() / 30_000.0);
        let (mut worst_value, mut worst_slope) = (0.0f64, 0.0f64);
        for step in 0..=1000 {
            let x = -2.0 + step as f64 * 0.004;
            let (value, slope) = table.value_and_slope(x);
            worst_value = worst_value.max((value - x.sin()).abs());
            worst_slope = worst_slope.max((slope - x.cos()).abs());
        }
        assert!(worst_value <= value_bound && worst_value > 0.1 * value_bound);
        assert!(worst_slope <= slope_bound && worst_slope > 0.1 * slope_bound);
    }

    #[test]
    fn beyond_its_ends_a_function_goes_on_straight() {
        let table = sine_table(Grid::new(1.0, 8));
        let (end, slope) = table.value_and_slope(1.0);
        assert_eq!(table.value_and_slope(3.0), (end + 2.0 * slope, slope));
    }

    #[test]
    fn sums_over_scores_equal_sums_over_nodes() {
        let grid = Grid::new(1.5, 9);
        let table = sine_table(grid);
        let d = grid.spacing();
        let scores = [(-1.5, 0.3), (-0.2, -1.1), (0.77, 2.0), (1.5, 0.5), (0.76, -0.4)];
        let direct: f64 = scores.iter().map(|&(x, g)| g * table.value_and_slope(x).0).sum();
        let mut moments = LinearMoments::zero(grid);
        scores.iter().for_each(|&(x, g)| moments.add(x, g));
        let by_nodes = |moments: &LinearMoments| -> f64 {
            let (first, weights) = moments.node_weights();
            let sum = |(i, w): (usize, &[f64])| {
                let x = grid.node(first + i);
                w[0] * x.sin() + w[1] * d * x.cos() - w[2] * d * d * x.sin()
            };
            weights.chunks(3).enumerate().map(sum).sum()
        };
        assert!((direct - by_nodes(&moments)).abs() < 1e-13);
        // Nodes without scores around them have no weights.
        let mut few = LinearMoments::zero(grid);
        assert_eq!(few.node_weights(), (0, vec![]));
        few.add(0.77, 2.0);
        let (first, weights) = few.node_weights();
        assert_eq!((first, weights.len()), (6, 6));
        assert!((2.0 * table.value_and_slope(0.77).0 - by_nodes(&few)).abs() < 1e-13);
    }

    #[test]
    fn gram_blocks_hold_squared_sums() {
        let grid = Grid::new(1.0, 4);
        let table = sine_table(grid);
        let d = grid.spacing();
        let jet = |i: usize| {
            let x = grid.node(i);
            [x.sin(), d * x.cos(), -d * d * x.sin()]
        };
        let scores = [-0.9, -0.1, 0.2, 0.21, 1.0];
        let direct: f64 = scores.iter().map(|&x| table.value_and_slope(x).0.powi(2)).sum();
        let mut moments = GramMoments::zero(grid);
        scores.iter().for_each(|&x| moments.add(x, 1.0));
        let by_blocks: f64 = moments
            .blocks()
            .map(|(interval, block)| {
                let ends: Vec<f64> = jet(interval).into_iter().chain(jet(interval + 1)).collect();
                (0..ORDER)
                    .map(|i| (0..ORDER).map(|j| block[i][j] * ends[i] * ends[j]).sum::<f64>())
                    .sum::<f64>()
            })
            .sum();
        assert!((direct - by_blocks).abs() < 1e-13);
    }
}
