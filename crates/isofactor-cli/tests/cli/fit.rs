//! What `fit` prints.

use serde_json::Value;

use crate::support::{Folder, MODEL, assert_near};

const FIT: [&str; 6] = ["fit", "data.csv", "--rank", "2", "--iterations", "12"];

/// Keys in the order in which they stand in the text.
fn keys(text: &str) -> Vec<String> {
    let mut depth = 0;
    let mut found = Vec::new();
    for piece in text.split_inclusive(['{', '}', ',']) {
        if depth == 1
            && let Some((key, _)) = piece.split_once("\":")
        {
            found.push(key.trim_start_matches('"').to_owned());
        }
        depth += piece.matches('{').count();
        depth -= piece.matches('}').count();
    }
    found
}

fn is_metrics(value: &Value, count: u64) {
    let object = value.as_object().unwrap();
    assert_eq!(object.len(), 3, "{value}");
    assert!(object["rmse"].as_f64().unwrap() > 0.0, "{value}");
    assert!(object["mae"].as_f64().unwrap() > 0.0, "{value}");
    assert!(object["mae"].as_f64() <= object["rmse"].as_f64(), "{value}");
    assert_eq!(object["count"].as_u64(), Some(count));
}

#[test]
fn json_is_one_object_with_the_documented_keys_and_types() {
    let folder = Folder::with_panel();
    let outcome = folder.done(&[&FIT[..], &["--json", "--out", MODEL]].concat());
    assert_eq!(outcome.stdout.lines().count(), 1, "{outcome:?}");
    let documented = [
        "rows",
        "columns",
        "observed",
        "rank",
        "link",
        "solver",
        "iterations",
        "seconds",
        "stop",
        "train",
        "validation",
        "model",
        "chosen",
    ];
    assert_eq!(keys(&outcome.stdout), documented);
    let json = outcome.json();
    assert_eq!(json.as_object().unwrap().len(), documented.len());
    assert_eq!(json["rows"], 8);
    assert_eq!(json["columns"], 6);
    assert_eq!(json["observed"], 48);
    assert_eq!(json["rank"], 2);
    assert_eq!(json["link"], "learned");
    assert_eq!(json["solver"], "bcd");
    assert_eq!(json["iterations"], 12);
    assert!(json["seconds"].as_f64().unwrap() >= 0.0);
    assert_eq!(json["stop"], "iteration-limit");
    is_metrics(&json["train"], 48);
    assert_eq!(json["validation"], Value::Null);
    assert_eq!(json["model"], MODEL);
}

#[test]
fn the_model_is_null_when_none_is_written() {
    let folder = Folder::with_panel();
    let before = folder.content();
    let json = folder.done(&[&FIT[..], &["--json", "--link", "tanh"]].concat()).json();
    assert_eq!(json["model"], Value::Null);
    assert_eq!(json["link"], "tanh");
    assert_eq!(folder.content(), before);
}

#[test]
fn entries_held_out_are_counted_and_not_trained_on() {
    let folder = Folder::with_panel();
    let json = folder.done(&[&FIT[..], &["--json", "--holdout", "0.34"]].concat()).json();
    // Two of the six entries of each of the eight rows.
    is_metrics(&json["validation"], 16);
    is_metrics(&json["train"], 32);
    assert_eq!(json["observed"], 32);
}

#[test]
fn rows_and_columns_that_only_validation_has_are_kept_and_predicted() {
    let folder = Folder::with_panel();
    let valid = "row,column,value\nr0,c0,0.5\nr0,new,0.1\nzed,c0,-0.2\nzed,new,0.3\nr1,c1,0\n";
    folder.write("valid.csv", valid);
    let options = ["--json", "--valid", "valid.csv", "--out", MODEL];
    let outcome = folder.done(&[&FIT[..], &options].concat());
    let json = outcome.json();
    assert_eq!((&json["rows"], &json["columns"]), (&9.into(), &7.into()));
    assert_eq!(json["observed"], 48);
    is_metrics(&json["train"], 48);
    is_metrics(&json["validation"], 5);
    let again = folder.done(&["evaluate", MODEL, "valid.csv", "--json"]).json();
    assert_eq!(again["count"], 5);
    let rmse = |value: &Value| value["rmse"].as_f64().unwrap();
    assert_near(rmse(&again), rmse(&json["validation"]), 1e-9);
}

