//! Links as the passes evaluate them, four scores at a time, and what they find on a block.

use crate::{
    link::{
        Link,
        fine::{FineMoments, FineTable},
    },
    simd::{self, Kernel, LANES, Machine, ZERO},
};

/// A link that can be evaluated at four scores at once.
pub(crate) trait Curve: Sync {
    /// Values and slopes.
    fn at<M: Machine>(&self, m: M, x: M::Four) -> (M::Four, M::Four);
}

/// The identity.
pub(crate) struct Straight;

impl Curve for Straight {
    #[inline(always)]
    fn at<M: Machine>(&self, m: M, x: M::Four) -> (M::Four, M::Four) {
        (x, m.splat(1.0))
    }
}

impl Curve for Link {
    #[inline(always)]
    fn at<M: Machine>(&self, m: M, x: M::Four) -> (M::Four, M::Four) {
        let (x, mut values, mut slopes) = (m.lanes(x), ZERO, ZERO);
        for lane in 0..LANES {
            (values[lane], slopes[lane]) = self.value_and_slope(x[lane]);
        }
        (m.load(&values), m.load(&slopes))
    }
}

impl Curve for FineTable {
    #[inline(always)]
    fn at<M: Machine>(&self, m: M, x: M::Four) -> (M::Four, M::Four) {
        FineTable::at(self, m, x)
    }
}

/// What is done with every four entries of a block.
trait Visit {
    /// The residuals of four entries, of which the first `live` are there; they begin at `first`.
    fn four<M: Machine>(
        &mut self,
        m: M,
        first: usize,
        live: usize,
        x: M::Four,
        y: M::Four,
    ) -> M::Four;
}

/// Visits a block and returns `sum_k g_k^2`.
///
/// Every pass adds squares this way, so that all find the same sum. A trait and not a closure:
/// closures are not always inlined into the code that was compiled for the processor.
#[inline(always)]
fn squares<M: Machine>(m: M, scores: &[f64], values: &[f64], visit: &mut impl Visit) -> f64 {
    let (x, x_rest) = scores.as_chunks::<LANES>();
    let (y, y_rest) = values[..scores.len()].as_chunks::<LANES>();
    // Two sums, or each addition would wait for the one before.
    let mut squares = [m.splat(0.0); 2];
    for i in 0..x.len() {
        let residuals = visit.four(m, LANES * i, LANES, m.load(&x[i]), m.load(&y[i]));
        squares[1] = m.mul_add(residuals, residuals, squares[1]);
        squares.swap(0, 1);
    }
    if !x_rest.is_empty() {
        let live = x_rest.len();
        let (x_last, y_last) = (m.load(&simd::filled(x_rest)), m.load(&simd::filled(y_rest)));
        let residuals = visit.four(m, LANES * x.len(), live, x_last, y_last);
        let mut residuals = m.lanes(residuals);
        residuals[live..].fill(0.0);
        let residuals = m.load(&residuals);
        squares[1] = m.mul_add(residuals, residuals, squares[1]);
    }
    simd::sum(m.lanes(m.add(squares[0], squares[1])))
}

/// `sum_k g_k^2` alone.
pub(crate) struct Squares<'a, K> {
    pub curve: &'a K,
    pub scores: &'a [f64],
    pub values: &'a [f64],
}

impl<K: Curve> Visit for &K {
    #[inline(always)]
    fn four<M: Machine>(&mut self, m: M, _: usize, _: usize, x: M::Four, y: M::Four) -> M::Four {
        m.sub(y, self.at(m, x).0)
    }
}

impl<K: Curve> Kernel for Squares<'_, K> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(mut self, m: M) -> f64 {
        squares(m, self.scores, self.values, &mut self.curve)
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
    fn four<M: Machine>(
        &mut self,
        m: M,
        first: usize,
        live: usize,
        x: M::Four,
        y: M::Four,
    ) -> M::Four {
        let (fitted, slope) = self.0.at(m, x);
        let residuals = m.sub(y, fitted);
        let pulls = m.lanes(m.mul(residuals, slope));
        simd::store(pulls, &mut self.1[first..first + live]);
        residuals
    }
}

impl<K: Curve> Kernel for Pulls<'_, K> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f64 {
        squares(m, self.scores, self.values, &mut (self.curve, self.pulls))
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
    fn four<M: Machine>(
        &mut self,
        m: M,
        first: usize,
        live: usize,
        x: M::Four,
        y: M::Four,
    ) -> M::Four {
        let (fitted, slope) = self.0.at(m, x);
        let residuals = m.sub(y, fitted);
        simd::store(m.lanes(residuals), &mut self.1[first..first + live]);
        simd::store(m.lanes(slope), &mut self.2[first..first + live]);
        residuals
    }
}

impl<K: Curve> Kernel for Slopes<'_, K> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f64 {
        let mut visit = (self.curve, self.residuals, self.slopes);
        squares(m, self.scores, self.values, &mut visit)
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
    fn four<M: Machine>(&mut self, m: M, _: usize, live: usize, x: M::Four, y: M::Four) -> M::Four {
        self.0.residuals(m, x, y, live, self.1)
    }
}

impl Kernel for Residuals<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f64 {
        squares(m, self.scores, self.values, &mut (self.table, self.moments))
    }
}

/// The largest score of a block in absolute value; not a number when one is not finite.
pub(crate) struct Largest<'a>(pub &'a [f64]);

impl Kernel for Largest<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, _: M) -> f64 {
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
