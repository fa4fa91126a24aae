//! The rotation that scores cannot tell, put where priors are best.
//!
//! Scores do not change when rows are multiplied by `R` and columns by its inverse transposed,
//! but the priors do: the likeliest is where both sides have the same diagonal second moments.
//! Going there at once saves the sweeps that would drift there, and empties the coordinates that
//! are not needed.

use rayon::prelude::*;

use super::{priors::Presence, units::Units};
use crate::{
    four::triangle,
    linalg::{self, Mat},
    simd::{self, Kernel, LANES, Lanes, Machine, ZERO},
};

/// `mean_i E (u_i - pi_i)(u_i - pi_i)'` over the factors.
fn second_moments(units: &Units) -> Mat<f64> {
    let r = units.p - 1;
    let sums = units.sum(triangle(r), |unit, sums| {
        let (mean, prior, covariance) =
            (units.of(unit), units.prior_of(unit), units.covariance_of(unit));
        for a in 0..r {
            let gap = mean[a] - prior[a];
            for b in 0..=a {
                let place = triangle(a) + b;
                sums[place] += gap * (mean[b] - prior[b]) + covariance[place];
            }
        }
    });
    let count = units.len() as f64;
    Mat::from_fn(r, r, |a, b| sums[triangle(a.max(b)) + a.min(b)] / count)
}

/// Rotates both sides: with `A = LL'` and `B` the second moments of rows and columns and
/// `L'BL = Q diag(lambda) Q'`, rows are multiplied by `R = lambda^(1/4) Q' L^-1` and columns by
/// its inverse transposed, and both sides' precisions are `kappa / sqrt(lambda)`. Does nothing
/// where the moments are singular.
pub(super) fn rotate(
    rows: (&mut Units, &mut Presence),
    columns: (&mut Units, &mut Presence),
    kappa: f64,
) {
    let r = rows.0.p - 1;
    if r < 2 {
        return;
    }
    let (mut a, b) = (second_moments(rows.0), second_moments(columns.0));
    let trace: f64 = (0..r).map(|i| a[(i, i)]).sum();
    (0..r).for_each(|i| a[(i, i)] += 1e-10 * trace);
    let Ok(lower) = linalg::cholesky(a.as_ref()) else { return };
    let Ok((values, q)) = linalg::symmetric_eigen((lower.transpose() * &b * &lower).as_ref())
    else {
        return;
    };
    let largest = values.iter().copied().fold(0.0, f64::max);
    if !(largest > 0.0 && largest.is_finite()) {
        return;
    }
    let roots: Vec<f64> = values.iter().map(|v| v.max(1e-30 * largest).sqrt()).collect();
    // Columns of L Q lambda^(-1/4) are the rows of the inverse transposed.
    let turned = &lower * &q;
    let back = Mat::from_fn(r, r, |i, j| turned[(j, i)] / roots[i].sqrt());
    let Some(inverse) = linalg::lower_inverse(lower.as_ref()) else { return };
    let forth = q.transpose() * &inverse;
    let forth = Mat::from_fn(r, r, |i, j| forth[(i, j)] * roots[i].sqrt());
    turn(rows.0, rows.1, &forth);
    turn(columns.0, columns.1, &back);
    for units in [rows.0, columns.0] {
        for (alpha, root) in units.precision.iter_mut().zip(&roots) {
            *alpha = kappa / root;
        }
    }
}

/// Multiplies the factors of a side by `t`; effects stay.
fn turn(units: &mut Units, presence: &mut Presence, t: &Mat<f64>) {
    let p = units.p;
    let r = p - 1;
    let vector = |x: &mut [f64]| {
        let turned: Vec<f64> = (0..r).map(|a| (0..r).map(|b| t[(a, b)] * x[b]).sum()).collect();
        x[..r].copy_from_slice(&turned);
    };
    units.mean.par_chunks_mut(p).with_min_len(256).for_each(vector);
    units.prior.par_chunks_mut(p).with_min_len(256).for_each(vector);
    presence.weights.par_chunks_mut(p).with_min_len(256).for_each(vector);
    let flat: Vec<f64> = (0..r).flat_map(|a| (0..r).map(move |b| t[(a, b)])).collect();
    units.covariance.par_chunks_mut(64 * triangle(p)).for_each(|covariances| {
        simd::dispatch(TurnCovariances { p, t: &flat, covariances });
    });
    // Variances and prior variances are kept one by one; what they share is let go.
    let spread = |x: &mut [f64]| {
        let turned: Vec<f64> =
            (0..r).map(|a| (0..r).map(|b| t[(a, b)].powi(2) * x[b]).sum()).collect();
        x[..r].copy_from_slice(&turned);
    };
    presence.variances.par_chunks_mut(p).with_min_len(256).for_each(spread);
    let mut variances: Vec<f64> = presence.precision.iter().map(|beta| beta.recip()).collect();
    spread(&mut variances);
    presence.precision = variances.into_iter().map(f64::recip).collect();
}

