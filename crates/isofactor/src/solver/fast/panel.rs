//! The entries as the solver walks through them, and an order of units that does not depend on
//! how a file happens to list them.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::units::Lists;
use crate::{
    monitor::Hurry,
    observations::{ByColumn, Entry, EntryList, Observations, Shape},
};

/// Entries by row and by column, with a signature of every unit.
#[derive(Debug)]
pub(super) struct Panel<'a> {
    pub observations: &'a Observations,
    columns: ByColumn,
    column_values: Vec<f64>,
    pub signatures: Signatures,
    /// Rows and columns in the order of their signatures.
    pub row_order: Vec<u32>,
    pub column_order: Vec<u32>,
    /// Whether sweeps are to end before they are whole.
    pub hurry: Hurry,
}

/// Entries to learn from and entries to judge by.
#[derive(Debug)]
pub(super) struct Split {
    pub shape: Shape,
    pub training: EntryList,
    pub judged: EntryList,
}

/// A number for every row and column that depends on its entries alone: not on names, order or
/// units of measurement. Two units that the entries cannot tell apart have the same.
#[derive(Debug)]
pub(super) struct Signatures {
    pub rows: Vec<u64>,
    pub columns: Vec<u64>,
    /// Mean and standard deviation of the values, in which signatures measure them.
    centre: f64,
    scale: f64,
}

/// Scrambles a number, so that sums of scrambled numbers hardly ever collide.
pub(super) fn scramble(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A number from 0 to 1 out of a scrambled one.
pub(super) fn share(x: u64) -> f64 {
    (scramble(x) >> 11) as f64 / (1u64 << 53) as f64
}

impl Signatures {
    pub fn new(observations: &Observations) -> Self {
        let (centre, scale) = spread(observations.values());
        let shape = observations.shape();
        let mut signatures =
            Self { rows: vec![1; shape.rows], columns: vec![1; shape.columns], centre, scale };
        // Each round tells apart units whose neighbours were told apart by the round before.
        for round in 0..2u64 {
            let mut rows = vec![round; shape.rows];
            for (entry, code) in signatures.coded(observations) {
                let seen = scramble(code ^ signatures.columns[entry.column]);
                rows[entry.row] = rows[entry.row].wrapping_add(seen);
            }
            signatures.rows = rows.into_iter().map(scramble).collect();
            let mut columns = vec![round; shape.columns];
            for (entry, code) in signatures.coded(observations) {
                let seen = scramble(code ^ signatures.rows[entry.row]);
                columns[entry.column] = columns[entry.column].wrapping_add(seen);
            }
            signatures.columns = columns.into_iter().map(scramble).collect();
        }
        signatures
    }

    /// The entries, each with a number for its value in units of the spread.
    fn coded<'a>(&self, observations: &'a Observations) -> impl Iterator<Item = (Entry, u64)> + 'a {
        let (centre, scale) = (self.centre, self.scale);
        observations.iter().map(move |entry| (entry, code(entry.value, centre, scale)))
    }
}

fn code(value: f64, centre: f64, scale: f64) -> u64 {
    scramble((((value - centre) / scale * 1e6).round() as i64) as u64)
}

