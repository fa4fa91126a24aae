//! Records of formats that come in batches of Arrow columns.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;

use crate::{
    error::{Error, Place, Result},
    labels::Labels,
    reading::{
        columns::{Cell, Column, LONGEST_NAME, NoName},
        format::TableFormat,
        number::Marks,
        places::Header,
        tabular::{Form, Records},
    },
};

/// Rows that are looked at together: columns are widened so many at a time.
const ROWS: usize = 1 << 13;

/// A file, or several, that give batches of columns.
pub(crate) trait BatchSource {
    /// The columns there are.
    fn header(&self) -> &Header;
    /// Reads only these columns from now on, in increasing order.
    fn project(&mut self, columns: &[usize]) -> Result<()>;
    /// The next batch, of the columns projected.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>>;
    /// The file that the last batch came from.
    fn path(&self) -> &Path;
}

/// The batches of a source, record by record.
pub(crate) struct Batches<S> {
    source: S,
    marks: Marks,
    /// For each field asked for: its column among those projected, and in the file.
    fields: Vec<(usize, usize)>,
    batch: Option<RecordBatch>,
    /// Where the rows at hand begin in the batch.
    start: usize,
    columns: Vec<Column>,
    /// The record at hand, from `start`, and how many there are.
    at: usize,
    count: usize,
    /// Rows of this file before `start`.
    before: u64,
    path: PathBuf,
}

impl<S: BatchSource> Batches<S> {
    pub fn new(source: S, format: &TableFormat, form: Form) -> Self {
        let path = source.path().to_owned();
        Self {
            source,
            marks: Marks::new(&format.missing, form == Form::Wide, false),
            fields: Vec::new(),
            batch: None,
            start: 0,
            columns: Vec::new(),
            at: 0,
            count: 0,
            before: 0,
            path,
        }
    }

    /// Takes the next rows of the batch, or of the next batch.
    fn next_rows(&mut self) -> Result<bool> {
        self.before += self.count as u64;
        self.start += self.count;
        (self.at, self.count) = (0, 0);
        loop {
            match &self.batch {
                Some(batch) if self.start < batch.num_rows() => break,
                _ => {}
            }
            // The old batch goes before the new one comes.
            self.batch = None;
            self.columns.clear();
            let Some(batch) = self.source.next_batch()? else { return Ok(false) };
            if self.source.path() != self.path {
                self.path = self.source.path().to_owned();
                self.before = 0;
            }
            (self.batch, self.start) = (Some(batch), 0);
        }
        let Some(batch) = &self.batch else { return Ok(false) };
        self.count = ROWS.min(batch.num_rows() - self.start);
        let rows = batch.slice(self.start, self.count);
        self.columns.clear();
        for (k, array) in rows.columns().iter().enumerate() {
            let Some(column) = Column::new(array) else {
                let kind = array.data_type().to_string();
                let place = self.fields.iter().find(|field| field.0 == k).map_or(0, |f| f.1);
                return Err(unreadable(self.source.header(), place, &kind));
            };
            self.columns.push(column);
        }
        Ok(true)
    }

    fn name_of(&self, field: usize) -> String {
        self.source.header().names[self.fields[field].1].clone()
    }
}

/// A column of a type that cannot be read.
pub(crate) fn unreadable(header: &Header, place: usize, kind: &str) -> Error {
    Error::ColumnType {
        path: header.path.clone(),
        column: header.names[place].clone(),
        kind: kind.to_owned(),
    }
}

impl<S: BatchSource> Records for Batches<S> {
    fn header(&self) -> &Header {
        self.source.header()
    }

    fn select(&mut self, columns: &[usize]) -> Result<()> {
        let mut projected = columns.to_vec();
        projected.sort_unstable();
        projected.dedup();
        let place = |column: &usize| projected.partition_point(|other| other < column);
        self.fields = columns.iter().map(|column| (place(column), *column)).collect();
        self.source.project(&projected)
    }

    fn advance(&mut self) -> Result<bool> {
        self.at += 1;
        if self.at < self.count {
            return Ok(true);
        }
        self.next_rows()
    }

    fn place(&self) -> Place {
        Place::Row(self.before + self.at as u64 + 1)
    }

    fn label(&self, field: usize, labels: &mut Labels) -> Result<usize> {
        self.columns[self.fields[field].0].label(self.at, labels).map_err(|why| {
            let reason = match why {
                NoName::Null => "is missing; take such rows out".to_owned(),
                NoName::NotText => "is not valid UTF-8 text".to_owned(),
                NoName::TooLong => format!("is longer than {LONGEST_NAME} bytes"),
                NoName::Fraction(value) => {
                    format!("is {value}, but names are text or whole numbers")
                }
                NoName::OutOfRange => "is a time out of range".to_owned(),
            };
            let (path, place, column) = (self.path.clone(), self.place(), self.name_of(field));
            Error::NoName { path, place, column, reason }
        })
    }

    fn value(&self, field: usize) -> Result<Option<f64>> {
        let cell = || (self.path.clone(), self.place(), self.name_of(field));
        match self.columns[self.fields[field].0].cell(self.at, &self.marks) {
            Cell::Value(value) => Ok(Some(value)),
            Cell::Missing => Ok(None),
            Cell::NotFinite(value) => {
                let (path, place, column) = cell();
                Err(Error::NotFinite { path, place, column, text: value.to_string() })
            }
            Cell::Text(text) => {
                let (path, place, column) = cell();
                let hint = "; if the column holds names, say so with --row or leave it out with \
                            --skip";
                Err(Error::NotANumber { path, place, column, text, hint })
            }
            Cell::Moment => Err(unreadable(self.header(), self.fields[field].1, "dates or times")),
        }
    }
}

/// The column of row names that pandas notes in a file, if there is exactly one.
pub(crate) fn pandas_index(note: Option<&str>, names: &[String]) -> Option<usize> {
    let note: serde_json::Value = serde_json::from_str(note?).ok()?;
    let [index] = note.get("index_columns")?.as_array()?.as_slice() else { return None };
    let name = index.as_str()?;
    names.iter().position(|other| other == name)
}
