//! An orthonormal basis of kernel sections: turns the space of links into plain coordinates.
//!
//! Centres `c_j` are chosen greedily where `K(x, .)` is reproduced worst (pivoted Cholesky of the
//! kernel matrix). With `G = L L'` the Gram matrix of the centres,
//!
//! ```text
//! psi(x) = L^-1 [K(c_1, x), ..., K(c_m, x)]',    <psi_i, psi_j>_H = 1 if i = j, else 0,
//! |K(x, .) - sum_j psi_j(x) psi_j|_H^2 = K(x, x) - |psi(x)|^2.
//! ```
//!
//! To bring that distance to 1e-8 its square must be right to 1e-16, which `f64` cannot hold
//! beside `K(x, x) = 1`; hence the arithmetic with twice the digits, in this file only.

use crate::{
    error::{NumericalError, Result},
    linalg::{Extended, Real},
    link::kernel::{Jet, Kernel},
};

/// The largest basis built: beyond it the bandwidth is far too small for the domain.
pub(crate) const MOST_FUNCTIONS: usize = 640;

/// Orthonormal functions that span kernel sections at chosen centres.
#[derive(Debug, Clone)]
pub(crate) struct Basis {
    kernel: Kernel,
    centres: Vec<f64>,
    /// Rows of the lower triangular `L`, packed.
    cholesky: Vec<Extended>,
    /// The same, rounded: enough for tolerances that do not need the digits.
    rounded: Vec<f64>,
    exact: bool,
}

/// Distances below this are lost to rounding in `f64`.
const PLAIN_TOLERANCE: f64 = 1e-6;

impl Basis {
    /// Centres among `candidates`, until every candidate's section is reproduced to `tolerance`.
    pub fn build(kernel: Kernel, candidates: &[f64], tolerance: f64) -> Result<Self> {
        // Between two candidates the distance may be a little larger than at either.
        let goal = (0.8 * tolerance).powi(2);
        let exact = tolerance < PLAIN_TOLERANCE;
        let (centres, cholesky, rounded) = (Vec::new(), Vec::new(), Vec::new());
        let mut basis = Basis { kernel, centres, cholesky, rounded, exact };
        let mut remaining = vec![Extended::from(Kernel::BOUND); candidates.len()];
        let mut coordinates: Vec<Vec<Extended>> = vec![Vec::new(); candidates.len()];
        while let Some(pivot) = largest(&remaining).filter(|&p| remaining[p].to_f64() > goal) {
            if basis.len() == MOST_FUNCTIONS {
                let half_width = candidates.iter().fold(0.0f64, |a, c| a.max(c.abs()));
                let (bandwidth, limit) = (kernel.bandwidth, MOST_FUNCTIONS);
                return Err(NumericalError::DomainTooWide { half_width, bandwidth, limit }.into());
            }
            let scale = remaining[pivot].sqrt();
            let centre = candidates[pivot];
            let pivot_row = coordinates[pivot].clone();
            for (candidate, row) in coordinates.iter_mut().enumerate() {
                let section = kernel.jet(Extended::from(candidates[candidate]), centre).value;
                let value = (section - dot(row, &pivot_row)) / scale;
                remaining[candidate] -= value * value;
                row.push(value);
            }
            basis.centres.push(centre);
            basis.cholesky.extend_from_slice(&coordinates[pivot]);
        }
        basis.rounded = basis.cholesky.iter().map(|x| x.to_f64()).collect();
        Ok(basis)
    }

    /// The basis of given centres in their given order, which is all that defines it. None when
    /// they are too many, or one depends on those before it.
    pub fn from_centres(kernel: Kernel, centres: &[f64]) -> Option<Self> {
        if centres.is_empty() || centres.len() > MOST_FUNCTIONS {
            return None;
        }
        let mut cholesky: Vec<Extended> = Vec::new();
        for (j, &centre) in centres.iter().enumerate() {
            let x = Extended::from(centre);
            let row = forward(&cholesky, centres[..j].iter().map(|&c| kernel.jet(x, c).value));
            let pivot = Extended::from(Kernel::BOUND) - dot(&row, &row);
            // Not the other way round: a pivot that is no number is refused too.
            if !(pivot.to_f64() > 1e-28) {
                return None;
            }
            cholesky.extend(row);
            cholesky.push(pivot.sqrt());
        }
        let rounded = cholesky.iter().map(|x| x.to_f64()).collect();
        let exact = kernel.basis_tolerance() < PLAIN_TOLERANCE;
        Some(Self { kernel, centres: centres.to_vec(), cholesky, rounded, exact })
    }

