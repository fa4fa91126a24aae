//! The factor step: `Z <- P_C(Z - zeta grad_Z L(phi, Z))`.

use super::{MOST_HALVINGS, Problem, State, StepLength, WILD, project::project_factors};
use crate::{error::Result, factors::Factors, link::Link, passes::Need};

impl Problem<'_> {
    /// Moves the factors. False when no step of any length lowers the objective.
    pub fn step_factors(&mut self, state: &mut State) -> Result<bool> {
        if state.evaluated.pulls().is_none() {
            self.evaluate(state, Need::Pulls)?;
        }
        let Some(pulls) = state.evaluated.pulls() else { return Ok(false) };
        let gradient = self.objective.factor_gradient(&self.entries, &state.factors, pulls);
        match self.factor_step {
            StepLength::Fixed(step) => {
                state.factors = self.stepped(&state.factors, step, &gradient);
                let largest = self.entries.scores(&state.factors, &mut state.scores);
                state.link = self.covering(state.link.clone(), largest)?;
                self.evaluate(state, after_factors(&state.link))?;
                Ok(true)
            }
            StepLength::Backtracking { last } => self.search_factors(state, &gradient, last),
        }
    }

    /// `P_C(Z - zeta G)`
    fn stepped(&self, factors: &Factors, step: f64, gradient: &Factors) -> Factors {
        let mut moved = factors.moved(-step, gradient);
        if let Some(radius) = self.radius {
            project_factors(&mut moved, radius);
        }
        moved
    }

    fn search_factors(
        &mut self,
        state: &mut State,
        gradient: &Factors,
        last: Option<f64>,
    ) -> Result<bool> {
        let length = gradient.norm();
        let first = last.map_or_else(|| 0.1 * state.factors.norm() / length, |step| 2.0 * step);
        if !first.is_finite() {
            return Ok(false);
        }
        let mut step = first;
        for _ in 0..MOST_HALVINGS {
            let factors = self.stepped(&state.factors, step, gradient);
            let moved = factors.moved(-1.0, &state.factors);
            let distance = moved.inner(&moved);
            let promised = gradient.inner(&moved) + distance / (2.0 * step);
            let before = state.value.of_factors();
            if self.try_factors(state, factors, before + promised.min(0.0)) {
                // A step that changes nothing says nothing about the next one's length.
                if distance.sqrt() * length > 1e-14 * before {
                    self.factor_step = StepLength::Backtracking { last: Some(step) };
                }
                return Ok(distance > 0.0);
            }
            step /= 2.0;
        }
        Ok(false)
    }

    /// Takes the factors if they bring the objective down to `allowed`; not if they fling the
    /// scores out of all proportion.
    fn try_factors(&mut self, state: &mut State, factors: Factors, allowed: f64) -> bool {
        let (mut scores, mut evaluated) = std::mem::take(&mut self.spare);
        let largest = self.entries.scores(&factors, &mut scores);
        let reach = state.link.learned().map_or(f64::INFINITY, |l| WILD * l.space().half_width());
        // A domain too wide for any basis is a trial too long as well.
        let link =
            if largest <= reach { self.covering(state.link.clone(), largest).ok() } else { None };
        let Some(link) = link else {
            self.spare = (scores, evaluated);
            return false;
        };
        self.entries.evaluate(&scores, &link, after_factors(&link), &mut evaluated);
        let value = self.objective.value(&self.entries, &factors, &link, &evaluated);
        let good = value.of_factors() <= allowed && value.total() <= state.value.total();
        if good {
            (state.factors, state.link, state.value) = (factors, link, value);
            std::mem::swap(&mut state.scores, &mut scores);
            std::mem::swap(&mut state.evaluated, &mut evaluated);
        }
        self.spare = (scores, evaluated);
        good
    }
}

/// What follows a step of the factors: a step of the link, if it is learned.
fn after_factors(link: &Link) -> Need {
    match link {
        Link::Known(_) => Need::Pulls,
        Link::Learned(_) => Need::Moments,
    }
}
