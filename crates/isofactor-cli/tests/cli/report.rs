//! The page about a model that was written earlier.

use crate::support::{Folder, MODEL};

const FIT: [&str; 6] = ["fit", "data.csv", "--rank", "2", "--out", MODEL];

#[test]
fn a_model_and_its_data_make_a_page() {
    let folder = Folder::with_model();
    let outcome = folder.done(&["report", MODEL, "data.csv"]);
    assert!(outcome.stderr.contains("wrote page.html"), "{outcome:?}");
    assert_eq!(outcome.stdout, "");
    let page = folder.text("page.html");
    assert!(page.contains("<title>data.csv: "), "{}", &page[..900]);
    assert!(page.contains("A model file does not hold the course of its fit"));
    assert!(page.contains("No entries were held out"));
    assert!(!page.contains("not exactly those the model learned from"));
}

#[test]
fn the_same_holdout_finds_the_entries_that_the_fit_held_back() {
    let folder = Folder::with_panel();
    folder.done(&[&FIT[..], &["--holdout", "0.2", "--seed", "5", "--report", "fit.html"]].concat());
    folder.done(&["report", MODEL, "data.csv", "--holdout", "0.2", "--out", "again.html"]);
    let error = |page: &str| {
        let html = folder.text(page);
        let fact = html.split_once("RMSE, held-out entries</dt>").unwrap().1;
        fact.split_once("</dd>").unwrap().0.to_owned()
    };
    assert_eq!(error("fit.html"), error("again.html"));
    let again = folder.text("again.html");
    assert!(!again.contains("not exactly those the model learned from"));
    folder.done(&["report", MODEL, "data.csv", "--out", "whole.html"]);
    assert!(folder.text("whole.html").contains("give the same --holdout"));
}

#[test]
fn entries_of_unknown_rows_are_counted_and_left_out() {
    let folder = Folder::with_model();
    let more = format!("{}nobody,nothing,1\nnobody,else,2\n", folder.text("data.csv"));
    folder.write("more.csv", more);
    folder.done(&["report", MODEL, "data.csv", "--valid", "more.csv"]);
    let page = folder.text("page.html");
    assert!(page.contains("2 entries of rows or columns that the model does not know"));
    assert!(page.contains("held-out entries are not new to the model"), "the data are in both");
}

#[test]
fn data_that_the_model_knows_nothing_of_are_refused() {
    let folder = Folder::with_model();
    folder.write("other.csv", "row,column,value\nx,y,1\nx,z,2\n");
    let outcome = folder.run(&["report", MODEL, "other.csv"]);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.stderr.contains("was it fitted to other data?"), "{outcome:?}");
    assert!(!folder.path("page.html").exists());
}

#[test]
fn a_page_does_not_overwrite_what_it_is_made_from() {
    let folder = Folder::with_model();
    for name in [MODEL, "data.csv"] {
        let outcome = folder.run(&["report", MODEL, "data.csv", "--out", name]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains("would overwrite"), "{outcome:?}");
    }
}
