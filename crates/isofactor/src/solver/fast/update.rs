//! The normal equations of some units, gathered and solved four units at a time.

use std::ops::Range;

use super::units::{Lists, Responses};
use crate::{
    four::{self, triangle},
    simd::{self, Kernel, LANES, Lanes, Machine, ZERO},
};

/// Where the moments of a unit lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub p: usize,
    /// Lanes of `E a a'` and of `E a`.
    pub squares: usize,
    pub means: usize,
}

impl Layout {
    pub fn new(p: usize) -> Self {
        Self { p, squares: triangle(p).div_ceil(LANES), means: p.div_ceil(LANES) }
    }

    pub fn width(&self) -> usize {
        self.squares + self.means
    }
}

/// Updates a block of units.
pub(super) struct Update<'a> {
    pub layout: Layout,
    /// In how many bands the other side is walked through.
    pub bands: usize,
    pub units: Range<usize>,
    pub moments: &'a [Lanes],
    pub lists: Lists<'a>,
    pub responses: Responses<'a>,
    pub precision: &'a [f64],
    pub prior: &'a [f64],
    pub mean: &'a mut [f64],
    pub covariance: &'a mut [f64],
}

/// Sums over the entries of one unit.
struct Sums {
    /// `sum_k tau w_k [E a a'; E a]` of the other units.
    moments: Vec<Lanes>,
    /// `sum_k tau w_k z_k E a`
    products: Vec<Lanes>,
    /// `sum_k tau w_k`, and the same times `z_k` and `z_k^2`.
    weight: f64,
    response: f64,
    squares: f64,
}

impl Sums {
    fn new(layout: Layout) -> Self {
        Self {
            moments: vec![ZERO; layout.width()],
            products: vec![ZERO; layout.means],
            weight: 0.0,
            response: 0.0,
            squares: 0.0,
        }
    }

    fn clear(&mut self) {
        self.moments.fill(ZERO);
        self.products.fill(ZERO);
        (self.weight, self.response, self.squares) = (0.0, 0.0, 0.0);
    }
}

impl Kernel for Update<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Machine>(mut self, _: M) -> f64 {
        let mut all: Vec<Sums> = (0..self.chunk()).map(|_| Sums::new(self.layout)).collect();
        let mut four = Four::new(self.layout.p);
        let mut total = 0.0;
        let mut first = self.units.start;
        while first < self.units.end {
            let units = first..(first + all.len()).min(self.units.end);
            self.gather_all::<M>(units.clone(), &mut all);
            for (unit, sums) in units.clone().step_by(LANES).zip(all.chunks(LANES)) {
                let live = (units.end - unit).min(LANES);
                for lane in 0..LANES {
                    // Lanes without a unit of their own repeat the last one.
                    let i = lane.min(live - 1);
                    four.load(lane, &sums[i], self.layout, self.precision, self.prior, unit + i);
                }
                let squares = four.solve::<M>(self.precision);
                for (lane, squares) in squares.into_iter().enumerate().take(live) {
                    self.store(unit + lane, lane, &four);
                    total += squares;
                }
            }
            first = units.end;
        }
        total
    }
}

impl Update<'_> {
    /// How many units are gathered for together: four to be solved at once, or all where the
    /// other side is walked through band by band.
    fn chunk(&self) -> usize {
        if self.bands > 1 { self.units.len().next_multiple_of(LANES) } else { LANES }
    }

    /// The sums over the entries of some units. Where the moments of the other side outgrow the
    /// cache they are walked through in bands, each for all units before the next.
    #[inline(always)]
    fn gather_all<M: Machine>(&self, units: Range<usize>, all: &mut [Sums]) {
        let starts = self.lists.starts;
        let mut next: Vec<usize> = units.clone().map(|unit| starts[unit]).collect();
        all.iter_mut().for_each(Sums::clear);
        let others = self.moments.len() / self.layout.width();
        for band in 1..=self.bands {
            let end = (others * band).div_ceil(self.bands) as u32;
            for ((unit, sums), next) in units.clone().zip(all.iter_mut()).zip(&mut next) {
                let mut to = *next;
                let last = starts[unit + 1];
                if band == self.bands {
                    to = last;
                } else {
                    while to < last && self.lists.others[to] < end {
                        to += 1;
                    }
                }
                self.gather::<M>(*next..to, sums);
                *next = to;
            }
        }
    }

    /// Adds some entries to the sums of their unit.
    #[inline(always)]
    fn gather<M: Machine>(&self, range: Range<usize>, sums: &mut Sums) {
        let width = self.layout.width();
        let Responses { z, w, level, noise_precision } = self.responses;
        let mut at = range.start;
        while at < range.end {
            let live = (range.end - at).min(LANES);
            let (mut weights, mut responses) = (ZERO, ZERO);
            let mut places = [0usize; LANES];
            for i in 0..live {
                let weight = match w {
                    Some(w) => noise_precision * w[at + i],
                    None => noise_precision,
                };
                let response = z[at + i] - level;
                places[i] = self.lists.others[at + i] as usize * width;
                (weights[i], responses[i]) = (weight, weight * response);
                sums.weight += weight;
                sums.response += weight * response;
                sums.squares += weight * response * response;
            }
            let of = [
                &self.moments[places[0]..][..width],
                &self.moments[places[1]..][..width],
                &self.moments[places[2]..][..width],
                &self.moments[places[3]..][..width],
            ];
            add_four::<M>(&mut sums.moments, weights, of);
            let squares = self.layout.squares;
            let means =
                [&of[0][squares..], &of[1][squares..], &of[2][squares..], &of[3][squares..]];
            add_four::<M>(&mut sums.products, responses, means);
            at += live;
        }
    }

    #[inline(always)]
    fn store(&mut self, unit: usize, lane: usize, four: &Four) {
        let (p, unit) = (self.layout.p, unit - self.units.start);
        for (to, from) in self.mean[unit * p..][..p].iter_mut().zip(&four.mean) {
            *to = from[lane];
        }
        let size = triangle(p);
        for (to, from) in self.covariance[unit * size..][..size].iter_mut().zip(&four.inverse) {
            *to = from[lane];
        }
    }
}

