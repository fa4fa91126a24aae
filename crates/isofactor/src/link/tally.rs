//! How many scores lie where, and what the values seen there come to: all that a step of the link needs of
//! the data.
//!
//! Of the scores `x_k` on an interval of a link's table, with `t_k` from its middle in units of its length, are
//! kept
//!
//! ```text
//! C_p = sum_k t_k^p      Y_p = sum_k y_k t_k^p      p < 4        (a `Tally`)
//! ```
//!
//! and no link has to be evaluated for that. On an interval a link is a quartic `sum_q b_q t^q`, so what any
//! link makes of the entries follows without another look at them:
//!
//! ```text
//! sum_k g_k t_k^p       = Y_p - sum_q b_q C_{p+q}                    g_k = y_k - phi(x_k)
//! sum_k g_k^2 - y_k^2   = sum_{q,s} b_q b_s C_{q+s} - 2 sum_q b_q Y_q
//! ```
//!
//! Of powers from the fourth on, Chebyshev's series is taken up to the cubic: `t^4` is `t^2/4 - 1/128`, off by at
//! most `1/128`, and higher powers are off by less. A function `f` is then off by `d^4 max|f^(4)| / 3072` on an
//! interval of length `d`, but for higher powers of `d`. Here `f` is the product of a link with a function of its
//! space, or with itself, or such a function times a value.

use std::ops::Range;

use super::{
    fine::{FineGrid, FineTable, POWERS, reached},
    space::LinkSpace,
    table::{Grid, HERMITE, ORDER},
};
use crate::simd::{self, Kernel, LANES, Machine, TURNS, Tally};

/// Powers that are kept, and powers of a square of a quartic.
const KEPT: usize = LANES;
const SQUARE: usize = 2 * POWERS - 1;

impl Tally {
    /// Adds what another one counted.
    #[inline(always)]
    fn add(&mut self, other: &Self) {
        self.counts = simd::add(self.counts, other.counts);
        self.sums = simd::add(self.sums, other.sums);
    }

    /// `C_p` up to the highest power of a square.
    #[inline(always)]
    fn all_counts(&self) -> [f64; SQUARE] {
        let [c0, c1, c2, c3] = self.counts;
        let c4 = c2 / 4.0 - c0 / 128.0;
        let c5 = 0.3125 * c3 - 0.01953125 * c1;
        let c6 = 0.375 * c4 - 0.03515625 * c2 + c0 / 2048.0;
        let c7 = 0.4375 * c5 - 0.0546875 * c3 + 0.001708984375 * c1;
        let c8 = 0.5 * c6 - 0.078125 * c4 + c2 / 256.0 - c0 / 32768.0;
        [c0, c1, c2, c3, c4, c5, c6, c7, c8]
    }

    /// `Y_p - sum_q b_q C_{p+q}`
    #[inline(always)]
    fn residual_moments(&self, link: &[f64; POWERS]) -> [f64; KEPT] {
        let counts = self.all_counts();
        let mut moments = self.sums;
        for (q, b) in link.iter().enumerate() {
            for (moment, count) in moments.iter_mut().zip(&counts[q..]) {
                *moment -= b * count;
            }
        }
        moments
    }

    /// `sum_{q,s} b_q b_s C_{q+s}`
    #[inline(always)]
    fn squares(&self, link: &[f64; POWERS]) -> f64 {
        let counts = self.all_counts();
        let row = |q: usize| link.iter().zip(&counts[q..]).map(|(b, c)| b * c).sum::<f64>();
        link.iter().enumerate().map(|(q, b)| b * row(q)).sum()
    }

    /// `sum_q b_q Y_q`
    #[inline(always)]
    fn products(&self, link: &[f64; POWERS]) -> f64 {
        let [y0, y1, y2, y3] = self.sums;
        let sums = [y0, y1, y2, y3, y2 / 4.0 - y0 / 128.0];
        link.iter().zip(sums).map(|(b, y)| b * y).sum()
    }
}

/// `TO_ENDS[i][p]`: coefficient of `t^p`, with `t` from the middle of an interval, in the cubic that stands for the
/// `i`-th of the quintics of [`HERMITE`], which are polynomials in `t + 1/2`.
const TO_ENDS: [[f64; KEPT]; ORDER] = {
    let mut cubics = [[0.0; KEPT]; ORDER];
    // `(t + 1/2)^n`, power by power.
    let mut power = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let mut n = 0;
    while n < ORDER {
        // `t^5 -> 5/16 t^3 - 5/256 t`, `t^4 -> t^2/4 - 1/128`.
        let cubic = [
            power[0] - power[4] / 128.0,
            power[1] - power[5] * 0.01953125,
            power[2] + power[4] / 4.0,
            power[3] + power[5] * 0.3125,
        ];
        let mut i = 0;
        while i < ORDER {
            let mut p = 0;
            while p < KEPT {
                cubics[i][p] += HERMITE[i][n] * cubic[p];
                p += 1;
            }
            i += 1;
        }
        let mut p = ORDER;
        while p > 0 {
            p -= 1;
            power[p] = power[p] / 2.0 + if p > 0 { power[p - 1] } else { 0.0 };
        }
        n += 1;
    }
    cubics
};

