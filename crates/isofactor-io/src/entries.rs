//! Delimited text in long form (row, column, value) or wide form (a line a row).

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use csv::StringRecord;
use isofactor::{Entry, EntryList};

use crate::{
    error::{Error, Result},
    labels::Labels,
};

/// Where a table comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input, as CSV.
    StandardInput,
    /// A file; `.tsv` is separated by tabs, anything else by commas.
    File(PathBuf),
}

impl Source {
    /// `-` is standard input.
    pub fn new(path: &Path) -> Self {
        if path == Path::new("-") { Source::StandardInput } else { Source::File(path.to_owned()) }
    }

    fn name(&self) -> PathBuf {
        match self {
            Source::StandardInput => PathBuf::from("standard input"),
            Source::File(path) => path.clone(),
        }
    }

    fn open(&self) -> Result<Box<dyn Read>> {
        Ok(match self {
            Source::StandardInput => Box::new(io::stdin().lock()),
            Source::File(path) => {
                let file = File::open(path).map_err(|e| Error::reading(path, &e))?;
                if file.metadata().is_ok_and(|m| m.is_dir()) {
                    let reason = "it is a directory".to_owned();
                    return Err(Error::Unreadable { path: path.clone(), reason });
                }
                Box::new(file)
            }
        })
    }

    fn delimiter(&self) -> u8 {
        match self {
            Source::File(path) if path.extension().is_some_and(|e| e == "tsv") => b'\t',
            _ => b',',
        }
    }
}

/// How a table is to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableFormat {
    /// The column that names rows; the first by default.
    pub row: Option<String>,
    /// The column that names columns; the second by default.
    pub column: Option<String>,
    /// The column of values; the third by default.
    pub value: Option<String>,
    /// Whether each line is a row of the matrix, with one field a column.
    pub wide: bool,
    /// Values that mark a missing entry, beside none for long and `""` and `NA` for wide form.
    pub missing: Vec<String>,
}

/// Reads entries, numbering names as they occur.
pub fn read_entries(
    source: &Source,
    format: &TableFormat,
    rows: &mut Labels,
    columns: &mut Labels,
) -> Result<EntryList> {
    let mut table = Table::open(source)?;
    if format.wide {
        read_wide(&mut table, format, rows, columns)
    } else {
        read_long(&mut table, format, rows, columns)
    }
}

/// Reads pairs of names: the first two columns, or the named ones.
pub fn read_pairs(source: &Source, format: &TableFormat) -> Result<Vec<(String, String)>> {
    let mut table = Table::open(source)?;
    let places = [
        table.place(format.row.as_deref(), 0, 2, "row and column")?,
        table.place(format.column.as_deref(), 1, 2, "row and column")?,
    ];
    let mut pairs = Vec::new();
    while let Some(record) = table.next()? {
        pairs.push((record[places[0]].to_owned(), record[places[1]].to_owned()));
    }
    if pairs.is_empty() {
        return Err(Error::HeaderOnly { path: table.path });
    }
    Ok(pairs)
}

fn read_long(
    table: &mut Table,
    format: &TableFormat,
    rows: &mut Labels,
    columns: &mut Labels,
) -> Result<EntryList> {
    let what = "row, column and value";
    let row = table.place(format.row.as_deref(), 0, 3, what)?;
    let column = table.place(format.column.as_deref(), 1, 3, what)?;
    let value = table.place(format.value.as_deref(), 2, 3, what)?;
    let named = format.row.is_some() || format.column.is_some() || format.value.is_some();
    if !named && table.header[value].parse::<f64>().is_ok() {
        table.header_is_data();
    }
    let mut entries = EntryList::default();
    while let Some(record) = table.next()? {
        if let Some(value) = table.value(&record[value], &format.missing)? {
            let (row, column) = (rows.number(&record[row]), columns.number(&record[column]));
            entries.push(Entry { row, column, value });
        }
    }
    table.checked(entries)
}

/// Wide form has no names of rows: lines are numbered from 1. A header that is no line of values
/// names the columns, else they are numbered too.
fn read_wide(
    table: &mut Table,
    format: &TableFormat,
    rows: &mut Labels,
    columns: &mut Labels,
) -> Result<EntryList> {
    let mut missing = format.missing.clone();
    missing.extend([String::new(), "NA".to_owned()]);
    let header = table.header.clone();
    let is_value = |text: &str| text.parse::<f64>().is_ok() || missing.iter().any(|m| m == text);
    let all_values = header.iter().all(is_value);
    let places: Vec<usize> = header
        .iter()
        .enumerate()
        .map(|(i, name)| {
            let number = (i + 1).to_string();
            columns.number(if all_values { &number } else { name })
        })
        .collect();
    if all_values {
        table.header_is_data();
    }
    let mut entries = EntryList::default();
    while let Some(record) = table.next()? {
        let row = rows.number(&table.records.to_string());
        for (text, &column) in record.iter().zip(&places) {
            if let Some(value) = table.value(text, &missing)? {
                entries.push(Entry { row, column, value });
            }
        }
    }
    table.checked(entries)
}

