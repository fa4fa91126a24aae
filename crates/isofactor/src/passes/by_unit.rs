//! Each row or column by itself, the other side and the link as they are: a small least-squares
//! problem, linearised at the scores there are.
//!
//! With `z` the factors of the other unit of an entry, `x` its score and `g = y - phi(x)`, a unit
//! has
//!
//! ```text
//! G = sum_k phi'(x_k)^2 z z'        h = sum_k phi'(x_k) g_k z
//! ```
//!
//! and its Gauss-Newton step is `(G + D)^-1 h` with a damping `D`.

use std::{borrow::Cow, ops::Range};

use rayon::prelude::*;

use super::{
    Entries, blocks,
    curve::{Slopes, Straight},
    kernels::FindScores,
    split_at_ends,
    sums::{by_width, dot, of},
};
use crate::{
    factors::Factors,
    four::{self, triangle},
    linalg,
    link::{KnownLink, Link},
    observations::Side,
    simd::{self, Kernel, LANES, Lanes, ZERO},
};

/// A unit's system costs as much to solve as so many entries to gather.
const SOLVE: usize = 16;
/// How often the step of a unit is halved before it stays where it is.
const MOST_HALVINGS: usize = 3;

/// The entries of the units of one side.
#[derive(Debug)]
pub(crate) struct ByUnit<'a> {
    pub side: Side,
    /// Where the entries of each unit begin, and where the last one's end.
    starts: Cow<'a, [usize]>,
    /// The other unit of each entry.
    others: Cow<'a, [u32]>,
    values: Cow<'a, [f64]>,
    /// Units with about as much work together.
    blocks: Vec<Range<usize>>,
}

impl<'a> Entries<'a> {
    /// The entries of each unit of a side.
    pub(crate) fn by_unit(&self, side: Side) -> ByUnit<'a> {
        let observations = self.observations;
        let values = observations.values();
        let (starts, others, values) = match side {
            Side::Rows => {
                let (starts, columns) = (observations.row_starts(), observations.columns());
                (Cow::Borrowed(starts), Cow::Borrowed(columns), Cow::Borrowed(values))
            }
            Side::Columns => {
                let columns = observations.by_column();
                let values = columns.numbers.iter().map(|&k| values[k as usize]).collect();
                (Cow::Owned(columns.starts), Cow::Owned(columns.rows), Cow::Owned(values))
            }
        };
        let work: Vec<usize> =
            starts.iter().enumerate().map(|(unit, start)| start + SOLVE * unit).collect();
        ByUnit { side, starts, others, values, blocks: blocks(&work) }
    }
}

