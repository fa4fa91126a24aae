//! What a fit remembers on its way: all that is needed to go on from a boundary.
//!
//! Choosing is a function of the errors of the trials: it is gone through again with those that
//! are known, and only the trial under way needs its state. The fit that follows is in the state
//! itself, the best one so far, and the validation errors by which it decides when to stop.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    choose::{Patience, Plan, patience},
    state::State,
};
use crate::{
    checkpoint::{Checkpoint, Content, Place},
    observations::Shape,
};

/// How far a fit has come.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Course {
    /// The errors of every trial begun, sweep after sweep; none where numbers failed.
    pub(super) trials: Vec<Vec<Option<f64>>>,
    /// What was chosen, once it was.
    pub(super) plan: Option<Plan>,
    /// The state of the last trial, or that of the fit.
    pub(super) state: Option<State>,
    /// Sweeps of the fit.
    pub(super) sweeps: usize,
    /// The validation error after each of them, where it decides.
    pub(super) errors: Vec<f64>,
    /// The sweep with the least, and its state.
    pub(super) best: Option<(usize, State)>,
}

impl Course {
    /// Where the fit is.
    pub fn place(&self) -> Place {
        match self.plan {
            None => Place::Choosing { trials: self.trials.len() },
            Some(_) => Place::Fitting { iterations: self.sweeps },
        }
    }

    /// This, to be stored.
    pub(super) fn checkpoint(&self) -> Checkpoint<'_> {
        Checkpoint(Content::Fast(Box::new(Cow::Borrowed(self))))
    }

    /// Whether its states are those of a panel of this shape.
    pub(super) fn fits(&self, shape: Shape) -> bool {
        let sweeps = match self.plan {
            None => self.trials.last().map_or(0, Vec::len),
            Some(_) => self.sweeps,
        };
        // A sweep in which numbers failed may not have been counted.
        let state = |state: &State, sweeps: usize| {
            state.fits(shape, sweeps) || sweeps > 0 && state.fits(shape, sweeps - 1)
        };
        self.state.as_ref().is_none_or(|s| state(s, sweeps))
            && self.best.as_ref().is_none_or(|(at, s)| state(s, *at))
            && self.best.as_ref().is_none_or(|(at, _)| *at <= self.sweeps)
            && self.errors.len() <= self.sweeps
    }

    /// The patience that is left after the errors so far.
    pub(super) fn patience(&self, plan: &Plan, entries: usize) -> Patience {
        let mut patience = patience(&plan.kind, entries);
        for (i, error) in self.errors.iter().enumerate() {
            patience.spent(i + 1, *error);
        }
        patience
    }
}
