//! What passes do with the entries of some rows or columns.

use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

use super::sums::{Sum, dot, of};
use crate::{
    factors::Factors,
    observations::Observations,
    simd::{self, Kernel, Lanes, Machine, ZERO},
};

#[inline(always)]
pub(super) fn put(place: &AtomicU64, pull: f64) {
    place.store(pull.to_bits(), Ordering::Relaxed);
}

/// How many entries ahead what they need is asked for.
const FETCHED: usize = 32;
/// Up to how many bytes that are gathered from, or written to out of order, stay in a fast cache by
/// themselves.
const NEAR: usize = 1 << 18;
/// Bytes in a line of the cache.
const LINE: usize = 64;

/// Factors at places that no processor can foresee, asked for some entries ahead.
struct Gathered<'a, const C: usize> {
    side: &'a [Lanes],
    width: usize,
    /// Whose factors entries need; none where they need not be asked for.
    indices: &'a [u32],
}

impl<'a, const C: usize> Gathered<'a, C> {
    /// `indices` are those of the entries, and of what follows on them.
    #[inline(always)]
    fn new(side: &'a [Lanes], width: usize, indices: &'a [u32]) -> Self {
        let indices = if size_of_val(side) > NEAR { indices } else { &[] };
        Self { side, width, indices }
    }

    /// The factors of an index.
    #[inline(always)]
    fn of(&self, index: u32) -> &'a [Lanes] {
        of::<C>(self.side, self.width, index as usize)
    }

    /// Asks for what the entry [`FETCHED`] after this one needs.
    #[inline(always)]
    fn fetch<M: Machine>(&self, m: M, entry: usize) {
        if let Some(&index) = self.indices.get(entry + FETCHED) {
            let width = if C > 0 { C } else { self.width };
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
        let mut rest = self.scores;
        for unit in self.units {
            let [first, end] = [self.starts[unit], self.starts[unit + 1]];
            let gathered = Gathered::<C>::new(self.sides[1], self.width, &self.others[first..]);
            let scores;
            (scores, rest) = rest.split_at_mut(end - first);
            let z = of::<C>(self.sides[0], self.width, unit);
            let others = &self.others[first..end];
            for (k, (score, &other)) in scores.iter_mut().zip(others).enumerate() {
                gathered.fetch(m, k);
                *score = dot::<M>(z, gathered.of(other));
            }
        }
    }
}

/// A weight of an entry: a number, or one that several threads may have written.
pub(super) trait Weight {
    fn get(&self) -> f64;
}

impl Weight for f64 {
    #[inline(always)]
    fn get(&self) -> f64 {
        *self
    }
}

impl Weight for AtomicU64 {
    #[inline(always)]
    fn get(&self) -> f64 {
        f64::from_bits(self.load(Ordering::Relaxed))
    }
}

/// Adds `sum_k w_k z` over the factors `z` of some entries, the first of `indices`; what follows
/// on them is likely to be asked for next.
#[inline(always)]
pub(super) fn add_entries<M: Machine, const C: usize>(
    m: M,
    out: &mut [Lanes],
    weights: &[impl Weight],
    indices: &[u32],
    side: &[Lanes],
    width: usize,
) {
    let gathered = Gathered::<C>::new(side, width, indices);
    let (indices, index_rest) = indices[..weights.len()].as_chunks::<2>();
    let (weights, weight_rest) = weights.as_chunks::<2>();
    let mut sum = Sum::<C>::from(out);
    for (pair, ([v, w], [a, b])) in weights.iter().zip(indices).enumerate() {
        gathered.fetch(m, 2 * pair);
        gathered.fetch(m, 2 * pair + 1);
        sum.add_two::<M>([v.get(), w.get()], [gathered.of(*a), gathered.of(*b)]);
    }
    for (weight, &index) in weight_rest.iter().zip(index_rest) {
        sum.add::<M>(weight.get(), gathered.of(index));
    }
    sum.finish();
}

/// `sum_k w_k v_t` over the entries of each of some rows; each pull is put at its place in the
/// order of the columns.
pub(super) struct PullRows<'a, const C: usize> {
    pub observations: &'a Observations,
    pub factors: &'a Factors,
    pub rows: Range<usize>,
    pub pulls: &'a [f64],
    /// The first place in the room.
    pub first: usize,
    pub room: &'a [AtomicU64],
    pub out: &'a mut [Lanes],
}