impl ByUnit<'_> {
    /// `G` of every unit, and `h`, with nothing for the other side.
    pub fn equations(&self, factors: &Factors, link: &Link) -> (Systems, Factors) {
        let rank = factors.rank();
        let mut right = factors.only(self.side);
        let (own, others) = (factors.held(self.side), factors.held(self.side.other()));
        let width = factors.width();
        let shares = split_at_ends(right.held_mut(self.side), &self.ends(width));
        let found: Vec<Collected> = (self.blocks.par_iter())
            .zip(shares)
            .map_init(Seen::default, |seen, (units, right)| {
                let own = &own[units.start * width..units.end * width];
                let block = self.block(units, others, rank);
                block.see(own, link, seen);
                by_width!(width, Collect { block, seen, own, right })
            })
            .collect();
        let shape = factors.shape();
        let mean = |count: usize, part: fn(&Collected) -> &[f64]| {
            let mut sum = vec![0.0; triangle(rank)];
            found.iter().for_each(|found| linalg::add_scaled(&mut sum, 1.0, part(found)));
            sum.iter_mut().for_each(|sum| *sum /= count as f64);
            sum
        };
        let systems = Systems {
            rank,
            side: self.side,
            mean: mean(shape.count(self.side), |found| &found.sum),
            mean_of_others: mean(shape.count(self.side.other()), |found| &found.sum_of_others),
            blocks: self.blocks.iter().cloned().zip(found.into_iter().map(|f| f.grams)).collect(),
        };
        (systems, right)
    }

    /// Every unit makes its Gauss-Newton step with this damping (a triangle), or part of it, or
    /// none: its squares do not rise, and its scores do not leave the link's domain.
    pub fn refit(&self, factors: &mut Factors, link: &Link, damping: &[f64]) {
        let (rank, width) = (factors.rank(), factors.width());
        let (own, others) = factors.sides_mut(self.side);
        let mut damped = others.to_vec();
        simd::dispatch(Undamp { damping, x: &mut damped, rank });
        let shares = split_at_ends(own, &self.ends(width));
        self.blocks.par_iter().zip(shares).for_each_init(
            <[Seen; 3]>::default,
            |[before, after, trial], (units, own)| {
                let block = self.block(units, others, rank);
                block.see(own, link, before);
                let start = own.to_vec();
                by_width!(width, Step { block, seen: before, damping, damped: &damped, own });
                block.see(own, link, after);
                for unit in 0..units.len() {
                    let place = unit * width..(unit + 1) * width;
                    let way = Way { start: &start[place.clone()], before, after };
                    block.judge(unit, link, &way, trial, &mut own[place]);
                }
            },
        );
    }

    /// Units whose scores left the link's domain go back to where they were. Whether there were any.
    pub fn hold_inside(&self, factors: &mut Factors, from: &Factors, link: &Link) -> bool {
        let (rank, width, reach) = (factors.rank(), factors.width(), reach(link));
        let (own, others) = factors.sides_mut(self.side);
        let shares = split_at_ends(own, &self.ends(width));
        let held: Vec<bool> = (self.blocks.par_iter().zip(shares))
            .map_init(Vec::new, |scores, (units, own)| {
                let block = self.block(units, others, rank);
                block.score(own, scores);
                let mut held = false;
                for unit in 0..units.len() {
                    if scores[block.entries(unit)].iter().any(|x| x.abs() > reach) {
                        let back = of::<0>(from.held(self.side), width, units.start + unit);
                        own[unit * width..(unit + 1) * width].copy_from_slice(back);
                        held = true;
                    }
                }
                held
            })
            .collect();
        held.contains(&true)
    }

    fn block<'b>(&'b self, units: &Range<usize>, factors: &'b [Lanes], rank: usize) -> Block<'b> {
        let starts = &self.starts[units.start..=units.end];
        let entries = starts[0]..starts[units.len()];
        Block {
            starts,
            others: &self.others[entries.clone()],
            values: &self.values[entries],
            factors,
            rank,
        }
    }

    /// Where the factors of each block end.
    fn ends(&self, width: usize) -> Vec<usize> {
        self.blocks.iter().map(|block| block.end * width).collect()
    }
}

/// The entries of some units; the units are counted from 0 here.
#[derive(Clone, Copy)]
struct Block<'a> {
    starts: &'a [usize],
    others: &'a [u32],
    values: &'a [f64],
    /// The factors of the other side.
    factors: &'a [Lanes],
    rank: usize,
}

/// What the entries of a block show at some factors.
#[derive(Default)]
struct Seen {
    scores: Vec<f64>,
    /// `g`, and `phi'`; beyond the link's domain those at its end.
    residuals: Vec<f64>,
    slopes: Vec<f64>,
    /// The scores, those beyond the domain moved to its end.
    inside: Vec<f64>,
}

/// The step of a unit: where it starts, and what is seen there and at its end.
struct Way<'a> {
    start: &'a [Lanes],
    before: &'a Seen,
    after: &'a Seen,
}

