//! What is known of the rows, or of the columns: a normal distribution of the coordinates of each.
//!
//! A unit (a row or a column) has `p = r + 1` coordinates, its `r` factors and last its effect.
//! Given the other side, the posterior of a unit is normal with
//!
//! ```text
//! S = (G + diag(alpha))^-1        G = tau sum_k w_k E [v; 1][v; 1]'
//! m = S (h + alpha pi)            h = tau sum_k w_k E [v; 1] (z_k - mu - c)
//! ```
//!
//! over its entries, where `[v, c]` are the coordinates of the other unit, `z_k` and `w_k` the
//! response and weight of the entry, `alpha` the precisions of the prior and `pi` its mean. The
//! expectations are over the other side's posterior: that is what keeps a unit known from few
//! entries from being trusted like one known from many.

use std::ops::Range;

use rayon::prelude::*;

use crate::{
    passes::{blocks, split_at_ends},
    simd::{self, Kernel, LANES, Lanes, ZERO},
};

/// The entries of each unit of a side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lists<'a> {
    /// Where the entries of each unit begin.
    pub starts: &'a [usize],
    /// The unit of the other side that each entry belongs to.
    pub others: &'a [u32],
    /// The number of each entry; none where they are in the order of their numbers.
    pub numbers: Option<&'a [u32]>,
}

impl Lists<'_> {
    /// How many entries a unit has.
    pub fn count(&self, unit: usize) -> usize {
        self.starts[unit + 1] - self.starts[unit]
    }

    /// The other units of a unit's entries.
    pub fn others(&self, unit: usize) -> &[u32] {
        &self.others[self.starts[unit]..self.starts[unit + 1]]
    }
}

/// What the entries say: response and weight of each, by number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Responses<'a> {
    pub z: &'a [f64],
    /// All one where there are none.
    pub w: Option<&'a [f64]>,
    /// `mu`
    pub level: f64,
    /// `tau`: the precision of an entry of weight one.
    pub noise_precision: f64,
}

/// The posterior of one side.
#[derive(Debug, Clone)]
pub(super) struct Units {
    /// Coordinates of a unit (`p`).
    pub p: usize,
    /// `m`, `p` numbers a unit.
    pub mean: Vec<f64>,
    /// `S`, the lower triangle row after row.
    pub covariance: Vec<f64>,
    /// `alpha`
    pub precision: Vec<f64>,
    /// `pi`, `p` numbers a unit.
    pub prior: Vec<f64>,
}

/// Numbers in the lower triangle of a `p x p` matrix.
pub(super) fn triangle(p: usize) -> usize {
    p * (p + 1) / 2
}

impl Units {
    /// Units about which nothing is known.
    pub fn new(count: usize, p: usize) -> Self {
        Self {
            p,
            mean: vec![0.0; count * p],
            covariance: vec![0.0; count * triangle(p)],
            precision: vec![1.0; p],
            prior: vec![0.0; count * p],
        }
    }

    pub fn len(&self) -> usize {
        self.mean.len() / self.p
    }

    /// The coordinates of a unit.
    pub fn of(&self, unit: usize) -> &[f64] {
        &self.mean[unit * self.p..(unit + 1) * self.p]
    }

    /// The covariance of a unit.
    pub fn covariance_of(&self, unit: usize) -> &[f64] {
        let size = triangle(self.p);
        &self.covariance[unit * size..(unit + 1) * size]
    }

    /// `E a a'` (lower triangle) and `E a` of each unit, each filled up to whole lanes.
    fn moments(&self) -> Vec<Lanes> {
        let (p, size) = (self.p, triangle(self.p));
        let layout = Layout::new(p);
        let mut moments = vec![ZERO; self.len() * layout.width()];
        moments.par_chunks_mut(layout.width()).enumerate().with_min_len(256).for_each(
            |(unit, to)| {
                let (mean, covariance) = (self.of(unit), self.covariance_of(unit));
                let (squares, means) = to.split_at_mut(layout.squares);
                let squares = &mut squares.as_flattened_mut()[..size];
                let mut place = 0;
                for a in 0..p {
                    for b in 0..=a {
                        squares[place] = mean[a] * mean[b] + covariance[place];
                        place += 1;
                    }
                }
                means.as_flattened_mut()[..p].copy_from_slice(mean);
            },
        );
        moments
    }

