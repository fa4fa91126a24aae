//! The link step: `phi <- P_H(phi - eta grad_phi L(phi, Z))`.

use super::{
    MOST_HALVINGS, Problem, State, StepLength,
    project::{keeps_to, project_link},
};
use crate::{
    error::Result,
    linalg,
    link::{Kernel, LearnedLink, Link, SlopeBounds},
};

impl Problem<'_> {
    /// Moves the link, if it is learned. False when no step of any length lowers the objective.
    pub fn step_link(&mut self, state: &mut State) -> Result<bool> {
        let Link::Learned(link) = state.link.clone() else { return Ok(true) };
        let gradient =
            self.objective.link_gradient(&self.entries, &state.scores, &state.evaluated, &link);
        match self.link_step {
            StepLength::Fixed(step) => {
                let moved = self.stepped_link(&link, step, &gradient)?;
                self.accept_link(state, moved)?;
                Ok(true)
            }
            StepLength::Backtracking { last } => self.search_link(state, &link, &gradient, last),
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
            let nearest = project_link(link, bounds, &mut self.active)?;
            self.accept_link(state, nearest)?;
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

    fn accept_link(&mut self, state: &mut State, link: LearnedLink) -> Result<()> {
        let scores = std::mem::take(&mut state.scores);
        *state = self.with_scores(state.factors.clone(), Link::Learned(link), scores)?;
        Ok(())
    }

    fn search_link(
        &mut self,
        state: &mut State,
        link: &LearnedLink,
        gradient: &[f64],
        last: Option<f64>,
    ) -> Result<bool> {
        let observed = state.scores.len();
        // The Hessian is at most 2s M B_K + alpha, so a step this long always decreases enough.
        let safe = 1.0
            / (2.0 * self.objective.weight(observed) * observed as f64 * Kernel::BOUND
                + self.objective.link_penalty);
        let mut step = last.map_or(safe, |step| 2.0 * step);
        let before = state.value.total();
        if let Some(bounds) = self.bounds.filter(|&bounds| !keeps_to(link, bounds)) {
            return self.enter(state, link, bounds);
        }
        for _ in 0..MOST_HALVINGS {
            let moved = self.stepped_link(link, step, gradient)?;
            let mut trial = state.clone();
            self.accept_link(&mut trial, moved)?;
            let difference: Vec<f64> = trial
                .link
                .learned()
                .map(|l| l.weights().iter().zip(link.weights()).map(|(a, b)| a - b).collect())
                .unwrap_or_default();
            let distance = linalg::dot(&difference, &difference);
            let promised = linalg::dot(gradient, &difference) + distance / (2.0 * step);
            let after = trial.value.total();
            if after <= before && after <= before + promised {
                self.link_step = StepLength::Backtracking { last: Some(step) };
                *state = trial;
                return Ok(distance > 0.0);
            }
            step /= 2.0;
        }
        Ok(false)
    }

    /// From outside the bounds, at the start or when the domain has grown, getting inside comes
    /// first, even if the objective rises: at the best link there is.
    fn enter(
        &mut self,
        state: &mut State,
        link: &LearnedLink,
        bounds: SlopeBounds,
    ) -> Result<bool> {
        let space = link.space();
        let values = self.entries.observations().values();
        let best =
            self.objective.best_link(&self.entries, &state.scores, values, space, Some(bounds))?;
        self.accept_link(state, LearnedLink::new(space.clone(), best))?;
        Ok(true)
    }
}
