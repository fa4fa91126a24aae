//! A quasi-Newton step of all factors together, for factors that are projected.
//!
//! ```text
//! F(Z)   = min_phi L(phi, Z)              phi within the slope bounds
//! grad F = grad_Z L(phi_sharp(Z), Z)      at its best the link has no gradient of its own
//! Z     <- P_C(Z + t d),  d = -H grad F
//! ```
//!
//! with `H` the inverse Hessian that the last steps and changes of the gradient tell of
//! (limited-memory BFGS), and `t` shortened from 1 until `F` falls enough. With the link out of the
//! way the scale that factors and link share is settled at every step, which is what Algorithm 1
//! spends most of its iterations on.

use super::{
    Problem, State,
    project::turn_inward,
    search::{Attempt, Domain},
};
use crate::{
    error::Result,
    factors::{Factors, Turn},
    linalg,
    passes::Need,
};

/// The first step, as a share of the factors' length.
const FIRST: f64 = 0.1;

impl Problem<'_> {
    /// Moves the factors, and the link with them. False when no step of any length lowers the
    /// objective.
    pub fn step_jointly(&mut self, state: &mut State, radius: f64) -> Result<bool> {
        // Steps before the first one here leave a link that is not the best.
        if self.memory.is_new() || state.evaluated.pull.is_none() {
            self.best_from_here(state, Need::Pull)?;
        }
        let Some(pull) = state.evaluated.pull.take() else { return Ok(false) };
        let State { factors, imbalance, .. } = &*state;
        let descent = self.objective.factor_descent(&self.entries, factors, imbalance, pull);
        // What does not lead a row or column at the radius beyond it.
        let mut free = descent.clone();
        turn_inward(&mut free, &state.factors, radius);
        self.memory.learn(&free);
        let metric = metric(&state.factors)?;
        let mut found = None;
        if let Some(mut direction) = self.memory.direction(&free, |z| z.turned(&metric)) {
            turn_inward(&mut direction, &state.factors, radius);
            let domain = self.memory.domain();
            found = self.search_jointly(state, &descent, direction, domain);
        }
        if found.is_none() {
            found = self.step_straight(state, &descent, &free);
        }
        let Some((_, step)) = found else { return Ok(false) };
        self.memory.remember(step, free);
        Ok(true)
    }

    /// A step straight down, without a memory, on whatever domain.
    fn step_straight(
        &mut self,
        state: &mut State,
        descent: &Factors,
        free: &Factors,
    ) -> Option<(f64, Factors)> {
        self.memory.forget();
        let first = || FIRST * state.factors.norm() / free.norm();
        let length = self.memory.length.unwrap_or_else(first);
        let mut direction = free.clone();
        direction.scale(length);
        let (share, step) = self.search_jointly(state, descent, direction, Domain::MayGrow)?;
        self.memory.length = Some(share * length);
        Some((share, step))
    }

    /// Goes along a direction as far as it brings enough: the share of it, and the step.
    fn search_jointly(
        &mut self,
        state: &mut State,
        descent: &Factors,
        direction: Factors,
        domain: Domain,
    ) -> Option<(f64, Factors)> {
        self.search_along(
            state,
            direction,
            domain,
            Need::Pull,
            |problem, state, share, direction, _| {
                let mut factors = state.factors.moved(share, direction);
                problem.project(&mut factors);
                let step = factors.moved(-1.0, &state.factors);
                Attempt { factors, promised: descent.inner(&step), hemmed: false, along: step }
            },
        )
    }
}

/// `H_0`: what a memory of no steps says, `(V'V)^-1` for rows and `(U'U)^-1` for columns.
///
/// That is the curvature if all entries were observed and the link were straight (Tong, Ma and Chi
/// 2021): factors that explain little move as fast as those that explain most.
fn metric(factors: &Factors) -> Result<Turn> {
    let [of_rows, of_columns] = factors.squares();
    let rank = factors.rank();
    Ok(Turn { rows: inverse(&of_columns, rank)?, columns: inverse(&of_rows, rank)? })
}

/// A direction that explains less than this share of the best explained one is not told from it.
const LEAST_SHARE: f64 = 1e-6;

