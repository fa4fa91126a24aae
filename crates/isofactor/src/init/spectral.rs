//! Spectral start: the leading singular vectors of the zero-filled matrix, found without filling
//! it.
//!
//! A block Krylov iteration with restarts: from a block of directions `X`, gather
//! `X, A'A X, (A'A)^2 X, ...`, take the best directions in their span (by the singular value
//! decomposition of `A` restricted to it), begin again from those. Blocks wider than the rank
//! find singular values that repeat; the residual of each triplet says when to stop.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use rayon::prelude::*;

use crate::{
    error::{NumericalError, Result},
    factors::Factors,
    linalg::{self, Mat, ThinSvd},
    observations::{Observations, Shape},
};

/// Residual `|A'u - s v| / s_1` at which a triplet has converged.
const TOLERANCE: f64 = 1e-13;
/// Directions beyond the rank.
const SPARE: usize = 6;
/// Blocks gathered between two restarts: many while they are cheap to hold, on the longer side.
fn depth(shape: Shape) -> usize {
    match shape.rows.max(shape.columns) {
        ..=50_000 => 16,
        50_001..=200_000 => 6,
        _ => 3,
    }
}
/// A residual below this that no longer halves is at the limit of the arithmetic.
const ROUNDING: f64 = 1e-11;
const MOST_RESTARTS: usize = 400;
/// A residual that is still good enough when the restarts are used up.
const ACCEPTABLE: f64 = 1e-8;

/// `Z_0 = [U sqrt(S); V sqrt(S)]` from the rank-r singular value decomposition `U S V'` of the
/// zero-filled matrix, in which repeated entries count with their mean. With `rescale`, that
/// matrix is divided by the share of entries observed.
pub fn spectral_factors(
    observations: &Observations,
    rank: usize,
    rescale: bool,
    seed: u64,
) -> Result<Factors> {
    let svd = ZeroFilled::new(observations, rescale).leading_triplets(rank, seed)?;
    let mut factors = Factors::zeros(observations.shape(), rank);
    for (j, value) in svd.values.iter().take(rank).enumerate() {
        let root = value.max(0.0).sqrt();
        set_factor(factors.each_row_mut(), j, root, svd.left.col_as_slice(j));
        set_factor(factors.each_column_mut(), j, root, svd.right.col_as_slice(j));
    }
    Ok(factors)
}

/// Factor `j` of every row (or column) is `scale` times its place in a singular vector.
fn set_factor<'a>(side: impl Iterator<Item = &'a mut [f64]>, j: usize, scale: f64, vector: &[f64]) {
    for (z, direction) in side.zip(vector) {
        z[j] = scale * direction;
    }
}

/// The observed matrix with zeros where nothing was observed: distinct pairs only.
struct ZeroFilled {
    shape: Shape,
    pairs: Vec<(u32, u32, f64)>,
}

impl ZeroFilled {
    fn new(observations: &Observations, rescale: bool) -> Self {
        let shape = observations.shape();
        let mut pairs: Vec<(u32, u32, f64)> = Vec::new();
        let mut place = vec![usize::MAX; shape.columns];
        for row in 0..shape.rows {
            let first = pairs.len();
            let mut counts: Vec<f64> = Vec::new();
            let entries = observations.row(row);
            for (&column, &value) in entries.columns.iter().zip(entries.values) {
                let known = place[column as usize];
                if known >= first && known < pairs.len() && pairs[known].1 == column {
                    pairs[known].2 += value;
                    counts[known - first] += 1.0;
                } else {
                    place[column as usize] = pairs.len();
                    pairs.push((row as u32, column, value));
                    counts.push(1.0);
                }
            }
            for (pair, count) in pairs[first..].iter_mut().zip(counts) {
                pair.2 /= count;
            }
        }
        let share = pairs.len() as f64 / (shape.rows as f64 * shape.columns as f64);
        let scale = if rescale { 1.0 / share } else { 1.0 };
        pairs.iter_mut().for_each(|pair| pair.2 *= scale);
        Self { shape, pairs }
    }

