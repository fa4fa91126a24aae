//! Delimited text: CSV, TSV and their kin, as records of a table.

use std::{io::Read, path::PathBuf};

use crate::{
    error::{Error, Place, Result},
    labels::Labels,
    reading::{
        format::{HeaderRule, TableFormat},
        number::{Field, Marks, number},
        places::Header,
        scanner::Scanner,
        tabular::{Form, Records},
    },
};

/// Records of a delimited text.
pub(crate) struct Delimited<R> {
    header: Header,
    marks: Marks,
    decimal_comma: bool,
    scanner: Scanner<R>,
    /// Whether the record at hand is still to be given out: the first line was no header.
    pending: bool,
    /// The places of the columns asked for.
    selected: Vec<usize>,
}

impl<R: Read> Delimited<R> {
    /// Reads the first line and decides what it is. Also says what separates the fields when that
    /// was found out and is not what the name of the file says.
    pub fn open(
        path: PathBuf,
        input: R,
        named_delimiter: Option<u8>,
        format: &TableFormat,
        form: Form,
    ) -> Result<(Self, Option<String>)> {
        let mut scanner = Scanner::new(path.clone(), input);
        scanner.skip_byte_order_mark()?;
        let mut note = None;
        let delimiter = match format.delimiter.or(named_delimiter) {
            Some(delimiter) => delimiter,
            None => {
                let found = scanner.guess_delimiter(format.decimal_comma)?;
                if found != b',' {
                    let name = if found == b';' { "semicolons" } else { "tabs" };
                    let shown = path.display();
                    note = Some(format!("{shown}: read as separated by {name} (--delimiter)"));
                }
                found
            }
        };
        if format.decimal_comma && delimiter == b',' {
            return Err(Error::CommaTwice { path });
        }
        scanner.set_delimiter(delimiter);
        if !scanner.advance()? {
            return Err(Error::Empty { path });
        }
        let marks = Marks::new(&format.missing, form == Form::Wide, format.decimal_comma);
        let width = scanner.fields.len();
        let mut records = Self {
            header: Header::numbered(path.clone(), width),
            marks,
            decimal_comma: format.decimal_comma,
            scanner,
            pending: false,
            selected: (0..width).collect(),
        };
        if records.first_is_header(format, form) {
            let names = (0..width).map(|field| records.text(field).map(str::to_owned));
            let names = names.collect::<Result<Vec<_>>>()?;
            records.header = Header { path, names, index: None };
        } else {
            records.pending = true;
        }
        Ok((records, note))
    }

    /// The text of a field among those selected.
    pub fn text(&self, field: usize) -> Result<&str> {
        std::str::from_utf8(self.scanner.field(self.selected[field])).map_err(|_| self.not_text())
    }

    /// How many fields the record has.
    pub fn width(&self) -> usize {
        self.scanner.fields.len()
    }

    /// Refuses a table with fewer columns.
    pub fn needs(&self, needed: usize, what: &'static str) -> Result<()> {
        let (path, found) = (self.header.path.clone(), self.width());
        if found < needed {
            return Err(Error::TooFewColumns { path, found, needed, what });
        }
        Ok(())
    }

    /// An error about the record at hand.
    pub fn wrong(&self, reason: &str) -> Error {
        self.scanner.wrong(reason.to_owned())
    }

    fn not_text(&self) -> Error {
        self.wrong("the text is not valid UTF-8; save the file as UTF-8")
    }

    /// Whether the first line names the columns. If nobody says so, it does unless it has a number
    /// where the other lines have one; a name that is asked for and found there settles it.
    fn first_is_header(&self, format: &TableFormat, form: Form) -> bool {
        match format.header {
            HeaderRule::Yes => return true,
            HeaderRule::No => return false,
            HeaderRule::Auto => {}
        }
        let fields: Vec<&[u8]> = (0..self.width()).map(|i| self.scanner.field(i)).collect();
        let is_value =
            |field: &&[u8]| !matches!(self.marks.field(field, self.decimal_comma), Field::Text);
        let mut asked = [&format.row, &format.column, &format.value].into_iter().flatten();
        let place = |name: &Option<String>, default: usize| match name {
            Some(name) => name.parse::<usize>().ok()?.checked_sub(1),
            None => Some(default),
        };
        let by_number = |name: &String| name.parse::<usize>().is_ok();
        match form {
            _ if !asked.all(by_number) || !format.skip.iter().all(by_number) => true,
            Form::Long => {
                place(&format.value, 2).and_then(|p| fields.get(p)).is_none_or(|f| !is_value(f))
            }
            Form::Wide => {
                let skip = |p: &usize| {
                    let skipped = format.skip.iter().chain(&format.row);
                    skipped.filter_map(|s| s.parse::<usize>().ok()).any(|s| s == p + 1)
                };
                let mut values = (0..fields.len()).filter(|p| !skip(p)).map(|p| fields[p]);
                !values.all(|field| is_value(&field))
            }
            Form::Pairs => {
                let whole =
                    |field: &&[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_digit);
                let at = |p: Option<usize>| p.and_then(|p| fields.get(p)).is_some_and(whole);
                !(at(place(&format.row, 0)) && at(place(&format.column, 1)))
            }
        }
    }
}

impl<R: Read> Records for Delimited<R> {
    fn header(&self) -> &Header {
        &self.header
    }

    fn select(&mut self, columns: &[usize]) -> Result<()> {
        self.selected = columns.to_vec();
        Ok(())
    }

    #[inline]
    fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.pending) {
            return Ok(true);
        }
        let width = self.header.names.len();
        if !self.scanner.advance()? {
            return Ok(false);
        }
        if self.scanner.fields.len() != width {
            return Err(self.scanner.uneven(width));
        }
        Ok(true)
    }

    fn place(&self) -> Place {
        Place::Line(self.scanner.line)
    }

    #[inline]
    fn label(&self, field: usize, labels: &mut Labels) -> Result<usize> {
        let name = self.scanner.field(self.selected[field]);
        labels.number_of_bytes(name).ok_or_else(|| self.not_text())
    }

    #[inline]
    fn value(&self, field: usize) -> Result<Option<f64>> {
        let place = self.selected[field];
        let text = self.scanner.field(place);
        let cell = || (self.header.path.clone(), self.place(), self.header.names[place].clone());
        let shown = || String::from_utf8_lossy(text).into_owned();
        match self.marks.field(text, self.decimal_comma) {
            Field::Value(value) => Ok(Some(value)),
            Field::Missing => Ok(None),
            Field::NotFinite => {
                let (path, place, column) = cell();
                Err(Error::NotFinite { path, place, column, text: shown() })
            }
            Field::Text => {
                let (path, place, column) = cell();
                let comma = number(text, true).is_some();
                let hint =
                    if comma { "; if numbers have a comma, add --decimal-comma" } else { "" };
                Err(Error::NotANumber { path, place, column, text: shown(), hint })
            }
        }
    }
}
