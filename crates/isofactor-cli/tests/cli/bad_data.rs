//! Data that cannot be used: exit code 3, a sentence with the place, and no files.

use crate::support::{Folder, MODEL, WRITING_FIT as FIT, panel};

fn fit_refuses(data: impl AsRef<[u8]>, options: &[&str], words: &[&str]) {
    let folder = Folder::new();
    folder.write("data.csv", data);
    folder.refused(&[&FIT, options].concat(), 3, words);
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::with_model();
    folder.refused(
        &FIT.map(|a| a.replace("data", "nosuch")).each_ref().map(String::as_str),
        3,
        &["nosuch.csv", "no such file"],
    );
    folder.refused(&["evaluate", MODEL, "nosuch.csv"], 3, &["nosuch.csv", "no such file"]);
    folder.refused(&["predict", MODEL, "nosuch.csv", "--out", "p.csv"], 3, &["nosuch.csv"]);
    folder.refused(&[&FIT[..], &["--valid", "nosuch.csv"]].concat(), 3, &["nosuch.csv"]);
    folder.refused(&[&FIT[..], &["--truth", "nosuch.csv"]].concat(), 3, &["nosuch.csv"]);
    folder.refused(&[&FIT[..], &["--start", "nosuch.csv"]].concat(), 3, &["nosuch.csv"]);
}

#[test]
fn a_folder_is_no_data() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("data.csv")).unwrap();
    folder.refused(&FIT, 3, &["data.csv", "directory"]);
}

#[test]
fn an_empty_file_is_called_empty() {
    fit_refuses("", &[], &["data.csv", "empty"]);
    fit_refuses("\n\n", &[], &["data.csv", "empty"]);
    fit_refuses("", &["--wide"], &["data.csv", "empty"]);
}

#[test]
fn a_header_alone_is_not_enough() {
    fit_refuses("row,column,value\n", &[], &["data.csv", "header but no entries"]);
    fit_refuses("a,b,c\n", &["--wide"], &["data.csv", "header but no entries"]);
}

#[test]
fn text_in_the_value_column_is_shown_with_its_line() {
    let words = ["data.csv, line 3", "'high'", "not a number", "--missing 'high'"];
    fit_refuses("row,column,value\na,x,1\na,y,high\nb,x,2\n", &[], &words);
}

#[test]
fn line_numbers_count_blank_lines_and_lines_inside_quotes() {
    let text = "row,column,value\n\na,\"x\ny\",1\nb,x,high\n";
    fit_refuses(text, &[], &["data.csv, line 5", "'high'"]);
}

#[test]
fn an_empty_value_is_shown_with_its_line() {
    fit_refuses("row,column,value\na,x,1\na,y,\n", &[], &["data.csv, line 3", "not a number"]);
}

#[test]
fn values_that_are_not_finite_are_shown_with_their_line() {
    for value in ["NaN", "nan", "inf", "-inf", "1e999"] {
        let text = format!("row,column,value\na,x,1\na,y,{value}\n");
        let quoted = format!("'{value}'");
        fit_refuses(text, &[], &["data.csv, line 3", &quoted, "not finite"]);
    }
}

#[test]
fn one_row_or_one_column_is_too_small() {
    let two = "at least two of each";
    fit_refuses("row,column,value\na,x,1\na,y,2\n", &[], &["1 row(s) and 2 column(s)", two]);
    // Also where a share is held out, of which such rows have none to give.
    for options in [&[][..], &["--holdout", "0.1"]] {
        let text = "row,column,value\na,x,1\nb,x,2\n";
        fit_refuses(text, options, &["2 row(s) and 1 column(s)", two]);
    }
}

#[test]
fn entries_that_are_all_marked_missing_leave_nothing_to_fit() {
    let text = "row,column,value\na,x,99\na,y,99.0\nb,x,99\n";
    fit_refuses(text, &["--missing", "99"], &["data.csv", "no entries"]);
    fit_refuses("x,y\nNA,\n,NA\n", &["--wide"], &["data.csv", "no entries"]);
}

#[test]
fn a_file_without_entries_says_that_they_are_marked_missing() {
    let text = "row,column,value\na,x,99\na,y,99.0\nb,x,99\n";
    fit_refuses(text, &["--missing", "99"], &["data.csv", "missing"]);
}