    /// Updates every unit given the other side, and returns `tau sum_k w_k E (z_k - x_k)^2`.
    pub fn update(&mut self, other: &Units, lists: Lists<'_>, responses: Responses<'_>) -> f64 {
        let moments = other.moments();
        let p = self.p;
        let blocks = blocks(lists.starts);
        let ends = |size: usize| blocks.iter().map(|b| b.end * size).collect::<Vec<_>>();
        let means = split_at_ends(&mut self.mean, &ends(p));
        let covariances = split_at_ends(&mut self.covariance, &ends(triangle(p)));
        let (precision, prior) = (&self.precision[..], &self.prior[..]);
        let squares: Vec<f64> = blocks
            .par_iter()
            .zip(means)
            .zip(covariances)
            .map(|((units, mean), covariance)| {
                simd::dispatch(Update {
                    layout: Layout::new(p),
                    units: units.clone(),
                    moments: &moments,
                    lists,
                    responses,
                    precision,
                    prior,
                    mean,
                    covariance,
                })
            })
            .collect();
        squares.into_iter().fold(0.0, |sum, block| sum + block)
    }
}

/// Where the moments of a unit lie.
#[derive(Debug, Clone, Copy)]
struct Layout {
    p: usize,
    /// Lanes of `E a a'` and of `E a`.
    squares: usize,
    means: usize,
}

impl Layout {
    fn new(p: usize) -> Self {
        Self { p, squares: triangle(p).div_ceil(LANES), means: p.div_ceil(LANES) }
    }

    fn width(&self) -> usize {
        self.squares + self.means
    }
}

/// Updates a block of units, four at a time.
struct Update<'a> {
    layout: Layout,
    units: Range<usize>,
    moments: &'a [Lanes],
    lists: Lists<'a>,
    responses: Responses<'a>,
    precision: &'a [f64],
    prior: &'a [f64],
    mean: &'a mut [f64],
    covariance: &'a mut [f64],
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

impl Kernel for Update<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(mut self) -> f64 {
        let Layout { p, .. } = self.layout;
        let mut sums = Sums {
            moments: vec![ZERO; self.layout.width()],
            products: vec![ZERO; self.layout.means],
            weight: 0.0,
            response: 0.0,
            squares: 0.0,
        };
        let mut four = Four::new(p);
        let mut total = 0.0;
        let mut first = self.units.start;
        while first < self.units.end {
            let live = (self.units.end - first).min(LANES);
            for lane in 0..live {
                self.gather::<FMA>(first + lane, &mut sums);
                four.load(lane, &sums, self.layout, self.precision, self.prior, first + lane);
            }
            // Lanes without a unit of their own repeat the last one.
            for lane in live..LANES {
                let unit = first + live - 1;
                four.load(lane, &sums, self.layout, self.precision, self.prior, unit);
            }
            let squares = four.solve::<FMA>(self.precision);
            for (lane, squares) in squares.into_iter().enumerate().take(live) {
                self.store(first + lane, lane, &four);
                total += squares;
            }
            first += live;
        }
        total
    }
}

