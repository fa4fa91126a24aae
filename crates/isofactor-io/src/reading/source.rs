//! Where a table comes from, as bytes: a file or standard input, unpacked if it is packed, counted
//! for a bar of progress.

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::error::{Error, Result};

/// Where a table comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input, as CSV unless the format says otherwise.
    StandardInput,
    /// A file, recognised by its ending, or a folder of Parquet files.
    File(PathBuf),
}

impl Source {
    /// `-` is standard input.
    pub fn new(path: &Path) -> Self {
        if path == Path::new("-") { Source::StandardInput } else { Source::File(path.to_owned()) }
    }

    pub(crate) fn name(&self) -> PathBuf {
        match self {
            Source::StandardInput => PathBuf::from("standard input"),
            Source::File(path) => path.clone(),
        }
    }

    /// The bytes as they are.
    pub(crate) fn open(&self) -> Result<Input> {
        match self {
            Source::StandardInput => Ok(Input::new(Box::new(io::stdin().lock()), None)),
            Source::File(path) => {
                let file = open_file(path)?;
                let length = file.metadata().ok().filter(|m| m.is_file()).map(|m| m.len());
                Ok(Input::new(Box::new(file), length))
            }
        }
    }

    /// The bytes of a text, unpacked if they are packed.
    pub(crate) fn open_text(&self) -> Result<Input> {
        let Input { bytes, read, length } = self.open()?;
        let bytes = unpacked(bytes).map_err(|e| Error::reading(&self.name(), &e))?;
        Ok(Input { bytes, read, length })
    }
}

/// Opens a file that is no directory.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|e| Error::reading(path, &e))?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        let reason = "it is a directory".to_owned();
        return Err(Error::Unreadable { path: path.to_owned(), reason });
    }
    Ok(file)
}

/// Bytes to read, and how many have been read of how many.
pub(crate) struct Input {
    pub bytes: Box<dyn Read>,
    /// Bytes taken from the file, before they are unpacked.
    pub read: Arc<AtomicU64>,
    /// The length of the file, where it has one.
    pub length: Option<u64>,
}

impl Input {
    pub fn new(bytes: Box<dyn Read>, length: Option<u64>) -> Self {
        let read = Arc::new(AtomicU64::new(0));
        let bytes = Box::new(Counted { bytes, read: read.clone() });
        Self { bytes, read, length }
    }
}

/// A reader that counts.
struct Counted {
    bytes: Box<dyn Read>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Unpacks what begins as gzip or zstd does; several packed parts one after the other are read as
/// one. The memory this takes does not depend on the file: zstd windows beyond 128 MiB are refused.
fn unpacked(mut bytes: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let mut head = Vec::with_capacity(ZSTD.len());
    bytes.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head)?;
    let (gzip, zstd) = (head.starts_with(&GZIP), head.starts_with(&ZSTD));
    let whole = Cursor::new(head).chain(bytes);
    Ok(if gzip {
        let buffered = BufReader::with_capacity(1 << 16, whole);
        Box::new(flate2::bufread::MultiGzDecoder::new(buffered))
    } else if zstd {
        let mut decoder = zstd::stream::read::Decoder::new(whole)?;
        decoder.window_log_max(27)?;
        Box::new(decoder)
    } else {
        Box::new(whole)
    })
}
