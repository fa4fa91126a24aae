//! What is believed of all rows and columns, and the sweep that improves it.
//!
//! Mean-field variational inference of the model `z = mu + b_i + c_t + u_i . v_t + noise` with
//! normal priors whose precisions are learned: alternating least squares in which every small
//! system also knows how uncertain the other side is, and which sets its own penalties.

use crate::four::triangle;
use crate::{factors::Factors, model::Offsets, observations::Shape};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::{
    panel::{Panel, spread},
    priors::{Presence, update_precisions},
    rotate::rotate,
    units::{Responses, Units},
};

/// Effects are found in so many sweeps before there are factors.
const EFFECT_SWEEPS: usize = 3;
/// Factors are rotated at every third sweep: at every one, too many are given up.
const ROTATION: usize = 3;
/// The noise is at least this share of what it was: it never vanishes in one sweep.
const LEAST_NOISE: f64 = 1e-8;
/// A precision that leaves a coordinate at its prior.
const FIXED: f64 = 1e200;

/// How beliefs are formed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Prior {
    /// Factors per row and column (`r`).
    pub rank: usize,
    /// `kappa`: how many times more precise the prior of the factors is than they look.
    pub shrinkage: f64,
    /// Whether there are effects of rows and columns and a level.
    pub effects: bool,
    /// `beta`: how long the factors of a row or column may be, if they are projected (P_C).
    pub radius: Option<f64>,
    pub seed: u64,
}

/// Rows, columns, noise.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Belief {
    pub prior: Prior,
    /// `mu`
    pub level: f64,
    /// `tau`
    pub noise_precision: f64,
    pub rows: Units,
    pub columns: Units,
    pub row_presence: Presence,
    pub column_presence: Presence,
}

impl Clone for Belief {
    fn clone(&self) -> Self {
        Self {
            rows: self.rows.clone(),
            columns: self.columns.clone(),
            row_presence: self.row_presence.clone(),
            column_presence: self.column_presence.clone(),
            ..*self
        }
    }

    /// Into the room that is there.
    fn clone_from(&mut self, other: &Self) {
        (self.prior, self.level) = (other.prior, other.level);
        self.noise_precision = other.noise_precision;
        self.rows.clone_from(&other.rows);
        self.columns.clone_from(&other.columns);
        self.row_presence.clone_from(&other.row_presence);
        self.column_presence.clone_from(&other.column_presence);
    }
}

/// Responses and weights of the entries, in the order of a side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub z: &'a [f64],
    pub w: Option<&'a [f64]>,
}

/// The responses of all entries, none weighing more than another, in the order of both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Targets<'a> {
    pub by_row: &'a [f64],
    pub by_column: &'a [f64],
}

impl<'a> Targets<'a> {
    /// The observed values.
    pub fn values(panel: &'a Panel<'_>) -> Self {
        Self { by_row: panel.observations.values(), by_column: panel.column_values() }
    }

    fn rows(self) -> Target<'a> {
        Target { z: self.by_row, w: None }
    }

    fn columns(self) -> Target<'a> {
        Target { z: self.by_column, w: None }
    }
}

impl Belief {
    /// Effects from the entries, factors at random: those of a column depend on the seed and on
    /// its signature.
    pub fn new(panel: &Panel<'_>, targets: Targets<'_>, prior: Prior) -> Self {
        let (p, shape) = (prior.rank + 1, panel.observations.shape());
        let (mean, deviation) = spread(targets.by_row);
        let mut belief = Self {
            prior,
            level: if prior.effects { mean } else { 0.0 },
            noise_precision: deviation.powi(-2),
            rows: Units::new(shape.rows, 1),
            columns: Units::new(shape.columns, 1),
            row_presence: Presence::new(0, &Units::new(0, p)),
            column_presence: Presence::new(0, &Units::new(0, p)),
        };
        if prior.effects {
            belief.find_effects(panel, targets);
        }
        belief.add_factors(panel);
        belief
    }

    /// Whether it is one of a panel of this shape.
    pub fn fits(&self, Shape { rows, columns }: Shape) -> bool {
        if self.prior.rank == 0 || self.prior.rank > rows.max(columns) {
            return false;
        }
        let p = self.prior.rank + 1;
        self.rows.fit(rows, p)
            && self.columns.fit(columns, p)
            && self.row_presence.fit(columns, p)
            && self.column_presence.fit(rows, p)
    }