impl Update<'_> {
    /// The sums over the entries of a unit.
    #[inline(always)]
    fn gather<const FMA: bool>(&self, unit: usize, sums: &mut Sums) {
        let width = self.layout.width();
        let range = self.lists.starts[unit]..self.lists.starts[unit + 1];
        let Responses { z, w, level, noise_precision } = self.responses;
        sums.moments.fill(ZERO);
        sums.products.fill(ZERO);
        (sums.weight, sums.response, sums.squares) = (0.0, 0.0, 0.0);
        let mut at = range.start;
        while at < range.end {
            let live = (range.end - at).min(LANES);
            let (mut weights, mut responses) = (ZERO, ZERO);
            let mut places = [0usize; LANES];
            for i in 0..live {
                let k = self.lists.numbers.map_or(at + i, |numbers| numbers[at + i] as usize);
                let weight = noise_precision * w.map_or(1.0, |w| w[k]);
                let response = z[k] - level;
                places[i] = self.lists.others[at + i] as usize * width;
                (weights[i], responses[i]) = (weight, weight * response);
                sums.weight += weight;
                sums.response += weight * response;
                sums.squares += weight * response * response;
            }
            let of = |i: usize| &self.moments[places[i]..][..width];
            add_four::<FMA>(&mut sums.moments, weights, [of(0), of(1), of(2), of(3)]);
            let squares = self.layout.squares;
            let means = |i: usize| &self.moments[places[i] + squares..][..width - squares];
            let four = [means(0), means(1), means(2), means(3)];
            add_four::<FMA>(&mut sums.products, responses, four);
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
fn add_four<const FMA: bool>(sum: &mut [Lanes], a: Lanes, x: [&[Lanes]; LANES]) {
    let n = sum.len();
    let [x0, x1, x2, x3] = [&x[0][..n], &x[1][..n], &x[2][..n], &x[3][..n]];
    for i in 0..n {
        let near = simd::mul_add::<FMA>([a[0]; LANES], x0[i], sum[i]);
        let far = simd::mul([a[1]; LANES], x1[i]);
        let near = simd::mul_add::<FMA>([a[2]; LANES], x2[i], near);
        let far = simd::mul_add::<FMA>([a[3]; LANES], x3[i], far);
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
    fn solve<const FMA: bool>(&mut self, precision: &[f64]) -> Lanes {
        self.factorise::<FMA>(precision);
        self.invert::<FMA>();
        let p = self.p;
        for a in 0..p {
            let mut sum = ZERO;
            for b in 0..p {
                let right = simd::add(self.right[b], self.prior[b]);
                let place = if a >= b { triangle(a) + b } else { triangle(b) + a };
                sum = simd::mul_add::<FMA>(self.inverse[place], right, sum);
            }
            self.mean[a] = sum;
        }
        // q - 2 h'm + m'Gm + tr GS
        let mut squares = self.squares;
        for a in 0..p {
            let mut row = ZERO;
            for b in 0..a {
                let place = triangle(a) + b;
                let second = simd::mul_add::<FMA>(self.mean[a], self.mean[b], self.inverse[place]);
                row = simd::mul_add::<FMA>(self.gram[place], second, row);
            }
            let place = triangle(a) + a;
            let second = simd::mul_add::<FMA>(self.mean[a], self.mean[a], self.inverse[place]);
            squares = simd::mul_add::<FMA>(self.gram[place], second, squares);
            squares = simd::mul_add::<FMA>([2.0; LANES], row, squares);
            squares = simd::mul_add::<FMA>(
                [-2.0; LANES],
                simd::mul(self.right[a], self.mean[a]),
                squares,
            );
        }
        squares
    }

    /// `G + diag(alpha) = LL'`
    #[inline(always)]
    fn factorise<const FMA: bool>(&mut self, precision: &[f64]) {
        for (a, &alpha) in precision.iter().enumerate().take(self.p) {
            for b in 0..=a {
                let mut sum = self.gram[triangle(a) + b];
                if a == b {
                    sum = simd::add(sum, [alpha; LANES]);
                }
                for c in 0..b {
                    let product =
                        simd::mul(self.lower[triangle(a) + c], self.lower[triangle(b) + c]);
                    sum = simd::sub(sum, product);
                }
                self.lower[triangle(a) + b] = if a == b {
                    pivot(sum, alpha)
                } else {
                    simd::div(sum, self.lower[triangle(b) + b])
                };
            }
        }
    }

    /// `S = (LL')^-1` by way of `L^-1`.
    #[inline(always)]
    fn invert<const FMA: bool>(&mut self) {
        let p = self.p;
        for a in 0..p {
            let diagonal = simd::div([1.0; LANES], self.lower[triangle(a) + a]);
            self.lower_inverse[triangle(a) + a] = diagonal;
            for b in 0..a {
                let mut sum = ZERO;
                for c in b..a {
                    let (l, i) = (self.lower[triangle(a) + c], self.lower_inverse[triangle(c) + b]);
                    sum = simd::mul_add::<FMA>(l, i, sum);
                }
                self.lower_inverse[triangle(a) + b] = simd::mul(simd::sub(ZERO, diagonal), sum);
            }
        }
        for a in 0..p {
            for b in 0..=a {
                let mut sum = ZERO;
                for c in a..p {
                    let (l, i) =
                        (self.lower_inverse[triangle(c) + a], self.lower_inverse[triangle(c) + b]);
                    sum = simd::mul_add::<FMA>(l, i, sum);
                }
                self.inverse[triangle(a) + b] = sum;
            }
        }
    }
}

/// The root of a pivot. Rounding may take one below what the prior alone would make it.
#[inline(always)]
fn pivot(sum: Lanes, precision: f64) -> Lanes {
    let mut roots = ZERO;
    for lane in 0..LANES {
        roots[lane] = if sum[lane] > 1e-9 * precision { sum[lane] } else { precision }.sqrt();
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{self, Mat};

    fn number(i: usize) -> f64 {
        ((i as f64 + 1.0) * 1.7).sin()
    }

    /// Two units of the other side with known moments, one unit with three entries.
    #[test]
    fn a_unit_is_what_its_normal_equations_say() {
        let (p, others) = (3, 2);
        let mut other = Units::new(others, p);
        (0..others * p).for_each(|i| other.mean[i] = number(i));
        for unit in 0..others {
            for a in 0..p {
                for b in 0..=a {
                    let place = unit * triangle(p) + triangle(a) + b;
                    other.covariance[place] = if a == b { 0.3 } else { 0.1 };
                }
            }
        }
        let mut unit = Units::new(1, p);
        unit.precision = vec![0.7, 1.1, 0.4];
        unit.prior = vec![0.2, -0.1, 0.3];
        let (starts, index) = ([0, 3], [0u32, 1, 1]);
        let (z, w) = ([1.0, 2.0, -0.5], [1.0, 0.5, 2.0]);
        let lists = Lists { starts: &starts, others: &index, numbers: None };
        let (level, tau) = (0.25, 1.5);
        let responses = Responses { z: &z, w: Some(&w), level, noise_precision: tau };
        let squares = unit.update(&other, lists, responses);

        let second = |t: usize, a: usize, b: usize| {
            let (a, b) = (a.max(b), a.min(b));
            other.of(t)[a] * other.of(t)[b] + other.covariance_of(t)[triangle(a) + b]
        };
        // E [v; 1][v; 1]' and E [v; 1] c
        let design = |t: usize, a: usize, b: usize| match (a == 2, b == 2) {
            (false, false) => second(t, a, b),
            (true, true) => 1.0,
            (false, true) => other.of(t)[a],
            (true, false) => other.of(t)[b],
        };
        let mut normal = Mat::<f64>::zeros(p, p);
        let mut right = vec![0.0; p];
        for k in 0..3 {
            let t = index[k] as usize;
            for a in 0..p {
                for b in 0..p {
                    normal[(a, b)] += tau * w[k] * design(t, a, b);
                }
                let with_c = if a == 2 { other.of(t)[2] } else { second(t, a, 2) };
                right[a] += tau * w[k] * (design(t, a, 2) * (z[k] - level) - with_c);
            }
        }
        let gram = normal.clone();
        let h = right.clone();
        for a in 0..p {
            normal[(a, a)] += unit.precision[a];
            right[a] += unit.precision[a] * unit.prior[a];
        }
        let mean = linalg::solve_positive(normal.as_ref(), &right).unwrap();
        for a in 0..p {
            assert!((unit.of(0)[a] - mean[a]).abs() < 1e-12);
            let mut e = vec![0.0; p];
            e[a] = 1.0;
            let column = linalg::solve_positive(normal.as_ref(), &e).unwrap();
            for (b, expected) in column.iter().enumerate().skip(a) {
                let covariance = unit.covariance_of(0)[triangle(b) + a];
                assert!((covariance - expected).abs() < 1e-12);
            }
        }
        // The expected squares, term by term.
        let mut expected = 0.0;
        for k in 0..3 {
            let t = index[k] as usize;
            let y = z[k] - level;
            expected += tau * w[k] * (y * y - 2.0 * y * other.of(t)[2] + second(t, 2, 2));
        }
        for a in 0..p {
            expected -= 2.0 * h[a] * mean[a];
            for b in 0..p {
                let (i, j) = (a.max(b), a.min(b));
                let covariance = unit.covariance_of(0)[triangle(i) + j];
                expected += gram[(a, b)] * (mean[a] * mean[b] + covariance);
            }
        }
        assert!((squares - expected).abs() < 1e-11, "{squares} {expected}");
    }
}
