//! Projected block coordinate descent in the kernel's space: the paper's Algorithm 1.
//!
//! ```text
//! Z_0 <- P_C(Z_0)
//! for t = 0, 1, ...
//!     Z_{t+1}   <- P_C(Z_t - zeta grad_Z L(phi_t, Z_t))
//!     phi_{t+1} <- P_H(phi_t - eta grad_phi L(phi_t, Z_{t+1}))
//! ```
//!
//! or, link first (appendix B), the link with the old factors and then the factors with the new
//! link. A known link stays as it is.

use crate::{
    config::Order,
    error::Result,
    steps::{Problem, State, StepLength},
};

/// One iteration. False when nothing moves any more.
pub fn iterate(problem: &mut Problem<'_>, state: &mut State, order: Order) -> Result<bool> {
    let moved = match order {
        Order::FactorsFirst => problem.step_factors(state)? | problem.step_link(state)?,
        Order::LinkFirst => problem.step_link(state)? | problem.step_factors(state)?,
    };
    problem.make_exact(state)?;
    Ok(moved)
}

/// Whether all steps are searched for.
pub fn is_searching(problem: &Problem<'_>, state: &State) -> bool {
    let searching = |step| matches!(step, StepLength::Backtracking { .. });
    searching(problem.factor_step)
        && (state.link.learned().is_none() || searching(problem.link_step))
}
