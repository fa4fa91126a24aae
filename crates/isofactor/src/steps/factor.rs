//! The factor step: `Z <- P_C(Z - zeta grad_Z L(phi, Z))`.

use super::{
    MOST_TRIALS, Problem, Promise, State, StepLength, WILD,
    project::{project_factors, project_units},
};
use crate::{
    error::Result,
    factors::{Factors, combine},
    link::Link,
    objective::ObjectiveValue,
    passes::Need,
    simd::Lanes,
};

/// How much the squares of entries inside a domain may differ on a wider one, whose basis is another:
/// more than any kernel's tolerance makes of them.
const INSIDE: f64 = 1e-2;

/// How much of the promised fall of the objective counts of scores may be off, to tell whether it came.
const TELLING: f64 = 0.25;

impl Problem<'_> {
    /// Moves the factors. False when no step of any length lowers the objective.
    pub fn step_factors(&mut self, state: &mut State) -> Result<bool> {
        if state.evaluated.pull.is_none() {
            self.evaluate(state, Need::Pull)?;
        }
        let Some(pull) = state.evaluated.pull.take() else { return Ok(false) };
        let (objective, entries) = (&self.objective, &self.entries);
        let State { factors, imbalance, .. } = &*state;
        match self.factor_step {
            StepLength::Fixed(step) => {
                let project = self.projection(factors.rank());
                let (moved, imbalance) =
                    objective.factors_moved(step, entries, factors, imbalance, pull, project);
                let before = std::mem::replace(&mut state.factors, moved);
                state.imbalance = imbalance;
                state.evaluated.keep_room(before);
                self.score(state, after_factors(&state.link))?;
                // A given step may raise the objective, and a search for the link begins where it is.
                if let StepLength::Backtracking { .. } = self.link_step {
                    self.make_exact(state)?;
                }
                Ok(true)
            }
            StepLength::Backtracking { first } => {
                let gradient = objective.factor_gradient(entries, factors, imbalance, pull);
                self.trial.take_room(&mut state.evaluated);
                let moved = self.search_factors(state, &gradient, first);
                self.trial.keep_room(gradient);
                Ok(moved)
            }
        }
    }

    /// `P_C(Z - zeta G)`, and its imbalance.
    fn stepped(&mut self, factors: &Factors, step: f64, gradient: &Factors) -> (Factors, Vec<f64>) {
        let mut moved = match self.spare.take() {
            Some(spare) if spare.is_like(factors) => spare,
            _ => Factors::zeros(factors.shape(), factors.rank()),
        };
        let project = self.projection(factors.rank());
        let imbalance = moved.write(|side, first, part| {
            let [z, g] = [factors, gradient].map(|of| &of.held(side)[first..][..part.len()]);
            combine(part, z, -step, g);
            project(part);
        });
        (moved, imbalance)
    }

    /// `P_C`, if the factors are projected.
    pub(super) fn project(&self, factors: &mut Factors) {
        if let Some(radius) = self.radius {
            project_factors(factors, radius);
        }
    }

    /// `P_C` of some rows of `Z`, if the factors are projected.
    fn projection(&self, rank: usize) -> impl Fn(&mut [Lanes]) + Sync + Send + use<> {
        let radius = self.radius;
        move |units| radius.into_iter().for_each(|radius| project_units(units, rank, radius))
    }

    fn search_factors(
        &mut self,
        state: &mut State,
        gradient: &Factors,
        first: Option<f64>,
    ) -> bool {
        let length = gradient.norm();
        let mut step = first.unwrap_or_else(|| 0.1 * state.factors.norm() / length);
        if !step.is_finite() {
            return false;
        }
        let before = state.value.of_factors();
        for _ in 0..MOST_TRIALS {
            let (factors, imbalance) = self.stepped(&state.factors, step, gradient);
            let [squares, along] = match self.radius {
                None => [(step * length).powi(2), -step * length * length],
                Some(_) => Factors::sums([&factors, &state.factors, gradient], |[to, from, g]| {
                    let moved = to - from;
                    [moved * moved, g * moved]
                }),
            };
            let promise = Promise { step, before, along, squares };
            let trial = (factors, imbalance);
            let after = match self.try_factors(state, trial, promise.allowed()) {
                Ok(after) => after,
                Err(reached) => {
                    step = promise.shorter(reached);
                    continue;
                }
            };
            // A step that changes nothing says nothing about the next one's length.
            if squares.sqrt() * length > 1e-14 * before {
                self.factor_step = promise.next(after);
            }
            // What was there before is spare now.
            return self.spare.as_ref() != Some(&state.factors);
        }
        // The scores are those of the last trial.
        self.entries.scores(&state.factors, &mut state.scores);
        false
    }

    /// Takes the factors if they bring the objective (what they change of it) down to `allowed`, and tells
    /// where they bring it. Otherwise, what it reaches at least; not a number where that is not known.
    /// The scores become those of the trial either way.
    fn try_factors(
        &mut self,
        state: &mut State,
        (factors, imbalance): (Factors, Vec<f64>),
        allowed: f64,
    ) -> std::result::Result<f64, f64> {
        let found = self.weigh_factors(state, &factors, &imbalance, allowed);
        let (kept, found) = match found {
            Ok((link, value)) => {
                (state.link, state.imbalance) = (link, imbalance);
                state.evaluated.exchange(&mut self.trial);
                if state.evaluated.squares.is_some() {
                    state.value = value;
                }
                (std::mem::replace(&mut state.factors, factors), Ok(value.of_factors()))
            }
            Err(reached) => (factors, Err(reached)),
        };
        self.spare = Some(kept);
        found
    }

    /// The link, on a wider domain where factors need one, and the objective, if they bring it down to
    /// `allowed` and do not fling the scores out of all proportion.
    fn weigh_factors(
        &mut self,
        state: &mut State,
        factors: &Factors,
        imbalance: &[f64],
        allowed: f64,
    ) -> std::result::Result<(Link, ObjectiveValue), f64> {
        let need = after_factors(&state.link);
        let (entries, trial) = (&self.entries, &mut self.trial);
        let largest =
            entries.score_and_evaluate(factors, &mut state.scores, &state.link, need, trial);
        let reach = state.link.learned().map_or(f64::MAX, |l| WILD * l.space().half_width());
        if largest.is_nan() || largest > reach {
            return Err(f64::NAN);
        }
        let mut link = state.link.clone();
        if let Some(narrow) = state.link.learned().filter(|l| largest > l.space().half_width()) {
            // A wider domain takes long to build, and changes nothing for the entries inside.
            let least = self.objective.weight(state.scores.len())
                * entries.squares_inside(&state.scores, narrow);
            if least > allowed * (1.0 + INSIDE) {
                return Err(least);
            }
            // A domain too wide for any basis is a trial too long as well.
            let Ok(wider) = self.covering(&link, largest) else { return Err(f64::NAN) };
            link = wider;
            self.entries.evaluate(factors, &state.scores, &link, need, &mut self.trial);
        }
        let squares = self.squares_of_trial(state, factors, &link, allowed);
        let value = self.objective.value(&self.entries, imbalance, &link, squares);
        let good = value.of_factors() <= allowed && value.total() <= state.value.total();
        if good { Ok((link, value)) } else { Err(value.of_factors()) }
    }
}