/// The intervals that scores are counted on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Intervals {
    grid: Grid,
    /// Where scores lie among them.
    pub places: FineGrid,
}

impl Intervals {
    /// Those of a grid.
    pub fn of(grid: Grid) -> Self {
        Self { grid, places: FineGrid::new(grid) }
    }

    /// So many that a masked place is always a valid one.
    fn room(self) -> usize {
        self.grid.intervals().next_power_of_two()
    }

    /// Those that scores up to `largest` in absolute value lie on; all there is room for where some are
    /// outside the grid.
    fn reached(self, largest: f64) -> Range<usize> {
        let reached = reached(self.grid, largest);
        if reached.start > 0 { reached } else { 0..self.room() }
    }
}

/// Where entries are counted, by [`TURNS`] tallies of each interval in turn. All nothing between two shares of
/// the entries, and kept from pass to pass: scores often lie on a small part of a domain.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    turns: Vec<[Tally; TURNS]>,
}

impl Tallies {
    /// Room for these intervals.
    pub fn fit(&mut self, intervals: Intervals) {
        self.turns.resize(intervals.room(), Default::default());
    }

    /// Where to count.
    #[inline(always)]
    pub fn turns(&mut self) -> &mut [[Tally; TURNS]] {
        &mut self.turns
    }

    /// What was counted on some intervals of scores up to `reach` in absolute value; leaves nothing.
    pub fn take(&mut self, intervals: Intervals, reach: f64) -> Counts {
        let Range { start: first, end } = intervals.reached(reach);
        let sum = |[sum, other]: &mut [Tally; TURNS]| {
            sum.add(other);
            *other = Tally::default();
            std::mem::take(sum)
        };
        let mut tallies: Vec<Tally> = self.turns[first..end].iter_mut().map(sum).collect();
        let grid = intervals.grid;
        // What lies outside the grid is nobody's.
        tallies.truncate(grid.intervals() - first);
        Counts { grid, reach, first, tallies }
    }
}

/// What entries come to, interval by interval, as far as their scores reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    grid: Grid,
    /// How large scores are at most, in absolute value; not a number where one is not finite.
    pub(crate) reach: f64,
    /// The first interval.
    first: usize,
    tallies: Vec<Tally>,
}

impl Counts {
    /// The counts of all entries from those of shares of them, in their order. Scores are at most `reach` in
    /// absolute value.
    pub(crate) fn of_shares(shares: &[Counts], intervals: Intervals, reach: f64) -> Self {
        let Range { start: first, end } = intervals.reached(reach);
        let end = end.min(intervals.grid.intervals());
        let mut tallies = vec![Tally::default(); end - first];
        for share in shares {
            for (sum, tally) in tallies[share.first - first..].iter_mut().zip(&share.tallies) {
                sum.add(tally);
            }
        }
        Self { grid: intervals.grid, reach, first, tallies }
    }

    /// `sum_k g_k psi(x_k)` over the functions of a link's space, with its residuals.
    pub(crate) fn residual_sum(&self, link: &FineTable, space: &LinkSpace) -> Vec<f64> {
        let mut weights = vec![0.0; 3 * (self.tallies.len() + 1)];
        simd::dispatch(NodeWeights { counts: self, link, weights: &mut weights });
        space.sum_over_nodes(self.grid, self.first, &weights)
    }

    /// What a link makes of the entries.
    pub(crate) fn fitted(&self, link: &FineTable) -> Fitted {
        simd::dispatch(Fit { counts: self, link })
    }
}

/// What a link makes of some entries, as their counts have it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fitted {
    /// `sum_k phi(x_k)^2`
    pub squares: f64,
    /// `sum_k y_k phi(x_k)`
    products: f64,
    /// `sum_k |c|` with the coefficient `c` of `t^4` in the square of the link where the score lies.
    bent_squares: f64,
    /// `sum_k b_4^2`
    bent: f64,
}

