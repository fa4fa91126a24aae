//! Links as the passes evaluate them, several scores at a time, and what they find on a block.

use super::Found;
use crate::{
    link::{
        Link,
        fine::{FineGrid, FineLink, FinePlace},
    },
    simd::{Kernel, LANES, Lanes, Machine, TURNS, Tally, around, only},
};

/// A link that can be evaluated at as many scores at once as a machine holds.
///
/// Where scores lie is found first, for some of them, and then what is there: each step waits for
/// the one before, and a processor looks only so far ahead for work that does not.
///
/// A curve is passed on as a copy, so that what it reads by stays in registers whatever is written meanwhile.
pub(crate) trait Curve: Copy + Sync {
    /// Where the scores lie.
    type Place<M: Machine>: Copy + Default;
    fn place<M: Machine>(self, m: M, x: M::Many) -> Self::Place<M>;
    /// Residuals `y - phi(x)` and slopes `phi'(x)`.
    fn at<M: Machine>(self, m: M, place: &Self::Place<M>, y: M::Many) -> (M::Many, M::Many);
}

/// The identity.
#[derive(Clone, Copy)]
pub(crate) struct Straight;

impl Curve for Straight {
    type Place<M: Machine> = M::Row;

    #[inline(always)]
    fn place<M: Machine>(self, m: M, x: M::Many) -> M::Row {
        m.row(x)
    }

    #[inline(always)]
    fn at<M: Machine>(self, m: M, x: &M::Row, y: M::Many) -> (M::Many, M::Many) {
        (m.sub(y, m.load(x.as_ref())), m.splat(1.0))
    }
}

impl Curve for &Link {
    type Place<M: Machine> = M::Row;

    #[inline(always)]
    fn place<M: Machine>(self, m: M, x: M::Many) -> M::Row {
        m.row(x)
    }

    #[inline(always)]
    fn at<M: Machine>(self, m: M, x: &M::Row, y: M::Many) -> (M::Many, M::Many) {
        let (mut values, mut slopes) = (M::Row::default(), M::Row::default());
        let both = values.as_mut().iter_mut().zip(slopes.as_mut());
        for ((value, slope), &x) in both.zip(x.as_ref()) {
            (*value, *slope) = self.value_and_slope(x);
        }
        (m.sub(y, m.load(values.as_ref())), m.load(slopes.as_ref()))
    }
}

impl Curve for FineLink<'_> {
    type Place<M: Machine> = FinePlace<M::Row>;

    #[inline(always)]
    fn place<M: Machine>(self, m: M, x: M::Many) -> FinePlace<M::Row> {
        FineLink::place(self, m, x)
    }

    #[inline(always)]
    fn at<M: Machine>(self, m: M, place: &FinePlace<M::Row>, y: M::Many) -> (M::Many, M::Many) {
        FineLink::at(self, m, place, y)
    }
}

/// What is done with the entries of a block, as many at a time as a machine holds.
trait Visit<M: Machine> {
    type Curve: Curve;

    fn curve(&self) -> Self::Curve;

    /// The residuals of the next entries, of which the first `live` are there.
    fn some(
        &mut self,
        m: M,
        live: usize,
        place: &<Self::Curve as Curve>::Place<M>,
        y: M::Many,
    ) -> M::Many;
}

/// How many times as many scores as a machine holds are placed before they are visited.
const AHEAD: usize = 16;
/// How far ahead scores and values are asked for: the processor's own look-ahead ends with each page of
/// memory.
const FETCHED: usize = 512;

