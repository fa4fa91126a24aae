//! Watches a fit: a bar on a terminal, the trace, checkpoints, Ctrl-C and the time limit.

use std::{
    io::IsTerminal,
    sync::Arc,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use isofactor::{
    Checkpoint, FitConfig, Flow, Hurry, Monitor, TraceRow, TrialRow, config::SolverKind,
};

use crate::{interrupt::Interrupt, keeper::Keeper, text::short};

/// Where the bar of the fast solver ends: with a link it may go on.
const MOST_SWEEPS: usize = 40;
/// The bar while something is fitted, and while it is being chosen what. The message takes what
/// room is left in the line and is cut off there; a line of 60 has room for all of it.
const FITTING: &str = "  fitting {bar:5.cyan/dim} {pos}/{len} {eta} left {wide_msg}";
const CHOOSING: &str = "  choosing {wide_msg}";

/// Shows how a fit goes, remembers it, and says when it is to end.
pub struct Progress {
    bar: Option<ProgressBar>,
    rows: Vec<TraceRow>,
    interrupt: Arc<Interrupt>,
    began: Instant,
    /// Seconds that the fit took before it was interrupted.
    before: f64,
    limit: Option<Duration>,
    keeper: Option<Keeper>,
    /// The last answer that was given.
    flow: Flow,
}

impl Progress {
    /// For a fit with these settings; silent where standard error is no terminal.
    pub fn new(config: &FitConfig) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let (most, template) = match config.solver {
                SolverKind::Fast => (config.iterations.min(MOST_SWEEPS), CHOOSING),
                SolverKind::Bcd | SolverKind::Lbfgs => (config.iterations, FITTING),
            };
            let bar = ProgressBar::new(most as u64);
            bar.set_style(style(template));
            bar.set_message("starting");
            bar.tick();
            bar
        });
        Self {
            bar,
            rows: Vec::new(),
            interrupt: Interrupt::listen(),
            began: Instant::now(),
            before: 0.0,
            limit: None,
            keeper: None,
            flow: Flow::Continue,
        }
    }

    /// Ends the fit after this long, from now on; choosing after half of it.
    pub fn with_limit(self, limit: Option<Duration>) -> Self {
        Self { limit, ..self }
    }

    /// Keeps the fit while it is under way.
    pub fn with_keeper(self, keeper: Option<Keeper>) -> Self {
        Self { keeper, ..self }
    }

    /// Goes on with the trace and the seconds of a fit that was under way.
    pub fn with_past(self, rows: Vec<TraceRow>, before: f64) -> Self {
        Self { rows, before, ..self }
    }

    /// The trace so far.
    pub fn rows(&self) -> &[TraceRow] {
        &self.rows
    }

    /// Who keeps the fit.
    pub fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_ref()
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn answer(&mut self, choosing: bool) -> Flow {
        let taken = self.began.elapsed();
        self.flow = match self.limit {
            _ if self.interrupt.is_asked() => Flow::Cancel,
            Some(limit) if taken >= limit => Flow::TimeLimit,
            Some(limit) if choosing && 2 * taken >= limit => Flow::Settle,
            _ => Flow::Continue,
        };
        self.flow
    }
}

impl Monitor for Progress {
    fn iteration(&mut self, row: &TraceRow) -> Flow {
        self.rows.push(TraceRow { seconds: self.before + row.seconds, ..*row });
        if let Some(bar) = &self.bar {
            if row.iteration <= 1 {
                bar.set_style(style(FITTING));
                // The start is no measure of an iteration.
                bar.reset_eta();
            }
            if bar.length().is_some_and(|length| row.iteration as u64 > length) {
                bar.set_length(row.iteration as u64);
            }
            bar.set_position(row.iteration as u64);
            bar.set_message(errors(row));
        }
        self.answer(false)
    }

    fn trial(&mut self, row: &TrialRow) -> Flow {
        if let Some(bar) = &self.bar {
            bar.set_message(format!(
                "trial {} of {}, sweep {}, RMSE {}: {}",
                row.number,
                row.most,
                row.sweep,
                short(row.rmse),
                row.what
            ));
        }
        self.answer(true)
    }

    fn boundary(&mut self, checkpoint: &Checkpoint<'_>) {
        self.interrupt.reach();
        let ending = matches!(self.flow, Flow::Cancel | Flow::TimeLimit);
        let seconds = self.before + self.began.elapsed().as_secs_f64();
        if let Some(keeper) = &mut self.keeper {
            keeper.keep(checkpoint, &self.rows, seconds, ending);
        }
    }

    fn hurry(&self) -> Hurry {
        self.interrupt.hurry()
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The loss and the error to look at.
fn errors(row: &TraceRow) -> String {
    let loss = short(row.objective);
    match row.validation_rmse {
        Some(rmse) => format!("held out {} loss {loss}", short(rmse)),
        None => format!("train {} loss {loss}", short(row.train_rmse)),
    }
}
