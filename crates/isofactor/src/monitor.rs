//! What a fit tells the outside while it runs; nothing in here is mathematics.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde::Serialize;

use crate::{checkpoint::Checkpoint, objective::ObjectiveValue};

/// One line of the trace: the state after an iteration; iteration 0 is the start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TraceRow {
    /// Which iteration.
    pub iteration: usize,
    /// The objective.
    pub objective: f64,
    /// `s sum_k g_k^2`
    pub data_term: f64,
    /// `(lambda/4) |U'U - V'V|_F^2`
    pub balance_term: f64,
    /// `|phi|_H`, for a learned link.
    pub link_norm: Option<f64>,
    /// Root mean squared residual of the training entries.
    pub train_rmse: f64,
    /// The same for the validation entries, if there are any.
    pub validation_rmse: Option<f64>,
    /// Seconds since the fit began.
    pub seconds: f64,
    /// Distances to the truth, if it is known.
    #[serde(flatten)]
    pub truth: Option<TruthRow>,
}

/// Where an iterate stands against the truth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TruthRow {
    /// `|Delta(Z)|_F`
    pub factor_distance: f64,
    /// `|phi - phi*|_H`, for a learned link.
    pub link_distance: Option<f64>,
    /// `V_t = E_t + gamma D_t`, for a learned link.
    pub lyapunov: Option<f64>,
    /// `R_t`: the mean over iterations 1 to t of the objective's gap to the best link.
    pub regret: Option<f64>,
    /// `E_t = |phi_t - phi_sharp(Z_t)|_H^2`, for a learned link.
    pub lag: Option<f64>,
    /// `chi(Z_t) = |phi_sharp(Z_t) - phi*|_H`, for a learned link.
    pub bias: Option<f64>,
}

impl TraceRow {
    /// The columns of the objective.
    pub(crate) fn new(iteration: usize, value: ObjectiveValue) -> Self {
        Self {
            iteration,
            objective: value.total(),
            data_term: value.data,
            balance_term: value.balance,
            link_norm: None,
            train_rmse: 0.0,
            validation_rmse: None,
            seconds: 0.0,
            truth: None,
        }
    }
}

/// A sweep of a trial, while it is being chosen what to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRow {
    /// Which trial, counted from 1.
    pub number: usize,
    /// How many there are at most.
    pub most: usize,
    /// What is tried.
    pub what: String,
    /// Which of its sweeps this was, counted from 1.
    pub sweep: usize,
    /// Its root mean squared error on the entries held back for choosing.
    pub rmse: f64,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// On with it.
    Continue,
    /// Enough of choosing: fit what is best so far. Where nothing is being chosen, on with it.
    Settle,
    /// The time is up: stop after this iteration and return what there is.
    TimeLimit,
    /// Stop after this iteration and return what there is.
    Cancel,
}

/// Someone who watches a fit. A boundary is where nothing is half done: the start, and the end of
/// every iteration and of every sweep of a trial.
pub trait Monitor {
    /// Called at the start (iteration 0) and after every iteration.
    fn iteration(&mut self, row: &TraceRow) -> Flow;

    /// Whether to compare this iterate with the truth, where one is given. Comparing costs more
    /// than an iteration of a small panel; the regret is known only if every iterate is compared.
    fn compares(&self, iteration: usize) -> bool {
        let _ = iteration;
        true
    }

    /// Called after every sweep of a trial.
    fn trial(&mut self, _: &TrialRow) -> Flow {
        Flow::Continue
    }

    /// Called at every boundary, after `iteration` or `trial`, with all that is needed to go on
    /// from there.
    fn boundary(&mut self, _: &Checkpoint<'_>) {}

    /// Asked once. A hurry that is raised later ends a long sweep before its boundary.
    fn hurry(&self) -> Hurry {
        Hurry::default()
    }
}

/// Whether someone cannot wait for the next boundary.
#[derive(Debug, Clone, Default)]
pub struct Hurry(Option<Arc<AtomicBool>>);

impl Hurry {
    /// A hurry that can be raised, by any clone of it.
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Ends what is under way. What was made without [`Hurry::new`] never hurries.
    pub fn raise(&self) {
        if let Some(flag) = &self.0 {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it was raised.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Whether it ever can be.
    pub(crate) fn is_possible(&self) -> bool {
        self.0.is_some()
    }
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Monitor for Unwatched {
    fn iteration(&mut self, _: &TraceRow) -> Flow {
        Flow::Continue
    }
}
