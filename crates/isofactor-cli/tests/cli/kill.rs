//! A fit that is killed at any moment, again and again, ends in the bytes of one that never was.
//!
//! `make kill-test KILLS=200` kills more often than the tests do, and shows the figures.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{Folder, Outcome};

const CHECKPOINT: &str = "fit.checkpoint";
const OUT: &str = "killed.isofactor";

/// How many kills there are, over all fits.
fn kills() -> usize {
    std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

/// Numbers from 0 to 1 that look random, the same every time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Where the kills landed.
#[derive(Debug, Default)]
struct Figures {
    kills: usize,
    before_the_first_checkpoint: usize,
    while_choosing: usize,
    while_fitting: usize,
    while_a_file_was_written: usize,
    fits_completed: usize,
}

/// A fit that takes a while, and what it comes to when nobody kills it.
struct Victim {
    folder: Folder,
    args: Vec<&'static str>,
    model: Vec<u8>,
    json: Value,
    takes: Duration,
}

impl Victim {
    fn new(options: &[&'static str]) -> Self {
        let folder = Folder::new();
        let generate = "generate --rows 150 --columns 100 --rank 3 --observed 6000 --spread 3 --noise 0.05 --seed 3 --out data.csv";
        folder.done(&generate.split(' ').collect::<Vec<_>>());
        let mut args = vec!["fit", "data.csv"];
        args.extend(options);
        args.extend(["--json", "--out", OUT]);
        let began = Instant::now();
        let json = folder.done(&args).timeless_json();
        let (takes, model) = (began.elapsed(), folder.bytes(OUT));
        Self { folder, args, model, json, takes }
    }

    /// Kills and resumes until the fit is complete or there were kills enough.
    fn run(&self, chance: &mut Chance, most: usize, figures: &mut Figures) {
        std::fs::remove_file(self.folder.path(OUT)).unwrap();
        let every = if chance.next() < 0.5 { "0s" } else { "0.05s" };
        let mut args = self.args.clone();
        args.extend(["--checkpoint", CHECKPOINT, "--resume", "--every", every]);
        loop {
            let mut command = self.folder.command(&args);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let patience = self.takes.mul_f64(0.7 * chance.next());
            let began = Instant::now();
            let goes_on = figures.kills >= most;
            while (goes_on || began.elapsed() < patience) && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            if child.try_wait().unwrap().is_none() {
                child.kill().unwrap();
            }
            let outcome = Outcome::new(&args, child.wait_with_output().unwrap());
            if let Some(code) = outcome.code {
                assert_eq!(code, 0, "{outcome:?}");
                return self.is_complete(&outcome, figures);
            }
            self.count(figures);
        }
    }

    /// What a kill left behind: nothing under a final name that is not whole.
    fn count(&self, figures: &mut Figures) {
        let content = self.folder.content();
        figures.kills += 1;
        if let Some(model) = content.get(OUT) {
            assert!(*model == self.model, "a model that is not whole");
        }
        let written = content.keys().any(|name| name.starts_with(".isofactor-"));
        figures.while_a_file_was_written += usize::from(written);
        let Some(checkpoint) = content.get(CHECKPOINT) else {
            figures.before_the_first_checkpoint += 1;
            return;
        };
        let line = checkpoint.split(|&byte| byte == b'\n').next().unwrap();
        let header: Value = serde_json::from_slice(line).unwrap();
        match header["at"].as_str().unwrap().contains("choosing") {
            true => figures.while_choosing += 1,
            false => figures.while_fitting += 1,
        }
    }

    fn is_complete(&self, outcome: &Outcome, figures: &mut Figures) {
        figures.fits_completed += 1;
        assert!(self.folder.bytes(OUT) == self.model, "another model: {outcome:?}");
        assert_eq!(outcome.timeless_json(), self.json);
        let names: Vec<String> = self.folder.content().into_keys().collect();
        assert_eq!(names, ["data.csv", OUT], "files were left behind");
    }
}

#[test]
#[allow(clippy::print_stderr, reason = "the figures of the kill test")]
fn a_fit_killed_again_and_again_ends_in_the_same_bytes() {
    let fits: [(&str, &[&str]); 3] = [
        ("fast", &["--solver", "auto"]),
        ("fast, held out", &["--solver", "auto", "--holdout", "0.1"]),
        ("bcd", &["--rank", "3", "--iterations", "250", "--holdout", "0.1"]),
    ];
    let mut chance = Chance(20_261_116);
    let each = kills().div_ceil(fits.len());
    for (name, options) in fits {
        let victim = Victim::new(options);
        let mut figures = Figures::default();
        while figures.kills < each {
            victim.run(&mut chance, each, &mut figures);
        }
        eprintln!("{name}: {figures:?}");
    }
}
