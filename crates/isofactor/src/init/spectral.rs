//! Spectral start: the leading singular vectors of the zero-filled matrix, found without filling
//! it.
//!
//! A block Krylov iteration with restarts: from a block of directions `X`, gather
//! `X, A'A X, (A'A)^2 X, ...`, take the best directions in their span (by the singular value
//! decomposition of `A` restricted to it), begin again from those. Blocks wider than the rank
//! find singular values that repeat; the residual of each triplet says when to stop.

use std::borrow::Cow;

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use crate::{
    error::{NumericalError, Result},
    factors::Factors,
    linalg::{self, Mat, MatRef, ThinSvd},
    observations::{Observations, Shape},
    passes::Sparse,
    simd::{LANES, Lanes, ZERO},
};

/// Residual `|A'u - s v| / s_1` at which a triplet has converged.
const TOLERANCE: f64 = 1e-13;
/// Directions beyond the rank.
const SPARE: usize = 6;
/// Blocks gathered between two restarts: many while they are cheap to hold, on the longer side.
fn depth(long: usize) -> usize {
    match long {
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

/// The observed matrix with zeros where nothing was observed.
///
/// The decomposition is found on its shorter side, where a span is soon everything; `A` is here the
/// matrix that leads from there to the longer side.
struct ZeroFilled<'a> {
    shape: Shape,
    matrix: Sparse<'a>,
}

impl<'a> ZeroFilled<'a> {
    fn new(observations: &'a Observations, rescale: bool) -> Self {
        let shape = observations.shape();
        let repeated = observations.repeated();
        let share =
            (observations.len() - repeated) as f64 / (shape.rows as f64 * shape.columns as f64);
        let scale = if rescale { 1.0 / share } else { 1.0 };
        let numbers = match (repeated, rescale) {
            (0, false) => Cow::Borrowed(observations.values()),
            _ => Cow::Owned(means(observations, scale)),
        };
        Self { shape, matrix: Sparse::new(observations, numbers) }
    }

    fn is_wide(&self) -> bool {
        self.shape.rows < self.shape.columns
    }

    /// Length of the shorter side.
    fn short(&self) -> usize {
        self.shape.rows.min(self.shape.columns)
    }

    /// Length of the longer side.
    fn long(&self) -> usize {
        self.shape.rows.max(self.shape.columns)
    }

    /// `A X`, as it is held.
    fn times(&self, x: MatRef<'_, f64>) -> Vec<Lanes> {
        let (rank, x) = (x.ncols(), held(x));
        match self.is_wide() {
            true => self.matrix.transpose_times(&Factors::from_held(rank, x, Vec::new())),
            false => self.matrix.times(&Factors::from_held(rank, Vec::new(), x)),
        }
    }

    /// `A'Y` for `Y` with so many columns, as it is held.
    fn transpose_times(&self, rank: usize, y: Vec<Lanes>) -> Mat<f64> {
        let product = match self.is_wide() {
            true => self.matrix.times(&Factors::from_held(rank, Vec::new(), y)),
            false => self.matrix.transpose_times(&Factors::from_held(rank, y, Vec::new())),
        };
        unheld(&product, self.short(), rank)
    }

    /// `A'A X`
    fn square_times(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        self.transpose_times(x.ncols(), self.times(x))
    }

    /// The leading singular triplets; a few further ones are less exact.
    fn leading_triplets(&self, rank: usize, seed: u64) -> Result<ThinSvd> {
        let ThinSvd { left, values, right } = truncated_svd(self, rank, seed)?;
        Ok(match self.is_wide() {
            true => ThinSvd { left: right, values, right: left },
            false => ThinSvd { left, values, right },
        })
    }
}

/// For every entry its share of the mean of its pair, times a scale.
fn means(observations: &Observations, scale: f64) -> Vec<f64> {
    let mut counts = vec![0u32; observations.shape().columns];
    let mut numbers = Vec::with_capacity(observations.len());
    for row in 0..observations.shape().rows {
        let entries = observations.row(row);
        entries.columns.iter().for_each(|&column| counts[column as usize] += 1);
        let pairs = entries.columns.iter().zip(entries.values);
        numbers.extend(pairs.map(|(&c, &value)| scale * value / f64::from(counts[c as usize])));
        entries.columns.iter().for_each(|&column| counts[column as usize] = 0);
    }
    numbers
}

/// A matrix held like factors: row after row, four abreast.
fn held(matrix: MatRef<'_, f64>) -> Vec<Lanes> {
    let width = matrix.ncols().div_ceil(LANES);
    let mut lanes = vec![ZERO; matrix.nrows() * width];
    for (i, row) in lanes.chunks_exact_mut(width).enumerate() {
        let numbers = row.as_flattened_mut().iter_mut().take(matrix.ncols());
        numbers.enumerate().for_each(|(j, number)| *number = matrix[(i, j)]);
    }
    lanes
}

/// The other way round.
fn unheld(lanes: &[Lanes], rows: usize, columns: usize) -> Mat<f64> {
    let (width, numbers) = (LANES * columns.div_ceil(LANES), lanes.as_flattened());
    Mat::from_fn(rows, columns, |i, j| numbers[i * width + j])
}

fn truncated_svd(matrix: &ZeroFilled<'_>, rank: usize, seed: u64) -> Result<ThinSvd> {
    let short = matrix.short();
    let width = (rank + SPARE).min(short);
    let mut random = Pcg64::seed_from_u64(seed);
    let mut block = Mat::from_fn(short, width, |_, _| StandardNormal.sample(&mut random));
    let mut residual = f64::INFINITY;
    let mut last = None;
    for _ in 0..MOST_RESTARTS {
        let span = krylov_span(matrix, &block);
        let best = restricted_svd(matrix, &span, width)?;
        let before = std::mem::replace(&mut residual, largest_residual(matrix, &best, rank));
        // Rounding may keep a residual just above the goal for good.
        let at_rest = residual <= ROUNDING && residual > 0.5 * before;
        if residual <= TOLERANCE || at_rest {
            return Ok(best);
        }
        block = best.right.clone();
        last = Some(best);
    }
    let failed = NumericalError::SpectralStart { restarts: MOST_RESTARTS, residual };
    last.filter(|_| residual <= ACCEPTABLE).ok_or_else(|| failed.into())
}

/// An orthonormal basis of a space that contains `X, A'A X, (A'A)^2 X, ...`.
fn krylov_span(matrix: &ZeroFilled<'_>, block: &Mat<f64>) -> Mat<f64> {
    let (size, width) = (block.nrows(), block.ncols());
    let depth = depth(matrix.long()).min(size.div_ceil(width));
    let mut gathered = Mat::zeros(size, (depth * width).min(size));
    let mut current = linalg::orthonormal_columns(block.as_ref());
    for step in 0..depth {
        let first = step * width;
        let fits = width.min(gathered.ncols() - first);
        gathered.subcols_mut(first, fits).copy_from(current.subcols(0, fits));
        if step + 1 < depth {
            let next = matrix.square_times(current.as_ref());
            current = linalg::orthonormal_columns(next.as_ref());
        }
    }
    linalg::orthonormal_columns(gathered.as_ref())
}

/// The best triplets on a span: its `width` leading directions by the eigenvectors of `Q'A'A Q`,
/// then `A` on these alone, `A X = U S W'` and `V = X W`, which gives back the digits that are lost
/// in the square.
fn restricted_svd(matrix: &ZeroFilled<'_>, span: &Mat<f64>, width: usize) -> Result<ThinSvd> {
    let square = span.transpose() * matrix.square_times(span.as_ref());
    let (_, vectors) = linalg::symmetric_eigen(square.as_ref())?;
    // Eigenvalues are in increasing order.
    let leading = span * vectors.subcols(vectors.ncols() - width, width);
    let leading = linalg::orthonormal_columns(leading.as_ref());
    let reached = unheld(&matrix.times(leading.as_ref()), matrix.long(), width);
    let ThinSvd { left, values, right } = linalg::thin_svd(reached.as_ref())?;
    Ok(ThinSvd { left, values, right: &leading * &right })
}

/// `max_j |A'u_j - s_j v_j| / s_1` over the leading triplets.
fn largest_residual(matrix: &ZeroFilled<'_>, svd: &ThinSvd, rank: usize) -> f64 {
    let rank = rank.min(svd.values.len());
    let largest = svd.values.first().copied().unwrap_or(0.0);
    if largest == 0.0 {
        return 0.0;
    }
    let back = matrix.transpose_times(rank, held(svd.left.subcols(0, rank)));
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
