//! The table that the passes over the entries read: quartics, each one load wide.
//!
//! A pass evaluates the link at every entry, so here shortness gives way to speed. On each interval
//! of the quintic [`Table`] the last power is given up, so that what the slope loses is as small as it
//! can be all over the interval. With `t` from the middle of the interval, in units of its length,
//!
//! ```text
//! t^5  ->  5/12 t^3 - 5/128 t
//! ```
//!
//! whose slope is off by at most `5/128`: by Chebyshev's polynomial, nothing of lower degree does better.
//! On an interval of length `d` the slope is then off the quintic's by `d^4 max|f^(5)| / 3072` at most.
//! As many entries are evaluated at once as the machine holds.
//!
//! Five coefficients lie in the place of four: those of `t^3` and `t^4`, which count for little, share
//! one ([`pack`]), each good to `2^-21` of itself. That takes about `2^-24 d^2 max|f'''|` off the slope, less
//! than a tenth of what giving up the fifth power may, where intervals are as long as they may be.
//!
//! Sums over the entries go back by the transpose ([`FineMoments::collect`]), where one more power is
//! given up, for only values count there: `t^4 -> t^2/4 - 1/128`, off by at most `1/128`, which is
//! `d^4 max|f^(4)| / 3072` of a function's value.

use std::ops::Range;

use super::table::{Grid, LinearMoments, ORDER, Table};
use crate::simd::{self, BETWEEN, Four, Kernel, LANES, Machine, Paged, ZERO};

/// Powers of a quartic.
const POWERS: usize = 5;

/// `QUARTIC[p][j]`: coefficient of `t^j`, with `t` from the middle of an interval, in the quartic that
/// stands for the power `p` of the place in it from its left end: `(t + 1/2)^p` without `t^5`.
const QUARTIC: [[f64; POWERS]; ORDER] = [
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [0.5, 1.0, 0.0, 0.0, 0.0],
    [0.25, 1.0, 1.0, 0.0, 0.0],
    [0.125, 0.75, 1.5, 1.0, 0.0],
    [0.0625, 0.5, 1.5, 2.0, 1.0],
    [0.03125, 0.3125 - 5.0 / 128.0, 1.25, 2.5 + 5.0 / 12.0, 2.5],
];

/// The intervals of a grid that scores up to `largest` in absolute value lie on, and a neighbour on
/// either side, or all there are.
pub(crate) fn reached(grid: Grid, largest: f64) -> Range<usize> {
    let middle = grid.intervals() as f64 / 2.0;
    let reach = largest / grid.spacing() + 1.0;
    if reach < middle {
        (middle - reach) as usize..(middle + reach).ceil() as usize
    } else {
        0..grid.intervals()
    }
}

/// Where a score lies among the intervals of a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FineGrid {
    grid: Grid,
    /// Position among the intervals, counted from the middle of the first: `x density + offset`.
    density: f64,
    offset: f64,
    /// `1 / density`
    length: f64,
}

/// Where in a page of memory the middle of a link's pieces lies, and the middle of the first table of its
/// moments: what most scores read and what they are added to is then not at the same place ([`Paged`]).
const OF_PIECES: usize = 0;
const OF_MOMENTS: usize = BETWEEN * size_of::<Four>();

/// Nothing on an interval.
const EMPTY: Four = Four(ZERO);

/// Adding this to a number below 2^51 rounds it to a whole one, held in its lowest bits.
const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;

impl FineGrid {
    /// The intervals of a grid.
    fn new(grid: Grid) -> Self {
        // A little less than there are, so that rounding carries no score of the grid off its ends.
        let density = (1.0 - 6.0 * f64::EPSILON) / grid.spacing();
        Self { grid, density, offset: grid.intervals() as f64 / 2.0 - 0.5, length: 1.0 / density }
    }