/// The inverse of the first rows and columns of a positive semidefinite matrix, row after row, the
/// rest zero; eigenvalues count as no smaller than [`LEAST_SHARE`] of the largest.
fn inverse(square: &[f64], rank: usize) -> Result<Vec<f64>> {
    let size = square.len().isqrt();
    let first = linalg::row_major(square, size, size).submatrix(0, 0, rank, rank);
    let (values, vectors) = linalg::symmetric_eigen(first)?;
    let largest = values.iter().fold(0.0f64, |a, &b| a.max(b));
    let least = (LEAST_SHARE * largest).max(f64::MIN_POSITIVE);
    let mut inverse = vec![0.0; square.len()];
    for (j, value) in values.iter().enumerate() {
        let vector = vectors.col_as_slice(j);
        for (row, v) in inverse.chunks_exact_mut(size).zip(vector) {
            linalg::add_scaled(&mut row[..rank], v / value.max(least), vector);
        }
    }
    Ok(inverse)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        config::LossScale,
        init::random_factors,
        link::{Kernel, KernelFamily, LearnedLink, Link, LinkSpace, SlopeBounds},
        objective::Objective,
        observations::{Observations, Shape},
        passes::Entries,
        steps::StepLength,
    };

    const SHAPE: Shape = Shape { rows: 30, columns: 20 };

    #[test]
    fn the_metric_undoes_the_squares() {
        let z = random_factors(SHAPE, 3, 5);
        let [columns, rows] = z.squares();
        let there = random_factors(SHAPE, 3, 6);
        let back = there.turned(&Turn { rows, columns }).turned(&metric(&z).unwrap());
        assert!(back.moved(-1.0, &there).norm() < 1e-9 * there.norm());
    }

    const OBJECTIVE: Objective =
        Objective { loss: LossScale::Sum, link_penalty: 0.1, balance_penalty: 0.5 };

    fn observations() -> Observations {
        let value = |i: usize, t: usize| {
            (i as f64 * 0.7).sin() * (t as f64 * 0.4).cos() + 0.1 * ((i * t) as f64).sin()
        };
        Observations::complete(SHAPE, value).unwrap()
    }

    fn space() -> Arc<LinkSpace> {
        let kernel = Kernel::try_new(KernelFamily::Gaussian, 0.5).unwrap();
        Arc::new(LinkSpace::build(kernel, 4.0).unwrap())
    }

    #[test]
    fn the_first_step_begins_with_the_best_link_whatever_was_found_before() {
        let (observations, space) = (observations(), space());
        let after_algorithm_1 = |forget: bool| {
            let (entries, search) = (Entries::new(&observations), StepLength::SEARCH);
            let mut problem = Problem::new(entries, OBJECTIVE, Some(9.0), None, search, search);
            let link = LearnedLink::new(space.clone(), space.nearest(|x| x).unwrap());
            let start = random_factors(SHAPE, 2, 1);
            let mut state = problem.state(start, Link::Learned(link)).unwrap();
            assert!(problem.step_factors(&mut state).unwrap());
            assert!(problem.step_link(&mut state).unwrap());
            assert!(state.evaluated.pull.is_some());
            if forget {
                state.evaluated.pull = None;
            }
            assert!(problem.step_jointly(&mut state, 9.0).unwrap());
            (state.factors, state.value)
        };
        assert_eq!(after_algorithm_1(false), after_algorithm_1(true));
    }

    #[test]
    fn the_descent_is_the_slope_of_the_objective_with_the_best_link() {
        let (observations, space, objective) = (observations(), space(), OBJECTIVE);
        for bounds in [None, Some(SlopeBounds::INCREASING)] {
            let search = StepLength::SEARCH;
            let entries = Entries::new(&observations);
            let mut problem = Problem::new(entries, objective, None, bounds, search, search);
            let mut best = |factors: Factors| {
                let link = Link::Learned(LearnedLink::zero(space.clone()));
                let mut state = problem.state(factors, link).unwrap();
                problem.best_from_here(&mut state, Need::Pull).unwrap();
                let pull = state.evaluated.pull.take().unwrap();
                let State { factors, imbalance, .. } = &state;
                let gradient = objective.factor_descent(&problem.entries, factors, imbalance, pull);
                (state.value.total(), gradient)
            };
            let (z, direction) = (random_factors(SHAPE, 2, 1), random_factors(SHAPE, 2, 2));
            let z = z.moved(-0.5, &z);
            let (_, descent) = best(z.clone());
            let step = 1e-4;
            let (ahead, behind) =
                (best(z.moved(step, &direction)), best(z.moved(-step, &direction)));
            let slope = (behind.0 - ahead.0) / (2.0 * step);
            let expected = descent.inner(&direction);
            assert!((slope - expected).abs() < 1e-3 * expected.abs(), "{slope} {expected}");
        }
    }
}
