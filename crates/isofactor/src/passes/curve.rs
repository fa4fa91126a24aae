//! Links as the passes evaluate them, four scores at a time, and what they find on a block.

use crate::{
    link::{
        KnownLink,
        fine::{FineMoments, FineTable},
    },
    simd::{self, Kernel, LANES, Lanes, ZERO},
};

/// A link that can be evaluated at four scores at once.
pub(crate) trait Curve: Sync {
    /// Values and slopes.
    fn at<const FMA: bool>(&self, x: Lanes) -> (Lanes, Lanes);
}

/// The identity.
pub(crate) struct Straight;

impl Curve for Straight {
    #[inline(always)]
    fn at<const FMA: bool>(&self, x: Lanes) -> (Lanes, Lanes) {
        (x, [1.0; LANES])
    }
}

impl Curve for KnownLink {
    #[inline(always)]
    fn at<const FMA: bool>(&self, x: Lanes) -> (Lanes, Lanes) {
        let (mut values, mut slopes) = (ZERO, ZERO);
        for lane in 0..LANES {
            (values[lane], slopes[lane]) = self.value_and_slope(x[lane]);
        }
        (values, slopes)
    }
}

impl Curve for FineTable {
    #[inline(always)]
    fn at<const FMA: bool>(&self, x: Lanes) -> (Lanes, Lanes) {
        FineTable::at::<FMA>(self, x)
    }
}

/// What is done with every four entries of a block.
trait Visit {
    /// The residuals of four entries, of which the first `live` are there; they begin at `first`.
    fn four<const FMA: bool>(&mut self, first: usize, live: usize, x: Lanes, y: Lanes) -> Lanes;
}

/// Visits a block and returns `sum_k g_k^2`.
///
/// Every pass adds squares this way, so that all find the same sum. A trait and not a closure:
/// closures are not always inlined into the code that was compiled for the processor.
#[inline(always)]
fn squares<const FMA: bool>(scores: &[f64], values: &[f64], visit: &mut impl Visit) -> f64 {
    let values = &values[..scores.len()];
    let mut squares = ZERO;
    let whole = scores.len() / LANES * LANES;
    let mut first = 0;
    while first < whole {
        let (x, y) = (simd::load(scores, first), simd::load(values, first));
        let residuals = visit.four::<FMA>(first, LANES, x, y);
        squares = simd::mul_add::<FMA>(residuals, residuals, squares);
        first += LANES;
    }
    if whole < scores.len() {
        let live = scores.len() - whole;
        let (x, y) = (simd::load(scores, whole), simd::load(values, whole));
        let mut residuals = visit.four::<FMA>(whole, live, x, y);
        residuals[live..].fill(0.0);
        squares = simd::mul_add::<FMA>(residuals, residuals, squares);
    }
    simd::sum(squares)
}

/// `sum_k g_k^2` alone.
pub(crate) struct Squares<'a, K> {
    pub curve: &'a K,
    pub scores: &'a [f64],
    pub values: &'a [f64],
}

impl<K: Curve> Visit for &K {
    #[inline(always)]
    fn four<const FMA: bool>(&mut self, _: usize, _: usize, x: Lanes, y: Lanes) -> Lanes {
        simd::sub(y, self.at::<FMA>(x).0)
    }
}

impl<K: Curve> Kernel for Squares<'_, K> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> f64 {
        squares::<FMA>(self.scores, self.values, &mut self.curve)
    }
}

/// `sum_k g_k^2`, and the pulls `g_k phi'(x_k)`.
pub(crate) struct Pulls<'a, K> {
    pub curve: &'a K,
    pub scores: &'a [f64],
    pub values: &'a [f64],
    pub pulls: &'a mut [f64],
}

impl<K: Curve> Visit for (&K, &mut [f64]) {
    #[inline(always)]
    fn four<const FMA: bool>(&mut self, first: usize, live: usize, x: Lanes, y: Lanes) -> Lanes {
        let (fitted, slope) = self.0.at::<FMA>(x);
        let residuals = simd::sub(y, fitted);
        simd::store(simd::mul(residuals, slope), &mut self.1[first..first + live]);
        residuals
    }
}

impl<K: Curve> Kernel for Pulls<'_, K> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        squares::<FMA>(self.scores, self.values, &mut (self.curve, self.pulls))
    }
}

/// `sum_k g_k^2`, and the moments of the residuals.
pub(crate) struct Residuals<'a> {
    pub table: &'a FineTable,
    pub scores: &'a [f64],
    pub values: &'a [f64],
    pub moments: &'a mut FineMoments,
}

impl Visit for (&FineTable, &mut FineMoments) {
    #[inline(always)]
    fn four<const FMA: bool>(&mut self, _: usize, live: usize, x: Lanes, y: Lanes) -> Lanes {
        self.0.residuals::<FMA>(x, y, live, self.1)
    }
}

impl Kernel for Residuals<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        squares::<FMA>(self.scores, self.values, &mut (self.table, self.moments))
    }
}

/// The largest score of a block in absolute value; not a number when one is not finite.
pub(crate) struct Largest<'a>(pub &'a [f64]);

impl Kernel for Largest<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let (mut largest, mut poison) = (ZERO, ZERO);
        let mut first = 0;
        while first < self.0.len() {
            let x = simd::load(self.0, first);
            largest = simd::larger(x, largest);
            // Zero times anything finite is zero, and nothing else is.
            poison = simd::mul_add::<FMA>(x, ZERO, poison);
            first += LANES;
        }
        largest.into_iter().fold(0.0, f64::max) + simd::sum(poison)
    }
}
