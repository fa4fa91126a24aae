//! The same seed gives the same bytes.

use crate::support::{Folder, MODEL, Table};

/// Fits with these options and gives the model's bytes and the trace without its times.
fn fitted(folder: &Folder, options: &[&str]) -> (Vec<u8>, Table) {
    let fit = [
        "fit",
        "data.csv",
        "--rank",
        "3",
        "--iterations",
        "6",
        "--out",
        MODEL,
        "--trace",
        "trace.csv",
    ];
    folder.done(&[&fit, options].concat());
    (folder.bytes(MODEL), folder.table("trace.csv").without("seconds"))
}

/// Enough entries for the work to be shared among threads.
fn large() -> Folder {
    let folder = Folder::new();
    let made = [
        "generate",
        "--rows",
        "250",
        "--columns",
        "160",
        "--observed",
        "36000",
        "--seed",
        "2",
        "--out",
        "data.csv",
    ];
    folder.done(&made);
    folder
}

#[test]
fn threads_and_repetition_do_not_change_a_byte() {
    let folder = large();
    for options in [&["--holdout", "0.1", "--seed", "5"][..], &["--monotone", "0,inf"]] {
        let one = fitted(&folder, &[&["--threads", "1"], options].concat());
        let two = fitted(&folder, &[&["--threads", "2"], options].concat());
        let again = fitted(&folder, &[&["--threads", "2"], options].concat());
        assert!(one == two, "{options:?}: one thread and two differ");
        assert!(two == again, "{options:?}: two runs differ");
    }
}

#[test]
fn another_seed_holds_out_other_entries() {
    let folder = Folder::with_panel();
    let with_seed =
        |seed: &str| fitted(&folder, &["--rank", "2", "--holdout", "0.34", "--seed", seed]).1;
    assert_eq!(with_seed("1"), with_seed("1"));
    assert_ne!(with_seed("1"), with_seed("2"));
}

#[test]
fn another_seed_starts_at_random_elsewhere() {
    let folder = Folder::with_panel();
    let with_seed =
        |seed: &str| fitted(&folder, &["--rank", "2", "--start", "random", "--seed", seed]).1;
    assert_eq!(with_seed("1"), with_seed("1"));
    assert_ne!(with_seed("1"), with_seed("2"));
}

#[test]
fn the_folder_and_the_names_of_files_leave_no_mark_in_a_model() {
    let (here, there) = (Folder::with_panel(), Folder::with_panel());
    std::fs::rename(there.path("data.csv"), there.path("other.csv")).unwrap();
    let fit = |folder: &Folder, data: &str, model: &str| {
        folder.done(&["fit", data, "--rank", "2", "--iterations", "5", "--out", model]);
        folder.bytes(model)
    };
    assert_eq!(fit(&here, "data.csv", "a.isofactor"), fit(&there, "other.csv", "b.isofactor"));
}