    pub fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// Number of functions.
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// `psi(x)`, `psi'(x)` and `psi''(x)`.
    pub fn jets(&self, x: f64) -> Vec<Jet<f64>> {
        if self.exact {
            self.jets_with(&self.cholesky, Extended::from(x))
        } else {
            self.jets_with(&self.rounded, x)
        }
    }

    fn jets_with<T: Real>(&self, cholesky: &[T], x: T) -> Vec<Jet<f64>> {
        let sections: Vec<Jet<T>> = self.centres.iter().map(|&c| self.kernel.jet(x, c)).collect();
        let solve = |part: fn(&Jet<T>) -> T| {
            forward(cholesky, sections.iter().map(part)).into_iter().map(Real::to_f64)
        };
        let (values, slopes) = (solve(|jet| jet.value), solve(|jet| jet.slope));
        let curvatures = solve(|jet| jet.curvature);
        values
            .zip(slopes.zip(curvatures))
            .map(|(value, (slope, curvature))| Jet { value, slope, curvature })
            .collect()
    }

    /// Coordinates here of the function with coordinates `weights` in the basis `from`:
    /// `w_j = <f, psi_j>_H`, that is `L^-1 f(centres)`, with all digits.
    pub fn carry_over(&self, from: &Basis, weights: &[f64]) -> Vec<f64> {
        let at_centres = self.centres.iter().map(|&c| from.combine(weights, c));
        forward(&self.cholesky, at_centres).into_iter().map(Real::to_f64).collect()
    }

    /// `sum_j w_j psi_j(x)` with all digits.
    fn combine(&self, weights: &[f64], x: f64) -> Extended {
        let sections = self.centres.iter().map(|&c| self.kernel.jet(Extended::from(x), c).value);
        let weights: Vec<Extended> = weights.iter().map(|&w| Extended::from(w)).collect();
        dot(&forward(&self.cholesky, sections), &weights)
    }
}

/// `L^-1 b`, the rows of `L` packed.
fn forward<T: Real>(cholesky: &[T], b: impl Iterator<Item = T>) -> Vec<T> {
    let mut solution: Vec<T> = Vec::new();
    let mut start = 0;
    for (j, right) in b.enumerate() {
        let row = &cholesky[start..start + j + 1];
        let value = (right - dot(&row[..j], &solution)) / row[j];
        solution.push(value);
        start += j + 1;
    }
    solution
}

/// `sum_i a_i b_i`
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let zero = <T as From<f64>>::from(0.0);
    a.iter().zip(b).fold(zero, |sum, (x, y)| sum + *x * *y)
}

