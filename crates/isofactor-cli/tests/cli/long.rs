//! Long work: checkpoints, going on from them, time limits.

use crate::support::{Folder, MODEL};

/// A fit by each solver, without choices.
const FITS: [&[&str]; 2] = [
    &["fit", "data.csv", "--rank", "2", "--iterations", "30", "--holdout", "0.2"],
    &[
        "fit",
        "data.csv",
        "--solver",
        "fast",
        "--rank",
        "2",
        "--link",
        "sigmoid",
        "--shrinkage",
        "1",
    ],
];
const OUTPUTS: [&str; 5] = ["--json", "--out", MODEL, "--trace", "trace.csv"];
const KEPT: [&str; 2] = ["--checkpoint", "fit.checkpoint"];

fn joined<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.concat()
}

#[test]
fn a_time_limit_stops_cleanly_and_the_rest_is_made_later() {
    for fit in FITS {
        let folder = Folder::with_panel();
        let whole = folder.done(&joined(&[fit, &OUTPUTS]));
        let (model, trace) = (folder.bytes(MODEL), folder.table("trace.csv").without("seconds"));
        let long = joined(&[fit, &OUTPUTS, &KEPT]);
        let stopped = folder.done(&joined(&[&long, &["--time-limit", "0s"]]));
        assert_eq!(stopped.json()["stop"], "time-limit");
        for words in ["stopped at the time limit of 0s", "to go on", "--resume"] {
            assert!(stopped.stderr.contains(words), "{stopped:?}");
        }
        assert_ne!(folder.bytes(MODEL), model);
        let resumed = folder.done(&joined(&[&long, &["--resume"]]));
        assert!(resumed.stderr.contains("going on from iteration 0"), "{resumed:?}");
        assert_eq!(resumed.timeless_json(), whole.timeless_json());
        assert!(folder.bytes(MODEL) == model);
        assert_eq!(folder.table("trace.csv").without("seconds"), trace);
        assert!(!folder.path("fit.checkpoint").exists(), "it has served");
    }
}

#[test]
fn without_a_checkpoint_yet_a_fit_begins_anew() {
    let folder = Folder::with_panel();
    folder.done(&joined(&[FITS[0], &OUTPUTS]));
    let model = folder.bytes(MODEL);
    folder.done(&joined(&[FITS[0], &OUTPUTS, &KEPT, &["--resume", "--every", "0s"]]));
    assert!(folder.bytes(MODEL) == model);
}

#[test]
fn the_checkpoint_of_another_fit_is_refused() {
    for fit in FITS {
        let folder = Folder::with_panel();
        folder.done(&joined(&[fit, &KEPT, &["--time-limit", "0s"]]));
        let resumed = joined(&[fit, &KEPT, &["--resume"]]);
        folder.refused(&joined(&[fit, &KEPT]), 2, &["is there already", "--resume"]);
        let seed = joined(&[&resumed, &["--seed", "7"]]);
        folder.refused(&seed, 2, &["seed 0", "here it is 7"]);
        let held_out = joined(&[&resumed, &["--holdout", "0.3"]]);
        folder.refused(&held_out, 3, &["of other data"]);
        let bytes = folder.bytes("fit.checkpoint");
        folder.write("fit.checkpoint", &bytes[..bytes.len() - 1]);
        folder.refused(&resumed, 3, &["not a usable checkpoint", "delete it to begin anew"]);
        folder.write("fit.checkpoint", "something else");
        folder.refused(&resumed, 3, &["not a usable checkpoint"]);
    }
}

#[test]
fn a_time_limit_that_ends_while_it_is_chosen_what_to_fit_leaves_a_model() {
    let folder = Folder::with_panel();
    let fit = ["fit", "data.csv", "--solver", "auto", "--time-limit", "0s", "--json"];
    let stopped = folder.done(&joined(&[&fit, &["--out", MODEL]]));
    assert_eq!(stopped.json()["stop"], "time-limit");
    folder.done(&["evaluate", MODEL, "data.csv"]);
    let stopped = folder.done(&fit);
    assert!(stopped.stderr.contains("nothing was saved"), "{stopped:?}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let folder = Folder::with_panel();
    let fit = ["fit", "data.csv"];
    folder.refused(&joined(&[&fit, &["--resume"]]), 2, &["--checkpoint"]);
    folder.refused(&joined(&[&fit, &["--every", "5s"]]), 2, &["--checkpoint"]);
    folder.refused(&joined(&[&fit, &["--time-limit", "10"]]), 2, &["30s, 5m or 1.5h"]);
    let over = joined(&[&fit, &["--checkpoint", "data.csv"]]);
    folder.refused(&over, 2, &["would overwrite the data"]);
    let nowhere = joined(&[&fit, &["--checkpoint", "no/such/folder/file"]]);
    folder.refused(&nowhere, 1, &["there is no folder"]);
}
