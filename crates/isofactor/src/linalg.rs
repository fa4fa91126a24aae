//! The only file that names the dense linear algebra crate: small decompositions, sequential, so
//! that results never depend on the number of threads.

use faer::{
    Accum, MatMut, Par, Side,
    linalg::{matmul::matmul, solvers::Solve},
};

use crate::error::{NumericalError, Result};

pub(crate) use faer::{Mat, MatRef};

/// Arithmetic with twice the digits of `f64`, for the few sums that need them.
pub(crate) type Extended = faer::fx128;

fn failed(what: &'static str) -> NumericalError {
    NumericalError::Decomposition { what }
}

/// A thin singular value decomposition `A = U diag(s) V'`, `s` decreasing.
pub(crate) struct ThinSvd {
    pub left: Mat<f64>,
    pub values: Vec<f64>,
    pub right: Mat<f64>,
}

/// The thin singular value decomposition of `a`.
pub(crate) fn thin_svd(a: MatRef<'_, f64>) -> Result<ThinSvd> {
    let svd = a.thin_svd().map_err(|_| failed("singular value decomposition"))?;
    let values = svd.S().column_vector().iter().copied().collect();
    Ok(ThinSvd { left: svd.U().to_owned(), values, right: svd.V().to_owned() })
}

/// An orthonormal basis of a space that contains the columns of `a`.
pub(crate) fn orthonormal_columns(a: MatRef<'_, f64>) -> Mat<f64> {
    a.qr().compute_thin_Q()
}

/// The lower Cholesky factor of a symmetric positive definite matrix.
pub(crate) fn cholesky(a: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let factor = a.llt(Side::Lower).map_err(|_| failed("Cholesky decomposition"))?;
    Ok(factor.L().to_owned())
}

/// `x` with `A x = b` for a symmetric positive definite `A`.
pub(crate) fn solve_positive(a: MatRef<'_, f64>, b: &[f64]) -> Result<Vec<f64>> {
    let factor = a.llt(Side::Lower).map_err(|_| failed("Cholesky decomposition"))?;
    let x = factor.solve(column(b));
    Ok(x.col_as_slice(0).to_vec())
}

/// `x` with `L x = b` for a lower triangular `L`.
pub(crate) fn solve_lower(lower: &Mat<f64>, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for j in 0..x.len() {
        x[j] /= lower[(j, j)];
        let (done, rest) = x.split_at_mut(j + 1);
        add_scaled(rest, -done[j], &lower.col_as_slice(j)[j + 1..]);
    }
    x
}

/// `x` with `L' x = b` for a lower triangular `L`.
pub(crate) fn solve_lower_transposed(lower: &Mat<f64>, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for j in (0..x.len()).rev() {
        let (head, tail) = x.split_at_mut(j + 1);
        head[j] = (head[j] - dot(&lower.col_as_slice(j)[j + 1..], tail)) / lower[(j, j)];
    }
    x
}

/// The eigenvalues of a symmetric matrix, increasing.
pub(crate) fn symmetric_eigenvalues(a: MatRef<'_, f64>) -> Result<Vec<f64>> {
    a.self_adjoint_eigenvalues(Side::Lower).map_err(|_| failed("eigenvalue decomposition").into())
}

/// Eigenvalues and eigenvectors (its columns) of a symmetric matrix.
pub(crate) fn symmetric_eigen(a: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let eigen =
        a.self_adjoint_eigen(Side::Lower).map_err(|_| failed("eigenvalue decomposition"))?;
    let values = eigen.S().column_vector().iter().copied().collect();
    Ok((values, eigen.U().to_owned()))
}

/// The inverse of a lower triangular matrix; none where a number on its diagonal is zero.
pub(crate) fn lower_inverse(lower: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let n = lower.nrows();
    let mut inverse = Mat::<f64>::zeros(n, n);
    for j in 0..n {
        for i in j..n {
            let sum: f64 = (j..i).map(|k| lower[(i, k)] * inverse[(k, j)]).sum();
            let unit = if i == j { 1.0 } else { 0.0 };
            inverse[(i, j)] = (unit - sum) / lower[(i, i)];
            if !inverse[(i, j)].is_finite() {
                return None;
            }
        }
    }
    Some(inverse)
}

/// `a A`
pub(crate) fn scaled(matrix: &Mat<f64>, a: f64) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| a * matrix[(i, j)])
}

/// A slice as a matrix of one column.
pub(crate) fn column(values: &[f64]) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(values, values.len(), 1)
}

/// A row-major block of numbers as a matrix.
pub(crate) fn row_major(values: &[f64], rows: usize, columns: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(values, rows, columns)
}

/// `C <- C + alpha A'A`, all row after row, `A` with `columns` columns.
pub(crate) fn add_transpose_times(to: &mut [f64], alpha: f64, a: &[f64], columns: usize) {
    let a = row_major(a, a.len() / columns, columns);
    let to = MatMut::from_row_major_slice_mut(to, columns, columns);
    matmul(to, Accum::Add, a.transpose(), a, alpha, Par::Seq);
}

/// `A'B` for `A` and `B` row after row with so many columns.
pub(crate) fn transpose_product(a: &[f64], b: &[f64], columns: usize) -> Mat<f64> {
    let rows = a.len() / columns;
    row_major(a, rows, columns).transpose() * row_major(b, rows, columns)
}

/// `C <- C + alpha A B`, all row after row, `A` with `columns` columns and `B` square.
pub(crate) fn add_product(to: &mut [f64], alpha: f64, a: &[f64], b: &[f64], columns: usize) {
    let rows = a.len() / columns;
    let to = MatMut::from_row_major_slice_mut(to, rows, columns);
    let (a, b) = (row_major(a, rows, columns), row_major(b, columns, columns));
    matmul(to, Accum::Add, a, b, alpha, Par::Seq);
}

/// `a . b`, in four interleaved sums so that the compiler can vectorise it the same way everywhere.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 4];
    let (a_blocks, a_rest) = a.as_chunks::<4>();
    let (b_blocks, b_rest) = b.as_chunks::<4>();
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..4 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let mut rest = 0.0;
    for (x, y) in a_rest.iter().zip(b_rest) {
        rest += x * y;
    }
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + rest
}

/// `y += a x`
#[inline]
pub(crate) fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Keeps the linear algebra crate on the calling thread.
pub(crate) fn stay_sequential() {
    faer::set_global_parallelism(Par::Seq);
}

/// What kernels need of a number, so that each formula is written once for both precisions.
pub(crate) trait Real:
    Copy
    + From<f64>
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
{
    fn exp(self) -> Self;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    fn to_f64(self) -> f64;
}

impl Real for f64 {
    fn exp(self) -> Self {
        f64::exp(self)
    }
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    fn abs(self) -> Self {
        f64::abs(self)
    }
    fn to_f64(self) -> f64 {
        self
    }
}

impl Real for Extended {
    fn exp(self) -> Self {
        // Below the last digit that is kept of a kernel's value (2^-124), and slow to find.
        if self.0 < -87.0 { Extended::from(0.0) } else { Extended::exp(self) }
    }
    fn sqrt(self) -> Self {
        Extended::sqrt(self)
    }
    fn abs(self) -> Self {
        Extended::abs(self)
    }
    fn to_f64(self) -> f64 {
        self.0 + self.1
    }
}
