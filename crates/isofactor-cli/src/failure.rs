//! How the program fails: one sentence on standard error, and the exit code that goes with it.

use std::process::ExitCode;

use crate::text;

/// Why the program ends without having done its work.
#[derive(Debug)]
pub enum Failure {
    /// The arguments cannot be read (or help was asked for, which is no failure).
    Clap(clap::Error),
    /// The arguments can be read but make no sense.
    Usage(String),
    /// The data cannot be used.
    Data(String),
    /// The computation failed.
    Numerical(String),
    /// Anything else, such as a disk that is full.
    Unexpected(String),
    /// Someone pressed Ctrl-C; what there was has been saved.
    Interrupted,
}

impl Failure {
    /// Says what is wrong and gives the exit code.
    pub fn report(self) -> ExitCode {
        let (code, sentence) = match self {
            Failure::Clap(error) => {
                // Help and version are no failures; clap knows the stream and the code.
                let code = u8::try_from(error.exit_code()).unwrap_or(2);
                let _ = error.print();
                return ExitCode::from(code);
            }
            Failure::Usage(sentence) => (2, sentence),
            Failure::Data(sentence) => (3, sentence),
            Failure::Numerical(sentence) => (4, sentence),
            Failure::Unexpected(sentence) => (1, sentence),
            Failure::Interrupted => (130, "interrupted".to_owned()),
        };
        text::say(&format!("{} {sentence}", text::alarm("isofactor:")));
        ExitCode::from(code)
    }
}

impl From<isofactor::Error> for Failure {
    fn from(error: isofactor::Error) -> Self {
        let sentence = error.to_string();
        match error {
            isofactor::Error::Data(_) => Failure::Data(sentence),
            isofactor::Error::Config(_) => Failure::Usage(sentence),
            isofactor::Error::Numerical(_) => Failure::Numerical(sentence),
        }
    }
}

impl From<isofactor_io::Error> for Failure {
    fn from(error: isofactor_io::Error) -> Self {
        let sentence = error.to_string();
        match error {
            isofactor_io::Error::Unwritable { .. } => Failure::Unexpected(sentence),
            isofactor_io::Error::UnknownColumn { .. }
            | isofactor_io::Error::NoSuchTable { .. }
            | isofactor_io::Error::OtherSettings { .. }
            | isofactor_io::Error::UnknownEnding { .. }
            | isofactor_io::Error::CommaTwice { .. } => Failure::Usage(sentence),
            _ => Failure::Data(sentence),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Unexpected(format!("the output cannot be written ({error})"))
    }
}
