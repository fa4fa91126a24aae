//! Passes over the entries: fixed blocks in a fixed order, one answer for any number of threads.
//!
//! Rows are gathered into blocks of about equal numbers of entries, columns likewise. A block's
//! work depends on the data alone, results of blocks are added in the order of the blocks, so the
//! number of threads changes the time and nothing else.
//!
//! An iteration goes over the entries row by row (scores, then what the link makes of them, then
//! what they pull at the rows) and column by column (what they pull at the columns). On the way by
//! rows each pull is put where the way by columns will come across it: the places of a column's
//! pulls follow each other, so that a few cache lines per column are open at a time. Both ways are
//! made band after band of the observations: a band's pulls stay in a fast cache.

mod by_unit;
mod curve;
mod kernels;
mod product;
mod sums;

use std::{
    ops::Range,
    sync::{Mutex, PoisonError, atomic::AtomicU64},
};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    factors::{CHUNK, Factors},
    link::{
        KnownLink, LearnedLink, Link,
        fine::FineMoments,
        table::{GramMoments, Grid, LinearMoments, LinkMoments},
    },
    observations::{Band, Observations},
    simd::{self, Lanes, ZERO},
};
pub(crate) use by_unit::ByUnit;
use curve::{Curve, Largest, Pulls, Residuals, Squares, Straight};
use kernels::{FindScores, GatherColumns, GatherRows, PullColumns, PullRows};
pub(crate) use product::Sparse;
pub(crate) use sums::{by_width, dot};

/// About how many entries a block holds: what is known of them fits in a fast cache together.
const BLOCK: usize = 1 << 12;
/// About how many entries at least share a table of moments, and how many tables there are at
/// most: a table costs as much to clear and to add up as some thousand entries.
const TABLE_BLOCK: usize = 1 << 16;
const MOST_TABLES: usize = 16;
/// From how many bands on, and with how many entries of a column in each on average, a band is the
/// work of one thread.
const MANY_BANDS: usize = 8;
const MANY_IN_BAND: usize = 32;

/// Observations with their division into blocks.
#[derive(Debug)]
pub struct Entries<'a> {
    observations: &'a Observations,
    /// Blocks of rows, none of which is in two bands of the observations.
    row_blocks: Vec<Range<usize>>,
    bands: Vec<BandBlocks<'a>>,
}

/// A band of the observations with its division into blocks.
#[derive(Debug)]
struct BandBlocks<'a> {
    band: Band<'a>,
    /// How many blocks its rows are.
    row_blocks: usize,
    /// Blocks of its columns.
    column_blocks: Vec<Range<usize>>,
}

/// What the next step needs to know about every entry under a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Need {
    /// The objective alone.
    Nothing,
    /// What the entries pull at the factors, for a step of the factors.
    Pull,
    /// The moments of the residuals, for a step of the link.
    Moments,
}

/// What a pass with a link found.
#[derive(Debug, Clone, Default)]
pub struct Evaluated {
    /// `sum_k g_k^2` with `g_k = y_k - phi(x_k)`
    pub squares: f64,
    /// `sum_k g_k phi'(x_k) (A_k + A_k') Z`, if it was asked for.
    pub pull: Option<Factors>,
    /// Moments of the residuals over the link's table, if they were asked for.
    pub moments: Option<ResidualMoments>,
    room: Room,
}

impl Evaluated {
    /// Keeps the room of factors that are no longer needed for the next pass.
    pub(crate) fn keep_room(&mut self, factors: Factors) {
        self.room.factors = Some(factors);
    }

    /// Exchanges what was found; each keeps its room.
    pub(crate) fn exchange(&mut self, other: &mut Evaluated) {
        std::mem::swap(self, other);
        std::mem::swap(&mut self.room, &mut other.room);
    }
}

/// What passes write to on the way, kept because it is large.
#[derive(Debug, Default)]
struct Room {
    /// For the pulls of bands.
    pulls: Rooms,
    /// Tables of moments, all zero between passes.
    tables: Vec<FineMoments>,
    /// Factors that are no longer needed.
    factors: Option<Factors>,
}

