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
//! beside `K(x, x) = 1`. Coordinates never exceed 1, so they are held as whole numbers, 62 binary
//! digits after the point, whose products add up exactly in 128 bits: several times faster than
//! floating point of twice the length, and the same on every machine.

use rayon::prelude::*;

use crate::{
    error::{NumericalError, Result},
    linalg::{self, Extended, Real},
    link::{
        kernel::{Jet, Kernel},
        sections::Sections,
    },
};

/// The largest basis built: beyond it the bandwidth is far too small for the domain.
pub(crate) const MOST_FUNCTIONS: usize = 640;

/// A number from -1 to 1 as a multiple of `2^-62`.
type Digits = i64;
/// A product of two such numbers: a multiple of `2^-124`.
type Product = i128;

const POINT: i32 = 62;

/// Orthonormal functions that span kernel sections at chosen centres.
#[derive(Debug, Clone)]
pub(crate) struct Basis {
    sections: Sections,
    centres: Vec<f64>,
    /// Rows of the lower triangular `L`, packed.
    cholesky: Vec<Digits>,
    /// The same, rounded.
    rounded: Vec<f64>,
}

impl Basis {
    /// Centres among `candidates`, until every candidate's section is reproduced to `tolerance`.
    pub fn build(sections: Sections, candidates: &[f64], tolerance: f64) -> Result<Self> {
        // Between two candidates the distance may be a little larger than at either.
        let goal = product(Extended::from((0.8 * tolerance).powi(2)));
        let mut rest: Vec<Candidate> = candidates.iter().map(|&x| Candidate::new(x)).collect();
        let (mut centres, mut cholesky) = (Vec::new(), Vec::new());
        while let Some(pivot) = farthest(&rest).filter(|&p| rest[p].distance > goal) {
            if centres.len() == MOST_FUNCTIONS {
                let half_width = candidates.iter().fold(0.0f64, |a, c| a.max(c.abs()));
                let (bandwidth, limit) = (sections.kernel().bandwidth, MOST_FUNCTIONS);
                return Err(NumericalError::DomainTooWide { half_width, bandwidth, limit }.into());
            }
            let centre = rest[pivot].clone();
            let each = rest.par_iter_mut().with_min_len(16);
            each.for_each(|c| c.take_coordinate(&sections, &centre));
            centres.push(centre.x);
            cholesky.extend_from_slice(&centre.coordinates);
            cholesky.push(root(centre.distance));
        }
        Ok(Self::with(sections, centres, cholesky))
    }

    /// The basis of given centres in their given order, which is all that defines it. None when
    /// they are too many, or one depends on those before it.
    pub fn from_centres(sections: Sections, centres: &[f64]) -> Option<Self> {
        let finite = centres.iter().all(|c| c.is_finite());
        if centres.is_empty() || centres.len() > MOST_FUNCTIONS || !finite {
            return None;
        }
        let mut cholesky: Vec<Digits> = Vec::new();
        for (j, &centre) in centres.iter().enumerate() {
            let row = forward(&cholesky, products(&sections, &centres[..j], centre));
            let square = product(Extended::from(Kernel::BOUND)) - dot(&row, &row);
            let pivot = root(square);
            // Below this a distance is made of rounding.
            if pivot < digits_of(1e-9) {
                return None;
            }
            cholesky.extend(row);
            cholesky.push(pivot);
        }
        Some(Self::with(sections, centres.to_vec(), cholesky))
    }

    fn with(sections: Sections, centres: Vec<f64>, cholesky: Vec<Digits>) -> Self {
        let rounded = cholesky.iter().map(|&digits| number(digits)).collect();
        Self { sections, centres, cholesky, rounded }
    }

    /// Where the sections are centred, in order.
    pub fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// Number of functions.
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// `psi(x)`, `psi'(x)` and `psi''(x)`; the derivatives with the digits that `f64` leaves them,
    /// which is enough for the table that they shape between its nodes.
    pub fn jets(&self, x: f64) -> Vec<Jet<f64>> {
        let kernel = self.sections.kernel();
        let jets: Vec<Jet<f64>> = self.centres.iter().map(|&c| kernel.jet(x, c)).collect();
        let values = forward(&self.cholesky, products(&self.sections, &self.centres, x));
        let slopes = self.forward_rounded(jets.iter().map(|jet| jet.slope));
        let curvatures = self.forward_rounded(jets.iter().map(|jet| jet.curvature));
        values
            .into_iter()
            .zip(slopes.into_iter().zip(curvatures))
            .map(|(value, (slope, curvature))| Jet { value: number(value), slope, curvature })
            .collect()
    }

