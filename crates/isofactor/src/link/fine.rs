//! The table that the passes over the entries read: cubics, each one load wide.
//!
//! A pass evaluates the link at every entry, so here shortness gives way to speed: each interval
//! of the quintic [`Table`] is cut into equal pieces on which a cubic matches value and slope of
//! the quintic at both ends. A piece is four numbers, four entries are evaluated at once. With
//! pieces of length `d` the value is off by at most `d^4 max|f^(4)| / 384` and the slope by
//! `d^3 max|f^(4)| sqrt(3) / 216`; the number of pieces is chosen by the second bound.
//!
//! Everything is linear in the quintic, so sums over entries go back by the transpose
//! ([`FineMoments::collect`]).

use std::ops::Range;

use rayon::prelude::*;

use super::table::{Grid, LinearMoments, ORDER, Table};
use crate::simd::{self, Kernel, LANES, Lanes, Machine, ZERO};

/// How a grid's intervals are cut: where a score lies among the pieces.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FineGrid {
    grid: Grid,
    /// Pieces per interval.
    cuts: usize,
    /// Position among the pieces, counted from the middle of the first: `x density + offset`.
    density: f64,
    offset: f64,
    /// The largest position that still belongs to the last piece.
    last: f64,
    /// `T_j^p` and `p T_j^(p-1) / cuts` at the ends `T_j = j / cuts` of the pieces of an interval:
    /// value and slope of a quintic there, from its coefficients.
    ends: Vec<([f64; ORDER], [f64; ORDER])>,
    /// The same for four ends at a time, power after power.
    fours: Vec<([Lanes; ORDER], [Lanes; ORDER])>,
}

/// Four numbers of a piece, so placed that no piece lies on two cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Piece(Lanes);

/// Nothing on a piece.
const EMPTY: Piece = Piece(ZERO);

/// About how many pieces are added up in one go, whatever the number of threads.
const PIECES_IN_RUN: usize = 1 << 8;

/// Adding this to a number below 2^51 rounds it to a whole one, held in its lowest bits.
const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;

impl FineGrid {
    /// Pieces no longer than `longest`.
    pub fn new(grid: Grid, longest: f64) -> Self {
        let cuts = (grid.spacing() / longest).ceil().clamp(1.0, 1e3) as usize;
        let pieces = (cuts * grid.intervals()) as f64;
        let density = pieces / (2.0 * grid.half_width());
        let ends: Vec<_> = (0..=cuts)
            .map(|j| {
                let t = j as f64 / cuts as f64;
                let power = |p: usize| t.powi(p as i32);
                let slope = |p: usize| if p == 0 { 0.0 } else { p as f64 * power(p - 1) };
                (std::array::from_fn(power), std::array::from_fn(|p| slope(p) / cuts as f64))
            })
            .collect();
        let abreast = |ends: &[[f64; ORDER]]| -> [Lanes; ORDER] {
            let of = |j: usize, p: usize| ends.get(j).map_or(0.0, |powers| powers[p]);
            std::array::from_fn(|p| std::array::from_fn(|j| of(j, p)))
        };
        let fours = ends
            .chunks(LANES)
            .map(|ends| {
                let (powers, slopes): (Vec<_>, Vec<_>) = ends.iter().copied().unzip();
                (abreast(&powers), abreast(&slopes))
            })
            .collect();
        let last = (pieces - 0.5).next_down();
        Self { grid, cuts, density, offset: pieces / 2.0 - 0.5, last, ends, fours }
    }

    fn pieces(&self) -> usize {
        self.cuts * self.grid.intervals()
    }

    /// Where four scores inside the grid lie.
    #[inline(always)]
    fn place<M: Machine>(&self, m: M, x: M::Four) -> FinePlace {
        let position = m.mul_add(x, m.splat(self.density), m.splat(self.offset));
        let position = m.smaller(position, m.splat(self.last));
        let rounded = m.add(position, m.splat(ROUNDING));
        let whole = m.sub(rounded, m.splat(ROUNDING));
        FinePlace { rounded: m.lanes(rounded), t: m.lanes(m.sub(position, whole)) }
    }
}

