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
    /// What the pass of a trial found.
    trial: Evaluated,
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
            trial: Evaluated::default(),
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
        self.score(&mut state, Need::Nothing)?;
        Ok(state)
    }

    /// Finds the scores of a state's factors and passes over them with its link, on a wider
    /// domain where they need one.
    fn score(&self, state: &mut State, need: Need) -> Result<()> {
        let State { factors, link, scores, evaluated, .. } = state;
        let largest = self.entries.score_and_evaluate(factors, scores, link, need, evaluated);
        if self.covers(link, largest)? {
            return self.value(state);
        }
        *link = self.covering(link.clone(), largest)?;
        self.evaluate(state, need)
    }

    /// Passes over the scores of a state with its link.
    fn evaluate(&self, state: &mut State, need: Need) -> Result<()> {
        let State { factors, link, scores, evaluated, .. } = state;
        self.entries.evaluate(factors, scores, link, need, evaluated);
        self.value(state)
    }

    /// The objective of a state after a pass.
    fn value(&self, state: &mut State) -> Result<()> {
        state.value =
            self.objective.value(&self.entries, &state.factors, &state.link, &state.evaluated);
        let objective = state.value.total();
        if objective.is_finite() { Ok(()) } else { Err(self.diverged(objective).into()) }
    }

    /// Whether the link's domain covers scores up to `largest`.
    fn covers(&self, link: &Link, largest: f64) -> Result<bool> {
        if !largest.is_finite() {
            return Err(self.diverged(f64::NAN).into());
        }
        Ok(link.learned().is_none_or(|link| largest <= link.space().half_width()))
    }

    /// The link on a domain that covers scores up to `largest`.
    fn covering(&self, link: Link, largest: f64) -> Result<Link> {
        match link {
            Link::Learned(learned) => learned.widened(largest).map(Link::Learned),
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
