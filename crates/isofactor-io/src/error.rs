//! What can be wrong with a file, with the place where.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// The result of reading or writing.
pub type Result<T> = std::result::Result<T, Error>;

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
    #[error("{path}: there is no column '{name}'; the header has: {header}")]
    UnknownColumn {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        name: String,
        /// The names there are.
        header: String,
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
        "{path}, line {line}: the value '{text}' is not a number; if it stands for a missing entry, add --missing '{text}'"
    )]
    NotANumber {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What stands there.
        text: String,
    },
    /// A value is NaN or infinite.
    #[error(
        "{path}, line {line}: the value '{text}' is not finite; if it stands for a missing entry, add --missing '{text}'"
    )]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
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
