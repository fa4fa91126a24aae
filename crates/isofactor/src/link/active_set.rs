//! The active bounds of the search for the nearest link with bounded slopes, and their factors.

use super::monotone::{Bound, SlopeProgram};
use crate::{
    linalg::{add_scaled, dot},
    products,
};

/// A normal whose part outside the active ones is shorter than this depends on them.
const DEPENDENT: f64 = 1e-10;

/// An active bound with its multiplier.
pub(super) struct Active {
    pub bound: Bound,
    pub normal: Vec<f64>,
    level: f64,
    pub multiplier: f64,
}

/// The point that solves the problem for the active bounds alone: `w = w0 + sum_j u_j n_j`.
pub(super) struct Search {
    pub point: Vec<f64>,
    pub active: Vec<Active>,
    /// Orthonormal columns that span the active normals, `N = Q R`.
    q: Vec<Vec<f64>>,
    /// Columns of the upper triangular `R`.
    r: Vec<Vec<f64>>,
}

impl Search {
    /// The factors of bounds, as far as the program has them; nothing has moved yet.
    pub fn holding(program: &SlopeProgram<'_>, start: &[f64], bounds: &[Bound]) -> Self {
        let mut search = Search { point: start.to_vec(), active: vec![], q: vec![], r: vec![] };
        for &bound in bounds.iter().filter(|b| b.row < program.rows.len()) {
            let (normal, level) = program.half_space(bound);
            search.push(Active { bound, normal, level, multiplier: 0.0 });
        }
        search
    }

    /// Begins with bounds that were active before, as far as their multipliers are positive.
    pub fn resume(program: &SlopeProgram<'_>, start: &[f64], bounds: &[Bound]) -> Self {
        let mut search = Self::holding(program, start, bounds);
        loop {
            search.solve_multipliers(start);
            let Some(worst) = search.most_negative() else { break };
            search.remove(worst);
        }
        search.point = start.to_vec();
        for active in &search.active {
            add_scaled(&mut search.point, active.multiplier, &active.normal);
        }
        search
    }

    /// `u` with `N'(w0 + N u) = b`
    pub fn solve_multipliers(&mut self, start: &[f64]) {
        let gap: Vec<f64> = self.active.iter().map(|a| a.level - dot(&a.normal, start)).collect();
        let multipliers = self.back(&self.forward(&gap));
        for (active, multiplier) in self.active.iter_mut().zip(multipliers) {
            active.multiplier = multiplier;
        }
    }

    fn most_negative(&self) -> Option<usize> {
        (0..self.active.len())
            .filter(|&j| self.active[j].multiplier < 0.0)
            .min_by(|&a, &b| self.active[a].multiplier.total_cmp(&self.active[b].multiplier))
    }

    /// Moves until a violated bound holds, letting go of bounds that stand in the way. False when
    /// no feasible point exists.
    pub fn take_in(
        &mut self,
        bound: Bound,
        (normal, level): (Vec<f64>, f64),
        mut violation: f64,
    ) -> bool {
        let length = dot(&normal, &normal);
        let mut multiplier = 0.0;
        loop {
            let (direction, pull) = self.split(&normal);
            let outside = dot(&direction, &direction);
            let blocking = self.first_to_vanish(&pull);
            let dual = blocking.map_or(f64::INFINITY, |(_, length)| length);
            let dependent = outside <= DEPENDENT * DEPENDENT * length;
            let primal = if dependent { f64::INFINITY } else { violation / outside };
            let step = dual.min(primal);
            if !step.is_finite() {
                return false;
            }
            if !dependent {
                add_scaled(&mut self.point, step, &direction);
                violation -= step * outside;
            }
            for (active, pull) in self.active.iter_mut().zip(&pull) {
                active.multiplier -= step * pull;
            }
            multiplier += step;
            if primal <= dual {
                self.push(Active { bound, normal, level, multiplier });
                return true;
            }
            if let Some((which, _)) = blocking {
                self.remove(which);
            }
        }
    }

    /// The part of a normal outside the active ones, and the combination of them that makes up
    /// the rest.
    fn split(&self, normal: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (outside, coefficients) = self.orthogonalise(normal);
        (outside, self.back(&coefficients))
    }

