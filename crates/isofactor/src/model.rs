//! A fitted model: factors, link, and what is needed to use and to understand them.

use serde::{Deserialize, Serialize};

use crate::{
    baseline::Baseline,
    config::FitConfig,
    diagnostics::Standing,
    factors::Factors,
    link::Link,
    observations::{Observations, Shape},
    solver::Stop,
    theory::Constants,
};

/// Errors of predictions on a set of entries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Number of entries.
    pub count: usize,
}

/// How a model came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The settings.
    pub config: FitConfig,
    /// Number of training entries.
    pub observed: usize,
    /// How many of them repeat a pair that occurred before.
    pub repeated: usize,
    /// Iterations made.
    pub iterations: usize,
    /// The iteration that was kept.
    pub kept: usize,
    /// Why the fit ended.
    pub stop: Stop,
    /// The radius of P_C (`beta`), if the factors were projected.
    pub radius: Option<f64>,
    /// The bandwidth of the kernel, if the link was learned.
    pub bandwidth: Option<f64>,
    /// Smallest and largest score of the training entries.
    pub score_range: (f64, f64),
    /// Errors on the training entries.
    pub train: Metrics,
    /// Errors on the validation entries.
    pub validation: Option<Metrics>,
}

/// Factors and a link that predict entries.
#[derive(Debug, Clone)]
pub struct FittedModel {
    /// The factors.
    pub factors: Factors,
    /// The link.
    pub link: Link,
    /// What is predicted where factors are unknown.
    pub baseline: Baseline,
    /// How it came to be.
    pub provenance: Provenance,
    /// The theory's constants, where slope bounds make them defined.
    pub constants: Option<Constants>,
    /// Where it stands against the truth, if that is known and the link was learned.
    pub standing: Option<Standing>,
}

impl FittedModel {
    /// Rows and columns that it knows.
    pub fn shape(&self) -> Shape {
        self.factors.shape()
    }

    /// The prediction for a pair; `None` stands for a row or column that was never seen.
    pub fn predict(&self, row: Option<usize>, column: Option<usize>) -> f64 {
        predict(&self.factors, &self.link, &self.baseline, row, column)
    }

    /// Errors on entries of the same shape.
    pub fn evaluate(&self, observations: &Observations) -> Metrics {
        metrics(observations, |row, column| self.predict(Some(row), Some(column)))
    }
}

/// `phi(u_i . v_t)`, or the baseline where the row or the column was never observed.
pub(crate) fn predict(
    factors: &Factors,
    link: &Link,
    baseline: &Baseline,
    row: Option<usize>,
    column: Option<usize>,
) -> f64 {
    match (baseline.predict(row, column), row, column) {
        (None, Some(row), Some(column)) => link.value(factors.score(row, column)),
        (known, ..) => known.unwrap_or(baseline.mean),
    }
}

/// Errors of any prediction. Squares are taken relative to the largest error, so that they are
/// finite whenever the errors are.
pub fn metrics(observations: &Observations, predict: impl Fn(usize, usize) -> f64) -> Metrics {
    let errors: Vec<f64> =
        observations.iter().map(|e| (e.value - predict(e.row, e.column)).abs()).collect();
    let count = errors.len();
    let largest = errors.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mean =
        |power: i32| errors.iter().map(|e| (e / largest).powi(power)).sum::<f64>() / count as f64;
    Metrics { rmse: largest * mean(2).sqrt(), mae: largest * mean(1), count }
}
