//! Kernel sections `K(x, c)` with all digits, looked up where `x` and `c` are nodes of one grid.
//!
//! `K` depends on `|x - c|` alone, and that is `k d` between nodes `k` apart, up to the rounding of the nodes. A
//! table of as many values as there are nodes stands for those of all pairs; what rounding makes of a distance,
//! `e = |x - c| - k d`, is made good by
//!
//! ```text
//! K(k d + e) = K(k d) + e K'(k d) + e^2 K''(k d) / 2 + O((e / h)^3).
//! ```

use super::{
    kernel::{Jet, Kernel},
    table::Grid,
};
use crate::linalg::{Extended, Real};

/// The largest `e` that is made good, in bandwidths: its cube is far below the last digit.
const ROUNDING: f64 = 1e-12;

/// The sections of a kernel, with those between the nodes of a grid in a table.
#[derive(Debug, Clone)]
pub(crate) struct Sections {
    kernel: Kernel,
    /// `d`
    spacing: Extended,
    /// `K(k d)`, `K'(k d)` and `K''(k d)`
    jets: Vec<Jet<Extended>>,
}

impl Sections {
    pub fn new(kernel: Kernel, grid: Grid) -> Self {
        let spacing =
            Extended::from(2.0 * grid.half_width()) / Extended::from(grid.intervals() as f64);
        let jets = (0..grid.nodes())
            .map(|k| kernel.jet(Extended::from(k as f64) * spacing, 0.0))
            .collect();
        Self { kernel, spacing, jets }
    }

    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// `K(x, c)`
    pub fn at(&self, x: f64, c: f64) -> Extended {
        let distance = (Extended::from(x) - Extended::from(c)).abs();
        let steps = (distance.to_f64() / self.spacing.to_f64()).round();
        let e = distance - Extended::from(steps) * self.spacing;
        match self.jets.get(steps as usize) {
            Some(jet) if e.to_f64().abs() <= ROUNDING * self.kernel.bandwidth => {
                let half = Extended::from(0.5);
                jet.value + e * (jet.slope + half * e * jet.curvature)
            }
            _ => self.kernel.section(Extended::from(x), c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::kernel::tests::FAMILIES;

    /// Half widths whose nodes are rounded, and two numbers that are no nodes.
    #[test]
    fn sections_from_the_table_are_those_of_the_kernel() {
        for &family in FAMILIES {
            for (bandwidth, half_width, intervals) in [(0.3, 1.7, 96), (0.05, 2.0 / 3.0, 400)] {
                let kernel = Kernel::try_new(family, bandwidth).unwrap();
                let grid = Grid::new(half_width, intervals);
                let sections = Sections::new(kernel, grid);
                let nodes = (0..grid.nodes()).map(|node| grid.node(node));
                let places: Vec<f64> = nodes.chain([0.1234, 3.0 * half_width]).collect();
                for &x in &places {
                    for &c in places.iter().step_by(7) {
                        let direct = kernel.section(Extended::from(x), c);
                        let gap = (sections.at(x, c) - direct).to_f64().abs();
                        assert!(gap <= 1e-30, "{family:?} h={bandwidth} x={x} c={c}: {gap:e}");
                    }
                }
            }
        }
    }
}
