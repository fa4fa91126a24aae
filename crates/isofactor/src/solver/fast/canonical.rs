//! The same fit, to the last digit, whatever the order of the lines of a file and the names in it:
//! rows, columns and entries are put in an order that depends on the entries alone, and what was
//! found is put back.

use super::{
    FastFit,
    fold::{FoldIn, SidePrior},
    panel::{Signatures, ordered},
};
use crate::{
    error::Result,
    factors::Factors,
    model::Offsets,
    observations::{Entry, EntryList, Observations},
};

/// Rows and columns in that order: the number of each in the data.
#[derive(Debug)]
pub(super) struct Canonical {
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// The place of each column in it.
    column_places: Vec<u32>,
}

impl Canonical {
    /// Those with the most entries first, then by their signatures.
    pub fn new(observations: &Observations) -> Self {
        let shape = observations.shape();
        let mut counts = (vec![0usize; shape.rows], vec![0usize; shape.columns]);
        for entry in observations.iter() {
            counts.0[entry.row] += 1;
            counts.1[entry.column] += 1;
        }
        let signatures = Signatures::new(observations);
        let rows = ordered(&signatures.rows, |row| counts.0[row]);
        let columns = ordered(&signatures.columns, |column| counts.1[column]);
        let mut column_places = vec![0; columns.len()];
        for (place, &column) in (0..).zip(&columns) {
            column_places[column as usize] = place;
        }
        Self { rows, columns, column_places }
    }

    /// Entries in the order: by row, then by column, repeated ones by value.
    pub fn arranged(&self, observations: &Observations) -> Result<Observations> {
        let mut list = EntryList::with_capacity(observations.len());
        for (row, &old) in self.rows.iter().enumerate() {
            let entries = observations.row(old as usize);
            let places = entries.columns.iter().map(|&c| self.column_places[c as usize] as usize);
            for (column, &value) in places.zip(entries.values) {
                list.push(Entry { row, column, value });
            }
        }
        Observations::arrange(observations.shape(), list)
    }

    /// Factors in the order; those of another shape as they are, for others to refuse.
    pub fn factors(&self, factors: &Factors) -> Factors {
        let shape = factors.shape();
        if (shape.rows, shape.columns) != (self.rows.len(), self.columns.len()) {
            return factors.clone();
        }
        let mut moved = Factors::zeros(shape, factors.rank());
        for (z, &row) in moved.each_row_mut().zip(&self.rows) {
            z.copy_from_slice(factors.row(row as usize));
        }
        for (z, &column) in moved.each_column_mut().zip(&self.columns) {
            z.copy_from_slice(factors.column(column as usize));
        }
        moved
    }

    /// Effects in the order; zero for rows and columns that have none.
    pub fn offsets(&self, offsets: &Offsets) -> Offsets {
        let moved = |effects: &[f64], order: &[u32]| -> Vec<f64> {
            order.iter().map(|&unit| effects.get(unit as usize).copied().unwrap_or(0.0)).collect()
        };
        Offsets {
            rows: moved(&offsets.rows, &self.rows),
            columns: moved(&offsets.columns, &self.columns),
            ..*offsets
        }
    }

    /// What was found, in the order of the data again.
    pub fn back(&self, found: FastFit) -> FastFit {
        let FoldIn { noise_precision, rows, columns } = found.fold_in;
        let side = |prior: SidePrior, own: &[u32], other: &[u32]| SidePrior {
            presence: back(&prior.presence, other),
            variances: back(&prior.variances, own),
            precision: prior.precision,
        };
        let rank = found.factors.rank();
        let row_factors = back(&found.factors.rows(), &self.rows);
        let column_factors = back(&found.factors.columns(), &self.columns);
        FastFit {
            factors: Factors::from_vecs(rank, row_factors, column_factors)
                .unwrap_or_else(|| found.factors.clone()),
            offsets: Offsets {
                rows: back(&found.offsets.rows, &self.rows),
                columns: back(&found.offsets.columns, &self.columns),
                ..found.offsets
            },
            fold_in: FoldIn {
                noise_precision,
                rows: side(rows, &self.rows, &self.columns),
                columns: side(columns, &self.columns, &self.rows),
            },
            ..found
        }
    }
}

/// As many numbers for each unit, from the order to where the units were.
fn back(numbers: &[f64], order: &[u32]) -> Vec<f64> {
    let each = numbers.len() / order.len();
    let mut moved = vec![0.0; numbers.len()];
    for (place, &unit) in order.iter().enumerate() {
        let to = unit as usize * each..(unit as usize + 1) * each;
        moved[to].copy_from_slice(&numbers[place * each..(place + 1) * each]);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Shape, init::random_factors};

    #[test]
    fn what_is_put_in_order_can_be_put_back() {
        let shape = Shape { rows: 5, columns: 4 };
        let entries: Vec<Entry> = (0..12)
            .map(|k| Entry { row: k * k % 5, column: k % 4, value: (k * 7 % 5) as f64 })
            .collect();
        let observations = Observations::try_new(shape, &entries).unwrap();
        let canonical = Canonical::new(&observations);
        let factors = random_factors(shape, 3, 1);
        let moved = canonical.factors(&factors);
        assert_ne!(moved, factors);
        assert_eq!(back(&moved.rows(), &canonical.rows), factors.rows());
        assert_eq!(back(&moved.columns(), &canonical.columns), factors.columns());
        // Every entry meets the factors that it had.
        let arranged = canonical.arranged(&observations).unwrap();
        let sum = |entries: &Observations, z: &Factors| -> f64 {
            entries.iter().map(|e| e.value * z.score(e.row, e.column)).sum()
        };
        assert!((sum(&arranged, &moved) - sum(&observations, &factors)).abs() < 1e-12);
    }

    #[test]
    fn entries_in_any_order_are_arranged_alike() {
        let shape = Shape { rows: 5, columns: 4 };
        let arranged = |turn: usize| {
            let mut entries: Vec<Entry> = (0..14)
                .map(|k| Entry {
                    row: (k * k + turn) % 5,
                    column: (k + 2 * turn) % 4,
                    value: (k * 7 % 5) as f64,
                })
                .collect();
            entries.rotate_left(turn);
            let observations = Observations::try_new(shape, &entries).unwrap();
            Canonical::new(&observations).arranged(&observations).unwrap()
        };
        assert_eq!(arranged(0), arranged(3));
        assert_eq!(arranged(0), arranged(1));
    }
}