/// A delimited text whose header has been read.
pub(crate) struct Table {
    pub path: PathBuf,
    pub header: StringRecord,
    pending: Option<StringRecord>,
    reader: csv::Reader<Box<dyn Read>>,
    line: u64,
    /// Lines given out below the header.
    records: usize,
}

impl Table {
    pub fn open(source: &Source) -> Result<Self> {
        let path = source.name();
        let mut input = BufReader::with_capacity(1 << 16, source.open()?);
        skip_byte_order_mark(&mut input).map_err(|e| Error::reading(&path, &e))?;
        let reader = csv::ReaderBuilder::new()
            .delimiter(source.delimiter())
            .trim(csv::Trim::All)
            .has_headers(false)
            .from_reader(Box::new(input) as Box<dyn Read>);
        let header = StringRecord::new();
        let mut table = Self { path, header, pending: None, reader, line: 0, records: 0 };
        table.header = table.next()?.ok_or(Error::Empty { path: table.path.clone() })?;
        table.records = 0;
        Ok(table)
    }

    /// The next line, checked to have as many fields as the header.
    pub fn next(&mut self) -> Result<Option<StringRecord>> {
        self.records += 1;
        if let Some(record) = self.pending.take() {
            return Ok(Some(record));
        }
        let mut record = StringRecord::new();
        match self.reader.read_record(&mut record) {
            Ok(false) => {
                self.records -= 1;
                Ok(None)
            }
            Ok(true) => {
                self.line = record.position().map_or(0, csv::Position::line);
                Ok(Some(record))
            }
            Err(error) => Err(self.malformed(&error)),
        }
    }

    /// The first line turned out not to be a header.
    pub fn header_is_data(&mut self) {
        self.pending = Some(self.header.clone());
    }

    /// Where a column is: by name, or by its default place.
    pub fn place(
        &self,
        name: Option<&str>,
        default: usize,
        needed: usize,
        what: &'static str,
    ) -> Result<usize> {
        let path = || self.path.clone();
        let found = self.header.len();
        match name {
            Some(name) => {
                self.header.iter().position(|h| h == name).ok_or_else(|| Error::UnknownColumn {
                    path: path(),
                    name: name.to_owned(),
                    header: self.header.iter().collect::<Vec<_>>().join(", "),
                })
            }
            None if found < needed => {
                Err(Error::TooFewColumns { path: path(), found, needed, what })
            }
            None => Ok(default),
        }
    }

    /// The number in a field; none when it is marked missing.
    pub fn value(&self, text: &str, missing: &[String]) -> Result<Option<f64>> {
        if missing.iter().any(|mark| mark == text) {
            return Ok(None);
        }
        let (path, line) = (self.path.clone(), self.line);
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                // A mark like 99 also covers 99.0.
                let marked = missing.iter().any(|m| m.parse::<f64>().is_ok_and(|m| m == value));
                Ok((!marked).then_some(value))
            }
            Ok(_) => Err(Error::NotFinite { path, line, text: text.to_owned() }),
            Err(_) => Err(Error::NotANumber { path, line, text: text.to_owned() }),
        }
    }

    /// The entries, if there are any.
    fn checked(&self, entries: EntryList) -> Result<EntryList> {
        let path = || self.path.clone();
        match (entries.is_empty(), self.records) {
            (false, _) => Ok(entries),
            (true, 0) => Err(Error::HeaderOnly { path: path() }),
            (true, _) => Err(Error::AllMissing { path: path() }),
        }
    }

    fn malformed(&self, error: &csv::Error) -> Error {
        let line = error.position().map_or(self.line + 1, csv::Position::line);
        let path = self.path.clone();
        let reason = match error.kind() {
            csv::ErrorKind::Io(error) => return Error::reading(&self.path, error),
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("{len} field(s) where the lines above have {expected_len}")
            }
            csv::ErrorKind::Utf8 { .. } => "the text is not valid UTF-8".to_owned(),
            _ => error.to_string(),
        };
        Error::Line { path, line, reason }
    }
}

