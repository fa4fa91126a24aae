//! The space of learnable links on a domain: coordinates in an orthonormal basis, read by a table.

use std::{ops::Range, sync::OnceLock};

use rayon::prelude::*;

use crate::{
    error::{NumericalError, Result},
    linalg::{self, Mat},
    link::{
        basis::{Basis, MOST_FUNCTIONS},
        fine::{FineTable, reached},
        kernel::Kernel,
        sections::Sections,
        table::{GramMoments, Grid, LinearMoments, ORDER, Table, quintics},
    },
    products,
    threads::attended,
};

/// The relative error of the table, against the norm of the link (its slope: norm per bandwidth).
const TABLE_TOLERANCE: f64 = 1e-11;

/// The same for the quartics that the passes over the entries read, and for sums over the entries.
const FINE_TOLERANCE: f64 = 1e-9;

/// One node in so many is on the thin grid, which costs a factor of 8^6 in precision.
const THINNED: usize = 8;

/// The widest domain, in bandwidths on either side: more than any basis here can span.
const MOST_BANDWIDTHS: f64 = 200.0;

/// How many times as wide a domain becomes that is too narrow.
const WIDER: f64 = 1.5;

/// All links that the basis of a kernel spans over `[-half_width, half_width]`.
#[derive(Debug, Clone)]
pub struct LinkSpace {
    kernel: Kernel,
    grid: Grid,
    basis: Basis,
    /// For each node the rows `psi`, `d psi'`, `d^2 psi''`; each row has one number per function.
    node_basis: Vec<f64>,
    /// The same for the thin grid, once it was asked for.
    thin_basis: OnceLock<Vec<f64>>,
}

impl LinkSpace {
    /// The space of a kernel over `[-half_width, half_width]`.
    pub fn build(kernel: Kernel, half_width: f64) -> Result<Self> {
        if !half_width.is_finite() || half_width / kernel.bandwidth > MOST_BANDWIDTHS {
            let (bandwidth, limit) = (kernel.bandwidth, MOST_FUNCTIONS);
            return Err(NumericalError::DomainTooWide { half_width, bandwidth, limit }.into());
        }
        let grid = grid_for(kernel, half_width);
        let sections = Sections::new(kernel, grid);
        let basis = Basis::build(sections, &candidates(kernel, grid), kernel.basis_tolerance())?;
        Ok(Self::with_basis(kernel, grid, basis))
    }

    /// The first domain in a row of ever wider ones that covers `largest`.
    pub(crate) fn half_width_for(&self, largest: f64) -> f64 {
        let mut half_width = self.half_width();
        while half_width < largest {
            half_width *= WIDER;
        }
        half_width
    }

    /// The space that these centres span, in this order: coordinates keep their meaning as long
    /// as the centres are kept. None when they are no basis, or too many for a table.
    pub fn from_centres(kernel: Kernel, half_width: f64, centres: &[f64]) -> Option<Self> {
        let sound = half_width > 0.0
            && half_width / kernel.bandwidth <= MOST_BANDWIDTHS
            && centres.iter().all(|c| c.abs() <= half_width);
        if !sound {
            return None;
        }
        let grid = grid_for(kernel, half_width);
        let basis = Basis::from_centres(Sections::new(kernel, grid), centres)?;
        Some(Self::with_basis(kernel, grid, basis))
    }

    fn with_basis(kernel: Kernel, grid: Grid, basis: Basis) -> Self {
        let d = grid.spacing();
        let functions = basis.len();
        let mut node_basis = vec![0.0; 3 * grid.nodes() * functions];
        node_basis.par_chunks_mut(3 * functions).enumerate().for_each(|(node, rows)| {
            for (j, jet) in basis.jets(grid.node(node)).into_iter().enumerate() {
                rows[j] = jet.value;
                rows[functions + j] = d * jet.slope;
                rows[2 * functions + j] = d * d * jet.curvature;
            }
        });
        Self { kernel, grid, basis, node_basis, thin_basis: OnceLock::new() }
    }

