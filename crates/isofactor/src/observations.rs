//! Checked entries of a partly observed matrix, reachable by row and by column.

use std::ops::Range;

use crate::error::{DataError, Result};

/// Rows and columns of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of rows (`n` in the paper).
    pub rows: usize,
    /// Number of columns (`T` in the paper).
    pub columns: usize,
}

impl Shape {
    /// How many units a side has.
    pub(crate) fn count(self, side: Side) -> usize {
        match side {
            Side::Rows => self.rows,
            Side::Columns => self.columns,
        }
    }
}

/// One of the two sides of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Rows.
    Rows,
    /// Columns.
    Columns,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Side::Rows => Side::Columns,
            Side::Columns => Side::Rows,
        }
    }
}

/// One observed entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Row, counted from 0.
    pub row: usize,
    /// Column, counted from 0.
    pub column: usize,
    /// What was observed.
    pub value: f64,
}

/// Entries as they come, before they are arranged: 16 bytes each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryList {
    rows: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl EntryList {
    /// None yet, with room for so many.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            rows: Vec::with_capacity(count),
            columns: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
        }
    }

    /// Adds an entry.
    ///
    /// A row or column beyond what fits in 32 bits is kept as the last one that does, which no
    /// matrix of an allowed size has, so that arranging refuses it.
    pub fn push(&mut self, entry: Entry) {
        self.rows.push(u32::try_from(entry.row).unwrap_or(u32::MAX));
        self.columns.push(u32::try_from(entry.column).unwrap_or(u32::MAX));
        self.values.push(entry.value);
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Fails where there are none, too many, or one that is not finite or not inside the shape.
    pub(crate) fn check(&self, shape: Shape) -> Result<()> {
        check_size(shape, self.len())?;
        let mut entries = self.iter().enumerate();
        entries.try_for_each(|(position, entry)| check_entry(shape, position, &entry))
    }

    /// The same as [`Observations::check_can_be_fitted`], before some of them are held back.
    pub fn check_can_be_fitted(&self, shape: Shape) -> Result<()> {
        self.check(shape)?;
        check_can_be_fitted(shape, &self.values)
    }

    /// Where each row begins once entries are put in the order of their rows, and where the last ends.
    pub(crate) fn row_starts(&self, shape: Shape) -> Vec<usize> {
        starts(shape.rows, self.rows.iter().map(|&row| row as usize))
    }

    /// The entries in the order they came.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + Clone + '_ {
        let places = self.rows.iter().zip(&self.columns);
        places.zip(&self.values).map(|((&row, &column), &value)| Entry {
            row: row as usize,
            column: column as usize,
            value,
        })
    }
}

impl FromIterator<Entry> for EntryList {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut list = Self::default();
        entries.into_iter().for_each(|entry| list.push(entry));
        list
    }
}

/// Observed entries, proven to be finite and inside their shape.
///
/// Entries are held in the order of their rows, within a row in that of their columns; an entry's
/// place in that order is its number `k`. The same pair may occur several times: each occurrence
/// is an observation of its own, and they are held in the order of their values. So the order in
/// which entries are given means nothing.
///
/// Column by column they are held in bands: a band is a run of rows that fits in a fast cache, with
/// its factors and a number for each of its entries, and within a band the entries are in the order
/// of their columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Observations {
    shape: Shape,
    row_starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// The number of every entry in the order of bands and columns.
    placed_numbers: Vec<u32>,
    /// The row of every entry in that order.
    placed_rows: Vec<u32>,
    /// Where each column of each band begins in that order.
    band_starts: Vec<u32>,
    /// Where the rows of each band begin, and where those of the last one end.
    band_rows: Vec<usize>,
}