impl Fitted {
    /// `sum_k (y_k - phi(x_k))^2` where `sum_k y_k^2` is `values`, and by how much it may be off: the fourth
    /// power is at most `1/128` off at every entry, and by Cauchy and Schwarz
    /// `sum_k |y_k b_4| <= (sum_k y_k^2 sum_k b_4^2)^(1/2)`.
    pub fn residual_squares(&self, values: f64) -> (f64, f64) {
        let off = (self.bent_squares + 2.0 * (values * self.bent).sqrt()) / 128.0;
        (values + self.squares - 2.0 * self.products, off)
    }
}

/// Weights of nodes that make of their jets `sum_k g_k f(x_k)` for every tabulated function `f`.
struct NodeWeights<'a> {
    counts: &'a Counts,
    link: &'a FineTable,
    weights: &'a mut [f64],
}

impl Kernel for NodeWeights<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        let Self { counts, link, weights } = self;
        for (place, tally) in counts.tallies.iter().enumerate() {
            let moments = tally.residual_moments(&link.quartic(counts.first + place));
            for (end, cubic) in weights[3 * place..][..ORDER].iter_mut().zip(&TO_ENDS) {
                *end += cubic.iter().zip(moments).map(|(c, m)| c * m).sum::<f64>();
            }
        }
    }
}

/// Adds up what a link makes of the entries, interval by interval.
struct Fit<'a> {
    counts: &'a Counts,
    link: &'a FineTable,
}

