//! Files that pandas, polars, Spark, SciPy and NumPy wrote (`tests/data/make.py`) hold what was put in.

use std::path::PathBuf;

use isofactor_io::TableFormat;

use crate::support::{columns, plain, read, wide};

const NAMES: [&str; 3] = ["anna", "bert", "carl"];
const DAYS: [&str; 3] = ["2024-02-28", "2024-02-29", "2024-03-01"];
const VALUES: [[f64; 3]; 3] = [[1.5, 2.0, -3.25], [4.0, 5.5, 6.0], [7.0, f64::NAN, 9.0]];

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The panel under other names, in the order of the names.
fn panel(rows: [&str; 3], columns: [&str; 3]) -> Vec<(String, String, f64)> {
    let cells = (0..3).flat_map(|i| (0..3).map(move |t| (i, t)));
    let known = cells.filter(|&(i, t)| VALUES[i][t].is_finite());
    known.map(|(i, t)| (rows[i].to_owned(), columns[t].to_owned(), VALUES[i][t])).collect()
}

#[track_caller]
fn holds(name: &str, format: &TableFormat, rows: [&str; 3], columns: [&str; 3]) {
    let found = read(&data(name), format).unwrap();
    assert_eq!(found.named(), panel(rows, columns), "{name}");
}

#[test]
fn tables_of_pandas() {
    holds("pandas.parquet", &columns("row", "day", "value"), NAMES, DAYS);
    holds("pandas.feather", &columns("row", "day", "value"), NAMES, DAYS);
}

#[test]
fn the_index_of_a_wide_table_of_pandas_names_its_rows() {
    holds("pandas_wide.parquet", &wide(), NAMES, DAYS);
}

#[test]
fn tables_of_polars() {
    let noon = DAYS.map(|day| format!("{day}T12:00:00Z"));
    for name in ["polars.parquet", "polars.arrow", "polars_stream.arrow"] {
        holds(name, &plain(), NAMES, noon.each_ref().map(String::as_str));
    }
}

#[test]
fn a_folder_of_parts_as_spark_writes_it() {
    holds("spark.parquet", &plain(), ["0", "1", "2"], DAYS);
    let format = columns("user", "item", "grade");
    let message = read(&data("spark.parquet"), &format).unwrap_err().to_string();
    assert!(message.contains("user, item, rating"), "{message}");
}

#[test]
fn matrices_of_scipy_and_numpy() {
    let numbers = ["1", "2", "3"];
    for name in ["coo.npz", "coo_array.npz", "csr.npz", "csc.npz", "sparse.mtx"] {
        holds(name, &plain(), numbers, numbers);
    }
    for name in ["dense.npy", "fortran.npy", "dense.npz"] {
        holds(name, &plain(), numbers, numbers);
        holds(name, &wide(), numbers, numbers);
    }
}

#[test]
fn other_sparse_layouts_are_refused_with_what_to_do() {
    for name in ["bsr.npz", "dia.npz"] {
        let message = read(&data(name), &plain()).unwrap_err().to_string();
        assert!(message.contains("tocsr()"), "{message}");
    }
}