/// Mean and standard deviation; 1 in place of a deviation of zero.
pub(super) fn spread(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = sum(values.iter().copied()) / count;
    let variance = sum(values.iter().map(|y| (y - mean).powi(2))) / count;
    (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
}

/// The sum, with what rounding loses on the way added at the end (Neumaier): but for the rarest
/// cases the same in any order.
fn sum(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for x in numbers {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    // Sums that overflow have lost nothing that could be told.
    if sum.is_finite() { sum + lost } else { sum }
}

/// Units, those with the most entries first, then by their signatures.
pub(super) fn ordered(signatures: &[u64], count: impl Fn(usize) -> usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..signatures.len() as u32).collect();
    order.sort_by_key(|&unit| (Reverse(count(unit as usize)), signatures[unit as usize]));
    order
}

impl<'a> Panel<'a> {
    pub fn new(observations: &'a Observations, hurry: Hurry) -> Self {
        let columns = observations.by_column();
        let values = observations.values();
        let column_values = columns.numbers.iter().map(|&k| values[k as usize]).collect();
        let signatures = Signatures::new(observations);
        let starts = observations.row_starts();
        let row_order = ordered(&signatures.rows, |row| starts[row + 1] - starts[row]);
        let column_order =
            ordered(&signatures.columns, |c| columns.starts[c + 1] - columns.starts[c]);
        Self { observations, columns, column_values, signatures, row_order, column_order, hurry }
    }

    /// The entries of each row.
    pub fn rows(&self) -> Lists<'_> {
        Lists {
            starts: self.observations.row_starts(),
            others: self.observations.columns(),
            in_bands: false,
            hurry: &self.hurry,
        }
    }

    /// The entries of each column.
    pub fn columns(&self) -> Lists<'_> {
        Lists {
            starts: &self.columns.starts,
            others: &self.columns.rows,
            in_bands: true,
            hurry: &self.hurry,
        }
    }

    /// The values in the order of the columns.
    pub fn column_values(&self) -> &[f64] {
        &self.column_values
    }

    /// Numbers of the entries in the order of the columns.
    pub fn by_column<T: Copy + Send + Sync>(&self, numbers: &[T]) -> Vec<T> {
        self.columns.numbers.par_iter().map(|&k| numbers[k as usize]).collect()
    }

    /// About `share` of the entries to judge by and the others to learn from; of many rows only
    /// enough for `most` entries, numbered anew. The seed and the signatures decide.
    pub fn split(&self, held: f64, most: usize, seed: u64) -> Split {
        let keep = (most as f64 / self.observations.len() as f64).min(1.0);
        let Signatures { rows, columns, .. } = &self.signatures;
        let mut split = Split {
            shape: Shape { rows: 0, columns: columns.len() },
            training: EntryList::default(),
            judged: EntryList::default(),
        };
        let mut row_before = None;
        for (entry, code) in self.signatures.coded(self.observations) {
            let of_row = rows[entry.row] ^ scramble(seed);
            if share(of_row) > keep {
                continue;
            }
            // Entries come row by row.
            if row_before.replace(entry.row) != Some(entry.row) {
                split.shape.rows += 1;
            }
            let of_entry = of_row ^ columns[entry.column].rotate_left(17) ^ code.rotate_left(31);
            let entry = Entry { row: split.shape.rows - 1, ..entry };
            let held = share(of_entry) < held;
            if held { split.judged.push(entry) } else { split.training.push(entry) }
        }
        split
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observations(turn: usize, scale: f64, shift: f64) -> Observations {
        let shape = Shape { rows: 7, columns: 5 };
        let mut entries: Vec<Entry> = (0..24)
            .map(|k| (k % 7, (k * k + k / 7) % 5, ((k * 37 % 11) as f64) / 2.0))
            .map(|(row, column, value)| Entry {
                row: (row + turn) % 7,
                column,
                value: scale * value + shift,
            })
            .collect();
        entries.rotate_left(turn);
        Observations::try_new(shape, &entries).unwrap()
    }

    #[test]
    fn signatures_know_neither_order_nor_units() {
        let plain = observations(0, 1.0, 0.0);
        let turned = observations(3, 1000.0, 5.0);
        let panel = |observations| Panel::new(observations, Hurry::default());
        let (a, b) = (panel(&plain), panel(&turned));
        for row in 0..7 {
            assert_eq!(a.signatures.rows[row], b.signatures.rows[(row + 3) % 7]);
        }
        assert_eq!(a.signatures.columns, b.signatures.columns);
        assert_eq!(a.column_order, b.column_order);
        let split = a.split(0.3, usize::MAX, 1);
        assert_eq!(split.training.len() + split.judged.len(), 24);
        assert_eq!(split.shape, plain.shape());
        assert_eq!(b.split(0.3, usize::MAX, 1).judged.len(), split.judged.len());
    }
}
