//! New rows and columns from a few entries, without fitting anything again.

use serde::{Deserialize, Serialize};

use super::{
    belief::Belief,
    units::{Lists, Responses, Units, triangle},
};
use crate::{factors::Factors, link::Link, model::Offsets};

/// Rounds of Gauss-Newton steps through a link.
const ROUNDS: usize = 12;

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
        let others: Vec<&[f64]> = factors.each_column().collect();
        place(self, &self.rows, &self.columns, entries, &others, &offsets.columns, offsets, link)
    }

    /// The posterior mean of a new column that has these entries (row, value).
    pub fn column(
        &self,
        entries: &[(usize, f64)],
        factors: &Factors,
        offsets: &Offsets,
        link: &Link,
    ) -> NewUnit {
        let others: Vec<&[f64]> = factors.each_row().collect();
        place(self, &self.columns, &self.rows, entries, &others, &offsets.rows, offsets, link)
    }
}

#[allow(clippy::too_many_arguments)]
fn place(
    fold_in: &FoldIn,
    side: &SidePrior,
    other_side: &SidePrior,
    entries: &[(usize, f64)],
    others: &[&[f64]],
    effects: &[f64],
    offsets: &Offsets,
    link: &Link,
) -> NewUnit {
    let p = side.precision.len();
    let rank = p - 1;
    // The other units of the entries, as the fit knows them.
    let mut known = Units::new(entries.len(), p);
    for (i, &(other, _)) in entries.iter().enumerate() {
        known.mean[i * p..i * p + rank].copy_from_slice(others[other]);
        known.mean[i * p + rank] = effects[other];
        for a in 0..p {
            known.covariance[i * triangle(p) + triangle(a) + a] =
                other_side.variances[other * p + a];
        }
    }
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
    let lists = Lists { starts: &starts, others: &index, ordered: true };
    let straight = matches!(link, Link::Known(crate::link::KnownLink::Identity));
    for round in 0..if straight { 1 } else { ROUNDS } {
        let (mut z, mut w) = (Vec::new(), Vec::new());
        for (i, &(_, value)) in entries.iter().enumerate() {
            let v = known.of(i);
            let product: f64 = (0..rank).map(|a| unit.mean[a] * v[a]).sum();
            let x = offsets.level + unit.mean[rank] + v[rank] + product;
            let (fitted, slope) = link.value_and_slope(x);
            let steep = slope.max(f64::MIN_POSITIVE.sqrt());
            let flat = slope * slope < 1e-12;
            z.push(if flat { x } else { x + (value - fitted) / steep });
            w.push(if flat { 0.0 } else { slope * slope });
        }
        let (level, noise_precision) = (offsets.level, fold_in.noise_precision);
        let responses = Responses { z: &z, w: Some(&w), level, noise_precision };
        let before = unit.mean.clone();
        unit.update(&known, lists, responses);
        // Later rounds go half way, so that a bent link does not throw a unit to and fro.
        if round > 2 {
            for (new, old) in unit.mean.iter_mut().zip(&before) {
                *new = 0.5 * (*new + old);
            }
        }
    }
    NewUnit { effect: unit.mean[rank], factors: unit.mean[..rank].to_vec() }
}
