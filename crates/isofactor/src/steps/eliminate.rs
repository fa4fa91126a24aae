//! A quasi-Newton step of one side, with the other side and the link at their best.
//!
//! ```text
//! F(A) = min_{B, phi} L(phi, [A; B])      phi within the slope bounds
//! A   <- A + t d,  d = -H grad F          at their best B and phi have no gradient of their own
//! ```
//!
//! `A` are the factors of the side with fewer units, `B` those of the other. Each unit of `B` has a
//! small problem of its own: one damped Gauss-Newton step from where it was, which every iteration
//! repeats, keeps it about at its best. `H` begins from the Gauss-Newton curvature of each unit of
//! `A` (limited-memory BFGS), and `t` is shortened from 1 until `F` falls enough.
//!
//! Where factors are not projected the balance term is no part of `F`: every point has the scores
//! of a balanced one, and is turned there ([`Factors::balancing`]).

use super::{
    Problem, State,
    search::{Attempt, Domain, Trial},
};
use crate::{
    error::Result,
    factors::{Factors, Turn},
    observations::{Shape, Side},
    passes::{ByUnit, Entries, Need},
};

/// How much of the mean curvature is added to that of each unit of the side that is gone along.
const SHARED: f64 = 0.1;
/// How much of it damps the steps of the units of the other side.
const DAMPING: f64 = 0.05;

/// A smaller share of the objective is nothing.
const NOTHING: f64 = 1e-12;

/// The side that is gone along: fewer units, so that there is less to remember.
pub(super) fn kept(shape: Shape) -> Side {
    if shape.rows <= shape.columns { Side::Rows } else { Side::Columns }
}

/// The entries of both sides.
#[derive(Debug)]
pub(super) struct Sides<'a> {
    kept: ByUnit<'a>,
    other: ByUnit<'a>,
}

impl<'a> Sides<'a> {
    fn of(entries: &Entries<'a>) -> Self {
        let kept = kept(entries.observations().shape());
        Self { kept: entries.by_unit(kept), other: entries.by_unit(kept.other()) }
    }
}

/// What is to be known of a step: how far it went, and how it was turned.
type Along = (Factors, Option<Turn>);

