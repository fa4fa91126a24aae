//! What a model tells about itself.

use crate::support::{Folder, MODEL};

#[test]
fn inspect_tells_in_words_what_the_model_holds() {
    let folder = Folder::with_model();
    let words = folder.done(&["inspect", MODEL]).stdout;
    for word in ["8 rows x 6 columns", "48 observed", "rank 2", "learned link", "train", "slope"] {
        assert!(words.contains(word), "no '{word}' in {words}");
    }
}

#[test]
fn inspect_tells_the_same_in_json() {
    let folder = Folder::with_model();
    let outcome = folder.done(&["inspect", MODEL, "--json"]);
    assert_eq!(outcome.stdout.lines().count(), 1, "{outcome:?}");
    let json = outcome.json();
    assert_eq!((&json["rows"], &json["columns"]), (&8.into(), &6.into()));
    assert_eq!(json["rank"], 2);
    assert_eq!(json["link"]["kind"], "learned");
    assert_eq!(json["link"]["kernel"], "gaussian");
    assert!(json["link"]["bandwidth"].as_f64().unwrap() > 0.0);
    assert_eq!(json["provenance"]["observed"], 48);
    let points = json["link_points"].as_array().unwrap();
    let scores: Vec<f64> = points.iter().map(|point| point[0].as_f64().unwrap()).collect();
    assert!(scores.len() > 2 && scores.is_sorted(), "{scores:?}");
}

#[test]
fn a_model_remembers_the_settings_and_errors_of_its_fit() {
    let folder = Folder::with_panel();
    let fitted = folder
        .done(&[
            "fit",
            "data.csv",
            "--rank",
            "3",
            "--link",
            "tanh",
            "--seed",
            "9",
            "--holdout",
            "0.2",
            "--iterations",
            "4",
            "--json",
            "--out",
            MODEL,
        ])
        .json();
    let json = folder.done(&["inspect", MODEL, "--json"]).json();
    let provenance = &json["provenance"];
    assert_eq!(json["link"]["kind"], "tanh");
    assert_eq!(provenance["config"]["rank"], 3);
    assert_eq!(provenance["config"]["seed"], 9);
    for key in ["iterations", "stop", "train", "validation"] {
        assert_eq!(provenance[key], fitted[key], "{key}");
    }
}