#[test]
fn unseen_rows_and_columns_are_not_passed_over_in_silence() {
    let folder = Folder::with_panel();
    folder.write("valid.csv", "row,column,value\nr0,new,0.1\nzed,c0,-0.2\n");
    let outcome = folder.done(&[&FIT[..], &["--valid", "valid.csv"]].concat());
    assert!(outcome.stderr.contains("2 rows or columns have no training entries"), "{outcome:?}");
}

#[test]
fn words_for_a_terminal_have_the_numbers_that_json_has() {
    let folder = Folder::with_panel();
    let outcome = folder.done(&[&FIT[..], &["--holdout", "0.34", "--seed", "3"]].concat());
    for words in
        ["8 rows x 6 columns", "32 observed", "rank 2", "learned link", "train", "held out"]
    {
        assert!(outcome.stdout.contains(words), "no '{words}' in {outcome:?}");
    }
}

#[test]
fn columns_may_be_named_in_any_order() {
    let folder = Folder::with_panel();
    let plain = folder.done(&[&FIT[..], &["--json"]].concat()).json();
    let table = folder.table("data.csv");
    let swap = |line: &Vec<String>| format!("{},x,{},{}\n", line[2], line[1], line[0]);
    let text: String = table.lines.iter().map(swap).collect();
    folder.write("data.csv", format!("grade,note,item,user\n{text}"));
    let named = ["--json", "--row", "user", "--column", "item", "--value", "grade"];
    let named = folder.done(&[&FIT[..], &named].concat()).json();
    assert_eq!(named["train"], plain["train"]);
}

#[test]
fn tabs_and_wide_form_and_no_header_are_read_as_the_same_data() {
    let folder = Folder::with_panel();
    let plain = folder.done(&[&FIT[..], &["--json"]].concat()).json();
    let table = folder.table("data.csv");
    let lines = |between: &str| table.lines.iter().map(|l| l.join(between) + "\n").collect();
    let tabs: String = lines("\t");
    folder.write("data.tsv", format!("row\tcolumn\tvalue\n{tabs}"));
    folder.write("bare.csv", lines(","));
    let values = table.column("value");
    let wide: String = values.chunks(6).map(|row| row.join(",") + "\n").collect();
    folder.write("wide.csv", format!("c0,c1,c2,c3,c4,c5\n{wide}"));
    for (file, option) in [("data.tsv", None), ("bare.csv", None), ("wide.csv", Some("--wide"))] {
        let args = ["fit", file, "--rank", "2", "--iterations", "12", "--json"];
        let json = folder.done(&args.into_iter().chain(option).collect::<Vec<_>>()).json();
        assert_eq!(json["train"], plain["train"], "{file}");
        assert_eq!(json["rows"], 8, "{file}");
    }
}

#[test]
fn entries_marked_missing_are_left_out() {
    let folder = Folder::with_panel();
    let more = folder.text("data.csv") + "r0,c0,99\nr1,c1,99.0\nr2,c2,-\n";
    folder.write("data.csv", more);
    let options = ["--json", "--missing", "99", "--missing", "-"];
    let json = folder.done(&[&FIT[..], &options].concat()).json();
    assert_eq!(json["observed"], 48);
}

#[test]
fn pairs_observed_again_count_again() {
    let folder = Folder::with_panel();
    let more = folder.text("data.csv") + "r0,c0,0.5\n";
    folder.write("data.csv", more);
    let outcome = folder.done(&[&FIT[..], &["--json"]].concat());
    assert_eq!(outcome.json()["observed"], 49);
    let words = folder.done(&FIT).stdout;
    assert!(words.contains("1 of them repeated"), "{words}");
}

#[test]
fn no_iterations_give_the_start() {
    let folder = Folder::with_panel();
    let options = ["--json", "--link", "identity", "--iterations", "0", "--rank", "6"];
    let json = folder.done(&[&FIT[..], &options].concat()).json();
    assert_eq!(json["iterations"], 0);
    // The spectral start of full rank is the matrix itself.
    assert!(json["train"]["rmse"].as_f64().unwrap() < 1e-9, "{json}");
}

