//! Matrix Market: coordinates or a whole array, as text.

use std::io::{BufRead, BufReader, Read};

use crate::{
    error::{Error, Result},
    reading::{
        cells::{Cell, Collector, finite},
        source::Source,
    },
};

/// No line of the format is longer.
const LONGEST: u64 = 1 << 16;

/// How the numbers stand in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A line has row, column and value.
    Coordinates,
    /// A line has a value, column after column.
    Array,
}

/// What of a matrix is left out, because it follows from the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// Gives all cells of a file.
pub(crate) fn read(source: &Source, bytes: Box<dyn Read>, into: &mut Collector) -> Result<()> {
    let mut lines = Lines {
        source,
        bytes: BufReader::with_capacity(1 << 16, bytes),
        line: 0,
        text: String::new(),
    };
    let (layout, symmetry) = lines.banner()?;
    match layout {
        Layout::Coordinates => coordinates(&mut lines, symmetry, into),
        Layout::Array => array(&mut lines, symmetry, into),
    }
}

fn coordinates<R: Read>(
    lines: &mut Lines<R>,
    symmetry: Symmetry,
    into: &mut Collector,
) -> Result<()> {
    let [rows, columns, count] = lines.numbers("the numbers of rows, columns and entries")?;
    if symmetry != Symmetry::General && rows != columns {
        return Err(lines.wrong("a symmetric matrix has as many rows as columns"));
    }
    let mut found = 0_u64;
    while lines.advance()? {
        found += 1;
        if found > count {
            return Err(
                lines.wrong(&format!("more than the {count} entries that the file announces"))
            );
        }
        let mut fields = lines.text.split_ascii_whitespace();
        let (row, column, value) = (fields.next(), fields.next(), fields.next());
        let place = |field: Option<&str>| field.and_then(|text| text.parse::<u64>().ok());
        let value = value.and_then(|text| text.parse::<f64>().ok());
        let (Some(row), Some(column), Some(value), None) =
            (place(row), place(column), value, fields.next())
        else {
            return Err(lines.wrong("a line must have row, column and value"));
        };
        if !(1..=rows).contains(&row) || !(1..=columns).contains(&column) {
            let reason = format!("row {row}, column {column} is outside of {rows} x {columns}");
            return Err(lines.wrong(&reason));
        }
        give(lines.source, symmetry, (row - 1, column - 1, value), into)?;
    }
    if found < count {
        return Err(lines.wrong(&format!("the file ends after {found} of {count} entries")));
    }
    Ok(())
}

fn array<R: Read>(lines: &mut Lines<R>, symmetry: Symmetry, into: &mut Collector) -> Result<()> {
    let [rows, columns] = lines.numbers("the numbers of rows and columns")?;
    if symmetry != Symmetry::General && rows != columns {
        return Err(lines.wrong("a symmetric matrix has as many rows as columns"));
    }
    // Of a symmetric matrix only the lower triangle is there, of a skew one without the diagonal.
    let first = |column: u64| match symmetry {
        Symmetry::General => 0,
        Symmetry::Symmetric => column,
        Symmetry::Skew => column + 1,
    };
    let (mut column, mut row) = (0, first(0));
    while lines.advance()? {
        while row >= rows && column < columns {
            column += 1;
            row = first(column);
        }
        if column >= columns {
            return Err(lines.wrong(&format!("more values than {rows} x {columns} has")));
        }
        let Ok(value) = lines.text.trim().parse::<f64>() else {
            return Err(lines.wrong("a line must have one number"));
        };
        give(lines.source, symmetry, (row, column, value), into)?;
        row += 1;
    }
    while row >= rows && column < columns {
        column += 1;
        row = first(column);
    }
    if column < columns {
        return Err(lines.wrong(&format!("the file ends before {rows} x {columns} is full")));
    }
    Ok(())
}

/// Gives a cell, and the one on the other side of the diagonal.
fn give(
    source: &Source,
    symmetry: Symmetry,
    (row, column, value): (u64, u64, f64),
    into: &mut Collector,
) -> Result<()> {
    into.take(finite(source, Cell { row, column, value })?);
    if row != column && symmetry != Symmetry::General {
        let value = if symmetry == Symmetry::Skew { -value } else { value };
        into.take(Cell { row: column, column: row, value });
    }
    Ok(())
}

/// Lines with something on them, without comments.
struct Lines<'a, R> {
    source: &'a Source,
    bytes: BufReader<R>,
    line: u64,
    text: String,
}

impl<R: Read> Lines<'_, R> {
    fn wrong(&self, reason: &str) -> Error {
        Error::Line { path: self.source.name(), line: self.line, reason: reason.to_owned() }
    }

    fn next_line(&mut self) -> Result<bool> {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        let mut limited = (&mut self.bytes).take(LONGEST);
        let read = limited.read_until(b'\n', &mut bytes);
        let read = read.map_err(|e| Error::reading(&self.source.name(), &e))?;
        self.line += u64::from(read > 0);
        if read as u64 == LONGEST {
            return Err(self.wrong("the line is too long"));
        }
        let text = String::from_utf8(bytes);
        self.text = text.map_err(|_| self.wrong("the text is not valid UTF-8"))?;
        Ok(read > 0)
    }

    fn advance(&mut self) -> Result<bool> {
        while self.next_line()? {
            let text = self.text.trim_ascii();
            if !text.is_empty() && !text.starts_with('%') {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first line: what the file is.
    fn banner(&mut self) -> Result<(Layout, Symmetry)> {
        self.next_line()?;
        let lower = self.text.to_lowercase();
        let words: Vec<&str> = lower.split_ascii_whitespace().collect();
        let refused = |reason: &str| Error::Unsupported {
            path: self.source.name(),
            reason: reason.to_owned(),
        };
        let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
            return Err(self.wrong(
                "the first line must be as in '%%MatrixMarket matrix coordinate real general'",
            ));
        };
        let layout = match layout {
            "coordinate" => Layout::Coordinates,
            "array" => Layout::Array,
            _ => return Err(self.wrong("the matrix must be of coordinates or an array")),
        };
        match field {
            "real" | "integer" | "double" => {}
            "pattern" => {
                return Err(refused(
                    "a pattern says where entries are but has no values, and there is nothing to \
                     learn from values that are all the same; write it with its values",
                ));
            }
            _ => return Err(refused("its values are not real numbers")),
        }
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            _ => return Err(refused("a matrix must be general, symmetric or skew-symmetric")),
        };
        Ok((layout, symmetry))
    }

    /// The line of sizes.
    fn numbers<const N: usize>(&mut self, what: &str) -> Result<[u64; N]> {
        let numbers = if self.advance()? {
            let fields = self.text.split_ascii_whitespace();
            fields.map(|text| text.parse().ok()).collect::<Option<Vec<u64>>>()
        } else {
            None
        };
        let numbers = numbers.and_then(|list| <[u64; N]>::try_from(list).ok());
        numbers.ok_or_else(|| self.wrong(&format!("there must be a line with {what}")))
    }
}
