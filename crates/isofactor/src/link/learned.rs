//! A link in the kernel's space: coordinates, and the table they are read by.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::{
    linalg,
    link::{fine::FineTable, kernel::Kernel, space::LinkSpace, table::Table},
};

/// A function `phi(x) = w . psi(x)` of a [`LinkSpace`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct LearnedLink {
    space: Arc<LinkSpace>,
    weights: Vec<f64>,
    tables: Arc<Tables>,
}

/// A link's tables, each made when it is first asked for and shared by all copies of the link.
#[derive(Debug, Default)]
struct Tables {
    table: OnceLock<Table>,
    /// Smallest and largest slope: asked for before and after every projection.
    slopes: OnceLock<(f64, f64)>,
    /// For passes over entries, as far as the first of them needed it.
    near: OnceLock<FineTable>,
    /// The same over the whole domain.
    fine: OnceLock<FineTable>,
}

impl LearnedLink {
    /// The function with these coordinates.
    pub fn new(space: Arc<LinkSpace>, weights: Vec<f64>) -> Self {
        Self { space, weights, tables: Arc::default() }
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
        self.table().value_and_slope(x)
    }

    #[inline]
    fn table(&self) -> &Table {
        self.tables.table.get_or_init(|| self.space.table(&self.weights))
    }

    /// The table for passes over many scores inside the domain.
    pub(crate) fn fine(&self) -> &FineTable {
        self.tables.fine.get_or_init(|| FineTable::new(self.table()))
    }

    /// The same for passes over scores that are expected to be at most `reach` in absolute value.
    /// [`FineTable::covers`] tells whether they were.
    ///
    /// A table is made for every step of a link, and mostly scores lie on a small part of its domain.
    pub(crate) fn fine_within(&self, reach: f64) -> &FineTable {
        let wanted = 1.125 * reach;
        if self.tables.table.get().is_some() || wanted >= self.space.half_width() {
            return self.fine();
        }
        let near = &self.tables.near;
        let near = near.get_or_init(|| self.space.fine_within(&self.weights, wanted));
        if near.covers(reach) { near } else { self.fine() }
    }

    /// Smallest and largest slope over the domain.
    pub fn slope_range(&self) -> (f64, f64) {
        *self.tables.slopes.get_or_init(|| self.table().slope_range())
    }

    /// `|phi - f|_H` for another function of the same space.
    pub fn distance(&self, weights: &[f64]) -> f64 {
        let squares = self.weights.iter().zip(weights).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// The same function in another space of the same kernel.
    pub fn carried_to(&self, space: Arc<LinkSpace>) -> Self {
        let weights = space.carry_over(&self.space, &self.weights);
        Self::new(space, weights)
    }
}

/// What defines a link: the space by its centres, from which it is rebuilt to the last digit.
#[derive(Serialize, Deserialize)]
struct Stored {
    kernel: Kernel,
    half_width: f64,
    centres: Vec<f64>,
    weights: Vec<f64>,
}

impl From<LearnedLink> for Stored {
    fn from(link: LearnedLink) -> Self {
        let space = link.space();
        Self {
            kernel: space.kernel(),
            half_width: space.half_width(),
            centres: space.centres().to_vec(),
            weights: link.weights,
        }
    }
}

impl TryFrom<Stored> for LearnedLink {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { kernel, half_width, centres, weights } = stored;
        let finite = weights.iter().all(|w| w.is_finite());
        let kernel = Kernel::try_new(kernel.family, kernel.bandwidth);
        let kernel = kernel.ok().filter(|_| finite && weights.len() == centres.len());
        let space = kernel.and_then(|kernel| LinkSpace::from_centres(kernel, half_width, &centres));
        let link = Self::new(Arc::new(space.ok_or("the link is damaged")?), weights);
        // Whoever reads a link may first use it on many threads, and the table is made on many too.
        link.table();
        Ok(link)
    }
}
