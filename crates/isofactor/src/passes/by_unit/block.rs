//! Some units with their entries, and what the entries show.

use std::ops::Range;

use super::group::Group;
use crate::{
    linalg,
    link::{KnownLink, Link},
    passes::{
        curve::{Slopes, Straight},
        kernels::FindScores,
        sums::{dot, of},
    },
    simd::{self, LANES, Lanes, Machine, by_width},
};

/// How often the step of a unit is halved before it stays where it is.
const MOST_HALVINGS: usize = 3;

/// The entries of some units; the units are counted from 0 here.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub starts: &'a [usize],
    pub others: &'a [u32],
    pub values: &'a [f64],
    /// The factors of the other side.
    pub factors: &'a [Lanes],
    pub rank: usize,
}

/// What the entries of a block show at some factors.
#[derive(Default)]
pub(super) struct Seen {
    pub scores: Vec<f64>,
    /// `g`, and `phi'`; beyond the link's domain those at its end.
    pub residuals: Vec<f64>,
    pub slopes: Vec<f64>,
    /// The scores, those beyond the domain moved to its end.
    inside: Vec<f64>,
}

/// The step of a unit: where it starts, and what is seen there and at its end.
pub(super) struct Way<'a> {
    pub start: &'a [Lanes],
    pub before: &'a Seen,
    pub after: &'a Seen,
}

impl Block<'_> {
    pub fn units(&self) -> usize {
        self.starts.len() - 1
    }

    /// The places of a unit's entries in the block.
    #[inline(always)]
    pub fn entries(&self, unit: usize) -> Range<usize> {
        self.starts[unit] - self.starts[0]..self.starts[unit + 1] - self.starts[0]
    }

    /// Looks at the entries, with the factors `own` of the units.
    pub fn see(&self, own: &[Lanes], link: &Link, seen: &mut Seen) {
        self.score(own, &mut seen.scores);
        seen.look(link, self.values);
    }

    /// The scores of the entries, with the factors `own` of the units.
    pub fn score(&self, own: &[Lanes], scores: &mut Vec<f64>) {
        scores.resize(self.others.len(), 0.0);
        let (width, units) = (self.rank.div_ceil(LANES), 0..self.units());
        let (others, sides) = (self.others, [own, self.factors]);
        // The entries are counted from 0 as well.
        let starts: Vec<usize> = self.starts.iter().map(|start| start - self.starts[0]).collect();
        by_width!(width, FindScores { width, starts: &starts, others, units, sides, scores });
    }

    /// Leaves the factors of a unit where its step ends, or on the way, or where it starts.
    pub fn judge(
        &self,
        unit: usize,
        link: &Link,
        way: &Way<'_>,
        trial: &mut Seen,
        own: &mut [Lanes],
    ) {
        let (entries, reach) = (self.entries(unit), reach(link));
        let squares = |seen: &[f64]| linalg::dot(seen, seen);
        let inside = |scores: &[f64]| scores.iter().all(|x| x.abs() <= reach);
        let before = squares(&way.before.residuals[entries.clone()]);
        let good = |seen: &Seen, entries: Range<usize>| {
            squares(&seen.residuals[entries.clone()]) <= before && inside(&seen.scores[entries])
        };
        if good(way.after, entries.clone()) {
            return;
        }
        let mut share = 1.0;
        for _ in 0..MOST_HALVINGS {
            share /= 2.0;
            let (from, to) =
                (&way.before.scores[entries.clone()], &way.after.scores[entries.clone()]);
            trial.scores.clear();
            trial.scores.extend(from.iter().zip(to).map(|(from, to)| from + share * (to - from)));
            trial.look(link, &self.values[entries.clone()]);
            if good(trial, 0..entries.len()) {
                for (end, start) in own.as_flattened_mut().iter_mut().zip(way.start.as_flattened())
                {
                    *end = start + share * (*end - start);
                }
                return;
            }
        }
        own.copy_from_slice(way.start);
    }

    /// Halves the way of a unit from its start until its scores are within reach; all of it goes if
    /// that takes too often.
    pub fn go_back(&self, unit: usize, reach: f64, start: &[Lanes], own: &mut [Lanes]) {
        let others = &self.others[self.entries(unit)];
        for _ in 0..MOST_HALVINGS {
            for (own, start) in own.as_flattened_mut().iter_mut().zip(start.as_flattened()) {
                *own = start + 0.5 * (*own - start);
            }
            let score = |other: u32| dot::<simd::Plain<false>>(own, self.other::<0>(other));
            if others.iter().all(|&other| score(other).abs() <= reach) {
                return;
            }
        }
        own.copy_from_slice(start);
    }

    /// `G` and `h` of up to four units.
    #[inline(always)]
    pub fn gather<M: Machine, const C: usize>(
        &self,
        units: &[usize],
        seen: &Seen,
        group: &mut Group,
    ) {
        group.clear();
        for (lane, &unit) in units.iter().enumerate() {
            let entries = self.entries(unit);
            let mut k = entries.start;
            while k < entries.end {
                let live = (entries.end - k).min(LANES);
                let others = &self.others[k..k + live];
                let z = std::array::from_fn(|i| self.other::<C>(others[i.min(live - 1)]));
                let mut slopes = simd::filled(&seen.slopes[k..k + live]);
                slopes[live..].fill(0.0);
                let residuals = simd::filled(&seen.residuals[k..k + live]);
                group.add::<M>(slopes, residuals, z, self.rank, self.width::<C>());
                k += live;
            }
            group.take(lane, self.rank);
        }
    }

    /// The factors of a unit of the other side.
    #[inline(always)]
    pub fn other<const C: usize>(&self, other: u32) -> &[Lanes] {
        of::<C>(self.factors, self.width::<C>(), other as usize)
    }

    #[inline(always)]
    pub fn width<const C: usize>(&self) -> usize {
        if C > 0 { C } else { self.rank.div_ceil(LANES) }
    }
}

impl Seen {
    /// Residuals and slopes at the scores.
    fn look(&mut self, link: &Link, values: &[f64]) {
        let reach = reach(link);
        let Seen { scores, residuals, slopes, inside } = self;
        residuals.resize(values.len(), 0.0);
        slopes.resize(values.len(), 0.0);
        inside.clear();
        inside.extend(scores.iter().map(|x| x.clamp(-reach, reach)));
        let scores = &inside[..];
        match link {
            Link::Known(KnownLink::Identity) => {
                simd::dispatch_wide(Slopes { curve: Straight, scores, values, residuals, slopes })
            }
            Link::Learned(link) => simd::dispatch_wide(Slopes {
                curve: link.fine().link(),
                scores,
                values,
                residuals,
                slopes,
            }),
            link => simd::dispatch_wide(Slopes { curve: link, scores, values, residuals, slopes }),
        };
    }
}

/// How far the domain of a link reaches.
pub(super) fn reach(link: &Link) -> f64 {
    link.learned().map_or(f64::INFINITY, |link| link.space().half_width())
}
