//! Ctrl-C saves what there is and ends with exit code 130.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::support::{Folder, MODEL, Outcome};

/// Whether the process has a handler for SIGINT, the second signal of the mask.
fn listens(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
    u64::from_str_radix(mask, 16).unwrap() & 0b10 != 0
}

#[test]
fn an_interrupted_fit_saves_what_there_is_and_says_how_to_go_on() {
    let folder = Folder::with_panel();
    let args = [
        "fit",
        "data.csv",
        "--rank",
        "2",
        "--iterations",
        "1000000000",
        "--factor-step",
        "1e-6",
        "--link-step",
        "1e-6",
        "--json",
        "--out",
        MODEL,
        "--trace",
        "trace.csv",
    ];
    let mut command = folder.command(&args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && !listens(&child) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let outcome = Outcome::new(&args, child.wait_with_output().unwrap());
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert_eq!(outcome.json()["stop"], "cancelled");
    for words in ["interrupted", "--start model.isofactor"] {
        assert!(outcome.stderr.contains(words), "{outcome:?}");
    }
    let go_on = ["fit", "data.csv", "--rank", "2", "--iterations", "2", "--start", MODEL];
    folder.done(&go_on);
    let iterations = outcome.json()["iterations"].as_u64().unwrap() as usize;
    assert_eq!(folder.table("trace.csv").lines.len(), iterations + 1);
}

#[test]
fn a_fit_interrupted_while_it_chooses_goes_on_where_it_stopped() {
    let folder = Folder::new();
    let generate =
        "generate --rows 150 --columns 100 --observed 6000 --spread 3 --seed 3 --out data.csv";
    folder.done(&generate.split(' ').collect::<Vec<_>>());
    let fit = ["fit", "data.csv", "--solver", "auto", "--json", "--out", MODEL];
    folder.done(&fit);
    let whole = folder.bytes(MODEL);
    let kept = [&fit[..], &["--checkpoint", "fit.checkpoint", "--every", "0s"]].concat();
    let mut command = folder.command(&kept);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && !folder.path("fit.checkpoint").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let outcome = Outcome::new(&kept, child.wait_with_output().unwrap());
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    let words = "isofactor fit data.csv --json --out model.isofactor --checkpoint fit.checkpoint --every 0s --resume";
    assert!(outcome.stderr.contains(words), "{outcome:?}");
    folder.done(&["evaluate", MODEL, "data.csv"]);
    folder.done(&[&kept[..], &["--resume"]].concat());
    assert!(folder.bytes(MODEL) == whole);
}
