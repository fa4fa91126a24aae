//! A few numbers per row and per column, and the scores they make.

use crate::{error::Result, linalg, observations::Shape};

/// The factors of rows (`U`) and columns (`V`); stacked they are the paper's `Z = [U; V]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Factors {
    rank: usize,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Factors {
    /// All zero.
    pub fn zeros(shape: Shape, rank: usize) -> Self {
        Self { rank, rows: vec![0.0; shape.rows * rank], columns: vec![0.0; shape.columns * rank] }
    }

    /// From numbers laid out row after row; `None` when their count is no multiple of the rank.
    pub fn from_vecs(rank: usize, rows: Vec<f64>, columns: Vec<f64>) -> Option<Self> {
        let whole =
            rank > 0 && rows.len().is_multiple_of(rank) && columns.len().is_multiple_of(rank);
        whole.then_some(Self { rank, rows, columns })
    }

    /// Factors per row and column (`r`).
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Rows and columns of the matrix they describe.
    pub fn shape(&self) -> Shape {
        Shape { rows: self.rows.len() / self.rank, columns: self.columns.len() / self.rank }
    }

    /// The factors of a row (`u_i`).
    pub fn row(&self, row: usize) -> &[f64] {
        &self.rows[row * self.rank..(row + 1) * self.rank]
    }

    /// The factors of a column (`v_t`).
    pub fn column(&self, column: usize) -> &[f64] {
        &self.columns[column * self.rank..(column + 1) * self.rank]
    }

    /// The factors of all rows, row after row.
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// The factors of all columns, column after column.
    pub fn columns(&self) -> &[f64] {
        &self.columns
    }

    pub(crate) fn rows_mut(&mut self) -> &mut [f64] {
        &mut self.rows
    }

    pub(crate) fn columns_mut(&mut self) -> &mut [f64] {
        &mut self.columns
    }

    /// The score of an entry: `x = <A_k, ZZ'> = u_i . v_t`.
    #[inline]
    pub fn score(&self, row: usize, column: usize) -> f64 {
        linalg::dot(self.row(row), self.column(column))
    }

    /// `Z + a S`
    pub fn moved(&self, a: f64, direction: &Factors) -> Factors {
        let mut moved = self.clone();
        linalg::add_scaled(&mut moved.rows, a, &direction.rows);
        linalg::add_scaled(&mut moved.columns, a, &direction.columns);
        moved
    }

    /// `<Z, W>`
    pub fn inner(&self, other: &Factors) -> f64 {
        linalg::dot(&self.rows, &other.rows) + linalg::dot(&self.columns, &other.columns)
    }

    /// `|Z|_F`
    pub fn norm(&self) -> f64 {
        self.inner(self).sqrt()
    }

    /// `|Z|_{2,inf}`: the length of the longest row of `Z`.
    pub fn longest_row(&self) -> f64 {
        self.lengths().fold(0.0, f64::max)
    }

    /// `mu = (n + T) |Z|_{2,inf}^2 / |Z|_F^2`, from 1 (all rows alike) to `n + T`.
    pub fn incoherence(&self) -> f64 {
        let Shape { rows, columns } = self.shape();
        (rows + columns) as f64 * self.longest_row().powi(2) / self.inner(self)
    }

    /// `beta = (4/3) sqrt(mu / (n+T)) |Z|_F`, which is four thirds of the longest row.
    pub fn radius(&self) -> f64 {
        let Shape { rows, columns } = self.shape();
        4.0 / 3.0 * (self.incoherence() / (rows + columns) as f64).sqrt() * self.norm()
    }

    /// `Z'DZ = U'U - V'V`, row after row.
    pub fn imbalance(&self) -> Vec<f64> {
        let r = self.rank;
        let mut difference = vec![0.0; r * r];
        linalg::transpose_times(&mut difference, false, 1.0, (&self.rows, r), (&self.rows, r));
        let columns = (&self.columns[..], r);
        linalg::transpose_times(&mut difference, true, -1.0, columns, columns);
        difference
    }

    /// The same scores from balanced factors: `[A sqrt(S); B sqrt(S)]` with `U V' = A S B'` the
    /// singular value decomposition, and the singular values `S`, decreasing.
    pub fn balanced(&self) -> Result<(Factors, Vec<f64>)> {
        let Shape { rows, columns } = self.shape();
        let r = self.rank;
        let left = linalg::thin_svd(linalg::row_major(&self.rows, rows, r))?;
        let right = linalg::thin_svd(linalg::row_major(&self.columns, columns, r))?;
        // U V' = A1 (S1 W1' W2 S2) A2'
        let middle = left.right.transpose() * &right.right;
        let core = linalg::Mat::from_fn(left.values.len(), right.values.len(), |i, j| {
            left.values[i] * middle[(i, j)] * right.values[j]
        });
        let core = linalg::thin_svd(core.as_ref())?;
        let (a, b) = (&left.left * &core.left, &right.left * &core.right);
        let mut balanced = Factors::zeros(self.shape(), r);
        for (side, vectors) in [(&mut balanced.rows, &a), (&mut balanced.columns, &b)] {
            for (i, z) in side.chunks_exact_mut(r).enumerate() {
                for (j, value) in core.values.iter().enumerate() {
                    z[j] = value.sqrt() * vectors[(i, j)];
                }
            }
        }
        Ok((balanced, core.values))
    }

    fn lengths(&self) -> impl Iterator<Item = f64> + '_ {
        let all = self.rows.chunks_exact(self.rank).chain(self.columns.chunks_exact(self.rank));
        all.map(|z| linalg::dot(z, z).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Factors {
        let rows = vec![1.0, 2.0, -1.0, 0.5, 3.0, 0.0];
        let columns = vec![0.2, 0.4, -2.0, 1.0];
        Factors::from_vecs(2, rows, columns).unwrap()
    }

    #[test]
    fn a_score_is_the_product_of_its_factors() {
        assert_eq!(sample().score(0, 1), -2.0 + 2.0);
        assert_eq!(sample().score(2, 0), 3.0 * 0.2);
    }

    #[test]
    fn the_radius_is_four_thirds_of_the_longest_row() {
        let z = sample();
        assert!((z.radius() - 4.0 / 3.0 * 3.0).abs() < 1e-14);
        let mu = 5.0 * 9.0 / (5.0 + 1.25 + 9.0 + 0.2 + 5.0);
        assert!((z.incoherence() - mu).abs() < 1e-12);
    }

    #[test]
    fn balancing_keeps_the_scores() {
        let z = sample();
        let (balanced, values) = z.balanced().unwrap();
        for i in 0..3 {
            for t in 0..2 {
                assert!((z.score(i, t) - balanced.score(i, t)).abs() < 1e-12);
            }
        }
        assert!(balanced.imbalance().iter().all(|d| d.abs() < 1e-12));
        let squares: f64 = values.iter().map(|v| 2.0 * v).sum();
        assert!((balanced.inner(&balanced) - squares).abs() < 1e-12);
    }

    #[test]
    fn imbalance_is_the_difference_of_the_gram_matrices() {
        let d = sample().imbalance();
        let expected = [11.0 - 4.04, 1.5 + 1.92, 1.5 + 1.92, 4.25 - 1.16];
        assert!(d.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{d:?}");
    }
}
