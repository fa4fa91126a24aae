//! All that a fit under way needs to go on later, as one value that can be stored.
//!
//! A checkpoint is taken where nothing is half done: after the start, an iteration, or a sweep of
//! a trial. A fit that goes on from it ends at the same bits as one that never stopped, given the
//! same settings and the same entries; whoever stores it sees to that.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{
    config::SolverKind,
    solver::{Course, fast},
    steps::{Pace, StoredState},
    theory::Constants,
};

/// A fit under way. Its content is for this version of the library alone.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkpoint<'a>(pub(crate) Content<'a>);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Content<'a> {
    Descent(Box<OfDescent<'a>>),
    Fast(Box<Cow<'a, fast::Course>>),
}

/// A fit that lowers the paper's objective.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OfDescent<'a> {
    /// By which algorithm.
    pub solver: SolverKind,
    pub ground: Ground,
    pub state: StoredState<'a>,
    pub course: Cow<'a, Course>,
    pub pace: Pace<'a>,
    /// The sum of the gaps that make the regret, and their number.
    pub gaps: (f64, usize),
}

/// What the start decided for good.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ground {
    /// `beta`, if the factors are projected.
    pub radius: Option<f64>,
    pub constants: Option<Constants>,
    /// Weight of `D_t` in the Lyapunov function.
    pub gamma: f64,
}

impl Checkpoint<'_> {
    /// How far the fit had come.
    pub fn place(&self) -> Place {
        match &self.0 {
            Content::Descent(of) => Place::Fitting { iterations: of.course.iterations() },
            Content::Fast(course) => course.place(),
        }
    }
}

/// How far a fit has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It is being chosen what to fit.
    Choosing {
        /// Trials begun.
        trials: usize,
    },
    /// What was chosen is being fitted.
    Fitting {
        /// Iterations (sweeps) made.
        iterations: usize,
    },
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Choosing { trials } => write!(f, "trial {trials} of choosing what to fit"),
            Place::Fitting { iterations } => write!(f, "iteration {iterations}"),
        }
    }
}
