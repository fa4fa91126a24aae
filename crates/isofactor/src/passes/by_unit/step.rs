//! The Gauss-Newton steps of the units of a block.

use super::{
    block::{Block, Seen},
    group::Group,
    systems::{Solve, diagonal, factorise_damped},
};
use crate::{
    four::{self, triangle},
    passes::sums::{dot, of},
    simd::{self, Kernel, LANES, Lanes, Machine},
};

/// Adds the Gauss-Newton step of every unit of a block to its factors.
pub(super) struct Step<'a, const C: usize> {
    pub block: Block<'a>,
    pub seen: &'a Seen,
    pub damping: &'a [f64],
    /// `D^-1 z` of the units of the other side.
    pub damped: &'a [Lanes],
    pub own: &'a mut [Lanes],
}

impl<const C: usize> Kernel for Step<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(mut self, _: M) {
        // Units with few entries have a smaller system: one equation an entry.
        let few = self.block.rank / 2;
        let mut many = Vec::with_capacity(self.block.units());
        let mut room = Vec::new();
        for unit in 0..self.block.units() {
            match self.block.entries(unit).len() {
                0 => {}
                count if count <= few => self.step_by_entry::<M>(unit, &mut room),
                _ => many.push(unit),
            }
        }
        let least = diagonal(self.damping, self.block.rank);
        let mut group = Group::new(self.block.rank);
        for units in many.chunks(LANES) {
            self.step_four::<M>(units, &least, &mut group);
        }
    }
}

impl<const C: usize> Step<'_, C> {
    /// `(G + D)^-1 h` of up to four units.
    #[inline(always)]
    fn step_four<M: Machine>(&mut self, units: &[usize], least: &[f64], group: &mut Group) {
        self.block.gather::<M, C>(units, self.seen, group);
        factorise_damped::<M>(&mut group.gram, self.damping, least);
        four::solve::<M>(&group.gram, &mut group.right);
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
    fn step_by_entry<M: Machine>(&mut self, unit: usize, room: &mut Vec<f64>) {
        let (width, entries) = (self.block.width::<C>(), self.block.entries(unit));
        let (others, n) = (&self.block.others[entries.clone()], entries.len());
        let slopes = &self.seen.slopes[entries.clone()];
        room.clear();
        for k in 0..n {
            let z = self.block.other::<C>(others[k]);
            for l in 0..=k {
                let damped = of::<C>(self.damped, width, others[l] as usize);
                let same = if k == l { 1.0 } else { 0.0 };
                room.push(slopes[k] * slopes[l] * dot::<M>(z, damped) + same);
            }
        }
        room.extend_from_slice(&self.seen.residuals[entries]);
        let (lower, c) = room.split_at_mut(triangle(n));
        solve_one(lower, c);
        let own = &mut self.own[unit * width..(unit + 1) * width];
        for k in 0..n {
            let damped = of::<C>(self.damped, width, others[k] as usize);
            for (own, damped) in own.iter_mut().zip(damped) {
                *own = simd::mul_add::<M>([slopes[k] * c[k]; LANES], *damped, *own);
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
pub(super) struct Undamp<'a> {
    pub damping: &'a [f64],
    pub x: &'a mut [Lanes],
    pub rank: usize,
}

impl Kernel for Undamp<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) {
        let mut lower: Vec<Lanes> = self.damping.iter().map(|&d| [d; LANES]).collect();
        four::factorise::<M>(&mut lower, &diagonal(self.damping, self.rank));
        Solve { rank: self.rank, lower: &lower, x: self.x }.run(machine);
    }
}
