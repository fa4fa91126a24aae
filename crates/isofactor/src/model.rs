//! A fitted model: factors, link, and what is needed to use and to understand them.

use serde::{Deserialize, Serialize};

use crate::{
    baseline::Baseline,
    config::{Effects, FitConfig},
    diagnostics::Standing,
    factors::Factors,
    linalg,
    link::Link,
    observations::{Observations, Shape},
    solver::{FoldIn, NewUnit, Stop},
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

/// A level and the effects of rows and columns, on the scale of the score.
#[derive(Debug, Clone, PartialEq)]
pub struct Offsets {
    /// `mu`
    pub level: f64,
    /// `b`: the effect of each row.
    pub rows: Vec<f64>,
    /// `c`: the effect of each column.
    pub columns: Vec<f64>,
    /// Smallest and largest training value, to which predictions are kept.
    pub range: (f64, f64),
}

/// What was chosen for the user, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// Factors per row and column.
    pub rank: usize,
    /// The link, in words.
    pub link: String,
    /// How many times more precise the prior of the factors is than they look.
    pub shrinkage: f64,
    /// How many entries the trials were judged by; none where they were too few.
    pub judged_by: usize,
    /// What was tried.
    pub trials: Vec<Trial>,
}

/// One thing that was tried on held-out training entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What it was.
    pub what: String,
    /// Its root mean squared error there.
    pub rmse: f64,
    /// The sweep at which it was best.
    pub sweeps: usize,
}

/// The link at a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkPoint {
    /// `x`
    pub score: f64,
    /// `phi(x)`
    pub value: f64,
    /// `phi'(x)`
    pub slope: f64,
    /// Whether training entries have scores on both sides of it.
    pub seen: bool,
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
    /// What was chosen for the user.
    #[serde(default)]
    pub chosen: Option<Chosen>,
}

/// Factors and a link that predict entries.
#[derive(Debug, Clone)]
pub struct FittedModel {
    /// The factors.
    pub factors: Factors,
    /// The link.
    pub link: Link,
    /// Level and effects, where the model has them.
    pub offsets: Option<Offsets>,
    /// What new rows and columns are placed by, where the model has effects.
    pub fold_in: Option<FoldIn>,
    /// What is predicted where factors are unknown and there are no effects.
    pub baseline: Baseline,
    /// How it came to be.
    pub provenance: Provenance,
    /// The theory's constants, where slope bounds make them defined.
    pub constants: Option<Constants>,
    /// Where it stands against the truth, if that is known and the link was learned.
    pub standing: Option<Standing>,
}

impl FittedModel {
    /// The effects of rows and columns: the fast solver's models have them, unless it was told not
    /// to. Offsets without effects still hold the level and the range.
    pub fn effects(&self) -> Option<&Offsets> {
        self.offsets.as_ref().filter(|_| self.provenance.config.effects != Effects::Off)
    }

    /// Rows and columns that it knows.
    pub fn shape(&self) -> Shape {
        self.factors.shape()
    }

    /// The prediction for a pair; `None` stands for a row or column that was never seen.
    pub fn predict(&self, row: Option<usize>, column: Option<usize>) -> f64 {
        match &self.offsets {
            None => predict(&self.factors, &self.link, &self.baseline, row, column),
            Some(offsets) => offsets.kept(self.link.value(self.score(row, column))),
        }
    }

    /// The prediction for a known pair, and its score, worked out once.
    pub(crate) fn predict_and_score(&self, row: usize, column: usize) -> (f64, f64) {
        let score = self.score(Some(row), Some(column));
        let prediction = match &self.offsets {
            Some(offsets) => offsets.kept(self.link.value(score)),
            None => {
                let unseen = self.baseline.predict(Some(row), Some(column));
                unseen.unwrap_or_else(|| self.link.value(score))
            }
        };
        (prediction, score)
    }

    /// What level and effects alone predict for a pair; none for models without effects.
    pub fn predict_by_effects(&self, row: Option<usize>, column: Option<usize>) -> Option<f64> {
        let offsets = self.offsets.as_ref()?;
        Some(offsets.kept(self.link.value(offsets.score(row, column))))
    }

    /// The score of a pair; what is not known of it counts as zero.
    pub fn score(&self, row: Option<usize>, column: Option<usize>) -> f64 {
        let product = match (row, column) {
            (Some(row), Some(column)) => self.factors.score(row, column),
            _ => 0.0,
        };
        self.offsets.as_ref().map_or(0.0, |offsets| offsets.score(row, column)) + product
    }

    /// The scores over which the link is known: its domain, where it was learned in the space of a
    /// kernel, or else those of the training entries.
    pub fn link_domain(&self) -> (f64, f64) {
        match &self.link {
            Link::Learned(link) => (-link.space().half_width(), link.space().half_width()),
            _ => self.provenance.score_range,
        }
    }