/// Where four scores lie.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FinePlace {
    /// Their pieces, in the lowest bits.
    rounded: Lanes,
    /// Where in the pieces, from -1/2 to 1/2.
    t: Lanes,
}

/// A link, tabulated finely.
#[derive(Debug, Clone)]
pub(crate) struct FineTable {
    grid: FineGrid,
    /// Coefficients of `1, t, t^2, t^3`; as many as the next power of two, so that a masked
    /// place is always a valid one.
    pieces: Vec<Piece>,
}

impl FineTable {
    /// The function of a quintic table.
    pub fn new(table: &Table, grid: &FineGrid) -> Self {
        let mut pieces = vec![EMPTY; grid.pieces().next_power_of_two()];
        simd::dispatch(Refine { table, grid, pieces: &mut pieces });
        Self { grid: grid.clone(), pieces }
    }

    /// Where four scores inside the grid lie.
    #[inline(always)]
    pub fn place<M: Machine>(&self, m: M, x: M::Four) -> FinePlace {
        self.grid.place(m, x)
    }

    /// Value and slope at four scores.
    #[inline(always)]
    pub fn at<M: Machine>(&self, m: M, place: &FinePlace) -> (M::Four, M::Four) {
        let (a, t) = (self.coefficients(m, self.numbers(place)), m.load(&place.t));
        let value = m.mul_add(a[3], t, a[2]);
        let slope = m.mul_add(a[3], t, value);
        let value = m.mul_add(value, t, a[1]);
        let slope = m.mul_add(slope, t, value);
        let value = m.mul_add(value, t, a[0]);
        (value, m.mul(slope, m.splat(self.grid.density)))
    }

    /// The numbers of four pieces.
    #[inline(always)]
    fn numbers(&self, place: &FinePlace) -> [usize; LANES] {
        let mask = self.pieces.len() - 1;
        place.rounded.map(|number| number.to_bits() as usize & mask)
    }

    /// For each power the coefficients of four pieces.
    #[inline(always)]
    fn coefficients<M: Machine>(&self, m: M, [a, b, c, d]: [usize; LANES]) -> [M::Four; LANES] {
        let pieces = &self.pieces[..];
        m.load_transposed([&pieces[a].0, &pieces[b].0, &pieces[c].0, &pieces[d].0])
    }

    /// The pieces that scores up to `largest` in absolute value lie on; all places there are where
    /// some are outside the grid.
    pub fn reach(&self, largest: f64) -> Range<usize> {
        let middle = self.grid.pieces() as f64 / 2.0;
        let reach = largest * self.grid.density + 1.0;
        if reach < middle {
            (middle - reach) as usize..(middle + reach).ceil() as usize
        } else {
            0..self.pieces.len()
        }
    }

    /// The residuals `y - phi(x)` of four entries, counted in `moments`; only the first `live`
    /// of them are entries, the others come out as zero.
    #[inline(always)]
    pub fn residuals<M: Machine>(
        &self,
        m: M,
        place: &FinePlace,
        y: M::Four,
        live: usize,
        moments: &mut FineMoments,
    ) -> M::Four {
        let (numbers, t) = (self.numbers(place), m.load(&place.t));
        let a = self.coefficients(m, numbers);
        let value = m.mul_add(a[3], t, a[2]);
        let value = m.mul_add(value, t, a[1]);
        let value = m.mul_add(value, t, a[0]);
        let mut g = m.sub(y, value);
        if live < LANES {
            let mut lanes = m.lanes(g);
            lanes[live..].fill(0.0);
            g = m.load(&lanes);
        }
        let first = m.mul(g, t);
        let second = m.mul(first, t);
        let third = m.mul(second, t);
        let powers = m.transpose([g, first, second, third]);
        let sums = &mut moments.sums[..self.pieces.len()];
        for (number, powers) in numbers.into_iter().zip(powers) {
            let sum = &mut sums[number].0;
            *sum = m.lanes(m.add(m.load(sum), powers));
        }
        g
    }

    /// The grid whose scores it covers.
    pub fn grid(&self) -> &FineGrid {
        &self.grid
    }
}