    fn find_effects(&mut self, panel: &Panel<'_>, targets: Targets<'_>) {
        let start = 4.0 * self.noise_precision;
        self.rows.precision[0] = start;
        self.columns.precision[0] = start;
        for _ in 0..EFFECT_SWEEPS {
            self.update_rows(panel, targets.rows());
            let squares = self.update_columns(panel, targets.columns());
            self.set_noise(squares, targets.by_row.len());
            update_precisions(&mut self.rows, None, 1.0);
            update_precisions(&mut self.columns, None, 1.0);
        }
    }

    /// Goes on from where an earlier fit ended.
    pub fn begin_at(&mut self, factors: &Factors, offsets: Option<&Offsets>) {
        let rank = self.prior.rank;
        for (z, given) in self.rows.mean.chunks_mut(rank + 1).zip(factors.each_row()) {
            z[..rank].copy_from_slice(given);
        }
        for (z, given) in self.columns.mean.chunks_mut(rank + 1).zip(factors.each_column()) {
            z[..rank].copy_from_slice(given);
        }
        if let Some(offsets) = offsets.filter(|_| self.prior.effects) {
            self.level = offsets.level;
            for (z, effect) in self.rows.mean.chunks_mut(rank + 1).zip(&offsets.rows) {
                z[rank] = *effect;
            }
            for (z, effect) in self.columns.mean.chunks_mut(rank + 1).zip(&offsets.columns) {
                z[rank] = *effect;
            }
        }
    }

    /// Widens units that have an effect only.
    fn add_factors(&mut self, panel: &Panel<'_>) {
        let Prior { rank, effects, seed, .. } = self.prior;
        let scale = (self.noise_precision * rank as f64).powf(-0.25);
        let precision = 4.0 * (self.noise_precision * rank as f64).sqrt();
        for units in [&mut self.rows, &mut self.columns] {
            let mut wide = Units::new(units.len(), rank + 1);
            for unit in 0..units.len() {
                wide.mean[unit * (rank + 1) + rank] = units.mean[unit];
                wide.covariance[(unit + 1) * triangle(rank + 1) - 1] = units.covariance[unit];
            }
            wide.precision.fill(precision);
            wide.precision[rank] = if effects { units.precision[0] } else { FIXED };
            *units = wide;
        }
        for (column, z) in self.columns.mean.chunks_mut(rank + 1).enumerate() {
            let signature = panel.signatures.columns[column];
            let mut random = Pcg64::seed_from_u64(signature ^ seed.wrapping_mul(0x9e37_79b9));
            for z in &mut z[..rank] {
                let normal: f64 = StandardNormal.sample(&mut random);
                *z = scale * normal;
            }
        }
        self.row_presence = Presence::new(self.columns.len(), &self.rows);
        self.column_presence = Presence::new(self.rows.len(), &self.columns);
    }