/// How many rows a band is meant to hold at most: at rank 16 their factors take a mebibyte.
const BAND_ROWS: usize = 1 << 13;
/// How many entries a band is meant to hold at most: a number for each takes an eighth of a mebibyte.
const BAND_ENTRIES: usize = 1 << 14;
/// Bands are larger where a column would have fewer entries than this in one, on average, ...
const ENOUGH_IN_BAND: usize = 32;
/// ... up to so many entries, ...
const MOST_BAND_ENTRIES: usize = 1 << 17;
/// ... or to so many for each column.
const LEAST_IN_BAND: usize = 6;

/// A run of rows, and its entries column by column.
#[derive(Debug, Clone)]
pub(crate) struct Band<'a> {
    /// The rows.
    pub rows: Range<usize>,
    /// The numbers of its entries: their places in the order of bands and columns are the same.
    pub entries: Range<usize>,
    /// Where each column begins in the order of bands and columns, and where the last one ends.
    pub starts: &'a [u32],
}

impl Observations {
    /// Checks the entries and arranges them by row and by column.
    pub fn try_new(shape: Shape, entries: &[Entry]) -> Result<Self> {
        Self::arrange(shape, entries.iter().copied().collect())
    }

    /// Checks the entries and arranges them by row and by column, keeping no more than 28 bytes
    /// an entry on the way.
    pub fn arrange(shape: Shape, entries: EntryList) -> Result<Self> {
        entries.check(shape)?;
        let row_starts = entries.row_starts(shape);
        let mut next = row_starts.clone();
        let mut columns = vec![0u32; entries.len()];
        let mut values = vec![0.0; entries.len()];
        for entry in entries.iter() {
            let k = next[entry.row];
            next[entry.row] += 1;
            columns[k] = entry.column as u32;
            values[k] = entry.value;
        }
        drop(entries);
        order_rows(&row_starts, &mut columns, &mut values);
        let band_rows = bands(shape, &row_starts);
        let groups = band_rows.windows(2).enumerate().flat_map(|(band, rows)| {
            let of_band = &columns[row_starts[rows[0]]..row_starts[rows[1]]];
            of_band.iter().map(move |&column| band * shape.columns + column as usize)
        });
        let mut next = starts((band_rows.len() - 1) * shape.columns, groups);
        let band_starts = next.iter().map(|&start| start as u32).collect();
        let mut placed_numbers = vec![0u32; columns.len()];
        let mut placed_rows = vec![0u32; columns.len()];
        for (rows, next) in band_rows.windows(2).zip(next.chunks_mut(shape.columns)) {
            for row in rows[0]..rows[1] {
                for k in row_starts[row]..row_starts[row + 1] {
                    let place = &mut next[columns[k] as usize];
                    (placed_numbers[*place], placed_rows[*place]) = (k as u32, row as u32);
                    *place += 1;
                }
            }
        }
        Ok(Self {
            shape,
            row_starts,
            columns,
            values,
            placed_numbers,
            placed_rows,
            band_starts,
            band_rows,
        })
    }

    /// Every entry of a matrix: complete observation. `value` is asked row by row.
    pub fn complete(shape: Shape, value: impl Fn(usize, usize) -> f64) -> Result<Self> {
        let entries: Vec<Entry> = (0..shape.rows)
            .flat_map(|row| (0..shape.columns).map(move |column| (row, column)))
            .map(|(row, column)| Entry { row, column, value: value(row, column) })
            .collect();
        Self::try_new(shape, &entries)
    }

