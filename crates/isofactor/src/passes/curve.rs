//! Links as the passes evaluate them, four scores at a time, and what they find on a block.

use crate::{
    link::{
        Link,
        fine::{FineMoments, FinePlace, FineTable},
    },
    simd::{self, Kernel, LANES, Lanes, Machine, ZERO},
};

/// A link that can be evaluated at four scores at once.
///
/// Where scores lie is found first, for a few fours, and then what is there: each step waits for
/// the one before, and a processor looks only so far ahead for work that does not.
pub(crate) trait Curve: Sync {
    /// Where four scores lie.
    type Place: Copy + Default;
    fn place<M: Machine>(&self, m: M, x: M::Four) -> Self::Place;
    /// Values and slopes.
    fn at<M: Machine>(&self, m: M, place: &Self::Place) -> (M::Four, M::Four);
}

/// The identity.
pub(crate) struct Straight;

impl Curve for Straight {
    type Place = Lanes;

    #[inline(always)]
    fn place<M: Machine>(&self, m: M, x: M::Four) -> Lanes {
        m.lanes(x)
    }

    #[inline(always)]
    fn at<M: Machine>(&self, m: M, x: &Lanes) -> (M::Four, M::Four) {
        (m.load(x), m.splat(1.0))
    }
}

impl Curve for Link {
    type Place = Lanes;

    #[inline(always)]
    fn place<M: Machine>(&self, m: M, x: M::Four) -> Lanes {
        m.lanes(x)
    }

    #[inline(always)]
    fn at<M: Machine>(&self, m: M, x: &Lanes) -> (M::Four, M::Four) {
        let (mut values, mut slopes) = (ZERO, ZERO);
        for lane in 0..LANES {
            (values[lane], slopes[lane]) = self.value_and_slope(x[lane]);
        }
        (m.load(&values), m.load(&slopes))
    }
}

impl Curve for FineTable {
    type Place = FinePlace;

    #[inline(always)]
    fn place<M: Machine>(&self, m: M, x: M::Four) -> FinePlace {
        FineTable::place(self, m, x)
    }

    #[inline(always)]
    fn at<M: Machine>(&self, m: M, place: &FinePlace) -> (M::Four, M::Four) {
        FineTable::at(self, m, place)
    }
}

/// What is done with every four entries of a block.
trait Visit {
    type Curve: Curve;

    fn curve(&self) -> &Self::Curve;

    /// The residuals of four entries, of which the first `live` are there; they begin at `first`.
    fn four<M: Machine>(
        &mut self,
        m: M,
        first: usize,
        live: usize,
        place: &<Self::Curve as Curve>::Place,
        y: M::Four,
    ) -> M::Four;
}

/// How many fours are placed before they are visited.
const AHEAD: usize = 16;
/// How far ahead scores and values are asked for, in fours: the processor's own look-ahead ends with
/// each page of memory.
const FETCHED: usize = 128;

/// Visits a block and returns `sum_k g_k^2`.
///
/// Every pass adds squares this way, so that all find the same sum. A trait and not a closure:
/// closures are not always inlined into the code that was compiled for the processor.
#[inline(always)]
fn squares<M: Machine, V: Visit>(m: M, scores: &[f64], values: &[f64], mut visit: V) -> f64 {
    let (x, x_rest) = scores.as_chunks::<LANES>();
    let (y, y_rest) = values[..scores.len()].as_chunks::<LANES>();
    // Two sums, or each addition would wait for the one before.
    let mut squares = [m.splat(0.0); 2];
    let mut places = [<V::Curve as Curve>::Place::default(); AHEAD];
    let mut first = 0;
    for (x, y) in x.chunks(AHEAD).zip(y.chunks(AHEAD)) {
        // Two fours are a line of the cache.
        for line in (FETCHED..FETCHED + AHEAD).step_by(2) {
            m.fetch(x, line);
            m.fetch(y, line);
        }
        for (place, x) in places.iter_mut().zip(x) {
            *place = visit.curve().place(m, m.load(x));
        }
        for (place, y) in places.iter().zip(y) {
            let residuals = visit.four(m, first, LANES, place, m.load(y));
            squares[1] = m.mul_add(residuals, residuals, squares[1]);
            squares.swap(0, 1);
            first += LANES;
        }
    }
    if !x_rest.is_empty() {
        let (live, x, y) = (x_rest.len(), simd::filled(x_rest), simd::filled(y_rest));
        let place = visit.curve().place(m, m.load(&x));
        let mut residuals = m.lanes(visit.four(m, first, live, &place, m.load(&y)));
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
    type Curve = K;

    #[inline(always)]
    fn curve(&self) -> &K {
        self
    }

    #[inline(always)]
    fn four<M: Machine>(
        &mut self,
        m: M,
        _: usize,
        _: usize,
        place: &K::Place,
        y: M::Four,
    ) -> M::Four {
        m.sub(y, self.at(m, place).0)
    }
}

impl<K: Curve> Kernel for Squares<'_, K> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f64 {
        squares(m, self.scores, self.values, self.curve)
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
    type Curve = K;

    #[inline(always)]
    fn curve(&self) -> &K {
        self.0
    }

    #[inline(always)]
    fn four<M: Machine>(
        &mut self,
        m: M,
        first: usize,
        live: usize,
        place: &K::Place,
        y: M::Four,
    ) -> M::Four {
        let (fitted, slope) = self.0.at(m, place);
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
        squares(m, self.scores, self.values, (self.curve, self.pulls))
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
    type Curve = K;

    #[inline(always)]
    fn curve(&self) -> &K {
        self.0
    }

    #[inline(always)]
    fn four<M: Machine>(
        &mut self,
        m: M,
        first: usize,
        live: usize,
        place: &K::Place,
        y: M::Four,
    ) -> M::Four {
        let (fitted, slope) = self.0.at(m, place);
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
        squares(m, self.scores, self.values, (self.curve, self.residuals, self.slopes))
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
    type Curve = FineTable;

    #[inline(always)]
    fn curve(&self) -> &FineTable {
        self.0
    }

    #[inline(always)]
    fn four<M: Machine>(
        &mut self,
        m: M,
        _: usize,
        live: usize,
        place: &FinePlace,
        y: M::Four,
    ) -> M::Four {
        self.0.residuals(m, place, y, live, self.1)
    }
}

impl Kernel for Residuals<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f64 {
        squares(m, self.scores, self.values, (self.table, self.moments))
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
