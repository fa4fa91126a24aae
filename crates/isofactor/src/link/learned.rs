//! A link in the kernel's space: coordinates, and the table they are read by.

use std::sync::{Arc, OnceLock};

use crate::{
    error::Result,
    linalg,
    link::{fine::FineTable, space::LinkSpace, table::Table},
};

/// A function `phi(x) = w . psi(x)` of a [`LinkSpace`].
#[derive(Debug, Clone)]
pub struct LearnedLink {
    space: Arc<LinkSpace>,
    weights: Vec<f64>,
    table: Table,
    /// Made when a pass over the entries first asks for it.
    fine: OnceLock<FineTable>,
}

impl LearnedLink {
    /// The function with these coordinates.
    pub fn new(space: Arc<LinkSpace>, weights: Vec<f64>) -> Self {
        let table = space.table(&weights);
        Self { space, weights, table, fine: OnceLock::new() }
    }

    /// The zero function.
    pub fn zero(space: Arc<LinkSpace>) -> Self {
        let weights = vec![0.0; space.dimension()];
        Self::new(space, weights)
    }

    /// The space it lives in.
    pub fn space(&self) -> &Arc<LinkSpace> {
        &self.space
    }

    /// Its coordinates `w`.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// `|phi|_H = |w|`
    pub fn norm(&self) -> f64 {
        linalg::dot(&self.weights, &self.weights).sqrt()
    }

    /// `phi(x)` and `phi'(x)`; outside the domain the link goes on straight.
    #[inline]
    pub fn value_and_slope(&self, x: f64) -> (f64, f64) {
        self.table.value_and_slope(x)
    }

    /// The table for passes over many scores inside the domain.
    pub(crate) fn fine(&self) -> &FineTable {
        self.fine.get_or_init(|| FineTable::new(&self.table, self.space.fine_grid()))
    }

    /// Smallest and largest slope over the domain.
    pub fn slope_range(&self) -> (f64, f64) {
        self.table.slope_range()
    }

    /// `|phi - f|_H` for another function of the same space.
    pub fn distance(&self, weights: &[f64]) -> f64 {
        let squares = self.weights.iter().zip(weights).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// The same function on a wider domain, for scores up to `largest` and some more to come.
    pub fn widened(&self, largest: f64) -> Result<Self> {
        let space = Arc::new(LinkSpace::build(self.space.kernel(), 1.5 * largest)?);
        let weights = space.carry_over(&self.space, &self.weights);
        Ok(Self::new(space, weights))
    }
}
