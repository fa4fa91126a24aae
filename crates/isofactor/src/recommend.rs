//! The best of the other side for a row or column: what `predict` would say of every pair, without
//! holding more than the best few of them.

use std::{cmp::Ordering, collections::BinaryHeap};

use rayon::prelude::*;

use crate::{error::Result, model::FittedModel, observations::Side, solver::NewUnit, threads};

/// Units of the other side that are passed over together, so that their factors stay in a fast
/// cache while several units are served.
const BLOCK: usize = 512;
/// Units served together by one thread.
const TOGETHER: usize = 8;
/// Units whose answers are held before they are given out; a multiple of [`TOGETHER`].
const ROUND: usize = 64 * TOGETHER;

/// Whom to recommend to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Whom<'a> {
    /// A row or column that the model knows.
    Known(usize),
    /// One that was placed by entries of its own.
    New(&'a NewUnit),
}

/// One unit of the other side, and what is predicted for the pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recommended {
    /// Its number.
    pub unit: usize,
    /// The prediction.
    pub prediction: f64,
}

/// Units of the other side that are not to be recommended, for every unit of a side: usually those
/// it has an entry with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Excluded {
    /// Where the list of each unit begins, and where the last one ends; empty for none at all.
    starts: Vec<usize>,
    others: Vec<u32>,
}

impl Excluded {
    /// From pairs of a unit and a unit of the other side, in any order, as often as one likes.
    /// Units from `count` on are left out.
    pub fn new(count: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let usable = |&(unit, other): &(usize, usize)| unit < count && u32::try_from(other).is_ok();
        let mut starts = vec![0; count + 1];
        for (unit, _) in pairs.clone().filter(usable) {
            starts[unit + 1] += 1;
        }
        for unit in 0..count {
            starts[unit + 1] += starts[unit];
        }
        let mut next = starts.clone();
        let mut others = vec![0u32; starts[count]];
        for (unit, other) in pairs.filter(usable) {
            others[next[unit]] = other as u32;
            next[unit] += 1;
        }
        for unit in 0..count {
            others[starts[unit]..starts[unit + 1]].sort_unstable();
        }
        Self { starts, others }
    }

    /// What is excluded for a unit, increasing.
    pub fn of(&self, unit: usize) -> &[u32] {
        match (self.starts.get(unit), self.starts.get(unit + 1)) {
            (Some(&start), Some(&end)) => &self.others[start..end],
            _ => &[],
        }
    }
}

impl FittedModel {
    /// The `top` units of the other side with the highest predictions for a unit of `side`, best
    /// first, without those in `excluded` (increasing).
    ///
    /// Equal predictions (many reach the highest training value, to which they are kept) are in
    /// the order of their scores, and where these are equal too in the order of the units.
    pub fn recommend(
        &self,
        side: Side,
        whom: Whom<'_>,
        excluded: &[u32],
        top: usize,
    ) -> Vec<Recommended> {
        let mut best = Best::new(excluded, top);
        best.see(self, side, whom, 0..self.count(side.other()));
        best.sorted()
    }

