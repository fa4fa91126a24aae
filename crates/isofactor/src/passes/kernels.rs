//! What passes do with the entries of some rows or columns.

use std::ops::Range;

use super::sums::{Sum, dot, known, of};
use crate::{
    factors::Factors,
    observations::{Band, Observations},
    simd::{Kernel, Lanes, Machine, ZERO},
};

/// How many entries ahead what they need is asked for.
const FETCHED: usize = 32;
/// How far ahead what is read in turn is asked for: the processor's own look-ahead ends with each page of
/// memory.
const STREAMED: usize = 1 << 10;
/// Up to how many bytes that are gathered from stay in a fast cache by themselves.
const NEAR: usize = 1 << 19;

/// The factors that some entries need, at places that no processor can foresee: asked for some
/// entries ahead where they may be far.
struct Gathered<'a, const C: usize> {
    side: &'a [Lanes],
    width: usize,
    /// Whose factors entries need, and what follows on them.
    indices: &'a [u32],
    are_far: bool,
}

impl<'a, const C: usize> Gathered<'a, C> {
    /// The factors of an index.
    #[inline(always)]
    fn of(&self, index: u32) -> &'a [Lanes] {
        of::<C>(self.side, self.width, index as usize)
    }

    /// Asks for what the entry [`FETCHED`] after this one needs.
    #[inline(always)]
    fn fetch<M: Machine>(&self, m: M, entry: usize) {
        if let Some(&index) = self.indices.get(entry + FETCHED) {
            let width = known::<C>(self.width);
            // Two fours are a line of the cache.
            for four in (0..width).step_by(2) {
                m.fetch(self.side, index as usize * width + four);
            }
        }
    }
}

/// `x_k = u_i . v_t` of the entries of some rows or columns.
pub(super) struct FindScores<'a, const C: usize> {
    pub width: usize,
    /// Where the entries of each unit begin, and the other unit of each.
    pub starts: &'a [usize],
    pub others: &'a [u32],
    pub units: Range<usize>,
    /// The factors of the units, and of the others.
    pub sides: [&'a [Lanes]; 2],
    /// Of the entries of these units.
    pub scores: &'a mut [f64],
}

impl<const C: usize> Kernel for FindScores<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let (width, [own, side]) = (self.width, self.sides);
        let are_far = size_of_val(side) > NEAR;
        let mut rest = self.scores;
        for unit in self.units {
            let [first, end] = [self.starts[unit], self.starts[unit + 1]];
            let gathered = Gathered { side, width, indices: &self.others[first..], are_far };
            let scores;
            (scores, rest) = rest.split_at_mut(end - first);
            let z = of::<C>(own, width, unit);
            if are_far {
                find_scores::<M, C, true>(m, z, gathered, scores);
            } else {
                find_scores::<M, C, false>(m, z, gathered, scores);
            }
        }
    }
}

/// `z . z'` with the factors `z'` of as many entries as there are scores, `FAR` or not.
#[inline(always)]
fn find_scores<M: Machine, const C: usize, const FAR: bool>(
    m: M,
    z: &[Lanes],
    gathered: Gathered<'_, C>,
    scores: &mut [f64],
) {
    for (k, (score, &other)) in scores.iter_mut().zip(gathered.indices).enumerate() {
        if FAR {
            gathered.fetch(m, k);
        }
        *score = dot::<M>(z, gathered.of(other));
    }
}

/// The weights of some entries.
trait Weights: Copy {
    fn len(self) -> usize;
    /// Two that follow each other, the first being 0 and 1.
    fn two(self, pair: usize) -> [f64; 2];
    /// The last, where their number is odd.
    fn last(self) -> Option<f64>;
    /// Whether they may be far, and have to be asked for.
    fn are_far(self) -> bool;
    /// Asks for the weight of the entry [`FETCHED`] after this one.
    fn fetch<M: Machine>(self, m: M, entry: usize);
}

