//! What can go wrong while an experiment runs.

use std::path::PathBuf;

use thiserror::Error;

/// Why an experiment did not finish.
#[derive(Debug, Error)]
pub enum Error {
    /// The mathematics.
    #[error(transparent)]
    Fit(#[from] isofactor::Error),
    /// A file.
    #[error(transparent)]
    File(#[from] isofactor_io::Error),
    /// A folder that cannot be made, read or cleared.
    #[error("{path}: {reason}")]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The data are not those of the paper.
    #[error("{path}: {reason}")]
    OtherData {
        /// The file.
        path: PathBuf,
        /// How they differ.
        reason: String,
    },
    /// An entry of `experiments.toml` does not fit its experiment.
    #[error("the settings of {name} cannot be read ({reason})")]
    Settings {
        /// Which experiment.
        name: &'static str,
        /// What the parser says.
        reason: String,
    },
    /// Someone asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The result of a step of an experiment.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn folder(path: &std::path::Path, reason: &std::io::Error) -> Self {
        Error::Folder { path: path.to_owned(), reason: reason.to_string() }
    }
}
