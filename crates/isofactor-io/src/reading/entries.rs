//! The door for entries and pairs: from a source and what is said about it to numbers.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicU64},
};

use isofactor::EntryList;

use crate::{
    error::{Error, Result},
    labels::Labels,
    reading::{
        arrow_file::ArrowBatches,
        batches::Batches,
        cells::Collector,
        delimited::Delimited,
        format::{FileKind, TableFormat},
        matrix_market,
        monitor::{Meter, ReadMonitor, Silent},
        npy, npz,
        parquet_file::ParquetParts,
        source::Source,
        tabular::{self, Form, Records},
    },
};

/// Reads entries, numbering names as they occur.
pub fn read_entries(
    source: &Source,
    format: &TableFormat,
    rows: &mut Labels,
    columns: &mut Labels,
) -> Result<EntryList> {
    read_entries_watched(source, format, rows, columns, &mut Silent)
}

/// Reads entries as [`read_entries`] does, and tells a monitor how it goes.
///
/// Memory is that of the entries and names and of one block of the file; what a file claims about
/// itself does not count.
pub fn read_entries_watched(
    source: &Source,
    format: &TableFormat,
    rows: &mut Labels,
    columns: &mut Labels,
    monitor: &mut dyn ReadMonitor,
) -> Result<EntryList> {
    let kind = FileKind::of(source, format)?;
    let form = if format.wide { Form::Wide } else { Form::Long };
    let labels = (rows, columns);
    match kind {
        FileKind::Csv | FileKind::Tsv | FileKind::Parquet | FileKind::Arrow => {
            with_table(source, kind, (format, form), monitor, EntriesOf { format, labels })
        }
        FileKind::MatrixMarket => {
            let input = source.open_text()?;
            let mut meter = Meter::new(monitor, input.read.clone(), input.length);
            let mut into = Collector::new(source, format, labels, &mut meter)?;
            matrix_market::read(source, input.bytes, &mut into)?;
            into.finish(source)
        }
        FileKind::Npy => {
            let input = source.open()?;
            let mut meter = Meter::new(monitor, input.read.clone(), input.length);
            let mut into = Collector::new(source, format, labels, &mut meter)?;
            let bytes = std::io::BufReader::with_capacity(1 << 16, input.bytes);
            npy::read(source, bytes, &mut into)?;
            into.finish(source)
        }
        FileKind::Npz => {
            let read = Arc::new(AtomicU64::new(0));
            let mut meter = Meter::new(monitor, read.clone(), length(source));
            let mut into = Collector::new(source, format, labels, &mut meter)?;
            npz::read(source, format.value.as_deref(), &read, &mut into)?;
            into.finish(source)
        }
    }
}

fn length(source: &Source) -> Option<u64> {
    match source {
        Source::File(path) => Path::metadata(path).ok().map(|m| m.len()),
        Source::StandardInput => None,
    }
}

/// Pairs of names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pairs {
    rows: Labels,
    columns: Labels,
    pairs: Vec<(u32, u32)>,
}

impl Pairs {
    /// Row and column of each pair, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        let name = |&(row, column): &(u32, u32)| {
            (self.rows.name(row as usize), self.columns.name(column as usize))
        };
        self.pairs.iter().map(name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

/// Reads pairs of names: the columns that are named, those called row and column, or the first two.
pub fn read_pairs(source: &Source, format: &TableFormat) -> Result<Pairs> {
    read_pairs_watched(source, format, &mut Silent)
}

/// Reads pairs as [`read_pairs`] does, and tells a monitor how it goes.
pub fn read_pairs_watched(
    source: &Source,
    format: &TableFormat,
    monitor: &mut dyn ReadMonitor,
) -> Result<Pairs> {
    match FileKind::of(source, format)? {
        kind @ (FileKind::Csv | FileKind::Tsv | FileKind::Parquet | FileKind::Arrow) => {
            with_table(source, kind, (format, Form::Pairs), monitor, PairsOf(format))
        }
        kind => Err(Error::Unsupported {
            path: source.name(),
            reason: format!(
                "a file of the kind {kind} has no names to make pairs of; give CSV, TSV, Parquet or \
                 Arrow with a column of rows and one of columns"
            ),
        }),
    }
}

/// Something to be done with the records of any format.
trait Use {
    type Result;
    fn run<R: Records>(self, records: &mut R, meter: &mut Meter<'_>) -> Result<Self::Result>;
}

struct EntriesOf<'a> {
    format: &'a TableFormat,
    labels: (&'a mut Labels, &'a mut Labels),
}

impl Use for EntriesOf<'_> {
    type Result = EntryList;

    fn run<R: Records>(self, records: &mut R, meter: &mut Meter<'_>) -> Result<EntryList> {
        tabular::entries(records, self.format, self.labels, meter)
    }
}

struct PairsOf<'a>(&'a TableFormat);

impl Use for PairsOf<'_> {
    type Result = Pairs;

    fn run<R: Records>(self, records: &mut R, meter: &mut Meter<'_>) -> Result<Pairs> {
        let mut found = Pairs::default();
        let labels = (&mut found.rows, &mut found.columns);
        found.pairs = tabular::pairs(records, self.0, labels, meter)?;
        Ok(found)
    }
}

/// Opens a table of any format and does something with its records.
fn with_table<U: Use>(
    source: &Source,
    kind: FileKind,
    (format, form): (&TableFormat, Form),
    monitor: &mut dyn ReadMonitor,
    action: U,
) -> Result<U::Result> {
    match kind {
        FileKind::Parquet => {
            let parts = ParquetParts::open(source)?;
            let (read, total) = parts.progress();
            let mut meter = Meter::new(monitor, read, Some(total));
            action.run(&mut Batches::new(parts, format, form), &mut meter)
        }
        FileKind::Arrow => {
            let batches = ArrowBatches::open(source)?;
            let (read, total) = batches.progress();
            let mut meter = Meter::new(monitor, read, total);
            action.run(&mut Batches::new(batches, format, form), &mut meter)
        }
        _ => {
            let input = source.open_text()?;
            let (read, length) = (input.read.clone(), input.length);
            let (mut records, note) =
                Delimited::open(source.name(), input.bytes, delimiter_of(kind), format, form)?;
            if let Some(note) = note {
                monitor.note(&note);
            }
            action.run(&mut records, &mut Meter::new(monitor, read, length))
        }
    }
}

/// What the ending says about the delimiter.
fn delimiter_of(kind: FileKind) -> Option<u8> {
    (kind == FileKind::Tsv).then_some(b'\t')
}

/// Opens a text that holds something else than entries.
pub(crate) fn open_text_table(
    source: &Source,
    format: &TableFormat,
    form: Form,
) -> Result<Delimited<Box<dyn std::io::Read>>> {
    let delimiter = delimiter_of(FileKind::of(source, format)?);
    let bytes = source.open_text()?.bytes;
    Ok(Delimited::open(source.name(), bytes, delimiter, format, form)?.0)
}