/// Room for the pulls of a band's entries, in the order of the columns; as often as there are
/// bands in work at the same time.
///
/// Several threads write to it, each to places of its own. The compiler cannot know that, so each
/// number is an atomic one, written and read without order: a plain store and a plain load.
#[derive(Debug, Default)]
struct Rooms(Mutex<Vec<Vec<AtomicU64>>>);

impl Rooms {
    /// Lends room for some work.
    fn lend<R>(&self, work: impl FnOnce(&mut Vec<AtomicU64>) -> R) -> R {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut room = free().pop().unwrap_or_default();
        let found = work(&mut room);
        free().push(room);
        found
    }
}

impl Room {
    /// Factors that are all zero, in the room that is there if they fit.
    fn zeros(&mut self, like: &Factors) -> Factors {
        match self.factors.take() {
            Some(mut factors)
                if factors.shape() == like.shape() && factors.rank() == like.rank() =>
            {
                factors.clear();
                factors
            }
            _ => Factors::zeros(like.shape(), like.rank()),
        }
    }
}

impl Clone for Room {
    /// There is nothing to keep between two passes.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Moments of the residuals over a link's table: all that a step of the link needs of the data.
#[derive(Debug, Clone)]
pub struct ResidualMoments(pub(crate) LinearMoments);

/// The scores of the entries: to be found from the factors, or there already.
enum Scores<'s> {
    Sought(&'s mut [f64]),
    Given(&'s [f64]),
}

/// A block of rows and the scores of its entries.
struct RowBlock<'s> {
    rows: Range<usize>,
    scores: Scores<'s>,
}

/// What a pass found on a block: the largest score and the sum of squares.
type Found = (f64, f64);

impl<'a> Entries<'a> {
    /// Divides observations into blocks.
    pub fn new(observations: &'a Observations) -> Self {
        let mut row_blocks = Vec::new();
        let bands = observations.bands().map(|band| {
            let Range { start, end } = band.rows;
            let of_band = blocks(&observations.row_starts()[start..=end]);
            let row_blocks_of_band = of_band.len();
            row_blocks.extend(of_band.into_iter().map(|b| start + b.start..start + b.end));
            let column_blocks = blocks(band.starts);
            BandBlocks { band, row_blocks: row_blocks_of_band, column_blocks }
        });
        let bands = bands.collect();
        Self { observations, row_blocks, bands }
    }

    /// The observations.
    pub fn observations(&self) -> &'a Observations {
        self.observations
    }

    /// Writes the score of every entry and returns the largest in absolute value.
    pub fn scores(&self, factors: &Factors, scores: &mut Vec<f64>) -> f64 {
        scores.resize(self.observations.len(), 0.0);
        let blocks = self.with_scores(Scores::Sought(scores));
        let found: Vec<f64> =
            blocks.into_par_iter().map(|block| self.block_scores(block, factors, true).1).collect();
        largest(found)
    }

    /// Passes over the scores with a link whose domain covers them, for what the next step needs.
    pub fn evaluate(
        &self,
        factors: &Factors,
        scores: &[f64],
        link: &Link,
        need: Need,
        evaluated: &mut Evaluated,
    ) {
        self.pass(factors, Scores::Given(scores), link, need, evaluated);
    }

    /// Finds the scores and passes over them with a link. Returns the largest score in absolute
    /// value; where the link's domain does not cover it, what was found means nothing.
    pub fn score_and_evaluate(
        &self,
        factors: &Factors,
        scores: &mut Vec<f64>,
        link: &Link,
        need: Need,
        evaluated: &mut Evaluated,
    ) -> f64 {
        scores.resize(self.observations.len(), 0.0);
        self.pass(factors, Scores::Sought(scores), link, need, evaluated)
    }