    /// Which multiplier reaches zero first when moving against `pull`, and after how long a step.
    fn first_to_vanish(&self, pull: &[f64]) -> Option<(usize, f64)> {
        (0..self.active.len())
            .filter(|&j| pull[j] > 0.0)
            .map(|j| (j, self.active[j].multiplier.max(0.0) / pull[j]))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Gram-Schmidt, twice for orthogonality to the last digit.
    fn orthogonalise(&self, normal: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut outside = normal.to_vec();
        let mut coefficients = vec![0.0; self.q.len()];
        let q: Vec<&[f64]> = self.q.iter().map(|q| &q[..]).collect();
        for _ in 0..2 {
            let along = products::times(&q, &outside);
            add_scaled(&mut outside, -1.0, &products::transpose_times(&q, &along));
            add_scaled(&mut coefficients, 1.0, &along);
        }
        (outside, coefficients)
    }

    fn push(&mut self, active: Active) {
        let (mut outside, mut column) = self.orthogonalise(&active.normal);
        let length = dot(&outside, &outside).sqrt();
        if length <= DEPENDENT * dot(&active.normal, &active.normal).sqrt() {
            return;
        }
        outside.iter_mut().for_each(|x| *x /= length);
        column.push(length);
        self.q.push(outside);
        self.r.push(column);
        self.active.push(active);
    }

    /// Lets go of a bound. The columns of `R` after it then reach one row too far down: pairs of
    /// rows are turned, and with them pairs of columns of `Q`, until they do not.
    fn remove(&mut self, which: usize) {
        self.active.remove(which);
        self.r.remove(which);
        for j in which..self.r.len() {
            let (along, beyond) = (self.r[j][j], self.r[j][j + 1]);
            let length = along.hypot(beyond);
            let (c, s) = (along / length, beyond / length);
            let turn = |x: &mut f64, y: &mut f64| (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            for column in &mut self.r[j..] {
                let (above, below) = column.split_at_mut(j + 1);
                turn(&mut above[j], &mut below[0]);
            }
            self.r[j].truncate(j + 1);
            let (above, below) = self.q.split_at_mut(j + 1);
            above[j].iter_mut().zip(&mut below[0]).for_each(|(x, y)| turn(x, y));
        }
        self.q.pop();
    }

    /// `R^-1 c`
    fn back(&self, c: &[f64]) -> Vec<f64> {
        let mut x = c.to_vec();
        for j in (0..x.len()).rev() {
            x[j] /= self.r[j][j];
            let (above, rest) = x.split_at_mut(j);
            add_scaled(above, -rest[0], &self.r[j][..j]);
        }
        x
    }

    /// `R'^-1 c`
    fn forward(&self, c: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = Vec::with_capacity(c.len());
        for (j, right) in c.iter().enumerate() {
            let value = (right - dot(&self.r[j][..j], &x)) / self.r[j][j];
            x.push(value);
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Kernel, KernelFamily, LinkSpace, SlopeBounds};

    #[test]
    fn letting_go_of_a_bound_leaves_the_factors_of_the_others() {
        let kernel = Kernel::try_new(KernelFamily::Gaussian, 0.5).unwrap();
        let space = LinkSpace::build(kernel, 1.0).unwrap();
        let rows = space.slope_rows();
        let program = SlopeProgram::new(&rows, 1.0, SlopeBounds::INCREASING);
        let start = vec![0.0; space.dimension()];
        for which in [0, 2, 4] {
            let bounds = [1, 8, 4, 16, 12]
                .map(|part| Bound { row: part * rows.len() / 20, upper: part == 4 });
            let mut search = Search::holding(&program, &start, &bounds);
            search.remove(which);
            assert_eq!((search.active.len(), search.q.len(), search.r.len()), (4, 4, 4));
            for (j, active) in search.active.iter().enumerate() {
                assert_eq!(search.r[j].len(), j + 1);
                let mut product = vec![0.0; start.len()];
                for (q, r) in search.q.iter().zip(&search.r[j]) {
                    add_scaled(&mut product, *r, q);
                }
                let gap = product.iter().zip(&active.normal).map(|(a, b)| (a - b).abs());
                assert!(gap.fold(0.0, f64::max) < 1e-12);
                for (k, q) in search.q.iter().enumerate() {
                    assert!((dot(q, &search.q[j]) - f64::from(j == k)).abs() < 1e-12);
                }
            }
        }
    }
}
