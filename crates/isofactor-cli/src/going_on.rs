//! The command line that goes on from where a fit stopped.

use std::{ffi::OsString, path::Path};

/// This program's command line with more arguments, ready for a shell.
fn command(raw: impl Iterator<Item = OsString>, more: &[&str]) -> String {
    let raw: Vec<String> = raw.skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let arguments = raw.iter().map(String::as_str).chain(more.iter().copied());
    let quoted: Vec<String> = std::iter::once("isofactor").chain(arguments).map(quoted).collect();
    quoted.join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The same command again.
pub fn again() -> String {
    command(std::env::args_os(), &[])
}

/// The command that goes on from the checkpoint.
pub fn from_checkpoint() -> String {
    let resumes = std::env::args_os().any(|arg| arg == "--resume");
    command(std::env::args_os(), if resumes { &[] } else { &["--resume"] })
}

/// The command that goes on from a model.
pub fn from_model(rank: usize, model: &Path) -> String {
    let (rank, model) = (rank.to_string(), model.to_string_lossy());
    command(std::env::args_os(), &["--rank", &rank, "--start", &model])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_arguments_back() {
        let raw = ["/usr/bin/isofactor", "fit", "my data.csv", "--missing", "it's", "--rank=2", ""];
        let text = command(raw.iter().map(OsString::from), &["--resume"]);
        assert_eq!(text, r"isofactor fit 'my data.csv' --missing 'it'\''s' --rank=2 '' --resume");
    }
}