    fn pass(
        &self,
        factors: &Factors,
        scores: Scores<'_>,
        link: &Link,
        need: Need,
        evaluated: &mut Evaluated,
    ) -> f64 {
        evaluated.pull = None;
        evaluated.moments = None;
        let blocks = self.with_scores(scores);
        let (largest, squares) = match (need, link) {
            (Need::Moments, Link::Learned(link)) => {
                let tables = &mut evaluated.room.tables;
                let (found, moments) = self.moments_pass(blocks, factors, link, tables);
                evaluated.moments = Some(moments);
                found
            }
            (Need::Pull, link) => {
                let mut pull = evaluated.room.zeros(factors);
                let (room, out) = (&evaluated.room.pulls, &mut pull);
                let found = match link {
                    Link::Known(KnownLink::Identity) => {
                        self.pull_pass(blocks, factors, &Straight, room, out)
                    }
                    Link::Learned(link) => self.pull_pass(blocks, factors, link.fine(), room, out),
                    link => self.pull_pass(blocks, factors, link, room, out),
                };
                evaluated.pull = Some(pull);
                found
            }
            // A known link has no step of its own.
            (_, Link::Known(KnownLink::Identity)) => self.squares_pass(blocks, factors, &Straight),
            (_, Link::Learned(link)) => self.squares_pass(blocks, factors, link.fine()),
            (_, link) => self.squares_pass(blocks, factors, link),
        };
        evaluated.squares = squares;
        largest
    }

    /// The sum of squares alone.
    fn squares_pass<K: Curve>(
        &self,
        blocks: Vec<RowBlock<'_>>,
        factors: &Factors,
        curve: &K,
    ) -> Found {
        let found: Vec<Found> = blocks
            .into_par_iter()
            .map(|block| {
                let values = self.values_of(&block.rows);
                let (scores, largest) = self.block_scores(block, factors, false);
                (largest, simd::dispatch(Squares { curve, scores, values }))
            })
            .collect();
        in_order(found)
    }

    /// The sum of squares and the moments of the residuals.
    fn moments_pass(
        &self,
        blocks: Vec<RowBlock<'_>>,
        factors: &Factors,
        link: &LearnedLink,
        tables: &mut Vec<FineMoments>,
    ) -> (Found, ResidualMoments) {
        let table = link.fine();
        let work = self.by_table(blocks);
        tables.resize_with(work.len(), FineMoments::default);
        let found: Vec<Vec<Found>> = work
            .into_par_iter()
            .zip(tables.par_iter_mut())
            .map(|(blocks, moments)| {
                moments.fit(table);
                let found = blocks.into_iter().map(|block| {
                    let values = self.values_of(&block.rows);
                    let (scores, largest) = self.block_scores(block, factors, true);
                    let moments = &mut *moments;
                    (largest, simd::dispatch(Residuals { table, scores, values, moments }))
                });
                found.collect()
            })
            .collect();
        let found = in_order(found.concat());
        let used = table.reach(found.0);
        let mut coarse = LinearMoments::zero(link.space().grid());
        if let Some((sum, others)) = tables.split_first_mut() {
            sum.gather(others, used.clone());
            sum.coarsen(table.grid(), used.clone(), &mut coarse);
            sum.clear(used);
        }
        (found, ResidualMoments(coarse))
    }

