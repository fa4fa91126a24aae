//! The trace of a fit: one line an iteration, whose parts add up.

use crate::support::{Folder, Table, assert_near};

const HEADER: [&str; 8] = [
    "iteration",
    "objective",
    "data_term",
    "balance_term",
    "link_norm",
    "train_rmse",
    "validation_rmse",
    "seconds",
];

fn traced(folder: &Folder, options: &[&str]) -> Table {
    let fit = ["fit", "data.csv", "--rank", "2", "--trace", "trace.csv", "--iterations", "7"];
    folder.done(&[&fit, options].concat());
    folder.table("trace.csv")
}

#[test]
fn the_trace_has_the_documented_columns_and_a_line_an_iteration_from_0() {
    let steps = ["--factor-step", "0.01", "--link-step", "0.01"];
    let trace = traced(&Folder::with_panel(), &steps);
    assert_eq!(trace.header, HEADER);
    assert_eq!(trace.column("iteration"), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert!(trace.column("validation_rmse").iter().all(String::is_empty));
    assert!(trace.numbers("seconds").is_sorted());
}

#[test]
fn the_objective_is_the_sum_of_its_parts() {
    let folder = Folder::with_panel();
    let alpha = 0.02;
    for loss in ["sum", "mean"] {
        for steps in ["backtracking", "0.02"] {
            let trace = traced(
                &folder,
                &[
                    "--loss",
                    loss,
                    "--link-penalty",
                    "0.02",
                    "--balance-penalty",
                    "0.3",
                    "--start",
                    "random",
                    "--factor-step",
                    steps,
                    "--link-step",
                    steps,
                ],
            );
            let norms = trace.numbers("link_norm");
            let (data, balance) = (trace.numbers("data_term"), trace.numbers("balance_term"));
            for (k, objective) in trace.numbers("objective").into_iter().enumerate() {
                let sum = data[k] + balance[k] + alpha / 2.0 * norms[k] * norms[k];
                assert_near(objective, sum, 1e-12);
            }
            assert!(norms.iter().any(|n| *n > 0.0) && balance[0] > 0.0);
        }
    }
}

#[test]
fn the_data_term_is_the_sum_or_the_mean_of_squares() {
    let folder = Folder::with_panel();
    for (loss, weight) in [("sum", 48.0), ("mean", 1.0)] {
        let trace = traced(&folder, &["--loss", loss]);
        for (data, rmse) in trace.numbers("data_term").iter().zip(trace.numbers("train_rmse")) {
            assert_near(*data, weight * rmse * rmse, 1e-12);
        }
    }
}

#[test]
fn a_known_link_has_no_norm() {
    let trace = traced(&Folder::with_panel(), &["--link", "tanh"]);
    assert!(trace.column("link_norm").iter().all(String::is_empty));
    let (objective, data) = (trace.numbers("objective"), trace.numbers("data_term"));
    for (k, balance) in trace.numbers("balance_term").iter().enumerate() {
        assert_near(objective[k], data[k] + balance, 1e-12);
    }
}

/// With backtracking and these options, the objective never rises after an iteration.
fn never_rises_after(iteration: usize, options: &[&str]) {
    let steps = ["--factor-step", "backtracking", "--link-step", "backtracking"];
    let options = [&steps[..], &["--iterations", "40"], options].concat();
    let objective = traced(&Folder::with_panel(), &options).numbers("objective");
    for (k, pair) in objective.windows(2).enumerate().skip(iteration) {
        let slack = 1e-12 * pair[0].abs();
        assert!(pair[1] <= pair[0] + slack, "{options:?}, iteration {}: {pair:?}", k + 1);
    }
    assert!(objective.last() < objective.first(), "{options:?}");
}

#[test]
fn backtracking_never_raises_the_objective() {
    for options in [
        &[][..],
        &["--order", "link-first"],
        &["--project-factors", "auto", "--start-link", "identity"],
        &["--link", "sigmoid"],
        &["--loss", "mean", "--start", "random"],
        // The zero link of the start keeps to these bounds.
        &["--project-factors", "auto", "--monotone", "0,inf"],
        &["--project-factors", "auto", "--monotone", "0,2", "--order", "link-first"],
    ] {
        never_rises_after(0, options);
    }
}

#[test]
fn backtracking_raises_the_objective_only_to_enter_the_slope_bounds() {
    for options in [
        &["--monotone", "0.1,2"][..],
        &["--monotone", "0.5,3", "--order", "link-first"],
        &["--monotone", "0.01,0.8", "--start-link", "identity"],
    ] {
        never_rises_after(1, &[&["--project-factors", "auto"], options].concat());
    }
}

#[test]
fn with_the_truth_the_trace_has_distances_to_it() {
    let folder = Folder::new();
    let made = [
        "generate",
        "--rows",
        "12",
        "--columns",
        "10",
        "--rank",
        "2",
        "--observed",
        "all",
        "--out",
        "data.csv",
        "--truth",
        "truth.csv",
    ];
    folder.done(&made);
    let trace = traced(&folder, &["--truth", "truth.csv", "--monotone", "0.01,1"]);
    let distances = ["factor_distance", "link_distance", "lyapunov", "regret"];
    assert_eq!(trace.header, [&HEADER[..], &distances].concat());
    // The regret is a mean over the iterations made, of which there are none at the start.
    assert_eq!(trace.column("regret")[0], "");
    let made = Table { lines: trace.lines[1..].to_vec(), ..trace };
    for name in distances {
        let numbers = made.numbers(name);
        assert!(numbers.iter().all(|n| n.is_finite() && *n >= 0.0), "{name}: {numbers:?}");
    }
    let start = ["--truth", "truth.csv", "--start", "truth.csv", "--iterations", "0"];
    assert!(traced(&folder, &start).numbers("factor_distance")[0] < 1e-9);
}

#[test]
fn the_last_line_has_the_error_that_json_tells() {
    let folder = Folder::with_panel();
    let args = ["fit", "data.csv", "--rank", "2", "--trace", "trace.csv", "--json"];
    let json = folder.done(&args).json();
    let trace = folder.table("trace.csv");
    let last = *trace.numbers("train_rmse").last().unwrap();
    assert_near(json["train"]["rmse"].as_f64().unwrap(), last, 1e-9);
    assert_eq!(json["iterations"].as_u64().unwrap() as usize, trace.lines.len() - 1);
}
