//! Tables out, line by line: CSV, TSV or Parquet, never held as a whole.

use std::{
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use arrow_array::{
    ArrayRef, RecordBatch,
    builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder},
};
use arrow_schema::{DataType, Schema};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
    schema::types::ColumnPath,
};

use crate::error::{Error, Result};

/// Cells of Parquet that are held before they are written.
const HELD_CELLS: usize = 1 << 18;
/// Cells of a group of lines, of which Parquet keeps an account of its own.
const GROUP_CELLS: usize = 1 << 22;
/// Up to so many columns Parquet is compressed well, above it with little memory.
const FEW_COLUMNS: usize = 64;
/// Endings that name another format than the three; anything else is CSV.
const OTHER_FORMATS: [&str; 10] =
    ["arrow", "feather", "ipc", "json", "jsonl", "mtx", "npy", "npz", "xls", "xlsx"];

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// Separated by commas.
    Csv,
    /// Separated by tabs.
    Tsv,
    /// Parquet, compressed.
    Parquet,
}

impl TableKind {
    /// By the ending of a path: `.tsv`, `.parquet`, or else CSV.
    pub fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("tsv") => Ok(TableKind::Tsv),
            Some("parquet") => Ok(TableKind::Parquet),
            Some(ending) if OTHER_FORMATS.contains(&ending) => {
                Err(Error::NoSuchTable { path: path.to_owned(), ending: ending.to_owned() })
            }
            _ => Ok(TableKind::Csv),
        }
    }
}

/// A column of a table: its name, and what its cells are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    name: String,
    kind: DataType,
}

impl Field {
    /// Cells are texts.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: DataType::Utf8 }
    }

    /// Cells are numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: DataType::Float64 }
    }

    /// Cells are whole numbers.
    pub fn whole(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: DataType::Int64 }
    }

    /// Cells are true or false.
    pub fn flag(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: DataType::Boolean }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A cell of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// A text.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(usize),
    /// True or false.
    Flag(bool),
}

/// Writes a table line by line.
pub struct TableWriter<'a> {
    form: Form<'a>,
}

enum Form<'a> {
    Delimited { out: Box<csv::Writer<&'a mut (dyn Write + Send)>>, text: String },
    Parquet(Box<Columns<'a>>),
}

impl<'a> TableWriter<'a> {
    /// Begins a table with these columns.
    pub fn new(
        out: &'a mut (dyn Write + Send),
        kind: TableKind,
        fields: Vec<Field>,
    ) -> io::Result<Self> {
        let delimiter = match kind {
            TableKind::Csv => b',',
            TableKind::Tsv => b'\t',
            TableKind::Parquet => {
                return Ok(Self { form: Form::Parquet(Box::new(Columns::new(out, fields)?)) });
            }
        };
        let mut out = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        out.write_record(fields.iter().map(|field| &field.name)).map_err(plain)?;
        Ok(Self { form: Form::Delimited { out: Box::new(out), text: String::new() } })
    }

    /// Writes a line: a cell for each column, of its kind.
    pub fn line<'b>(&mut self, cells: impl IntoIterator<Item = Cell<'b>>) -> io::Result<()> {
        match &mut self.form {
            Form::Delimited { out, text } => {
                for cell in cells {
                    out.write_field(written(cell, text)).map_err(plain)?;
                }
                out.write_record(None::<&[u8]>).map_err(plain)
            }
            Form::Parquet(columns) => columns.line(cells),
        }
    }

    /// Writes what is left.
    pub fn finish(self) -> io::Result<()> {
        match self.form {
            Form::Delimited { mut out, .. } => out.flush(),
            Form::Parquet(columns) => columns.finish(),
        }
    }
}

