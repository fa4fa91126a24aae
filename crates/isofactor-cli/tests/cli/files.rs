//! Files of every format through the program.

use std::{fs, path::PathBuf};

use crate::support::{Folder, MODEL, Table, panel};

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Copies a file or a folder of files.
fn copy(from: &PathBuf, to: &PathBuf) {
    if from.is_dir() {
        fs::create_dir(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// A folder with the files of `crates/isofactor-io/tests/data`.
pub fn with_data() -> Folder {
    let folder = Folder::new();
    for entry in fs::read_dir(repository("crates/isofactor-io/tests/data")).unwrap() {
        let entry = entry.unwrap();
        copy(&entry.path(), &folder.path(&entry.file_name().to_string_lossy()));
    }
    folder
}

/// What a fit of the same panel comes to.
fn train_error(folder: &Folder, args: &[&str]) -> f64 {
    let fit = ["--rank", "1", "--iterations", "10", "--json"];
    let json = folder.done(&[&["fit"], args, &fit].concat()).json();
    json["train"]["rmse"].as_f64().unwrap()
}

#[test]
fn the_same_panel_from_every_format_gives_the_same_fit() {
    let folder = with_data();
    let expected = train_error(&folder, &["dense.npy"]);
    for args in [
        &["csr.npz"][..],
        &["sparse.mtx"],
        &["spark.parquet"],
        &["pandas.parquet", "--row", "row", "--column", "day", "--value", "value"],
        &["pandas.feather", "--row", "row", "--column", "day", "--value", "value"],
        &["pandas_wide.parquet", "--wide"],
        &["polars.arrow"],
    ] {
        let found = train_error(&folder, args);
        assert!((found - expected).abs() < 1e-6 * expected, "{args:?}: {found}, not {expected}");
    }
}

#[test]
fn pairs_and_new_rows_are_read_from_parquet_too() {
    let folder = with_data();
    folder.done(&["fit", "pandas_wide.parquet", "--wide", "--rank", "1", "--out", MODEL]);
    let outcome =
        folder.done(&["predict", MODEL, "pandas.parquet", "--row", "row", "--column", "day"]);
    let table = Table::read(&outcome.stdout);
    assert_eq!(table.column("row")[..4], ["anna", "anna", "anna", "bert"]);
    assert_eq!(table.column("column")[1], "2024-02-29");
    assert!(!outcome.stderr.contains("never seen"), "{outcome:?}");
}

#[test]
fn wide_columns_are_known_by_name_and_not_by_place() {
    let folder = Folder::new();
    folder.write("data.csv", "id,x,y,z\na,1,2,3\nb,2,4,5\nc,3,5,9\nd,4,9,12\n");
    let options = ["--wide", "--row", "id"];
    let fit = ["fit", "data.csv", "--rank", "1", "--out", MODEL];
    folder.done(&[&fit[..], &options].concat());
    folder.write("turned.csv", "z,id,y,x\n3,a,2,1\n5,b,4,2\n9,c,5,3\n12,d,9,4\n");
    let rmse = |file: &str| {
        let json =
            folder.done(&[&["evaluate", MODEL, file, "--json"], &options[..]].concat()).json();
        json["rmse"].as_f64().unwrap()
    };
    let (straight, turned) = (rmse("data.csv"), rmse("turned.csv"));
    assert!((straight - turned).abs() < 1e-12, "{straight} is not {turned}");
    folder.write("pairs.csv", "column,row\nz,d\n");
    let outcome = folder.done(&["predict", MODEL, "pairs.csv"]);
    assert!(outcome.stdout.contains("d,z,"), "{outcome:?}");
}

#[test]
fn what_separates_the_fields_is_told_when_it_was_found_out() {
    let folder = Folder::new();
    folder.write("data.csv", panel().replace(',', ";").replace('.', ","));
    let fit = ["fit", "data.csv", "--rank", "2", "--iterations", "3", "--json"];
    let outcome = folder.done(&[&fit[..], &["--decimal-comma"]].concat());
    assert!(outcome.stderr.contains("semicolons"), "{outcome:?}");
    let named = folder.done(&[&fit[..], &["--decimal-comma", "--delimiter", ";"]].concat());
    assert!(!named.stderr.contains("semicolons"), "{named:?}");
    folder.refused(&fit, 3, &["line 2", "--decimal-comma"]);
}

#[test]
fn wrong_words_about_a_file_are_usage_errors() {
    let folder = Folder::with_panel();
    let fit = ["fit", "data.csv", "--json"];
    let refused = |options: &[&str], words: &[&str]| {
        folder.refused(&[&fit[..], options].concat(), 2, words);
    };
    refused(&["--delimiter", "ab"], &["one character"]);
    refused(&["--header", "maybe"], &["yes, no or auto"]);
    refused(&["--skip", "1"], &["--wide"]);
    refused(&["--format", "xlsx"], &["parquet"]);
    refused(&["--decimal-comma", "--delimiter", ","], &["--delimiter ';'"]);
    refused(&["--row", "rwo"], &["the nearest is 'row'"]);
    folder.write("data.xlsx", "PK");
    folder.refused(&["fit", "data.xlsx"], 2, &["data.xlsx", ".parquet", "--format"]);
}

#[test]
fn a_damaged_file_is_refused_in_one_sentence() {
    let folder = with_data();
    for name in ["pandas.parquet", "polars.arrow", "csr.npz", "dense.npy", "sparse.mtx"] {
        let bytes = folder.bytes(name);
        folder.write(name, &bytes[..bytes.len() / 2]);
        folder.refused(&["fit", name], 3, &[name]);
    }
}