    /// Does work on the nodes: as it is where they are so many that products with them are shared by
    /// threads, and otherwise so that the threads are there for what comes next.
    pub(crate) fn work<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        if self.node_basis.len() < products::WORTH_A_THREAD { attended(work) } else { work() }
    }

    /// Where the sections that span the space are centred, in order.
    pub fn centres(&self) -> &[f64] {
        self.basis.centres()
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Links of this space are learned on `[-half_width, half_width]`.
    pub fn half_width(&self) -> f64 {
        self.grid.half_width()
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.basis.len()
    }

    pub(crate) fn grid(&self) -> Grid {
        self.grid
    }

    /// The grid with an eighth of the nodes, whose table is right to some millionths of a link's
    /// norm: enough to find the best link where many are tried.
    pub(crate) fn thin_grid(&self) -> Grid {
        self.grid.thinned(THINNED)
    }

    /// The function with these coordinates, tabulated.
    pub(crate) fn table(&self, weights: &[f64]) -> Table {
        Table::from_nodes(self.grid, &self.jets(weights, 0..self.grid.nodes()))
    }

    /// The same for passes over scores that are at most `reach` in absolute value.
    pub(crate) fn fine_within(&self, weights: &[f64], reach: f64) -> FineTable {
        let Range { start, end } = reached(self.grid, reach);
        let quintics = quintics(&self.jets(weights, start..end + 1));
        FineTable::of_quintics(self.grid, start, &quintics, reach)
    }

    /// Value, slope and curvature at some nodes of the function with these coordinates, the
    /// derivatives scaled to the spacing.
    pub(crate) fn jets(&self, weights: &[f64], nodes: Range<usize>) -> Vec<f64> {
        let size = 3 * self.dimension();
        let rows = &self.node_basis[size * nodes.start..size * nodes.end];
        let rows: Vec<&[f64]> = rows.chunks_exact(self.dimension()).collect();
        products::times(&rows, weights)
    }

    /// `sum_k g_k psi(x_k)` from the moments of the scores, on this grid or the thin one.
    pub(crate) fn weighted_sum(&self, moments: &LinearMoments) -> Vec<f64> {
        let (first, weights) = moments.node_weights();
        self.sum_over_nodes(moments.grid(), first, &weights)
    }

    /// The same from the weights of nodes that follow each other: three of each, on its jet.
    pub(crate) fn sum_over_nodes(&self, grid: Grid, first: usize, weights: &[f64]) -> Vec<f64> {
        let jets = &self.jets_on(grid)[3 * first * self.dimension()..];
        let rows: Vec<&[f64]> = jets.chunks_exact(self.dimension()).take(weights.len()).collect();
        if rows.is_empty() {
            return vec![0.0; self.dimension()];
        }
        products::transpose_times(&rows, weights)
    }

    /// `sum_k psi(x_k) psi(x_k)' = B' (W B)` from the moments of the scores, on this grid or the
    /// thin one, with `B` the jets of the basis at the nodes and `W` the blocks of the
    /// intervals. Whatever the grid, it is positive semidefinite.
    pub(crate) fn gram(&self, moments: &GramMoments) -> Mat<f64> {
        let m = self.dimension();
        let all_jets = self.jets_on(moments.grid());
        let mut weighted = vec![0.0; all_jets.len()];
        let mut used = all_jets.len()..0;
        for (interval, block) in moments.blocks() {
            let ends = 3 * interval * m..(3 * interval + ORDER) * m;
            let jets = &all_jets[ends.clone()];
            for (row, weights) in weighted[ends.clone()].chunks_exact_mut(m).zip(&block) {
                for (jet, &weight) in jets.chunks_exact(m).zip(weights) {
                    linalg::add_scaled(row, weight, jet);
                }
            }
            used = used.start.min(ends.start)..used.end.max(ends.end);
        }
        if used.is_empty() {
            return Mat::zeros(m, m);
        }
        linalg::transpose_product(&all_jets[used.clone()], &weighted[used], m)
    }

    /// The rows of `node_basis` for the nodes of this grid or the thin one, whose spacing the
    /// derivatives are scaled to.
    fn jets_on(&self, grid: Grid) -> &[f64] {
        if grid == self.grid {
            return &self.node_basis;
        }
        debug_assert_eq!(grid, self.thin_grid());
        let scales = [1, THINNED, THINNED * THINNED].map(|scale| scale as f64);
        self.thin_basis.get_or_init(|| {
            let nodes = self.node_basis.chunks_exact(3 * self.dimension()).step_by(THINNED);
            let mut jets = Vec::with_capacity(nodes.len() * 3 * self.dimension());
            for node in nodes {
                for (row, scale) in node.chunks_exact(self.dimension()).zip(scales) {
                    jets.extend(row.iter().map(|b| scale * b));
                }
            }
            jets
        })
    }

    /// `psi'` at each node, a row each: what slope bounds are imposed on.
    pub(crate) fn slope_rows(&self) -> Vec<&[f64]> {
        let m = self.dimension();
        self.node_basis.chunks_exact(3 * m).map(|rows| &rows[m..2 * m]).collect()
    }

    /// `psi(x)`, without the table.
    pub fn coordinates(&self, x: f64) -> Vec<f64> {
        self.basis.jets(x).into_iter().map(|jet| jet.value).collect()
    }

    /// Coordinates here of a function of another space with the same kernel.
    pub fn carry_over(&self, from: &LinkSpace, weights: &[f64]) -> Vec<f64> {
        self.basis.carry_over(&from.basis, weights)
    }

    /// The element of the space nearest to any function `f` over the domain, in mean square, with
    /// a ridge of 1e-10 on its norm: `argmin mean_s (f(s) - w . psi(s))^2 + 1e-10 |w|^2`.
    ///
    /// Links such as the sigmoid lie in no Gaussian space; this is what "the true link" means
    /// where distances to it in the norm of the space are asked for.
    pub fn nearest(&self, f: impl Fn(f64) -> f64) -> Result<Vec<f64>> {
        let mut gram = GramMoments::zero(self.grid);
        let mut target = LinearMoments::zero(self.grid);
        let share = 1.0 / self.grid.nodes() as f64;
        for node in (0..self.grid.nodes()).map(|i| self.grid.node(i)) {
            gram.add(node, share);
            target.add(node, share * f(node));
        }
        let mut normal = self.gram(&gram);
        for j in 0..self.dimension() {
            normal[(j, j)] += 1e-10;
        }
        linalg::solve_positive(normal.as_ref(), &self.weighted_sum(&target))
    }
}

