//! A model as tables: its factors, its link, the matrix it completes.

use std::io::{self, Write};

use crate::{
    labels::Labels,
    model_file::LabelledModel,
    table_file::{Cell, Field, TableKind, TableWriter},
};

/// What of a model is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// A line a row: its name, its effect where there are effects, its factors.
    Rows,
    /// A line a column, the same way.
    Columns,
    /// The link at so many scores: score, value, slope, and whether training entries have scores
    /// on both sides of it.
    Link {
        /// How many scores.
        points: usize,
    },
    /// The prediction for every pair: a line a row, a column a column.
    CompletedWide,
    /// The prediction for every pair, a line each: row, column, prediction.
    CompletedLong,
}

/// Writes a part of a model as a table. The completed matrix is never held as a whole.
pub fn export(
    labelled: &LabelledModel,
    what: Export,
    kind: TableKind,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    let LabelledModel { model, rows, columns } = labelled;
    let effects = model.effects();
    match what {
        Export::Rows => {
            let effects = effects.map(|offsets| &offsets.rows[..]);
            units("row", rows, effects, model.factors.each_row(), kind, out)
        }
        Export::Columns => {
            let effects = effects.map(|offsets| &offsets.columns[..]);
            units("column", columns, effects, model.factors.each_column(), kind, out)
        }
        Export::Link { points } => link(labelled, points, kind, out),
        Export::CompletedWide => completed_wide(labelled, kind, out),
        Export::CompletedLong => completed_long(labelled, kind, out),
    }
}

fn units<'a>(
    side: &str,
    labels: &Labels,
    effects: Option<&[f64]>,
    factors: impl Iterator<Item = &'a [f64]>,
    kind: TableKind,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    let mut factors = factors.peekable();
    let rank = factors.peek().map_or(0, |z| z.len());
    let mut fields = vec![Field::text(side)];
    fields.extend(effects.map(|_| Field::number("effect")));
    fields.extend((1..=rank).map(|factor| Field::number(format!("factor_{factor}"))));
    let mut table = TableWriter::new(out, kind, fields)?;
    for (number, (name, z)) in labels.names().zip(factors).enumerate() {
        let effect = effects.map(|effects| Cell::Number(effects[number]));
        let factors = z.iter().map(|&factor| Cell::Number(factor));
        table.line([Cell::Text(name)].into_iter().chain(effect).chain(factors))?;
    }
    table.finish()
}

fn link(
    labelled: &LabelledModel,
    points: usize,
    kind: TableKind,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    let fields = ["score", "value", "slope"].map(Field::number).into_iter();
    let mut table = TableWriter::new(out, kind, fields.chain([Field::flag("seen")]).collect())?;
    for point in labelled.model.link_points(points) {
        let numbers = [point.score, point.value, point.slope].map(Cell::Number);
        table.line(numbers.into_iter().chain([Cell::Flag(point.seen)]))?;
    }
    table.finish()
}

fn completed_wide(
    labelled: &LabelledModel,
    kind: TableKind,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    let LabelledModel { model, rows, columns } = labelled;
    let mut fields = vec![Field::text(free_name(columns))];
    fields.extend(columns.names().map(Field::number));
    let mut table = TableWriter::new(out, kind, fields)?;
    for (row, name) in rows.names().enumerate() {
        let predictions =
            (0..columns.len()).map(|column| Cell::Number(model.predict(Some(row), Some(column))));
        table.line([Cell::Text(name)].into_iter().chain(predictions))?;
    }
    table.finish()
}

fn completed_long(
    labelled: &LabelledModel,
    kind: TableKind,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    let LabelledModel { model, rows, columns } = labelled;
    let fields = vec![Field::text("row"), Field::text("column"), Field::number("prediction")];
    let mut table = TableWriter::new(out, kind, fields)?;
    for (row, row_name) in rows.names().enumerate() {
        for (column, column_name) in columns.names().enumerate() {
            let prediction = model.predict(Some(row), Some(column));
            let names = [Cell::Text(row_name), Cell::Text(column_name)];
            table.line(names.into_iter().chain([Cell::Number(prediction)]))?;
        }
    }
    table.finish()
}

/// A name for the column of row names that no column of the matrix has.
fn free_name(columns: &Labels) -> String {
    let mut name = "row".to_owned();
    while columns.find(&name).is_some() {
        name.push('_');
    }
    name
}
