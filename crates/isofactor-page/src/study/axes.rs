//! The factors turned to their principal axes, and how much each adds to the scores.

use isofactor::{Factors, FittedModel};

use super::pass::{Pass, Side};

/// Entries from which strengths are computed.
const ENOUGH: usize = 200_000;

/// Factors on axes that do not depend on how the solver happened to turn them.
#[derive(Debug, Clone)]
pub struct Principal {
    /// `[A sqrt(S); B sqrt(S)]` with `U V' = A S B'`: the strongest factor first.
    pub factors: Factors,
    /// Standard deviation of `u_ij v_tj` over the training entries, for each factor `j`.
    pub strengths: Vec<f64>,
    /// Standard deviation of the scores.
    pub score_deviation: f64,
}

impl Principal {
    pub fn of(model: &FittedModel, training: &Pass) -> Self {
        let factors = match model.factors.balanced() {
            Ok((factors, _)) => factors,
            // Where the decomposition fails the factors are shown as they are.
            Err(_) => model.factors.clone(),
        };
        let step = training.kept.len().div_ceil(ENOUGH).max(1);
        let entries = || training.kept.iter().step_by(step);
        let strengths =
            (0..factors.rank())
                .map(|j| {
                    deviation(entries().map(|e| {
                        factors.row(e.row as usize)[j] * factors.column(e.column as usize)[j]
                    }))
                })
                .collect();
        let score_deviation = deviation(entries().map(|e| e.score));
        Self { factors, strengths, score_deviation }
    }

    /// The factors of a row or column.
    pub fn of_unit(&self, side: Side, unit: usize) -> &[f64] {
        match side {
            Side::Rows => self.factors.row(unit),
            Side::Columns => self.factors.column(unit),
        }
    }

    /// What each factor adds, as a share of the spread of the scores.
    pub fn shares(&self) -> Vec<f64> {
        let whole = self.score_deviation;
        self.strengths.iter().map(|s| if whole > 0.0 { s / whole } else { 0.0 }).collect()
    }
}

fn deviation(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = numbers.clone().count().max(1) as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    (numbers.map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt()
}