#[test]
fn values_that_are_all_equal_hold_nothing_to_learn() {
    let text = "row,column,value\na,x,2.5\na,y,2.5\nb,x,2.5\nb,y,2.5\n";
    for options in [&[][..], &["--holdout", "0.5"]] {
        fit_refuses(text, options, &["all 4 observed values equal 2.5", "no variation"]);
    }
}

#[test]
fn text_that_is_not_utf8_is_shown_with_its_line() {
    let text = b"row,column,value\na,x,1\nb\xff,x,2\n";
    fit_refuses(text, &[], &["data.csv, line 3", "UTF-8"]);
}

#[test]
fn a_line_with_another_number_of_fields_is_shown() {
    let words = ["data.csv, line 3", "2 field(s)", "3"];
    fit_refuses("row,column,value\na,x,1\nb,2\n", &[], &words);
    let words = ["data.csv, line 3", "4 field(s)", "3"];
    fit_refuses("row,column,value\na,x,1\nb,x,2,7\n", &[], &words);
}

#[test]
fn two_columns_are_too_few_for_entries() {
    fit_refuses("row,value\na,1\nb,2\n", &[], &["data.csv", "2 column(s)", "at least 3"]);
}

#[test]
fn one_column_is_too_few_for_pairs() {
    let folder = Folder::with_model();
    folder.write("pairs.csv", "row\nr1\n");
    let args = ["predict", MODEL, "pairs.csv", "--out", "predicted.csv"];
    folder.refused(&args, 3, &["pairs.csv", "1 column(s)", "at least 2"]);
}

#[test]
fn bad_validation_entries_are_refused_like_bad_data() {
    let folder = Folder::with_panel();
    folder.write("valid.csv", "row,column,value\nr0,c0,1\nr0,c1,much\n");
    let args = [&FIT[..], &["--valid", "valid.csv"]].concat();
    folder.refused(&args, 3, &["valid.csv, line 3", "'much'"]);
}

#[test]
fn a_start_of_another_rank_is_refused() {
    let folder = Folder::with_panel();
    folder.write("start.csv", "kind,label,1,2,3\nrow,r0,1,2,3\ncolumn,c0,1,2,3\n");
    let args = [&FIT[..], &["--start", "start.csv"]].concat();
    folder.refused(&args, 3, &["rank 3", "rank 2"]);
}

#[test]
fn a_file_of_factors_with_a_bad_line_is_refused_with_its_line() {
    let folder = Folder::with_panel();
    let args = [&FIT[..], &["--start", "start.csv"]].concat();
    folder.write("start.csv", "kind,label,1,2\nrow,r0,1,2\ncolumn,c0,1,much\n");
    folder.refused(&args, 3, &["start.csv, line 3", "'much'"]);
    folder.write("start.csv", "kind,label,1,2\nrow,r0,1,2\nrow,r0,1,2\n");
    folder.refused(&args, 3, &["start.csv, line 3", "twice"]);
    folder.write("start.csv", "kind,label,1,2\nuser,r0,1,2\n");
    folder.refused(&args, 3, &["start.csv, line 2", "kind"]);
}

#[test]
fn a_truth_without_a_link_is_refused() {
    let folder = Folder::with_panel();
    folder.write("truth.csv", "kind,label,1,2\nrow,r0,1,2\ncolumn,c0,1,2\n");
    let args = [&FIT[..], &["--truth", "truth.csv"]].concat();
    folder.refused(&args, 3, &["truth.csv", "link"]);
}

#[test]
fn a_refusal_leaves_older_output_as_it_was() {
    let folder = Folder::with_model();
    folder.write("trace.csv", "kept\n");
    folder.write("data.csv", panel().replace("r7,c5,", "r7,c5,x"));
    folder.refused(&FIT, 3, &["data.csv, line 49"]);
}

#[test]
fn bad_data_on_standard_input_are_named_so() {
    let folder = Folder::new();
    let outcome = folder.run_with_input(&["fit", "-", "--json"], "row,column,value\na,x,much\n");
    outcome.is_refusal(3, &["standard input, line 2", "'much'"]);
}
