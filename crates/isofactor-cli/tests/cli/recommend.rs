//! Recommendations agree with predictions and leave out what is known.

use std::collections::{BTreeMap, HashSet};

use crate::support::{Folder, Table};

const MODEL: &str = "ratings.isofactor";

/// Every pair with its prediction.
fn predictions(folder: &Folder) -> BTreeMap<(String, String), f64> {
    let mut pairs = "row,column\n".to_owned();
    let table = folder.table("ratings.csv");
    let (people, films): (HashSet<_>, HashSet<_>) =
        (table.column("person").into_iter().collect(), table.column("film").into_iter().collect());
    for person in &people {
        films.iter().for_each(|film| pairs += &format!("{person},{film}\n"));
    }
    folder.write("all.csv", pairs);
    let predicted = Table::read(&folder.done(&["predict", MODEL, "all.csv"]).stdout);
    let names = predicted.column("row").into_iter().zip(predicted.column("column"));
    names.zip(predicted.numbers("prediction")).collect()
}

#[test]
fn recommendations_are_the_best_predictions_that_are_not_known() {
    let folder = Folder::with_ratings();
    let args = ["recommend", MODEL, "--all", "--known", "ratings.csv", "--top", "3"];
    let outcome = folder.done(&args);
    assert_eq!(outcome.stderr, "");
    let table = Table::read(&outcome.stdout);
    assert_eq!(table.header, ["row", "rank", "column", "prediction"]);
    let known = folder.table("ratings.csv");
    let known: HashSet<(String, String)> =
        known.column("person").into_iter().zip(known.column("film")).collect();
    let all = predictions(&folder);
    let people: HashSet<&String> = all.keys().map(|(person, _)| person).collect();
    for person in people {
        let lines = table.lines.iter().filter(|line| line[0] == *person);
        let found: Vec<f64> = lines
            .map(|line| {
                let pair = (line[0].clone(), line[2].clone());
                assert!(!known.contains(&pair), "{pair:?} is known");
                assert_eq!(line[3].parse::<f64>().unwrap(), all[&pair]);
                all[&pair]
            })
            .collect();
        let unknown = all.iter().filter(|(pair, _)| pair.0 == *person && !known.contains(*pair));
        let mut slow: Vec<f64> = unknown.map(|(_, prediction)| *prediction).collect();
        slow.sort_by(|a, b| b.total_cmp(a));
        slow.truncate(3);
        assert_eq!(found, slow, "{person}");
    }
}

#[test]
fn one_row_gets_what_it_gets_among_all() {
    let folder = Folder::with_ratings();
    let all = folder.done(&["recommend", MODEL, "--all", "--known", "ratings.csv"]).stdout;
    let one = ["recommend", MODEL, "--row", "cleo", "--row", "anna", "--known", "ratings.csv"];
    let lines = |text: &str, name: &str| -> Vec<String> {
        text.lines()
            .filter(|line| line.split(',').next() == Some(name))
            .map(str::to_owned)
            .collect()
    };
    let some = folder.done(&one).stdout;
    assert!(!lines(&some, "cleo").is_empty());
    assert_eq!(lines(&some, "cleo"), lines(&all, "cleo"));
    assert_eq!(lines(&some, "anna"), lines(&all, "anna"));
    assert!(some.find("\ncleo").unwrap() < some.find("\nanna").unwrap(), "in the order asked for");
}

#[test]
fn columns_are_served_the_same_way() {
    let folder = Folder::with_ratings();
    let outcome = folder.done(&["recommend", MODEL, "--column", "Alien", "--top", "2"]);
    let table = Table::read(&outcome.stdout);
    assert_eq!(table.header, ["column", "rank", "row", "prediction"]);
    let all = predictions(&folder);
    let mut slow: Vec<f64> =
        all.iter().filter(|(pair, _)| pair.1 == "Alien").map(|(_, p)| *p).collect();
    slow.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(table.numbers("prediction"), slow[..2]);
    assert!(outcome.stderr.contains("not left out"), "{outcome:?}");
    let all = folder.done(&["recommend", MODEL, "--all", "columns", "--top", "2"]).stdout;
    assert!(all.contains(outcome.stdout.lines().nth(1).unwrap()));
}

