//! Keeps a fit under way in a file: when to write it, when to read it, when it has served.

use std::time::{Duration, Instant};

use isofactor::{Checkpoint, FitConfig, FitInput, TraceRow};
use isofactor_io::{CheckpointFile, StoredFit, fingerprint};

use crate::{args::LongArgs, failure::Failure, text::say};

/// The file of a fit's checkpoints.
#[derive(Debug)]
pub struct Keeper {
    file: CheckpointFile,
    every: Duration,
    /// When it was last written, or read.
    last: Option<Instant>,
    failed: bool,
}

/// Refuses to begin a fit over the checkpoint of another, before any work is done.
pub fn check(args: &LongArgs) -> Result<(), Failure> {
    match &args.checkpoint {
        Some(path) if path.exists() && !args.resume => Err(Failure::Usage(format!(
            "{} is there already: add --resume to go on from it, or delete it to begin anew",
            path.display()
        ))),
        _ => Ok(()),
    }
}

impl Keeper {
    /// The keeper of a fit, if it is to be kept, and the fit that was under way, if there is one.
    pub fn open(
        args: &LongArgs,
        config: &FitConfig,
        input: &FitInput<'_>,
    ) -> Result<(Option<Self>, Option<StoredFit>), Failure> {
        let Some(path) = &args.checkpoint else { return Ok((None, None)) };
        let file = CheckpointFile::new(path, config, fingerprint(input))?;
        let stored = if args.resume { file.read()? } else { None };
        let last = stored.as_ref().map(|_| Instant::now());
        if args.resume {
            say(&match &stored {
                Some(stored) => format!("going on from {}", stored.checkpoint.place()),
                None => format!("there is no {} yet: beginning anew", path.display()),
            });
        }
        Ok((Some(Self { file, every: args.every.0, last, failed: false }), stored))
    }

    /// Writes the checkpoint if it is time, or if there will be no other.
    pub fn keep(
        &mut self,
        checkpoint: &Checkpoint<'_>,
        trace: &[TraceRow],
        seconds: f64,
        ending: bool,
    ) {
        if !ending && self.last.is_some_and(|last| last.elapsed() < self.every) {
            return;
        }
        // A disk that is full is no reason to end a fit.
        if let Err(error) = self.file.write(checkpoint, trace, seconds)
            && !std::mem::replace(&mut self.failed, true)
        {
            say(&format!("isofactor: {error}; the fit goes on without a checkpoint"));
        }
        self.last = Some(Instant::now());
    }

    /// Whether there is a checkpoint to go on from.
    pub fn has_one(&self) -> bool {
        self.file.path().exists()
    }

    /// Removes the checkpoint of a fit that is complete.
    pub fn remove(&self) {
        let _ = std::fs::remove_file(self.file.path());
    }
}
