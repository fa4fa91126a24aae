//! Entries of formats that are matrices: rows and columns have numbers, and no names of their own.

use isofactor::{Entry, EntryList};

use crate::{
    error::{Error, Result},
    labels::Labels,
    reading::{format::TableFormat, monitor::Meter, number::Marks, source::Source},
};

/// One number of a matrix, with its place counted from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cell {
    pub row: u64,
    pub column: u64,
    /// NaN stands for a missing one.
    pub value: f64,
}

/// Collects the cells that a format gives: rows and columns are named by their numbers from 1.
pub(crate) struct Collector<'a, 'b> {
    entries: EntryList,
    rows: Numbered<'a>,
    columns: Numbered<'a>,
    marks: Marks,
    meter: &'a mut Meter<'b>,
    any: bool,
}

impl<'a, 'b> Collector<'a, 'b> {
    pub fn new(
        source: &Source,
        format: &TableFormat,
        (rows, columns): (&'a mut Labels, &'a mut Labels),
        meter: &'a mut Meter<'b>,
    ) -> Result<Self> {
        let named = [&format.row, &format.column].into_iter().flatten().chain(&format.skip);
        if let Some(name) = named.into_iter().next() {
            return Err(Error::Unsupported {
                path: source.name(),
                reason: format!(
                    "this kind of file has numbered rows and columns and no column '{name}'; leave \
                     --row, --column and --skip out"
                ),
            });
        }
        Ok(Self {
            entries: EntryList::default(),
            rows: Numbered::new(rows),
            columns: Numbered::new(columns),
            marks: Marks::new(&format.missing, false, false),
            meter,
            any: false,
        })
    }

    /// Takes a cell, which is finite or missing.
    pub fn take(&mut self, cell: Cell) {
        self.any = true;
        self.meter.step();
        let (row, column) = (self.rows.number(cell.row), self.columns.number(cell.column));
        if !cell.value.is_nan() && !self.marks.has_number(cell.value) {
            self.entries.push(Entry { row, column, value: cell.value });
        }
    }

    /// The entries, if there are any.
    pub fn finish(self, source: &Source) -> Result<EntryList> {
        let path = source.name();
        match (self.entries.is_empty(), self.any) {
            (false, _) => Ok(self.entries),
            (true, true) => Err(Error::AllMissing { path }),
            (true, false) => Err(Error::NoEntries { path }),
        }
    }
}

/// Names that are numbers.
struct Numbered<'a> {
    labels: &'a mut Labels,
    /// What the first ones came to, so that their names are made once; 0 is not known yet.
    known: Vec<u32>,
}

impl<'a> Numbered<'a> {
    /// How many are remembered: 16 MiB.
    const KNOWN: u64 = 1 << 22;

    fn new(labels: &'a mut Labels) -> Self {
        Self { labels, known: Vec::new() }
    }

    fn number(&mut self, place: u64) -> usize {
        if place >= Self::KNOWN {
            return self.labels.number(&place.saturating_add(1).to_string());
        }
        let at = place as usize;
        if at >= self.known.len() {
            self.known.resize((at + 1).next_power_of_two(), 0);
        }
        if self.known[at] == 0 {
            let number = self.labels.number(&(at + 1).to_string());
            self.known[at] = u32::try_from(number + 1).unwrap_or(0);
            return number;
        }
        self.known[at] as usize - 1
    }
}

/// Refuses values that are infinite.
pub(crate) fn finite(source: &Source, cell: Cell) -> Result<Cell> {
    if cell.value.is_infinite() {
        return Err(Error::Unsupported {
            path: source.name(),
            reason: format!(
                "the value in row {} and column {} is infinite; use NaN for a missing one",
                cell.row + 1,
                cell.column + 1
            ),
        });
    }
    Ok(cell)
}
