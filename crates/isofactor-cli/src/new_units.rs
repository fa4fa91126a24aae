//! Rows and columns that a model has not seen, placed by entries of their own.

use std::path::Path;

use isofactor::{Side, solver::NewUnit};
use isofactor_io::{LabelledModel, Labels, TableFormat};

use crate::{
    failure::Failure,
    given::Given,
    text::{say, thousands},
};

/// New rows and columns, in the order of the file.
#[derive(Default)]
pub struct NewUnits {
    rows: Placed,
    columns: Placed,
}

/// The new units of a side.
#[derive(Default)]
pub struct Placed {
    pub names: Labels,
    units: Vec<NewUnit>,
    /// Their entries: the unit of the other side, and the value.
    entries: Vec<Vec<(usize, f64)>>,
}

impl Placed {
    /// A new unit and the units of the other side that it has entries with, by its name.
    pub fn find(&self, name: &str) -> Option<(&NewUnit, Vec<u32>)> {
        let number = self.names.find(name)?;
        let mut others: Vec<u32> = self.entries[number].iter().map(|e| e.0 as u32).collect();
        others.sort_unstable();
        Some((&self.units[number], others))
    }

    fn push(&mut self, name: &str, other: usize, value: f64) {
        let number = self.names.number(name);
        self.entries.resize_with(self.names.len(), Vec::new);
        self.entries[number].push((other, value));
    }
}

impl NewUnits {
    /// From the file that `option` names.
    pub fn read(
        option: &str,
        path: &Path,
        format: &TableFormat,
        known: &LabelledModel,
    ) -> Result<Self, Failure> {
        if known.model.fold_in.is_none() {
            return Err(Failure::Usage(format!(
                "{option} needs a model of --solver fast: others have no effects to place new rows \
                 and columns by"
            )));
        }
        let given = Given::read(path, format)?;
        let mut new = Self::default();
        let mut passed_over = 0;
        for entry in given.entries.iter() {
            let (row, column) = (given.rows.name(entry.row), given.columns.name(entry.column));
            match (known.rows.find(row), known.columns.find(column)) {
                (None, Some(column)) => new.rows.push(row, column, entry.value),
                (Some(row), None) => new.columns.push(column, row, entry.value),
                _ => passed_over += 1,
            }
        }
        if passed_over > 0 {
            say(&format!(
                "{}: {} entries passed over: of their row and column the model must know just one",
                path.display(),
                thousands(passed_over)
            ));
        }
        let place = |placed: &mut Placed, side: Side| {
            let unit = |entries: &Vec<(usize, f64)>| match side {
                Side::Rows => known.model.new_row(entries),
                Side::Columns => known.model.new_column(entries),
            };
            placed.units = placed.entries.iter().filter_map(unit).collect();
        };
        place(&mut new.rows, Side::Rows);
        place(&mut new.columns, Side::Columns);
        Ok(new)
    }

    /// Those of a side.
    pub fn of(&self, side: Side) -> &Placed {
        match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.columns,
        }
    }
}