impl Kernel for Fit<'_> {
    type Output = Fitted;

    #[inline(always)]
    fn run<M: Machine>(self, _: M) -> Fitted {
        let Self { counts, link } = self;
        let mut fitted = Fitted::default();
        for (place, tally) in counts.tallies.iter().enumerate() {
            let quartic = link.quartic(counts.first + place);
            let ([b0, b1, b2, b3, b4], count) = (quartic, tally.counts[0]);
            fitted.squares += tally.squares(&quartic);
            fitted.products += tally.products(&quartic);
            fitted.bent_squares += count * (2.0 * (b0 * b4 + b1 * b3) + b2 * b2).abs();
            fitted.bent += count * b4 * b4;
        }
        fitted
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        link::{Kernel as Family, KernelFamily, LearnedLink, LinkSpace},
        simd::Plain,
    };

    #[test]
    fn higher_powers_are_off_by_what_chebyshev_leaves() {
        // Of `t^n`, by the terms of its series from the fourth on.
        let bounds = [0.0, 0.0, 0.0, 0.0, 1.0 / 128.0, 1.0 / 512.0, 7.0 / 2048.0, 1.0 / 1024.0];
        let mut worst = [0.0f64; SQUARE];
        for place in 0..=1000 {
            let t = f64::from(place) / 1000.0 - 0.5;
            let mut tally = Tally::default();
            tally.count::<Plain<false>>(t, 3.0);
            for (power, found) in tally.all_counts().into_iter().enumerate() {
                worst[power] = worst[power].max((found - t.powi(power as i32)).abs());
            }
            let link = [0.3, -1.1, 0.7, 0.4, -0.2];
            let at: f64 = link.iter().rev().fold(0.0, |sum, b| sum * t + b);
            let gaps = [
                (tally.products(&link) - 3.0 * at, 3.0 * 0.2 / 128.0),
                (tally.residual_moments(&link)[0] - (3.0 - at), 0.2 / 128.0),
                (
                    tally.residual_moments(&[0.3, -1.1, 0.7, 0.4, 0.0])[0]
                        - (3.0 - at - 0.2 * t.powi(4)),
                    0.0,
                ),
            ];
            gaps.into_iter()
                .for_each(|(gap, bound)| assert!(gap.abs() <= bound + 1e-14, "{t} {gap}"));
        }
        for (power, (worst, bound)) in worst.into_iter().zip(bounds).enumerate() {
            assert!(worst <= bound + 1e-14 && worst >= 0.99 * bound - 1e-14, "{power} {worst}");
        }
    }

    /// A link of random sections, and entries over nine tenths of the domain.
    fn made(family: KernelFamily, bandwidth: f64, seed: usize) -> (LearnedLink, [Vec<f64>; 2]) {
        let kernel = Family::try_new(family, bandwidth).unwrap();
        let space = Arc::new(LinkSpace::build(kernel, 1.3).unwrap());
        let mut weights = vec![0.0; space.dimension()];
        for i in 0..9 {
            let x = 1.3 * ((i * 7 + seed) as f64).sin();
            let size = ((3 * i + seed) as f64).cos();
            for (w, psi) in weights.iter_mut().zip(space.coordinates(x)) {
                *w += size * psi;
            }
        }
        let scores = (0..997).map(|k| 1.17 * ((k * k + seed) as f64).sin()).collect();
        let values = (0..997).map(|k| 2.0 * ((k + seed) as f64).cos()).collect();
        (LearnedLink::new(space, weights), [scores, values])
    }

    /// The counts of shares of some entries.
    fn counts(link: &LearnedLink, [scores, values]: &[Vec<f64>; 2], shares: usize) -> Counts {
        let intervals = Intervals::of(link.space().grid());
        let mut tallies = Tallies::default();
        tallies.fit(intervals);
        let size = scores.len().div_ceil(shares);
        let shares: Vec<Counts> = (scores.chunks(size).zip(values.chunks(size)))
            .map(|(scores, values)| {
                let (places, turns) = (intervals.places, tallies.turns());
                let counted = crate::passes::Counted { places, scores, values, tallies: turns };
                let reach = simd::dispatch_wide(counted);
                tallies.take(intervals, reach)
            })
            .collect();
        assert!(tallies.turns().as_flattened().iter().all(|tally| *tally == Tally::default()));
        // Not a number where one is not.
        let larger = |a: f64, b: f64| if a.is_nan() || b <= a { a } else { b };
        let reach = shares.iter().map(|share| share.reach).fold(0.0, larger);
        Counts::of_shares(&shares, intervals, reach)
    }

    #[test]
    fn counts_tell_what_any_link_makes_of_the_entries() {
        for &family in KernelFamily::ALL {
            for (bandwidth, seed) in [(0.13, 1), (0.4, 2), (1.0, 3), (5.0, 4)] {
                let (link, entries) = made(family, bandwidth, seed);
                let [scores, values] = &entries;
                let counts = counts(&link, &entries, 3);
                let table = link.fine_within(counts.reach);
                let at: Vec<f64> = scores.iter().map(|&x| link.value_and_slope(x).0).collect();
                let residuals: Vec<f64> = values.iter().zip(&at).map(|(y, f)| y - f).collect();
                let total = |of: &dyn Fn(usize) -> f64| (0..scores.len()).map(of).sum::<f64>();
                // Gaps as shares of the number of entries times the norms of what is multiplied.
                let scale = scores.len() as f64 * link.norm().max(1.0).powi(2);
                let near = |found: f64, slow: f64| {
                    let gap = (found - slow).abs() / scale;
                    let smooth = family != KernelFamily::Matern52;
                    let bound = if smooth { 1e-11 } else { 5e-10 };
                    assert!(gap < bound, "{family} {bandwidth} {gap:e}");
                };
                let fitted = counts.fitted(table);
                near(fitted.squares, total(&|k| at[k] * at[k]));
                let all = total(&|k| values[k] * values[k]);
                let (found, off) = fitted.residual_squares(all);
                let gap = (found - total(&|k| residuals[k] * residuals[k])).abs();
                assert!(gap <= 1.1 * off + 1e-12 * all, "{family} {bandwidth} {gap:e} {off:e}");
                assert!(off < 1e-9 * scale, "{family} {bandwidth} {off:e}");
                let sums = counts.residual_sum(table, link.space());
                let psi: Vec<Vec<f64>> =
                    scores.iter().map(|&x| link.space().coordinates(x)).collect();
                for (j, sum) in sums.into_iter().enumerate() {
                    near(sum, total(&|k| residuals[k] * psi[k][j]));
                }
            }
        }
    }

    #[test]
    fn shares_come_to_the_same_as_all_at_once() {
        let (link, entries) = made(KernelFamily::Gaussian, 0.5, 1);
        let (one, five) = (counts(&link, &entries, 1), counts(&link, &entries, 5));
        assert_eq!(
            (one.reach, one.first, one.tallies.len()),
            (five.reach, five.first, five.tallies.len())
        );
        for (a, b) in one.tallies.iter().zip(&five.tallies) {
            assert_eq!(a.counts[0], b.counts[0]);
            let pairs = a.counts.iter().chain(&a.sums).zip(b.counts.iter().chain(&b.sums));
            pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
        }
        let all: f64 = one.tallies.iter().map(|tally| tally.counts[0]).sum();
        assert_eq!(all, entries[0].len() as f64);
    }

    #[test]
    fn nothing_is_left_of_scores_outside_the_grid() {
        let (link, [mut scores, values]) = made(KernelFamily::Gaussian, 0.5, 1);
        let inside = scores.len() - 2;
        for (far, left) in
            [([1.31, -4.0], inside), ([1e9, -1e300], 0), ([f64::NAN, f64::INFINITY], 0)]
        {
            scores[..2].copy_from_slice(&far);
            // `counts` makes sure that nothing is left.
            let found = counts(&link, &[scores.clone(), values.clone()], 2);
            let counted: f64 = found.tallies.iter().map(|tally| tally.counts[0]).sum();
            assert!(counted.is_nan() || counted >= left as f64, "{far:?} {counted}");
        }
    }
}
