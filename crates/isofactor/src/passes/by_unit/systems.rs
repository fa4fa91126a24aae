//! The systems of all units of a side, kept.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    block::{Block, Seen},
    group::{Group, add_squares, for_each_square, squares},
};
use crate::{
    factors::Factors,
    four::{self, triangle},
    linalg,
    observations::Side,
    passes::{split_at_ends, sums::of},
    simd::{self, Kernel, LANES, Lanes, Machine, ZERO},
};

/// What the entries of a block say of its units.
pub(super) struct Collected {
    /// `G`, triangles of four units abreast.
    pub grams: Vec<Lanes>,
    /// The sum of `G` over the units, and over those of the other side.
    pub sum: Vec<f64>,
    pub sum_of_others: Vec<f64>,
}

/// Finds `G` and `h` of the units of a block.
pub(super) struct Collect<'a, const C: usize> {
    pub block: Block<'a>,
    pub seen: &'a Seen,
    pub own: &'a [Lanes],
    pub right: &'a mut [Lanes],
}

impl<const C: usize> Kernel for Collect<'_, C> {
    type Output = Collected;

    #[inline(always)]
    fn run<M: Machine>(self, _: M) -> Collected {
        let rank = self.block.rank;
        let width = self.block.width::<C>();
        let size = triangle(rank);
        let mut group = Group::new(rank);
        let mut grams = Vec::with_capacity(self.block.units().div_ceil(LANES) * size);
        let mut sum = vec![ZERO; size];
        let mut of_others = vec![ZERO; squares(rank)];
        for first in (0..self.block.units()).step_by(LANES) {
            let units = [first, first + 1, first + 2, first + 3];
            let live = LANES.min(self.block.units() - first);
            self.block.gather::<M, C>(&units[..live], self.seen, &mut group);
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
                add_squares::<M>(&mut of_others, [weight, 0.0, 0.0, 0.0], own, rank, width);
            }
        }
        let mut sum_of_others = vec![0.0; size];
        for_each_square(&of_others, rank, |place, square| sum_of_others[place] = square);
        Collected { grams, sum: sum.into_iter().map(simd::sum).collect(), sum_of_others }
    }
}

/// The diagonal of a triangle; next to nothing in place of nothing.
pub(super) fn diagonal(of: &[f64], rank: usize) -> Vec<f64> {
    (0..rank).map(|a| of[triangle(a) + a].max(f64::MIN_POSITIVE)).collect()
}

/// `G` of every unit of a side; once factorised, `G + D`.
#[derive(Debug)]
pub(crate) struct Systems {
    pub(super) rank: usize,
    pub(super) side: Side,
    /// Blocks of units, and their triangles, four units abreast.
    pub(super) blocks: Vec<(Range<usize>, Vec<Lanes>)>,
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
    fn run<M: Machine>(self, _: M) {
        for gram in self.grams.chunks_exact_mut(self.damping.len()) {
            factorise_damped::<M>(gram, self.damping, self.least);
        }
    }
}

/// `G + D = LL'` in the place of `G`, of four units.
#[inline(always)]
pub(super) fn factorise_damped<M: Machine>(gram: &mut [Lanes], damping: &[f64], least: &[f64]) {
    for (gram, &damping) in gram.iter_mut().zip(damping) {
        *gram = simd::add(*gram, [damping; LANES]);
    }
    four::factorise::<M>(gram, least);
}

/// Solves the systems of a block in the place of their right sides; the matrices repeat when there
/// are no more.
pub(super) struct Solve<'a> {
    pub rank: usize,
    pub lower: &'a [Lanes],
    pub x: &'a mut [Lanes],
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        let (rank, width) = (self.rank, self.rank.div_ceil(LANES));
        let mut abreast = vec![ZERO; rank];
        let groups = self.x.chunks_mut(LANES * width);
        for (lower, units) in self.lower.chunks_exact(triangle(rank)).cycle().zip(groups) {
            for (lane, x) in units.chunks_exact(width).enumerate() {
                abreast.iter_mut().zip(x.as_flattened()).for_each(|(to, x)| to[lane] = *x);
            }
            four::solve::<M>(lower, &mut abreast);
            for (lane, x) in units.chunks_exact_mut(width).enumerate() {
                x.as_flattened_mut().iter_mut().zip(&abreast).for_each(|(x, from)| *x = from[lane]);
            }
        }
    }
}
