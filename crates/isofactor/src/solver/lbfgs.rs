//! Variable projection with limited-memory BFGS: the paper's objective, penalties and constraints,
//! in a twentieth of the time of Algorithm 1.
//!
//! ```text
//! Z_0 <- P_C(Z_0)
//! for t = 0, 1, ...
//!     phi_t   <- argmin_phi L(phi, Z_t)        within the slope bounds
//!     Z_{t+1} <- P_C(Z_t - s H_t grad_Z L(phi_t, Z_t))
//! ```
//!
//! A known link stays as it is. See [`steps::quasi_newton`](crate::steps) for `H_t` and `s`.
//!
//! What else was tried on MovieLens, in passes over the entries until the objective is as low as
//! after 5,000 iterations of Algorithm 1: momentum on Algorithm 1's steps 500 to 650; factors and
//! link coordinates together in one memory more than 250; joint Gauss-Newton steps by conjugate
//! gradients, each row and column with its own preconditioner, 900; half-steps of rows and columns
//! in turn stay a sixth above it. With the link at its best about 200, and about 100 with P_C.

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
    let first =
        std::env::var("FIRST").ok().and_then(|x| x.parse().ok()).unwrap_or(FIRST_ITERATIONS);
    if iteration <= first && bcd::iterate(problem, state, Order::FactorsFirst)? {
        return Ok(true);
    }
    problem.step_jointly(state)
}
