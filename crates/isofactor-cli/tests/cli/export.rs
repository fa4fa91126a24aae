//! Tables of a model hold what it predicts by.

use crate::support::{Folder, MODEL, Table};

const RATINGS: &str = "ratings.isofactor";

fn exported(folder: &Folder, model: &str, what: &[&str]) -> Table {
    Table::read(&folder.done(&[&["export", model, "--what"], what].concat()).stdout)
}

#[test]
fn factors_and_effects_make_the_predictions() {
    let folder = Folder::with_ratings();
    let straight = ["fit", "ratings.csv", "--solver", "auto", "--link", "identity", "--out"];
    folder.done(&[&straight[..], &[RATINGS]].concat());
    let (rows, columns) =
        (exported(&folder, RATINGS, &["rows"]), exported(&folder, RATINGS, &["columns"]));
    assert_eq!(rows.header[..3], ["row", "effect", "factor_1"]);
    assert_eq!((rows.lines.len(), columns.lines.len()), (36, 24));
    let about = folder.done(&["inspect", RATINGS, "--json"]).json();
    let effects = &about["effects"];
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let (low, high) = (number(&effects["range"][0]), number(&effects["range"][1]));
    let completed = exported(&folder, RATINGS, &["completed", "--long"]);
    let mut lines = completed.lines.iter();
    let numbers = |line: &[String]| -> Vec<f64> {
        line[1..].iter().map(|field| field.parse().unwrap()).collect()
    };
    for row in &rows.lines {
        for column in &columns.lines {
            let (u, v) = (numbers(row), numbers(column));
            let product: f64 = u[1..].iter().zip(&v[1..]).map(|(u, v)| u * v).sum();
            let score = number(&effects["level"]) + u[0] + v[0] + product;
            let line = lines.next().unwrap();
            assert_eq!(line[..2], [row[0].clone(), column[0].clone()]);
            let prediction: f64 = line[2].parse().unwrap();
            assert!((prediction - score.clamp(low, high)).abs() < 1e-12, "{line:?} {score}");
        }
    }
}

#[test]
fn the_completed_matrix_is_what_predict_says_in_both_forms() {
    for (folder, model) in [(Folder::with_ratings(), RATINGS), (Folder::with_model(), MODEL)] {
        let long = folder.done(&["export", model, "--what", "completed", "--long"]).stdout;
        folder.write("long.csv", &long);
        let predicted = folder.done(&["predict", model, "long.csv"]).stdout;
        assert_eq!(long, predicted);
        let wide = exported(&folder, model, &["completed"]);
        let mut lines = Table::read(&long).lines.into_iter();
        for row in &wide.lines {
            for (column, cell) in wide.header.iter().zip(row).skip(1) {
                assert_eq!(lines.next().unwrap(), [&row[0], column, cell].map(String::as_str));
            }
        }
    }
}

#[test]
fn the_link_is_written_as_it_is_inspected() {
    let folder = Folder::with_model();
    let link = exported(&folder, MODEL, &["link", "--points", "41"]);
    assert_eq!(link.header, ["score", "value", "slope", "seen"]);
    assert_eq!(link.lines.len(), 41);
    assert!(link.numbers("score").is_sorted() && link.numbers("value").is_sorted());
    let seen = link.column("seen");
    assert!(seen.contains(&"true".to_owned()) && seen.contains(&"false".to_owned()), "{seen:?}");
}

#[test]
fn a_model_without_effects_has_no_column_of_them() {
    let folder = Folder::with_model();
    assert_eq!(exported(&folder, MODEL, &["rows"]).header, ["row", "factor_1", "factor_2"]);
    let fast = ["--solver", "fast", "--effects", "off", "--rank", "2", "--out", "fast.iso"];
    let told = folder.done(&[&["fit", "data.csv"], &fast[..]].concat()).stdout;
    assert!(told.contains("rank 2, ") && !told.contains("rank 2, effects"), "{told}");
    assert_eq!(exported(&folder, "fast.iso", &["rows"]).header, ["row", "factor_1", "factor_2"]);
}

#[test]
fn the_ending_decides_the_format_and_nothing_is_half_written() {
    let folder = Folder::with_ratings();
    let export = ["export", RATINGS, "--what", "columns", "--out"];
    let shown = folder.done(&export[..4]).stdout;
    folder.done(&[&export[..], &["columns.csv"]].concat());
    assert_eq!(folder.text("columns.csv"), shown);
    folder.done(&[&export[..], &["columns.tsv"]].concat());
    assert_eq!(folder.text("columns.tsv").replace('\t', ","), shown);
    folder.done(&[&export[..], &["columns.parquet"]].concat());
    let parquet = folder.bytes("columns.parquet");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    folder.refused(&[&export[..], &["columns.npz"]].concat(), 2, &[".parquet, not as .npz"]);
    folder.refused(&[&export[..], &["nosuch/columns.csv"]].concat(), 1, &["no folder nosuch"]);
    folder.refused(&["export", RATINGS, "--what", "rows", "--long"], 2, &["--what completed"]);
}

#[test]
fn predictions_are_written_in_every_format_too() {
    let folder = Folder::with_ratings();
    folder.done(&["predict", RATINGS, "pairs.csv", "--out", "predicted.parquet"]);
    assert!(folder.bytes("predicted.parquet").starts_with(b"PAR1"));
    folder.done(&["predict", RATINGS, "pairs.csv", "--out", "predicted.tsv"]);
    assert!(folder.text("predicted.tsv").starts_with("row\tcolumn\tprediction\n"));
}