    /// Rows and columns of the matrix.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of observed entries, repeated ones counted each (`M` in the paper).
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Never true: there is at least one entry.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The observed values in the order of the entries.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The entries of a row: their numbers, columns and values.
    pub fn row(&self, row: usize) -> RowEntries<'_> {
        let range = self.row_starts[row]..self.row_starts[row + 1];
        RowEntries {
            first: range.start,
            columns: &self.columns[range.clone()],
            values: &self.values[range],
        }
    }

    /// All entries in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + Clone + '_ {
        (0..self.shape.rows).flat_map(move |row| {
            let entries = self.row(row);
            entries.columns.iter().zip(entries.values).map(move |(&column, &value)| Entry {
                row,
                column: column as usize,
                value,
            })
        })
    }

    /// The entries in the order of their columns.
    pub(crate) fn by_column(&self) -> ByColumn {
        let starts = starts(self.shape.columns, self.columns.iter().map(|&c| c as usize));
        let mut next = starts.clone();
        let (mut rows, mut numbers) = (vec![0u32; self.len()], vec![0u32; self.len()]);
        for (k, entry) in self.iter().enumerate() {
            let place = &mut next[entry.column];
            (rows[*place], numbers[*place]) = (entry.row as u32, k as u32);
            *place += 1;
        }
        ByColumn { starts, rows, numbers }
    }

    /// How many entries repeat a pair that occurred before.
    pub fn repeated(&self) -> usize {
        let of_row =
            |row| self.row(row).columns.windows(2).filter(|pair| pair[0] == pair[1]).count();
        (0..self.shape.rows).map(of_row).sum()
    }

    /// The mean of the observed values.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.len() as f64
    }

    /// Fails when the values hold nothing to learn: a single row or column, or no variation.
    pub fn check_can_be_fitted(&self) -> Result<()> {
        check_can_be_fitted(self.shape, &self.values)
    }

    /// The column of each entry.
    pub(crate) fn columns(&self) -> &[u32] {
        &self.columns
    }

    pub(crate) fn row_starts(&self) -> &[usize] {
        &self.row_starts
    }

    /// The number of each entry in the order of bands and columns.
    pub(crate) fn placed_numbers(&self) -> &[u32] {
        &self.placed_numbers
    }

    /// The row of each entry in the order of bands and columns.
    pub(crate) fn placed_rows(&self) -> &[u32] {
        &self.placed_rows
    }

    /// The bands, in the order of their rows.
    pub(crate) fn bands(&self) -> impl Iterator<Item = Band<'_>> {
        let columns = self.shape.columns;
        self.band_rows.windows(2).enumerate().map(move |(band, rows)| Band {
            rows: rows[0]..rows[1],
            entries: self.row_starts[rows[0]]..self.row_starts[rows[1]],
            starts: &self.band_starts[band * columns..=(band + 1) * columns],
        })
    }
}

/// Entries in the order of their columns, within a column in that of their numbers.
#[derive(Debug, Clone)]
pub(crate) struct ByColumn {
    /// Where each column begins, and where the last one ends.
    pub starts: Vec<usize>,
    /// The row of each entry.
    pub rows: Vec<u32>,
    /// The number of each entry.
    pub numbers: Vec<u32>,
}

/// The entries of one row.
#[derive(Debug, Clone, Copy)]
pub struct RowEntries<'a> {
    /// Number of the first of them; the others follow.
    pub first: usize,
    /// Their columns.
    pub columns: &'a [u32],
    /// Their values.
    pub values: &'a [f64],
}

/// Where the rows of each band begin, and where those of the last one end.
fn bands(shape: Shape, row_starts: &[usize]) -> Vec<usize> {
    let least =
        (ENOUGH_IN_BAND * shape.columns).min(MOST_BAND_ENTRIES).max(LEAST_IN_BAND * shape.columns);
    let mut band_rows = vec![0];
    let mut first = 0;
    for row in 1..shape.rows {
        // With the next row the band would be too large.
        let entries = row_starts[row + 1] - row_starts[first];
        let full = entries > BAND_ENTRIES || row - first >= BAND_ROWS;
        if full && row_starts[row] - row_starts[first] >= least {
            band_rows.push(row);
            first = row;
        }
    }
    band_rows.push(shape.rows);
    band_rows
}