    /// The decomposition is found on the shorter side, where a span is soon everything.
    fn leading_triplets(self, rank: usize, seed: u64) -> Result<ThinSvd> {
        if self.shape.columns <= self.shape.rows {
            return truncated_svd(&self, rank, seed);
        }
        let ThinSvd { left, values, right } = truncated_svd(&self.transposed(), rank, seed)?;
        Ok(ThinSvd { left: right, values, right: left })
    }

    fn transposed(self) -> Self {
        let Shape { rows, columns } = self.shape;
        let pairs = self.pairs.into_iter().map(|(row, column, value)| (column, row, value));
        Self { shape: Shape { rows: columns, columns: rows }, pairs: pairs.collect() }
    }

    /// `A X`
    fn times(&self, x: &Mat<f64>) -> Mat<f64> {
        self.multiply(self.shape.rows, x, |&(row, column, _)| (row, column))
    }

    /// `A' X`
    fn transpose_times(&self, x: &Mat<f64>) -> Mat<f64> {
        self.multiply(self.shape.columns, x, |&(row, column, _)| (column, row))
    }

    /// Column by column of `X`, each on a thread of its own; `places` says where an entry reads
    /// from and adds to.
    fn multiply(
        &self,
        size: usize,
        x: &Mat<f64>,
        places: impl Fn(&(u32, u32, f64)) -> (u32, u32) + Sync,
    ) -> Mat<f64> {
        let columns: Vec<Vec<f64>> = (0..x.ncols())
            .into_par_iter()
            .map(|j| {
                let from = x.col_as_slice(j);
                let mut to = vec![0.0; size];
                for pair in &self.pairs {
                    let (target, source) = places(pair);
                    to[target as usize] += pair.2 * from[source as usize];
                }
                to
            })
            .collect();
        Mat::from_fn(size, x.ncols(), |i, j| columns[j][i])
    }
}

/// The leading singular triplets; the block is completed by further, less exact ones.
fn truncated_svd(matrix: &ZeroFilled, rank: usize, seed: u64) -> Result<ThinSvd> {
    let columns = matrix.shape.columns;
    let width = (rank + SPARE).min(columns);
    let mut random = Pcg64::seed_from_u64(seed);
    let mut block = Mat::from_fn(columns, width, |_, _| StandardNormal.sample(&mut random));
    let mut residual = f64::INFINITY;
    let mut last = None;
    for _ in 0..MOST_RESTARTS {
        let span = krylov_span(matrix, &block);
        let best = restricted_svd(matrix, &span)?;
        let before = std::mem::replace(&mut residual, largest_residual(matrix, &best, rank));
        // Rounding may keep a residual just above the goal for good.
        let at_rest = residual <= ROUNDING && residual > 0.5 * before;
        if residual <= TOLERANCE || at_rest || span.ncols() == columns {
            return Ok(best);
        }
        block = best.right.subcols(0, width.min(best.right.ncols())).to_owned();
        last = Some(best);
    }
    let failed = NumericalError::SpectralStart { restarts: MOST_RESTARTS, residual };
    last.filter(|_| residual <= ACCEPTABLE).ok_or_else(|| failed.into())
}

/// An orthonormal basis of a space that contains `X, A'A X, (A'A)^2 X, ...`.
fn krylov_span(matrix: &ZeroFilled, block: &Mat<f64>) -> Mat<f64> {
    let (size, width) = (block.nrows(), block.ncols());
    let depth = depth(matrix.shape).min(size.div_ceil(width));
    let mut gathered = Mat::zeros(size, (depth * width).min(size));
    let mut current = linalg::orthonormal_columns(block.as_ref());
    for step in 0..depth {
        let first = step * width;
        let fits = width.min(gathered.ncols() - first);
        gathered.subcols_mut(first, fits).copy_from(current.subcols(0, fits));
        if step + 1 < depth {
            let next = matrix.transpose_times(&matrix.times(&current));
            current = linalg::orthonormal_columns(next.as_ref());
        }
    }
    linalg::orthonormal_columns(gathered.as_ref())
}