    /// Where scores inside the grid lie.
    #[inline(always)]
    fn place<M: Machine>(self, m: M, x: M::Many) -> FinePlace<M::Row> {
        let position = m.mul_add(x, m.splat(self.density), m.splat(self.offset));
        let rounded = m.add(position, m.splat(ROUNDING));
        let whole = m.sub(rounded, m.splat(ROUNDING));
        FinePlace { rounded: m.row(rounded), t: m.row(m.sub(position, whole)) }
    }
}

/// Where scores lie, as many as a machine holds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FinePlace<R> {
    /// Their intervals, in the lowest bits.
    rounded: R,
    /// Where in the intervals, from -1/2 to 1/2.
    t: R,
}

/// A link as the passes read it.
#[derive(Debug, Clone)]
pub(crate) struct FineTable {
    grid: FineGrid,
    /// Coefficients of `1, t, t^2`, and those of `t^3` and `t^4` in one, divided by the length of an interval:
    /// so slopes come out as they are, and values need one multiplication on the way to residuals, which
    /// costs nothing there. As many as the next power of two, so that a masked place is always a valid one.
    pieces: Paged,
    /// Up to which absolute value of scores it was made.
    reach: f64,
}

impl FineTable {
    /// The function of a quintic table.
    pub fn new(table: &Table) -> Self {
        Self::of_quintics(table.grid(), 0, table.pieces(), f64::INFINITY)
    }

    /// From the quintics of the intervals that are [`reached`].
    pub fn of_quintics(grid: Grid, first: usize, quintics: &[[f64; ORDER]], reach: f64) -> Self {
        let length = grid.intervals().next_power_of_two();
        let mut pieces = Paged::default();
        pieces.fit(length, grid.intervals() / 2, OF_PIECES);
        let grid = FineGrid::new(grid);
        let (scale, to) = (grid.density, &mut pieces[first..]);
        simd::dispatch(ToQuartics { quintics, scale, pieces: to });
        Self { grid, pieces, reach }
    }

    /// Whether it is right for scores up to `largest` in absolute value that are inside the grid.
    pub fn covers(&self, largest: f64) -> bool {
        largest <= self.reach
    }

    /// The link, to be read.
    pub fn link(&self) -> FineLink<'_> {
        FineLink { grid: self.grid, pieces: &self.pieces }
    }

    /// The intervals that scores up to `largest` in absolute value lie on; all places there are where
    /// some are outside the grid.
    pub fn reach(&self, largest: f64) -> Range<usize> {
        let reached = reached(self.grid.grid, largest);
        // Behind the last interval there are places for scores outside the grid.
        if reached.start > 0 { reached } else { 0..self.pieces.len() }
    }
}

/// A link that is being read: a copy of all that it takes but the pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FineLink<'a> {
    grid: FineGrid,
    pieces: &'a [Four],
}

impl FineLink<'_> {
    /// Where scores inside the grid lie.
    #[inline(always)]
    pub fn place<M: Machine>(self, m: M, x: M::Many) -> FinePlace<M::Row> {
        self.grid.place(m, x)
    }

    /// Residuals `y - phi(x)` and slopes `phi'(x)` at some scores.
    #[inline(always)]
    pub fn at<M: Machine>(self, m: M, place: &FinePlace<M::Row>, y: M::Many) -> (M::Many, M::Many) {
        let (a, t) = (self.coefficients(m, place), m.load(place.t.as_ref()));
        let value = m.mul_add(a[4], t, a[3]);
        let slope = m.mul_add(a[4], t, value);
        let value = m.mul_add(value, t, a[2]);
        let slope = m.mul_add(slope, t, value);
        let value = m.mul_add(value, t, a[1]);
        let slope = m.mul_add(slope, t, value);
        let value = m.mul_add(value, t, a[0]);
        (self.residual(m, y, value), slope)
    }

    /// `y - phi(x)`, from `phi(x)` in units of the slope over an interval.
    #[inline(always)]
    fn residual<M: Machine>(self, m: M, y: M::Many, value: M::Many) -> M::Many {
        m.mul_add(value, m.splat(-self.grid.length), y)
    }

    /// For each power the coefficients of some intervals.
    #[inline(always)]
    fn coefficients<M: Machine>(self, m: M, place: &FinePlace<M::Row>) -> [M::Many; POWERS] {
        let [a, b, c, packed] = m.gather(self.pieces, &place.rounded);
        [a, b, c, packed, m.lower_half(packed)]
    }

    /// The residuals `y - phi(x)` of some entries, counted in the tables of [`FineMoments`]; only the first
    /// `live` of them are entries, the others come out as zero.
    #[inline(always)]
    pub fn residuals<M: Machine>(
        self,
        m: M,
        place: &FinePlace<M::Row>,
        y: M::Many,
        live: usize,
        tables: &mut M::Tables<'_>,
    ) -> M::Many {
        let (a, t) = (self.coefficients(m, place), m.load(place.t.as_ref()));
        let value = m.mul_add(a[4], t, a[3]);
        let value = m.mul_add(value, t, a[2]);
        let value = m.mul_add(value, t, a[1]);
        let value = m.mul_add(value, t, a[0]);
        let mut g = self.residual(m, y, value);
        if live < M::WIDTH {
            g = simd::only(m, g, live);
        }
        let first = m.mul(g, t);
        let second = m.mul(first, t);
        let third = m.mul(second, t);
        m.add_to(tables, &place.rounded, [g, first, second, third]);
        g
    }
}