fn skip_byte_order_mark(input: &mut impl BufRead) -> io::Result<()> {
    let mark = [0xEF, 0xBB, 0xBF];
    if input.fill_buf()?.starts_with(&mark) {
        input.consume(mark.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn file(text: &[u8], suffix: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
        file.write_all(text).unwrap();
        file
    }

    fn read(text: &[u8], format: &TableFormat) -> Result<(Vec<Entry>, Labels, Labels)> {
        let file = file(text, ".csv");
        let (mut rows, mut columns) = (Labels::default(), Labels::default());
        let source = Source::new(file.path());
        let entries = read_entries(&source, format, &mut rows, &mut columns)?;
        Ok((entries.iter().collect(), rows, columns))
    }

    fn sentence(text: &[u8], format: &TableFormat) -> String {
        read(text, format).unwrap_err().to_string()
    }

    #[test]
    fn a_messy_file_is_read_as_meant() {
        let text = "\u{feff}user , \"item\",rating,when\r\nanna,\"Am\u{e9}lie, 2001\",4.5,1\r\n\r\n bert , x ,-1e0,2\r\n";
        let (entries, rows, columns) = read(text.as_bytes(), &TableFormat::default()).unwrap();
        assert!(rows.names().eq(["anna", "bert"]));
        assert!(columns.names().eq(["Am\u{e9}lie, 2001", "x"]));
        assert_eq!(entries[1], Entry { row: 1, column: 1, value: -1.0 });
    }

    #[test]
    fn columns_are_found_by_name() {
        let format = TableFormat {
            row: Some("who".into()),
            column: Some("what".into()),
            value: Some("score".into()),
            ..TableFormat::default()
        };
        let (entries, rows, _) = read(b"score,x,what,who\n3,9,a,b\n", &format).unwrap();
        assert_eq!((entries[0].value, rows.name(0)), (3.0, "b"));
        let message = sentence(b"score,x,what,whom\n3,9,a,b\n", &format);
        assert!(message.contains("no column 'who'") && message.contains("whom"), "{message}");
    }

    #[test]
    fn a_file_without_a_header_loses_no_line() {
        let (entries, ..) = read(b"1,1,4\n1,2,3\n", &TableFormat::default()).unwrap();
        assert_eq!(entries.len(), 2);
    }

    #[test]
    fn wide_form_reads_jester_style_lines() {
        let format =
            TableFormat { wide: true, missing: vec!["99".into()], ..TableFormat::default() };
        let (entries, rows, columns) = read(b"1.5,99,NA\n99.0,-2,\n", &format).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!((rows.len(), columns.len()), (2, 3));
        assert_eq!(entries[1], Entry { row: 1, column: 1, value: -2.0 });
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let plain = TableFormat::default();
        assert!(sentence(b"", &plain).contains("empty"));
        assert!(sentence(b"r,c,v\n", &plain).contains("no entries"));
        assert!(sentence(b"r,c\na,b\n", &plain).contains("2 column(s) found"));
        let text = sentence(b"r,c,v\na,b,1\na,c,good\n", &plain);
        assert!(text.contains("line 3") && text.contains("'good'"), "{text}");
        assert!(sentence(b"r,c,v\na,b,NaN\n", &plain).contains("not finite"));
        assert!(sentence(b"r,c,v\na,b,1e999\n", &plain).contains("not finite"));
        assert!(sentence(b"r,c,v\na,b,1\na,b\n", &plain).contains("line 3"));
        assert!(sentence(b"r,c,v\na,\xff,1\n", &plain).contains("UTF-8"));
        let missing = Source::new(Path::new("/no/such/file.csv"));
        let (mut rows, mut columns) = (Labels::default(), Labels::default());
        let error = read_entries(&missing, &plain, &mut rows, &mut columns).unwrap_err();
        assert!(error.to_string().contains("no such file"));
    }

    #[test]
    fn marks_of_missing_values_are_skipped() {
        let format = TableFormat { missing: vec!["NA".into()], ..TableFormat::default() };
        let (entries, ..) = read(b"r,c,v\na,b,NA\na,c,2\n", &format).unwrap();
        assert_eq!(entries.len(), 1);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..400), wide in any::<bool>()
        ) {
            let format = TableFormat { wide, ..TableFormat::default() };
            if let Ok((entries, rows, columns)) = read(&bytes, &format) {
                for entry in entries {
                    prop_assert!(entry.value.is_finite());
                    prop_assert!(entry.row < rows.len() && entry.column < columns.len());
                }
            }
        }
    }
}