/// Weights that follow each other.
impl Weights for &[f64] {
    #[inline(always)]
    fn len(self) -> usize {
        self.len()
    }
    #[inline(always)]
    fn two(self, pair: usize) -> [f64; 2] {
        self.as_chunks::<2>().0[pair]
    }
    #[inline(always)]
    fn last(self) -> Option<f64> {
        self.as_chunks::<2>().1.first().copied()
    }
    #[inline(always)]
    fn are_far(self) -> bool {
        false
    }
    #[inline(always)]
    fn fetch<M: Machine>(self, _: M, _: usize) {}
}

/// Weights among those of a band, picked out by the numbers of their entries.
#[derive(Clone, Copy)]
struct Picked<'a> {
    numbers: &'a [u32],
    /// The same, and what follows on them.
    ahead: &'a [u32],
    weights: &'a [f64],
    /// The number of the first of the weights.
    first: usize,
}

impl Picked<'_> {
    #[inline(always)]
    fn of(self, number: u32) -> f64 {
        self.weights[number as usize - self.first]
    }
}

impl Weights for Picked<'_> {
    #[inline(always)]
    fn len(self) -> usize {
        self.numbers.len()
    }
    #[inline(always)]
    fn two(self, pair: usize) -> [f64; 2] {
        let [a, b] = self.numbers.as_chunks::<2>().0[pair];
        [self.of(a), self.of(b)]
    }
    #[inline(always)]
    fn last(self) -> Option<f64> {
        self.numbers.as_chunks::<2>().1.first().map(|&number| self.of(number))
    }
    #[inline(always)]
    fn are_far(self) -> bool {
        size_of_val(self.weights) > NEAR
    }
    #[inline(always)]
    fn fetch<M: Machine>(self, m: M, entry: usize) {
        if let Some(&number) = self.ahead.get(entry + FETCHED) {
            m.fetch(self.weights, number as usize - self.first);
        }
    }
}

/// Adds `sum_k w_k z` over the factors `z` of as many entries as there are weights.
#[inline(always)]
fn add_entries<M: Machine, const C: usize>(
    m: M,
    out: &mut [Lanes],
    weights: impl Weights,
    gathered: Gathered<'_, C>,
) {
    match (gathered.are_far, weights.are_far()) {
        (false, false) => add_asking::<M, C, false, false>(m, out, weights, gathered),
        (false, true) => add_asking::<M, C, false, true>(m, out, weights, gathered),
        (true, false) => add_asking::<M, C, true, false>(m, out, weights, gathered),
        (true, true) => add_asking::<M, C, true, true>(m, out, weights, gathered),
    }
}

/// The same, where `FACTORS` and `WEIGHTS` are asked for ahead or not.
#[inline(always)]
fn add_asking<M: Machine, const C: usize, const FACTORS: bool, const WEIGHTS: bool>(
    m: M,
    out: &mut [Lanes],
    weights: impl Weights,
    gathered: Gathered<'_, C>,
) {
    let (pairs, rest) = gathered.indices[..weights.len()].as_chunks::<2>();
    let mut sum = Sum::<C>::from(out);
    for (pair, [a, b]) in pairs.iter().enumerate() {
        for entry in [2 * pair, 2 * pair + 1] {
            if FACTORS {
                gathered.fetch(m, entry);
            }
            if WEIGHTS {
                weights.fetch(m, entry);
            }
        }
        sum.add_two::<M>(weights.two(pair), [gathered.of(*a), gathered.of(*b)]);
    }
    if let (Some(weight), Some(&index)) = (weights.last(), rest.first()) {
        sum.add::<M>(weight, gathered.of(index));
    }
    sum.finish();
}

/// `sum_k w_k v_t` over the entries of each of some rows.
pub(super) struct SumRows<'a, const C: usize> {
    pub observations: &'a Observations,
    pub factors: &'a Factors,
    pub rows: Range<usize>,
    /// Of the entries of these rows.
    pub weights: &'a [f64],
    pub out: &'a mut [Lanes],
}

