//! The factor step: `Z <- P_C(Z - zeta grad_Z L(phi, Z))`.

use super::{MOST_HALVINGS, Problem, State, StepLength, WILD, project::project_factors};
use crate::{error::Result, factors::Factors};

impl Problem<'_> {
    /// Moves the factors. False when no step of any length lowers the objective.
    pub fn step_factors(&mut self, state: &mut State) -> Result<bool> {
        let gradient =
            self.objective.factor_gradient(&self.entries, &state.factors, &state.evaluated);
        match self.factor_step {
            StepLength::Fixed(step) => {
                let factors = self.stepped(&state.factors, step, &gradient);
                *state = self.state(factors, state.link.clone())?;
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
            if let Some(trial) = self.trial(factors, state)? {
                let moved = trial.factors.moved(-1.0, &state.factors);
                let distance = moved.inner(&moved);
                let promised = gradient.inner(&moved) + distance / (2.0 * step);
                let (before, after) = (state.value.total(), trial.value.total());
                if after <= before && after <= before + promised {
                    // A step that changes nothing says nothing about the next one's length.
                    if distance.sqrt() * length > 1e-14 * before {
                        self.factor_step = StepLength::Backtracking { last: Some(step) };
                    }
                    *state = trial;
                    return Ok(distance > 0.0);
                }
            }
            step /= 2.0;
        }
        Ok(false)
    }

    /// The state at trial factors; none when they fling the scores out of all proportion.
    fn trial(&self, factors: Factors, from: &State) -> Result<Option<State>> {
        let mut scores = Vec::new();
        let largest = self.entries.scores(&factors, &mut scores);
        let reach = from.link.learned().map_or(f64::INFINITY, |l| WILD * l.space().half_width());
        if !largest.is_finite() || largest > reach {
            return Ok(None);
        }
        let link = self.covering(from.link.clone(), largest)?;
        Ok(self.with_scores(factors, link, scores).ok())
    }
}
