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
//! Sums of functions over the entries go by another way: see [`tally`](super::tally).

use std::ops::Range;

use super::table::{Grid, ORDER, Table};
use crate::simd::{self, Four, Kernel, LANES, Machine, ZERO};

/// Powers of a quartic.
pub(crate) const POWERS: usize = 5;

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
pub(crate) struct FineGrid {
    /// Position among the intervals, counted from the middle of the first: `x density + offset`.
    density: f64,
    offset: f64,
    /// `1 / density`
    length: f64,
}

/// Adding this to a number below 2^51 rounds it to a whole one, held in its lowest bits.
const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;

impl FineGrid {
    /// The intervals of a grid.
    pub fn new(grid: Grid) -> Self {
        // A little less than there are, so that rounding carries no score of the grid off its ends.
        let density = (1.0 - 6.0 * f64::EPSILON) / grid.spacing();
        Self { density, offset: grid.intervals() as f64 / 2.0 - 0.5, length: 1.0 / density }
    }

    /// Where scores inside the grid lie.
    #[inline(always)]
    pub fn place<M: Machine>(self, m: M, x: M::Many) -> FinePlace<M::Row> {
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
    pub rounded: R,
    /// Where in the intervals, from -1/2 to 1/2.
    pub t: R,
}

/// A link as the passes read it.
#[derive(Debug, Clone)]
pub(crate) struct FineTable {
    grid: FineGrid,
    /// Coefficients of `1, t, t^2`, and those of `t^3` and `t^4` in one, divided by the length of an interval:
    /// so slopes come out as they are, and values need one multiplication on the way to residuals, which
    /// costs nothing there. As many as the next power of two, so that a masked place is always a valid one.
    pieces: Vec<Four>,
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
        let mut pieces = vec![Four(ZERO); length];
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

    /// The quartic on an interval, a coefficient for each power.
    #[inline(always)]
    pub fn quartic(&self, interval: usize) -> [f64; POWERS] {
        let Four([a, b, c, packed]) = self.pieces[interval];
        [a, b, c, packed, lower_half(packed)].map(|coefficient| self.grid.length * coefficient)
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

/// The second of two packed numbers: what [`Machine::lower_half`] finds.
#[inline(always)]
fn lower_half(packed: f64) -> f64 {
    f64::from_bits(packed.to_bits() << 32)
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
        let plain = At(&table, &x).run(Plain::<false>);
        for found in [simd::dispatch(At(&table, &x)), simd::dispatch_wide(At(&table, &x))] {
            for (found, plain) in found.into_iter().zip(&plain) {
                assert!((found.0 - plain.0).abs() < 1e-13 && (found.1 - plain.1).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_quartic_is_what_is_read_on_its_interval() {
        let coarse = sine(Grid::new(2.0, 40));
        let table = FineTable::new(&coarse);
        let d = coarse.grid().spacing();
        for interval in [0, 7, 39] {
            let quartic = table.quartic(interval);
            for t in [-0.49f64, -0.2, 0.0, 0.37] {
                let x = coarse.grid().node(interval) + (t + 0.5) * d;
                let found = simd::dispatch(At(&table, &[x]))[0].0;
                let value: f64 =
                    quartic.iter().enumerate().map(|(p, c)| c * t.powi(p as i32)).sum();
                assert!((value - found).abs() < 1e-13, "{interval} {t}");
            }
        }
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
}
