//! `isofactor reproduce`: the paper's experiments, run again, on one page.

use std::{
    fs,
    io::IsTerminal,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::UNIX_EPOCH,
};

use indicatif::{ProgressBar, ProgressStyle};
use isofactor_lab::reproduce::{
    Circumstances, Desk, Error, Experiment, Outcome, Planned, Progress, write_experiment,
    write_page,
};

use crate::{
    args::ReproduceArgs,
    failure::Failure,
    interrupt::Interrupt,
    text::{say, show},
};

/// Where finished cases are kept until the whole run is done.
const KEPT: &str = ".unfinished";
/// Steps of the bar.
const STEPS: f64 = 1000.0;

/// Runs the experiments asked for and writes their files and the page.
pub fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let experiments = named(&args.experiments)?;
    let given = Circumstances {
        quick: args.quick,
        data: args.data.as_deref(),
        peers: Some(args.peers.as_path()),
    };
    let planned = experiments.iter().map(|e| plan(*e, &given)).collect::<Result<Vec<_>, _>>()?;
    let kept = args.out.join(KEPT);
    fs::create_dir_all(&kept)
        .map_err(|e| Failure::Unexpected(format!("{}: cannot be made ({e})", kept.display())))?;
    let work: f64 = planned.iter().flatten().map(|p| p.cost()).sum();
    let progress = Bar::new(work);
    let desk = Desk::new(kept.clone(), this_program(), threads(args.threads), &progress);
    let mut outcomes = Vec::new();
    for (experiment, planned) in experiments.iter().zip(&planned) {
        let outcome = carry_out(*experiment, planned, &given, &desk, &progress)
            .map_err(|error| stopped(error, args))?;
        progress.above(&in_a_line(&outcome));
        write_experiment(&outcome, &args.out).map_err(failure)?;
        outcomes.push(outcome);
    }
    progress.finish();
    write_page(&outcomes, args.quick, &args.out).map_err(failure)?;
    // Kept cases are of this run alone: the next one makes every number itself.
    fs::remove_dir_all(&kept)
        .map_err(|e| Failure::Unexpected(format!("{}: cannot be cleared ({e})", kept.display())))?;
    show(&format!("\n  look at {}\n", args.out.join("index.html").display()))?;
    Ok(())
}

/// The experiments by name, in the order of the page.
fn named(names: &[String]) -> Result<Vec<Experiment>, Failure> {
    let known = || Experiment::ALL.map(Experiment::name).join(", ");
    if let Some(name) = names.iter().find(|n| *n != "all" && Experiment::named(n).is_none()) {
        return Err(Failure::Usage(format!(
            "there is no experiment '{name}': take all, or any of {}",
            known()
        )));
    }
    let all = names.iter().any(|name| name == "all");
    let asked = |e: &Experiment| all || names.iter().any(|name| name == e.name());
    Ok(Experiment::ALL.into_iter().filter(asked).collect())
}

/// What is to be done for an experiment; nothing where the data it needs were not named.
fn plan(
    experiment: Experiment,
    given: &Circumstances<'_>,
) -> Result<Option<Box<dyn Planned>>, Failure> {
    if experiment.needs_data() && given.data.is_none() {
        return Ok(None);
    }
    experiment.plan(given).map(Some).map_err(failure)
}

fn carry_out(
    experiment: Experiment,
    planned: &Option<Box<dyn Planned>>,
    given: &Circumstances<'_>,
    desk: &Desk<'_>,
    progress: &Bar,
) -> Result<Outcome, Error> {
    let Some(planned) = planned else {
        return experiment.outcome(given, 0.0, Err(MISSING_DATA.to_owned()));
    };
    progress.begin(experiment.name());
    let findings = planned.carry_out(experiment.name(), desk)?;
    experiment.outcome(given, desk.take_seconds(), Ok(findings))
}

/// What to do without the folder of data.
const MISSING_DATA: &str = "it needs real data. Put MovieLens ml-latest-small (grouplens.org) as \
     movielens-small/ratings.csv and Jester dataset 1, part 1 (eigentaste.berkeley.edu), as CSV without \
     a header in jester-1/jester-data-1.csv, both in one folder, and name it with --data.";

fn in_a_line(outcome: &Outcome) -> String {
    let (verdict, sentence) = match &outcome.findings {
        Ok(findings) => (findings.verdict.in_words(), findings.sentence.as_str()),
        Err(reason) => ("not run", reason.as_str()),
    };
    format!("  {:<17} {verdict:<14} {:>6.1} s  {sentence}", outcome.name, outcome.seconds)
}

fn stopped(error: Error, args: &ReproduceArgs) -> Failure {
    if matches!(error, Error::Interrupted) {
        say(&format!(
            "what is finished is kept in {}; the same command goes on from there",
            args.out.join(KEPT).display()
        ));
        return Failure::Interrupted;
    }
    failure(error)
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Fit(error) => error.into(),
        Error::File(error) => error.into(),
        Error::Interrupted => Failure::Interrupted,
        Error::OtherData { .. } => Failure::Data(error.to_string()),
        Error::Folder { .. } | Error::Settings { .. } => Failure::Unexpected(error.to_string()),
    }
}

/// Version, size and date of the program: finished cases of another are not used.
fn this_program() -> String {
    let about = |path: PathBuf| {
        let file = fs::metadata(path).ok()?;
        let age = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{} {}", file.len(), age.as_nanos()))
    };
    let program = std::env::current_exe().ok().and_then(about).unwrap_or_default();
    format!("{} {program}", env!("CARGO_PKG_VERSION"))
}

fn threads(asked: usize) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    if asked == 0 { cores() } else { asked }
}

/// The bar of the whole run, with an estimate of the time left.
struct Bar {
    interrupt: Arc<Interrupt>,
    bar: Option<ProgressBar>,
    done: Mutex<f64>,
    work: f64,
}

impl Bar {
    fn new(work: f64) -> Self {
        let interrupt = Interrupt::listen();
        // Finished cases are always there to go on from.
        interrupt.reach();
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(
                "  {msg:17} {wide_bar:.cyan/dim} {percent:>3}%  {eta} left",
            );
            let bar = ProgressBar::new(STEPS as u64);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { interrupt, bar, done: Mutex::new(0.0), work: work.max(1.0) }
    }

    fn begin(&self, name: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_message(name);
        }
    }

    /// A line that stays, above the bar.
    fn above(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => say(line),
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bar {
    fn advance(&self, cost: f64) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += cost;
        if let Some(bar) = &self.bar {
            bar.set_position((*done / self.work * STEPS) as u64);
        }
    }

    fn cancelled(&self) -> bool {
        self.interrupt.is_asked()
    }
}