#[test]
fn new_rows_are_placed_and_their_entries_left_out() {
    let folder = Folder::with_ratings();
    let new = ["recommend", MODEL, "--new", "new-ratings.csv", "--top", "100"];
    let outcome = folder.done(&new);
    let table = Table::read(&outcome.stdout);
    assert_eq!(table.lines.len(), 21, "24 films, three of them rated: {outcome:?}");
    assert!(table.column("row").iter().all(|row| row == "zoe"));
    assert!(
        !table.column("column").iter().any(|film| ["Alien", "Dune", "Heat"].contains(&&**film))
    );
    let pairs: String = table.column("column").iter().map(|film| format!("zoe,{film}\n")).collect();
    folder.write("zoe.csv", format!("row,column\n{pairs}"));
    let predict = ["predict", MODEL, "zoe.csv", "--with", "new-ratings.csv"];
    let predicted = Table::read(&folder.done(&predict).stdout);
    assert_eq!(table.numbers("prediction"), predicted.numbers("prediction"));
    let named = folder.done(&[&new[..], &["--row", "zoe"]].concat());
    assert_eq!(named.stdout, outcome.stdout);
}

#[test]
fn json_and_titles_say_the_same() {
    let folder = Folder::with_ratings();
    let args =
        ["recommend", MODEL, "--row", "anna", "--known", "ratings.csv", "--names", "movies.csv"];
    let json = folder.done(&[&args[..], &["--json"]].concat()).json();
    let csv = folder.done(&args).stdout;
    let best = json["rows"][0]["recommended"].as_array().unwrap();
    assert_eq!(json["rows"][0]["row"], "anna");
    assert_eq!(best.len(), csv.lines().count() - 1);
    for (one, line) in best.iter().zip(csv.lines().skip(1)) {
        let name = one["name"].as_str().unwrap();
        assert_eq!(one["title"], format!("{name}, the film"));
        assert!(line.contains(name) && line.ends_with("the film\""), "{line}");
    }
    let all = folder.done(&["recommend", MODEL, "--all", "--top", "1", "--json"]);
    assert_eq!(all.stdout.lines().count(), 1);
    assert_eq!(all.json()["rows"].as_array().unwrap().len(), 36);
}

#[test]
fn files_and_threads_make_no_difference() {
    let folder = Folder::with_ratings();
    let args = ["recommend", MODEL, "--all", "--known", "ratings.csv"];
    let shown = folder.done(&args).stdout;
    folder.done(&[&args[..], &["--threads", "1", "--out", "best.csv"]].concat());
    assert_eq!(folder.text("best.csv"), shown);
    folder.done(&[&args[..], &["--threads", "3", "--out", "best.tsv"]].concat());
    assert_eq!(folder.text("best.tsv").replace('\t', ","), shown);
}

#[test]
fn nobody_is_no_answer() {
    let folder = Folder::with_ratings();
    folder.refused(&["recommend", MODEL], 2, &["--row NAME", "--all"]);
    folder.refused(&["recommend", MODEL, "--row", "anna", "--column", "Heat"], 2, &["--column"]);
    folder.refused(&["recommend", MODEL, "--all", "--out", "x.xlsx"], 2, &[".parquet", ".xlsx"]);
    folder.refused(&["recommend", MODEL, "--all", "--out", MODEL], 2, &["overwrite the model"]);
    let old = ["recommend", MODEL, "--new", "ratings.csv"];
    folder.refused(&old, 3, &["ratings.csv", "known to the model already"]);
    folder.refused(&["recommend", MODEL, "--all", "people"], 2, &["rows or columns"]);
}
