//! New rows and columns from a few entries, without fitting anything again.

use serde::{Deserialize, Serialize};

use super::{
    belief::Belief,
    units::{Lists, Responses, Units},
};
use crate::{
    factors::Factors,
    four::triangle,
    link::{KnownLink, Link},
    model::Offsets,
    monitor::Hurry,
};

/// Rounds of Gauss-Newton steps through a link, and how many of them go the whole way.
const ROUNDS: usize = 12;
const WHOLE_ROUNDS: usize = 3;

/// What is needed of a fit to place a new row or column.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldIn {
    /// `tau`: the precision of the noise, in units of the score.
    pub noise_precision: f64,
    /// What is needed to place a row.
    pub rows: SidePrior,
    /// What is needed to place a column.
    pub columns: SidePrior,
}

/// The prior of a side, and how uncertain its own units are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SidePrior {
    /// `alpha`, the effect last.
    pub precision: Vec<f64>,
    /// `W`: what an entry with each unit of the other side says, before its value is seen.
    pub presence: Vec<f64>,
    /// The variances of the coordinates of each unit of this side.
    pub variances: Vec<f64>,
}

/// A row or column that the fit has not seen.
#[derive(Debug, Clone, PartialEq)]
pub struct NewUnit {
    /// Its effect.
    pub effect: f64,
    /// Its factors.
    pub factors: Vec<f64>,
}

impl FoldIn {
    pub(super) fn new(belief: &Belief) -> Self {
        let side = |units: &Units, presence: &[f64]| SidePrior {
            precision: units.precision.clone(),
            presence: presence.to_vec(),
            variances: (0..units.len())
                .flat_map(|unit| {
                    let covariance = units.covariance_of(unit);
                    (0..units.p).map(|a| covariance[triangle(a) + a])
                })
                .collect(),
        };
        Self {
            noise_precision: belief.noise_precision,
            rows: side(&belief.rows, &belief.row_presence.weights),
            columns: side(&belief.columns, &belief.column_presence.weights),
        }
    }

    /// The posterior mean of a new row that has these entries (column, value).
    pub fn row(
        &self,
        entries: &[(usize, f64)],
        factors: &Factors,
        offsets: &Offsets,
        link: &Link,
    ) -> NewUnit {
        let others = entries.iter().map(|&(t, _)| (factors.column(t), offsets.columns[t]));
        let known = known_units(others, entries, &self.columns);
        self.place(&self.rows, &known, entries, offsets.level, link)
    }

    /// The posterior mean of a new column that has these entries (row, value).
    pub fn column(
        &self,
        entries: &[(usize, f64)],
        factors: &Factors,
        offsets: &Offsets,
        link: &Link,
    ) -> NewUnit {
        let others = entries.iter().map(|&(i, _)| (factors.row(i), offsets.rows[i]));
        let known = known_units(others, entries, &self.rows);
        self.place(&self.columns, &known, entries, offsets.level, link)
    }

    /// Gauss-Newton rounds from the prior; one is exact where there is no link.
    fn place(
        &self,
        side: &SidePrior,
        known: &Units,
        entries: &[(usize, f64)],
        level: f64,
        link: &Link,
    ) -> NewUnit {
        let p = side.precision.len();
        let mut unit = Units::new(1, p);
        unit.precision.clone_from(&side.precision);
        let share = (entries.len().max(1) as f64).sqrt().recip();
        for &(other, _) in entries {
            for a in 0..p {
                unit.prior[a] += share * side.presence[other * p + a];
            }
        }
        unit.mean.clone_from(&unit.prior);
        let starts = [0, entries.len()];
        let index: Vec<u32> = (0..entries.len() as u32).collect();
        let never = Hurry::default();
        let lists = Lists { starts: &starts, others: &index, in_bands: true, hurry: &never };
        let straight = matches!(link, Link::Known(KnownLink::Identity));
        for round in 0..if straight { 1 } else { ROUNDS } {
            let (z, w) = linearised(&unit, known, entries, level, link);
            let noise_precision = self.noise_precision;
            let responses = Responses { z: &z, w: Some(&w), level, noise_precision };
            let before = unit.mean.clone();
            unit.update(known, lists, responses);
            // Later rounds go half way, so that a bent link does not throw a unit to and fro.
            if round >= WHOLE_ROUNDS {
                for (new, old) in unit.mean.iter_mut().zip(&before) {
                    *new = 0.5 * (*new + old);
                }
            }
        }
        NewUnit { effect: unit.mean[p - 1], factors: unit.mean[..p - 1].to_vec() }
    }
}

/// The other units of the entries, as the fit knows them.
fn known_units<'a>(
    others: impl Iterator<Item = (&'a [f64], f64)>,
    entries: &[(usize, f64)],
    side: &SidePrior,
) -> Units {
    let p = side.precision.len();
    let mut known = Units::new(entries.len(), p);
    for (i, (factors, effect)) in others.enumerate() {
        known.mean[i * p..(i + 1) * p - 1].copy_from_slice(factors);
        known.mean[(i + 1) * p - 1] = effect;
        for a in 0..p {
            let variance = side.variances[entries[i].0 * p + a];
            known.covariance[i * triangle(p) + triangle(a) + a] = variance;
        }
    }
    known
}

/// Responses and weights of the entries with the link as a line at the present scores. Where it is
/// flat an entry says nothing.
fn linearised(
    unit: &Units,
    known: &Units,
    entries: &[(usize, f64)],
    level: f64,
    link: &Link,
) -> (Vec<f64>, Vec<f64>) {
    let rank = unit.p - 1;
    let line = |(i, &(_, value)): (usize, &(usize, f64))| {
        let v = known.of(i);
        let product: f64 = (0..rank).map(|a| unit.mean[a] * v[a]).sum();
        let x = level + unit.mean[rank] + v[rank] + product;
        let (fitted, slope) = link.value_and_slope(x);
        let response = x + (value - fitted) / slope;
        if response.is_finite() { (response, slope * slope) } else { (x, 0.0) }
    };
    entries.iter().enumerate().map(line).unzip()
}