/// `sum += a_0 x_0 + ... + a_3 x_3`
#[inline(always)]
fn add_four<M: Machine>(sum: &mut [Lanes], a: Lanes, x: [&[Lanes]; LANES]) {
    let n = sum.len();
    let [x0, x1, x2, x3] = [&x[0][..n], &x[1][..n], &x[2][..n], &x[3][..n]];
    for i in 0..n {
        let near = simd::mul_add::<M>([a[0]; LANES], x0[i], sum[i]);
        let far = simd::mul([a[1]; LANES], x1[i]);
        let near = simd::mul_add::<M>([a[2]; LANES], x2[i], near);
        let far = simd::mul_add::<M>([a[3]; LANES], x3[i], far);
        sum[i] = simd::add(near, far);
    }
}

/// The systems of four units, one in each lane; triangles are lower ones, row after row.
struct Four {
    p: usize,
    /// `G`
    gram: Vec<Lanes>,
    /// `h`
    right: Vec<Lanes>,
    prior: Vec<Lanes>,
    /// `tau sum_k w_k E (z_k - mu - c)^2`
    squares: Lanes,
    lower: Vec<Lanes>,
    lower_inverse: Vec<Lanes>,
    inverse: Vec<Lanes>,
    mean: Vec<Lanes>,
}

impl Four {
    fn new(p: usize) -> Self {
        let (size, lanes) = (triangle(p), |count: usize| vec![ZERO; count]);
        Self {
            p,
            gram: lanes(size),
            right: lanes(p),
            prior: lanes(p),
            squares: ZERO,
            lower: lanes(size),
            lower_inverse: lanes(size),
            inverse: lanes(size),
            mean: lanes(p),
        }
    }

    /// Sets up the system of a unit. The last row of `E a a'` is `E c [v, c]`.
    #[inline(always)]
    fn load(
        &mut self,
        lane: usize,
        sums: &Sums,
        layout: Layout,
        precision: &[f64],
        prior: &[f64],
        unit: usize,
    ) {
        let (p, last) = (self.p, self.p - 1);
        let (squares, means) = sums.moments.split_at(layout.squares);
        let (squares, means) = (squares.as_flattened(), means.as_flattened());
        let products = sums.products.as_flattened();
        let factors = triangle(last);
        for (to, from) in self.gram[..factors].iter_mut().zip(squares) {
            to[lane] = *from;
        }
        for (to, from) in self.gram[factors..].iter_mut().zip(&means[..last]) {
            to[lane] = *from;
        }
        self.gram[factors + last][lane] = sums.weight;
        for a in 0..last {
            self.right[a][lane] = products[a] - squares[factors + a];
        }
        self.right[last][lane] = sums.response - means[last];
        for a in 0..p {
            self.prior[a][lane] = precision[a] * prior[unit * p + a];
        }
        self.squares[lane] = sums.squares - 2.0 * products[last] + squares[factors + last];
    }

    /// Posterior mean and covariance, and `tau sum_k w_k E (z_k - x_k)^2`.
    #[inline(always)]
    fn solve<M: Machine>(&mut self, precision: &[f64]) -> Lanes {
        let p = self.p;
        self.lower.copy_from_slice(&self.gram);
        for (a, &alpha) in precision.iter().enumerate() {
            let place = triangle(a) + a;
            self.lower[place] = simd::add(self.lower[place], [alpha; LANES]);
        }
        four::factorise::<M>(&mut self.lower, precision);
        four::invert::<M>(&self.lower, &mut self.lower_inverse, &mut self.inverse, p);
        for a in 0..p {
            let mut sum = ZERO;
            for b in 0..p {
                let right = simd::add(self.right[b], self.prior[b]);
                let place = if a >= b { triangle(a) + b } else { triangle(b) + a };
                sum = simd::mul_add::<M>(self.inverse[place], right, sum);
            }
            self.mean[a] = sum;
        }
        // q - 2 h'm + m'Gm + tr GS
        let mut squares = self.squares;
        for a in 0..p {
            let mut row = ZERO;
            for b in 0..a {
                let place = triangle(a) + b;
                let second = simd::mul_add::<M>(self.mean[a], self.mean[b], self.inverse[place]);
                row = simd::mul_add::<M>(self.gram[place], second, row);
            }
            let place = triangle(a) + a;
            let second = simd::mul_add::<M>(self.mean[a], self.mean[a], self.inverse[place]);
            squares = simd::mul_add::<M>(self.gram[place], second, squares);
            squares = simd::mul_add::<M>([2.0; LANES], row, squares);
            squares =
                simd::mul_add::<M>([-2.0; LANES], simd::mul(self.right[a], self.mean[a]), squares);
        }
        squares
    }
}