/// Visits a block.
///
/// Every pass adds squares this way, so that all find the same sum. A trait and not a closure:
/// closures are not always inlined into the code that was compiled for the processor.
#[inline(always)]
fn visit<M: Machine, V: Visit<M>>(m: M, scores: &[f64], values: &[f64], mut visit: V) -> Found {
    let whole = scores.len() / M::WIDTH * M::WIDTH;
    let (x, x_rest) = scores.split_at(whole);
    let (y, y_rest) = values[..scores.len()].split_at(whole);
    // Two sums, or each addition would wait for the one before.
    let mut squares = [m.splat(0.0); 2];
    let mut largest = m.splat(0.0);
    let mut places = [<V::Curve as Curve>::Place::<M>::default(); AHEAD];
    for (x, y) in x.chunks(AHEAD * M::WIDTH).zip(y.chunks(AHEAD * M::WIDTH)) {
        for (place, (x, y)) in
            places.iter_mut().zip(x.chunks_exact(M::WIDTH).zip(y.chunks_exact(M::WIDTH)))
        {
            // A line of the cache or half of one at a time: a processor waits for few of them at once.
            m.fetch(x, FETCHED);
            m.fetch(y, FETCHED);
            let x = m.load(x);
            largest = m.larger(x, largest);
            *place = visit.curve().place(m, x);
        }
        for (place, y) in places.iter().zip(y.chunks_exact(M::WIDTH)) {
            let residuals = visit.some(m, M::WIDTH, place, m.load(y));
            squares[1] = m.mul_add(residuals, residuals, squares[1]);
            squares.swap(0, 1);
        }
    }
    if !x_rest.is_empty() {
        let (live, x, y) = (x_rest.len(), m.filled(x_rest), m.filled(y_rest));
        largest = m.larger(x, largest);
        let place = visit.curve().place(m, x);
        let residuals = only(m, visit.some(m, live, &place, y), live);
        squares[1] = m.mul_add(residuals, residuals, squares[1]);
    }
    let squares = m.sum(m.add(squares[0], squares[1]));
    // Comparisons pass over what is not a number; sums do not.
    let largest = if squares.is_nan() { f64::NAN } else { largest_of(m, largest) };
    (largest, squares)
}

/// The largest of the numbers that a machine holds, none of which is negative.
#[inline(always)]
fn largest_of<M: Machine>(m: M, many: M::Many) -> f64 {
    m.row(many).as_ref().iter().copied().fold(0.0, f64::max)
}

/// The largest of some numbers in absolute value.
struct Size<M: Machine> {
    largest: M::Many,
    poison: M::Many,
}

impl<M: Machine> Size<M> {
    #[inline(always)]
    fn none(m: M) -> Self {
        Self { largest: m.splat(0.0), poison: m.splat(0.0) }
    }

    #[inline(always)]
    fn take(&mut self, m: M, x: M::Many) {
        self.largest = m.larger(x, self.largest);
        // Zero times anything finite is zero, and nothing else is.
        self.poison = m.mul_add(x, m.splat(0.0), self.poison);
    }

    /// Not a number when one of them was not finite.
    #[inline(always)]
    fn number(&self, m: M) -> f64 {
        largest_of(m, self.largest) + m.sum(self.poison)
    }
}

/// `sum_k g_k^2` alone.
pub(crate) struct Squares<'a, K> {
    pub curve: K,
    pub scores: &'a [f64],
    pub values: &'a [f64],
}

impl<M: Machine, K: Curve> Visit<M> for (K,) {
    type Curve = K;

    #[inline(always)]
    fn curve(&self) -> K {
        self.0
    }

    #[inline(always)]
    fn some(&mut self, m: M, _: usize, place: &K::Place<M>, y: M::Many) -> M::Many {
        self.0.at(m, place, y).0
    }
}

impl<K: Curve> Kernel for Squares<'_, K> {
    type Output = Found;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> Found {
        visit(m, self.scores, self.values, (self.curve,))
    }
}

/// `sum_k g_k^2`, and the pulls `g_k phi'(x_k)`.
pub(crate) struct Pulls<'a, K> {
    pub curve: K,
    pub scores: &'a [f64],
    pub values: &'a [f64],
    pub pulls: &'a mut [f64],
}

impl<M: Machine, K: Curve> Visit<M> for (K, &mut [f64]) {
    type Curve = K;

    #[inline(always)]
    fn curve(&self) -> K {
        self.0
    }

    #[inline(always)]
    fn some(&mut self, m: M, live: usize, place: &K::Place<M>, y: M::Many) -> M::Many {
        let (residuals, slopes) = self.0.at(m, place, y);
        write(m, m.mul(residuals, slopes), live, &mut self.1);
        residuals
    }
}

impl<K: Curve> Kernel for Pulls<'_, K> {
    type Output = Found;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> Found {
        visit(m, self.scores, self.values, (self.curve, self.pulls))
    }
}

