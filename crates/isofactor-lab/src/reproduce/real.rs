//! The two real data sets, their splits, and the variants of the paper's tables on them.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

use isofactor::{
    EntryList, Factors, FitConfig, FitInput, KnownLink, Link, Observations, Shape,
    config::{Bandwidth, LinkChoice, Monotone, ProjectFactors, StartLink, StepRule},
    init::spectral_factors,
    link::SlopeBounds,
    select::hold_out,
};
use isofactor_io::{Labels, Source, TableFormat, read_entries};
use serde::{Deserialize, Serialize};

use super::{
    desk::Watch,
    error::{Error, Result},
};

/// Share of every row that is held out.
const HELD_OUT: f64 = 0.1;
/// Places at which a link is drawn.
const PLACES: usize = 161;

/// A data set of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RealData {
    MovieLens,
    Jester,
}

impl RealData {
    /// Its file in the folder of data.
    fn path(self, folder: &Path) -> PathBuf {
        match self {
            RealData::MovieLens => folder.join("movielens-small").join("ratings.csv"),
            RealData::Jester => folder.join("jester-1").join("jester-data-1.csv"),
        }
    }

    /// Rows, columns and entries as the paper counts them.
    fn counts(self) -> (usize, usize, usize) {
        match self {
            RealData::MovieLens => (610, 9_724, 100_836),
            RealData::Jester => (24_983, 100, 1_810_455),
        }
    }

    /// Reads it and checks that it is the paper's.
    pub(crate) fn read(self, folder: Option<&Path>) -> Result<(Shape, EntryList)> {
        let folder = folder.ok_or_else(|| Error::OtherData {
            path: self.path(Path::new("")),
            reason: "needs the folder of real data (--data)".to_owned(),
        })?;
        let path = self.path(folder);
        let format = match self {
            RealData::MovieLens => TableFormat::default(),
            RealData::Jester => {
                // The first field of a line counts the others.
                let (missing, skip) = (vec!["99".to_owned()], vec!["1".to_owned()]);
                TableFormat { wide: true, missing, skip, ..TableFormat::default() }
            }
        };
        let (mut rows, mut columns) = (Labels::default(), Labels::default());
        let entries = read_entries(&Source::new(&path), &format, &mut rows, &mut columns)?;
        let shape = Shape { rows: rows.len(), columns: columns.len() };
        let found = (shape.rows, shape.columns, entries.len());
        if found != self.counts() {
            let reason = format!(
                "holds {} rows, {} columns and {} entries where the paper has {:?}",
                found.0,
                found.1,
                found.2,
                self.counts()
            );
            return Err(Error::OtherData { path, reason });
        }
        Ok((shape, entries))
    }
}

/// Splits of a data set, made when they are asked for.
pub(crate) struct Splits {
    shape: Shape,
    entries: EntryList,
    /// The last ones, so that the variants of a split do not make it again.
    last: Mutex<Vec<(u64, std::sync::Arc<Split>)>>,
}

/// Entries to learn from and entries to judge by.
pub(crate) struct Split {
    pub training: Observations,
    pub held: Observations,
}

impl Splits {
    pub(crate) fn of((shape, entries): (Shape, EntryList)) -> Self {
        Self { shape, entries, last: Mutex::new(Vec::new()) }
    }

    pub(crate) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// What of the data decides the results.
    pub(crate) fn key(&self) -> String {
        let sum: f64 = self.entries.iter().map(|entry| entry.value).sum();
        format!("{:?} {} {sum}", self.shape, self.entries.len())
    }

    /// A tenth of each row held out, by the seed.
    pub(crate) fn split(&self, seed: u64) -> Result<std::sync::Arc<Split>> {
        let lock = || self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, split)) = lock().iter().find(|(known, _)| *known == seed) {
            return Ok(split.clone());
        }
        let (training, held) = hold_out(self.shape, self.entries.clone(), HELD_OUT, seed)?;
        let split = std::sync::Arc::new(Split { training, held });
        lock().push((seed, split.clone()));
        Ok(split)
    }
}

/// One line of the paper's tables: what it prints, and our settings for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Line {
    /// As the paper calls it.
    pub method: String,
    /// The paper's validation and training RMSE, its seconds, its number of iterations.
    pub paper: Paper,
    /// Whether the link is learned.
    pub learned: bool,
    pub rank: usize,
    /// `beta`; none leaves the factors alone.
    pub radius: Option<f64>,
    /// Whether the link is kept increasing.
    pub monotone: bool,
    /// What the factors of the spectral start are multiplied by.
    pub start_scale: f64,
    pub bandwidth: f64,
    pub link_penalty: f64,
    pub balance_penalty: f64,
    pub factor_step: StepRule,
    pub link_step: StepRule,
    pub iterations: usize,
}

