//! The link step: `phi <- P_H(phi - eta grad_phi L(phi, Z))`.

use std::sync::Arc;

use super::{
    MOST_TRIALS, Problem, Promise, State, StepLength,
    project::{keeps_to, project_link, within},
};
use crate::{
    error::Result,
    linalg,
    link::{Kernel, LearnedLink, Link, LinkSpace, SlopeBounds, monotone::SlopeProgram},
    passes::{Need, Sample},
};

/// How many times as far as it does a sample may say that the objective bends; of samples of MovieLens and
/// Jester none was off by more than a thirtieth. A step that all entries would allow is not refused.
const SURE: f64 = 1.1;

impl Problem<'_> {
    /// Moves the link, if it is learned. False when no step of any length lowers the objective.
    pub fn step_link(&mut self, state: &mut State) -> Result<bool> {
        let Link::Learned(link) = state.link.clone() else { return Ok(false) };
        if state.evaluated.moments.is_none() {
            self.evaluate(state, Need::Moments)?;
        }
        let Some(moments) = &state.evaluated.moments else { return Ok(false) };
        let space = link.space().clone();
        let gradient = space.work(|| self.objective.link_gradient(&self.entries, moments, &link));
        match self.link_step {
            StepLength::Fixed(step) => {
                state.link =
                    Link::Learned(space.work(|| self.stepped_link(&link, step, &gradient))?);
                self.evaluate(state, Need::Pull)?;
                Ok(true)
            }
            StepLength::Backtracking { first } => self.search_link(state, &link, &gradient, first),
        }
    }

    /// Whether the link keeps to the slope bounds over its domain, if there are any.
    pub fn is_inside(&self, state: &State) -> bool {
        match (self.bounds, &state.link) {
            (Some(bounds), Link::Learned(link)) => keeps_to(link, bounds),
            _ => true,
        }
    }

    /// Projects a link that ended outside its slope bounds: a start that was never moved, or one
    /// whose domain has grown since its last step.
    pub fn bring_inside(&mut self, state: &mut State) -> Result<()> {
        if let (Some(bounds), Link::Learned(link), false) =
            (self.bounds, state.link.clone(), self.is_inside(state))
        {
            state.link = Link::Learned(project_link(link, bounds, &mut self.active)?);
            self.evaluate(state, Need::Nothing)?;
        }
        Ok(())
    }

    /// `P_H(phi - eta G)`
    fn stepped_link(
        &mut self,
        link: &LearnedLink,
        step: f64,
        gradient: &[f64],
    ) -> Result<LearnedLink> {
        let mut weights = link.weights().to_vec();
        linalg::add_scaled(&mut weights, -step, gradient);
        let moved = LearnedLink::new(link.space().clone(), weights);
        match self.bounds {
            Some(bounds) => project_link(moved, bounds, &mut self.active),
            None => Ok(moved),
        }
    }

    fn search_link(
        &mut self,
        state: &mut State,
        link: &LearnedLink,
        gradient: &[f64],
        first: Option<f64>,
    ) -> Result<bool> {
        if let Some(bounds) = self.bounds.filter(|&bounds| !keeps_to(link, bounds)) {
            return self.enter(state, link, bounds);
        }
        let observed = state.scores.len();
        // The Hessian is at most 2s M B_K + alpha, so a step this long always decreases enough.
        let safe = 1.0
            / (2.0 * self.objective.weight(observed) * observed as f64 * Kernel::BOUND
                + self.objective.link_penalty);
        let mut step = first.unwrap_or(safe);
        let before = state.value.of_link();
        let sample = self.trial.reach().and_then(|reach| Sample::new(&state.scores, link, reach));
        for _ in 0..MOST_TRIALS {
            let moved = link.space().work(|| self.stepped_link(link, step, gradient))?;
            let difference: Vec<f64> =
                moved.weights().iter().zip(link.weights()).map(|(a, b)| a - b).collect();
            let [squares, along] =
                [&difference, gradient].map(|other| linalg::dot(&difference, other));
            let promise = Promise { step, before, along, squares };
            let bend = sample.as_ref().map_or(0.0, |sample| {
                self.objective.link_bend(observed, sample.distance(&moved), squares)
            });
            let tried = if before + along + bend / SURE > promise.allowed() {
                Err(before + along + bend)
            } else {
                self.try_link(state, moved, promise.allowed())
            };
            if let Err(reached) = tried {
                step = promise.shorter(reached);
                continue;
            }
            // A step that changes nothing says nothing about the next one's length.
            if squares > 0.0 {
                self.link_step = promise.next(state.value.of_link());
            }
            return Ok(squares > 0.0);
        }
        Ok(false)
    }

    /// Takes the link if it brings the objective (what it changes of it) down to `allowed`;
    /// otherwise, what it reaches.
    fn try_link(
        &mut self,
        state: &mut State,
        link: LearnedLink,
        allowed: f64,
    ) -> std::result::Result<(), f64> {
        let link = Link::Learned(link);
        let (factors, trial) = (&state.factors, &mut self.trial);
        self.entries.evaluate(factors, &state.scores, &link, Need::Pull, trial);
        let value = self.objective.value(&self.entries, &state.imbalance, &link, trial);
        let good = value.of_link() <= allowed && value.total() <= state.value.total();
        if !good {
            return Err(value.of_link());
        }
        (state.link, state.value) = (link, value);
        state.evaluated.exchange(&mut self.trial);
        Ok(())
    }

    /// From outside the bounds, at the start or when the domain has grown, getting inside comes
    /// first: at the nearest link, or, where that raises the objective, at the best there is.
    fn enter(
        &mut self,
        state: &mut State,
        link: &LearnedLink,
        bounds: SlopeBounds,
    ) -> Result<bool> {
        let allowed = state.value.total();
        let nearest = project_link(link.clone(), bounds, &mut self.active)?;
        state.link = Link::Learned(nearest);
        self.evaluate(state, Need::Pull)?;
        if state.value.total() <= allowed {
            return Ok(true);
        }
        state.link = Link::Learned(self.best_link(&state.scores, link.space())?);
        self.evaluate(state, Need::Pull)?;
        Ok(true)
    }

    /// `phi_sharp`: the best link for these scores, within the slope bounds if there are any, to
    /// some millionths.
    pub(super) fn best_link(
        &mut self,
        scores: &[f64],
        space: &Arc<LinkSpace>,
    ) -> Result<LearnedLink> {
        let (entries, grid) = (&self.entries, space.thin_grid());
        let values = entries.observations().values();
        let equations = self.objective.link_equations(entries, scores, values, space, grid)?;
        let link = |weights| LearnedLink::new(space.clone(), weights);
        let Some(bounds) = self.bounds else { return Ok(link(equations.minimum())) };
        let rows = space.slope_rows();
        within(bounds, &mut self.active, |bounds, active| {
            let program = SlopeProgram::new(&rows, space.grid().spacing(), bounds).loosely();
            equations.minimum_within(&program, active).map(link)
        })
    }
}