impl Block<'_> {
    fn units(&self) -> usize {
        self.starts.len() - 1
    }

    /// The places of a unit's entries in the block.
    #[inline(always)]
    fn entries(&self, unit: usize) -> Range<usize> {
        self.starts[unit] - self.starts[0]..self.starts[unit + 1] - self.starts[0]
    }

    /// Looks at the entries, with the factors `own` of the units.
    fn see(&self, own: &[Lanes], link: &Link, seen: &mut Seen) {
        self.score(own, &mut seen.scores);
        seen.look(link, self.values);
    }

    /// The scores of the entries, with the factors `own` of the units.
    fn score(&self, own: &[Lanes], scores: &mut Vec<f64>) {
        scores.resize(self.others.len(), 0.0);
        let (width, units) = (self.rank.div_ceil(LANES), 0..self.units());
        let (others, sides) = (self.others, [own, self.factors]);
        // The entries are counted from 0 as well.
        let starts: Vec<usize> = self.starts.iter().map(|start| start - self.starts[0]).collect();
        by_width!(width, FindScores { width, starts: &starts, others, units, sides, scores });
    }

    /// Leaves the factors of a unit where its step ends, or on the way, or where it starts.
    fn judge(&self, unit: usize, link: &Link, way: &Way<'_>, trial: &mut Seen, own: &mut [Lanes]) {
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

    /// `G` and `h` of up to four units.
    #[inline(always)]
    fn gather<const FMA: bool, const C: usize>(
        &self,
        units: &[usize],
        seen: &Seen,
        group: &mut Group,
    ) {
        group.gram.fill(ZERO);
        group.right.fill(ZERO);
        for (lane, &unit) in units.iter().enumerate() {
            group.squares.fill(ZERO);
            group.pull.fill(ZERO);
            let entries = self.entries(unit);
            let mut k = entries.start;
            while k < entries.end {
                let live = (entries.end - k).min(LANES);
                let others = &self.others[k..k + live];
                let z = std::array::from_fn(|i| self.other::<C>(others[i.min(live - 1)]));
                let mut slopes = simd::filled(&seen.slopes[k..k + live]);
                slopes[live..].fill(0.0);
                let residuals = simd::filled(&seen.residuals[k..k + live]);
                group.add::<FMA>(slopes, residuals, z, self.rank, self.width::<C>());
                k += live;
            }
            group.take(lane, self.rank);
        }
    }

    /// The factors of a unit of the other side.
    #[inline(always)]
    fn other<const C: usize>(&self, other: u32) -> &[Lanes] {
        of::<C>(self.factors, self.width::<C>(), other as usize)
    }

    #[inline(always)]
    fn width<const C: usize>(&self) -> usize {
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
                simd::dispatch(Slopes { curve: &Straight, scores, values, residuals, slopes })
            }
            Link::Learned(link) => {
                simd::dispatch(Slopes { curve: link.fine(), scores, values, residuals, slopes })
            }
            link => simd::dispatch(Slopes { curve: link, scores, values, residuals, slopes }),
        };
    }
}

/// How far the domain of a link reaches.
fn reach(link: &Link) -> f64 {
    link.learned().map_or(f64::INFINITY, |link| link.space().half_width())
}

/// How many fours the lower triangle of a square takes as [`add_squares`] holds it.
fn squares(rank: usize) -> usize {
    (0..rank.div_ceil(LANES)).map(|c| rank - LANES * c).sum()
}

/// `sum += w_0 z_0 z_0' + ... + w_3 z_3 z_3'`, of which the lower triangle is held: for each four
/// columns their rows from the first of the four on.
#[inline(always)]
fn add_squares<const FMA: bool>(
    sum: &mut [Lanes],
    weights: Lanes,
    z: [&[Lanes]; LANES],
    rank: usize,
    width: usize,
) {
    let z = z.map(|z| &z[..width]);
    let numbers = z.map(|z| &z.as_flattened()[..rank]);
    let mut rest = sum;
    let abreast = z[0].iter().zip(z[1]).zip(z[2]).zip(z[3]).enumerate();
    for (c, (((z0, z1), z2), z3)) in abreast {
        let rows;
        (rows, rest) = rest.split_at_mut(rank - LANES * c);
        let times = |weight: f64, z: &Lanes| simd::mul([weight; LANES], *z);
        let weighted = [
            times(weights[0], z0),
            times(weights[1], z1),
            times(weights[2], z2),
            times(weights[3], z3),
        ];
        for (i, sum) in rows.iter_mut().enumerate() {
            let a = LANES * c + i;
            let near = simd::mul_add::<FMA>([numbers[0][a]; LANES], weighted[0], *sum);
            let far = simd::mul([numbers[1][a]; LANES], weighted[1]);
            let near = simd::mul_add::<FMA>([numbers[2][a]; LANES], weighted[2], near);
            let far = simd::mul_add::<FMA>([numbers[3][a]; LANES], weighted[3], far);
            *sum = simd::add(near, far);
        }
    }
}

