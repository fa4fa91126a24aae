//! Links as the passes evaluate them, four scores at a time, and what they find on a block.

use crate::{
    link::{
        Link,
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

impl Curve for Link {
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
    let (x, x_rest) = scores.as_chunks::<LANES>();
    let (y, y_rest) = values[..scores.len()].as_chunks::<LANES>();
    // Two sums, or each addition would wait for the one before.
    let mut squares = [ZERO; 2];
    for i in 0..x.len() {
        let residuals = visit.four::<FMA>(LANES * i, LANES, x[i], y[i]);
        squares[1] = simd::mul_add::<FMA>(residuals, residuals, squares[1]);
        squares.swap(0, 1);
    }
    if !x_rest.is_empty() {
        let live = x_rest.len();
        let (x_last, y_last) = (simd::filled(x_rest), simd::filled(y_rest));
        let mut residuals = visit.four::<FMA>(LANES * x.len(), live, x_last, y_last);
        residuals[live..].fill(0.0);
        squares[1] = simd::mul_add::<FMA>(residuals, residuals, squares[1]);
    }
    simd::sum(simd::add(squares[0], squares[1]))
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

/// `sum_k g_k^2`, the residuals `g_k` and the slopes `phi'(x_k)`.
pub(crate) struct Slopes<'a, K> {
    pub curve: &'a K,
    pub scores: &'a [f64],
    pub values: &'a [f64],
    pub residuals: &'a mut [f64],
    pub slopes: &'a mut [f64],
}

impl<K: Curve> Visit for (&K, &mut [f64], &mut [f64]) {
    #[inline(always)]
    fn four<const FMA: bool>(&mut self, first: usize, live: usize, x: Lanes, y: Lanes) -> Lanes {
        let (fitted, slope) = self.0.at::<FMA>(x);
        let residuals = simd::sub(y, fitted);
        simd::store(residuals, &mut self.1[first..first + live]);
        simd::store(slope, &mut self.2[first..first + live]);
        residuals
    }
}

impl<K: Curve> Kernel for Slopes<'_, K> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let mut visit = (self.curve, self.residuals, self.slopes);
        squares::<FMA>(self.scores, self.values, &mut visit)
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
        // Many at a time, or each comparison would wait for the one before.
        let (blocks, rest) = self.0.as_chunks::<16>();
        let (mut largest, mut poison) = ([0.0f64; 16], [0.0f64; 16]);
        for x in blocks {
            for i in 0..16 {
                largest[i] = if x[i].abs() > largest[i] { x[i].abs() } else { largest[i] };
                // Zero times anything finite is zero, and nothing else is.
                poison[i] += x[i] * 0.0;
            }
        }
        for (i, x) in rest.iter().enumerate() {
            largest[i] = largest[i].max(x.abs());
            poison[i] += x * 0.0;
        }
        largest.into_iter().fold(0.0, f64::max) + poison.into_iter().sum::<f64>()
    }
}