/// Puts the entries of each row in the order of their columns, repeated ones in that of their values.
///
/// The way by columns picks out a number of each entry, and in ordered rows those that follow each
/// other are picked out soon after each other.
fn order_rows(row_starts: &[usize], columns: &mut [u32], values: &mut [f64]) {
    let mut of_row: Vec<(u32, f64)> = Vec::new();
    for ends in row_starts.windows(2) {
        let (columns, values) = (&mut columns[ends[0]..ends[1]], &mut values[ends[0]..ends[1]]);
        // As wide tables are read, each pair once.
        if columns.is_sorted_by(|a, b| a < b) {
            continue;
        }
        of_row.clear();
        of_row.extend(columns.iter().copied().zip(values.iter().copied()));
        of_row.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for (place, entry) in columns.iter_mut().zip(values).zip(&of_row) {
            (*place.0, *place.1) = *entry;
        }
    }
}

fn check_can_be_fitted(shape: Shape, values: &[f64]) -> Result<()> {
    let Shape { rows, columns } = shape;
    if rows < 2 || columns < 2 {
        return Err(DataError::TooSmall { rows, columns }.into());
    }
    match values.first() {
        Some(&value) if values.iter().all(|&v| v == value) => {
            Err(DataError::AllEqual { count: values.len(), value }.into())
        }
        _ => Ok(()),
    }
}

fn check_size(shape: Shape, count: usize) -> Result<()> {
    let limit = u32::MAX as usize;
    let sizes = [("rows", shape.rows), ("columns", shape.columns), ("observed entries", count)];
    for (what, count) in sizes {
        if count > limit {
            return Err(DataError::TooMany { what, count, limit }.into());
        }
    }
    if count == 0 {
        return Err(DataError::NoEntries.into());
    }
    Ok(())
}

fn check_entry(shape: Shape, position: usize, entry: &Entry) -> Result<()> {
    if entry.row >= shape.rows || entry.column >= shape.columns {
        return Err(DataError::OutOfShape {
            entry: position,
            row: entry.row,
            column: entry.column,
            rows: shape.rows,
            columns: shape.columns,
        }
        .into());
    }
    if !entry.value.is_finite() {
        return Err(DataError::NotFinite { entry: position, value: entry.value }.into());
    }
    Ok(())
}