/// Cubics from quintics. With values `a, b` and slopes `p, q` (per piece) at the ends,
///
/// ```text
/// (a+b)/2 - (q-p)/8  +  (3(b-a)/2 - (p+q)/4) t  +  (q-p)/2 t^2  +  (p+q - 2(b-a)) t^3
/// ```
struct Refine<'a> {
    table: &'a Table,
    grid: &'a FineGrid,
    pieces: &'a mut [Piece],
}

impl Kernel for Refine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { table, grid, pieces } = self;
        let [half, quarter, eighth] = [0.5, 0.25, 0.125].map(|share| m.splat(share));
        // Values and slopes at the ends of an interval's pieces, and room for what fills up fours.
        let (mut values, mut slopes) = (vec![0.0; grid.cuts + 8], vec![0.0; grid.cuts + 8]);
        for (quintic, pieces) in table.pieces().iter().zip(pieces.chunks_exact_mut(grid.cuts)) {
            let quintic = quintic.map(|coefficient| m.splat(coefficient));
            let at = |powers: &[Lanes; ORDER]| {
                let terms = quintic.iter().zip(powers).skip(1);
                terms.fold(m.mul(quintic[0], m.load(&powers[0])), |sum, (q, power)| {
                    m.mul_add(*q, m.load(power), sum)
                })
            };
            for (g, (powers, of_slopes)) in grid.fours.iter().enumerate() {
                simd::store(m.lanes(at(powers)), &mut values[LANES * g..]);
                simd::store(m.lanes(at(of_slopes)), &mut slopes[LANES * g..]);
            }
            for (g, pieces) in pieces.chunks_mut(LANES).enumerate() {
                let four =
                    |from: &[f64], first: usize| m.load(&std::array::from_fn(|i| from[first + i]));
                let (a, b) = (four(&values, LANES * g), four(&values, LANES * g + 1));
                let (p, q) = (four(&slopes, LANES * g), four(&slopes, LANES * g + 1));
                let (rise, bend, both) = (m.sub(b, a), m.sub(q, p), m.add(p, q));
                let constant = m.sub(m.mul(m.add(a, b), half), m.mul(bend, eighth));
                let linear = m.sub(m.mul(rise, m.splat(1.5)), m.mul(both, quarter));
                let cubic = m.sub(both, m.add(rise, rise));
                let turned = m.transpose([constant, linear, m.mul(bend, half), cubic]);
                for (piece, four) in pieces.iter_mut().zip(turned) {
                    piece.0 = m.lanes(four);
                }
            }
        }
    }
}

/// Moments of residuals, piece by piece: `sum_k g_k t_k^p`, `p < 4`.
///
/// Tables are long and scores often lie on a small part of them, so a table is kept from pass to
/// pass and only the part that was used is added up and cleared.
#[derive(Debug, Clone, Default)]
pub(crate) struct FineMoments {
    sums: Vec<Piece>,
}

impl FineMoments {
    /// Room for the residuals of a link; what is there already is all zero.
    pub fn fit(&mut self, table: &FineTable) {
        self.sums.resize(table.pieces.len(), EMPTY);
    }

    /// Adds up what several blocks of entries gathered, in their order, as the moments over the
    /// intervals of the quintic table that give the same sums, and leaves nothing. `used` are the
    /// pieces that each has something on.
    pub fn collect(
        tables: &mut [Self],
        used: &[Range<usize>],
        grid: &FineGrid,
        coarse: &mut LinearMoments,
    ) {
        let intervals_in_run = PIECES_IN_RUN.div_ceil(grid.cuts);
        let in_run = intervals_in_run * grid.cuts;
        let places = tables.first().map_or(0, |table| table.sums.len());
        let mut intervals = coarse.sums_mut().chunks_mut(intervals_in_run);
        // Behind the last interval there are places for scores outside the grid.
        let runs = (0..places.div_ceil(in_run)).map(|_| intervals.next().unwrap_or_default());
        let mut runs: Vec<Coarsen<'_>> =
            runs.map(|intervals| Coarsen { tables: vec![], grid, intervals }).collect();
        for (table, used) in tables.iter_mut().zip(used) {
            for (number, (pieces, run)) in table.sums.chunks_mut(in_run).zip(&mut runs).enumerate()
            {
                if used.start < (number + 1) * in_run && number * in_run < used.end {
                    run.tables.push(pieces);
                }
            }
        }
        runs.into_par_iter().for_each(simd::dispatch);
    }
}