    /// The link at so many scores (at least two), evenly over [`FittedModel::link_domain`].
    pub fn link_points(&self, count: usize) -> impl Iterator<Item = LinkPoint> + '_ {
        let (low, high) = self.link_domain();
        let (first, last) = self.provenance.score_range;
        let spaces = count.max(2) - 1;
        (0..=spaces).map(move |i| {
            let score = low + (high - low) * i as f64 / spaces as f64;
            let (value, slope) = self.link.value_and_slope(score);
            LinkPoint { score, value, slope, seen: first <= score && score <= last }
        })
    }

    /// A row that the fit has not seen, from its entries (column, value); none for models without
    /// effects.
    pub fn new_row(&self, entries: &[(usize, f64)]) -> Option<NewUnit> {
        let (offsets, fold_in) = (self.offsets.as_ref()?, self.fold_in.as_ref()?);
        Some(fold_in.row(entries, &self.factors, offsets, &self.link))
    }

    /// A column that the fit has not seen, from its entries (row, value); none for models without
    /// effects.
    pub fn new_column(&self, entries: &[(usize, f64)]) -> Option<NewUnit> {
        let (offsets, fold_in) = (self.offsets.as_ref()?, self.fold_in.as_ref()?);
        Some(fold_in.column(entries, &self.factors, offsets, &self.link))
    }

    /// The prediction for a new row and a known column (or one never seen).
    pub fn predict_new_row(&self, row: &NewUnit, column: Option<usize>) -> f64 {
        self.predict_new(self.new_row_score(row, column))
    }

    /// The prediction for a known row (or one never seen) and a new column.
    pub fn predict_new_column(&self, row: Option<usize>, column: &NewUnit) -> f64 {
        self.predict_new(self.new_column_score(row, column))
    }

    /// The score of a new row and a known column (or one never seen).
    pub fn new_row_score(&self, row: &NewUnit, column: Option<usize>) -> f64 {
        let product = column.map_or(0.0, |t| linalg::dot(&row.factors, self.factors.column(t)));
        let effects = self.offsets.as_ref().map_or(0.0, |offsets| offsets.score(None, column));
        effects + row.effect + product
    }

    /// The score of a known row (or one never seen) and a new column.
    pub fn new_column_score(&self, row: Option<usize>, column: &NewUnit) -> f64 {
        let product = row.map_or(0.0, |i| linalg::dot(&column.factors, self.factors.row(i)));
        let effects = self.offsets.as_ref().map_or(0.0, |offsets| offsets.score(row, None));
        effects + column.effect + product
    }

    /// The prediction for a pair with a new unit, from its score.
    pub(crate) fn predict_new(&self, score: f64) -> f64 {
        let Some(offsets) = &self.offsets else { return self.baseline.mean };
        offsets.kept(self.link.value(score))
    }

    /// Errors on entries of the same shape.
    pub fn evaluate(&self, observations: &Observations) -> Metrics {
        metrics(observations, |row, column| self.predict(Some(row), Some(column)))
    }
}

impl Offsets {
    /// `mu + b_i + c_t`, zero in place of what is not known.
    pub fn score(&self, row: Option<usize>, column: Option<usize>) -> f64 {
        let row = row.map_or(0.0, |row| self.rows[row]);
        self.level + row + column.map_or(0.0, |column| self.columns[column])
    }

    /// A prediction within the range of the training values.
    fn kept(&self, value: f64) -> f64 {
        value.clamp(self.range.0, self.range.1)
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

/// Errors of any prediction.
pub fn metrics(observations: &Observations, predict: impl Fn(usize, usize) -> f64) -> Metrics {
    Metrics::of(observations.iter().map(|entry| (entry.value, predict(entry.row, entry.column))))
}

impl Metrics {
    /// From pairs of an observed value and its prediction. Squares are taken relative to the
    /// largest error so far, so that they are finite whenever the errors are.
    pub fn of(pairs: impl Iterator<Item = (f64, f64)>) -> Self {
        let (mut largest, mut squares, mut sum) = (f64::MIN_POSITIVE, 0.0, 0.0);
        let mut count = 0;
        for (value, prediction) in pairs {
            let error = (value - prediction).abs();
            if error > largest {
                let share: f64 = largest / error;
                (squares, sum, largest) = (squares * share * share, sum * share, error);
            }
            squares += (error / largest).powi(2);
            sum += error / largest;
            count += 1;
        }
        let mean = |total: f64| total / count as f64;
        Self { rmse: largest * mean(squares).sqrt(), mae: largest * mean(sum), count }
    }
}