impl Problem<'_> {
    /// Moves the factors, and the link with them. False when no step of any length lowers the
    /// objective.
    pub fn step_eliminating(&mut self, state: &mut State) -> Result<bool> {
        let sides = self.sides.take().unwrap_or_else(|| Sides::of(&self.entries));
        let moved = self.step_between(&sides, state);
        self.sides = Some(sides);
        moved
    }

    fn step_between(&mut self, sides: &Sides<'_>, state: &mut State) -> Result<bool> {
        if self.memory.is_new() {
            self.best_from_here(state, Need::Nothing)?;
        }
        // Curvature and descent are both without the factor 2s.
        let (mut systems, descent) = sides.kept.equations(&state.factors, &state.link);
        self.memory.learn(&descent);
        let part = |mean: &[f64], part: f64| mean.iter().map(|x| part * x).collect::<Vec<f64>>();
        systems.factorise(&part(&systems.mean, SHARED));
        let damping = part(&systems.mean_of_others, DAMPING);
        let straight = || systems.solve(&descent);
        let direction = self.memory.direction(&descent, |z| systems.solve(z));
        let (remembered, domain) = (direction.is_some(), self.memory.domain());
        let direction = direction.unwrap_or_else(straight);
        let mut search = |direction: Factors, domain: Domain| {
            self.search_eliminating(state, sides, &descent, &damping, direction, domain)
        };
        let mut found = search(direction, domain);
        if found.is_none() && (remembered || domain == Domain::Stays) {
            found = search(straight(), Domain::MayGrow);
            self.memory.forget();
        }
        let Some((step, turn)) = found else { return Ok(self.settle(state, sides, &damping)) };
        self.memory.remember(step, descent);
        if let Some(turn) = turn {
            self.memory.turn(&turn);
        }
        Ok(true)
    }

    /// Lets the other side come to rest where the kept one has. False if it has already.
    fn settle(&mut self, state: &mut State, sides: &Sides<'_>, damping: &[f64]) -> bool {
        let mut factors = state.factors.clone();
        refit(&mut factors, state, sides, damping);
        let allowed = state.value.total() * (1.0 - NOTHING);
        let trial = self.try_with_best_link(state, factors, allowed, Domain::Stays, Need::Nothing);
        let moved = matches!(trial, Trial::Taken);
        if moved {
            self.memory.restart();
        } else {
            // The scores are those of the trial.
            self.entries.scores(&state.factors, &mut state.scores);
        }
        moved
    }

    /// Goes along a direction of the kept side as far as it brings enough.
    fn search_eliminating(
        &mut self,
        state: &mut State,
        sides: &Sides<'_>,
        descent: &Factors,
        damping: &[f64],
        direction: Factors,
        domain: Domain,
    ) -> Option<Along> {
        let scale = 2.0 * self.objective.weight(state.scores.len());
        let kept = sides.kept.side;
        let attempt = |_: &Self, state: &State, share: f64, direction: &Factors, domain| {
            let mut factors = state.factors.clone();
            factors.add(share, direction);
            let hemmed = domain == Domain::Stays
                && sides.kept.stay_inside(&mut factors, &state.factors, &state.link);
            let mut step = factors.only(kept);
            step.add(-1.0, &state.factors);
            let promised = scale * descent.inner(&step);
            let turn =
                (promised > 0.0).then(|| refit(&mut factors, state, sides, damping)).flatten();
            Attempt { factors, promised, hemmed, along: (step, turn) }
        };
        let found = self.search_along(state, direction, domain, Need::Nothing, attempt);
        found.map(|(_, along)| along)
    }
}

/// A step of every unit of the other side, and the turn that balances the factors then.
fn refit(factors: &mut Factors, state: &State, sides: &Sides<'_>, damping: &[f64]) -> Option<Turn> {
    sides.other.refit(factors, &state.link, damping);
    let turn = factors.balancing()?;
    *factors = factors.turned(&turn);
    Some(turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        init::random_factors,
        link::{KnownLink, Link},
        observations::Observations,
    };

    #[test]
    fn the_descent_is_the_slope_of_the_squares_with_the_other_side_at_its_best() {
        for shape in [Shape { rows: 12, columns: 30 }, Shape { rows: 30, columns: 12 }] {
            let observations = Observations::complete(shape, |i, t| {
                (i as f64 * 0.7).sin() * (t as f64 * 0.4).cos() + 0.1 * ((i * t) as f64).sin()
            })
            .unwrap();
            let (entries, link) = (Entries::new(&observations), Link::Known(KnownLink::Identity));
            let sides = Sides::of(&entries);
            assert_eq!(shape.count(sides.kept.side), 12);
            // The squares, and half the descent, with the other side at its best.
            let at_best = |mut factors: Factors| {
                let damping = [1e-9, 0.0, 1e-9];
                (0..50).for_each(|_| sides.other.refit(&mut factors, &link, &damping));
                let squares = observations
                    .iter()
                    .map(|entry| (entry.value - factors.score(entry.row, entry.column)).powi(2));
                (squares.sum::<f64>(), sides.kept.equations(&factors, &link).1)
            };
            let (z, direction) = (random_factors(shape, 2, 1), random_factors(shape, 2, 2));
            let direction = direction.only(sides.kept.side);
            let moved = |step: f64| {
                let mut moved = z.clone();
                moved.add(step, &direction);
                moved
            };
            let (_, descent) = at_best(z.clone());
            let step = 1e-5;
            let slope = (at_best(moved(-step)).0 - at_best(moved(step)).0) / (2.0 * step);
            let expected = 2.0 * descent.inner(&direction);
            assert!((slope - expected).abs() < 1e-4 * expected.abs(), "{slope} {expected}");
        }
    }
}