/// Adds up the moments of a run of pieces and adds those over its intervals that give the same sums:
/// the transpose of [`Refine`]. Leaves nothing on the pieces.
struct Coarsen<'a> {
    /// What each block of entries gathered on the run.
    tables: Vec<&'a mut [Piece]>,
    grid: &'a FineGrid,
    intervals: &'a mut [[f64; ORDER]],
}

impl Kernel for Coarsen<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(mut self, _: M) {
        let Some((sum, others)) = self.tables.split_first_mut() else { return };
        for other in others {
            for (mine, theirs) in sum.iter_mut().zip(other.iter_mut()) {
                mine.0 = simd::add(mine.0, std::mem::replace(theirs, EMPTY).0);
            }
        }
        let FineGrid { cuts, ends, .. } = self.grid;
        for (interval, pieces) in self.intervals.iter_mut().zip(sum.chunks_exact(*cuts)) {
            // Weights on value and slope at the left end of each piece, from it and its neighbour.
            let (mut value, mut slope) = (0.0, 0.0);
            for (&Piece([m0, m1, m2, m3]), end) in pieces.iter().zip(ends) {
                let odd = 1.5 * m1 - 2.0 * m3;
                let even = m0 / 8.0 - m2 / 2.0;
                let skew = m3 - m1 / 4.0;
                add_end(interval, end, value + m0 / 2.0 - odd, slope + even + skew);
                (value, slope) = (m0 / 2.0 + odd, skew - even);
            }
            add_end(interval, &ends[*cuts], value, slope);
        }
        sum.fill(EMPTY);
    }
}

