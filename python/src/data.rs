//! Entries on their way in: read from arrays where they lie, one pass, 16 bytes an entry kept.

use isofactor::{Entry, EntryList, Observations, Shape};
use isofactor_io::Labels;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, ndarray::ArrayView2};
use pyo3::prelude::*;

use crate::{
    arrow,
    errors::{bad_input, of_core},
    labels::{Names, of_side},
};

/// Entries to learn from and to judge by, with the names of their rows and columns.
#[pyclass(module = "isofactor._isofactor")]
#[derive(Debug, Default)]
pub struct Data {
    pub rows: Labels,
    pub columns: Labels,
    pub train: EntryList,
    pub validation: Option<EntryList>,
}

/// How many names an error lists.
const LISTED: usize = 5;

#[pymethods]
impl Data {
    /// Nothing yet.
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// A matrix with NaN where nothing was observed.
    #[pyo3(signature = (matrix, row_labels=None, column_labels=None, keep_empty=false))]
    fn add_dense(
        &mut self,
        matrix: PyReadonlyArray2<'_, f64>,
        row_labels: Option<Vec<String>>,
        column_labels: Option<Vec<String>>,
        keep_empty: bool,
    ) -> PyResult<()> {
        let matrix = matrix.as_array();
        let (rows, columns) = matrix.dim();
        let rows = of_side(row_labels, rows, "row")?;
        let columns = of_side(column_labels, columns, "column")?;
        let entries = dense_entries(&matrix, &rows, &columns)?;
        if !keep_empty {
            check_no_empty(&entries, &rows, &columns)?;
        }
        self.begin(rows, columns, entries)
    }

    /// The explicit entries of a sparse matrix.
    #[pyo3(signature = (rows, columns, values, shape, row_labels=None, column_labels=None))]
    fn add_sparse(
        &mut self,
        rows: PyReadonlyArray1<'_, i64>,
        columns: PyReadonlyArray1<'_, i64>,
        values: PyReadonlyArray1<'_, f64>,
        shape: (usize, usize),
        row_labels: Option<Vec<String>>,
        column_labels: Option<Vec<String>>,
    ) -> PyResult<()> {
        let row_names = of_side(row_labels, shape.0, "row")?;
        let column_names = of_side(column_labels, shape.1, "column")?;
        let place = |index: i64| usize::try_from(index).unwrap_or(usize::MAX);
        let (rows, columns, values) = (rows.as_array(), columns.as_array(), values.as_array());
        check_lengths(rows.len(), columns.len(), values.len())?;
        let mut entries = EntryList::with_capacity(values.len());
        for ((&row, &column), &value) in rows.iter().zip(columns).zip(values) {
            entries.push(Entry { row: place(row), column: place(column), value });
        }
        self.begin(row_names, column_names, entries)
    }

    /// Entries one by one; names are numbered as they first occur.
    #[pyo3(signature = (rows, columns, values, validation=false))]
    fn add_entries(
        &mut self,
        rows: Names<'_>,
        columns: Names<'_>,
        values: PyReadonlyArray1<'_, f64>,
        validation: bool,
    ) -> PyResult<()> {
        let values = values.as_array();
        check_lengths(rows.len(), columns.len(), values.len())?;
        let rows = rows.resolved(|name| self.rows.number(name))?;
        let columns = columns.resolved(|name| self.columns.number(name))?;
        let mut entries = EntryList::with_capacity(values.len());
        for ((row, column), &value) in rows.into_iter().zip(columns).zip(values) {
            entries.push(Entry { row, column, value });
        }
        self.keep(entries, validation);
        Ok(())
    }

    /// Three columns of anything that streams Arrow batches, read where they lie.
    #[pyo3(signature = (table, row=None, column=None, value=None, validation=false))]
    fn add_arrow(
        &mut self,
        table: pyo3_arrow::PyRecordBatchReader,
        row: Option<&str>,
        column: Option<&str>,
        value: Option<&str>,
        validation: bool,
    ) -> PyResult<()> {
        let names = [row, column, value];
        let entries = arrow::entries(table, names, &mut self.rows, &mut self.columns)?;
        self.keep(entries, validation);
        Ok(())
    }

    /// Rows and columns so far.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.columns.len())
    }

    /// Entries to learn from so far.
    fn __len__(&self) -> usize {
        self.train.len()
    }
}

impl Data {
    /// The first matrix sets the names; one to judge by must have the same.
    fn begin(&mut self, rows: Labels, columns: Labels, entries: EntryList) -> PyResult<()> {
        if self.rows.is_empty() && self.columns.is_empty() {
            (self.rows, self.columns, self.train) = (rows, columns, entries);
            return Ok(());
        }
        if self.rows != rows || self.columns != columns {
            return Err(bad_input(
                "the validation matrix must have the rows and columns of the one that is fitted",
            ));
        }
        self.validation = Some(entries);
        Ok(())
    }

    fn keep(&mut self, entries: EntryList, validation: bool) {
        if validation {
            self.validation = Some(entries);
        } else {
            self.train = entries;
        }
    }

    /// The entries to learn from, arranged by row; none where there are none.
    pub fn arranged(self) -> PyResult<Option<Observations>> {
        let shape = Shape { rows: self.rows.len(), columns: self.columns.len() };
        if self.train.is_empty() {
            return Ok(None);
        }
        Observations::arrange(shape, self.train).map(Some).map_err(of_core)
    }
}

fn check_lengths(rows: usize, columns: usize, values: usize) -> PyResult<()> {
    if rows == columns && columns == values {
        return Ok(());
    }
    Err(bad_input(format!(
        "rows, columns and values must be equally long, got {rows}, {columns} and {values}"
    )))
}

/// Counts first, so that no more room is taken than the entries need.
fn dense_entries(
    matrix: &ArrayView2<'_, f64>,
    rows: &Labels,
    columns: &Labels,
) -> PyResult<EntryList> {
    let count = matrix.iter().filter(|value| !value.is_nan()).count();
    let mut entries = EntryList::with_capacity(count);
    for (row, values) in matrix.outer_iter().enumerate() {
        for (column, &value) in values.iter().enumerate() {
            if value.is_infinite() {
                let (row, column) = (rows.name(row), columns.name(column));
                return Err(bad_input(format!(
                    "row '{row}', column '{column}' is infinite ({value}): every observed value \
                     must be finite, use NaN for what is missing"
                )));
            }
            if !value.is_nan() {
                entries.push(Entry { row, column, value });
            }
        }
    }
    Ok(entries)
}

/// Rows and columns without a single value are usually a mistake, and nothing can be learned of them.
fn check_no_empty(entries: &EntryList, rows: &Labels, columns: &Labels) -> PyResult<()> {
    let (mut row_seen, mut column_seen) = (vec![false; rows.len()], vec![false; columns.len()]);
    for entry in entries.iter() {
        (row_seen[entry.row], column_seen[entry.column]) = (true, true);
    }
    for (side, labels, seen) in [("row", rows, row_seen), ("column", columns, column_seen)] {
        let empty: Vec<usize> = (0..seen.len()).filter(|&unit| !seen[unit]).collect();
        if empty.is_empty() {
            continue;
        }
        let named: Vec<String> =
            empty.iter().take(LISTED).map(|&unit| format!("'{}'", labels.name(unit))).collect();
        let more = if empty.len() > LISTED { ", ..." } else { "" };
        return Err(bad_input(format!(
            "{} {side}(s) have no observed value: {}{more}; drop them, or use keep_empty=True to \
             predict them from the level and the effects",
            empty.len(),
            named.join(", ")
        )));
    }
    Ok(())
}
