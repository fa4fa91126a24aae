//! Factors as the passes read them: four numbers abreast, the last ones filled up with zeros.

use crate::{
    factors::Factors,
    observations::Shape,
    simd::{self, LANES, Lanes, ZERO},
};

/// Factors of rows and columns, `width` times four numbers each.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    pub width: usize,
    pub rows: Vec<Lanes>,
    pub columns: Vec<Lanes>,
}

impl Packed {
    pub fn new(factors: &Factors) -> Self {
        let rank = factors.rank();
        let width = rank.div_ceil(LANES);
        Self { width, rows: pack(factors.rows(), rank), columns: pack(factors.columns(), rank) }
    }

    pub fn zeros(shape: Shape, rank: usize) -> Self {
        let width = rank.div_ceil(LANES);
        let zeros = |count: usize| vec![ZERO; count * width];
        Self { width, rows: zeros(shape.rows), columns: zeros(shape.columns) }
    }

    /// The first `rank` numbers of each row and column.
    pub fn unpacked(&self, shape: Shape, rank: usize) -> Factors {
        let mut factors = Factors::zeros(shape, rank);
        unpack(&self.rows, rank, factors.rows_mut());
        unpack(&self.columns, rank, factors.columns_mut());
        factors
    }
}

fn pack(side: &[f64], rank: usize) -> Vec<Lanes> {
    let width = rank.div_ceil(LANES);
    let mut packed = vec![ZERO; side.len() / rank * width];
    for (to, from) in packed.chunks_exact_mut(width).zip(side.chunks_exact(rank)) {
        to.as_flattened_mut()[..rank].copy_from_slice(from);
    }
    packed
}

fn unpack(packed: &[Lanes], rank: usize, side: &mut [f64]) {
    let width = rank.div_ceil(LANES);
    for (to, from) in side.chunks_exact_mut(rank).zip(packed.chunks_exact(width)) {
        to.copy_from_slice(&from.as_flattened()[..rank]);
    }
}

/// Runs a kernel with its width `C` known to the compiler where it is at most eight (rank 32);
/// width 0 stands for any other, read from the factors.
macro_rules! by_width {
    ($width:expr, $kernel:ident $fields:tt) => {
        match $width {
            1 => $crate::simd::dispatch($kernel::<1> $fields),
            2 => $crate::simd::dispatch($kernel::<2> $fields),
            3 => $crate::simd::dispatch($kernel::<3> $fields),
            4 => $crate::simd::dispatch($kernel::<4> $fields),
            5 => $crate::simd::dispatch($kernel::<5> $fields),
            6 => $crate::simd::dispatch($kernel::<6> $fields),
            7 => $crate::simd::dispatch($kernel::<7> $fields),
            8 => $crate::simd::dispatch($kernel::<8> $fields),
            _ => $crate::simd::dispatch($kernel::<0> $fields),
        }
    };
}
pub(crate) use by_width;

/// The factors of a row or column.
#[inline(always)]
pub(crate) fn of<const C: usize>(side: &[Lanes], width: usize, index: usize) -> &[Lanes] {
    let width = if C > 0 { C } else { width };
    &side[index * width..][..width]
}

/// `a . b`
#[inline(always)]
pub(crate) fn dot<const FMA: bool>(a: &[Lanes], b: &[Lanes]) -> f64 {
    let mut sum = ZERO;
    for (a, b) in a.iter().zip(b) {
        sum = simd::mul_add::<FMA>(*a, *b, sum);
    }
    simd::sum(sum)
}

/// A sum of weighted factors: in registers while the width `C` is known, in place otherwise.
pub(crate) struct Sum<'a, const C: usize> {
    held: [Lanes; C],
    place: &'a mut [Lanes],
}

impl<'a, const C: usize> Sum<'a, C> {
    /// Goes on from what is at a place.
    #[inline(always)]
    pub fn from(place: &'a mut [Lanes]) -> Self {
        let mut held = [ZERO; C];
        if C > 0 {
            held.copy_from_slice(&place[..C]);
        }
        Self { held, place }
    }

    /// Adds `weight z`.
    #[inline(always)]
    pub fn add<const FMA: bool>(&mut self, weight: f64, z: &[Lanes]) {
        let weight = [weight; LANES];
        if C > 0 {
            for c in 0..C {
                self.held[c] = simd::mul_add::<FMA>(weight, z[c], self.held[c]);
            }
        } else {
            for (sum, z) in self.place.iter_mut().zip(z) {
                *sum = simd::mul_add::<FMA>(weight, *z, *sum);
            }
        }
    }

    /// Writes the sum to its place.
    #[inline(always)]
    pub fn finish(self) {
        if C > 0 {
            self.place[..C].copy_from_slice(&self.held);
        }
    }
}