/// A cell as text. Numbers have all the digits it takes to read the same number back.
fn written<'a>(cell: Cell<'a>, text: &'a mut String) -> &'a str {
    use std::fmt::Write;
    text.clear();
    let written = match cell {
        Cell::Text(text) => return text,
        Cell::Number(number) => {
            let size = number.abs();
            let plain = size == 0.0 || (1e-5..1e16).contains(&size) || !size.is_finite();
            if plain { write!(text, "{number}") } else { write!(text, "{number:e}") }
        }
        Cell::Whole(number) => write!(text, "{number}"),
        Cell::Flag(flag) => write!(text, "{flag}"),
    };
    debug_assert!(written.is_ok(), "a string takes everything");
    text
}

/// The columns of Parquet, filled until they are worth writing.
struct Columns<'a> {
    out: ArrowWriter<&'a mut (dyn Write + Send)>,
    schema: Arc<Schema>,
    columns: Vec<Column>,
    lines: usize,
    most_lines: usize,
}

enum Column {
    Text(StringBuilder),
    Number(Float64Builder),
    Whole(Int64Builder),
    Flag(BooleanBuilder),
}

impl<'a> Columns<'a> {
    fn new(out: &'a mut (dyn Write + Send), fields: Vec<Field>) -> io::Result<Self> {
        let lines = |cells: usize| (cells / fields.len().max(1)).max(1);
        let (most_lines, group) = (lines(HELD_CELLS), lines(GROUP_CELLS));
        let mut properties = WriterProperties::builder()
            .set_compression(compression(fields.len()))
            // Numbers are nearly all different; names are not.
            .set_dictionary_enabled(false)
            .set_max_row_group_row_count(Some(group));
        for field in fields.iter().filter(|field| field.kind == DataType::Utf8) {
            let column = ColumnPath::from(field.name.clone());
            properties = properties.set_column_dictionary_enabled(column, true);
        }
        let properties = properties.build();
        let columns = fields.iter().map(|field| Column::new(&field.kind)).collect();
        let schema: Vec<arrow_schema::Field> = fields
            .into_iter()
            .map(|field| arrow_schema::Field::new(field.name, field.kind, false))
            .collect();
        let schema = Arc::new(Schema::new(schema));
        let out = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(unwrapped)?;
        Ok(Self { out, schema, columns, lines: 0, most_lines })
    }

    fn line<'b>(&mut self, cells: impl IntoIterator<Item = Cell<'b>>) -> io::Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell)?;
        }
        self.lines += 1;
        if self.lines == self.most_lines { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.lines = 0;
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().map(Column::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(io::Error::other)?;
        self.out.write(&batch).map_err(unwrapped)
    }

    fn finish(mut self) -> io::Result<()> {
        if self.lines > 0 {
            self.write()?;
        }
        self.out.close().map(|_| ()).map_err(unwrapped)
    }
}

/// A compressor of the better kind takes a tenth of a mebibyte, and every column has one.
fn compression(columns: usize) -> Compression {
    if columns <= FEW_COLUMNS {
        Compression::ZSTD(ZstdLevel::default())
    } else {
        Compression::SNAPPY
    }
}

