//! A model that was written is the model that predicts.

use crate::support::{Folder, MODEL, Table, assert_near};

fn fitted(options: &[&str]) -> (Folder, serde_json::Value) {
    let folder = Folder::with_panel();
    let fit = ["fit", "data.csv", "--rank", "2", "--iterations", "15", "--json", "--out", MODEL];
    let json = folder.done(&[&fit, options].concat()).json();
    (folder, json)
}

#[test]
fn evaluating_on_the_training_file_gives_the_errors_of_the_fit() {
    for options in [
        &[][..],
        &["--link", "tanh"],
        &["--monotone", "0,inf"],
        &["--kernel", "matern52"],
        &["--project-factors", "auto"],
    ] {
        let (folder, json) = fitted(options);
        let again = folder.done(&["evaluate", MODEL, "data.csv", "--json"]).json();
        let number = |of: &serde_json::Value, key: &str| of[key].as_f64().unwrap();
        assert_near(number(&again, "rmse"), number(&json["train"], "rmse"), 1e-9);
        assert_near(number(&again, "mae"), number(&json["train"], "mae"), 1e-9);
        assert_eq!(again["count"], json["train"]["count"]);
    }
}

#[test]
fn predictions_have_the_errors_that_evaluate_tells() {
    let (folder, _) = fitted(&[]);
    folder.done(&["predict", MODEL, "data.csv", "--out", "predicted.csv"]);
    let values = folder.table("data.csv").numbers("value");
    let predicted = folder.table("predicted.csv").numbers("prediction");
    let errors = || values.iter().zip(&predicted).map(|(v, p)| v - p);
    let count = values.len() as f64;
    let rmse = (errors().map(|e| e * e).sum::<f64>() / count).sqrt();
    let mae = errors().map(f64::abs).sum::<f64>() / count;
    let told = folder.done(&["evaluate", MODEL, "data.csv", "--json"]).json();
    assert_near(rmse, told["rmse"].as_f64().unwrap(), 1e-9);
    assert_near(mae, told["mae"].as_f64().unwrap(), 1e-9);
}

#[test]
fn evaluate_tells_its_numbers_in_words_too() {
    let (folder, _) = fitted(&[]);
    let words = folder.done(&["evaluate", MODEL, "data.csv"]).stdout;
    for word in ["RMSE", "MAE", "48 entries"] {
        assert!(words.contains(word), "{words}");
    }
}

#[test]
fn pairs_are_predicted_in_their_order_and_as_often_as_they_occur() {
    let (folder, _) = fitted(&[]);
    folder.write("pairs.csv", "item,user\nc5,r7\nc0,r0\nc5,r7\nc3,r2\n");
    let args = ["predict", MODEL, "pairs.csv", "--row", "user", "--column", "item"];
    let outcome = folder.done(&args);
    let table = Table::read(&outcome.stdout);
    assert_eq!(table.header, ["row", "column", "prediction"]);
    assert_eq!(table.column("row"), ["r7", "r0", "r7", "r2"]);
    assert_eq!(table.column("column"), ["c5", "c0", "c5", "c3"]);
    let predicted = table.numbers("prediction");
    assert_eq!(predicted[0], predicted[2]);
    assert_ne!(predicted[0], predicted[1]);
}

#[test]
fn names_the_model_does_not_know_are_predicted_from_what_is_known() {
    let (folder, _) = fitted(&[]);
    folder.write("pairs.csv", "row,column\nzed,c0\nr0,new\nzed,new\n");
    let outcome = folder.done(&["predict", MODEL, "pairs.csv"]);
    let predicted = Table::read(&outcome.stdout).numbers("prediction");
    assert!(predicted.iter().all(|p| p.is_finite()), "{outcome:?}");
    let values = folder.table("data.csv").numbers("value");
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    assert!((predicted[2] - mean).abs() < 1e-12, "{outcome:?}");
    assert!(outcome.stderr.contains("3 pairs"), "{outcome:?}");
}

#[test]
fn names_with_commas_quotes_and_accents_survive() {
    let folder = Folder::new();
    let name = "\"Am\u{e9}lie, \"\"2001\"\"\"";
    let data = format!("row,column,value\nanna,{name},1\nanna,b,2\nbert,{name},3\nbert,b,5\n");
    folder.write("data.csv", data);
    folder.done(&["fit", "data.csv", "--rank", "1", "--iterations", "5", "--out", MODEL]);
    folder.write("pairs.csv", format!("row,column\nbert,{name}\n"));
    let outcome = folder.done(&["predict", MODEL, "pairs.csv"]);
    assert!(outcome.stdout.contains(&format!("bert,{name},")), "{outcome:?}");
    assert!(!outcome.stderr.contains("never seen"), "{outcome:?}");
}

#[test]
fn predicting_to_a_file_writes_what_standard_output_shows() {
    let (folder, _) = fitted(&[]);
    let shown = folder.done(&["predict", MODEL, "data.csv"]).stdout;
    let outcome = folder.done(&["predict", MODEL, "data.csv", "--out", "predicted.csv"]);
    assert_eq!(outcome.stdout, "");
    assert_eq!(folder.text("predicted.csv"), shown);
}

#[test]
fn a_dash_reads_standard_input() {
    let (folder, json) = fitted(&[]);
    let data = folder.text("data.csv");
    let args = ["fit", "-", "--rank", "2", "--iterations", "15", "--json"];
    let piped = folder.run_with_input(&args, &data).succeeded().json();
    assert_eq!(piped["train"], json["train"]);
    let evaluated = folder.run_with_input(&["evaluate", MODEL, "-", "--json"], &data);
    let from_file = folder.done(&["evaluate", MODEL, "data.csv", "--json"]);
    assert_eq!(evaluated.succeeded().json(), from_file.json());
    let predicted = folder.run_with_input(&["predict", MODEL, "-"], &data).succeeded();
    assert_eq!(predicted.stdout, folder.done(&["predict", MODEL, "data.csv"]).stdout);
}

#[test]
fn a_model_knows_its_rows_by_name_whatever_their_order() {
    let (folder, _) = fitted(&[]);
    let mut table = folder.table("data.csv");
    table.lines.reverse();
    let text: String = table.lines.iter().map(|line| line.join(",") + "\n").collect();
    folder.write("reversed.csv", format!("row,column,value\n{text}"));
    let rmse = |file: &str| {
        let json = folder.done(&["evaluate", MODEL, file, "--json"]).json();
        json["rmse"].as_f64().unwrap()
    };
    assert_near(rmse("reversed.csv"), rmse("data.csv"), 1e-12);
}

#[test]
fn writing_over_an_old_model_replaces_it() {
    let (folder, _) = fitted(&[]);
    let old = folder.bytes(MODEL);
    folder.done(&["fit", "data.csv", "--rank", "1", "--iterations", "1", "--out", MODEL]);
    assert_ne!(folder.bytes(MODEL), old);
    assert_eq!(folder.done(&["inspect", MODEL, "--json"]).json()["rank"], 1);
    assert_eq!(folder.content().len(), 2, "only the data and the model are left");
}
