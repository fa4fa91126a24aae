//! Variable projection with limited-memory BFGS: the paper's objective, penalties and constraints,
//! sooner than by Algorithm 1.
//!
//! ```text
//! Z_0 <- P_C(Z_0)
//! for t = 0, 1, ...
//!     phi_t   <- argmin_phi L(phi, Z_t)        within the slope bounds
//!     Z_{t+1} <- P_C(Z_t - s H_t grad_Z L(phi_t, Z_t))
//! ```
//!
//! A known link stays as it is. `steps/quasi_newton.rs` has `H_t` and `s`; docs/algorithm.md has what
//! it brings (`make bench-objective`) and what else was tried.

use super::bcd;
use crate::{
    config::Order,
    error::Result,
    steps::{Problem, State},
};

/// How many iterations of Algorithm 1 come first.
///
/// The best link for a spectral start may bend to fit what is wrong with it, and then holds the
/// factors there; the first steps of Algorithm 1 leave the link nearly straight meanwhile.
const FIRST_ITERATIONS: usize = 20;

/// One iteration. False when nothing moves any more.
pub fn iterate(problem: &mut Problem<'_>, state: &mut State, iteration: usize) -> Result<bool> {
    if iteration <= FIRST_ITERATIONS && bcd::iterate(problem, state, Order::FactorsFirst)? {
        return Ok(true);
    }
    match problem.radius {
        Some(_) => problem.step_jointly(state),
        None => problem.step_eliminating(state),
    }
}