/// Shows the lower triangle of a square: the place of each number in a packed triangle, and the
/// number.
#[inline(always)]
fn for_each_square(squares: &[Lanes], rank: usize, mut show: impl FnMut(usize, f64)) {
    let mut rest = squares;
    for c in (0..rank).step_by(LANES) {
        let rows;
        (rows, rest) = rest.split_at(rank - c);
        for (i, row) in rows.iter().enumerate() {
            let a = c + i;
            for (b, &number) in row.iter().enumerate().take(i + 1) {
                show(triangle(a) + c + b, number);
            }
        }
    }
}

/// The systems of four units, one in each lane.
struct Group {
    /// `G`, a triangle.
    gram: Vec<Lanes>,
    /// `h`
    right: Vec<Lanes>,
    /// `G` and `h` of one unit.
    squares: Vec<Lanes>,
    pull: Vec<Lanes>,
}

impl Group {
    fn new(rank: usize) -> Self {
        let (width, lanes) = (rank.div_ceil(LANES), |count: usize| vec![ZERO; count]);
        Self {
            gram: lanes(triangle(rank)),
            right: lanes(rank),
            squares: lanes(squares(rank)),
            pull: lanes(width),
        }
    }

    /// Adds four entries to what is found for a unit.
    #[inline(always)]
    fn add<const FMA: bool>(
        &mut self,
        slopes: Lanes,
        residuals: Lanes,
        z: [&[Lanes]; LANES],
        rank: usize,
        width: usize,
    ) {
        add_squares::<FMA>(&mut self.squares, simd::mul(slopes, slopes), z, rank, width);
        let pulls = simd::mul(slopes, residuals);
        for (c, pull) in self.pull.iter_mut().enumerate().take(width) {
            for k in 0..LANES {
                *pull = simd::mul_add::<FMA>([pulls[k]; LANES], z[k][c], *pull);
            }
        }
    }

    /// Puts what was found for a unit in its lane.
    #[inline(always)]
    fn take(&mut self, lane: usize, rank: usize) {
        for_each_square(&self.squares, rank, |place, square| self.gram[place][lane] = square);
        for (to, from) in self.right.iter_mut().zip(self.pull.as_flattened()) {
            to[lane] = *from;
        }
    }
}

/// What the entries of a block say of its units.
struct Collected {
    /// `G`, triangles of four units abreast.
    grams: Vec<Lanes>,
    /// The sum of `G` over the units, and over those of the other side.
    sum: Vec<f64>,
    sum_of_others: Vec<f64>,
}

/// Finds `G` and `h` of the units of a block.
struct Collect<'a, const C: usize> {
    block: Block<'a>,
    seen: &'a Seen,
    own: &'a [Lanes],
    right: &'a mut [Lanes],
}

impl<const C: usize> Kernel for Collect<'_, C> {
    type Output = Collected;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Collected {
        let rank = self.block.rank;
        let width = if C > 0 { C } else { rank.div_ceil(LANES) };
        let size = triangle(rank);
        let mut group = Group::new(rank);
        let mut grams = Vec::with_capacity(self.block.units().div_ceil(LANES) * size);
        let mut sum = vec![ZERO; size];
        let mut of_others = vec![ZERO; squares(rank)];
        for first in (0..self.block.units()).step_by(LANES) {
            let units = [first, first + 1, first + 2, first + 3];
            let live = LANES.min(self.block.units() - first);
            self.block.gather::<FMA, C>(&units[..live], self.seen, &mut group);
            grams.extend_from_slice(&group.gram);
            for (sum, gram) in sum.iter_mut().zip(&group.gram) {
                *sum = simd::add(*sum, *gram);
            }
            for unit in first..first + live {
                let to = self.right[unit * width..].as_flattened_mut();
                for (to, from) in to.iter_mut().zip(&group.right) {
                    *to = from[unit - first];
                }
                let slopes = &self.seen.slopes[self.block.entries(unit)];
                let weight = linalg::dot(slopes, slopes);
                let own = [of::<C>(self.own, width, unit); LANES];
                add_squares::<FMA>(&mut of_others, [weight, 0.0, 0.0, 0.0], own, rank, width);
            }
        }
        let mut sum_of_others = vec![0.0; size];
        for_each_square(&of_others, rank, |place, square| sum_of_others[place] = square);
        Collected { grams, sum: sum.into_iter().map(simd::sum).collect(), sum_of_others }
    }
}

