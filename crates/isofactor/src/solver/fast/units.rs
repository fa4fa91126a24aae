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
use serde::{Deserialize, Serialize};

use super::update::{Layout, Update};
use crate::{
    four::triangle,
    linalg,
    monitor::Hurry,
    passes::{blocks_with_systems, split_at_ends},
    simd::{self, Lanes, ZERO},
    steps::project::clip,
};

/// The entries of each unit of a side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lists<'a> {
    /// Where the entries of each unit begin.
    pub starts: &'a [usize],
    /// The unit of the other side that each entry belongs to, in their order for each unit.
    pub others: &'a [u32],
    /// Whether the other side may be walked through in bands. Rows do not gain by it where columns are
    /// so many that it would be done, as on MovieLens.
    pub in_bands: bool,
    /// When it is raised, units that have not been updated yet stay as they are.
    pub hurry: &'a Hurry,
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

/// What the entries say: response and weight of each, in the order of the lists.
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
#[derive(Debug, Serialize, Deserialize)]
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

impl Clone for Units {
    fn clone(&self) -> Self {
        let mut units = Self::new(0, self.p);
        units.clone_from(self);
        units
    }

    /// Into the room that is there.
    fn clone_from(&mut self, other: &Self) {
        self.p = other.p;
        self.mean.clone_from(&other.mean);
        self.covariance.clone_from(&other.covariance);
        self.precision.clone_from(&other.precision);
        self.prior.clone_from(&other.prior);
    }
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

    /// Whether there are numbers for so many units.
    pub fn fit(&self, count: usize, p: usize) -> bool {
        let size = |each: usize| count.checked_mul(each);
        self.p == p
            && self.precision.len() == p
            && size(p) == Some(self.mean.len())
            && size(p) == Some(self.prior.len())
            && size(triangle(p)) == Some(self.covariance.len())
    }

    pub fn len(&self) -> usize {
        self.mean.len() / self.p
    }

    /// The coordinates of a unit.
    pub fn of(&self, unit: usize) -> &[f64] {
        &self.mean[unit * self.p..(unit + 1) * self.p]
    }

    /// `P_C`: scales factors longer than the radius back to it, if there is one.
    pub fn project(&mut self, radius: Option<f64>) {
        if let Some(radius) = radius {
            let (p, rank) = (self.p, self.p - 1);
            self.mean
                .par_chunks_mut(p)
                .with_min_len(256)
                .for_each(|z| clip(&mut z[..rank], radius));
        }
    }

    /// The prior mean of a unit.
    pub fn prior_of(&self, unit: usize) -> &[f64] {
        &self.prior[unit * self.p..(unit + 1) * self.p]
    }

    /// Sums over all units: `add` adds what a unit has to the `size` sums.
    pub fn sum(&self, size: usize, add: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
        // Summed up together, whatever the number of threads.
        const TOGETHER: usize = 1 << 10;
        let parts: Vec<Vec<f64>> = (0..self.len().div_ceil(TOGETHER))
            .into_par_iter()
            .map(|part| {
                let mut sums = vec![0.0; size];
                let units = part * TOGETHER..((part + 1) * TOGETHER).min(self.len());
                units.for_each(|unit| add(unit, &mut sums));
                sums
            })
            .collect();
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_else(|| vec![0.0; size]);
        parts.fold(first, |mut sums, part| {
            linalg::add_scaled(&mut sums, 1.0, &part);
            sums
        })
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

    /// In how many bands the other side is walked through: none smaller than the cache, none with
    /// so few entries of a unit that walking costs more than it saves.
    fn bands(&self, moments: &[Lanes], lists: Lists<'_>) -> usize {
        const CACHE: usize = 1 << 19;
        const FEWEST: usize = 4;
        let bytes = size_of_val(moments);
        let each = lists.others.len() / self.len().max(1);
        let together = self.len() * Layout::new(self.p).width() * size_of::<Lanes>();
        if bytes <= 2 * CACHE || !lists.in_bands || together > 2 * CACHE {
            return 1;
        }
        (bytes / CACHE).min(each / FEWEST).max(1)
    }

    /// Updates every unit given the other side, and returns `tau sum_k w_k E (z_k - x_k)^2`.
    pub fn update(&mut self, other: &Units, lists: Lists<'_>, responses: Responses<'_>) -> f64 {
        let moments = other.moments();
        let p = self.p;
        let bands = self.bands(&moments, lists);
        let blocks =
            if bands > 1 { even_blocks(lists.starts) } else { blocks_with_systems(lists.starts) };
        let ends = |size: usize| blocks.iter().map(|b| b.end * size).collect::<Vec<_>>();
        let means = split_at_ends(&mut self.mean, &ends(p));
        let covariances = split_at_ends(&mut self.covariance, &ends(triangle(p)));
        let (precision, prior) = (&self.precision[..], &self.prior[..]);
        let squares: Vec<f64> = blocks
            .par_iter()
            .zip(means)
            .zip(covariances)
            .map(|((units, mean), covariance)| {
                if lists.hurry.is_raised() {
                    return 0.0;
                }
                simd::dispatch(Update {
                    layout: Layout::new(p),
                    bands,
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

/// A few blocks with about as many entries each.
fn even_blocks(starts: &[usize]) -> Vec<Range<usize>> {
    const BLOCKS: usize = 8;
    let (units, entries) = (starts.len() - 1, starts[starts.len() - 1]);
    let mut blocks = Vec::new();
    let mut first = 0;
    for block in 1..=BLOCKS {
        let wanted = entries * block / BLOCKS;
        let end = if block == BLOCKS { units } else { starts.partition_point(|&s| s < wanted) };
        let end = end.clamp(first, units);
        if end > first {
            blocks.push(first..end);
            first = end;
        }
    }
    blocks
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
        let never = Hurry::default();
        let lists = Lists { starts: &starts, others: &index, in_bands: true, hurry: &never };
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
