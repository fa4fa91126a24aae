//! Factors whose rows and columns weigh the same, and the turns that lead there.
//!
//! Scores do not see an invertible `T` in `[U T; V T^-T]`; the balance term does.

use crate::{
    error::Result,
    factors::{Factors, Turn},
    linalg::{self, Mat, MatRef},
    observations::{Shape, Side},
    products,
    simd::{LANES, Lanes},
};

/// Singular values count as no smaller than this share of the largest when factors are turned.
const LEAST_SHARE: f64 = 1e-8;

/// `U'U - V'V`
fn difference([mut of_rows, of_columns]: [Vec<f64>; 2]) -> Vec<f64> {
    linalg::add_scaled(&mut of_rows, -1.0, &of_columns);
    of_rows
}

impl Factors {
    /// `Z'DZ = U'U - V'V`, row after row, four abreast like the factors themselves.
    pub fn imbalance(&self) -> Vec<f64> {
        difference(self.squares())
    }

    /// Writes all numbers, part by part: `write` is told the side, where in what is held of it the
    /// part begins, and the part. The imbalance of what was written comes back, to the same bits.
    pub(crate) fn write(
        &mut self,
        write: impl Fn(Side, usize, &mut [Lanes]) + Sync + Send,
    ) -> Vec<f64> {
        let width = self.width();
        let (rows, columns) = self.both_mut();
        let sides = [(Side::Rows, rows), (Side::Columns, columns)];
        difference(products::written(sides, width, write))
    }

    /// The same scores from balanced factors: `[A sqrt(S); B sqrt(S)]` with `U V' = A S B'` the
    /// singular value decomposition, and the singular values `S`, decreasing.
    pub fn balanced(&self) -> Result<(Factors, Vec<f64>)> {
        let Shape { rows, columns } = self.shape();
        let r = self.rank();
        let left = linalg::thin_svd(linalg::row_major(&self.rows(), rows, r))?;
        let right = linalg::thin_svd(linalg::row_major(&self.columns(), columns, r))?;
        // U V' = A1 (S1 W1' W2 S2) A2'
        let middle = left.right.transpose() * &right.right;
        let core = Mat::from_fn(left.values.len(), right.values.len(), |i, j| {
            left.values[i] * middle[(i, j)] * right.values[j]
        });
        let core = linalg::thin_svd(core.as_ref())?;
        let (a, b) = (&left.left * &core.left, &right.left * &core.right);
        let mut balanced = Factors::zeros(self.shape(), r);
        let set = |z: &mut [f64], vectors: &Mat<f64>, i: usize| {
            for (j, value) in core.values.iter().enumerate() {
                z[j] = value.sqrt() * vectors[(i, j)];
            }
        };
        balanced.each_row_mut().enumerate().for_each(|(i, z)| set(z, &a, i));
        balanced.each_column_mut().enumerate().for_each(|(i, z)| set(z, &b, i));
        Ok((balanced, core.values))
    }

    /// The turn that balances the factors and keeps their scores, by their squares alone:
    ///
    /// ```text
    /// U'U = P    V'V = Q    P^(1/2) Q P^(1/2) = E S^2 E'
    /// T = P^(-1/2) E S^(1/2)       T'PT = T^-1 Q T^-T = S
    /// ```
    ///
    /// None where the factors are not finite.
    pub(crate) fn balancing(&self) -> Option<Turn> {
        let (rank, size) = (self.rank(), LANES * self.width());
        let [of_rows, of_columns] = self.squares();
        let first = |square| linalg::row_major(square, size, size).submatrix(0, 0, rank, rank);
        let (p, q) = (first(&of_rows), first(&of_columns));
        let (values, vectors) = eigen(p)?;
        let root = scaled(&vectors, &values, 0.5) * vectors.transpose();
        let inverse_root = scaled(&vectors, &values, -0.5) * vectors.transpose();
        let (values, vectors) = eigen((&root * q * &root).as_ref())?;
        let padded = |matrix: Mat<f64>| {
            let mut padded = vec![0.0; size * size];
            for i in 0..rank {
                (0..rank).for_each(|j| padded[i * size + j] = matrix[(i, j)]);
            }
            padded
        };
        Some(Turn {
            rows: padded(inverse_root * scaled(&vectors, &values, 0.25)),
            columns: padded(root * scaled(&vectors, &values, -0.25)),
        })
    }
}