/// Adds the Gauss-Newton step of every unit of a block to its factors.
struct Step<'a, const C: usize> {
    block: Block<'a>,
    seen: &'a Seen,
    damping: &'a [f64],
    /// `D^-1 z` of the units of the other side.
    damped: &'a [Lanes],
    own: &'a mut [Lanes],
}

impl<const C: usize> Kernel for Step<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        // Units with few entries have a smaller system: one equation an entry.
        let few = self.block.rank / 2;
        let mut many = Vec::with_capacity(self.block.units());
        let mut room = Vec::new();
        for unit in 0..self.block.units() {
            match self.block.entries(unit).len() {
                0 => {}
                count if count <= few => self.step_by_entry::<FMA>(unit, &mut room),
                _ => many.push(unit),
            }
        }
        let least = diagonal(self.damping, self.block.rank);
        let mut group = Group::new(self.block.rank);
        for units in many.chunks(LANES) {
            self.step_four::<FMA>(units, &least, &mut group);
        }
    }
}

impl<const C: usize> Step<'_, C> {
    /// `(G + D)^-1 h` of up to four units.
    #[inline(always)]
    fn step_four<const FMA: bool>(&mut self, units: &[usize], least: &[f64], group: &mut Group) {
        self.block.gather::<FMA, C>(units, self.seen, group);
        for (gram, &damping) in group.gram.iter_mut().zip(self.damping) {
            *gram = simd::add(*gram, [damping; LANES]);
        }
        four::factorise::<FMA>(&mut group.gram, least);
        four::solve::<FMA>(&group.gram, &mut group.right);
        let width = self.block.width::<C>();
        for (lane, unit) in units.iter().enumerate() {
            let own = self.own[unit * width..].as_flattened_mut();
            for (own, step) in own.iter_mut().zip(&group.right) {
                *own += step[lane];
            }
        }
    }

    /// The same step from the side of the entries: with `s_k` their slopes and `z_k` the other
    /// units' factors,
    ///
    /// ```text
    /// (G + D)^-1 h = sum_k s_k c_k D^-1 z_k    (K + I) c = g    K_kl = s_k s_l z_k' D^-1 z_l
    /// ```
    #[inline(always)]
    fn step_by_entry<const FMA: bool>(&mut self, unit: usize, room: &mut Vec<f64>) {
        let (width, entries) = (self.block.width::<C>(), self.block.entries(unit));
        let (others, n) = (&self.block.others[entries.clone()], entries.len());
        let slopes = &self.seen.slopes[entries.clone()];
        room.clear();
        for k in 0..n {
            let z = self.block.other::<C>(others[k]);
            for l in 0..=k {
                let damped = of::<C>(self.damped, width, others[l] as usize);
                let same = if k == l { 1.0 } else { 0.0 };
                room.push(slopes[k] * slopes[l] * dot::<FMA>(z, damped) + same);
            }
        }
        room.extend_from_slice(&self.seen.residuals[entries]);
        let (lower, c) = room.split_at_mut(triangle(n));
        solve_one(lower, c);
        let own = &mut self.own[unit * width..(unit + 1) * width];
        for k in 0..n {
            let damped = of::<C>(self.damped, width, others[k] as usize);
            for (own, damped) in own.iter_mut().zip(damped) {
                *own = simd::mul_add::<FMA>([slopes[k] * c[k]; LANES], *damped, *own);
            }
        }
    }
}

