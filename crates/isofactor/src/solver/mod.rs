//! Algorithms that fit the model, a file each.

mod bcd;
mod course;
pub(crate) mod fast;
mod lbfgs;

pub use course::{Course, Method, Outcome, Run, Watch, run};
pub use fast::{FoldIn, NewUnit, SidePrior};

use serde::{Deserialize, Serialize};

use crate::monitor::Flow;

/// Why a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Nothing moves any more.
    Converged,
    /// The last iterations brought nothing on the validation entries.
    EarlyStop,
    /// As many iterations were made as were best on entries held back for choosing.
    ChosenNumber,
    /// All iterations were used.
    IterationLimit,
    /// The time that it was given is up.
    TimeLimit,
    /// Someone asked it to.
    Cancelled,
}

impl Stop {
    /// What a watcher's answer comes to at a boundary.
    pub(crate) fn asked(flow: Flow) -> Option<Self> {
        match flow {
            Flow::Continue | Flow::Settle => None,
            Flow::TimeLimit => Some(Stop::TimeLimit),
            Flow::Cancel => Some(Stop::Cancelled),
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stop::Converged => "converged",
            Stop::EarlyStop => "early-stop",
            Stop::ChosenNumber => "chosen-number",
            Stop::IterationLimit => "iteration-limit",
            Stop::TimeLimit => "time-limit",
            Stop::Cancelled => "cancelled",
        })
    }
}
