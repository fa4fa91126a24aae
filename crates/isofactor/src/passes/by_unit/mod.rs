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

mod block;
mod group;
mod step;
mod systems;

use std::{borrow::Cow, ops::Range};

use rayon::prelude::*;

use super::{Entries, blocks_with_systems, split_at_ends, sums::of};
use crate::{
    factors::Factors,
    four::triangle,
    linalg,
    link::Link,
    observations::Side,
    simd::{self, Lanes, by_width},
};
use block::{Block, Seen, Way, reach};
use step::{Step, Undamp};
pub(crate) use systems::Systems;
use systems::{Collect, Collected};

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
        let blocks = blocks_with_systems(&starts);
        ByUnit { side, starts, others, values, blocks }
    }
}

impl ByUnit<'_> {
    /// `G` of every unit, and `h`, with nothing for the other side.
    pub fn equations(&self, factors: &Factors, link: &Link) -> (Systems, Factors) {
        link.prepare();
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
        link.prepare();
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

    /// Units that moved there from `from` and carry scores out of the link's domain go back part of
    /// the way, or all of it. Whether there were any.
    pub fn stay_inside(&self, factors: &mut Factors, from: &Factors, link: &Link) -> bool {
        let (rank, width, reach) = (factors.rank(), factors.width(), reach(link));
        if reach.is_infinite() {
            return false;
        }
        let (own, others) = factors.sides_mut(self.side);
        let shares = split_at_ends(own, &self.ends(width));
        let held: Vec<bool> = (self.blocks.par_iter().zip(shares))
            .map_init(Vec::new, |scores, (units, own)| {
                let block = self.block(units, others, rank);
                block.score(own, scores);
                let mut held = false;
                for unit in 0..units.len() {
                    if scores[block.entries(unit)].iter().any(|x| x.abs() > reach) {
                        let start = of::<0>(from.held(self.side), width, units.start + unit);
                        block.go_back(unit, reach, start, &mut own[unit * width..][..width]);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        init::random_factors,
        link::{Kernel as LinkKernel, KernelFamily, KnownLink, LearnedLink, LinkSpace},
        observations::{Entry, Observations, Shape},
        simd::LANES,
    };

    const SHAPE: Shape = Shape { rows: 23, columns: 40 };
    const RANK: usize = 6;

    /// Columns with no entry, with few and with many; the first row has one in every column but
    /// those without.
    fn observations() -> Observations {
        let cell = |row: usize, column: usize| {
            let value = (row as f64 * 0.7).sin() + (column as f64 * 0.4).cos();
            Entry { row, column, value }
        };
        let count = |column: usize| if column % 9 == 8 { 0 } else { 1 + column % 9 * 2 };
        let entries: Vec<Entry> = (0..SHAPE.columns)
            .flat_map(|column| (0..count(column)).map(move |row| cell(row, column)))
            .collect();
        Observations::try_new(SHAPE, &entries).unwrap()
    }

    /// An increasing link on [-2, 2], steep in the middle.
    fn curved() -> Link {
        let kernel = LinkKernel::try_new(KernelFamily::Gaussian, 1.0).unwrap();
        let space = Arc::new(LinkSpace::build(kernel, 2.0).unwrap());
        let mut weights = vec![0.0; space.dimension()];
        weights[1] = 2.5;
        Link::Learned(LearnedLink::new(space, weights))
    }

    /// `G` and `h` of a unit, entry after entry.
    fn slowly(
        observations: &Observations,
        z: &Factors,
        link: &Link,
        side: Side,
        unit: usize,
    ) -> (linalg::Mat<f64>, Vec<f64>) {
        let (mut gram, mut right) = (linalg::Mat::zeros(RANK, RANK), vec![0.0; RANK]);
        for entry in observations.iter() {
            let (own, other) = match side {
                Side::Rows => (entry.row, z.column(entry.column)),
                Side::Columns => (entry.column, z.row(entry.row)),
            };
            if own == unit {
                let (fitted, slope) = link.value_and_slope(z.score(entry.row, entry.column));
                for a in 0..RANK {
                    right[a] += slope * (entry.value - fitted) * other[a];
                    (0..RANK).for_each(|b| gram[(a, b)] += slope * slope * other[a] * other[b]);
                }
            }
        }
        (gram, right)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-7 * a.abs().max(b.abs()).max(1.0)
    }

    #[test]
    fn equations_are_sums_over_the_entries_of_a_unit() {
        let observations = observations();
        let z = random_factors(SHAPE, RANK, 1).moved(-0.7, &random_factors(SHAPE, RANK, 1));
        for side in [Side::Rows, Side::Columns] {
            for link in [Link::Known(KnownLink::Identity), curved()] {
                let lists = Entries::new(&observations).by_unit(side);
                let (mut systems, right) = lists.equations(&z, &link);
                let mut sum = vec![0.0; triangle(RANK)];
                let damping: Vec<f64> = systems.mean.iter().map(|x| 0.3 * x).collect();
                systems.factorise(&damping);
                let solved = systems.solve(&right);
                let each = |z: &Factors, unit: usize| -> Vec<f64> {
                    of::<0>(z.held(side), z.width(), unit).as_flattened()[..RANK].to_vec()
                };
                for unit in 0..SHAPE.count(side) {
                    let (mut gram, h) = slowly(&observations, &z, &link, side, unit);
                    assert!(each(&right, unit).iter().zip(&h).all(|(&a, &b)| near(a, b)));
                    for a in 0..RANK {
                        for b in 0..=a {
                            sum[triangle(a) + b] += gram[(a, b)];
                            gram[(a, b)] += damping[triangle(a) + b];
                            gram[(b, a)] = gram[(a, b)];
                        }
                    }
                    let expected = linalg::solve_positive(gram.as_ref(), &h).unwrap();
                    assert!(each(&solved, unit).iter().zip(&expected).all(|(&a, &b)| near(a, b)));
                }
                let count = SHAPE.count(side) as f64;
                assert!(systems.mean.iter().zip(&sum).all(|(&a, &b)| near(a, b / count)));
                let others = Entries::new(&observations).by_unit(side.other());
                let (of_others, _) = others.equations(&z, &link);
                let pairs = systems.mean_of_others.iter().zip(&of_others.mean);
                assert!(pairs.into_iter().all(|(&a, &b)| near(a, b)));
            }
        }
    }

    #[test]
    fn a_refit_is_a_damped_step_for_few_entries_and_many() {
        for link in [Link::Known(KnownLink::Identity), Link::Known(KnownLink::Softplus)] {
            a_refit_is_a_damped_step(&link);
        }
    }

    fn a_refit_is_a_damped_step(link: &Link) {
        let observations = observations();
        let z = random_factors(SHAPE, RANK, 2);
        let z = z.moved(-0.5, &z);
        let lists = Entries::new(&observations).by_unit(Side::Columns);
        let (systems, _) = lists.equations(&z, link);
        let damping: Vec<f64> = systems.mean.iter().map(|x| 0.8 * x).collect();
        let mut refitted = z.clone();
        lists.refit(&mut refitted, link, &damping);
        assert_eq!(refitted.rows(), z.rows());
        for column in 0..SHAPE.columns {
            let (mut gram, h) = slowly(&observations, &z, link, Side::Columns, column);
            for a in 0..RANK {
                for b in 0..RANK {
                    gram[(a, b)] += damping[triangle(a.max(b)) + a.min(b)];
                }
            }
            let step = linalg::solve_positive(gram.as_ref(), &h).unwrap();
            for (a, step) in step.iter().enumerate() {
                let expected = z.column(column)[a] + step;
                assert!(near(refitted.column(column)[a], expected), "{column} {a}");
            }
        }
    }

    #[test]
    fn a_refit_raises_the_squares_of_no_unit_and_keeps_to_the_domain() {
        let (observations, link) = (observations(), curved());
        let mut z = random_factors(SHAPE, RANK, 3);
        z.each_row_mut().for_each(|u| linalg::add_scaled(&mut u[..1], 1.0, &[1.0]));
        let shrink = z.clone();
        z = z.moved(-0.8, &shrink);
        let lists = Entries::new(&observations).by_unit(Side::Columns);
        let squares = |z: &Factors| {
            let mut squares = vec![0.0; SHAPE.columns];
            for entry in observations.iter() {
                let fitted = link.value_and_slope(z.score(entry.row, entry.column)).0;
                squares[entry.column] += (entry.value - fitted).powi(2);
            }
            squares
        };
        let inside = |z: &Factors| {
            observations.iter().all(|entry| z.score(entry.row, entry.column).abs() <= 2.0)
        };
        assert!(inside(&z));
        let place = |a: usize| (0..=a).map(move |b| if a == b { 1e-6 } else { 0.0 });
        let damping: Vec<f64> = (0..RANK).flat_map(place).collect();
        let (mut fell, mut before) = (0, squares(&z));
        for _ in 0..5 {
            let start = z.clone();
            lists.refit(&mut z, &link, &damping);
            assert!(inside(&z));
            let after = squares(&z);
            for (after, before) in after.iter().zip(&before) {
                assert!(*after <= before * (1.0 + 1e-9) + 1e-12, "{before} {after}");
            }
            fell += after.iter().zip(&before).filter(|(after, before)| after < before).count();
            before = after;
            assert_ne!(z, start);
        }
        assert!(fell > SHAPE.columns, "{fell}");
    }

    #[test]
    fn units_that_leave_the_domain_go_back_as_far_as_they_must() {
        let (observations, link) = (observations(), curved());
        let from = random_factors(SHAPE, RANK, 4);
        let from = from.moved(-0.9, &from);
        let mut z = from.clone();
        let width = z.width();
        z.held_mut(Side::Rows)[width..2 * width].fill([50.0; LANES]);
        let lists = Entries::new(&observations).by_unit(Side::Rows);
        assert!(lists.stay_inside(&mut z, &from, &link));
        assert_eq!(z, from);
        assert!(!lists.stay_inside(&mut z, &from, &link));
        // Twice as far as it may: half of the way is left.
        let largest = observations.row(4).columns.iter().map(|&t| z.score(4, t as usize).abs());
        let stretch = 3.0 / largest.fold(0.0, f64::max);
        for x in z.held_mut(Side::Rows)[4 * width..5 * width].as_flattened_mut() {
            *x *= stretch;
        }
        let there = z.clone();
        assert!(lists.stay_inside(&mut z, &from, &link));
        for (x, (from, there)) in z.row(4).iter().zip(from.row(4).iter().zip(there.row(4))) {
            assert!((x - 0.5 * (from + there)).abs() < 1e-12);
        }
        assert_eq!(z.columns(), from.columns());
    }
}