/// Eigenvalues and vectors of a positive semidefinite matrix, values too small lifted.
fn eigen(matrix: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let (values, vectors) = linalg::symmetric_eigen(matrix).ok()?;
    let largest = values.iter().fold(f64::MIN_POSITIVE, |a, &b| a.max(b));
    let least = (LEAST_SHARE * LEAST_SHARE * largest).max(f64::MIN_POSITIVE);
    let finite = values.iter().all(|value| value.is_finite());
    let lifted = values.iter().map(|value| value.max(least)).collect();
    finite.then_some((lifted, vectors))
}

/// The columns of a matrix, each times a power of its value.
fn scaled(vectors: &Mat<f64>, values: &[f64], power: f64) -> Mat<f64> {
    let n = values.len();
    Mat::from_fn(n, n, |i, j| vectors[(i, j)] * values[j].powf(power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::random_factors;

    const SHAPE: Shape = Shape { rows: 40, columns: 25 };

    fn sample() -> Factors {
        let rows = vec![1.0, 2.0, -1.0, 0.5, 3.0, 0.0];
        let columns = vec![0.2, 0.4, -2.0, 1.0];
        Factors::from_vecs(2, rows, columns).unwrap()
    }

    fn most_different_score(a: &Factors, b: &Factors) -> f64 {
        let places = (0..SHAPE.rows).flat_map(|i| (0..SHAPE.columns).map(move |t| (i, t)));
        places.map(|(i, t)| (a.score(i, t) - b.score(i, t)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn a_balancing_turn_balances_and_keeps_the_scores() {
        let mut z = random_factors(SHAPE, 5, 1);
        z.each_row_mut().for_each(|u| u[1] = 30.0 * u[1] + u[0]);
        let turned = z.turned(&z.balancing().unwrap());
        assert!(most_different_score(&z, &turned) < 1e-12 * z.norm() * z.norm());
        let off = turned.imbalance().iter().fold(0.0f64, |a, b| a.max(b.abs()));
        assert!(off < 1e-11 * turned.inner(&turned), "{off}");
        // The squares are the singular values of `UV'`, as those of the balanced factors are.
        let [of_rows, _] = turned.squares();
        let (_, values) = z.balanced().unwrap();
        let mut found: Vec<f64> = (0..5).map(|i| of_rows[i * 8 + i]).collect();
        found.sort_by(|a, b| b.total_cmp(a));
        for (found, expected) in found.iter().zip(&values) {
            assert!((found - expected).abs() < 1e-10 * values[0], "{found} {expected}");
        }
    }

    #[test]
    fn factors_of_too_low_a_rank_keep_their_scores() {
        let mut z = random_factors(SHAPE, 3, 2);
        z.each_row_mut().for_each(|u| u[2] = 2.0 * u[0]);
        z.each_column_mut().for_each(|v| v[1] = 0.0);
        let turned = z.turned(&z.balancing().unwrap());
        assert!(most_different_score(&z, &turned) < 1e-8 * z.norm() * z.norm());
        let zeros = Factors::zeros(SHAPE, 3);
        assert_eq!(zeros.turned(&zeros.balancing().unwrap()).norm(), 0.0);
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
        let expected = [[11.0 - 4.04, 1.5 + 1.92], [1.5 + 1.92, 4.25 - 1.16]];
        for (i, row) in d.chunks(LANES).enumerate() {
            for (j, &entry) in row.iter().enumerate() {
                let expected = if i < 2 && j < 2 { expected[i][j] } else { 0.0 };
                assert!((entry - expected).abs() < 1e-12, "{d:?}");
            }
        }
    }

    #[test]
    fn what_is_written_has_the_same_imbalance_to_the_bit() {
        let shape = Shape { rows: 1027, columns: 515 };
        for rank in [3, 33] {
            let z = random_factors(shape, rank, 1);
            let mut copy = Factors::zeros(shape, rank);
            let imbalance = copy.write(|side, first, part| {
                part.copy_from_slice(&z.held(side)[first..][..part.len()]);
            });
            assert!(copy == z && imbalance == z.imbalance());
        }
    }
}
