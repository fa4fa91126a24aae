//! Variable projection with limited-memory BFGS: the paper's objective, penalties and constraints,
//! sooner than by Algorithm 1.
//!
//! ```text
//! for t = 0, 1, ...
//!     A_{t+1}        <- A_t - s H_t grad_A L       A: the factors of the side with fewer units
//!     B_{t+1}, phi_t <- about argmin_{B, phi} L    phi within the slope bounds
//! ```
//!
//! `steps/eliminate.rs` has that; `steps/joint.rs` has what is done with P_C, where only the link is
//! taken out. A known link stays as it is. docs/algorithm.md has what it brings
//! (`make bench-objective`) and what else was tried.

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
    let first = iteration <= FIRST_ITERATIONS && !problem.remembers_steps();
    if first && bcd::iterate(problem, state, Order::FactorsFirst)? {
        return Ok(true);
    }
    match problem.radius {
        Some(radius) => problem.step_jointly(state, radius),
        None => problem.step_eliminating(state),
    }
}
