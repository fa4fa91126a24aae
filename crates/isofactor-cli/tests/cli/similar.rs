//! What is similar, from the outside.

use crate::support::{Folder, Table};

const MODEL: &str = "ratings.isofactor";

#[test]
fn similarity_is_the_same_both_ways_and_in_order() {
    let folder = Folder::with_ratings();
    let of = |name: &str| {
        let args = ["similar", MODEL, "--row", name, "--top", "100"];
        Table::read(&folder.done(&args).stdout)
    };
    let anna = of("anna");
    assert_eq!(anna.header, ["row", "rank", "similar", "similarity", "distance"]);
    assert_eq!(anna.lines.len(), 35, "all others");
    let similarities = anna.numbers("similarity");
    assert!(similarities.iter().all(|s| (-1.0..=1.0).contains(s)));
    assert!(similarities.windows(2).all(|pair| pair[0] >= pair[1]));
    for line in anna.lines.iter().step_by(7) {
        let back = of(&line[2]);
        let same = back.lines.iter().find(|other| other[2] == "anna").unwrap();
        assert_eq!(same[3..], line[3..]);
    }
}

#[test]
fn neighbours_in_the_truth_are_neighbours_in_the_model() {
    let folder = Folder::with_ratings();
    // What people think changes evenly from anna to liam3: tastes are alike, then opposite.
    let args = ["similar", MODEL, "--row", "anna", "--top", "100"];
    let table = Table::read(&folder.done(&args).stdout);
    let of = |name: &str| {
        let line = table.lines.iter().find(|line| line[2] == name).unwrap();
        line[3].parse::<f64>().unwrap()
    };
    assert!(of("bert") > 0.9 && of("liam3") < -0.9, "{table:?}");
}

#[test]
fn json_says_the_same() {
    let folder = Folder::with_ratings();
    let args = ["similar", MODEL, "--column", "Heat", "--column", "Heat2", "--top", "2"];
    let json = folder.done(&[&args[..], &["--json", "--names", "movies.csv"]].concat()).json();
    let table = Table::read(&folder.done(&args).stdout);
    let first = &json["columns"][0];
    assert_eq!(first["column"], "Heat");
    for (line, one) in table.lines.iter().zip(first["similar"].as_array().unwrap()) {
        assert_eq!(one["name"], line[2]);
        assert_eq!(one["similarity"].as_f64().unwrap(), line[3].parse::<f64>().unwrap());
        assert_eq!(one["title"], format!("{}, the film", line[2]));
    }
    assert_eq!(json["columns"][1]["column"], "Heat2");
}

#[test]
fn somebody_must_be_named() {
    let folder = Folder::with_ratings();
    folder.refused(&["similar", MODEL], 2, &["--row <NAME>", "--column <NAME>"]);
}
