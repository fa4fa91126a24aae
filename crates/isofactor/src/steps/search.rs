//! The search along a direction of the factors, with the link at its best all the way.

use super::{MOST_TRIALS, Problem, State, WILD};
use crate::{error::Result, factors::Factors, link::Link, observations::Side, passes::Need};

/// The share of what the gradient promises that a step must bring.
const ENOUGH: f64 = 1e-4;
/// A step too long is shortened to at most this and at least that share of itself.
const SHORTER: (f64, f64) = (0.5, 0.1);
/// Whether the link's domain may become wider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Domain {
    Stays,
    MayGrow,
}

/// Where a share of a direction leads.
pub(super) struct Attempt<T> {
    pub factors: Factors,
    /// By how much the objective falls if it is as steep all the way as where it begins.
    pub promised: f64,
    /// Whether units were kept from carrying scores out of the link's domain.
    pub hemmed: bool,
    /// What is to be known of it if it is taken.
    pub along: T,
}

/// What became of a trial.
pub(super) enum Trial {
    Taken,
    /// The objective is too high.
    Refused(f64),
    /// Scores leave the link's domain, and a wider one does not pay.
    Beyond,
}

impl Problem<'_> {
    /// The best link for the factors as they are, and what is needed of the entries.
    pub(super) fn best_from_here(&mut self, state: &mut State, need: Need) -> Result<()> {
        if let Some(space) = state.link.learned().map(|link| link.space().clone()) {
            state.link = Link::Learned(self.best_link(&state.scores, &space)?);
        }
        self.evaluate(state, need)
    }

    /// Goes along a direction as far as it brings enough: the share of it, and what is to be known
    /// of the way.
    ///
    /// Where scores would leave the link's domain, the rows and columns that carry them there stay
    /// where they are, unless a wider domain is tried and pays: slope bounds on more of the line
    /// mostly cost more than a few entries bring.
    pub(super) fn search_along<T>(
        &mut self,
        state: &mut State,
        mut direction: Factors,
        mut domain: Domain,
        need: Need,
        attempt: impl Fn(&Self, &State, f64, &Factors, Domain) -> Attempt<T>,
    ) -> Option<(f64, T)> {
        let before = state.value.total();
        let mut share = 1.0;
        for _ in 0..MOST_TRIALS {
            let Attempt { factors, promised, hemmed, along } =
                attempt(self, state, share, &direction, domain);
            if hemmed {
                self.memory.hem(Domain::Stays);
            }
            if promised.is_nan() || promised <= f64::EPSILON * before {
                // A shorter step may stay inside.
                if hemmed {
                    share *= SHORTER.0;
                    continue;
                }
                break;
            }
            let allowed = before - ENOUGH * promised;
            match self.try_with_best_link(state, factors, allowed, domain, need) {
                Trial::Taken => return Some((share, along)),
                Trial::Beyond => {
                    self.hold_back(&mut direction, state);
                    self.memory.hem(domain);
                    domain = Domain::Stays;
                }
                Trial::Refused(reached) => {
                    // The lowest point of the parabola through what is known.
                    let lowest = promised / (2.0 * (reached - before + promised));
                    share *= lowest.clamp(SHORTER.1, SHORTER.0);
                }
            }
        }
        // The scores are those of the last trial.
        self.entries.scores(&state.factors, &mut state.scores);
        None
    }

    /// Takes the factors with their best link if they bring the objective down to `allowed`. The
    /// scores become those of the trial either way.
    pub(super) fn try_with_best_link(
        &mut self,
        state: &mut State,
        factors: Factors,
        allowed: f64,
        domain: Domain,
        need: Need,
    ) -> Trial {
        let largest = self.entries.scores(&factors, &mut state.scores);
        let beyond = is_just_beyond(&state.link, largest);
        if beyond && domain == Domain::Stays {
            return Trial::Beyond;
        }
        let Some(link) = self.link_of_trial(state, largest) else {
            return Trial::Refused(f64::INFINITY);
        };
        let (entries, trial) = (&self.entries, &mut self.trial);
        entries.evaluate(&factors, &state.scores, &link, need, trial);
        let imbalance = factors.imbalance();
        let squares = trial.squares.unwrap_or(f64::NAN);
        let value = self.objective.value(entries, &imbalance, &link, squares);
        match value.total() {
            total if total <= allowed => {
                (state.factors, state.imbalance) = (factors, imbalance);
                (state.link, state.value) = (link, value);
                state.evaluated.exchange(&mut self.trial);
                Trial::Taken
            }
            _ if beyond => Trial::Beyond,
            total if total.is_nan() => Trial::Refused(f64::INFINITY),
            total => Trial::Refused(total),
        }
    }

    /// The best link for the scores of a trial, on a wider domain where they need one; none where
    /// they are flung out of all proportion.
    fn link_of_trial(&mut self, state: &State, largest: f64) -> Option<Link> {
        let Link::Learned(link) = &state.link else { return Some(state.link.clone()) };
        let half_width = link.space().half_width();
        if largest.is_nan() || largest > WILD * half_width {
            return None;
        }
        let space = match largest <= half_width {
            true => link.space().clone(),
            false => self.wider_space(link.space(), largest).ok()?,
        };
        self.best_link(&state.scores, &space).ok().map(Link::Learned)
    }

    /// Takes rows and columns out of a direction that carry scores out of the link's domain.
    fn hold_back(&self, direction: &mut Factors, state: &State) {
        let Some(link) = state.link.learned() else { return };
        let half_width = link.space().half_width();
        for (entry, score) in self.entries.observations().iter().zip(&state.scores) {
            if score.abs() > half_width {
                direction.hold(Side::Rows, entry.row);
                direction.hold(Side::Columns, entry.column);
            }
        }
    }
}

/// Whether scores leave a learned link's domain, but not out of all proportion.
fn is_just_beyond(link: &Link, largest: f64) -> bool {
    link.learned().is_some_and(|link| {
        let half_width = link.space().half_width();
        largest > half_width && largest <= WILD * half_width
    })
}