/// `sum_k g_k^2`, the residuals `g_k` and the slopes `phi'(x_k)`.
pub(crate) struct Slopes<'a, K> {
    pub curve: K,
    pub scores: &'a [f64],
    pub values: &'a [f64],
    pub residuals: &'a mut [f64],
    pub slopes: &'a mut [f64],
}

impl<M: Machine, K: Curve> Visit<M> for (K, &mut [f64], &mut [f64]) {
    type Curve = K;

    #[inline(always)]
    fn curve(&self) -> K {
        self.0
    }

    #[inline(always)]
    fn some(&mut self, m: M, live: usize, place: &K::Place<M>, y: M::Many) -> M::Many {
        let (residuals, slopes) = self.0.at(m, place, y);
        write(m, residuals, live, &mut self.1);
        write(m, slopes, live, &mut self.2);
        residuals
    }
}

impl<K: Curve> Kernel for Slopes<'_, K> {
    type Output = Found;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> Found {
        visit(m, self.scores, self.values, (self.curve, self.residuals, self.slopes))
    }
}

/// Counts entries where their scores lie; the largest score in absolute value, not a number when one is not
/// finite.
pub(crate) struct Counted<'a> {
    pub places: FineGrid,
    pub scores: &'a [f64],
    pub values: &'a [f64],
    pub tallies: &'a mut [[Tally; TURNS]],
}

impl Kernel for Counted<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f64 {
        let Self { places: grid, scores, values, tallies } = self;
        let whole = scores.len() / M::WIDTH * M::WIDTH;
        let (x, x_rest) = scores.split_at(whole);
        let (y, y_rest) = values[..scores.len()].split_at(whole);
        let mut size = Size::none(m);
        let mut places = [FinePlace::<M::Row>::default(); AHEAD];
        for (x, y) in x.chunks(AHEAD * M::WIDTH).zip(y.chunks(AHEAD * M::WIDTH)) {
            for (place, (x, y)) in
                places.iter_mut().zip(x.chunks_exact(M::WIDTH).zip(y.chunks_exact(M::WIDTH)))
            {
                m.fetch(x, FETCHED);
                m.fetch(y, FETCHED);
                let x = m.load(x);
                size.take(m, x);
                *place = grid.place(m, x);
            }
            for (place, y) in places.iter().zip(y.chunks_exact(M::WIDTH)) {
                let [rounded, t] = [&place.rounded, &place.t].map(|row| fours(row.as_ref()));
                for ((rounded, t), y) in rounded.iter().zip(t).zip(fours(y)) {
                    m.tally(tallies, rounded, t, y);
                }
            }
        }
        if !x_rest.is_empty() {
            let x = m.filled(x_rest);
            size.take(m, x);
            let FinePlace { rounded, t } = grid.place(m, x);
            let rest = rounded.as_ref().iter().zip(t.as_ref()).zip(y_rest);
            for (number, ((rounded, &t), &y)) in rest.enumerate() {
                let [place, ..] = around(tallies.len(), [*rounded; LANES]);
                tallies[place][number % TURNS].count::<M>(t, y);
            }
        }
        size.number(m)
    }
}

/// The fours of a list.
#[inline(always)]
fn fours(list: &[f64]) -> &[Lanes] {
    list.as_chunks().0
}

/// The largest score of a block in absolute value; not a number when one is not finite.
pub(crate) struct Largest<'a>(pub &'a [f64]);

impl Kernel for Largest<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f64 {
        // Two at a time, or each comparison would wait for the one before.
        let mut sizes = [Size::none(m), Size::none(m)];
        let chunks = self.0.chunks_exact(M::WIDTH);
        let rest = chunks.remainder();
        for x in chunks {
            sizes[1].take(m, m.load(x));
            sizes.swap(0, 1);
        }
        if !rest.is_empty() {
            sizes[0].take(m, m.filled(rest));
        }
        let [a, b] = sizes.map(|size| size.number(m));
        if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
    }
}

/// Writes the first `live` numbers to a list, of which what comes after them is left.
#[inline(always)]
fn write<M: Machine>(m: M, many: M::Many, live: usize, to: &mut &mut [f64]) {
    let (now, later) = std::mem::take(to).split_at_mut(live);
    *to = later;
    if live < M::WIDTH {
        now.copy_from_slice(&m.row(many).as_ref()[..live]);
    } else {
        m.store(many, now);
    }
}
