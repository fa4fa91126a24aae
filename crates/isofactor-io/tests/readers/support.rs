//! A folder of files to read, and what was read.

use std::path::{Path, PathBuf};

use isofactor::Entry;
use isofactor_io::{Error, Labels, Source, TableFormat, read_entries};
use tempfile::TempDir;

/// What was read: the entries and both sides' names.
#[derive(Debug)]
pub struct Found {
    pub entries: Vec<Entry>,
    pub rows: Labels,
    pub columns: Labels,
}

impl Found {
    /// The entries by name, in the order of their names.
    pub fn named(&self) -> Vec<(String, String, f64)> {
        let mut list: Vec<(String, String, f64)> = self
            .entries
            .iter()
            .map(|e| {
                (self.rows.name(e.row).to_owned(), self.columns.name(e.column).to_owned(), e.value)
            })
            .collect();
        list.sort_by(|a, b| a.partial_cmp(b).unwrap());
        list
    }
}

/// Reads a file.
pub fn read(path: &Path, format: &TableFormat) -> Result<Found, Error> {
    let (mut rows, mut columns) = (Labels::default(), Labels::default());
    let list = read_entries(&Source::new(path), format, &mut rows, &mut columns)?;
    Ok(Found { entries: list.iter().collect(), rows, columns })
}

/// A folder that goes away with the test.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// Reads bytes as a file with a name.
pub fn read_as(name: &str, bytes: impl AsRef<[u8]>, format: &TableFormat) -> Result<Found, Error> {
    let folder = Folder::new();
    read(&folder.write(name, bytes), format)
}

/// What is said about a file that cannot be read.
pub fn refusal(name: &str, bytes: impl AsRef<[u8]>, format: &TableFormat) -> String {
    read_as(name, bytes, format).unwrap_err().to_string()
}

/// Long form, nothing said about it.
pub fn plain() -> TableFormat {
    TableFormat::default()
}

/// Wide form.
pub fn wide() -> TableFormat {
    TableFormat { wide: true, ..TableFormat::default() }
}

/// Long form with named columns.
pub fn columns(row: &str, column: &str, value: &str) -> TableFormat {
    TableFormat {
        row: Some(row.to_owned()),
        column: Some(column.to_owned()),
        value: Some(value.to_owned()),
        ..TableFormat::default()
    }
}