    /// Coordinates here of the function with coordinates `weights` in the basis `from`:
    /// `w_j = <f, psi_j>_H`, that is `L^-1 f(centres)`, with all digits.
    pub fn carry_over(&self, from: &Basis, weights: &[f64]) -> Vec<f64> {
        let mut solution: Vec<Extended> = Vec::with_capacity(self.len());
        for (row, &centre) in rows(&self.cholesky).zip(&self.centres) {
            let (pivot, before) = row.split_last().unwrap_or((&0, &[]));
            let known = before.iter().zip(&solution);
            let sum = known.fold(from.combine(weights, centre), |sum, (&digits, w)| {
                sum - extended(digits) * *w
            });
            solution.push(sum / extended(*pivot));
        }
        solution.into_iter().map(Real::to_f64).collect()
    }

    /// `sum_j w_j psi_j(x)` with all digits.
    fn combine(&self, weights: &[f64], x: f64) -> Extended {
        let coordinates = forward(&self.cholesky, products(&self.sections, &self.centres, x));
        coordinates.iter().zip(weights).fold(Extended::from(0.0), |sum, (&digits, &w)| {
            sum + extended(digits) * Extended::from(w)
        })
    }

    /// `L^-1 b` in `f64`.
    fn forward_rounded(&self, b: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut solution: Vec<f64> = Vec::with_capacity(self.len());
        let mut start = 0;
        for (j, right) in b.enumerate() {
            let row = &self.rounded[start..start + j + 1];
            solution.push((right - linalg::dot(&row[..j], &solution)) / row[j]);
            start += j + 1;
        }
        solution
    }
}

/// A place where a centre may go.
#[derive(Clone)]
struct Candidate {
    x: f64,
    /// `psi(x)` as far as the basis goes.
    coordinates: Vec<Digits>,
    /// `K(x, x) - |psi(x)|^2`
    distance: Product,
}

impl Candidate {
    fn new(x: f64) -> Self {
        Self { x, coordinates: Vec::new(), distance: product(Extended::from(Kernel::BOUND)) }
    }

    /// The coordinate along the function that a new centre adds.
    fn take_coordinate(&mut self, sections: &Sections, centre: &Candidate) {
        let section = product(sections.at(self.x, centre.x));
        let scale = Product::from(root(centre.distance));
        let outside = section - dot(&self.coordinates, &centre.coordinates);
        let value = (outside / scale) as Digits;
        self.distance -= Product::from(value) * Product::from(value);
        self.coordinates.push(value);
    }
}

/// The candidate that is reproduced worst, the first of equals.
fn farthest(candidates: &[Candidate]) -> Option<usize> {
    (0..candidates.len())
        .reduce(|best, i| if candidates[i].distance > candidates[best].distance { i } else { best })
}

/// `K(c, x)` for every centre.
fn products(sections: &Sections, centres: &[f64], x: f64) -> impl Iterator<Item = Product> {
    centres.iter().map(move |&c| product(sections.at(x, c)))
}

/// `L^-1 b`, the rows of `L` packed.
fn forward(cholesky: &[Digits], b: impl Iterator<Item = Product>) -> Vec<Digits> {
    let mut solution: Vec<Digits> = Vec::new();
    for (row, right) in rows(cholesky).zip(b) {
        let (pivot, before) = row.split_last().unwrap_or((&1, &[]));
        solution.push(((right - dot(before, &solution)) / Product::from(*pivot)) as Digits);
    }
    solution
}

/// The rows of a packed triangle.
fn rows(triangle: &[Digits]) -> impl Iterator<Item = &[Digits]> {
    let mut start = 0;
    (1..).map_while(move |length| {
        let row = triangle.get(start..start + length)?;
        start += length;
        Some(row)
    })
}

/// `sum_i a_i b_i`, exactly.
fn dot(a: &[Digits], b: &[Digits]) -> Product {
    a.iter().zip(b).map(|(&x, &y)| Product::from(x) * Product::from(y)).sum()
}

fn product(value: Extended) -> Product {
    let scale = 2f64.powi(2 * POINT);
    (value.0 * scale) as Product + (value.1 * scale) as Product
}

fn root(square: Product) -> Digits {
    square.max(0).unsigned_abs().isqrt() as Digits
}

fn digits_of(value: f64) -> Digits {
    (value * 2f64.powi(POINT)) as Digits
}

