//! The fair linear baseline: level, effects and factors, all drawn to zero by a ridge penalty.
//!
//! ```text
//! min sum_k (y_k - m - b_i - c_t - u_i . v_t)^2 + p (|b|^2 + |c|^2 + |U|^2 + |V|^2)
//! ```
//!
//! by coordinate descent: each number in turn is set to where the objective is least.

use isofactor::{Metrics, Observations, init::random_factors, model::metrics};

/// A fitted baseline.
pub(crate) struct Ridge {
    mean: f64,
    /// `[b, u_1, ...]` of every row and `[c, v_1, ...]` of every column.
    sides: [Vec<Vec<f64>>; 2],
}

/// The entries of a row or column: the other one's number, and where the residual is.
type Lists = Vec<Vec<(u32, u32)>>;

impl Ridge {
    /// Fits effects and `rank` factors; rank 0 is effects alone.
    pub(crate) fn fit(
        training: &Observations,
        rank: usize,
        penalty: f64,
        sweeps: usize,
        seed: u64,
    ) -> Self {
        let shape = training.shape();
        let mean = training.mean();
        let start = random_factors(shape, rank.max(1), seed);
        // Small, so that the first effects are not disturbed; not zero, which is a saddle.
        let small = |z: &[f64]| -> Vec<f64> {
            std::iter::once(0.0).chain(z.iter().take(rank).map(|z| 0.1 * z)).collect()
        };
        let mut sides = [
            start.each_row().map(small).collect::<Vec<_>>(),
            start.each_column().map(small).collect(),
        ];
        let (mut rows, mut columns): (Lists, Lists) =
            (vec![Vec::new(); shape.rows], vec![Vec::new(); shape.columns]);
        let mut residuals = Vec::with_capacity(training.len());
        for (k, entry) in training.iter().enumerate() {
            rows[entry.row].push((entry.column as u32, k as u32));
            columns[entry.column].push((entry.row as u32, k as u32));
            residuals
                .push(entry.value - mean - product(&sides[0][entry.row], &sides[1][entry.column]));
        }
        for _ in 0..sweeps {
            for part in 0..=rank {
                let [left, right] = &mut sides;
                descend(part, left, right, &rows, &mut residuals, penalty);
                descend(part, right, left, &columns, &mut residuals, penalty);
            }
        }
        Self { mean, sides }
    }

    /// Errors on entries.
    pub(crate) fn errors(&self, entries: &Observations) -> Metrics {
        metrics(entries, |row, column| {
            self.mean + product(&self.sides[0][row], &self.sides[1][column])
        })
    }
}

/// `b + c + u . v`
fn product(row: &[f64], column: &[f64]) -> f64 {
    let factors: f64 = row[1..].iter().zip(&column[1..]).map(|(u, v)| u * v).sum();
    row[0] + column[0] + factors
}

/// Sets one part of every unit of a side to `sum (g + z w) w / (p + sum w^2)`, with `w` the other
/// side's number, 1 for effects.
fn descend(
    part: usize,
    side: &mut [Vec<f64>],
    other: &[Vec<f64>],
    lists: &Lists,
    residuals: &mut [f64],
    penalty: f64,
) {
    for (unit, list) in side.iter_mut().zip(lists) {
        let weight = |number: u32| if part == 0 { 1.0 } else { other[number as usize][part] };
        let old = unit[part];
        let (mut pull, mut square) = (0.0, penalty);
        for &(number, k) in list {
            let w = weight(number);
            pull += (residuals[k as usize] + old * w) * w;
            square += w * w;
        }
        let new = if square > 0.0 { pull / square } else { 0.0 };
        for &(number, k) in list {
            residuals[k as usize] -= (new - old) * weight(number);
        }
        unit[part] = new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isofactor::Shape;

    fn seen() -> Observations {
        Observations::complete(Shape { rows: 12, columns: 9 }, |i, t| {
            let (i, t) = (i as f64, t as f64);
            1.0 + 0.3 * i - 0.2 * t + (i - 5.5) * (t - 4.0) / 10.0
        })
        .unwrap()
    }

    #[test]
    fn effects_and_one_factor_are_found_without_a_penalty() {
        let ridge = Ridge::fit(&seen(), 1, 1e-9, 400, 1);
        assert!(ridge.errors(&seen()).rmse < 1e-3, "{}", ridge.errors(&seen()).rmse);
    }

    #[test]
    fn a_heavy_penalty_leaves_the_mean() {
        let ridge = Ridge::fit(&seen(), 2, 1e12, 3, 1);
        let mean = metrics(&seen(), |_, _| seen().mean());
        assert!((ridge.errors(&seen()).rmse - mean.rmse).abs() < 1e-6);
    }

    #[test]
    fn a_sweep_more_never_raises_the_objective() {
        let objective = |sweeps: usize| {
            let ridge = Ridge::fit(&seen(), 2, 0.5, sweeps, 1);
            let squares = ridge.errors(&seen()).rmse.powi(2) * seen().len() as f64;
            let numbers = ridge.sides.iter().flatten().flatten();
            squares + 0.5 * numbers.map(|z| z * z).sum::<f64>()
        };
        let values: Vec<f64> = (0..6).map(objective).collect();
        assert!(values.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "{values:?}");
    }
}