/// Quartics from quintics, times a scale.
struct ToQuartics<'a> {
    quintics: &'a [[f64; ORDER]],
    scale: f64,
    pieces: &'a mut [Four],
}

impl Kernel for ToQuartics<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        for (quintic, piece) in self.quintics.iter().zip(self.pieces) {
            let (mut low, mut top) = (ZERO, 0.0);
            for (coefficient, &[c0, c1, c2, c3, c4]) in quintic.iter().zip(&QUARTIC) {
                let coefficient = self.scale * coefficient;
                low = simd::mul_add::<M>([coefficient; LANES], [c0, c1, c2, c3], low);
                top += coefficient * c4;
            }
            low[3] = pack(low[3], top);
            piece.0 = low;
        }
    }
}

/// Two numbers in the place of one: it is itself close to the first, and its lower half holds the
/// upper half of the second. Each is off by at most `2^-21` of itself, or by less than any normal number.
#[inline(always)]
fn pack(first: f64, second: f64) -> f64 {
    const HALF: u64 = 1 << 31;
    const SIGN: u64 = 1 << 63;
    let lower = (second.to_bits() + HALF) >> 32;
    let (sign, size) = (first.to_bits() & SIGN, first.to_bits() & !SIGN);
    // The upper half with which, above this lower half, the whole comes closest.
    let upper = (size + HALF).saturating_sub(lower) >> 32;
    f64::from_bits(sign | upper << 32 | lower)
}

/// Moments of residuals, interval by interval: `sum_k g_k t_k^p`, `p < 4`.
///
/// Scores often lie on a small part of a table, so it is kept from pass to pass and only the part
/// that was used is added up and cleared.
#[derive(Debug, Clone, Default)]
pub(crate) struct FineMoments {
    /// Several tables of this length, one after the other ([`Machine::add_to`]).
    sums: Paged,
    length: usize,
}

impl FineMoments {
    /// Room for the residuals of a link; what is there already is all zero.
    pub fn fit(&mut self, table: &FineTable) {
        self.length = table.pieces.len();
        let middle = table.grid.grid.intervals() / 2;
        self.sums.fit(simd::tables() * (self.length + BETWEEN), middle, OF_MOMENTS);
    }

