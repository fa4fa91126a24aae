//! Predictions judged by observed values: how far off, how well ordered, how well calibrated, and
//! how much better than saying nothing.

use rayon::prelude::*;
use serde::Serialize;

use crate::model::{FittedModel, Metrics};

/// How many groups a calibration has at most.
const GROUPS: usize = 10;

/// An observed value, and what was predicted for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// The prediction.
    pub prediction: f64,
    /// The value.
    pub value: f64,
}

/// How good predictions are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Root mean squared and mean absolute error, and the number of entries.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// `1 - (rmse / rmse of the values' own mean)^2`; none where the values are all the same.
    pub r2: Option<f64>,
    /// Rank correlation of predictions and values, equals sharing their mean rank; none where
    /// either are all the same.
    pub spearman: Option<f64>,
    /// Entries in order of their prediction, in ten groups of about the same size. Equal
    /// predictions stay together, so that there may be fewer.
    pub calibration: Vec<Group>,
}

/// Entries with about the same prediction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Group {
    /// How many.
    pub count: usize,
    /// Their mean prediction.
    pub predicted: f64,
    /// Their mean value.
    pub observed: f64,
}

/// What the errors of a model are to be held against, on the same entries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Yardsticks {
    /// Root mean squared error of the mean of the training values.
    pub mean: f64,
    /// The same of level and effects alone, where the model has them.
    pub effects: Option<f64>,
}

/// Which of two models is better, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// Root mean squared error of the one less that of the other.
    pub rmse: f64,
    /// The standard error of that difference; none where there are fewer than two groups.
    pub standard_error: Option<f64>,
}

impl Evaluation {
    /// Of predictions and the values that were observed.
    pub fn new(mut judged: Vec<Judged>) -> Self {
        let metrics = Metrics::of(judged.iter().map(|j| (j.value, j.prediction)));
        let mean = mean(judged.iter().map(|j| j.value), judged.len());
        let spread = Metrics::of(judged.iter().map(|j| (j.value, mean))).rmse;
        let varies = judged.iter().any(|j| j.value != judged[0].value);
        let r2 = varies.then(|| 1.0 - (metrics.rmse / spread).powi(2));
        judged.par_sort_unstable_by(|a, b| {
            a.prediction.total_cmp(&b.prediction).then(a.value.total_cmp(&b.value))
        });
        let calibration = calibration(&judged);
        Self { metrics, r2, spearman: spearman(judged), calibration }
    }
}

impl Yardsticks {
    /// For a model, from entries: row, column (none where the model does not know it) and value.
    pub fn new(
        model: &FittedModel,
        entries: impl Iterator<Item = (Option<usize>, Option<usize>, f64)> + Clone,
    ) -> Self {
        let mean = model.baseline.mean;
        let of_mean = Metrics::of(entries.clone().map(|(_, _, value)| (value, mean)));
        let of_effects = model.offsets.as_ref().map(|_| {
            Metrics::of(entries.filter_map(|(row, column, value)| {
                Some((value, model.predict_by_effects(row, column)?))
            }))
        });
        Self { mean: of_mean.rmse, effects: of_effects.map(|metrics| metrics.rmse) }
    }
}

impl Difference {
    /// From the errors of two models on the same entries, which belong to groups (their rows):
    /// entries of a row err together, so rows and not entries are counted as independent.
    ///
    /// With `f_k = a_k^2 / (2 rmse_a) - b_k^2 / (2 rmse_b)`, whose mean moves as the difference
    /// does, the squared standard error is `G/(G-1) sum_g (sum_{k in g} (f_k - mean f))^2 / M^2`.
    pub fn new(a: &[f64], b: &[f64], groups: &[u32]) -> Self {
        let rmse = |errors: &[f64]| Metrics::of(errors.iter().map(|&e| (e, 0.0))).rmse;
        let (of_a, of_b) = (rmse(a), rmse(b));
        let share =
            |error: f64, rmse: f64| if rmse > 0.0 { error * (error / (2.0 * rmse)) } else { 0.0 };
        let f = |k: usize| share(a[k], of_a) - share(b[k], of_b);
        let mean = mean((0..a.len()).map(f), a.len());
        let mut sums: Vec<Option<f64>> =
            vec![None; groups.iter().max().map_or(0, |&g| g as usize + 1)];
        for (k, &group) in groups.iter().enumerate() {
            *sums[group as usize].get_or_insert(0.0) += f(k) - mean;
        }
        let present: Vec<f64> = sums.into_iter().flatten().collect();
        let count = present.len() as f64;
        let squares: f64 = present.iter().map(|sum| (sum / a.len() as f64).powi(2)).sum();
        let standard_error = (present.len() > 1).then(|| (squares * count / (count - 1.0)).sqrt());
        Self { rmse: of_a - of_b, standard_error }
    }
}

fn mean(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    // Divided one by one, so that the sum of large values stays finite.
    values.map(|value| value / count as f64).sum()
}

/// Groups of entries that are in the order of their predictions.
fn calibration(sorted: &[Judged]) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut start = 0;
    for tenth in 1..=GROUPS {
        let mut end = (sorted.len() * tenth / GROUPS).max(start);
        while end > start
            && end < sorted.len()
            && sorted[end].prediction == sorted[end - 1].prediction
        {
            end += 1;
        }
        if end > start {
            let group = &sorted[start..end];
            groups.push(Group {
                count: group.len(),
                predicted: mean(group.iter().map(|j| j.prediction), group.len()),
                observed: mean(group.iter().map(|j| j.value), group.len()),
            });
        }
        start = end;
    }
    groups
}

/// Spearman's rank correlation: the correlation of the ranks, equals sharing their mean rank.
fn spearman(mut judged: Vec<Judged>) -> Option<f64> {
    rank_in_place(&mut judged, |j| j.value, |j, rank| j.value = rank);
    rank_in_place(&mut judged, |j| j.prediction, |j, rank| j.prediction = rank);
    let middle = (judged.len() as f64 - 1.0) / 2.0;
    let sum = |f: &dyn Fn(&Judged) -> f64| judged.iter().map(f).sum::<f64>();
    let product = sum(&|j| (j.prediction - middle) * (j.value - middle));
    let of_predictions = sum(&|j| (j.prediction - middle).powi(2));
    let of_values = sum(&|j| (j.value - middle).powi(2));
    let both = of_predictions.sqrt() * of_values.sqrt();
    (both > 0.0).then(|| (product / both).clamp(-1.0, 1.0))
}

/// Sorts by a number and puts its rank, counted from 0, in its place.
fn rank_in_place(
    judged: &mut [Judged],
    get: impl Fn(&Judged) -> f64 + Sync,
    set: impl Fn(&mut Judged, f64),
) {
    judged.par_sort_unstable_by(|a, b| {
        let both = |j: &Judged| (j.prediction, j.value);
        let ((p, v), (q, w)) = (both(a), both(b));
        get(a).total_cmp(&get(b)).then(p.total_cmp(&q)).then(v.total_cmp(&w))
    });
    let mut start = 0;
    while start < judged.len() {
        let number = get(&judged[start]);
        let equal = judged[start..].iter().take_while(|j| get(j) == number).count().max(1);
        let rank = start as f64 + (equal as f64 - 1.0) / 2.0;
        judged[start..start + equal].iter_mut().for_each(|j| set(j, rank));
        start += equal;
    }
}
