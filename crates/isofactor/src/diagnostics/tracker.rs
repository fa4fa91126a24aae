//! The analysis' quantities, iterate by iterate: `D_t`, `E_t`, `chi`, `V_t` and the regret.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Truth, factor_distance};
use crate::{
    error::Result,
    link::{LearnedLink, Link, LinkSpace},
    monitor::TruthRow,
    objective::{Objective, ObjectiveValue},
    passes::{Evaluated, Need},
    steps::{Problem, State},
    theory::{self, smallest_gram_eigenvalue},
};

/// Where an iterate stands, in the paper's quantities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// `D_t = |Delta(Z_t)|_F^2`
    pub d: f64,
    /// `E_t = |phi_t - phi_sharp(Z_t)|_H^2`
    pub e: f64,
    /// `chi(Z_t) = |phi_sharp(Z_t) - phi*|_H`
    pub chi: f64,
    /// `|phi_t - phi*|_H`
    pub link_distance: f64,
    /// `L(phi_t, Z_t) - L(phi_sharp(Z_t), Z_t)`
    pub gap: f64,
    /// `mu` of the truth.
    pub incoherence: f64,
    /// `kappa` of the truth.
    pub condition: f64,
    /// Theorem 3's bound on the root mean squared residual of a stationary point without noise.
    pub residual_bound: f64,
}

/// Follows a fit of made data.
#[derive(Debug)]
pub struct Tracker<'a> {
    truth: &'a Truth,
    gamma: f64,
    /// The true link's coordinates in the current space.
    known: Option<(Arc<LinkSpace>, Vec<f64>)>,
    gaps: f64,
    counted: usize,
}

impl<'a> Tracker<'a> {
    /// `gamma` weighs `D_t` in the Lyapunov function.
    pub fn new(truth: &'a Truth, gamma: f64) -> Self {
        Self { truth, gamma, known: None, gaps: 0.0, counted: 0 }
    }

    /// The sum of the gaps so far and their number: all that it remembers.
    pub(crate) fn gaps(&self) -> (f64, usize) {
        (self.gaps, self.counted)
    }

    /// Goes on from what an earlier one remembered.
    pub(crate) fn with_gaps(mut self, (gaps, counted): (f64, usize)) -> Self {
        (self.gaps, self.counted) = (gaps, counted);
        self
    }

    /// The trace columns of an iterate; iteration 0 does not count for the regret.
    pub fn row(
        &mut self,
        iteration: usize,
        problem: &Problem<'_>,
        state: &State,
    ) -> Result<TruthRow> {
        let Link::Learned(link) = &state.link else {
            let factor_distance = factor_distance(&state.factors, self.truth.factors())?;
            return Ok(TruthRow {
                factor_distance,
                link_distance: None,
                lyapunov: None,
                regret: None,
                lag: None,
                bias: None,
            });
        };
        let standing = self.quantities(problem, state, link)?;
        if iteration > 0 {
            self.gaps += standing.gap;
            self.counted += 1;
        }
        Ok(TruthRow {
            factor_distance: standing.d.sqrt(),
            link_distance: Some(standing.link_distance),
            lyapunov: Some(standing.e + self.gamma * standing.d),
            // A mean over some of the iterates would be another quantity.
            regret: (self.counted > 0 && self.counted == iteration)
                .then(|| self.gaps / self.counted as f64),
            lag: Some(standing.e),
            bias: Some(standing.chi),
        })
    }

    /// All quantities of an iterate, if its link is learned.
    pub fn standing(&mut self, problem: &Problem<'_>, state: &State) -> Result<Option<Standing>> {
        match &state.link {
            Link::Known(_) | Link::Tabulated(_) => Ok(None),
            Link::Learned(link) => {
                let mut standing = self.quantities(problem, state, link)?;
                standing.residual_bound = self.residual_bound(problem, state, link)?;
                Ok(Some(standing))
            }
        }
    }

    fn residual_bound(
        &mut self,
        problem: &Problem<'_>,
        state: &State,
        link: &LearnedLink,
    ) -> Result<f64> {
        let truth = LearnedLink::new(link.space().clone(), self.true_coordinates(link.space())?);
        let smallest = smallest_gram_eigenvalue(link.space().kernel(), &state.scores)?;
        let Objective { link_penalty, .. } = problem.objective;
        let weight = problem.objective.weight(state.scores.len());
        Ok(theory::residual_bound(link_penalty, weight, smallest, truth.norm()))
    }

    /// `phi_sharp` keeps to the slope bounds if the fit does.
    fn quantities(
        &mut self,
        problem: &Problem<'_>,
        state: &State,
        link: &LearnedLink,
    ) -> Result<Standing> {
        let space = link.space();
        let truth = self.true_coordinates(space)?;
        let values = problem.entries.observations().values();
        let sharp = problem.objective.best_link(
            &problem.entries,
            &state.scores,
            values,
            space,
            problem.bounds,
        )?;
        let sharp = LearnedLink::new(space.clone(), sharp);
        let distance = factor_distance(&state.factors, self.truth.factors())?;
        Ok(Standing {
            d: distance.powi(2),
            e: link.distance(sharp.weights()).powi(2),
            chi: sharp.distance(&truth),
            link_distance: link.distance(&truth),
            gap: state.value.total() - objective_with(problem, state, sharp).total(),
            incoherence: self.truth.factors().incoherence(),
            condition: self.truth.condition(),
            residual_bound: f64::NAN,
        })
    }

    fn true_coordinates(&mut self, space: &Arc<LinkSpace>) -> Result<Vec<f64>> {
        if let Some((known, coordinates)) = &self.known
            && Arc::ptr_eq(known, space)
        {
            return Ok(coordinates.clone());
        }
        let coordinates = space.nearest(|x| self.truth.link().value_and_slope(x).0)?;
        self.known = Some((space.clone(), coordinates.clone()));
        Ok(coordinates)
    }
}

/// The objective with another link and the same factors.
fn objective_with(problem: &Problem<'_>, state: &State, link: LearnedLink) -> ObjectiveValue {
    let link = Link::Learned(link);
    let mut evaluated = Evaluated::default();
    problem.entries.evaluate(&state.factors, &state.scores, &link, Need::Nothing, &mut evaluated);
    let squares = evaluated.squares.unwrap_or(f64::NAN);
    problem.objective.value(&problem.entries, &state.imbalance, &link, squares)
}
