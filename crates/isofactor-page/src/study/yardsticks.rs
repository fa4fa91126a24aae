//! What simpler predictions come to on the same entries: the overall mean, and effects alone.

use isofactor::{Metrics, Observations, model::metrics};

/// Entries by which an effect is drawn to zero, before the data have said how many.
const SHRINKAGE: f64 = 5.0;
/// Within which the data may move it.
const SHRINKAGES: (f64, f64) = (1e-6, 1e6);
/// Times that both sides' effects are computed in turn; what moves after is far below any error.
const TURNS: usize = 15;

/// Errors of predictions that need no factors.
#[derive(Debug, Clone, Copy)]
pub struct Yardsticks {
    /// The mean of the training values for every entry.
    pub mean: Metrics,
    /// Mean plus an effect of the row and one of the column.
    pub effects: Metrics,
}

impl Yardsticks {
    /// Learned from `train`, judged on `judged`.
    pub fn of(train: &Observations, judged: &Observations) -> Self {
        let effects = Effects::of(train);
        let (low, high) = train
            .values()
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &y| (a.min(y), b.max(y)));
        Self {
            mean: metrics(judged, |_, _| effects.mean),
            effects: metrics(judged, |row, column| {
                (effects.mean + effects.rows[row] + effects.columns[column]).clamp(low, high)
            }),
        }
    }
}

/// `b_i = sum (y - m - c_t) / (n_i + l)` and the same for columns, in turn. Each side has its own
/// `l = s^2 / t^2`: noise variance over the variance of the side's effects, both as they look after
/// each turn, so that the yardstick is no weaker than effects can be.
struct Effects {
    mean: f64,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Effects {
    fn of(train: &Observations) -> Self {
        let shape = train.shape();
        let mean = train.mean();
        let mut rows = OneSide::new(shape.rows);
        let mut columns = OneSide::new(shape.columns);
        for entry in train.iter() {
            rows.counts[entry.row] += 1.0;
            columns.counts[entry.column] += 1.0;
        }
        for _ in 0..TURNS {
            rows.update(train.iter().map(|e| (e.row, e.value - mean - columns.effects[e.column])));
            columns.update(train.iter().map(|e| (e.column, e.value - mean - rows.effects[e.row])));
            let residual = |row: usize, column: usize, value: f64| {
                value - mean - rows.effects[row] - columns.effects[column]
            };
            let squares: f64 =
                train.iter().map(|e| residual(e.row, e.column, e.value).powi(2)).sum();
            let noise = squares / train.len() as f64;
            rows.learn_shrinkage(noise);
            columns.learn_shrinkage(noise);
        }
        Self { mean, rows: rows.effects, columns: columns.effects }
    }
}

/// The effects of rows, or of columns.
struct OneSide {
    effects: Vec<f64>,
    counts: Vec<f64>,
    shrinkage: f64,
}

impl OneSide {
    fn new(count: usize) -> Self {
        Self { effects: vec![0.0; count], counts: vec![0.0; count], shrinkage: SHRINKAGE }
    }

    /// From what the other side leaves of each entry.
    fn update(&mut self, left: impl Iterator<Item = (usize, f64)>) {
        self.effects.fill(0.0);
        left.for_each(|(unit, left)| self.effects[unit] += left);
        for (effect, count) in self.effects.iter_mut().zip(&self.counts) {
            *effect /= count + self.shrinkage;
        }
    }

    /// `t^2`: mean of `b_i^2 + s^2 / (n_i + l)` over the units that have entries.
    fn learn_shrinkage(&mut self, noise: f64) {
        let seen = || self.effects.iter().zip(&self.counts).filter(|(_, count)| **count > 0.0);
        let square =
            |(effect, count): (&f64, &f64)| effect * effect + noise / (count + self.shrinkage);
        let variance = seen().map(square).sum::<f64>() / seen().count() as f64;
        let found = noise / variance;
        if found.is_finite() {
            self.shrinkage = found.clamp(SHRINKAGES.0, SHRINKAGES.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isofactor::Shape;

    #[test]
    fn effects_explain_what_is_made_of_effects() {
        let shape = Shape { rows: 200, columns: 150 };
        let seen = Observations::complete(shape, |i, t| (i % 7) as f64 + (t % 5) as f64).unwrap();
        let found = Yardsticks::of(&seen, &seen);
        assert!(found.effects.rmse < 1e-3 * found.mean.rmse, "{found:?}");
    }

    #[test]
    fn noise_is_not_taken_for_effects() {
        let shape = Shape { rows: 300, columns: 200 };
        let wild = |i: usize, t: usize| (((i * 200 + t) as f64).sin() * 43_758.545_3).fract();
        let seen = Observations::complete(shape, wild).unwrap();
        let found = Yardsticks::of(&seen, &seen);
        assert!(found.effects.rmse > 0.995 * found.mean.rmse, "{found:?}");
    }

    #[test]
    fn the_mean_is_off_by_the_standard_deviation() {
        let shape = Shape { rows: 2, columns: 2 };
        let seen = Observations::complete(shape, |i, _| i as f64).unwrap();
        assert_eq!(Yardsticks::of(&seen, &seen).mean.rmse, 0.5);
    }
}
