//! Products and sums of factors as they are held, four numbers abreast.

use crate::simd::{self, LANES, Lanes, Machine, ZERO};

/// The factors of a row or column.
#[inline(always)]
pub(crate) fn of<const C: usize>(side: &[Lanes], width: usize, index: usize) -> &[Lanes] {
    let start = index * known::<C>(width);
    &side[start..start + known::<C>(width)]
}

/// The width as the compiler knows it, if it does.
#[inline(always)]
pub(crate) fn known<const C: usize>(width: usize) -> usize {
    if C > 0 { C } else { width }
}

/// `a . b`
#[inline(always)]
pub(crate) fn dot<M: Machine>(a: &[Lanes], b: &[Lanes]) -> f64 {
    let mut sum = ZERO;
    for (a, b) in a.iter().zip(b) {
        sum = simd::mul_add::<M>(*a, *b, sum);
    }
    simd::sum(sum)
}

/// A sum of weighted factors: in registers while the width `C` is known, in place otherwise.
pub(crate) struct Sum<'a, const C: usize> {
    /// Two sums, or each addition would wait for the one before.
    held: [[Lanes; C]; 2],
    place: &'a mut [Lanes],
}

impl<'a, const C: usize> Sum<'a, C> {
    /// Goes on from what is at a place.
    #[inline(always)]
    pub fn from(place: &'a mut [Lanes]) -> Self {
        let mut held = [[ZERO; C]; 2];
        if C > 0 {
            held[0].copy_from_slice(&place[..C]);
        }
        Self { held, place }
    }

    /// Adds `weight z` for two weights and two `z`.
    #[inline(always)]
    pub fn add_two<M: Machine>(&mut self, weights: [f64; 2], z: [&[Lanes]; 2]) {
        if C > 0 {
            for i in 0..2 {
                add_weighted::<M>(&mut self.held[i], weights[i], z[i]);
            }
        } else {
            self.add::<M>(weights[0], z[0]);
            self.add::<M>(weights[1], z[1]);
        }
    }

    /// Adds `weight z`.
    #[inline(always)]
    pub fn add<M: Machine>(&mut self, weight: f64, z: &[Lanes]) {
        let sum = if C > 0 { &mut self.held[0] } else { &mut *self.place };
        add_weighted::<M>(sum, weight, z);
    }

    /// Writes the sum to its place.
    #[inline(always)]
    pub fn finish(self) {
        for (c, place) in self.place.iter_mut().enumerate().take(C) {
            *place = simd::add(self.held[0][c], self.held[1][c]);
        }
    }
}

/// `sum += weight z`
#[inline(always)]
fn add_weighted<M: Machine>(sum: &mut [Lanes], weight: f64, z: &[Lanes]) {
    for (sum, z) in sum.iter_mut().zip(z) {
        *sum = simd::mul_add::<M>([weight; LANES], *z, *sum);
    }
}