/// What the paper prints for a line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paper {
    pub validation: f64,
    pub training: f64,
    pub seconds: f64,
    pub iterations: usize,
    /// `min(X)` and `max(X)`, where it prints them.
    pub range: Option<(f64, f64)>,
}

/// What is kept of a fit of a line on a split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LineFound {
    pub validation: f64,
    pub training: f64,
    /// The best checkpoint.
    pub kept: usize,
    pub iterations: usize,
    /// Seconds of all iterations, on one core.
    pub seconds: f64,
    /// `min(X)` and `max(X)` over the whole matrix.
    pub range: (f64, f64),
    /// The link over the range of the training scores.
    pub link: Vec<(f64, f64)>,
    /// Validation RMSE by iteration, thinned.
    pub curve: Vec<(usize, f64)>,
}

impl Line {
    /// Passes over entries of a fit.
    pub(crate) fn cost(&self, entries: usize) -> f64 {
        (entries * self.iterations * (4 + self.rank)) as f64 / 8.0
    }

    fn config(&self, seed: u64) -> FitConfig {
        let known = LinkChoice::Known(KnownLink::Identity);
        FitConfig {
            rank: Some(self.rank),
            link: if self.learned { LinkChoice::Learned } else { known },
            bandwidth: Bandwidth::Fixed(self.bandwidth),
            link_penalty: self.link_penalty,
            balance_penalty: self.balance_penalty,
            factor_step: self.factor_step,
            link_step: self.link_step,
            iterations: self.iterations,
            // A small start is left slowly: what looks settled there is not.
            tolerance: 0.0,
            start_link: StartLink::Identity,
            project_factors: self.radius.map_or(ProjectFactors::Off, ProjectFactors::Radius),
            monotone: if self.monotone {
                Monotone::Within(SlopeBounds::INCREASING)
            } else {
                Monotone::Off
            },
            seed,
            ..FitConfig::bcd()
        }
    }

    /// Fits the line on a split.
    pub(crate) fn run(&self, split: &Split, seed: u64, watch: &mut Watch<'_>) -> Result<LineFound> {
        let start =
            scaled(&spectral_factors(&split.training, self.rank, false, seed)?, self.start_scale);
        let input = FitInput {
            validation: Some(&split.held),
            start: Some(&start),
            ..FitInput::new(&split.training)
        };
        let (model, trace) = watch.fit(&self.config(seed), &input)?;
        let curve = super::statistics::log_places(trace.len(), PLACES)
            .into_iter()
            .filter_map(|place| Some((trace[place].iteration, trace[place].validation_rmse?)))
            .collect();
        Ok(LineFound {
            validation: model.provenance.validation.map_or(f64::NAN, |m| m.rmse),
            training: model.provenance.train.rmse,
            kept: model.provenance.kept,
            iterations: model.provenance.iterations,
            seconds: trace.last().map_or(0.0, |row| row.seconds)
                - trace.first().map_or(0.0, |row| row.seconds),
            range: score_range(&model.factors),
            link: drawn(&model.link, model.provenance.score_range),
            curve,
        })
    }
}

fn scaled(factors: &Factors, scale: f64) -> Factors {
    factors.moved(scale - 1.0, factors)
}

/// The smallest and the largest score of the whole matrix.
fn score_range(factors: &Factors) -> (f64, f64) {
    let mut range = (f64::INFINITY, f64::NEG_INFINITY);
    for row in factors.each_row() {
        for column in factors.each_column() {
            let score: f64 = row.iter().zip(column).map(|(u, v)| u * v).sum();
            range = (range.0.min(score), range.1.max(score));
        }
    }
    range
}

fn drawn(link: &Link, (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let place = |i: usize| low + (high - low) * i as f64 / (PLACES - 1) as f64;
    (0..PLACES).map(place).map(|x| (x, link.value(x))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use isofactor::init::random_factors;

    #[test]
    fn the_range_of_scores_is_that_of_every_pair() {
        let factors = random_factors(Shape { rows: 7, columns: 5 }, 3, 2);
        let (low, high) = score_range(&factors);
        let all = (0..7).flat_map(|i| (0..5).map(move |t| (i, t)));
        let scores: Vec<f64> = all.map(|(i, t)| factors.score(i, t)).collect();
        assert!(scores.iter().all(|s| (low - 1e-12..=high + 1e-12).contains(s)));
        assert!(scores.iter().any(|s| (s - low).abs() < 1e-12));
    }

    #[test]
    fn scaling_the_start_scales_its_scores_by_the_square() {
        let factors = random_factors(Shape { rows: 7, columns: 5 }, 3, 2);
        let ratio = scaled(&factors, 0.1).score(2, 3) / factors.score(2, 3);
        assert!((ratio - 0.01).abs() < 1e-12);
    }
}