    /// The same for every known unit of `side`, in their order, worked out as they are asked for.
    /// `threads` is how many do the work, 0 one per core; the answers do not depend on it.
    pub fn recommend_all<'a>(
        &'a self,
        side: Side,
        excluded: &'a Excluded,
        top: usize,
        threads: usize,
    ) -> Result<Recommendations<'a>> {
        let (pool, ready) = (threads::pool(threads)?, Vec::new().into_iter());
        // A learned link makes its table at its first use, with the help of all threads: not inside
        // work that they share already.
        self.link.prepare();
        Ok(Recommendations { model: self, side, excluded, top, pool, next: 0, ready })
    }

    fn recommend_some(
        &self,
        side: Side,
        units: &[usize],
        excluded: &Excluded,
        top: usize,
    ) -> Vec<Vec<Recommended>> {
        let others = self.count(side.other());
        let mut best: Vec<Best<'_>> =
            units.iter().map(|&unit| Best::new(excluded.of(unit), top)).collect();
        for start in (0..others).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(others);
            for (best, &unit) in best.iter_mut().zip(units) {
                best.see(self, side, Whom::Known(unit), block.clone());
            }
        }
        best.into_iter().map(Best::sorted).collect()
    }

    /// How many units of a side it knows.
    pub fn count(&self, side: Side) -> usize {
        self.shape().count(side)
    }

    /// Prediction and score of a unit of `side` with one of the other side.
    fn seen_with(&self, side: Side, whom: Whom<'_>, other: usize) -> (f64, f64) {
        match (side, whom) {
            (Side::Rows, Whom::Known(row)) => self.predict_and_score(row, other),
            (Side::Columns, Whom::Known(column)) => self.predict_and_score(other, column),
            (Side::Rows, Whom::New(row)) => {
                let score = self.new_row_score(row, Some(other));
                (self.predict_new(score), score)
            }
            (Side::Columns, Whom::New(column)) => {
                let score = self.new_column_score(Some(other), column);
                (self.predict_new(score), score)
            }
        }
    }
}

/// Recommendations to all units of a side: their number, and the best of the other side.
#[derive(Debug)]
pub struct Recommendations<'a> {
    model: &'a FittedModel,
    side: Side,
    excluded: &'a Excluded,
    top: usize,
    pool: rayon::ThreadPool,
    /// The first unit that has not been worked out.
    next: usize,
    ready: std::vec::IntoIter<(usize, Vec<Recommended>)>,
}

impl Iterator for Recommendations<'_> {
    type Item = (usize, Vec<Recommended>);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(ready) = self.ready.next() {
            return Some(ready);
        }
        let end = (self.next + ROUND).min(self.model.count(self.side));
        let units: Vec<usize> = (self.next..end).collect();
        let (model, side, excluded, top) = (self.model, self.side, self.excluded, self.top);
        let answers: Vec<Vec<Vec<Recommended>>> = self.pool.install(|| {
            let some = |units: &[usize]| model.recommend_some(side, units, excluded, top);
            units.par_chunks(TOGETHER).map(some).collect()
        });
        let answers: Vec<_> = units.into_iter().zip(answers.into_iter().flatten()).collect();
        (self.next, self.ready) = (end, answers.into_iter());
        self.ready.next()
    }
}

/// The best few so far.
struct Best<'a> {
    excluded: &'a [u32],
    top: usize,
    /// The worst of them on top.
    heap: BinaryHeap<Candidate>,
}

impl<'a> Best<'a> {
    fn new(excluded: &'a [u32], top: usize) -> Self {
        Self { excluded, top, heap: BinaryHeap::new() }
    }

    /// Takes these units of the other side into account; they come in increasing order.
    fn see(
        &mut self,
        model: &FittedModel,
        side: Side,
        whom: Whom<'_>,
        others: std::ops::Range<usize>,
    ) {
        for unit in others {
            while self.excluded.first().is_some_and(|&first| (first as usize) < unit) {
                self.excluded = &self.excluded[1..];
            }
            if self.excluded.first().is_some_and(|&first| first as usize == unit) {
                continue;
            }
            let (prediction, score) = model.seen_with(side, whom, unit);
            self.take(Candidate { prediction, score, unit });
        }
    }

    fn take(&mut self, candidate: Candidate) {
        if self.heap.len() < self.top {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    fn sorted(self) -> Vec<Recommended> {
        let best = self.heap.into_sorted_vec().into_iter();
        best.map(|c| Recommended { unit: c.unit, prediction: c.prediction }).collect()
    }
}

/// A unit that may be among the best. Less is better, so that the worst is the greatest.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    prediction: f64,
    score: f64,
    unit: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        descending(self.prediction, other.prediction)
            .then_with(|| descending(self.score, other.score))
            .then_with(|| self.unit.cmp(&other.unit))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// The larger first; what overflowed to no number last.
fn descending(a: f64, b: f64) -> Ordering {
    match b.partial_cmp(&a) {
        Some(order) => order,
        None => a.is_nan().cmp(&b.is_nan()),
    }
}
