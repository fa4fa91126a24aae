//! The link step: `phi <- P_H(phi - eta grad_phi L(phi, Z))`.

use std::sync::Arc;

use super::{
    MOST_TRIALS, Problem, Promise, State, StepLength,
    project::{keeps_to, project_link, within},
};
use crate::{
    error::Result,
    linalg,
    link::{Counts, Kernel, LearnedLink, Link, LinkSpace, SlopeBounds, monotone::SlopeProgram},
    passes::Need,
};

impl Problem<'_> {
    /// Moves the link, if it is learned. False when no step of any length lowers the objective.
    pub fn step_link(&mut self, state: &mut State) -> Result<bool> {
        let Link::Learned(link) = state.link.clone() else { return Ok(false) };
        if state.evaluated.counts.is_none() {
            self.evaluate(state, Need::Counts)?;
        }
        let Some(counts) = state.evaluated.counts.take() else { return Ok(false) };
        let space = link.space().clone();
        let (objective, observed) = (self.objective, state.scores.len());
        let gradient = || objective.link_gradient(observed, &counts, &link);
        match self.link_step {
            StepLength::Fixed(step) => {
                let moved = space.work(|| self.stepped_link(&link, step, &gradient()))?;
                state.link = Link::Learned(moved);
                self.evaluate(state, Need::Pull)?;
                Ok(true)
            }
            StepLength::Backtracking { first } => {
                let gradient = space.work(gradient);
                self.search_link(state, &link, &gradient, &counts, first)
            }
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
        counts: &Counts,
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
        for _ in 0..MOST_TRIALS {
            let (moved, promise, after) =
                link.space().work(|| self.attempt_link(link, step, gradient, counts, observed))?;
            if after > promise.allowed() || !self.try_link(state, moved) {
                step = promise.shorter(after);
                continue;
            }
            // A step that changes nothing says nothing about the next one's length.
            if promise.squares > 0.0 {
                self.link_step = promise.next(after);
            }
            return Ok(promise.squares > 0.0);
        }
        Ok(false)
    }

    /// The link after a step of some length, what that promises, and what it does to the objective.
    fn attempt_link(
        &mut self,
        link: &LearnedLink,
        step: f64,
        gradient: &[f64],
        counts: &Counts,
        observed: usize,
    ) -> Result<(LearnedLink, Promise, f64)> {
        let moved = self.stepped_link(link, step, gradient)?;
        let difference: Vec<f64> =
            moved.weights().iter().zip(link.weights()).map(|(a, b)| a - b).collect();
        let [squares, along] = [&difference, gradient].map(|other| linalg::dot(&difference, other));
        let difference = LearnedLink::new(link.space().clone(), difference);
        let distance = counts.fitted(difference.fine_within(counts.reach)).squares;
        let after = along + self.objective.link_bend(observed, distance, squares);
        Ok((moved, Promise { step, before: 0.0, along, squares }, after))
    }

    /// Takes the link unless the objective rises above where it was last known, by its last digits.
    fn try_link(&mut self, state: &mut State, link: LearnedLink) -> bool {
        let link = Link::Learned(link);
        let (factors, trial) = (&state.factors, &mut self.trial);
        self.entries.evaluate(factors, &state.scores, &link, Need::Pull, trial);
        let Some(squares) = trial.squares else { return false };
        let value = self.objective.value(&self.entries, &state.imbalance, &link, squares);
        let good = value.total() <= state.value.total();
        if good {
            (state.link, state.value) = (link, value);
            state.evaluated.exchange(&mut self.trial);
        }
        good
    }

    /// From outside the bounds, at the start or when the domain has grown, getting inside comes
    /// first: at the nearest link, or, where that raises the objective, at the best there is.
    fn enter(
        &mut self,
        state: &mut State,
        link: &LearnedLink,
        bounds: SlopeBounds,
    ) -> Result<bool> {
        self.make_exact(state)?;
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