impl<const C: usize> Kernel for PullRows<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let (width, side) = (self.factors.width(), self.factors.held_columns());
        let (places, columns) = (self.observations.places(), self.observations.columns());
        // The places of a column follow each other: so many lines of the cache are written to in turn.
        let are_far = LINE * self.observations.shape().columns > NEAR;
        let mut rest = self.pulls;
        for (row, out) in self.rows.zip(self.out.chunks_exact_mut(width)) {
            let entries = self.observations.row(row);
            let pulls;
            (pulls, rest) = rest.split_at(entries.columns.len());
            let ahead = if are_far { &places[entries.first..] } else { &[] };
            let places = &places[entries.first..][..pulls.len()];
            for (k, (&pull, &place)) in pulls.iter().zip(places).enumerate() {
                if let Some(&place) = ahead.get(k + FETCHED) {
                    m.fetch(self.room, place as usize - self.first);
                }
                put(&self.room[place as usize - self.first], pull);
            }
            out.fill(ZERO);
            add_entries::<M, C>(m, out, pulls, &columns[entries.first..], side, width);
        }
    }
}

/// Adds `sum_k w_k u_i` over the entries of each of some columns in a band, to nothing in the first.
pub(super) struct PullColumns<'a, const C: usize> {
    pub factors: &'a Factors,
    pub starts: &'a [u32],
    /// The first place in the room.
    pub first: usize,
    pub placed_rows: &'a [u32],
    pub columns: Range<usize>,
    pub room: &'a [AtomicU64],
    pub out: &'a mut [Lanes],
}

impl<const C: usize> Kernel for PullColumns<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let (width, side) = (self.factors.width(), self.factors.held_rows());
        for (column, out) in self.columns.zip(self.out.chunks_exact_mut(width)) {
            let [start, end] = [0, 1].map(|i| self.starts[column + i] as usize - self.first);
            let (pulls, rows) = (&self.room[start..end], &self.placed_rows[start..]);
            if self.first == 0 {
                out.fill(ZERO);
            }
            add_entries::<M, C>(m, out, pulls, rows, side, width);
        }
    }
}

/// `x_k = u_i . v_t`, then `sum_k y_k v_t`, of the entries of some rows: the sum of all of it.
pub(super) struct GatherRows<'a, const C: usize> {
    pub observations: &'a Observations,
    pub factors: &'a Factors,
    pub rows: Range<usize>,
    pub weights: &'a [f64],
}

impl<const C: usize> Kernel for GatherRows<'_, C> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f64 {
        let width = self.factors.width();
        let (rows, side) = (self.factors.held_rows(), self.factors.held_columns());
        let columns = self.observations.columns();
        let mut total = 0.0;
        for row in self.rows.clone() {
            let (u, entries) = (of::<C>(rows, width, row), self.observations.row(row));
            let gathered = Gathered::<C>::new(side, width, &columns[entries.first..]);
            for (k, &column) in entries.columns.iter().enumerate() {
                gathered.fetch(m, k);
                total += dot::<M>(u, gathered.of(column));
            }
        }
        let mut place = vec![ZERO; width];
        for row in self.rows {
            let entries = self.observations.row(row);
            let weights = &self.weights[entries.first..][..entries.columns.len()];
            add_entries::<M, C>(m, &mut place, weights, &columns[entries.first..], side, width);
        }
        total + simd::sum(place[0])
    }
}

/// `sum_k y_k u_i` over the entries of some columns in a band.
pub(super) struct GatherColumns<'a, const C: usize> {
    pub factors: &'a Factors,
    pub starts: &'a [u32],
    pub placed_rows: &'a [u32],
    pub columns: Range<usize>,
    pub weights: &'a [f64],
}

impl<const C: usize> Kernel for GatherColumns<'_, C> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> f64 {
        let (width, rows) = (self.factors.width(), self.factors.held_rows());
        let [start, end] = [self.columns.start, self.columns.end].map(|c| self.starts[c] as usize);
        let mut place = vec![ZERO; width];
        let (weights, of_rows) = (&self.weights[start..end], &self.placed_rows[start..]);
        add_entries::<M, C>(m, &mut place, weights, of_rows, rows, width);
        simd::sum(place[0])
    }
}
