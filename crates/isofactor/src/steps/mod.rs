//! One step of each block: state in, state out.

mod eliminate;
mod factor;
mod joint;
mod link;
mod memory;
pub mod project;
mod search;

use std::{borrow::Cow, sync::Arc};

use serde::{Deserialize, Serialize};

use eliminate::Sides;
use memory::Memory;

use crate::{
    error::{NumericalError, Result},
    factors::Factors,
    link::{Link, LinkSpace, SlopeBounds, monotone::ActiveBounds},
    objective::{Objective, ObjectiveValue},
    observations::{Shape, Side},
    passes::{Entries, Evaluated, Need},
};

/// Factors and link, with everything about them that the entries say.
#[derive(Debug, Clone)]
pub struct State {
    /// `Z`
    pub factors: Factors,
    /// `Z'DZ`
    pub imbalance: Vec<f64>,
    /// `phi`
    pub link: Link,
    /// `x_k`
    pub scores: Vec<f64>,
    /// What the last pass with the link found.
    pub evaluated: Evaluated,
    /// The objective, the last time that all residuals were looked at: where a step of the factors was weighed by
    /// counts of scores alone, that of the factors before.
    pub value: ObjectiveValue,
}

impl State {
    /// What a checkpoint holds of it.
    pub(crate) fn stored(&self) -> StoredState<'_> {
        let need = match (&self.evaluated.pull, &self.evaluated.counts) {
            (Some(_), _) => Need::Pull,
            (_, Some(_)) => Need::Counts,
            _ => Need::Nothing,
        };
        StoredState {
            factors: Cow::Borrowed(&self.factors),
            link: Cow::Borrowed(&self.link),
            value: self.value,
            squares: self.evaluated.squares.unwrap_or(f64::NAN),
            need,
        }
    }
}

/// A state without what the entries say of it, and which pass found that.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredState<'a> {
    factors: Cow<'a, Factors>,
    link: Cow<'a, Link>,
    value: ObjectiveValue,
    squares: f64,
    need: Need,
}

/// How long a block's steps are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum StepLength {
    /// Always this long.
    Fixed(f64),
    /// As long as the last one, or twice as long where that one left room, and halved until the
    /// objective decreases enough.
    Backtracking {
        /// The length to begin with, once there was a good one.
        first: Option<f64>,
    },
}

impl StepLength {
    /// Backtracking that has not begun.
    pub const SEARCH: StepLength = StepLength::Backtracking { first: None };
}

/// What a step of some length promises, and how much of that must hold.
///
/// A move `m` along `-g`, projected, is short enough where the objective bends along it no more
/// than `1/step`:
///
/// ```text
/// L(z + m) <= L(z) + <g, m> + |m|^2 / (2 step)
/// ```
#[derive(Debug, Clone, Copy)]
struct Promise {
    step: f64,
    /// `L(z)`
    before: f64,
    /// `<g, m>`
    along: f64,
    /// `|m|^2`
    squares: f64,
}

impl Promise {
    /// How large the objective may be after the step.
    fn allowed(&self) -> f64 {
        self.before + (self.along + self.squares / (2.0 * self.step)).min(0.0)
    }

    /// The length to begin the next search with: twice this one where that would have been short
    /// enough too, as the objective bends along the move.
    fn next(&self, after: f64) -> StepLength {
        let twice = 2.0 * self.step;
        let first = if twice <= self.longest(after) { twice } else { self.step };
        StepLength::Backtracking { first: Some(first) }
    }

    /// The length to try after a refusal: half of this one, and on until short enough, as the
    /// objective bends along the move. Not too far at once: on a long move it may bend far more
    /// than on a short one.
    fn shorter(&self, refused: f64) -> f64 {
        let (longest, shortest) = (self.longest(refused), self.step / MOST_SHORTENING);
        let mut step = self.step / 2.0;
        while step > longest && step > shortest {
            step /= 2.0;
        }
        step
    }

    /// The longest step that is short enough where the objective is a parabola along the move.
    fn longest(&self, after: f64) -> f64 {
        let bend = 2.0 * (after - self.before - self.along) / self.squares;
        if bend > 0.0 { 1.0 / bend } else { f64::INFINITY }
    }
}

