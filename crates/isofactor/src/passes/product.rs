//! Products of a sparse matrix, with a number for every entry, and matrices of few columns.

use std::{borrow::Cow, ops::Range, sync::atomic::AtomicU64};

use rayon::prelude::*;

use super::{
    Entries,
    kernels::{add_entries, put},
    split_at_ends,
};
use crate::{
    factors::Factors,
    observations::Observations,
    simd::{Kernel, Lanes, Machine, ZERO, by_width},
};

/// A matrix `A` with a number for every entry; those of repeated entries add up.
pub(crate) struct Sparse<'a> {
    entries: Entries<'a>,
    numbers: Cow<'a, [f64]>,
    /// The numbers in the order of the columns.
    placed: Vec<AtomicU64>,
}

impl<'a> Sparse<'a> {
    /// The numbers are in the order of the observations.
    pub fn new(observations: &'a Observations, numbers: Cow<'a, [f64]>) -> Self {
        let mut placed = Vec::new();
        placed.resize_with(numbers.len(), AtomicU64::default);
        let pairs = numbers.par_iter().zip(observations.places());
        pairs.for_each(|(&number, &place)| put(&placed[place as usize], number));
        Self { entries: Entries::new(observations), numbers, placed }
    }

    /// `A V`, held like the factors of the rows.
    pub fn times(&self, of_columns: &Factors) -> Vec<Lanes> {
        let Entries { observations, row_blocks, .. } = &self.entries;
        let width = of_columns.width();
        let mut out = vec![ZERO; observations.shape().rows * width];
        let ends: Vec<usize> = row_blocks.iter().map(|block| block.end * width).collect();
        row_blocks.par_iter().zip(split_at_ends(&mut out, &ends)).for_each(|(rows, out)| {
            let (factors, numbers, rows) = (of_columns, &self.numbers[..], rows.clone());
            by_width!(width, SumRows { observations, factors, rows, numbers, out });
        });
        out
    }

    /// `A'U`, held like the factors of the columns.
    pub fn transpose_times(&self, of_rows: &Factors) -> Vec<Lanes> {
        let columns = self.entries.observations.shape().columns;
        let mut out = vec![ZERO; columns * of_rows.width()];
        for band in &self.entries.bands {
            let placed = &self.placed[band.band.entries.clone()];
            self.entries.pull_columns(band, of_rows, placed, &mut out);
        }
        out
    }
}

/// `sum_k a_k v_t` over the entries of each of some rows.
struct SumRows<'a, const C: usize> {
    observations: &'a Observations,
    factors: &'a Factors,
    rows: Range<usize>,
    numbers: &'a [f64],
    out: &'a mut [Lanes],
}

impl<const C: usize> Kernel for SumRows<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let (width, side) = (self.factors.width(), self.factors.held_columns());
        let columns = self.observations.columns();
        for (row, out) in self.rows.zip(self.out.chunks_exact_mut(width)) {
            let entries = self.observations.row(row);
            let numbers = &self.numbers[entries.first..][..entries.columns.len()];
            add_entries::<M, C>(m, out, numbers, &columns[entries.first..], side, width);
        }
    }
}