/// `x` with `A x = b` in the place of `b`, for a triangle whose pivots are at least one.
#[inline(always)]
fn solve_one(a: &mut [f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        for j in 0..=i {
            let (row, other) = (triangle(i), triangle(j));
            let known: f64 = (0..j).map(|k| a[row + k] * a[other + k]).sum();
            let rest = a[row + j] - known;
            a[row + j] = if i == j { rest.max(1.0).sqrt() } else { rest / a[other + j] };
        }
        let known: f64 = (0..i).map(|k| a[triangle(i) + k] * x[k]).sum();
        x[i] = (x[i] - known) / a[triangle(i) + i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| a[triangle(k) + i] * x[k]).sum();
        x[i] = (x[i] - known) / a[triangle(i) + i];
    }
}

/// `x <- D^-1 x` for many units.
struct Undamp<'a> {
    damping: &'a [f64],
    x: &'a mut [Lanes],
    rank: usize,
}

impl Kernel for Undamp<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let mut lower: Vec<Lanes> = self.damping.iter().map(|&d| [d; LANES]).collect();
        four::factorise::<FMA>(&mut lower, &diagonal(self.damping, self.rank));
        Solve { rank: self.rank, lower: &lower, x: self.x }.run::<FMA>();
    }
}

/// The diagonal of a triangle; next to nothing in place of nothing.
fn diagonal(of: &[f64], rank: usize) -> Vec<f64> {
    (0..rank).map(|a| of[triangle(a) + a].max(f64::MIN_POSITIVE)).collect()
}

/// `G` of every unit of a side; once factorised, `G + D`.
#[derive(Debug)]
pub(crate) struct Systems {
    rank: usize,
    side: Side,
    /// Blocks of units, and their triangles, four units abreast.
    blocks: Vec<(Range<usize>, Vec<Lanes>)>,
    /// The mean of `G` over the units, and over those of the other side.
    pub mean: Vec<f64>,
    pub mean_of_others: Vec<f64>,
}

impl Systems {
    /// Makes them ready to be solved with this damping.
    pub fn factorise(&mut self, damping: &[f64]) {
        let least = diagonal(damping, self.rank);
        self.blocks.par_iter_mut().for_each(|(_, grams)| {
            simd::dispatch(Factorise { grams, damping, least: &least });
        });
    }

    /// `(G + D)^-1 h` for every unit.
    pub fn solve(&self, right: &Factors) -> Factors {
        let mut solved = right.clone();
        let width = right.width();
        let ends: Vec<usize> = self.blocks.iter().map(|(units, _)| units.end * width).collect();
        let shares = split_at_ends(solved.held_mut(self.side), &ends);
        self.blocks.par_iter().zip(shares).for_each(|((_, lower), x)| {
            simd::dispatch(Solve { rank: self.rank, lower, x });
        });
        solved
    }
}

struct Factorise<'a> {
    grams: &'a mut [Lanes],
    damping: &'a [f64],
    least: &'a [f64],
}

impl Kernel for Factorise<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for gram in self.grams.chunks_exact_mut(self.damping.len()) {
            for (gram, &damping) in gram.iter_mut().zip(self.damping) {
                *gram = simd::add(*gram, [damping; LANES]);
            }
            four::factorise::<FMA>(gram, self.least);
        }
    }
}

/// Solves the systems of a block in the place of their right sides; the matrices repeat when there
/// are no more.
struct Solve<'a> {
    rank: usize,
    lower: &'a [Lanes],
    x: &'a mut [Lanes],
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (rank, width) = (self.rank, self.rank.div_ceil(LANES));
        let mut abreast = vec![ZERO; rank];
        let groups = self.x.chunks_mut(LANES * width);
        for (lower, units) in self.lower.chunks_exact(triangle(rank)).cycle().zip(groups) {
            for (lane, x) in units.chunks_exact(width).enumerate() {
                abreast.iter_mut().zip(x.as_flattened()).for_each(|(to, x)| to[lane] = *x);
            }
            four::solve::<FMA>(lower, &mut abreast);
            for (lane, x) in units.chunks_exact_mut(width).enumerate() {
                x.as_flattened_mut().iter_mut().zip(&abreast).for_each(|(x, from)| *x = from[lane]);
            }
        }
    }
}
