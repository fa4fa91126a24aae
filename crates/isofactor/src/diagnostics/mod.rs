//! How far a fit is from the truth, for made data: the quantities of the paper's analysis.

mod procrustes;
mod tracker;

pub use procrustes::factor_distance;
pub use tracker::{Standing, Tracker};

use crate::{
    error::Result,
    factors::Factors,
    link::{KnownLink, SlopeBounds},
};

/// The factors and the link that made the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    factors: Factors,
    singular_values: Vec<f64>,
    link: KnownLink,
}

impl Truth {
    /// Any factors with the right scores; they are balanced here (`Z*`).
    pub fn new(factors: &Factors, link: KnownLink) -> Result<Self> {
        let (factors, singular_values) = factors.balanced()?;
        Ok(Self { factors, singular_values, link })
    }

    /// `Z*`, balanced.
    pub fn factors(&self) -> &Factors {
        &self.factors
    }

    /// `phi*`
    pub fn link(&self) -> &KnownLink {
        &self.link
    }

    /// `sigma_1* >= ... >= sigma_r*`
    pub fn singular_values(&self) -> &[f64] {
        &self.singular_values
    }

    /// `kappa = sigma_1* / sigma_r*`
    pub fn condition(&self) -> f64 {
        match self.singular_values.as_slice() {
            [first, .., last] => first / last,
            _ => 1.0,
        }
    }

    /// The slopes that the true link takes for scores in `[-reach, reach]`, on a fine grid.
    pub fn slopes(&self, reach: f64) -> SlopeBounds {
        let places = (0..=1000).map(|i| reach * (f64::from(i) / 500.0 - 1.0));
        let slopes = places.map(|x| self.link.value_and_slope(x).1);
        slopes.fold(SlopeBounds { low: f64::INFINITY, high: 0.0 }, |b, slope| SlopeBounds {
            low: b.low.min(slope),
            high: b.high.max(slope),
        })
    }

    /// `phi*(u_i* . v_t*)`: an entry without its noise.
    pub fn value(&self, row: usize, column: usize) -> f64 {
        self.link.value_and_slope(self.factors.score(row, column)).0
    }
}