    /// The sum of squares, and the sums of the pulls `w_k = g_k phi'(x_k)`: `sum_k w_k v_t` of
    /// each row, `sum_k w_k u_i` of each column. Band after band, so that the pulls that a band's
    /// rows leave for its columns are still at hand.
    fn pull_pass<K: Curve>(
        &self,
        blocks: Vec<RowBlock<'_>>,
        factors: &Factors,
        curve: &K,
        rooms: &Rooms,
        out: &mut Factors,
    ) -> Found {
        let width = factors.width();
        let ends: Vec<usize> = self.bands.iter().map(|of| of.band.rows.end * width).collect();
        let mut blocks = blocks.into_iter();
        let (rows, columns) = out.both_mut();
        let bands = self.bands.iter().zip(split_at_ends(rows, &ends)).map(|(of_band, rows)| {
            let blocks: Vec<_> = blocks.by_ref().take(of_band.row_blocks).collect();
            (of_band, blocks, rows)
        });
        let pull = |(of_band, blocks, rows), columns: &mut [Lanes]| {
            rooms
                .lend(|room| self.pull_band(of_band, blocks, factors, curve, room, [rows, columns]))
        };
        if !self.bands_are_many() {
            return in_order(bands.flat_map(|band| pull(band, columns)).collect());
        }
        let parts: Vec<(Vec<Found>, Vec<Lanes>)> = (bands.collect::<Vec<_>>().into_par_iter())
            .map(|band| {
                let mut part = vec![ZERO; columns.len()];
                (pull(band, &mut part), part)
            })
            .collect();
        let (found, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        columns.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, columns)| {
            for part in &parts {
                let part = &part[chunk * CHUNK..];
                columns.iter_mut().zip(part).for_each(|(sum, part)| *sum = simd::add(*sum, *part));
            }
        });
        in_order(found.concat())
    }

    /// Whether there are so many bands that each is the work of one thread, with sums of its own
    /// for the columns: no thread then waits for what another holds in its cache. With few bands,
    /// or many columns in each, all threads work on the same band.
    fn bands_are_many(&self) -> bool {
        let (bands, columns) = (self.bands.len(), self.observations.shape().columns);
        bands >= MANY_BANDS && self.observations.len() >= MANY_IN_BAND * bands * columns
    }

    /// The pulls of a band: sums of squares of its blocks; sums for its rows, and for all columns.
    fn pull_band<K: Curve>(
        &self,
        of_band: &BandBlocks<'_>,
        blocks: Vec<RowBlock<'_>>,
        factors: &Factors,
        curve: &K,
        room: &mut Vec<AtomicU64>,
        [rows, columns]: [&mut [Lanes]; 2],
    ) -> Vec<Found> {
        room.resize_with(of_band.band.entries.len(), AtomicU64::default);
        let found = self.pull_rows(of_band, blocks, factors, curve, room, rows);
        self.pull_columns(of_band, factors, room, columns);
        found
    }

    /// The sums of squares of a band's blocks; for each of its rows the sum of `w_k v_t` over the
    /// entries; and the pulls themselves, put in the order of the columns.
    fn pull_rows<K: Curve>(
        &self,
        BandBlocks { band, .. }: &BandBlocks<'_>,
        blocks: Vec<RowBlock<'_>>,
        factors: &Factors,
        curve: &K,
        room: &[AtomicU64],
        out: &mut [Lanes],
    ) -> Vec<Found> {
        let (width, first) = (factors.width(), band.entries.start);
        let ends: Vec<usize> =
            blocks.iter().map(|block| (block.rows.end - band.rows.start) * width).collect();
        let shares = split_at_ends(out, &ends);
        let found = blocks.into_par_iter().zip(shares).map_init(Vec::new, |pulls, (block, out)| {
            let rows = block.rows.clone();
            let values = self.values_of(&rows);
            let (scores, largest) = self.block_scores(block, factors, false);
            pulls.resize(values.len(), 0.0);
            let squares = simd::dispatch(Pulls { curve, scores, values, pulls });
            let observations = self.observations;
            by_width!(width, PullRows { observations, factors, rows, pulls, first, room, out });
            (largest, squares)
        });
        found.collect()
    }

    /// Adds for each column the sum of `w_k u_i` over its entries in a band.
    fn pull_columns(
        &self,
        BandBlocks { band, column_blocks, .. }: &BandBlocks<'_>,
        factors: &Factors,
        room: &[AtomicU64],
        out: &mut [Lanes],
    ) {
        let (width, starts, first) = (factors.width(), band.starts, band.entries.start);
        let placed_rows = &self.observations.placed_rows()[band.entries.clone()];
        let ends: Vec<usize> = column_blocks.iter().map(|block| block.end * width).collect();
        column_blocks.par_iter().zip(split_at_ends(out, &ends)).for_each(|(columns, out)| {
            let columns = columns.clone();
            by_width!(
                width,
                PullColumns { factors, starts, first, placed_rows, columns, room, out }
            );
        });
    }

    /// What the machine can do at best: a pass that only gathers and multiplies, as often as an
    /// iteration has to. By rows `x_k = u_i . v_t`, by rows `sum_k y_k v_t`, by columns
    /// `sum_k y_k u_i`, with whatever numbers are next in memory for the `y_k`; nothing is kept.
    /// An iteration is measured against it.
    pub fn gather(&self, factors: &Factors) -> f64 {
        let (observations, weights) = (self.observations, self.observations.values());
        let by_rows = self.row_blocks.par_iter().map(|rows| {
            let rows = rows.clone();
            by_width!(factors.width(), GatherRows { observations, factors, rows, weights })
        });
        let mut sum: f64 = by_rows.collect::<Vec<f64>>().into_iter().sum();
        for BandBlocks { band, column_blocks, .. } in &self.bands {
            let by_columns = column_blocks.par_iter().map(|columns| {
                let (columns, starts) = (columns.clone(), band.starts);
                let placed_rows = observations.placed_rows();
                by_width!(
                    factors.width(),
                    GatherColumns { factors, starts, placed_rows, columns, weights }
                )
            });
            sum += by_columns.collect::<Vec<f64>>().into_iter().sum::<f64>();
        }
        sum
    }

    /// The moments of scores and targets on a grid, each entry counted `scale` times.
    pub(crate) fn moments(
        &self,
        grid: Grid,
        scores: &[f64],
        targets: &[f64],
        scale: f64,
    ) -> (GramMoments, LinearMoments) {
        let size = scores.len().div_ceil(self.tables());
        let parts: Vec<LinkMoments> = scores
            .par_chunks(size)
            .zip(targets.par_chunks(size))
            .map(|(scores, targets)| {
                let mut moments = LinkMoments::zero(grid);
                moments.add(scores, targets);
                moments
            })
            .collect();
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_else(|| LinkMoments::zero(grid));
        let all = parts.fold(first, |mut sum, part| {
            sum.merge(&part);
            sum
        });
        all.scaled(scale)
    }

    /// The row blocks, each with the scores of its entries.
    fn with_scores<'s>(&self, scores: Scores<'s>) -> Vec<RowBlock<'s>> {
        let starts = self.observations.row_starts();
        let rows = self.row_blocks.iter().cloned();
        match scores {
            Scores::Given(scores) => rows
                .map(|rows| {
                    let scores = Scores::Given(&scores[starts[rows.start]..starts[rows.end]]);
                    RowBlock { rows, scores }
                })
                .collect(),
            Scores::Sought(scores) => {
                let ends: Vec<usize> = rows.clone().map(|rows| starts[rows.end]).collect();
                let shares = split_at_ends(scores, &ends).into_iter().map(Scores::Sought);
                rows.zip(shares).map(|(rows, scores)| RowBlock { rows, scores }).collect()
            }
        }
    }

    /// How many tables of moments there are: an even number, so that two threads have the same to
    /// do.
    fn tables(&self) -> usize {
        (self.observations.len() / TABLE_BLOCK / 2 * 2).clamp(2, MOST_TABLES)
    }

    /// The blocks that share a table of moments.
    fn by_table<'s>(&self, blocks: Vec<RowBlock<'s>>) -> Vec<Vec<RowBlock<'s>>> {
        let share = blocks.len().div_ceil(self.tables());
        let mut blocks = blocks.into_iter();
        (0..self.tables())
            .map(|_| blocks.by_ref().take(share).collect())
            .take_while(|blocks: &Vec<_>| !blocks.is_empty())
            .collect()
    }

    fn values_of(&self, rows: &Range<usize>) -> &'a [f64] {
        let starts = self.observations.row_starts();
        &self.observations.values()[starts[rows.start]..starts[rows.end]]
    }

    /// The scores of a block, found if they are sought, and the largest of them; zero where they
    /// are given and `measure` does not ask for it.
    fn block_scores<'s>(
        &self,
        block: RowBlock<'s>,
        factors: &Factors,
        measure: bool,
    ) -> (&'s [f64], f64) {
        let scores = match block.scores {
            Scores::Given(scores) if !measure => return (scores, 0.0),
            Scores::Given(scores) => scores,
            Scores::Sought(scores) => {
                let (starts, others) =
                    (self.observations.row_starts(), self.observations.columns());
                let sides = [factors.held_rows(), factors.held_columns()];
                let (width, units, found) = (factors.width(), block.rows, &mut *scores);
                by_width!(width, FindScores { width, starts, others, units, sides, scores: found });
                scores
            }
        };
        (scores, simd::dispatch(Largest(scores)))
    }
}

