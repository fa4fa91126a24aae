//! A state of the sweeps, with or without a link, and the sweep that improves it.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    belief::{Belief, Prior, Targets},
    choose::Kind,
    linked::Linked,
    panel::Panel,
};
use crate::{
    factors::Factors,
    link::Tabulated,
    model::Offsets,
    observations::{Observations, Shape},
};

/// What became of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Swept {
    /// It was made.
    Whole,
    /// Numbers failed.
    Failed,
    /// Someone was in a hurry.
    Abandoned,
}

/// What the predictions of a state are made of.
struct Seen {
    rows: Vec<f64>,
    columns: Vec<f64>,
    link: Option<Tabulated>,
}

/// A state of the fit, with or without a link.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum State {
    Straight(Box<Belief>),
    Linked(Box<Linked>),
}

impl Clone for State {
    fn clone(&self) -> Self {
        match self {
            State::Straight(belief) => State::Straight(belief.clone()),
            State::Linked(linked) => State::Linked(linked.clone()),
        }
    }

    /// Into the room that is there: beliefs are large.
    fn clone_from(&mut self, other: &Self) {
        match (self, other) {
            (State::Straight(mine), State::Straight(other)) => mine.clone_from(other),
            (State::Linked(mine), State::Linked(other)) => mine.clone_from(other),
            (mine, other) => *mine = other.clone(),
        }
    }
}

impl State {
    /// Before the first sweep; none where numbers fail.
    pub fn begin(
        panel: &Panel<'_>,
        prior: Prior,
        kind: &Kind,
        start: Option<(&Factors, Option<&Offsets>)>,
    ) -> Option<Self> {
        let targets = Targets::values(panel);
        let straight = || {
            let mut belief = Belief::new(panel, targets, prior);
            if let Some((factors, offsets)) = start {
                belief.begin_at(factors, offsets);
            }
            belief
        };
        Some(match kind {
            Kind::Level => State::Straight(Box::new(straight().without_factors(false))),
            Kind::Effects => State::Straight(Box::new(straight().without_factors(true))),
            Kind::Factors => State::Straight(Box::new(straight())),
            Kind::Linked { given, before } => {
                let linked = Linked::new(panel, prior, given.clone(), *before, start)?;
                State::Linked(Box::new(linked))
            }
        })
    }

    /// Whether it is one of a panel of this shape, after so many sweeps.
    pub fn fits(&self, shape: Shape, sweeps: usize) -> bool {
        match self {
            State::Straight(belief) => belief.fits(shape),
            State::Linked(linked) => linked.fits(shape, sweeps),
        }
    }

    /// The next sweep, after so many. One that is abandoned leaves the predictions as they were.
    pub fn sweep(&mut self, panel: &Panel<'_>, made: usize) -> Swept {
        let before = panel.hurry.is_possible().then(|| self.seen());
        let sound = match self {
            State::Straight(belief) => {
                belief.sweep(panel, Targets::values(panel), made);
                true
            }
            State::Linked(linked) => linked.sweep(panel).is_some(),
        };
        if let Some(before) = before.filter(|_| panel.hurry.is_raised()) {
            self.see_again(before);
            return Swept::Abandoned;
        }
        if sound { Swept::Whole } else { Swept::Failed }
    }

    /// What predictions are made of.
    fn seen(&self) -> Seen {
        let Belief { rows, columns, .. } = self.belief();
        let link = match self {
            State::Straight(_) => None,
            State::Linked(linked) => Some(linked.link.clone()),
        };
        Seen { rows: rows.mean.clone(), columns: columns.mean.clone(), link }
    }

    fn see_again(&mut self, seen: Seen) {
        let belief = match self {
            State::Straight(belief) => belief,
            State::Linked(linked) => {
                if let Some(link) = seen.link {
                    linked.link = link;
                }
                &mut linked.belief
            }
        };
        (belief.rows.mean, belief.columns.mean) = (seen.rows, seen.columns);
    }

    pub fn belief(&self) -> &Belief {
        match self {
            State::Straight(belief) => belief,
            State::Linked(linked) => &linked.belief,
        }
    }

    pub fn predict(&self, row: usize, column: usize) -> f64 {
        match self {
            State::Straight(belief) => belief.score(row, column),
            State::Linked(linked) => linked.predict(row, column),
        }
    }

    /// `sum_k (y_k - prediction_k)^2`, predictions kept to the range of the training values.
    pub fn squares(&self, observations: &Observations, (low, high): (f64, f64)) -> f64 {
        let of_row = |row: usize| -> f64 {
            let entries = observations.row(row);
            let pairs = entries.columns.iter().zip(entries.values);
            let error = |(&column, value): (&u32, &f64)| {
                value - self.predict(row, column as usize).clamp(low, high)
            };
            pairs.map(|pair| error(pair).powi(2)).sum()
        };
        let rows = (0..observations.shape().rows).into_par_iter().with_min_len(64);
        let squares: Vec<f64> = rows.map(of_row).collect();
        squares.into_iter().sum()
    }

    pub fn is_finite(&self) -> bool {
        let Belief { rows, columns, noise_precision, .. } = self.belief();
        noise_precision.is_finite()
            && rows.mean.iter().chain(&columns.mean).all(|number| number.is_finite())
    }
}
