//! Settings that cannot be used: exit code 2, and 4 where only the computation can tell.

use crate::support::{Folder, MODEL, WRITING_FIT as FIT};

fn fit_refuses(options: &[&str], code: i32, words: &[&str]) {
    Folder::with_panel().refused(&[&FIT, options].concat(), code, words);
}

#[test]
fn a_rank_above_the_shape_is_refused_with_the_largest_possible() {
    fit_refuses(&["--rank", "7"], 2, &["rank 7", "8 x 6", "at most 6"]);
}

#[test]
fn a_rank_must_be_a_positive_whole_number() {
    fit_refuses(&["--rank", "0"], 2, &["rank", "positive"]);
    fit_refuses(&["--rank", "two"], 2, &["--rank", "'two'"]);
    fit_refuses(&["--rank=-1"], 2, &["--rank", "'-1'"]);
}

#[test]
fn an_unknown_column_is_answered_with_the_header() {
    for option in ["--row", "--column", "--value"] {
        let words = ["data.csv", "'nosuch'", "row, column, value"];
        fit_refuses(&[option, "nosuch"], 2, &words);
    }
}

#[test]
fn settings_that_must_be_positive_say_so() {
    for name in ["bandwidth", "link-penalty", "factor-step", "link-step", "project-factors"] {
        for value in ["0", "-0.5", "inf", "nan"] {
            fit_refuses(&[&format!("--{name}"), value], 2, &[name, "positive"]);
        }
    }
}

#[test]
fn settings_that_must_not_be_negative_say_so() {
    for name in ["balance-penalty", "tolerance"] {
        for value in ["-1", "nan"] {
            fit_refuses(&[&format!("--{name}"), value], 2, &[name, "zero or positive"]);
        }
    }
}

#[test]
fn slope_bounds_must_be_two_and_in_order() {
    for bounds in ["2,1", "1,1", "-1,2", "nan,1"] {
        fit_refuses(&["--monotone", bounds], 2, &["slope bounds", "low < high"]);
    }
    fit_refuses(&["--monotone", "1"], 2, &["monotone", "LOW,HIGH"]);
    fit_refuses(&["--monotone", "1,2,3"], 2, &["monotone", "LOW,HIGH"]);
}

#[test]
fn a_share_to_hold_out_lies_between_0_and_1() {
    for share in ["0", "1", "-0.1", "1.5", "nan"] {
        fit_refuses(&["--holdout", share], 2, &["holdout", "between 0 and 1"]);
    }
}

#[test]
fn a_share_that_holds_nothing_back_is_said_to_be_too_small() {
    fit_refuses(&["--holdout", "0.01"], 2, &["holdout"]);
}

#[test]
fn unknown_words_are_answered_with_the_choices() {
    for (option, choice) in [
        ("--solver", "bcd"),
        ("--kernel", "gaussian"),
        ("--loss", "mean"),
        ("--link", "sigmoid"),
        ("--order", "link-first"),
        ("--start-link", "identity"),
        ("--effects", "off"),
        ("--keep", "best"),
        ("--bandwidth", "auto"),
        ("--factor-step", "backtracking"),
        ("--link-step", "theory"),
        ("--project-factors", "auto"),
        ("--monotone", "LOW,HIGH"),
    ] {
        fit_refuses(&[option, "nosuch"], 2, &[&option[2..], "'nosuch'", choice]);
    }
}

#[test]
fn steps_of_the_theory_need_slope_bounds() {
    fit_refuses(&["--factor-step", "theory"], 2, &["theory", "needs monotone"]);
    fit_refuses(&["--link-step", "theory"], 2, &["theory", "needs monotone"]);
    let unbounded = ["--link-step", "theory", "--monotone", "0,inf"];
    fit_refuses(&unbounded, 2, &["theory", "LOW above 0"]);
}

#[test]
fn holding_out_and_validation_entries_exclude_each_other() {
    let options = ["--holdout", "0.2", "--valid", "data.csv"];
    fit_refuses(&options, 2, &["--holdout", "--valid", "cannot be used"]);
}

#[test]
fn unknown_options_and_commands_are_refused() {
    fit_refuses(&["--bandwith", "1"], 2, &["--bandwith", "--bandwidth"]);
    Folder::new().refused(&["fitt"], 2, &["fitt", "'fit'"]);
    Folder::new().refused(&[], 2, &["Usage"]);
    Folder::new().refused(&["fit"], 2, &["DATA"]);
}