/// Where the largest number is, the first of equals.
fn largest(values: &[Extended]) -> Option<usize> {
    (0..values.len()).reduce(|best, i| if values[i] > values[best] { i } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{kernel::tests::FAMILIES, space::candidates};

    /// The distance from `K(x, .)` to its reproduction by the coordinates as they are stored
    /// (rounded to `f64`): `K(x,x) - 2 stored . psi + |stored|^2`, with exact `psi`.
    fn reproduction_error(basis: &Basis, x: f64) -> f64 {
        let sections = basis.centres.iter().map(|&c| basis.kernel.jet(Extended::from(x), c).value);
        let exact = forward(&basis.cholesky, sections);
        let outside = Extended::from(Kernel::BOUND) - dot(&exact, &exact);
        let rounded: Extended =
            basis.jets(x).iter().zip(&exact).fold(Extended::from(0.0), |sum, (jet, psi)| {
                let gap = Extended::from(jet.value) - *psi;
                sum + gap * gap
            });
        (outside + rounded).to_f64().max(0.0).sqrt()
    }

    #[test]
    fn sections_are_reproduced_to_the_stated_tolerance_across_the_domain() {
        for family in FAMILIES {
            for (bandwidth, half_width) in [(0.5, 0.2), (1.0, 1.0), (0.3, 2.0), (0.05, 0.4)] {
                let kernel = Kernel::try_new(family, bandwidth).unwrap();
                let basis =
                    Basis::build(kernel, &candidates(kernel, half_width), kernel.basis_tolerance())
                        .unwrap();
                for step in 0..=997 {
                    let x = half_width * (2.0 * step as f64 / 997.0 - 1.0);
                    let error = reproduction_error(&basis, x);
                    assert!(
                        error <= kernel.basis_tolerance(),
                        "{family:?} h={bandwidth} b={half_width} x={x}: {error:e} with {} functions",
                        basis.len()
                    );
                }
            }
        }
    }

    #[test]
    fn inner_products_of_coordinates_are_kernel_values() {
        for family in FAMILIES {
            let kernel = Kernel::try_new(family, 0.4).unwrap();
            let tolerance = kernel.basis_tolerance();
            let basis = Basis::build(kernel, &candidates(kernel, 1.0), tolerance).unwrap();
            for (x, y) in [(0.31, -0.77), (0.02, 0.03), (-1.0, 1.0)] {
                let (a, b) = (basis.jets(x), basis.jets(y));
                let product: f64 = a.iter().zip(&b).map(|(p, q)| p.value * q.value).sum();
                let bound = tolerance * tolerance + 1e-15;
                assert!((product - kernel.value(x, y)).abs() <= bound, "{family:?}");
            }
        }
    }

    #[test]
    fn a_function_carried_to_a_wider_domain_keeps_its_norm_and_values() {
        for family in FAMILIES {
            let kernel = Kernel::try_new(family, 0.5).unwrap();
            let tolerance = kernel.basis_tolerance();
            let narrow = Basis::build(kernel, &candidates(kernel, 0.8), tolerance).unwrap();
            let wide = Basis::build(kernel, &candidates(kernel, 1.7), tolerance).unwrap();
            let sections = [(-0.7, 1.0), (-0.1, -2.0), (0.45, 0.5), (0.8, 1.5)];
            let mut weights = vec![0.0; narrow.len()];
            for (x, coefficient) in sections {
                for (w, jet) in weights.iter_mut().zip(narrow.jets(x)) {
                    *w += coefficient * jet.value;
                }
            }
            let carried = wide.carry_over(&narrow, &weights);
            let norm = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>().sqrt();
            let slack = 10.0 * tolerance * norm(&weights);
            assert!((norm(&carried) - norm(&weights)).abs() <= slack, "{family:?}");
            for x in [-0.8, 0.1, 0.79] {
                let before = narrow.combine(&weights, x).to_f64();
                let after = wide.combine(&carried, x).to_f64();
                assert!((before - after).abs() <= slack, "{family:?}");
            }
        }
    }

    #[test]
    fn centres_in_order_define_the_basis() {
        let kernel = Kernel::try_new(FAMILIES[0], 0.5).unwrap();
        let built = Basis::build(kernel, &candidates(kernel, 1.0), 1e-8).unwrap();
        let again = Basis::from_centres(kernel, built.centres()).unwrap();
        for (a, b) in built.jets(0.37).iter().zip(again.jets(0.37)) {
            assert!((a.value - b.value).abs() < 1e-12 && (a.slope - b.slope).abs() < 1e-11);
        }
        assert!(Basis::from_centres(kernel, &[0.1, 0.1]).is_none());
        assert!(Basis::from_centres(kernel, &[f64::NAN]).is_none());
    }

    #[test]
    fn a_bandwidth_far_too_small_is_refused() {
        let kernel = Kernel::try_new(FAMILIES[0], 1e-3).unwrap();
        let grid: Vec<f64> = (0..4000).map(|i| i as f64 / 2000.0 - 1.0).collect();
        assert!(Basis::build(kernel, &grid, 1e-8).is_err());
    }
}