#[test]
fn a_fit_goes_on_from_a_model_where_it_ended() {
    let folder = Folder::with_panel();
    let first = folder.done(&[&FIT[..], &["--json", "--out", MODEL]].concat()).json();
    let options = ["--json", "--start", MODEL, "--trace", "trace.csv"];
    let second = folder.done(&[&FIT[..], &options].concat()).json();
    let rmse = |json: &Value| json["train"]["rmse"].as_f64().unwrap();
    let begin = folder.table("trace.csv").numbers("train_rmse")[0];
    assert_near(begin, rmse(&first), 1e-6);
    assert!(rmse(&second) < rmse(&first));
}

#[test]
fn the_best_iterate_is_kept_unless_the_last_is_asked_for() {
    let folder = Folder::new();
    let made = [
        "generate",
        "--rows",
        "15",
        "--columns",
        "12",
        "--rank",
        "1",
        "--observed",
        "120",
        "--noise",
        "0.5",
        "--out",
        "data.csv",
    ];
    folder.done(&made);
    let fit = |keep: &str| {
        let options = ["--json", "--rank", "5", "--holdout", "0.3", "--trace", "trace.csv"];
        let json = folder.done(&[&FIT[..], &options, &["--keep", keep]].concat()).json();
        (json["validation"]["rmse"].as_f64().unwrap(), folder.table("trace.csv"))
    };
    let (rmse, trace) = fit("best");
    let errors = trace.numbers("validation_rmse");
    assert_near(rmse, errors.iter().copied().fold(f64::INFINITY, f64::min), 1e-9);
    let (rmse, trace) = fit("last");
    assert_near(rmse, *trace.numbers("validation_rmse").last().unwrap(), 1e-9);
}

#[test]
fn a_report_is_one_page_that_needs_no_other() {
    let folder = Folder::with_panel();
    folder.done(&[&FIT[..], &["--report", "page.html", "--holdout", "0.2"]].concat());
    let page = folder.text("page.html");
    assert!(page.to_lowercase().starts_with("<!doctype html>"), "{}", &page[..80]);
    assert!(page.contains("</html>"));
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn every_kernel_order_and_projection_can_be_asked_for() {
    let folder = Folder::with_panel();
    for options in [
        &["--kernel", "matern52"][..],
        &["--kernel", "rational-quadratic", "--bandwidth", "0.7"],
        &["--kernel", "inverse-multiquadric", "--loss", "mean"],
        &["--order", "link-first", "--start-link", "identity"],
        &["--start", "random", "--seed", "4"],
        &["--start-rescale", "--project-factors", "auto"],
        &["--project-factors", "1.5", "--monotone", "0,inf"],
        &["--monotone", "0.1,2", "--factor-step", "theory", "--link-step", "theory"],
        &["--balance-penalty", "0", "--tolerance", "0"],
    ] {
        let json = folder.done(&[&FIT[..], &["--json"], options].concat()).json();
        assert!(json["train"]["rmse"].as_f64().unwrap().is_finite(), "{options:?}: {json}");
    }
}

#[test]
fn slope_bounds_hold_for_the_link_that_is_learned() {
    let folder = Folder::with_panel();
    let options = ["--monotone", "0.2,0.6", "--out", MODEL];
    folder.done(&[&FIT[..], &options].concat());
    let json = folder.done(&["inspect", MODEL, "--json"]).json();
    for point in json["link_points"].as_array().unwrap() {
        let slope = point[2].as_f64().unwrap();
        assert!((0.2 - 1e-6..=0.6 + 1e-6).contains(&slope), "{json}");
    }
}

#[test]
fn slope_bounds_hold_for_the_iterate_that_is_kept() {
    let folder = Folder::with_panel();
    for options in [&["--iterations", "0"][..], &["--valid", "data.csv"]] {
        let bounds = ["--monotone", "0.01,0.3", "--start-link", "identity", "--out", MODEL];
        folder.done(&[&FIT[..], &bounds, options].concat());
        let json = folder.done(&["inspect", MODEL, "--json"]).json();
        for point in json["link_points"].as_array().unwrap() {
            let slope = point[2].as_f64().unwrap();
            // Bounds are imposed at the nodes of the link's table; between two it may bulge.
            assert!((0.01 - 1e-5..=0.3 + 1e-5).contains(&slope), "{options:?}: {json}");
        }
    }
}
