//! Entries of a file, seen with the eyes of a model: which of its rows and columns they name.

use std::path::Path;

use isofactor::EntryList;
use isofactor_io::{LabelledModel, Labels, TableFormat};

use crate::{failure::Failure, reading};

/// Entries, and the names of their rows and columns.
pub struct Given {
    pub entries: EntryList,
    pub rows: Labels,
    pub columns: Labels,
}

/// The numbers that a model has for the rows and columns of a file, where it knows them.
pub struct Numbers {
    rows: Vec<Option<usize>>,
    columns: Vec<Option<usize>>,
}

/// An entry, its row and column as a model knows them.
pub type SeenEntry = (Option<usize>, Option<usize>, f64);

impl Given {
    /// Reads a file.
    pub fn read(path: &Path, format: &TableFormat) -> Result<Self, Failure> {
        let (mut rows, mut columns) = (Labels::default(), Labels::default());
        let entries = reading::entries(path, format, &mut rows, &mut columns)?;
        Ok(Self { entries, rows, columns })
    }

    /// What a model calls the rows and columns.
    pub fn numbers(&self, model: &LabelledModel) -> Numbers {
        let find =
            |wanted: &Labels, known: &Labels| wanted.names().map(|name| known.find(name)).collect();
        Numbers {
            rows: find(&self.rows, &model.rows),
            columns: find(&self.columns, &model.columns),
        }
    }

    /// The entries, in the order of the file, as a model knows them.
    pub fn seen<'a>(
        &'a self,
        numbers: &'a Numbers,
    ) -> impl Iterator<Item = SeenEntry> + Clone + 'a {
        let entries = self.entries.iter();
        entries.map(|e| (numbers.rows[e.row], numbers.columns[e.column], e.value))
    }
}