impl<const C: usize> Kernel for SumRows<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let (width, side) = (known::<C>(self.factors.width()), self.factors.held_columns());
        let (columns, are_far) = (self.observations.columns(), size_of_val(side) > NEAR);
        let mut rest = self.weights;
        for (row, out) in self.rows.zip(self.out.chunks_exact_mut(width)) {
            let entries = self.observations.row(row);
            let weights;
            (weights, rest) = rest.split_at(entries.columns.len());
            out.fill(ZERO);
            let gathered = Gathered { side, width, indices: &columns[entries.first..], are_far };
            add_entries::<M, C>(m, out, weights, gathered);
            // The way by columns comes next, and needs the factors of these rows.
            for four in (0..width).step_by(2) {
                m.fetch(self.factors.held_rows(), row * width + four);
            }
        }
    }
}

/// `sum_k w_k u_i` over the entries of each of some columns in a band.
pub(super) struct SumColumns<'a, const C: usize> {
    pub factors: &'a Factors,
    pub band: &'a Band<'a>,
    pub observations: &'a Observations,
    pub columns: Range<usize>,
    /// Of the entries of the band, in the order of their numbers.
    pub weights: &'a [f64],
    /// Whether the sums are added to what is there, or written over it.
    pub add: bool,
    pub out: &'a mut [Lanes],
}

impl<const C: usize> Kernel for SumColumns<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let (width, side) = (known::<C>(self.factors.width()), self.factors.held_rows());
        let Range { start: first, end } = self.band.entries;
        let placed_numbers = &self.observations.placed_numbers()[..end];
        let rows = &self.observations.placed_rows()[..end];
        let (weights, are_far) = (self.weights, are_far_apart(self.band, width));
        for (column, out) in self.columns.zip(self.out.chunks_exact_mut(width)) {
            let [start, end] = [0, 1].map(|i| self.band.starts[column + i] as usize);
            m.fetch(placed_numbers, start + STREAMED);
            m.fetch(rows, start + STREAMED);
            let ahead = &placed_numbers[start..];
            let numbers = &ahead[..end - start];
            if !self.add {
                out.fill(ZERO);
            }
            let picked = Picked { numbers, ahead, weights, first };
            let gathered = Gathered { side, width, indices: &rows[start..], are_far };
            add_entries::<M, C>(m, out, picked, gathered);
        }
    }
}

/// Whether the factors of a band's rows are too many for a fast cache.
#[inline(always)]
fn are_far_apart(band: &Band<'_>, width: usize) -> bool {
    band.rows.len() * width * size_of::<Lanes>() > NEAR
}

/// `sum_k y_k u_i` over the entries of each of some columns in a band, with whatever numbers come
/// next for the `y_k`: the least that [`SumColumns`] can do. A number that needs all of them.
pub(super) struct GatherColumns<'a, const C: usize> {
    pub observations: &'a Observations,
    pub factors: &'a Factors,
    pub band: &'a Band<'a>,
    pub columns: Range<usize>,
    pub weights: &'a [f64],
}

impl<const C: usize> Kernel for GatherColumns<'_, C> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f64 {
        let (width, side) = (known::<C>(self.factors.width()), self.factors.held_rows());
        let (rows, are_far) = (self.observations.placed_rows(), are_far_apart(self.band, width));
        let (mut place, mut total) = (vec![ZERO; width], 0.0);
        for column in self.columns {
            let [start, end] = [0, 1].map(|i| self.band.starts[column + i] as usize);
            let gathered = Gathered { side, width, indices: &rows[start..], are_far };
            place.fill(ZERO);
            add_entries::<M, C>(m, &mut place, &self.weights[start..end], gathered);
            total += place.iter().map(|four| four[0]).sum::<f64>();
        }
        total
    }
}
