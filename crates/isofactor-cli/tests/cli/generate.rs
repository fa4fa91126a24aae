//! Made panels: as many entries as asked for, and a truth that fits them.

use std::collections::HashSet;

use crate::support::{Folder, MODEL, Table};

const LINKS: [&str; 7] =
    ["identity", "sigmoid", "tanh", "probit", "softplus", "exponential", "cubic"];

const SMALL: [&str; 11] = [
    "generate",
    "--rows",
    "12",
    "--columns",
    "9",
    "--rank",
    "2",
    "--out",
    "data.csv",
    "--truth",
    "truth.csv",
];

/// Makes a small panel with these options and gives its entries.
fn made(folder: &Folder, options: &[&str]) -> Table {
    folder.done(&[&SMALL, options].concat());
    folder.table("data.csv")
}

fn pairs(table: &Table) -> HashSet<(String, String)> {
    table.column("row").into_iter().zip(table.column("column")).collect()
}

/// The first line of a trace that begins at the truth with the true link.
fn data_term_at_the_truth(folder: &Folder, link: &str, rank: &str) -> f64 {
    folder.done(&[
        "fit",
        "data.csv",
        "--rank",
        rank,
        "--link",
        link,
        "--start",
        "truth.csv",
        "--trace",
        "trace.csv",
        "--iterations",
        "2",
        "--truth",
        "truth.csv",
    ]);
    folder.table("trace.csv").numbers("data_term")[0]
}

#[test]
fn as_many_entries_are_drawn_as_asked_for_within_the_shape() {
    let table = made(&Folder::new(), &["--observed", "300"]);
    assert_eq!(table.header, ["row", "column", "value"]);
    assert_eq!(table.lines.len(), 300);
    assert!(table.numbers("row").iter().all(|row| (1.0..=12.0).contains(row)));
    assert!(table.numbers("column").iter().all(|column| (1.0..=9.0).contains(column)));
    assert!(table.numbers("value").iter().all(|value| value.is_finite()));
}

#[test]
fn distinct_pairs_do_not_repeat() {
    let folder = Folder::new();
    let table = made(&folder, &["--observed", "80", "--distinct"]);
    assert_eq!((table.lines.len(), pairs(&table).len()), (80, 80));
    let drawn = made(&folder, &["--observed", "80"]);
    assert!(pairs(&drawn).len() < 80);
}

#[test]
fn all_is_every_pair_once() {
    let table = made(&Folder::new(), &["--observed", "all"]);
    assert_eq!((table.lines.len(), pairs(&table).len()), (108, 108));
}

#[test]
fn without_noise_the_truth_fits_every_link_exactly() {
    let folder = Folder::new();
    for link in LINKS {
        made(&folder, &["--link", link, "--noise", "0", "--observed", "200"]);
        assert!(folder.text("truth.csv").contains(&format!("link,{link},")));
        assert!(data_term_at_the_truth(&folder, link, "2") < 1e-20, "{link}");
    }
}

#[test]
fn without_noise_the_truth_fits_a_link_of_knots_exactly() {
    let folder = Folder::new();
    folder.write("knots.csv", "score,value\n-2,-1\n0,0\n0.5,2\n3,2.5\n");
    for rank in ["1", "2"] {
        made(&folder, &["--rank", rank, "--link", "knots.csv", "--noise", "0"]);
        assert!(data_term_at_the_truth(&folder, "knots.csv", rank) < 1e-20);
    }
}

#[test]
fn the_truth_has_a_line_for_every_row_and_column() {
    let folder = Folder::new();
    made(&folder, &[]);
    let kinds = folder.table("truth.csv").column("kind");
    let count = |kind: &str| kinds.iter().filter(|k| *k == kind).count();
    assert_eq!((count("row"), count("column"), count("link")), (12, 9, 1));
}

#[test]
fn every_kind_of_noise_moves_the_values_and_not_the_pairs() {
    let folder = Folder::new();
    let exact = made(&folder, &["--noise", "0"]);
    for kind in ["gaussian", "uniform", "rademacher", "student"] {
        let noisy = made(&folder, &["--noise", "0.2", "--noise-kind", kind]);
        assert_eq!(pairs(&noisy), pairs(&exact));
        let (a, b) = (noisy.numbers("value"), exact.numbers("value"));
        let noise: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let variance = noise.iter().map(|e| e * e).sum::<f64>() / noise.len() as f64;
        assert!((variance.sqrt() - 0.2).abs() < 0.02, "{kind}: {variance}");
        if kind == "rademacher" {
            assert!(noise.iter().all(|e| (e.abs() - 0.2).abs() < 1e-12));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_does_not() {
    let folder = Folder::new();
    let with_seed = |seed: &str| {
        made(&folder, &["--seed", seed]);
        (folder.bytes("data.csv"), folder.bytes("truth.csv"))
    };
    let (first, again, other) = (with_seed("3"), with_seed("3"), with_seed("4"));
    assert!(first == again);
    assert!(first.0 != other.0 && first.1 != other.1);
}

#[test]
fn numbers_are_written_so_that_they_read_back_the_same() {
    let folder = Folder::new();
    made(&folder, &["--link", "identity", "--noise", "0", "--observed", "all"]);
    folder.done(&[
        "fit",
        "data.csv",
        "--rank",
        "2",
        "--link",
        "identity",
        "--start",
        "truth.csv",
        "--iterations",
        "0",
        "--out",
        MODEL,
    ]);
    let json = folder.done(&["evaluate", MODEL, "data.csv", "--json"]).json();
    assert!(json["rmse"].as_f64().unwrap() < 1e-14, "{json}");
}

#[test]
fn panels_that_cannot_be_made_are_refused() {
    let folder = Folder::new();
    for (options, words) in [
        (&["--rank", "10"][..], &["rank 10", "12 x 9", "at most 9"][..]),
        (&["--link", "nosuch"], &["link", "'nosuch'", "sigmoid"]),
        (&["--noise-kind", "nosuch"], &["noise-kind", "'nosuch'", "student"]),
        (&["--noise", "-1"], &["noise", "zero or positive"]),
        (&["--condition", "0.5"], &["condition", "0.5"]),
        (&["--spread", "0"], &["spread", "positive"]),
        (&["--observed", "109", "--distinct"], &["observed", "108"]),
        (&["--observed", "many"], &["observed", "'many'", "all"]),
        (&["--rows", "-1"], &["'-1'"]),
    ] {
        folder.refused(&[&SMALL, options].concat(), 2, words);
    }
    folder.refused(&["generate", "--rows", "3"], 2, &["--out"]);
}

#[test]
fn the_bounds_of_a_condition_number_can_be_read() {
    let folder = Folder::new();
    let outcome = folder.run(&[&SMALL[..], &["--condition", "0.5"]].concat());
    outcome.is_refusal(2, &["condition", "0.5", "1"]);
    assert!(outcome.stderr.len() < 120, "{outcome:?}");
}

#[test]
fn a_panel_without_entries_or_rank_or_rows_is_a_wrong_setting() {
    let folder = Folder::new();
    folder.refused(&[&SMALL[..], &["--observed", "0"]].concat(), 2, &["observed"]);
    folder.refused(&[&SMALL[..], &["--rank", "0"]].concat(), 2, &["rank", "positive"]);
    folder.refused(&[&SMALL[..], &["--rows", "0"]].concat(), 2, &["rows"]);
}