/// `S <- [T 0; 0 1] S [T 0; 0 1]'` for the covariances of some units.
struct TurnCovariances<'a> {
    p: usize,
    t: &'a [f64],
    covariances: &'a mut [f64],
}

impl Kernel for TurnCovariances<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        let (p, r, t) = (self.p, self.p - 1, self.t);
        let width = p.div_ceil(LANES);
        // T' row after row, whole lanes; the effect is turned into itself.
        let mut across = vec![ZERO; p * width];
        for c in 0..r {
            let row = &mut across[c * width..(c + 1) * width].as_flattened_mut()[..r];
            row.iter_mut().enumerate().for_each(|(b, x)| *x = t[b * r + c]);
        }
        across[r * width..].as_flattened_mut()[r] = 1.0;
        let (mut full, mut half) = (vec![ZERO; p * width], vec![ZERO; p * width]);
        for covariance in self.covariances.chunks_exact_mut(triangle(p)) {
            let flat = full.as_flattened_mut();
            for a in 0..p {
                for b in 0..=a {
                    flat[a * LANES * width + b] = covariance[triangle(a) + b];
                    flat[b * LANES * width + a] = covariance[triangle(a) + b];
                }
            }
            // T S, with the effect's row as it is, then (T S) T': rows are added whole.
            half.fill(ZERO);
            for a in 0..r {
                let to = &mut half[a * width..(a + 1) * width];
                for c in 0..r {
                    add_row::<M>(to, t[a * r + c], &full[c * width..(c + 1) * width]);
                }
            }
            half[r * width..].copy_from_slice(&full[r * width..]);
            full.fill(ZERO);
            for a in 0..p {
                let to = &mut full[a * width..(a + 1) * width];
                for c in 0..p {
                    let share = half.as_flattened()[a * LANES * width + c];
                    add_row::<M>(to, share, &across[c * width..(c + 1) * width]);
                }
            }
            let flat = full.as_flattened();
            for a in 0..p {
                covariance[triangle(a)..triangle(a) + a + 1]
                    .copy_from_slice(&flat[a * LANES * width..][..a + 1]);
            }
        }
    }
}

/// `to += share from`
#[inline(always)]
fn add_row<M: Machine>(to: &mut [Lanes], share: f64, from: &[Lanes]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = simd::mul_add::<M>([share; LANES], *from, *to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(i: usize) -> f64 {
        ((i as f64 + 0.3) * 2.9).sin()
    }

    fn side(count: usize, offset: usize) -> (Units, Presence) {
        let mut units = Units::new(count, 4);
        (0..units.mean.len()).for_each(|i| units.mean[i] = number(i + offset));
        for unit in 0..count {
            for a in 0..4 {
                units.covariance[unit * triangle(4) + triangle(a) + a] = 0.1 + 0.05 * a as f64;
            }
        }
        let presence = Presence::new(count, &units);
        (units, presence)
    }

    #[test]
    fn scores_stay_and_second_moments_become_equal_and_diagonal() {
        let (mut u, mut row_presence) = side(9, 0);
        let (mut v, mut column_presence) = side(7, 50);
        let score = |u: &Units, v: &Units, i: usize, t: usize| -> f64 {
            (0..3).map(|a| u.of(i)[a] * v.of(t)[a]).sum()
        };
        let before: Vec<f64> = (0..9)
            .flat_map(|i| (0..7).map(move |t| (i, t)))
            .map(|(i, t)| score(&u, &v, i, t))
            .collect();
        rotate((&mut u, &mut row_presence), (&mut v, &mut column_presence), 1.0);
        let after: Vec<f64> = (0..9)
            .flat_map(|i| (0..7).map(move |t| (i, t)))
            .map(|(i, t)| score(&u, &v, i, t))
            .collect();
        assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-10));
        let (a, b) = (second_moments(&u), second_moments(&v));
        for i in 0..3 {
            for j in 0..3 {
                let expected = if i == j { u.precision[i].recip() } else { 0.0 };
                assert!((a[(i, j)] - expected).abs() < 1e-6, "{i} {j}");
                assert!((b[(i, j)] - expected).abs() < 1e-6, "{i} {j}");
            }
        }
    }
}
