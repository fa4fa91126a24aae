//! Parquet: one file, or a folder of parts as Spark writes it.

use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{
            ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
            ParquetRecordBatchReaderBuilder,
        },
    },
    errors::{ParquetError, Result as ParquetResult},
    file::{
        metadata::{ParquetMetaData, RowGroupMetaData},
        reader::{ChunkReader, Length},
    },
};

use crate::{
    error::{Error, Result},
    reading::{
        batches::{BatchSource, pandas_index, unreadable},
        columns::is_readable,
        decoded_limit,
        guard::guarded,
        parquet_pages::page_sizes,
        places::Header,
        source::{Source, open_file},
    },
};

/// Fields that are unpacked together, of all columns.
const FIELDS: usize = 1 << 17;
/// A group has no more rows than this for each byte it takes in the file, beside the first few:
/// runs of equal values take next to nothing, but a matrix is not made of nothing else.
const ROWS_PER_BYTE: u64 = 1 << 13;

/// Batches of one Parquet file or of several with the same columns.
pub(crate) struct ParquetParts {
    header: Header,
    schema: Arc<Schema>,
    parts: std::vec::IntoIter<PathBuf>,
    part: Part,
    reader: Option<ParquetRecordBatchReader>,
    projected: Vec<usize>,
    read: Arc<AtomicU64>,
    total: u64,
}

impl ParquetParts {
    /// Opens the file or the first part.
    pub fn open(source: &Source) -> Result<Self> {
        let Source::File(path) = source else {
            let reason = "Parquet cannot be read from a pipe, for its contents are listed at its \
                          end; give the name of a file";
            return Err(Error::Unsupported { path: source.name(), reason: reason.to_owned() });
        };
        let parts = parts(path)?;
        let total = parts.iter().filter_map(|part| part.metadata().ok()).map(|m| m.len()).sum();
        let mut parts = parts.into_iter();
        let first = parts.next().ok_or_else(|| Error::Unsupported {
            path: path.clone(),
            reason: "there is no Parquet file in the folder".to_owned(),
        })?;
        let read = Arc::new(AtomicU64::new(0));
        let part = Part::open(first, &read)?;
        let schema = part.metadata.schema().clone();
        let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
        let notes = part.metadata.metadata().file_metadata().key_value_metadata();
        let note = notes.and_then(|all| all.iter().find(|note| note.key == "pandas"));
        let index = pandas_index(note.and_then(|note| note.value.as_deref()), &names);
        let header = Header { path: path.clone(), names, index };
        let projected = (0..header.names.len()).collect();
        Ok(Self { header, schema, parts, part, reader: None, projected, read, total })
    }

    /// Bytes read, and how many there are in all.
    pub fn progress(&self) -> (Arc<AtomicU64>, u64) {
        (self.read.clone(), self.total)
    }
}

impl BatchSource for ParquetParts {
    fn header(&self) -> &Header {
        &self.header
    }

    fn project(&mut self, columns: &[usize]) -> Result<()> {
        for &column in columns {
            let field = self.schema.field(column);
            if !is_readable(field.data_type()) {
                return Err(unreadable(&self.header, column, &field.data_type().to_string()));
            }
        }
        self.projected = columns.to_vec();
        self.reader = Some(self.part.reader(columns)?);
        Ok(())
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let next = guarded(|| self.reader.as_mut().and_then(Iterator::next));
            match next.map_err(|reason| damaged(&self.part.path, &reason))? {
                Some(Ok(batch)) => return Ok(Some(batch)),
                Some(Err(error)) => return Err(damaged(&self.part.path, &error.to_string())),
                None => self.reader = None,
            }
            let Some(path) = self.parts.next() else { return Ok(None) };
            self.part = Part::open(path, &self.read)?;
            let schema = self.part.metadata.schema();
            let columns = |s: &Schema| -> Vec<(String, DataType)> {
                s.fields().iter().map(|f| (f.name().clone(), f.data_type().clone())).collect()
            };
            if columns(schema) != columns(&self.schema) {
                let reason = "its columns are not those of the other files in the folder; all \
                              must have the same names and types in the same order";
                let path = self.part.path.clone();
                return Err(Error::Unsupported { path, reason: reason.to_owned() });
            }
            self.reader = Some(self.part.reader(&self.projected)?);
        }
    }

    fn path(&self) -> &Path {
        &self.part.path
    }
}

/// The files of a folder in the order of their names, without hidden ones and those that begin with
/// an underscore, as `_SUCCESS`; or the file itself.
fn parts(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |e: std::io::Error| Error::reading(path, &e);
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let part = entry.map_err(unreadable)?.path();
        let name = part.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let parquet = [".parquet", ".pq"].iter().any(|end| name.to_lowercase().ends_with(end));
        if parquet && part.is_file() && !name.starts_with(['.', '_']) {
            parts.push(part);
        }
    }
    parts.sort();
    Ok(parts)
}