impl Problem<'_> {
    /// The squared residuals of a trial that is to bring the objective down to `allowed`: from how many scores
    /// lie where, or, where that is too close to call, from the residuals.
    fn squares_of_trial(
        &mut self,
        state: &State,
        factors: &Factors,
        link: &Link,
        allowed: f64,
    ) -> f64 {
        let fall = state.value.of_factors() - allowed;
        let (trial, weight) = (&mut self.trial, self.objective.weight(state.scores.len()));
        if let (None, Some(counts), Some(link)) = (trial.squares, &trial.counts, link.learned()) {
            let fitted = link.space().work(|| counts.fitted(link.fine_within(counts.reach)));
            let (squares, off) = fitted.residual_squares(self.of_zero / weight);
            if weight * off < TELLING * fall {
                return squares;
            }
        }
        if trial.squares.is_none() {
            self.entries.add_squares(factors, &state.scores, link, trial);
        }
        trial.squares.unwrap_or(f64::NAN)
    }
}

/// What follows a step of the factors: a step of the link, if it is learned, else another one.
fn after_factors(link: &Link) -> Need {
    match link {
        Link::Learned(_) => Need::Counts,
        _ => Need::Pull,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::LossScale,
        init::random_factors,
        link::KnownLink,
        objective::Objective,
        observations::{Observations, Shape},
        passes::Entries,
    };

    #[test]
    fn a_step_too_short_to_change_a_digit_is_none() {
        let shape = Shape { rows: 12, columns: 9 };
        let observations =
            Observations::complete(shape, |i, t| ((i + 3 * t) as f64).sin()).unwrap();
        let objective = Objective { loss: LossScale::Sum, link_penalty: 0.0, balance_penalty: 0.5 };
        for (radius, first, moves) in [
            (None, 1e-300, false),
            (Some(10.0), 1e-300, false),
            (None, 1e-4, true),
            (Some(10.0), 1e-4, true),
        ] {
            let entries = Entries::new(&observations);
            let step = StepLength::Backtracking { first: Some(first) };
            let mut problem = Problem::new(entries, objective, radius, None, step, step);
            let link = Link::Known(KnownLink::Identity);
            let mut state = problem.state(random_factors(shape, 2, 1), link).unwrap();
            assert_eq!(problem.step_factors(&mut state).unwrap(), moves, "{radius:?} {first}");
        }
    }
}
