//! The systems of four units at a time.

use crate::{
    four::triangle,
    simd::{self, LANES, Lanes, Machine, ZERO},
};

/// How many fours the lower triangle of a square takes as [`add_squares`] holds it.
pub(super) fn squares(rank: usize) -> usize {
    (0..rank.div_ceil(LANES)).map(|c| rank - LANES * c).sum()
}

/// `sum += w_0 z_0 z_0' + ... + w_3 z_3 z_3'`, of which the lower triangle is held: for each four
/// columns their rows from the first of the four on.
#[inline(always)]
pub(super) fn add_squares<M: Machine>(
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
            let near = simd::mul_add::<M>([numbers[0][a]; LANES], weighted[0], *sum);
            let far = simd::mul([numbers[1][a]; LANES], weighted[1]);
            let near = simd::mul_add::<M>([numbers[2][a]; LANES], weighted[2], near);
            let far = simd::mul_add::<M>([numbers[3][a]; LANES], weighted[3], far);
            *sum = simd::add(near, far);
        }
    }
}

/// Shows the lower triangle of a square: the place of each number in a packed triangle, and the
/// number.
#[inline(always)]
pub(super) fn for_each_square(squares: &[Lanes], rank: usize, mut show: impl FnMut(usize, f64)) {
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
pub(super) struct Group {
    /// `G`, a triangle.
    pub gram: Vec<Lanes>,
    /// `h`
    pub right: Vec<Lanes>,
    /// `G` and `h` of one unit.
    squares: Vec<Lanes>,
    pull: Vec<Lanes>,
}

impl Group {
    pub fn new(rank: usize) -> Self {
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
    pub fn add<M: Machine>(
        &mut self,
        slopes: Lanes,
        residuals: Lanes,
        z: [&[Lanes]; LANES],
        rank: usize,
        width: usize,
    ) {
        add_squares::<M>(&mut self.squares, simd::mul(slopes, slopes), z, rank, width);
        let pulls = simd::mul(slopes, residuals);
        for (c, pull) in self.pull.iter_mut().enumerate().take(width) {
            for k in 0..LANES {
                *pull = simd::mul_add::<M>([pulls[k]; LANES], z[k][c], *pull);
            }
        }
    }

    /// Nothing is known of any unit.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.gram.fill(ZERO);
        self.right.fill(ZERO);
    }

    /// Puts what was found for a unit in its lane, and is ready for the next.
    #[inline(always)]
    pub fn take(&mut self, lane: usize, rank: usize) {
        for_each_square(&self.squares, rank, |place, square| self.gram[place][lane] = square);
        for (to, from) in self.right.iter_mut().zip(self.pull.as_flattened()) {
            to[lane] = *from;
        }
        self.squares.fill(ZERO);
        self.pull.fill(ZERO);
    }
}