    /// What the residuals of a link are added to ([`FineLink::residuals`]).
    #[inline(always)]
    pub fn tables<M: Machine>(&mut self, m: M, link: FineLink<'_>) -> M::Tables<'_> {
        m.tables(&mut self.sums, link.pieces.len())
    }

    /// Adds up its tables in the first of them, while they are in a fast cache. `used` are the places
    /// where any has something.
    pub fn settle(&mut self, used: Range<usize>) {
        let (first, others) = self.sums.split_at_mut(self.length + BETWEEN);
        for other in others.chunks_exact_mut(self.length + BETWEEN) {
            for (sum, more) in first[used.clone()].iter_mut().zip(&mut other[used.clone()]) {
                sum.0 = simd::add(sum.0, std::mem::replace(more, EMPTY).0);
            }
        }
    }

    /// Adds up what several settled blocks of entries gathered, in their order, as the moments over the
    /// intervals of the quintic table that give the same sums, and leaves nothing. `used` are the
    /// places where any has something.
    pub fn collect(tables: &mut [Self], used: Range<usize>, coarse: &mut LinearMoments) {
        let mut moments = vec![EMPTY; used.len()];
        for table in tables {
            for (sum, more) in moments.iter_mut().zip(&mut table.sums[used.clone()]) {
                sum.0 = simd::add(sum.0, std::mem::replace(more, EMPTY).0);
            }
        }
        let all = coarse.sums_mut();
        // Behind the last interval there are places for scores outside the grid.
        let intervals = used.start..used.end.min(all.len());
        simd::dispatch(QuinticMoments { moments, intervals: &mut all[intervals] });
    }
}

/// Adds the moments of some intervals that give the same sums with quintics: the transpose of [`ToQuartics`].
struct QuinticMoments<'a> {
    moments: Vec<Four>,
    intervals: &'a mut [[f64; ORDER]],
}

impl Kernel for QuinticMoments<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        for (interval, Four([m0, m1, m2, m3])) in self.intervals.iter_mut().zip(self.moments) {
            let moments = [m0, m1, m2, m3, m2 / 4.0 - m0 / 128.0];
            for (sum, quartic) in interval.iter_mut().zip(&QUARTIC) {
                *sum += quartic.iter().zip(moments).map(|(c, m)| c * m).sum::<f64>();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        link::{Kernel as Family, KernelFamily, LinkSpace},
        simd::Plain,
    };

    fn sine(grid: Grid) -> Table {
        let d = grid.spacing();
        let nodes = (0..grid.nodes()).map(|i| grid.node(i));
        let jets: Vec<f64> = nodes.flat_map(|x| [x.sin(), d * x.cos(), -d * d * x.sin()]).collect();
        Table::from_nodes(grid, &jets)
    }

