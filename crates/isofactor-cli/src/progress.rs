//! Watches a fit: a bar on a terminal, the trace, and Ctrl-C.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use isofactor::{FitConfig, Flow, Monitor, TraceRow, config::SolverKind};

use crate::{interrupt::interrupted, text::short};

/// Where the bar of the fast solver ends: with a link it may go on.
const MOST_SWEEPS: usize = 40;

/// Shows how a fit goes and remembers it.
pub struct Progress {
    bar: Option<ProgressBar>,
    rows: Vec<TraceRow>,
}

impl Progress {
    /// For a fit with these settings; silent where standard error is no terminal.
    pub fn new(config: &FitConfig) -> Self {
        // Asked before any work, so that Ctrl-C is noticed from the start.
        interrupted();
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(
                "  fitting {bar:30.cyan/dim} {pos:>5}/{len}  {msg}  {eta} left",
            );
            let (most, first) = match config.solver {
                SolverKind::Fast => (config.iterations.min(MOST_SWEEPS), "choosing what to fit"),
                SolverKind::Bcd => (config.iterations, "starting"),
            };
            let bar = ProgressBar::new(most as u64);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(first);
            bar.tick();
            bar
        });
        Self { bar, rows: Vec::new() }
    }

    /// The trace so far.
    pub fn rows(&self) -> &[TraceRow] {
        &self.rows
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Monitor for Progress {
    fn iteration(&mut self, row: &TraceRow) -> Flow {
        self.rows.push(*row);
        if let Some(bar) = &self.bar {
            if row.iteration <= 1 {
                // The start is no measure of an iteration.
                bar.reset_eta();
            }
            if bar.length().is_some_and(|length| row.iteration as u64 > length) {
                bar.set_length(row.iteration as u64);
            }
            bar.set_position(row.iteration as u64);
            let error = row.validation_rmse.map_or_else(
                || format!("train RMSE {}", short(row.train_rmse)),
                |rmse| format!("held-out RMSE {}", short(rmse)),
            );
            bar.set_message(error);
        }
        if interrupted() { Flow::Cancel } else { Flow::Continue }
    }
}
