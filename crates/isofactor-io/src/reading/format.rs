//! How a table is to be read: what the user says about it, and what its name says.

use std::{fmt, path::Path, str::FromStr};

use crate::{
    error::{Error, Result},
    reading::source::{Source, open_file},
};

/// How a table is to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableFormat {
    /// The column that names rows; the first by default in long form, none in wide form.
    pub row: Option<String>,
    /// The column that names columns; the second by default.
    pub column: Option<String>,
    /// The column of values; the third by default. Of an .npz file, the array.
    pub value: Option<String>,
    /// Whether each line is a row of the matrix, with one field a column.
    pub wide: bool,
    /// Values that mark a missing entry, beside none for long and `""` and `NA` for wide form.
    pub missing: Vec<String>,
    /// Columns to leave out in wide form: names, or numbers from 1.
    pub skip: Vec<String>,
    /// Whether the first line of a text is a header.
    pub header: HeaderRule,
    /// What separates the fields of a text; found out by default.
    pub delimiter: Option<u8>,
    /// Whether numbers in a text are written with a comma, as in `3,5`.
    pub decimal_comma: bool,
    /// What kind of file it is; by its ending by default.
    pub kind: Option<FileKind>,
}

/// Whether the first line of a text is a header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HeaderRule {
    /// It is, unless it looks like the other lines: its value is a number.
    #[default]
    Auto,
    /// It is.
    Yes,
    /// It is not.
    No,
}

impl FromStr for HeaderRule {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "auto" => Ok(HeaderRule::Auto),
            "yes" => Ok(HeaderRule::Yes),
            "no" => Ok(HeaderRule::No),
            _ => Err("yes, no or auto is needed".to_owned()),
        }
    }
}

/// The byte that a word for a delimiter stands for: itself, or `tab`.
pub fn parse_delimiter(text: &str) -> std::result::Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" | b"\t" => Ok(b'\t'),
        [byte] if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'.' | b'-' | b'+') => {
            if byte.is_ascii_alphanumeric() {
                return Err("a letter or digit cannot separate fields".to_owned());
            }
            Ok(*byte)
        }
        b" " => Err("fields separated by spaces cannot be read: use commas or tabs".to_owned()),
        _ => Err("one character such as ';' or the word tab is needed".to_owned()),
    }
}

/// The kinds of files that hold entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Text separated by commas (or what `--delimiter` says).
    Csv,
    /// Text separated by tabs.
    Tsv,
    /// Parquet, one file or a folder of parts.
    Parquet,
    /// Arrow IPC: the file form, which is Feather version 2, or the stream form.
    Arrow,
    /// Matrix Market.
    MatrixMarket,
    /// One NumPy array.
    Npy,
    /// NumPy arrays in one file: a sparse matrix of SciPy, or one array.
    Npz,
}

impl FileKind {
    /// Endings and words for each kind; the first of each is its name.
    const ENDINGS: [(FileKind, &'static [&'static str]); 7] = [
        (FileKind::Csv, &["csv", "txt"]),
        (FileKind::Tsv, &["tsv", "tab"]),
        (FileKind::Parquet, &["parquet", "pq"]),
        (FileKind::Arrow, &["arrow", "feather", "ipc", "arrows"]),
        (FileKind::MatrixMarket, &["mtx"]),
        (FileKind::Npy, &["npy"]),
        (FileKind::Npz, &["npz"]),
    ];

    fn of_ending(ending: &str) -> Option<Self> {
        let ending = ending.to_ascii_lowercase();
        Self::ENDINGS.iter().find(|(_, all)| all.contains(&&*ending)).map(|(kind, _)| *kind)
    }

    fn is_text(self) -> bool {
        matches!(self, FileKind::Csv | FileKind::Tsv | FileKind::MatrixMarket)
    }

    /// The endings that are known, for a sentence.
    pub(crate) fn known() -> String {
        let all = Self::ENDINGS.iter().flat_map(|(_, endings)| endings.iter());
        let list: Vec<String> = all.map(|ending| format!(".{ending}")).collect();
        format!("{} (texts also with .gz or .zst)", list.join(", "))
    }

    /// What the user says, what the name says, or, for names that say nothing, how the file begins.
    pub(crate) fn of(source: &Source, format: &TableFormat) -> Result<Self> {
        if let Some(kind) = format.kind {
            return Ok(kind);
        }
        let Source::File(path) = source else { return Ok(FileKind::Csv) };
        let lower = path.to_string_lossy().to_lowercase();
        let packed = [".gz", ".zst", ".zstd"].iter().find_map(|end| lower.strip_suffix(end));
        let kind = Path::new(packed.unwrap_or(&lower))
            .extension()
            .and_then(|ending| Self::of_ending(&ending.to_string_lossy()));
        match (kind, packed) {
            (Some(kind), Some(_)) if !kind.is_text() => {
                let reason = "this kind of file is packed inside already and cannot be read \
                              through gzip or zstd; unpack it first";
                Err(Error::Unsupported { path: path.clone(), reason: reason.to_owned() })
            }
            (Some(kind), _) => Ok(kind),
            (None, _) if path.is_dir() => Ok(FileKind::Parquet),
            (None, _) => Self::of_beginning(path),
        }
    }

    /// Pipes are CSV, as standard input is; files tell by their first bytes, unless they are text.
    fn of_beginning(path: &Path) -> Result<Self> {
        use std::io::Read;
        let mut file = open_file(path)?;
        if file.metadata().is_ok_and(|m| !m.is_file()) {
            return Ok(FileKind::Csv);
        }
        let mut head = [0; 16];
        let mut length = 0;
        while length < head.len() {
            match file.read(&mut head[length..]).map_err(|e| Error::reading(path, &e))? {
                0 => break,
                count => length += count,
            }
        }
        let starts = |mark: &[u8]| head[..length].starts_with(mark);
        let kinds = [
            (&b"PAR1"[..], FileKind::Parquet),
            (b"ARROW1", FileKind::Arrow),
            (b"\x93NUMPY", FileKind::Npy),
            (b"PK\x03\x04", FileKind::Npz),
            (b"%%MatrixMarket", FileKind::MatrixMarket),
        ];
        kinds
            .iter()
            .find(|(mark, _)| starts(mark))
            .map(|(_, kind)| *kind)
            .ok_or_else(|| Error::UnknownEnding { path: path.to_owned(), known: FileKind::known() })
    }
}

impl FromStr for FileKind {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        FileKind::of_ending(text).ok_or_else(|| {
            let names: Vec<&str> = Self::ENDINGS.iter().map(|(_, endings)| endings[0]).collect();
            format!("one of {} is needed", names.join(", "))
        })
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = Self::ENDINGS.iter().find(|(kind, _)| kind == self);
        f.write_str(of.map_or("", |(_, endings)| endings[0]))
    }
}