#[test]
fn output_into_a_folder_that_does_not_exist_is_refused_before_the_work() {
    for option in ["--out", "--trace", "--report"] {
        fit_refuses(&[option, "nosuch/file"], 1, &["nosuch/file", "cannot be written"]);
    }
    let folder = Folder::with_model();
    folder.write("pairs.csv", "row,column\nr0,c0\n");
    let args = ["predict", MODEL, "pairs.csv", "--out", "nosuch/file"];
    folder.refused(&args, 1, &["nosuch/file", "cannot be written"]);
    folder.refused(&["generate", "--out", "nosuch/file"], 1, &["nosuch/file"]);
    let args = ["generate", "--out", "made.csv", "--truth", "nosuch/file"];
    folder.refused(&args, 1, &["nosuch/file", "cannot be written"]);
}

#[test]
fn a_folder_is_no_output() {
    let folder = Folder::with_panel();
    std::fs::create_dir(folder.path("taken")).unwrap();
    folder.refused(&[&FIT[..], &["--out", "taken"]].concat(), 1, &["taken", "directory"]);
}

#[test]
fn steps_that_are_too_long_end_in_a_numerical_failure() {
    let options = ["--factor-step", "1e6", "--link-step", "1e6", "--iterations", "50"];
    fit_refuses(&options, 4, &["smaller steps"]);
    let options = ["--link", "cubic", "--factor-step", "1e3", "--iterations", "50"];
    fit_refuses(&options, 4, &["diverged", "smaller steps"]);
}

#[test]
fn a_bandwidth_far_below_the_scores_is_a_numerical_failure() {
    fit_refuses(&["--bandwidth", "1e-9"], 4, &["bandwidth", "larger bandwidth"]);
}

#[test]
fn a_link_of_knots_that_do_not_rise_is_refused() {
    let folder = Folder::with_panel();
    let args = [&FIT[..], &["--link", "knots.csv"]].concat();
    folder.write("knots.csv", "score,value\n-1,0\n0,1\n1,1\n");
    folder.refused(&args, 3, &["knots.csv", "knot 3", "does not increase"]);
    folder.write("knots.csv", "score,value\n-1,0\n");
    folder.refused(&args, 3, &["knots.csv", "at least two knots"]);
    folder.refused(&[&FIT[..], &["--link", "nosuch.csv"]].concat(), 3, &["nosuch.csv"]);
}

#[test]
fn an_unknown_start_is_answered_with_the_choices() {
    fit_refuses(&["--start", "sepctral"], 3, &["sepctral", "spectral", "random"]);
}

#[test]
fn factors_that_name_none_of_the_rows_and_columns_are_refused() {
    let folder = Folder::with_panel();
    folder.write("other.csv", "kind,label,1,2\nrow,a,1,2\ncolumn,b,1,2\nlink,tanh,,\n");
    for option in ["--start", "--truth"] {
        folder.refused(&[&FIT[..], &[option, "other.csv"]].concat(), 3, &["other.csv"]);
    }
}

#[test]
fn a_truth_is_compared_with_the_iterates_of_algorithm_1_alone() {
    fit_refuses(&["--solver", "fast", "--truth", "data.csv"], 2, &["--truth", "--solver bcd"]);
}

#[test]
fn the_data_are_never_overwritten_by_the_output() {
    fit_refuses(&["--out", "data.csv"], 2, &["data.csv", "--out"]);
    fit_refuses(&["--trace", "./data.csv"], 2, &["data.csv", "--trace"]);
}

#[test]
fn two_outputs_of_the_same_name_are_refused() {
    fit_refuses(&["--trace", MODEL], 2, &[MODEL, "--trace", "--out"]);
}

#[cfg(unix)]
#[test]
fn a_file_name_that_is_not_utf8_is_no_reason_to_panic() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let mut command = folder.command(&["inspect"]);
    command.arg(std::ffi::OsStr::from_bytes(b"mod\xff"));
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!message.contains("panicked"), "{message}");
    assert!(matches!(output.status.code(), Some(2 | 3)), "{output:?}");
}
