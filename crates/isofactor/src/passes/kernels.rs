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
fn get(place: &AtomicU64) -> f64 {
    f64::from_bits(place.load(Ordering::Relaxed))
}

#[inline(always)]
pub(super) fn put(place: &AtomicU64, pull: f64) {
    place.store(pull.to_bits(), Ordering::Relaxed);
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
    fn run<M: Machine>(self, _: M) {
        let mut rest = self.scores;
        for unit in self.units {
            let others = &self.others[self.starts[unit]..self.starts[unit + 1]];
            let scores;
            (scores, rest) = rest.split_at_mut(others.len());
            let z = of::<C>(self.sides[0], self.width, unit);
            for (score, &other) in scores.iter_mut().zip(others) {
                *score = dot::<M>(z, of::<C>(self.sides[1], self.width, other as usize));
            }
        }
    }
}

/// Adds `sum_k w_k z` over the factors `z` of some entries.
#[inline(always)]
pub(super) fn add_entries<M: Machine, const C: usize>(
    out: &mut [Lanes],
    weights: &[f64],
    indices: &[u32],
    side: &[Lanes],
    width: usize,
) {
    let (weights, weight_rest) = weights.as_chunks::<2>();
    let (indices, index_rest) = indices.as_chunks::<2>();
    let mut sum = Sum::<C>::from(out);
    for (weights, [a, b]) in weights.iter().zip(indices) {
        let z = [of::<C>(side, width, *a as usize), of::<C>(side, width, *b as usize)];
        sum.add_two::<M>(*weights, z);
    }
    for (weight, &index) in weight_rest.iter().zip(index_rest) {
        sum.add::<M>(*weight, of::<C>(side, width, index as usize));
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
    fn run<M: Machine>(self, _: M) {
        let (width, columns) = (self.factors.width(), self.factors.held_columns());
        let places = self.observations.places();
        let mut rest = self.pulls;
        for (row, out) in self.rows.zip(self.out.chunks_exact_mut(width)) {
            let entries = self.observations.row(row);
            let pulls;
            (pulls, rest) = rest.split_at(entries.columns.len());
            let places = &places[entries.first..][..pulls.len()];
            for (&pull, &place) in pulls.iter().zip(places) {
                put(&self.room[place as usize - self.first], pull);
            }
            add_entries::<M, C>(out, pulls, entries.columns, columns, width);
        }
    }
}

/// Adds `sum_k w_k u_i` over the entries of each of some columns in a band.
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
    fn run<M: Machine>(self, _: M) {
        let (width, rows) = (self.factors.width(), self.factors.held_rows());
        for (column, out) in self.columns.zip(self.out.chunks_exact_mut(width)) {
            let [start, end] = [0, 1].map(|i| self.starts[column + i] as usize - self.first);
            let places = start..end;
            let (pulls, pull_rest) = self.room[places.clone()].as_chunks::<2>();
            let (of_rows, row_rest) = self.placed_rows[places].as_chunks::<2>();
            let mut sum = Sum::<C>::from(out);
            for ([a, b], [row, next]) in pulls.iter().zip(of_rows) {
                let z = [of::<C>(rows, width, *row as usize), of::<C>(rows, width, *next as usize)];
                sum.add_two::<M>([get(a), get(b)], z);
            }
            for (pull, &row) in pull_rest.iter().zip(row_rest) {
                sum.add::<M>(get(pull), of::<C>(rows, width, row as usize));
            }
            sum.finish();
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
    fn run<M: Machine>(self, _: M) -> f64 {
        let width = self.factors.width();
        let (rows, columns) = (self.factors.held_rows(), self.factors.held_columns());
        let mut total = 0.0;
        for row in self.rows.clone() {
            let u = of::<C>(rows, width, row);
            for &column in self.observations.row(row).columns {
                total += dot::<M>(u, of::<C>(columns, width, column as usize));
            }
        }
        let mut place = vec![ZERO; width];
        for row in self.rows {
            let entries = self.observations.row(row);
            let weights = &self.weights[entries.first..][..entries.columns.len()];
            add_entries::<M, C>(&mut place, weights, entries.columns, columns, width);
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
    fn run<M: Machine>(self, _: M) -> f64 {
        let (width, rows) = (self.factors.width(), self.factors.held_rows());
        let places =
            self.starts[self.columns.start] as usize..self.starts[self.columns.end] as usize;
        let mut place = vec![ZERO; width];
        let (weights, of_rows) = (&self.weights[places.clone()], &self.placed_rows[places]);
        add_entries::<M, C>(&mut place, weights, of_rows, rows, width);
        simd::sum(place[0])
    }
}