    pub fn responses<'a>(&self, target: Target<'a>) -> Responses<'a> {
        let (level, noise_precision) = (self.level, self.noise_precision);
        Responses { z: target.z, w: target.w, level, noise_precision }
    }

    /// One sweep: rows, columns, their priors, the noise. In a hurry it ends on the way.
    pub fn sweep(&mut self, panel: &Panel<'_>, targets: Targets<'_>, number: usize) {
        self.update_rows(panel, targets.rows());
        if panel.hurry.is_raised() {
            return;
        }
        self.update_row_prior(panel, number);
        let squares = self.update_columns(panel, targets.columns());
        if panel.hurry.is_raised() {
            return;
        }
        self.update_column_prior(panel, number);
        self.set_noise(squares, targets.by_row.len());
        self.rotate(number);
    }

    pub fn update_rows(&mut self, panel: &Panel<'_>, target: Target<'_>) {
        let responses = self.responses(target);
        self.rows.update(&self.columns, panel.rows(), responses);
        self.rows.project(self.prior.radius);
    }

    pub fn update_columns(&mut self, panel: &Panel<'_>, target: Target<'_>) -> f64 {
        let responses = self.responses(target);
        let squares = self.columns.update(&self.rows, panel.columns(), responses);
        self.columns.project(self.prior.radius);
        squares
    }

    pub fn update_row_prior(&mut self, panel: &Panel<'_>, number: usize) {
        let (units, presence) = (&mut self.rows, &mut self.row_presence);
        let lists = (panel.rows(), panel.columns());
        update_prior(units, presence, lists, &panel.column_order, self.prior, number);
    }

    pub fn update_column_prior(&mut self, panel: &Panel<'_>, number: usize) {
        let (units, presence) = (&mut self.columns, &mut self.column_presence);
        let lists = (panel.columns(), panel.rows());
        update_prior(units, presence, lists, &panel.row_order, self.prior, number);
    }

    /// `tau <- M / sum_k w_k E (z_k - x_k)^2`, from that sum times `tau`.
    pub fn set_noise(&mut self, squares: f64, count: usize) {
        let count = count as f64;
        self.noise_precision *= count / squares.max(LEAST_NOISE * count);
    }

    /// Rotates the factors, at some sweeps.
    pub fn rotate(&mut self, number: usize) {
        if number >= 2 && number.is_multiple_of(ROTATION) {
            let rows = (&mut self.rows, &mut self.row_presence);
            let columns = (&mut self.columns, &mut self.column_presence);
            rotate(rows, columns, self.prior.shrinkage);
            self.rows.project(self.prior.radius);
            self.columns.project(self.prior.radius);
        }
    }

    /// `x = mu + b_i + c_t + u_i . v_t`, at the means.
    #[inline]
    pub fn score(&self, row: usize, column: usize) -> f64 {
        let (a, b) = (self.rows.of(row), self.columns.of(column));
        let rank = self.prior.rank;
        let product: f64 = a[..rank].iter().zip(&b[..rank]).map(|(u, v)| u * v).sum();
        self.level + a[rank] + b[rank] + product
    }

    /// The variance of a score: what the row adds to it, what the column adds, what both add
    /// together.
    pub fn score_variance(&self, row: usize, column: usize) -> ScoreVariance {
        let rank = self.prior.rank;
        let (u, v) = (self.rows.of(row), self.columns.of(column));
        let (s, t) = (self.rows.covariance_of(row), self.columns.covariance_of(column));
        let last = triangle(rank);
        let mut sum = ScoreVariance { row: s[last + rank], column: t[last + rank], both: 0.0 };
        for a in 0..rank {
            sum.row += 2.0 * s[last + a] * v[a];
            sum.column += 2.0 * t[last + a] * u[a];
            let row = triangle(a);
            for b in 0..=a {
                let (s, t) = (s[row + b], t[row + b]);
                // Below the diagonal each stands for two.
                let times = if b < a { 2.0 } else { 1.0 };
                sum.row += times * s * v[a] * v[b];
                sum.column += times * t * u[a] * u[b];
                sum.both += times * s * t;
            }
        }
        let ScoreVariance { row, column, both } = sum;
        ScoreVariance { row: row.max(0.0), column: column.max(0.0), both: both.max(0.0) }
    }

    /// Nothing but level and effects, or nothing but the level.
    pub fn without_factors(mut self, effects: bool) -> Self {
        let rank = self.prior.rank;
        for units in [&mut self.rows, &mut self.columns] {
            for z in units.mean.chunks_mut(rank + 1) {
                z[..if effects { rank } else { rank + 1 }].fill(0.0);
            }
        }
        self
    }
}

/// The parts of the variance of a score.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoreVariance {
    pub row: f64,
    pub column: f64,
    pub both: f64,
}

impl ScoreVariance {
    /// All of it.
    pub fn total(self) -> f64 {
        self.row + self.column + self.both
    }
}

/// The prior of a side after its update; the first sweep is too early to judge by.
fn update_prior(
    units: &mut Units,
    presence: &mut Presence,
    lists: (super::units::Lists<'_>, super::units::Lists<'_>),
    order: &[u32],
    prior: Prior,
    number: usize,
) {
    if number == 0 {
        return;
    }
    let spread = presence.update(units, lists.0, lists.1, order);
    update_precisions(units, Some(&spread), prior.shrinkage);
    if !prior.effects {
        units.precision[prior.rank] = FIXED;
    }
}
