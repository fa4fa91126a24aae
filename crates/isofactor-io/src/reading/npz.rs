//! NumPy arrays in one archive (`.npz`): a sparse matrix as SciPy saves it, or one dense array.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use zip::{ZipArchive, read::ZipFile};

use crate::{
    error::{Error, Result},
    reading::{
        cells::{Cell, Collector, finite},
        npy::{Array, damaged},
        source::{Source, open_file},
    },
};

/// An archive, opened anew for each array that is read at the same time.
type Archive = ZipArchive<BufReader<CountedFile>>;
type Member<'a> = Array<BufReader<ZipFile<'a, BufReader<CountedFile>>>>;

/// Why reading failed, in words.
type Words<T> = std::result::Result<T, String>;

/// Gives all cells of the matrix in an archive. `wanted` names the array if there are several.
pub(crate) fn read(
    source: &Source,
    wanted: Option<&str>,
    counter: &Arc<AtomicU64>,
    into: &mut Collector,
) -> Result<()> {
    let Source::File(path) = source else {
        let reason = "an archive cannot be read from a pipe; give the name of a file".to_owned();
        return Err(Error::Unsupported { path: source.name(), reason });
    };
    let mut archive = open(path, counter)?;
    let names: Vec<String> = archive.file_names().flatten().map(Cow::into_owned).collect();
    let has = |name: &str| names.iter().any(|other| other == name);
    if wanted.is_none() && has("format.npy") && has("data.npy") && has("shape.npy") {
        let wrong = |reason| damaged(source, reason);
        let word = member(&mut archive, "format").and_then(Array::word).map_err(wrong)?;
        let shape = shape(&mut archive).map_err(wrong)?;
        return match word.as_str() {
            "csr" | "csc" => compressed(source, path, counter, (shape, word == "csc"), into),
            "coo" => coordinates(source, path, counter, shape, &has, into),
            other => Err(Error::Unsupported {
                path: path.clone(),
                reason: format!(
                    "it is a sparse matrix of the format '{other}'; save it as csr: \
                     scipy.sparse.save_npz(name, matrix.tocsr())"
                ),
            }),
        };
    }
    let name = one_of(path, &names, wanted)?;
    member(&mut archive, &name).map_err(|reason| damaged(source, reason))?.cells(source, into)
}

fn open(path: &Path, counter: &Arc<AtomicU64>) -> Result<Archive> {
    let file = CountedFile { file: open_file(path)?, read: counter.clone() };
    ZipArchive::new(BufReader::new(file)).map_err(|error| Error::Damaged {
        path: path.to_owned(),
        kind: "NumPy",
        reason: error.to_string(),
    })
}

/// An array of the archive.
fn member<'a>(archive: &'a mut Archive, name: &str) -> Words<Member<'a>> {
    let file = archive.by_name(&format!("{name}.npy")).map_err(|e| format!("'{name}': {e}"))?;
    Array::open(BufReader::with_capacity(1 << 16, file)).map_err(|e| format!("'{name}': {e}"))
}

/// The array to read when there may be several.
fn one_of(path: &Path, names: &[String], wanted: Option<&str>) -> Result<String> {
    let mut arrays: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix(".npy")).collect();
    arrays.sort_unstable();
    let list = arrays.join(", ");
    let refused = |reason: String| Err(Error::Unsupported { path: path.to_owned(), reason });
    match (wanted, arrays.as_slice()) {
        (Some(name), all) if all.contains(&name) => Ok(name.to_owned()),
        (Some(name), _) => refused(format!("there is no array '{name}'; there are: {list}")),
        (None, &[one]) => Ok(one.to_owned()),
        (None, []) => refused("there is no array in it".to_owned()),
        (None, _) => refused(format!("which array? Name one of them with --value: {list}")),
    }
}

fn shape(archive: &mut Archive) -> Words<(u64, u64)> {
    let mut array = member(archive, "shape")?;
    match (array.index()?, array.index()?, array.index()?) {
        (Some(rows), Some(columns), None) => Ok((rows, columns)),
        _ => Err("the shape should be two numbers".to_owned()),
    }
}

/// Rows one after the other (csr), or columns (csc).
fn compressed(
    source: &Source,
    path: &Path,
    counter: &Arc<AtomicU64>,
    ((rows, columns), by_column): ((u64, u64), bool),
    into: &mut Collector,
) -> Result<()> {
    let elsewhere = Arc::new(AtomicU64::new(0));
    let mut archives = [open(path, &elsewhere)?, open(path, &elsewhere)?, open(path, counter)?];
    let [starts, indices, data] = &mut archives;
    let wrong = |reason| damaged(source, reason);
    let (outer, inner) = if by_column { (columns, rows) } else { (rows, columns) };
    let mut starts = member(starts, "indptr").map_err(wrong)?;
    let mut indices = member(indices, "indices").map_err(wrong)?;
    let mut data = member(data, "data").map_err(wrong)?;
    let mut start = some(starts.index()).map_err(wrong)?;
    for i in 0..outer {
        let end = some(starts.index()).map_err(wrong)?;
        if end < start {
            return Err(wrong("'indptr' must not decrease".to_owned()));
        }
        for _ in start..end {
            let j = some(indices.index()).and_then(|j| inside(j, inner)).map_err(wrong)?;
            let value = some(data.number()).map_err(wrong)?;
            let (row, column) = if by_column { (j, i) } else { (i, j) };
            into.take(finite(source, Cell { row, column, value })?);
        }
        start = end;
    }
    Ok(())
}

/// Row, column and value of each entry, in three arrays.
fn coordinates(
    source: &Source,
    path: &Path,
    counter: &Arc<AtomicU64>,
    (rows, columns): (u64, u64),
    has: &dyn Fn(&str) -> bool,
    into: &mut Collector,
) -> Result<()> {
    if !has("row.npy") || !has("col.npy") {
        let reason = "it is a sparse array of another layout than row, col and data; save it as \
                      csr: scipy.sparse.save_npz(name, matrix.tocsr())";
        return Err(Error::Unsupported { path: path.to_owned(), reason: reason.to_owned() });
    }
    let elsewhere = Arc::new(AtomicU64::new(0));
    let mut archives = [open(path, &elsewhere)?, open(path, &elsewhere)?, open(path, counter)?];
    let [row, column, data] = &mut archives;
    let wrong = |reason| damaged(source, reason);
    let mut row = member(row, "row").map_err(wrong)?;
    let mut column = member(column, "col").map_err(wrong)?;
    let mut data = member(data, "data").map_err(wrong)?;
    while let Some(value) = data.number().map_err(wrong)? {
        let row = some(row.index()).and_then(|i| inside(i, rows)).map_err(wrong)?;
        let column = some(column.index()).and_then(|j| inside(j, columns)).map_err(wrong)?;
        into.take(finite(source, Cell { row, column, value })?);
    }
    Ok(())
}

fn some<T>(found: Words<Option<T>>) -> Words<T> {
    found?.ok_or_else(|| "one of its arrays is too short".to_owned())
}

fn inside(index: u64, size: u64) -> Words<u64> {
    if index < size {
        Ok(index)
    } else {
        Err(format!("a row or column has the number {index}, beyond the {size} there are"))
    }
}

/// A file that counts what is read from it.
struct CountedFile {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for CountedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