/// The singular value decomposition of `A` on a span: `A Q = U S W'`, `V = Q W`.
fn restricted_svd(matrix: &ZeroFilled, span: &Mat<f64>) -> Result<ThinSvd> {
    let ThinSvd { left, values, right } = linalg::thin_svd(matrix.times(span).as_ref())?;
    Ok(ThinSvd { left, values, right: span * &right })
}

/// `max_j |A'u_j - s_j v_j| / s_1` over the leading triplets.
fn largest_residual(matrix: &ZeroFilled, svd: &ThinSvd, rank: usize) -> f64 {
    let rank = rank.min(svd.values.len());
    let largest = svd.values.first().copied().unwrap_or(0.0);
    if largest == 0.0 {
        return 0.0;
    }
    let back = matrix.transpose_times(&svd.left.subcols(0, rank).to_owned());
    (0..rank)
        .map(|j| {
            let pairs = back.col_as_slice(j).iter().zip(svd.right.col_as_slice(j));
            pairs.map(|(a, v)| (a - svd.values[j] * v).powi(2)).sum::<f64>().sqrt() / largest
        })
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::Entry;

    /// Against the dense decomposition of the filled matrix: values, and the rank-r product.
    fn check(entries: &[Entry], shape: Shape, rank: usize) {
        let observations = Observations::try_new(shape, entries).unwrap();
        let factors = spectral_factors(&observations, rank, false, 3).unwrap();
        let mut sums = Mat::<f64>::zeros(shape.rows, shape.columns);
        let mut counts = Mat::<f64>::zeros(shape.rows, shape.columns);
        for e in entries {
            sums[(e.row, e.column)] += e.value;
            counts[(e.row, e.column)] += 1.0;
        }
        let dense = Mat::from_fn(shape.rows, shape.columns, |i, t| {
            if counts[(i, t)] > 0.0 { sums[(i, t)] / counts[(i, t)] } else { 0.0 }
        });
        let svd = linalg::thin_svd(dense.as_ref()).unwrap();
        let scale = svd.values[0];
        for i in 0..shape.rows {
            for t in 0..shape.columns {
                let exact: f64 =
                    (0..rank).map(|j| svd.left[(i, j)] * svd.values[j] * svd.right[(t, j)]).sum();
                assert!((factors.score(i, t) - exact).abs() < 1e-9 * scale);
            }
        }
        assert!(factors.imbalance().iter().all(|d| d.abs() < 1e-10 * scale), "not balanced");
    }

    fn scattered(shape: Shape, count: usize) -> Vec<Entry> {
        (0..count)
            .map(|k| Entry {
                row: (k * 7919 + k / 13) % shape.rows,
                column: (k * 104_729 + k / 7) % shape.columns,
                value: ((k as f64) * 0.7).sin() + 0.5,
            })
            .collect()
    }

    #[test]
    fn it_agrees_with_the_dense_decomposition() {
        for (rows, columns, count, rank) in
            [(40, 30, 500, 3), (30, 80, 900, 5), (12, 9, 60, 9), (3, 2, 5, 1), (200, 150, 4000, 10)]
        {
            let shape = Shape { rows, columns };
            check(&scattered(shape, count), shape, rank);
        }
    }

    #[test]
    fn repeated_singular_values_are_all_found() {
        let shape = Shape { rows: 30, columns: 30 };
        let entries: Vec<Entry> = (0..30)
            .map(|i| Entry { row: i, column: i, value: if i < 4 { 3.0 } else { 1.0 } })
            .collect();
        check(&entries, shape, 4);
    }

    #[test]
    fn fewer_directions_than_the_rank_leave_zeros() {
        let shape = Shape { rows: 6, columns: 5 };
        let observations =
            Observations::complete(shape, |i, t| (i + 1) as f64 * (t + 2) as f64).unwrap();
        let factors = spectral_factors(&observations, 3, false, 0).unwrap();
        for i in 0..6 {
            for t in 0..5 {
                let exact = (i + 1) as f64 * (t + 2) as f64;
                assert!((factors.score(i, t) - exact).abs() < 1e-9);
            }
        }
    }
}
