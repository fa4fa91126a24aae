//! One step of each block: state in, state out.

mod factor;
mod link;
pub mod project;

use crate::{
    error::{NumericalError, Result},
    factors::Factors,
    link::{Link, SlopeBounds, monotone::ActiveBounds},
    objective::{Objective, ObjectiveValue},
    passes::{Entries, Evaluated, Need},
};

/// Factors and link, with everything about them that the entries say.
#[derive(Debug, Clone)]
pub struct State {
    /// `Z`
    pub factors: Factors,
    /// `phi`
    pub link: Link,
    /// `x_k`
    pub scores: Vec<f64>,
    /// What the last pass with the link found.
    pub evaluated: Evaluated,
    /// The objective.
    pub value: ObjectiveValue,
}

/// How long a block's steps are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepLength {
    /// Always this long.
    Fixed(f64),
    /// Twice the last one if that decreases the objective enough, else halved until it does.
    Backtracking {
        /// The last step that was good, once there was one.
        last: Option<f64>,
    },
}

impl StepLength {
    /// Backtracking that has not begun.
    pub const SEARCH: StepLength = StepLength::Backtracking { last: None };
}

/// How often a step is halved before the block is taken to be at rest.
const MOST_HALVINGS: usize = 60;
/// A trial that moves scores further than this many times the link's domain is too long.
const WILD: f64 = 4.0;

/// What the steps work on: the entries, the objective, the constraints, the step lengths.
#[derive(Debug)]
pub struct Problem<'a> {
    /// The entries.
    pub entries: Entries<'a>,
    /// The objective.
    pub objective: Objective,
    /// `beta`, if the factors are projected.
    pub radius: Option<f64>,
    /// `xi` and `Xi`, if the link is projected.
    pub bounds: Option<SlopeBounds>,
    /// `zeta`
    pub factor_step: StepLength,
    /// `eta`
    pub link_step: StepLength,
    active: ActiveBounds,
    iteration: usize,
    /// Room for the scores and the pass of a trial, kept because entries are many.
    spare: (Vec<f64>, Evaluated),
}

impl<'a> Problem<'a> {
    /// A problem whose steps have not begun.
    pub fn new(
        entries: Entries<'a>,
        objective: Objective,
        radius: Option<f64>,
        bounds: Option<SlopeBounds>,
        factor_step: StepLength,
        link_step: StepLength,
    ) -> Self {
        Self {
            entries,
            objective,
            radius,
            bounds,
            factor_step,
            link_step,
            active: ActiveBounds::default(),
            iteration: 0,
            spare: Default::default(),
        }
    }

    /// Tells the problem which iteration it is in, for its error messages.
    pub fn begin_iteration(&mut self, iteration: usize) {
        self.iteration = iteration;
    }

    /// The state at given factors and link.
    pub fn state(&self, factors: Factors, link: Link) -> Result<State> {
        let mut state = State {
            factors,
            link,
            scores: Vec::new(),
            evaluated: Evaluated::default(),
            value: ObjectiveValue::default(),
        };
        let largest = self.entries.scores(&state.factors, &mut state.scores);
        state.link = self.covering(state.link, largest)?;
        self.evaluate(&mut state, Need::Pulls)?;
        Ok(state)
    }

    /// Passes over the scores of a state with its link.
    fn evaluate(&self, state: &mut State, need: Need) -> Result<()> {
        self.entries.evaluate(&state.scores, &state.link, need, &mut state.evaluated);
        state.value =
            self.objective.value(&self.entries, &state.factors, &state.link, &state.evaluated);
        let objective = state.value.total();
        if objective.is_finite() { Ok(()) } else { Err(self.diverged(objective).into()) }
    }

    /// The link on a domain that covers scores up to `largest`.
    fn covering(&self, link: Link, largest: f64) -> Result<Link> {
        if !largest.is_finite() {
            return Err(self.diverged(f64::NAN).into());
        }
        match link {
            Link::Learned(link) if largest > link.space().half_width() => {
                link.widened(largest).map(Link::Learned)
            }
            link => Ok(link),
        }
    }

    pub(crate) fn diverged(&self, objective: f64) -> NumericalError {
        match self.iteration {
            0 => NumericalError::BadStart,
            iteration => NumericalError::Diverged { iteration, objective },
        }
    }
}
