//! Products of a sparse matrix, with a number for every entry, and matrices of few columns.

use std::borrow::Cow;

use super::{Entries, kernels::SumRows, split_at_ends};
use crate::{
    factors::Factors,
    observations::Observations,
    simd::{Lanes, ZERO, by_width},
    threads::in_turn,
};

/// A matrix `A` with a number for every entry; those of repeated entries add up.
pub(crate) struct Sparse<'a> {
    entries: Entries<'a>,
    numbers: Cow<'a, [f64]>,
}

impl<'a> Sparse<'a> {
    /// The numbers are in the order of the observations.
    pub fn new(observations: &'a Observations, numbers: Cow<'a, [f64]>) -> Self {
        Self { entries: Entries::new(observations), numbers }
    }

    /// `A V`, held like the factors of the rows.
    pub fn times(&self, of_columns: &Factors) -> Vec<Lanes> {
        let Entries { observations, row_blocks, .. } = &self.entries;
        let (width, starts) = (of_columns.width(), observations.row_starts());
        let mut out = vec![ZERO; observations.shape().rows * width];
        let ends: Vec<usize> = row_blocks.iter().map(|block| block.end * width).collect();
        let work = row_blocks.iter().cloned().zip(split_at_ends(&mut out, &ends));
        in_turn(
            work,
            || (),
            |(), (rows, out)| {
                let weights = &self.numbers[starts[rows.start]..starts[rows.end]];
                let factors = of_columns;
                by_width!(width, SumRows { observations, factors, rows, weights, out });
            },
        );
        out
    }

    /// `A'U`, held like the factors of the columns.
    pub fn transpose_times(&self, of_rows: &Factors) -> Vec<Lanes> {
        let columns = self.entries.observations.shape().columns;
        let mut out = vec![ZERO; columns * of_rows.width()];
        let nothing = std::iter::repeat(());
        self.entries.over_groups(
            nothing,
            (&mut (), &mut Vec::new()),
            &mut out,
            |(), bands, (), out| {
                for (number, of_band) in bands.iter().enumerate() {
                    let numbers = &self.numbers[of_band.band.entries.clone()];
                    self.entries.sum_columns(of_band, of_rows, numbers, number > 0, out);
                }
            },
        );
        out
    }
}