fn number(digits: Digits) -> f64 {
    digits as f64 * 2f64.powi(-POINT)
}

fn extended(digits: Digits) -> Extended {
    let leading = digits as f64;
    let following = (Product::from(digits) - leading as Product) as f64;
    let scale = 2f64.powi(-POINT);
    Extended::from(leading * scale) + Extended::from(following * scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{
        kernel::tests::FAMILIES,
        space::{candidates, grid_for},
        table::Grid,
    };

    fn basis_over(kernel: Kernel, half_width: f64) -> Basis {
        let grid = grid_for(kernel, half_width);
        let (sections, candidates) = (Sections::new(kernel, grid), candidates(kernel, grid));
        Basis::build(sections, &candidates, kernel.basis_tolerance()).unwrap()
    }

    /// The distance from `K(x, .)` to its reproduction by the coordinates as they are stored:
    /// `K(x,x) - |psi|^2 + |stored - psi|^2`, with `psi` in floating point of twice the length.
    fn reproduction_error(basis: &Basis, cholesky: &[Vec<Extended>], x: f64) -> f64 {
        let mut exact: Vec<Extended> = Vec::new();
        for (row, &c) in cholesky.iter().zip(&basis.centres) {
            let section = basis.sections.kernel().jet(Extended::from(x), c).value;
            let known = row.iter().zip(&exact).fold(section, |sum, (l, psi)| sum - *l * *psi);
            exact.push(known / row[exact.len()]);
        }
        let outside = exact.iter().fold(Extended::from(1.0), |sum, psi| sum - *psi * *psi);
        let rounding = basis.jets(x).iter().zip(&exact).fold(outside, |sum, (jet, psi)| {
            let gap = Extended::from(jet.value) - *psi;
            sum + gap * gap
        });
        rounding.to_f64().max(0.0).sqrt()
    }

    /// The Cholesky factor of the centres' Gram matrix, made anew without the whole numbers.
    fn extended_cholesky(basis: &Basis) -> Vec<Vec<Extended>> {
        let mut rows: Vec<Vec<Extended>> = Vec::new();
        for &x in &basis.centres {
            let mut row: Vec<Extended> = Vec::new();
            for (before, &c) in rows.iter().zip(&basis.centres) {
                let section = basis.sections.kernel().jet(Extended::from(x), c).value;
                let known = before.iter().zip(&row).fold(section, |sum, (a, b)| sum - *a * *b);
                row.push(known / before[row.len()]);
            }
            let square = row.iter().fold(Extended::from(1.0), |sum, l| sum - *l * *l);
            row.push(square.sqrt());
            rows.push(row);
        }
        rows
    }

    #[test]
    fn sections_are_reproduced_to_the_stated_tolerance_across_the_domain() {
        for &family in FAMILIES {
            for (bandwidth, half_width) in [(0.5, 0.2), (1.0, 1.0), (0.3, 2.0), (0.05, 0.4)] {
                let kernel = Kernel::try_new(family, bandwidth).unwrap();
                let basis = basis_over(kernel, half_width);
                let cholesky = extended_cholesky(&basis);
                for step in 0..=497 {
                    let x = half_width * (2.0 * step as f64 / 497.0 - 1.0);
                    let error = reproduction_error(&basis, &cholesky, x);
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
        for &family in FAMILIES {
            let kernel = Kernel::try_new(family, 0.4).unwrap();
            let tolerance = kernel.basis_tolerance();
            let basis = basis_over(kernel, 1.0);
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
        for &family in FAMILIES {
            let kernel = Kernel::try_new(family, 0.5).unwrap();
            let tolerance = kernel.basis_tolerance();
            let narrow = basis_over(kernel, 0.8);
            let wide = basis_over(kernel, 1.7);
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
        let built = basis_over(kernel, 1.0);
        let with = |centres: &[f64]| Basis::from_centres(built.sections.clone(), centres);
        assert_eq!(built.jets(0.37), with(built.centres()).unwrap().jets(0.37));
        assert!(with(&[0.1, 0.1]).is_none());
        assert!(with(&[f64::NAN]).is_none());
    }

    #[test]
    fn a_bandwidth_far_too_small_is_refused() {
        let kernel = Kernel::try_new(FAMILIES[0], 1e-3).unwrap();
        let grid = Grid::new(1.0, 4000);
        let nodes: Vec<f64> = (0..grid.nodes()).map(|node| grid.node(node)).collect();
        assert!(Basis::build(Sections::new(kernel, grid), &nodes, 1e-8).is_err());
    }
}