/// The largest of all, not a number if one is not.
fn largest(found: Vec<f64>) -> f64 {
    found.into_iter().fold(0.0, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
}

/// The largest score, and the sums of squares added in the order of the blocks.
fn in_order(found: Vec<Found>) -> Found {
    let squares = found.iter().fold(0.0, |sum, block| sum + block.1);
    (largest(found.into_iter().map(|block| block.0).collect()), squares)
}

/// Cuts a slice at increasing ends, the last of which is its length.
pub(crate) fn split_at_ends<'b, T>(slice: &'b mut [T], ends: &[usize]) -> Vec<&'b mut [T]> {
    let mut rest = slice;
    let mut start = 0;
    ends.iter()
        .map(|&end| {
            let (share, remaining) = std::mem::take(&mut rest).split_at_mut(end - start);
            rest = remaining;
            start = end;
            share
        })
        .collect()
}

/// Blocks of units each of which has a system to solve beside its entries.
pub(crate) fn blocks_with_systems(starts: &[usize]) -> Vec<Range<usize>> {
    /// A system costs as much to solve as so many entries to gather.
    const SOLVE: usize = 16;
    let work: Vec<usize> =
        starts.iter().enumerate().map(|(unit, start)| start + SOLVE * unit).collect();
    blocks(&work)
}