/// What the steps so far leave for the next ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pace<'a> {
    factor_step: StepLength,
    link_step: StepLength,
    active: Cow<'a, ActiveBounds>,
    memory: Cow<'a, Memory>,
}

/// How many lengths are tried before the block is taken to be at rest.
const MOST_TRIALS: usize = 60;
/// How many times shorter a step may become by one refusal.
const MOST_SHORTENING: f64 = 16.0;
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
    memory: Memory,
    /// The entries of each row and column, once a step needed them.
    sides: Option<Sides<'a>>,
    /// A space with a wider domain that was tried.
    wider: Option<Arc<LinkSpace>>,
    iteration: usize,
    /// What the pass of a trial found.
    trial: Evaluated,
    /// Factors that are no longer needed, for those of the next trial.
    spare: Option<Factors>,
    /// The data term of predicting zero everywhere.
    of_zero: f64,
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
        let of_zero = objective.of_zero(&entries);
        Self {
            entries,
            objective,
            radius,
            bounds,
            factor_step,
            link_step,
            active: ActiveBounds::default(),
            memory: Memory::default(),
            sides: None,
            wider: None,
            iteration: 0,
            trial: Evaluated::default(),
            spare: None,
            of_zero,
        }
    }

    /// Tells the problem which iteration it is in, for its error messages.
    pub fn begin_iteration(&mut self, iteration: usize) {
        self.iteration = iteration;
    }

    /// The state at given factors and link.
    pub fn state(&mut self, factors: Factors, link: Link) -> Result<State> {
        let mut state = State {
            imbalance: factors.imbalance(),
            factors,
            link,
            scores: Vec::new(),
            evaluated: Evaluated::default(),
            value: ObjectiveValue::default(),
        };
        self.score(&mut state, Need::Nothing)?;
        Ok(state)
    }

    /// What the steps so far leave for the next ones.
    pub fn pace(&self) -> Pace<'_> {
        Pace {
            factor_step: self.factor_step,
            link_step: self.link_step,
            active: Cow::Borrowed(&self.active),
            memory: Cow::Borrowed(&self.memory),
        }
    }

    /// The state of a checkpoint, to the last digit: what the entries say is found again by the
    /// passes that found it. None where it does not fit the entries.
    pub(crate) fn restore(&mut self, stored: StoredState<'_>, pace: Pace<'_>) -> Option<State> {
        let StoredState { factors, link, value, squares, need } = stored;
        let (factors, link) = (factors.into_owned(), link.into_owned());
        let nodes = link.learned().map_or(0, |link| link.space().grid().nodes());
        let fits = factors.shape() == self.entries.observations().shape()
            && pace.memory.fits(self.remembered(factors.shape()), factors.rank())
            && !matches!(link, Link::Tabulated(_))
            && (pace.active.fit(nodes) || link.learned().is_none());
        if !fits {
            return None;
        }
        let (mut scores, mut evaluated) = (Vec::new(), Evaluated::default());
        let largest = self.entries.scores(&factors, &mut scores);
        if !self.covers(&link, largest).unwrap_or(false) {
            return None;
        }
        self.entries.evaluate(&factors, &scores, &link, need, &mut evaluated);
        // Passes for different needs add the same squares in different orders.
        evaluated.squares = Some(squares);
        (self.factor_step, self.link_step) = (pace.factor_step, pace.link_step);
        (self.active, self.memory) = (pace.active.into_owned(), pace.memory.into_owned());
        let imbalance = factors.imbalance();
        Some(State { factors, imbalance, link, scores, evaluated, value })
    }

    /// Whether a quasi-Newton step was made.
    pub(crate) fn remembers_steps(&self) -> bool {
        !self.memory.is_new()
    }

    /// The shape of the steps that are remembered.
    fn remembered(&self, shape: Shape) -> Shape {
        match (self.radius, eliminate::kept(shape)) {
            (Some(_), _) => shape,
            (None, Side::Rows) => Shape { columns: 0, ..shape },
            (None, Side::Columns) => Shape { rows: 0, ..shape },
        }
    }

    /// Finds the scores of a state's factors and passes over them with its link, on a wider
    /// domain where they need one.
    fn score(&mut self, state: &mut State, need: Need) -> Result<()> {
        let State { factors, link, scores, evaluated, .. } = state;
        let largest = self.entries.score_and_evaluate(factors, scores, link, need, evaluated);
        if !self.covers(link, largest)? {
            *link = self.covering(link, largest)?;
            self.entries.evaluate(factors, scores, link, need, evaluated);
        }
        self.value(state)
    }

    /// Passes over the scores of a state with its link, which is another than before; the factors
    /// are the same.
    fn evaluate(&self, state: &mut State, need: Need) -> Result<()> {
        let State { factors, link, scores, evaluated, .. } = state;
        self.entries.evaluate(factors, scores, link, need, evaluated);
        self.value(state)
    }

    /// Looks at all residuals of a state where the last step only counted its entries.
    pub fn make_exact(&self, state: &mut State) -> Result<()> {
        if state.evaluated.squares.is_some() {
            return Ok(());
        }
        let State { factors, link, scores, evaluated, .. } = state;
        self.entries.add_squares(factors, scores, link, evaluated);
        self.value(state)
    }

    /// The objective of a state after a pass, if that looked at all residuals.
    fn value(&self, state: &mut State) -> Result<()> {
        let State { imbalance, link, evaluated, .. } = &*state;
        let Some(squares) = evaluated.squares else { return Ok(()) };
        state.value = self.objective.value(&self.entries, imbalance, link, squares);
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

    /// A space whose domain covers scores up to `largest`. It is remembered: a trial that is
    /// refused is mostly followed by one that asks for it again.
    fn wider_space(&mut self, space: &LinkSpace, largest: f64) -> Result<Arc<LinkSpace>> {
        let half_width = space.half_width_for(largest);
        let known = self.wider.take().filter(|wider| wider.half_width() == half_width);
        let wider = match known {
            Some(wider) => wider,
            None => Arc::new(LinkSpace::build(space.kernel(), half_width)?),
        };
        Ok(self.wider.insert(wider).clone())
    }

    /// The link on a domain that covers scores up to `largest`.
    fn covering(&mut self, link: &Link, largest: f64) -> Result<Link> {
        match link {
            Link::Learned(link) => {
                let wider = self.wider_space(link.space(), largest)?;
                Ok(Link::Learned(link.carried_to(wider)))
            }
            link => Ok(link.clone()),
        }
    }

    pub(crate) fn diverged(&self, objective: f64) -> NumericalError {
        match self.iteration {
            0 => NumericalError::BadStart,
            iteration => NumericalError::Diverged { iteration, objective },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A move against the gradient `g = 1` of a parabola that bends by `bend`, and where it leads.
    fn along_parabola(step: f64, bend: f64) -> (Promise, f64) {
        let promise = Promise { step, before: 3.0, along: -step, squares: step * step };
        (promise, 3.0 - step + 0.5 * bend * step * step)
    }

    #[test]
    fn steps_are_taken_doubled_and_shortened_as_a_parabola_bends() {
        let bend = 10.0;
        for step in [1e-3, 0.04, 0.06, 0.09, 0.11, 0.3, 1.0, 100.0] {
            let (promise, after) = along_parabola(step, bend);
            assert_eq!(after <= promise.allowed() + 1e-12, step * bend <= 1.0, "{step}");
            assert!((promise.longest(after) - 0.1).abs() < 1e-9);
            let StepLength::Backtracking { first } = promise.next(after) else { panic!() };
            assert_eq!(first, Some(if step * bend <= 0.5 { 2.0 * step } else { step }));
            let shorter = promise.shorter(after);
            let halvings = (step / shorter).log2();
            assert!(halvings >= 1.0 && halvings.fract() == 0.0);
            assert!(shorter <= 0.1 || shorter == step / MOST_SHORTENING);
            assert!(halvings == 1.0 || 2.0 * shorter > 0.1);
        }
    }

    #[test]
    fn a_step_that_leads_nowhere_known_is_halved() {
        let (promise, _) = along_parabola(0.5, 1.0);
        assert_eq!(promise.shorter(f64::NAN), 0.25);
        assert_eq!(promise.shorter(f64::INFINITY), 0.5 / MOST_SHORTENING);
    }
}
