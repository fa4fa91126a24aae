//! Rows (or columns) that score alike: distances that mean something, whatever the factors' scale.
//!
//! Factors alone have no lengths or angles: `U A` and `V A^-T` make the same scores for every
//! invertible `A`, and so do factors moved by a constant where there are effects to make up for it.
//! What any two models with the same scores agree on are the scores. So rows are compared by theirs,
//!
//! ```text
//! x~_it = x_it - (mean over columns) - (mean over rows) + (mean over both)
//! ```
//!
//! which leaves out how high a row scores everywhere and what all rows share. The similarity of two
//! rows is the cosine of `x~_i` and `x~_j` over all columns, their distance the root mean square of
//! `x~_i - x~_j`. Neither needs the scores: with `S = mean (v_t - v)(v_t - v)'`, `v` the mean column,
//!
//! ```text
//! mean_t x~_it x~_jt = (u_i - u)' S (u_j - u)
//! ```
//!
//! and columns are compared the same way.

use crate::{
    error::Result,
    linalg::{self, Mat},
    model::FittedModel,
    observations::Side,
};

/// The rows, or the columns, of a model, where straight lines measure differences of scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Similarity {
    width: usize,
    /// `S^{1/2} (u_i - u)`, one after the other.
    places: Vec<f64>,
    lengths: Vec<f64>,
}

/// Another unit of the same side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similar {
    /// Its number.
    pub unit: usize,
    /// The cosine, from -1 (the opposite) to 1 (the same up to size).
    pub similarity: f64,
    /// How far their scores are apart: root mean square over the other side.
    pub distance: f64,
}

impl Similarity {
    /// For all units of a side.
    pub fn new(model: &FittedModel, side: Side) -> Result<Self> {
        let rank = model.factors.rank();
        let (own, other) = match side {
            Side::Rows => (model.factors.rows(), model.factors.columns()),
            Side::Columns => (model.factors.columns(), model.factors.rows()),
        };
        let (own, other) = (centred(own, rank), centred(other, rank));
        let mut moment = vec![0.0; rank * rank];
        let share = 1.0 / (other.len() / rank) as f64;
        linalg::add_transpose_times(&mut moment, share, &other, rank);
        let root = root(&moment, rank)?;
        let mut places = vec![0.0; own.len()];
        linalg::add_product(&mut places, 1.0, &own, &root, rank);
        let lengths = places.chunks(rank).map(|z| linalg::dot(z, z).sqrt()).collect();
        Ok(Self { width: rank, places, lengths })
    }

    /// How many units there are.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// How far the scores of a unit are from those of the average one: root mean square over the
    /// other side. Where it is zero the unit is similar to none.
    pub fn length(&self, unit: usize) -> f64 {
        self.lengths[unit]
    }

    /// How similar two units are; 0 where one of them is just the average.
    pub fn between(&self, a: usize, b: usize) -> Similar {
        let (x, y) = (self.place(a), self.place(b));
        let product = self.lengths[a] * self.lengths[b];
        let cosine = if product > 0.0 { linalg::dot(x, y) / product } else { 0.0 };
        let squares: f64 = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum();
        Similar { unit: b, similarity: cosine.clamp(-1.0, 1.0), distance: squares.sqrt() }
    }

    /// The `top` others most similar to a unit, the most similar first; equals in their order.
    pub fn nearest(&self, unit: usize, top: usize) -> Vec<Similar> {
        let others = (0..self.len()).filter(|&other| other != unit);
        let mut all: Vec<Similar> = others.map(|other| self.between(unit, other)).collect();
        let order = |a: &Similar, b: &Similar| {
            b.similarity.total_cmp(&a.similarity).then(a.unit.cmp(&b.unit))
        };
        if top < all.len() && top > 0 {
            all.select_nth_unstable_by(top - 1, order);
        }
        all.truncate(top);
        all.sort_unstable_by(order);
        all
    }

    fn place(&self, unit: usize) -> &[f64] {
        &self.places[unit * self.width..(unit + 1) * self.width]
    }
}

/// Factors less their mean.
fn centred(mut factors: Vec<f64>, rank: usize) -> Vec<f64> {
    let share = 1.0 / (factors.len() / rank) as f64;
    let mut mean = vec![0.0; rank];
    factors.chunks(rank).for_each(|z| linalg::add_scaled(&mut mean, share, z));
    factors.chunks_mut(rank).for_each(|z| linalg::add_scaled(z, -1.0, &mean));
    factors
}

/// `Q sqrt(L)` of a symmetric `S = Q L Q'`, row after row: `|(Q sqrt(L))' x|^2 = x' S x`.
fn root(moment: &[f64], rank: usize) -> Result<Vec<f64>> {
    let symmetric =
        Mat::from_fn(rank, rank, |i, j| 0.5 * (moment[i * rank + j] + moment[j * rank + i]));
    let (values, vectors) = linalg::symmetric_eigen(symmetric.as_ref())?;
    let entry = |place: usize| {
        let (i, j) = (place / rank, place % rank);
        vectors[(i, j)] * values[j].max(0.0).sqrt()
    };
    Ok((0..rank * rank).map(entry).collect())
}