/// The grid whose table meets [`TABLE_TOLERANCE`] in value and slope, by the bounds of `table`, and
/// [`FINE_TOLERANCE`] in the slope of its quartics and in sums, by those of `fine` and `tally`.
pub(crate) fn grid_for(kernel: Kernel, half_width: f64) -> Grid {
    let bound = kernel.sixth_derivative_bound();
    let by_value = (TABLE_TOLERANCE * 46_080.0 / bound).powf(1.0 / 6.0);
    let by_slope = (TABLE_TOLERANCE * 30_000.0 / (5f64.sqrt() * bound)).powf(1.0 / 5.0);
    // A tenth is left for coefficients that share a place.
    let by_quartics = (0.9 * FINE_TOLERANCE * 3072.0 / kernel.fifth_derivative_bound()).powf(0.25);
    let by_sums = (FINE_TOLERANCE * 3072.0 / kernel.product_bound()).powf(0.25);
    let spacing = kernel.bandwidth * by_value.min(by_slope).min(by_quartics).min(by_sums);
    // Even, so that zero is a node, and when thinned too; at least a few intervals when the domain
    // is short.
    let halves = (half_width / spacing).ceil().clamp(8.0, 1e7) as usize;
    Grid::new(half_width, 2 * halves.next_multiple_of(THINNED))
}