/// Where each group begins when items are sorted by group; one longer than the number of groups.
fn starts(groups: usize, group_of_item: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut starts = vec![0usize; groups + 1];
    for group in group_of_item {
        starts[group + 1] += 1;
    }
    for group in 0..groups {
        starts[group + 1] += starts[group];
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use proptest::prelude::*;

    fn entry(row: usize, column: usize, value: f64) -> Entry {
        Entry { row, column, value }
    }

    #[test]
    fn repeated_entries_are_kept_and_counted() {
        let entries = [entry(1, 0, 1.0), entry(0, 1, 2.0), entry(1, 0, 3.0), entry(1, 0, 1.0)];
        let observations = Observations::try_new(Shape { rows: 2, columns: 2 }, &entries).unwrap();
        assert_eq!(observations.len(), 4);
        assert_eq!(observations.repeated(), 2);
        assert_eq!(observations.row(1).values, [1.0, 1.0, 3.0]);
    }

    #[test]
    fn bad_entries_are_refused_with_their_place() {
        let shape = Shape { rows: 2, columns: 2 };
        let outside = Observations::try_new(shape, &[entry(0, 0, 1.0), entry(0, 2, 1.0)]);
        assert!(matches!(outside, Err(Error::Data(DataError::OutOfShape { entry: 1, .. }))));
        let not_finite = Observations::try_new(shape, &[entry(0, 0, f64::NAN)]);
        assert!(matches!(not_finite, Err(Error::Data(DataError::NotFinite { entry: 0, .. }))));
        let none = Observations::try_new(shape, &[]);
        assert_eq!(none, Err(Error::Data(DataError::NoEntries)));
    }

    #[test]
    fn complete_observation_holds_every_pair() {
        let shape = Shape { rows: 3, columns: 4 };
        let all = Observations::complete(shape, |i, t| (10 * i + t) as f64).unwrap();
        assert_eq!(all.len(), 12);
        assert_eq!(all.repeated(), 0);
        assert!(all.iter().all(|e| e.value == (10 * e.row + e.column) as f64));
    }

    #[test]
    fn many_rows_come_in_bands() {
        for columns in [1, 20] {
            let shape = Shape { rows: 3 * BAND_ROWS, columns };
            let all = Observations::complete(shape, |i, t| (i + t) as f64).unwrap();
            let bands: Vec<Band<'_>> = all.bands().collect();
            let rows = BAND_ROWS.min(BAND_ENTRIES / columns);
            assert_eq!(bands.len(), shape.rows.div_ceil(rows));
            for (number, band) in bands.iter().enumerate() {
                let of_band = number * rows..shape.rows.min((number + 1) * rows);
                assert_eq!(band.rows, of_band);
                assert_eq!(band.entries, of_band.start * columns..of_band.end * columns);
                for places in band.starts.windows(2) {
                    let rows = &all.placed_rows()[places[0] as usize..places[1] as usize];
                    assert!(rows.iter().map(|&row| row as usize).eq(of_band.clone()));
                }
            }
        }
    }

    #[test]
    fn bands_of_short_rows_end_once_their_columns_have_enough() {
        for (columns, in_band) in [(1_000, ENOUGH_IN_BAND), (50_000, LEAST_IN_BAND)] {
            let shape = Shape { rows: 40 * columns, columns };
            let entries: Vec<Entry> =
                (0..shape.rows).map(|row| entry(row, row % columns, 1.0)).collect();
            let few = Observations::try_new(shape, &entries).unwrap();
            assert_eq!(few.bands().next().unwrap().rows, 0..in_band * columns);
        }
    }

    #[test]
    fn a_wide_matrix_with_few_entries_has_no_more_bands_than_entries() {
        let entries = [entry(0, 0, 1.0), entry(500_000, 900_000, 2.0)];
        let shape = Shape { rows: 1_000_000, columns: 1_000_000 };
        let few = Observations::try_new(shape, &entries).unwrap();
        assert_eq!(few.bands().count(), 1);
    }

    proptest! {
        #[test]
        fn the_order_in_which_entries_come_means_nothing(
            raw in prop::collection::vec((0usize..6, 0usize..5, -2i32..3), 1..60),
            turned in 0usize..60,
        ) {
            let shape = Shape { rows: 6, columns: 5 };
            let mut entries: Vec<Entry> =
                raw.iter().map(|&(r, c, v)| entry(r, c, f64::from(v))).collect();
            let arranged = Observations::try_new(shape, &entries).unwrap();
            let held = arranged.iter().map(|e| (e.row, e.column, e.value));
            prop_assert!(held.is_sorted());
            entries.reverse();
            entries.rotate_left(turned % raw.len());
            prop_assert_eq!(Observations::try_new(shape, &entries).unwrap(), arranged);
        }

        #[test]
        fn rows_and_columns_show_the_same_entries(
            raw in prop::collection::vec((0usize..6, 0usize..5, -1e3f64..1e3), 1..60)
        ) {
            let entries: Vec<Entry> = raw.iter().map(|&(r, c, v)| entry(r, c, v)).collect();
            let shape = Shape { rows: 6, columns: 5 };
            let observations = Observations::try_new(shape, &entries).unwrap();
            let by_row: Vec<Entry> = observations.iter().collect();
            prop_assert_eq!(observations.bands().count(), 1);
            let mut numbers = observations.placed_numbers().to_vec();
            for (place, &number) in numbers.iter().enumerate() {
                let entry = by_row[number as usize];
                let starts = observations.bands().next().unwrap().starts;
                prop_assert_eq!(observations.placed_rows()[place] as usize, entry.row);
                let of_column = starts[entry.column]..starts[entry.column + 1];
                prop_assert!(of_column.contains(&(place as u32)));
            }
            numbers.sort();
            prop_assert!(numbers.iter().enumerate().all(|(i, &number)| i == number as usize));
            prop_assert_eq!(by_row.len(), entries.len());
        }
    }
}
