//! What can be wrong with a file, with the place where.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use thiserror::Error;

/// The result of reading or writing.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a text, counted from 1.
    Line(u64),
    /// A row of a table or matrix, counted from 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(number) => write!(f, "line {number}"),
            Place::Row(number) => write!(f, "row {number}"),
        }
    }
}

/// What went wrong with a file.
#[derive(Debug, Error)]
pub enum Error {
    /// It is not there.
    #[error("{path}: there is no such file")]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("{path}: cannot be read ({reason})")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// It has no content.
    #[error(
        "{path}: the file is empty; a header and at least one line 'row,column,value' are needed"
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It has a header and nothing else.
    #[error("{path}: there is a header but no entries below it")]
    HeaderOnly {
        /// The file.
        path: PathBuf,
    },
    /// It is a matrix without any entry.
    #[error("{path}: there are no entries in it")]
    NoEntries {
        /// The file.
        path: PathBuf,
    },
    /// Every value is marked missing.
    #[error("{path}: there are no entries, every value is marked as missing")]
    AllMissing {
        /// The file.
        path: PathBuf,
    },
    /// It has too few columns to hold what is needed.
    #[error("{path}: {found} column(s) found, at least {needed} are needed ({what})")]
    TooFewColumns {
        /// The file.
        path: PathBuf,
        /// Columns in the file.
        found: usize,
        /// Columns needed.
        needed: usize,
        /// What they hold.
        what: &'static str,
    },
    /// A column that was asked for is not in the header.
    #[error("{path}: there is no column '{name}'; the header has: {header}{nearest}")]
    UnknownColumn {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        name: String,
        /// The names there are.
        header: String,
        /// The end of the sentence that names the one most like it, if any is.
        nearest: String,
    },
    /// Two columns have the same name.
    #[error(
        "{path}: the columns {first} and {second} are both called '{name}'; rename one, or leave it out with --skip {second} (--wide) or name the other by its number"
    )]
    TwoColumns {
        /// The file.
        path: PathBuf,
        /// Their name.
        name: String,
        /// One of them, counted from 1.
        first: usize,
        /// The other.
        second: usize,
    },
    /// A column has a type that is neither names nor numbers.
    #[error(
        "{path}: the column '{column}' holds {kind}, which are neither names nor numbers here; choose others with --row, --column and --value, or leave it out with --skip '{column}' (--wide)"
    )]
    ColumnType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// What it holds.
        kind: String,
    },
    /// The ending of a file says nothing.
    #[error(
        "{path}: what kind of file is it? The endings known are {known}; say --format csv (or tsv, parquet, ...) for a file with another"
    )]
    UnknownEnding {
        /// The file.
        path: PathBuf,
        /// The endings known.
        known: String,
    },
    /// It is of a kind or variant that is not read.
    #[error("{path}: {reason}")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it is and what to do.
        reason: String,
    },
    /// It is not what its name says, or it is damaged.
    #[error("{path}: not a usable {kind} file ({reason})")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What it should be.
        kind: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A comma is asked to separate fields and decimals.
    #[error(
        "{path}: with --decimal-comma a comma cannot separate the fields too; say --delimiter ';' or --delimiter tab"
    )]
    CommaTwice {
        /// The file.
        path: PathBuf,
    },
    /// There are more names than can be numbered.
    #[error("{path}: there are more than 4,294,967,295 names")]
    TooManyNames {
        /// The file.
        path: PathBuf,
    },
    /// A field that should name a row or column does not.
    #[error("{path}, {place}: the name in column '{column}' {reason}")]
    NoName {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: Place,
        /// The column.
        column: String,
        /// What is wrong, as the end of the sentence.
        reason: String,
    },
    /// A line is not as the others are.
    #[error("{path}, line {line}: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A value is not a number.
    #[error(
        "{path}, {place}: the value '{text}' in column '{column}' is not a number; if it stands for a missing entry, add --missing '{text}'{hint}"
    )]
    NotANumber {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: Place,
        /// The column.
        column: String,
        /// What stands there.
        text: String,
        /// What else may help, as the end of the sentence.
        hint: &'static str,
    },
    /// A value is NaN or infinite.
    #[error(
        "{path}, {place}: the value '{text}' in column '{column}' is not finite; if it stands for a missing entry, add --missing '{text}'"
    )]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: Place,
        /// The column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// It is no model, or it is damaged.
    #[error("{path}: not a usable isofactor model ({reason})")]
    NotAModel {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The model is of a format this program does not know.
    #[error("{path}: {}", other_format(*found, *supported, writer))]
    ModelVersion {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The format that can be read.
        supported: u64,
        /// The version of the program that wrote it.
        writer: String,
    },
    /// It is no checkpoint, or it is damaged.
    #[error("{path}: not a usable checkpoint ({reason}); delete it to begin anew")]
    NotACheckpoint {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The checkpoint is of another program.
    #[error(
        "{path}: the checkpoint was written by isofactor {writer} and this is {version}: go on with that one, or delete the file to begin anew"
    )]
    CheckpointVersion {
        /// The file.
        path: PathBuf,
        /// The version of the program that wrote it.
        writer: String,
        /// The version of this one.
        version: &'static str,
    },
    /// The checkpoint is of a fit with other settings.
    #[error(
        "{path}: the checkpoint is of a fit with {setting} {was}, and here it is {now}: go on with the same settings, or delete the file to begin anew"
    )]
    OtherSettings {
        /// The file.
        path: PathBuf,
        /// The setting that differs.
        setting: String,
        /// What it was.
        was: String,
        /// What it is now.
        now: String,
    },
    /// The checkpoint is of other data.
    #[error(
        "{path}: the checkpoint is of other data (entries, held-out entries, start or truth): go on with the same files, or delete it to begin anew"
    )]
    OtherData {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be written.
    #[error("{path}: cannot be written ({reason})")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Tables are not written in the format that its ending names.
    #[error("{path}: tables are written as .csv, .tsv or .parquet, not as .{ending}")]
    NoSuchTable {
        /// The file.
        path: PathBuf,
        /// Its ending.
        ending: String,
    },
    /// What it holds cannot be used.
    #[error("{path}: {source}")]
    Content {
        /// The file.
        path: PathBuf,
        /// Why.
        source: isofactor::Error,
    },
}

/// Why a model of another format cannot be read, and what to do.
fn other_format(found: u64, supported: u64, writer: &str) -> String {
    let newer =
        format!("a newer isofactor ({writer}) wrote it: update this program, or fit it again");
    let older = format!(
        "it is too old: fit it again, or use the program that wrote it (isofactor {writer})"
    );
    let advice = if found > supported { newer } else { older };
    format!("the model has format {found}, this program reads format {supported}; {advice}")
}

impl Error {
    /// A file that could not be opened or read.
    pub(crate) fn reading(path: &Path, error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::NotFound {
            Error::NotFound { path: path.to_owned() }
        } else {
            Error::Unreadable { path: path.to_owned(), reason: error.to_string() }
        }
    }

    /// A file that could not be written.
    pub(crate) fn writing(path: &Path, error: impl ToString) -> Self {
        Error::Unwritable { path: path.to_owned(), reason: error.to_string() }
    }
}