    /// Values and slopes at some scores.
    struct At<'a>(&'a FineTable, &'a [f64]);
    impl Kernel for At<'_> {
        type Output = Vec<(f64, f64)>;
        #[inline(always)]
        fn run<M: Machine>(self, m: M) -> Self::Output {
            let mut found = Vec::new();
            for x in self.1.chunks(M::WIDTH) {
                let link = self.0.link();
                let place = link.place(m, m.filled(x));
                let (residual, slope) = link.at(m, &place, m.splat(0.0));
                let (residual, slope) = (m.row(residual), m.row(slope));
                let values = residual.as_ref().iter().map(|residual| -residual);
                let both = values.zip(slope.as_ref().iter().copied());
                found.extend(both.take(x.len()));
            }
            found
        }
    }

    /// The residuals of some entries, counted in moments.
    struct Residuals<'a>(&'a FineTable, &'a [f64], &'a [f64], &'a mut FineMoments);
    impl Kernel for Residuals<'_> {
        type Output = Vec<f64>;
        #[inline(always)]
        fn run<M: Machine>(self, m: M) -> Self::Output {
            let Self(table, x, y, moments) = self;
            let table = table.link();
            let mut tables = moments.tables(m, table);
            let mut found = Vec::new();
            for (x, y) in x.chunks(M::WIDTH).zip(y.chunks(M::WIDTH)) {
                let (live, place) = (x.len(), table.place(m, m.filled(x)));
                let g = m.row(table.residuals(m, &place, m.filled(y), live, &mut tables));
                assert!(g.as_ref()[live..].iter().all(|&g| g == 0.0));
                found.extend(&g.as_ref()[..live]);
            }
            found
        }
    }

    #[test]
    fn packed_numbers_come_back_to_half_their_digits() {
        let off = |a: f64, b: f64| (a - b).abs() <= b.abs() / (1 << 21) as f64;
        let second_of = |packed: f64| Plain::<false>.lower_half([packed; LANES])[0];
        for i in 1..1000 {
            let first = ((i * 7) as f64).sin() * 10f64.powi(i % 13 - 6);
            let second = ((i * 3) as f64).cos() * 10f64.powi(i % 7 - 8);
            let packed = pack(first, second);
            assert!(off(packed, first) && off(second_of(packed), second), "{first} {second}");
        }
        // Beside nothing, no sign and no digit of the other is taken for its own.
        for (first, second) in [(0.0, 0.0), (0.0, -1.5), (-0.0, 1.5), (-2.5, 0.0), (1e-310, -3.0)] {
            let packed = pack(first, second);
            assert!(off(packed, first) || packed.abs() < 1e-307, "{first} {packed}");
            assert_eq!(second_of(packed), second);
        }
    }

    #[test]
    fn a_table_that_reaches_less_far_is_the_same_as_far_as_it_reaches() {
        let kernel = Family::try_new(KernelFamily::Gaussian, 0.4).unwrap();
        let space = LinkSpace::build(kernel, 2.0).unwrap();
        let weights = space.nearest(|x| x.tanh()).unwrap();
        let whole = FineTable::new(&space.table(&weights));
        assert!(whole.covers(2.0));
        for reach in [0.0, 0.31, 1.0, 1.999, 2.0] {
            let near = space.fine_within(&weights, reach);
            assert!(near.covers(reach) && !near.covers(1.01 * reach + 1e-9));
            let x: Vec<f64> = (0..50).map(|i| reach * (i as f64 / 24.5 - 1.0)).collect();
            let [a, b] = [&near, &whole].map(|table| simd::dispatch_wide(At(table, &x)));
            assert_eq!(a, b);
        }
    }

    #[test]
    fn every_machine_reads_a_table_alike() {
        let coarse = sine(Grid::new(2.0, 100));
        let table = FineTable::new(&coarse);
        let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 25.0 - 1.98).collect();
        let y: Vec<f64> = x.iter().map(|x| x.cos()).collect();
        let sums = |moments: FineMoments| {
            let (mut tables, mut sums) = ([moments], LinearMoments::zero(coarse.grid()));
            tables[0].settle(table.reach(2.0));
            FineMoments::collect(&mut tables, table.reach(2.0), &mut sums);
            sums.node_weights().1
        };
        let room = || {
            let mut moments = FineMoments::default();
            moments.fit(&table);
            moments
        };
        let mut moments = [room(), room(), room()];
        let [a, b, c] = &mut moments;
        let found = [
            Residuals(&table, &x, &y, a).run(Plain::<false>),
            simd::dispatch(Residuals(&table, &x, &y, b)),
            simd::dispatch_wide(Residuals(&table, &x, &y, c)),
        ];
        let [plain, four, wide] = moments.map(sums);
        let gap =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(gap(&found[0], &found[1]) < 1e-13 && gap(&found[0], &found[2]) < 1e-13);
        assert!(gap(&plain, &four) < 1e-12 && gap(&plain, &wide) < 1e-12);
    }

    #[test]
    fn slopes_stay_within_their_bound_and_reach_most_of_it() {
        let coarse = sine(Grid::new(2.0, 100));
        let table = FineTable::new(&coarse);
        let d = coarse.grid().spacing();
        let [by_power, by_packing] = [d.powi(4) / 3072.0, d * d / (1 << 24) as f64];
        let bound = by_power + by_packing;
        let (mut worst_value, mut worst_slope) = (0.0f64, 0.0f64);
        let x: Vec<f64> = (0..4000).map(|step| -2.0 + step as f64 / 3999.0 * 4.0).collect();
        for ((value, slope), x) in simd::dispatch_wide(At(&table, &x)).into_iter().zip(&x) {
            worst_value = worst_value.max((value - x.sin()).abs());
            worst_slope = worst_slope.max((slope - x.cos()).abs());
        }
        assert!(worst_slope <= 1.01 * bound && worst_slope > 0.9 * by_power, "{worst_slope:e}");
        // What a slope that is off makes of the value within half an interval.
        assert!(worst_value < 0.2 * d * bound, "{worst_value:e}");
    }

    #[test]
    fn the_ends_of_the_grid_belong_to_it() {
        for i in 0..200 {
            let end = 1.0 + i as f64 / 77.0;
            let coarse = sine(Grid::new(end, 60 + i % 5));
            let table = FineTable::new(&coarse);
            let x = [-end, end, -end.next_down(), end.next_down()];
            for ((value, _), x) in simd::dispatch_wide(At(&table, &x)).into_iter().zip(x) {
                assert!((value - coarse.value_and_slope(x).0).abs() < 1e-8, "{value} {x}");
            }
        }
    }

    #[test]
    fn nothing_is_left_of_scores_outside_the_grid() {
        let coarse = sine(Grid::new(2.0, 6));
        let table = FineTable::new(&coarse);
        let mut moments = FineMoments::default();
        moments.fit(&table);
        // More than any machine holds, so that each of its tables is counted in.
        let x: Vec<f64> = (0..32).map(|i| [-2.2, 2.2, -3.9, 0.1, 1.9][i % 5]).collect();
        simd::dispatch_wide(Residuals(&table, &x, &[1.0; 32], &mut moments));
        let used = table.reach(3.9);
        let mut tables = [moments];
        tables[0].settle(used.clone());
        FineMoments::collect(&mut tables, used, &mut LinearMoments::zero(coarse.grid()));
        let [moments] = tables;
        assert!(moments.sums.iter().all(|sum| sum.0 == ZERO));
    }

    #[test]
    fn moments_give_the_sums_over_the_entries() {
        // Sums of residual times link, entry by entry and by the moments, for the same link.
        let coarse = sine(Grid::new(1.5, 400));
        let table = FineTable::new(&coarse);
        let mut tables: [FineMoments; 3] = Default::default();
        tables.iter_mut().for_each(|moments| moments.fit(&table));
        let (mut direct, mut count, mut total) = (0.0, 0.0, 0.0);
        for step in 0..9 {
            let count_of_step = if step == 8 { 7 } else { 8 };
            let numbers = (8 * step..8 * step + count_of_step).map(|k| k as f64);
            let x: Vec<f64> = numbers.clone().map(|k| 1.5 * (k * 1.3).sin()).collect();
            let y: Vec<f64> = numbers.map(f64::cos).collect();
            let g = simd::dispatch_wide(Residuals(&table, &x, &y, &mut tables[step % 3]));
            let at = simd::dispatch_wide(At(&table, &x));
            direct += g.iter().zip(at).map(|(g, (value, _))| g * value).sum::<f64>();
            count += g.iter().sum::<f64>();
            total += g.iter().map(|g| g.abs()).sum::<f64>();
        }
        let mut coarsened = LinearMoments::zero(coarse.grid());
        tables.iter_mut().for_each(|moments| moments.settle(table.reach(1.5)));
        FineMoments::collect(&mut tables, table.reach(1.5), &mut coarsened);
        assert!(tables.iter().flat_map(|table| table.sums.iter()).all(|sum| sum.0 == ZERO));
        let d = coarse.grid().spacing();
        let (mut by_nodes, mut constant) = (0.0, 0.0);
        let (first, weights) = coarsened.node_weights();
        for (i, w) in weights.chunks(3).enumerate() {
            let x = coarse.grid().node(first + i);
            by_nodes += w[0] * x.sin() + w[1] * d * x.cos() - w[2] * d * d * x.sin();
            constant += w[0];
        }
        let most = d.powi(4) / 3072.0 * total;
        assert!((direct - by_nodes).abs() < most, "{direct} {by_nodes}");
        assert!((count - constant).abs() < 1e-12);
    }
}