impl Column {
    fn new(kind: &DataType) -> Self {
        match kind {
            DataType::Float64 => Column::Number(Float64Builder::new()),
            DataType::Int64 => Column::Whole(Int64Builder::new()),
            DataType::Boolean => Column::Flag(BooleanBuilder::new()),
            _ => Column::Text(StringBuilder::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) -> io::Result<()> {
        match (self, cell) {
            (Column::Text(column), Cell::Text(text)) => column.append_value(text),
            (Column::Number(column), Cell::Number(number)) => column.append_value(number),
            (Column::Whole(column), Cell::Whole(number)) => {
                column.append_value(i64::try_from(number).unwrap_or(i64::MAX));
            }
            (Column::Flag(column), Cell::Flag(flag)) => column.append_value(flag),
            _ => return Err(io::Error::other("a cell is not of the kind of its column")),
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Column::Text(column) => Arc::new(column.finish()),
            Column::Number(column) => Arc::new(column.finish()),
            Column::Whole(column) => Arc::new(column.finish()),
            Column::Flag(column) => Arc::new(column.finish()),
        }
    }
}

/// The error of the stream itself, so that a closed pipe can be told from a full disk.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// The same for Parquet.
fn unwrapped(error: parquet::errors::ParquetError) -> io::Error {
    match error {
        parquet::errors::ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Array, cast::AsArray, types::Float64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    fn written_as(kind: TableKind, lines: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let fields =
            vec![Field::text("name"), Field::number("x"), Field::whole("n"), Field::flag("odd")];
        let mut table = TableWriter::new(&mut bytes, kind, fields).unwrap();
        for i in 0..lines {
            let name = format!("a,\t\"{i}");
            let x = 0.1 * i as f64;
            let cells =
                [Cell::Text(&name), Cell::Number(x), Cell::Whole(i), Cell::Flag(i % 2 == 1)];
            table.line(cells).unwrap();
        }
        table.finish().unwrap();
        bytes
    }

    #[test]
    fn delimited_text_is_quoted_where_it_must_be() {
        let text = |kind| String::from_utf8(written_as(kind, 2)).unwrap();
        let csv = "name,x,n,odd\n\"a,\t\"\"0\",0,0,false\n\"a,\t\"\"1\",0.1,1,true\n";
        assert_eq!(text(TableKind::Csv), csv);
        assert!(text(TableKind::Tsv).starts_with("name\tx\tn\todd\n\"a,\t\"\"0\"\t0\t0\tfalse\n"));
    }

    #[test]
    fn parquet_is_read_back_as_it_was_written_however_long() {
        for lines in [0, 1, 70_000] {
            let bytes = written_as(TableKind::Parquet, lines);
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
            let mut seen = 0;
            for batch in reader {
                let batch = batch.unwrap();
                let x = batch.column_by_name("x").unwrap().as_primitive::<Float64Type>();
                let names = batch.column_by_name("name").unwrap().as_string::<i32>();
                for i in 0..batch.num_rows() {
                    assert_eq!(x.value(i), 0.1 * (seen + i) as f64);
                    assert_eq!(names.value(i), format!("a,\t\"{}", seen + i));
                }
                assert!(batch.columns().iter().all(|column| column.null_count() == 0));
                seen += batch.num_rows();
            }
            assert_eq!(seen, lines);
        }
    }

    #[test]
    fn a_wide_table_is_read_back_too() {
        let mut bytes = Vec::new();
        let fields = (0..300).map(|i| Field::number(format!("x.{i}"))).collect();
        let mut table = TableWriter::new(&mut bytes, TableKind::Parquet, fields).unwrap();
        for line in 0..2000 {
            table.line((0..300).map(|i| Cell::Number(f64::from(line * 300 + i)))).unwrap();
        }
        table.finish().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let mut next = 0.0;
        for batch in reader.map(|batch| batch.unwrap()) {
            for line in 0..batch.num_rows() {
                for column in batch.columns() {
                    assert_eq!(column.as_primitive::<Float64Type>().value(line), next);
                    next += 1.0;
                }
            }
        }
        assert_eq!(next, 600_000.0);
    }

    #[test]
    fn numbers_are_read_back_to_the_last_bit() {
        let numbers = [0.1, -0.0, 1e300, -4.9e-324, 1.0 / 3.0, 123_456_789.125, f64::MAX];
        for number in numbers {
            let mut text = String::new();
            let read: f64 = written(Cell::Number(number), &mut text).parse().unwrap();
            assert_eq!(read.to_bits(), number.to_bits());
        }
    }

    #[test]
    fn an_ending_that_names_another_format_is_refused() {
        let kind = |path: &str| TableKind::of(Path::new(path));
        assert_eq!(kind("a/b.parquet").unwrap(), TableKind::Parquet);
        assert_eq!(kind("b.TSV").unwrap(), TableKind::Tsv);
        assert_eq!(kind("b").unwrap(), TableKind::Csv);
        assert!(kind("b.npz").unwrap_err().to_string().contains(".parquet, not as .npz"));
    }
}
