//! Distance between factors up to the rotation that scores cannot tell.

use crate::{
    error::Result,
    factors::Factors,
    linalg::{self, Mat},
};

/// `|Delta(Z)|_F = min_R |Z - Z* R|_F` over orthogonal `R`.
///
/// With `Z*'Z = P S Q'` the minimum is at `R = P Q'`, and
/// `|Delta|^2 = |Z|^2 + |Z*|^2 - 2 tr S`; it is computed from the difference itself, which keeps
/// its digits when the two are close.
pub fn factor_distance(factors: &Factors, truth: &Factors) -> Result<f64> {
    let r = factors.rank();
    let mut product = Mat::<f64>::zeros(truth.rank(), r);
    let pairs = || {
        let rows = truth.each_row().zip(factors.each_row());
        rows.chain(truth.each_column().zip(factors.each_column()))
    };
    for (z_star, z) in pairs() {
        add_outer(&mut product, z_star, z);
    }
    let svd = linalg::thin_svd(product.as_ref())?;
    let rotation = &svd.left * svd.right.transpose();
    let gap = |z_star: &[f64], z: &[f64]| -> f64 {
        (0..r)
            .map(|j| {
                let rotated: f64 =
                    z_star.iter().enumerate().map(|(i, a)| a * rotation[(i, j)]).sum();
                (z[j] - rotated).powi(2)
            })
            .sum()
    };
    Ok(pairs().map(|(a, b)| gap(a, b)).sum::<f64>().sqrt())
}

fn add_outer(product: &mut Mat<f64>, a: &[f64], b: &[f64]) {
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            product[(i, j)] += x * y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(shift: f64) -> Factors {
        let number = |k: usize| (k as f64 * 1.3 + shift).sin();
        Factors::from_vecs(2, (0..12).map(number).collect(), (20..30).map(number).collect())
            .unwrap()
    }

    fn rotated(z: &Factors, angle: f64) -> Factors {
        let turn = |side: &[f64]| {
            side.chunks(2)
                .flat_map(|p| {
                    let (s, c) = angle.sin_cos();
                    [c * p[0] - s * p[1], s * p[0] + c * p[1]]
                })
                .collect()
        };
        Factors::from_vecs(2, turn(&z.rows()), turn(&z.columns())).unwrap()
    }

    #[test]
    fn a_rotation_is_no_distance() {
        let z = sample(0.0);
        assert!(factor_distance(&rotated(&z, 0.9), &z).unwrap() < 1e-14);
    }

    #[test]
    fn it_is_the_smallest_over_many_rotations() {
        let (z, star) = (sample(0.0), sample(0.8));
        let distance = factor_distance(&z, &star).unwrap();
        let flip = |z: &Factors| {
            let mirror = |s: &[f64]| s.chunks(2).flat_map(|p| [p[0], -p[1]]).collect();
            Factors::from_vecs(2, mirror(&z.rows()), mirror(&z.columns())).unwrap()
        };
        let best = (0..6283)
            .flat_map(|k| {
                let turned = rotated(&star, k as f64 / 1000.0);
                [flip(&turned), turned]
            })
            .map(|turned| z.moved(-1.0, &turned).norm())
            .fold(f64::INFINITY, f64::min);
        assert!((distance - best).abs() < 1e-5 && distance <= best + 1e-12);
    }
}
