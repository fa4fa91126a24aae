//! What simpler predictions come to on the same entries: the overall mean, and effects alone.

use isofactor::{Metrics, Observations, model::metrics};

/// Entries by which an effect is drawn to zero.
const SHRINKAGE: f64 = 5.0;
/// Times that both sides' effects are computed in turn; what moves after is far below any error.
const TURNS: usize = 10;

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

/// `b_i = sum (y - m - c_t) / (n_i + 5)` and the same for columns, in turn.
struct Effects {
    mean: f64,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Effects {
    fn of(train: &Observations) -> Self {
        let shape = train.shape();
        let mean = train.mean();
        let (mut rows, mut columns) = (vec![0.0; shape.rows], vec![0.0; shape.columns]);
        let mut counts = vec![0usize; shape.columns];
        train.iter().for_each(|entry| counts[entry.column] += 1);
        for _ in 0..TURNS {
            for (row, effect) in rows.iter_mut().enumerate() {
                let entries = train.row(row);
                let left = entries.columns.iter().zip(entries.values);
                let sum: f64 = left.map(|(&c, y)| y - mean - columns[c as usize]).sum();
                *effect = sum / (entries.values.len() as f64 + SHRINKAGE);
            }
            columns.fill(0.0);
            train.iter().for_each(|e| columns[e.column] += e.value - mean - rows[e.row]);
            for (effect, &count) in columns.iter_mut().zip(&counts) {
                *effect /= count as f64 + SHRINKAGE;
            }
        }
        Self { mean, rows, columns }
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
        assert!(found.effects.rmse < 0.05 * found.mean.rmse, "{found:?}");
    }

    #[test]
    fn the_mean_is_off_by_the_standard_deviation() {
        let shape = Shape { rows: 2, columns: 2 };
        let seen = Observations::complete(shape, |i, _| i as f64).unwrap();
        assert_eq!(Yardsticks::of(&seen, &seen).mean.rmse, 0.5);
    }
}
