//! Judging models by entries: figures that mean something, and models side by side.

use crate::support::{Folder, assert_near};

const MODEL: &str = "ratings.isofactor";

fn number(json: &serde_json::Value, key: &str) -> f64 {
    json[key].as_f64().unwrap_or_else(|| panic!("{key}: {json}"))
}

#[test]
fn evaluate_tells_more_than_the_error() {
    let folder = Folder::with_ratings();
    let json = folder.done(&["evaluate", MODEL, "ratings.csv", "--json"]).json();
    let values = folder.table("ratings.csv").numbers("stars");
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
    // It was fitted to these entries, so the training mean is theirs.
    assert_near(number(&json["baseline"], "mean"), spread, 1e-9);
    let r2 = 1.0 - (number(&json, "rmse") / spread).powi(2);
    assert_near(number(&json, "r2"), r2, 1e-9);
    assert!(number(&json, "spearman") > 0.8, "{json}");
    assert!(number(&json, "rmse") < number(&json["baseline"], "effects"), "{json}");
    assert_eq!(json["unseen"], 0);
    let groups = json["calibration"].as_array().unwrap();
    assert_eq!(
        groups.iter().map(|g| g["count"].as_u64().unwrap()).sum::<u64>(),
        values.len() as u64
    );
    let words = folder.done(&["evaluate", MODEL, "ratings.csv"]).stdout;
    for word in ["RMSE", "R2", "rank correlation", "training mean", "effects alone", "observed"] {
        assert!(words.contains(word), "no '{word}' in {words}");
    }
}

#[test]
fn entries_the_model_has_never_seen_are_counted() {
    let folder = Folder::with_ratings();
    let outcome = folder.done(&["evaluate", MODEL, "new-ratings.csv", "--json"]);
    assert_eq!(outcome.json()["unseen"], 3);
    let outcome = folder.done(&["evaluate", MODEL, "new-ratings.csv"]);
    assert!(outcome.stderr.contains("3 entries"), "{outcome:?}");
}

#[test]
fn a_single_value_has_no_correlation() {
    let folder = Folder::with_ratings();
    folder.write("one.csv", "row,column,value\nanna,Heat,3\n");
    let json = folder.done(&["evaluate", MODEL, "one.csv", "--json"]).json();
    assert!(json["r2"].is_null() && json["spearman"].is_null(), "{json}");
    assert!(folder.done(&["evaluate", MODEL, "one.csv"]).stdout.contains("R2 -"));
}

#[test]
fn compare_tells_what_evaluate_tells_of_each_and_the_difference() {
    let folder = Folder::with_ratings();
    let args = ["compare", "other.isofactor", MODEL, "--data", "ratings.csv"];
    let json = folder.done(&[&args[..], &["--json"]].concat()).json();
    let models = json["models"].as_array().unwrap();
    for (one, path) in models.iter().zip(["other.isofactor", MODEL]) {
        assert_eq!(one["model"], path);
        let alone = folder.done(&["evaluate", path, "ratings.csv", "--json"]).json();
        for key in ["rmse", "mae", "count", "r2", "spearman"] {
            assert_eq!(one[key], alone[key], "{key}");
        }
    }
    let best = models.iter().find(|one| one["model"] == json["best"]).unwrap();
    assert_eq!(best["difference"]["rmse"], 0.0);
    for one in models {
        let gap = number(one, "rmse") - number(best, "rmse");
        assert!(gap >= 0.0);
        assert!((number(&one["difference"], "rmse") - gap).abs() < 1e-12);
        assert!(number(&one["difference"], "standard_error") >= 0.0);
    }
    let words = folder.done(&args).stdout;
    for word in ["other.isofactor", "best", "to the best", "576 entries", "standard error"] {
        assert!(words.contains(word), "no '{word}' in {words}");
    }
}

#[test]
fn a_share_may_be_in_percent() {
    let folder = Folder::with_ratings();
    let fit = |share: &str| {
        let args = ["fit", "ratings.csv", "--solver", "auto", "--json", "--holdout", share];
        folder.done(&args).json()
    };
    assert_eq!(fit("20%")["validation"], fit("0.2")["validation"]);
    let bad = ["fit", "ratings.csv", "--holdout", "some"];
    folder.refused(&bad, 2, &["'some'", "0.1 or 10%"]);
}

#[test]
fn fit_tells_what_its_error_is_to_be_held_against() {
    let folder = Folder::with_ratings();
    let fit = ["fit", "ratings.csv", "--solver", "auto", "--holdout", "0.2"];
    let words = folder.done(&fit).stdout;
    assert!(
        words.contains("for comparison, on the held-out entries: the training mean"),
        "{words}"
    );
    assert!(words.contains("effects alone"), "{words}");
}