/// Places where a centre may go: nodes of the grid, closer together towards the ends, where
/// smooth functions are hardest to pin down.
pub(crate) fn candidates(kernel: Kernel, grid: Grid) -> Vec<f64> {
    let per_bandwidth = if kernel.basis_tolerance() > 1e-6 { 32.0 } else { 10.0 };
    let wanted =
        96 + (4.0 * per_bandwidth * grid.half_width() / kernel.bandwidth).min(1e6) as usize;
    let mut nodes: Vec<usize> = (0..=wanted)
        .map(|i| {
            let graded = (1.0 - (std::f64::consts::PI * i as f64 / wanted as f64).cos()) / 2.0;
            let even = i as f64 / wanted as f64;
            // Half graded, half even: dense at the ends without starving the middle.
            ((0.5 * graded + 0.5 * even) * grid.intervals() as f64).round() as usize
        })
        .collect();
    nodes.dedup();
    nodes.into_iter().map(|i| grid.node(i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{
        kernel::{KernelFamily, tests::FAMILIES},
        table::LinkMoments,
    };

    fn norm(w: &[f64]) -> f64 {
        linalg::dot(w, w).sqrt()
    }

    #[test]
    fn the_table_agrees_with_direct_evaluation() {
        for &family in FAMILIES {
            for (bandwidth, half_width) in [(0.5, 0.1), (0.2, 1.0), (2.0, 3.0)] {
                let kernel = Kernel::try_new(family, bandwidth).unwrap();
                let space = LinkSpace::build(kernel, half_width).unwrap();
                // A random link: sections at a few places, so that its norm is honest.
                let mut weights = vec![0.0; space.dimension()];
                for i in 0..7 {
                    let x = half_width * (0.9 * (i as f64 * 2.3).sin());
                    linalg::add_scaled(&mut weights, (i as f64).cos(), &space.coordinates(x));
                }
                let table = space.table(&weights);
                for i in 0..211 {
                    let x = half_width * ((i as f64) / 105.0 - 1.0);
                    let jets = space.basis.jets(x);
                    let value: f64 = jets.iter().zip(&weights).map(|(j, w)| j.value * w).sum();
                    let slope: f64 = jets.iter().zip(&weights).map(|(j, w)| j.slope * w).sum();
                    let (table_value, table_slope) = table.value_and_slope(x);
                    let scale = norm(&weights);
                    assert!((table_value - value).abs() <= 1e-10 * scale, "{family:?} {bandwidth}");
                    let slope_gap = (table_slope - slope).abs() * bandwidth;
                    assert!(slope_gap <= 1e-10 * scale, "{family:?} {bandwidth} {slope_gap:e}");
                }
            }
        }
    }

    #[test]
    fn sums_by_moments_agree_with_direct_sums() {
        let kernel = Kernel::try_new(KernelFamily::Gaussian, 0.4).unwrap();
        let space = LinkSpace::build(kernel, 1.0).unwrap();
        let scores: Vec<f64> = (0..50).map(|i| (i as f64 * 1.7).sin()).collect();
        let (mut linear, mut square) =
            (LinearMoments::zero(space.grid()), GramMoments::zero(space.grid()));
        let m = space.dimension();
        let mut direct_sum = vec![0.0; m];
        let mut direct_gram = Mat::<f64>::zeros(m, m);
        for (i, &x) in scores.iter().enumerate() {
            let weight = (i as f64).cos();
            linear.add(x, weight);
            square.add(x, 1.0);
            let psi = space.coordinates(x);
            linalg::add_scaled(&mut direct_sum, weight, &psi);
            for a in 0..m {
                for b in 0..m {
                    direct_gram[(a, b)] += psi[a] * psi[b];
                }
            }
        }
        let sum = space.weighted_sum(&linear);
        let gram = space.gram(&square);
        for a in 0..m {
            assert!((sum[a] - direct_sum[a]).abs() < 1e-9);
            for b in 0..m {
                assert!((gram[(a, b)] - direct_gram[(a, b)]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn sums_on_the_thin_grid_are_right_to_some_millionths() {
        for &family in FAMILIES {
            let space = LinkSpace::build(Kernel::try_new(family, 0.4).unwrap(), 1.0).unwrap();
            let scores: Vec<f64> = (0..300).map(|i| (i as f64 * 1.7).sin()).collect();
            let targets: Vec<f64> = scores.iter().map(|x| (3.0 * x).cos()).collect();
            let sums = |grid: Grid| {
                let mut moments = LinkMoments::zero(grid);
                moments.add(&scores, &targets);
                let (plain, weighted) = moments.scaled(0.5);
                (space.gram(&plain), space.weighted_sum(&weighted))
            };
            assert!(space.thin_grid().intervals() * THINNED == space.grid().intervals());
            let ((gram, sum), (thin_gram, thin_sum)) =
                (sums(space.grid()), sums(space.thin_grid()));
            for a in 0..space.dimension() {
                assert!((sum[a] - thin_sum[a]).abs() < 150.0 * 1e-5, "{family:?}");
                for b in 0..space.dimension() {
                    assert!((gram[(a, b)] - thin_gram[(a, b)]).abs() < 150.0 * 1e-5, "{family:?}");
                }
            }
            assert!((gram[(0, 0)] - thin_gram[(0, 0)]).abs() > 0.0, "not a thinner grid");
        }
    }

    #[test]
    fn the_nearest_element_to_a_smooth_function_is_close_to_it() {
        let kernel = Kernel::try_new(KernelFamily::Gaussian, 1.0).unwrap();
        let space = LinkSpace::build(kernel, 2.0).unwrap();
        let table = space.table(&space.nearest(|x| 1.0 / (1.0 + (-x).exp())).unwrap());
        for i in 0..=40 {
            let x = i as f64 * 0.1 - 2.0;
            assert!((table.value_and_slope(x).0 - 1.0 / (1.0 + (-x).exp())).abs() < 1e-4);
        }
    }
}
