//! What a fit tells the outside while it runs; nothing in here is mathematics.

use serde::Serialize;

use crate::objective::ObjectiveValue;

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

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// On with it.
    Continue,
    /// Stop after this iteration and return what there is.
    Cancel,
}

/// Someone who watches a fit.
pub trait Monitor {
    /// Called at the start (iteration 0) and after every iteration.
    fn iteration(&mut self, row: &TraceRow) -> Flow;

    /// Whether to compare this iterate with the truth, where one is given. Comparing costs more
    /// than an iteration of a small panel; the regret is known only if every iterate is compared.
    fn compares(&self, iteration: usize) -> bool {
        let _ = iteration;
        true
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
