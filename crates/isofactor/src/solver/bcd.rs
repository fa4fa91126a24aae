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

use std::collections::VecDeque;

use super::Stop;
use crate::{
    config::{Keep, Order},
    error::Result,
    factors::Factors,
    link::Link,
    monitor::{Flow, TraceRow},
    steps::{Problem, State, StepLength},
};

/// How long to run and what to return.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Which block moves first.
    pub order: Order,
    /// How many iterations at most.
    pub iterations: usize,
    /// With backtracking: the share of the objective below which ten iterations are too little.
    pub tolerance: f64,
    /// The iterate to return when validation errors are known.
    pub keep: Keep,
}

/// Where a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// The iterate to keep.
    pub state: State,
    /// Which iteration it is from.
    pub kept: usize,
    /// How many iterations were made.
    pub iterations: usize,
    /// Why it ended.
    pub stop: Stop,
}

/// Sees every iterate; its answer may end the run.
pub trait Watch {
    /// The trace of this iterate, and whether to go on.
    fn see(
        &mut self,
        iteration: usize,
        problem: &Problem<'_>,
        state: &State,
    ) -> Result<(TraceRow, Flow)>;
}

/// An objective this many times that of the start, or of predicting zero, will not come back.
const HOPELESS: f64 = 1e6;
/// How many iterations must together lower the objective by more than the tolerance.
const PATIENCE: usize = 10;

/// Runs Algorithm 1 from `state`, whose factors are already projected.
pub fn run(
    problem: &mut Problem<'_>,
    mut state: State,
    run: &Run,
    watch: &mut dyn Watch,
) -> Result<Outcome> {
    let mut best = Best::new(run.keep);
    let mut recent = VecDeque::from([state.value.total()]);
    let (row, mut flow) = watch.see(0, problem, &state)?;
    best.offer(problem, &row, &state);
    let scale = state.value.total().max(problem.objective.of_zero(&problem.entries));
    let mut iterations = 0;
    let stop = loop {
        if flow == Flow::Cancel {
            break Stop::Cancelled;
        }
        if iterations == run.iterations {
            break Stop::IterationLimit;
        }
        iterations += 1;
        problem.begin_iteration(iterations);
        let moved = match run.order {
            Order::FactorsFirst => {
                problem.step_factors(&mut state)? | problem.step_link(&mut state)?
            }
            Order::LinkFirst => {
                problem.step_link(&mut state)? | problem.step_factors(&mut state)?
            }
        };
        let objective = state.value.total();
        if objective > HOPELESS * scale {
            return Err(problem.diverged(objective).into());
        }
        let row;
        (row, flow) = watch.see(iterations, problem, &state)?;
        best.offer(problem, &row, &state);
        if !moved || settled(problem, &state, &mut recent, run.tolerance) {
            break Stop::Converged;
        }
    };
    let mut kept = iterations;
    if let Some((_, iteration, factors, link)) = best.held {
        state = problem.state(factors, link)?;
        kept = iteration;
    }
    problem.bring_inside(&mut state)?;
    Ok(Outcome { state, kept, iterations, stop })
}

/// Whether the last iterations hardly lowered the objective. Fixed steps are the user's to end.
fn settled(
    problem: &Problem<'_>,
    state: &State,
    recent: &mut VecDeque<f64>,
    tolerance: f64,
) -> bool {
    let objective = state.value.total();
    recent.push_back(objective);
    if recent.len() <= PATIENCE {
        return false;
    }
    let before = recent.pop_front().unwrap_or(objective);
    let searching = |step| matches!(step, StepLength::Backtracking { .. });
    searching(problem.factor_step)
        && (state.link.learned().is_none() || searching(problem.link_step))
        && (0.0..=tolerance * objective.abs()).contains(&(before - objective))
}

/// The iterate with the smallest validation error so far, if that is the one to keep.
struct Best {
    keep: Keep,
    held: Option<(f64, usize, Factors, Link)>,
}

impl Best {
    fn new(keep: Keep) -> Self {
        Self { keep, held: None }
    }

    fn offer(&mut self, problem: &Problem<'_>, row: &TraceRow, state: &State) {
        let Some(error) = row.validation_rmse.filter(|_| self.keep == Keep::Best) else { return };
        if problem.is_inside(state) && self.held.as_ref().is_none_or(|(least, ..)| error < *least) {
            let (factors, link) = (state.factors.clone(), state.link.clone());
            self.held = Some((error, row.iteration, factors, link));
        }
    }
}