/// Consecutive groups (rows or columns) with at least [`BLOCK`] entries together, but for the last.
pub(crate) fn blocks<T: Copy + TryInto<usize>>(starts: &[T]) -> Vec<Range<usize>> {
    let start = |group: usize| starts[group].try_into().unwrap_or(usize::MAX);
    let groups = starts.len() - 1;
    let mut blocks = Vec::new();
    let mut first = 0;
    for group in 0..groups {
        if start(group + 1) - start(first) >= BLOCK || group + 1 == groups {
            blocks.push(first..group + 1);
            first = group + 1;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{init::random_factors, observations::Shape};

    #[test]
    fn blocks_cover_every_row_once() {
        let starts: Vec<usize> = (0..=500).map(|row| row * row * 3).collect();
        let blocks = blocks(&starts);
        assert!(blocks.len() > 10);
        assert_eq!(blocks[0].start, 0);
        assert_eq!(blocks.last().unwrap().end, 500);
        assert!(blocks.windows(2).all(|w| w[0].end == w[1].start));
    }

    /// `sum_k g_k (A_k + A_k') Z` under the identity, entry by entry.
    fn slow_pull(observations: &Observations, z: &Factors) -> (Vec<f64>, Vec<f64>) {
        let (mut rows, mut columns) = (z.rows(), z.columns());
        rows.fill(0.0);
        columns.fill(0.0);
        for entry in observations.iter() {
            let residual = entry.value - z.score(entry.row, entry.column);
            for j in 0..z.rank() {
                rows[entry.row * z.rank() + j] += residual * z.column(entry.column)[j];
                columns[entry.column * z.rank() + j] += residual * z.row(entry.row)[j];
            }
        }
        (rows, columns)
    }

    #[test]
    fn pulls_of_many_bands_are_those_of_the_entries_with_any_number_of_threads() {
        for (rows, many) in [(700, false), (2000, true)] {
            let shape = Shape { rows, columns: 300 };
            let value = |i: usize, t: usize| ((3 * i + 7 * t) as f64).sin();
            let observations = Observations::complete(shape, value).unwrap();
            let entries = Entries::new(&observations);
            assert_eq!((entries.bands.len() > 2, entries.bands_are_many()), (true, many));
            let z = random_factors(shape, 3, 1);
            let pull = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (mut scores, mut evaluated) = (Vec::new(), Evaluated::default());
                let link = Link::Known(KnownLink::Identity);
                pool.install(|| {
                    let need = Need::Pull;
                    entries.score_and_evaluate(&z, &mut scores, &link, need, &mut evaluated);
                });
                (evaluated.squares, evaluated.pull.unwrap())
            };
            let (squares, found) = pull(1);
            assert_eq!((squares, &found), (pull(2).0, &pull(3).1));
            let (slow_rows, slow_columns) = slow_pull(&observations, &z);
            let pairs = found.rows().into_iter().zip(slow_rows);
            for (fast, slow) in pairs.chain(found.columns().into_iter().zip(slow_columns)) {
                assert!((fast - slow).abs() < 1e-9, "{fast} {slow}");
            }
        }
    }
}