/// One file whose list of contents has been read.
struct Part {
    path: PathBuf,
    bytes: Chunks,
    metadata: ArrowReaderMetadata,
}

impl Part {
    fn open(path: PathBuf, read: &Arc<AtomicU64>) -> Result<Self> {
        let file = open_file(&path)?;
        let length = file.metadata().map_err(|e| Error::reading(&path, &e))?.len();
        let bytes = Chunks { file: Arc::new(file), length, read: read.clone() };
        let metadata = match guarded(|| contents(&bytes)) {
            Ok(Ok(metadata)) => metadata,
            Ok(Err(error)) => return Err(damaged(&path, &error.to_string())),
            Err(reason) => return Err(damaged(&path, &reason)),
        };
        Ok(Self { path, bytes, metadata })
    }

    /// Reads some columns, after a look at what they claim to unpack to.
    fn reader(&self, columns: &[usize]) -> Result<ParquetRecordBatchReader> {
        let wrong = |reason: String| damaged(&self.path, &reason);
        self.check(columns).map_err(wrong)?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.bytes.clone(),
            self.metadata.clone(),
        );
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        let rows = (FIELDS / columns.len().max(1)).clamp(64, 1 << 13);
        let builder = builder.with_projection(mask).with_batch_size(rows);
        guarded(|| builder.build()).map_err(wrong)?.map_err(|e| wrong(e.to_string()))
    }

    fn check(&self, columns: &[usize]) -> std::result::Result<(), String> {
        let metadata: &ParquetMetaData = self.metadata.metadata();
        for group in metadata.row_groups() {
            self.check_group(group, columns)?;
        }
        Ok(())
    }

    fn check_group(
        &self,
        group: &RowGroupMetaData,
        columns: &[usize],
    ) -> std::result::Result<(), String> {
        let schema = self.metadata.metadata().file_metadata().schema_descr();
        let leaves = (0..schema.num_columns())
            .filter(|&leaf| columns.contains(&schema.get_column_root_idx(leaf)));
        let (mut packed, mut held) = (0_u64, 0_u64);
        for leaf in leaves {
            if leaf >= group.num_columns() {
                return Err("a group of rows lacks a column".to_owned());
            }
            let chunk = group.column(leaf);
            let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
            let (start, length) = match (start, chunk.compressed_size()) {
                (start @ 0.., length @ 0..) => (start as u64, length as u64),
                _ => return Err("a column begins or ends nowhere".to_owned()),
            };
            if start.checked_add(length).is_none_or(|end| end > self.bytes.length) {
                return Err("a column goes on behind the end of the file".to_owned());
            }
            let sizes = page_sizes(&self.bytes.file, start, length)?;
            packed = packed.saturating_add(length);
            held = held.saturating_add(sizes.held);
        }
        if held > decoded_limit(packed) {
            return Err(format!(
                "its pages claim to unpack to {held} bytes at a time, which is not believable for \
                 {packed} bytes; if it is so, write the file with smaller pages"
            ));
        }
        let most = packed.saturating_mul(ROWS_PER_BYTE).saturating_add(1 << 16);
        if u64::try_from(group.num_rows()).map_or(true, |rows| rows > most) {
            let rows = group.num_rows();
            return Err(format!("a group claims {rows} rows in {packed} bytes"));
        }
        Ok(())
    }
}

/// What a file holds, with the types that its columns are to be read as.
fn contents(bytes: &Chunks) -> ParquetResult<ArrowReaderMetadata> {
    // The types are Parquet's own: what Arrow notes beside them would have columns of codes, and is
    // one more thing to distrust.
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::load(bytes, plain.clone())?;
    // Texts stay where they were unpacked: a long one that occurs a thousand times is held once.
    let fields = metadata.schema().fields().iter().map(|field| {
        let kind = match field.data_type() {
            DataType::Utf8 => DataType::Utf8View,
            DataType::Binary => DataType::BinaryView,
            other => other.clone(),
        };
        Field::new(field.name(), kind, field.is_nullable())
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), plain.with_schema(schema))
}

fn damaged(path: &Path, reason: &str) -> Error {
    Error::Damaged { path: path.to_owned(), kind: "Parquet", reason: reason.to_owned() }
}

/// A file that gives out no more than it has, and counts it.
#[derive(Clone)]
struct Chunks {
    file: Arc<File>,
    length: u64,
    read: Arc<AtomicU64>,
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::with_capacity(1 << 10, file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF("it goes on behind the end of the file".to_owned()));
        }
        let mut buffer = vec![0; length];
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut buffer)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(Bytes::from(buffer))
    }
}