/// Adds a weight on the value and one on the slope at an end to the moments of an interval.
#[inline(always)]
fn add_end(
    interval: &mut [f64; ORDER],
    (powers, slopes): &([f64; ORDER], [f64; ORDER]),
    value: f64,
    slope: f64,
) {
    for p in 0..ORDER {
        interval[p] += value * powers[p] + slope * slopes[p];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(grid: Grid) -> Table {
        let d = grid.spacing();
        let nodes = (0..grid.nodes()).map(|i| grid.node(i));
        let jets: Vec<f64> = nodes.flat_map(|x| [x.sin(), d * x.cos(), -d * d * x.sin()]).collect();
        Table::from_nodes(grid, &jets)
    }

    struct At<'a>(&'a FineTable, Lanes);
    impl Kernel for At<'_> {
        type Output = (Lanes, Lanes);
        #[inline(always)]
        fn run<M: Machine>(self, m: M) -> Self::Output {
            let (value, slope) = self.0.at(m, &self.0.place(m, m.load(&self.1)));
            (m.lanes(value), m.lanes(slope))
        }
    }

    struct Residuals<'a>(&'a FineTable, Lanes, Lanes, usize, &'a mut FineMoments);
    impl Kernel for Residuals<'_> {
        type Output = Lanes;
        #[inline(always)]
        fn run<M: Machine>(self, m: M) -> Self::Output {
            let place = self.0.place(m, m.load(&self.1));
            m.lanes(self.0.residuals(m, &place, m.load(&self.2), self.3, self.4))
        }
    }

    #[test]
    fn errors_stay_below_the_bounds_and_reach_a_tenth_of_them() {
        let coarse = sine(Grid::new(2.0, 100));
        let grid = FineGrid::new(coarse.grid(), 0.02);
        let table = FineTable::new(&coarse, &grid);
        let d = 1.0 / grid.density;
        let (value_bound, slope_bound) = (d.powi(4) / 384.0, d.powi(3) * 3f64.sqrt() / 216.0);
        let (mut worst_value, mut worst_slope) = (0.0f64, 0.0f64);
        for step in 0..1000 {
            let x: Lanes = std::array::from_fn(|i| -2.0 + (4 * step + i) as f64 / 3999.0 * 4.0);
            let (value, slope) = simd::dispatch(At(&table, x));
            for i in 0..LANES {
                worst_value = worst_value.max((value[i] - x[i].sin()).abs());
                worst_slope = worst_slope.max((slope[i] - x[i].cos()).abs());
            }
        }
        assert!(
            worst_value <= 1.001 * value_bound && worst_value > 0.1 * value_bound,
            "{worst_value:e}"
        );
        assert!(
            worst_slope <= 1.001 * slope_bound && worst_slope > 0.1 * slope_bound,
            "{worst_slope:e}"
        );
    }

    #[test]
    fn the_ends_of_the_grid_belong_to_it() {
        let coarse = sine(Grid::new(2.0, 6));
        let table = FineTable::new(&coarse, &FineGrid::new(coarse.grid(), 0.1));
        let (value, _) = simd::dispatch(At(&table, [-2.0, 2.0, 0.0, 2.0f64.next_down()]));
        for (value, x) in value.into_iter().zip([-2.0, 2.0, 0.0, 2.0f64]) {
            assert!((value - coarse.value_and_slope(x).0).abs() < 1e-6, "{value} {x}");
        }
    }

    #[test]
    fn nothing_is_left_of_scores_outside_the_grid() {
        let coarse = sine(Grid::new(2.0, 6));
        let table = FineTable::new(&coarse, &FineGrid::new(coarse.grid(), 0.1));
        let mut moments = FineMoments::default();
        moments.fit(&table);
        simd::dispatch(Residuals(&table, [-2.2, 2.2, -3.9, 0.1], [1.0; 4], 4, &mut moments));
        let used = [table.reach(3.9)];
        let (grid, mut tables) = (table.grid(), [moments]);
        let mut coarsened = LinearMoments::zero(coarse.grid());
        FineMoments::collect(&mut tables, &used, grid, &mut coarsened);
        let [moments] = tables;
        assert!(moments.sums.iter().all(|sum| sum.0 == ZERO));
    }

    #[test]
    fn coarsened_moments_give_the_sums_of_the_fine_table() {
        // Sums of residual times link, entry by entry and by the moments, for the same link.
        let coarse = sine(Grid::new(1.5, 8));
        let grid = FineGrid::new(coarse.grid(), 0.0005);
        let table = FineTable::new(&coarse, &grid);
        let mut tables: [FineMoments; 3] = Default::default();
        tables.iter_mut().for_each(|moments| moments.fit(&table));
        let (mut direct, mut count) = (0.0, 0.0);
        for step in 0..9 {
            let x: Lanes = std::array::from_fn(|i| 1.5 * ((4 * step + i) as f64 * 1.3).sin());
            let y: Lanes = std::array::from_fn(|i| ((4 * step + i) as f64).cos());
            let live = if step == 8 { 3 } else { 4 };
            let g = simd::dispatch(Residuals(&table, x, y, live, &mut tables[step % 3]));
            assert!(g[live..].iter().all(|&g| g == 0.0));
            let (value, _) = simd::dispatch(At(&table, x));
            direct += (0..LANES).map(|i| g[i] * value[i]).sum::<f64>();
            count += g.iter().sum::<f64>();
        }
        let mut coarsened = LinearMoments::zero(coarse.grid());
        let used = [table.reach(1.5), table.reach(1.5), table.reach(1.5)];
        FineMoments::collect(&mut tables, &used, &grid, &mut coarsened);
        assert!(tables.iter().flat_map(|table| &table.sums).all(|sum| sum.0 == ZERO));
        let d = coarse.grid().spacing();
        let (mut by_nodes, mut constant) = (0.0, 0.0);
        for (i, w) in coarsened.node_weights().chunks(3).enumerate() {
            let x = coarse.grid().node(i);
            by_nodes += w[0] * x.sin() + w[1] * d * x.cos() - w[2] * d * d * x.sin();
            constant += w[0];
        }
        assert!((direct - by_nodes).abs() < 1e-12, "{direct} {by_nodes}");
        assert!((count - constant).abs() < 1e-12);
    }
}
