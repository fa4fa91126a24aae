//! Runs the cases of an experiment: on all cores, each kept when it is done, stoppable.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use isofactor::{FitConfig, FitInput, FittedModel, Flow, Monitor, Stop, TraceRow, fit};
use isofactor_io::Target;
use serde::{Deserialize, Serialize};

use super::{
    error::{Error, Result},
    study::Study,
};

/// Hears how the work goes.
pub trait Progress: Sync {
    /// So much more work, in passes over one entry, is done.
    fn advance(&self, cost: f64);
    /// Whether to stop.
    fn cancelled(&self) -> bool;
}

/// Where cases are run and kept.
pub struct Desk<'a> {
    /// Finished cases are kept here until the whole run is done.
    kept: PathBuf,
    /// What makes the results: kept cases of another program are not used.
    program: String,
    /// How many cases run at a time.
    threads: usize,
    /// Who is told.
    progress: &'a dyn Progress,
    /// Seconds of work so far, kept cases included.
    seconds: Mutex<f64>,
}

/// A finished case on disk.
#[derive(Serialize, Deserialize)]
struct Kept<Found> {
    key: String,
    seconds: f64,
    found: Found,
}

impl<'a> Desk<'a> {
    /// A desk that keeps its cases in a folder.
    pub fn new(kept: PathBuf, program: String, threads: usize, progress: &'a dyn Progress) -> Self {
        Self { kept, program, threads: threads.max(1), progress, seconds: Mutex::new(0.0) }
    }

    /// Seconds of work since this was last asked.
    pub fn take_seconds(&self) -> f64 {
        std::mem::take(&mut *self.seconds.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is found in each case, in their order, whatever the order in which they end.
    pub(crate) fn run<S: Study>(
        &self,
        name: &str,
        study: &S,
        cases: &[S::Case],
    ) -> Result<Vec<S::Found>> {
        let folder = self.kept.join(name);
        fs::create_dir_all(&folder).map_err(|e| Error::folder(&folder, &e))?;
        let key = format!("{} {}", self.program, study.key());
        // The longest first, so that no core is left waiting at the end.
        let mut order: Vec<usize> = (0..cases.len()).collect();
        order.sort_by(|&a, &b| study.cost(&cases[b]).total_cmp(&study.cost(&cases[a])));
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<Option<Result<S::Found>>>> =
            Mutex::new((0..cases.len()).map(|_| None).collect());
        let work = || {
            while let Some(&number) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let case = &cases[number];
                let file = folder.join(format!("{}.json", study.name(case)));
                let result = self.one(study, case, &key, &file);
                let failed = result.is_err();
                results.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(result);
                if failed {
                    // The others would be done in vain.
                    next.store(cases.len(), Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads.min(cases.len()) {
                scope.spawn(work);
            }
            work();
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::with_capacity(cases.len());
        let mut missing = false;
        for result in results {
            match result {
                Some(result) => found.push(result?),
                None => missing = true,
            }
        }
        if missing { Err(Error::Interrupted) } else { Ok(found) }
    }

    fn one<S: Study>(&self, study: &S, case: &S::Case, key: &str, file: &Path) -> Result<S::Found> {
        let cost = study.cost(case);
        if let Some(kept) = read_kept::<S::Found>(file, key) {
            self.progress.advance(cost);
            self.count(kept.seconds);
            return Ok(kept.found);
        }
        if self.progress.cancelled() {
            return Err(Error::Interrupted);
        }
        let began = Instant::now();
        let mut watch = Watch {
            progress: self.progress,
            left: cost,
            rows: Vec::new(),
            entries: 0,
            compared: None,
        };
        let found = study.run(case, &mut watch)?;
        self.progress.advance(watch.left);
        let seconds = began.elapsed().as_secs_f64();
        self.count(seconds);
        let kept = Kept { key: key.to_owned(), seconds, found };
        Target::new(file)?.write(|out| Ok(serde_json::to_writer(out, &kept)?))?;
        Ok(kept.found)
    }

    fn count(&self, seconds: f64) {
        *self.seconds.lock().unwrap_or_else(PoisonError::into_inner) += seconds;
    }
}

/// A finished case, if it is there, can be read, and is of the same key.
fn read_kept<Found: serde::de::DeserializeOwned>(file: &Path, key: &str) -> Option<Kept<Found>> {
    let text = fs::read(file).ok()?;
    let kept: Kept<Found> = serde_json::from_slice(&text).ok()?;
    (kept.key == key).then_some(kept)
}

/// Watches the fits of one case.
pub(crate) struct Watch<'a> {
    progress: &'a dyn Progress,
    /// Work of this case that is not counted yet.
    left: f64,
    rows: Vec<TraceRow>,
    entries: usize,
    /// Which iterates are compared with the truth; all if none are named.
    compared: Option<HashSet<usize>>,
}

impl Watch<'_> {
    /// From now on only these iterates are compared with the truth.
    pub(crate) fn compare_only(&mut self, iterations: impl IntoIterator<Item = usize>) {
        self.compared = Some(iterations.into_iter().collect());
    }

    /// A fit on one core, for cases run side by side, with its trace.
    pub(crate) fn fit(
        &mut self,
        config: &FitConfig,
        input: &FitInput<'_>,
    ) -> Result<(FittedModel, Vec<TraceRow>)> {
        self.entries = input.train.len();
        self.rows.clear();
        let input = FitInput { threads: 1, ..*input };
        let model = fit(config, &input, self)?;
        if model.provenance.stop == Stop::Cancelled {
            return Err(Error::Interrupted);
        }
        Ok((model, std::mem::take(&mut self.rows)))
    }
}

impl Monitor for Watch<'_> {
    fn iteration(&mut self, row: &TraceRow) -> Flow {
        self.rows.push(*row);
        let cost = (self.entries as f64).min(self.left);
        self.left -= cost;
        self.progress.advance(cost);
        if self.progress.cancelled() { Flow::Cancel } else { Flow::Continue }
    }

    fn compares(&self, iteration: usize) -> bool {
        self.compared.as_ref().is_none_or(|some| some.contains(&iteration))
    }
}
