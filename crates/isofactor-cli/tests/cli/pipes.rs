//! A reader that stops reading, as `head` does, is not an error.

use std::process::Stdio;

use crate::support::{Folder, MODEL, Outcome};

/// Runs with a standard output that nobody reads any more.
fn unread(folder: &Folder, args: &[&str]) -> Outcome {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = folder.command(args);
    command.stdout(writer).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // The command would hold its end of the pipe open.
    drop(command);
    Outcome::new(args, child.wait_with_output().unwrap())
}

#[test]
fn a_reader_that_stops_is_no_error() {
    let folder = Folder::with_model();
    for args in [
        &["inspect", MODEL][..],
        &["inspect", MODEL, "--json"],
        &["evaluate", MODEL, "data.csv"],
        &["predict", MODEL, "data.csv"],
        &["fit", "data.csv", "--rank", "2", "--iterations", "3"],
        &["fit", "data.csv", "--rank", "2", "--iterations", "3", "--json"],
        &["--help"],
        &["fit", "--help"],
        &["--version"],
    ] {
        let outcome = unread(&folder, args).succeeded();
        assert!(!outcome.stderr.contains("cannot be written"), "{outcome:?}");
    }
}

#[test]
fn a_reader_that_stops_in_the_midst_of_many_predictions_is_no_error() {
    let folder = Folder::with_model();
    let pairs: String = (0..20_000).map(|k| format!("r{},c{}\n", k % 8, k % 6)).collect();
    folder.write("pairs.csv", format!("row,column\n{pairs}"));
    let outcome = unread(&folder, &["predict", MODEL, "pairs.csv"]).succeeded();
    assert_eq!(outcome.stderr, "");
}

#[test]
fn the_model_is_written_though_nobody_reads_the_words() {
    let folder = Folder::with_panel();
    unread(&folder, &["fit", "data.csv", "--rank", "2", "--iterations", "3", "--out", MODEL])
        .succeeded();
    folder.done(&["inspect", MODEL]);
}
