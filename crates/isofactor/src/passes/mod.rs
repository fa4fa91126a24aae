//! Passes over the entries: fixed blocks in a fixed order, one answer for any number of threads.
//!
//! Rows are gathered into blocks of about equal numbers of entries, columns likewise. A block's
//! work depends on the data alone, results of blocks are added in the order of the blocks, so the
//! number of threads changes the time and nothing else.
//!
//! An iteration goes over the entries row by row (scores, then what the link makes of them, then
//! what they pull at the rows) and column by column (what they pull at the columns). Both ways are
//! made band after band of the observations: a band's pulls stay in a fast cache, where the way by
//! columns picks them out.

mod blocks;
mod by_unit;
mod curve;
mod kernels;
mod product;
mod pull;
mod sums;

use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    factors::{CHUNK, Factors},
    link::{
        KnownLink, LearnedLink, Link,
        fine::FineTable,
        table::{GramMoments, Grid, LinearMoments, LinkMoments},
        tally::{Counts, Intervals, Tallies},
    },
    observations::{Band, Observations},
    simd::{self, ZERO, by_width},
    threads::in_turn,
};
pub(crate) use blocks::{blocks, blocks_with_systems, split_at_ends};
pub(crate) use by_unit::ByUnit;
pub(crate) use curve::Counted;
use curve::{Curve, Largest, Squares, Straight};
use kernels::{FindScores, GatherColumns, SumRows};
pub(crate) use product::Sparse;
use pull::{PullRoom, groups};

/// About how many entries at least share a table, and how many tables there are at most: of tallies for a
/// step of the link, where one costs as much to clear and to add up as some thousand entries, and of
/// moments of scores and targets for the best link, where it is several thousand.
const OF_TALLIES: (usize, usize) = (1 << 14, 32);
const OF_TARGETS: (usize, usize) = (1 << 16, 16);

/// Observations with their division into blocks.
#[derive(Debug)]
pub struct Entries<'a> {
    observations: &'a Observations,
    /// Blocks of rows, none of which is in two bands of the observations.
    row_blocks: Vec<Range<usize>>,
    bands: Vec<BandBlocks<'a>>,
    /// Groups of bands.
    groups: Vec<Range<usize>>,
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
    /// How many scores lie where, and their values, for a step of the link.
    Counts,
}

/// What a pass with a link found.
#[derive(Debug, Clone, Default)]
pub struct Evaluated {
    /// `sum_k g_k^2` with `g_k = y_k - phi(x_k)`; where entries were only counted, none.
    pub squares: Option<f64>,
    /// `sum_k g_k phi'(x_k) (A_k + A_k') Z`, if it was asked for.
    pub pull: Option<Factors>,
    /// How many scores lie where, and their values, if that was asked for.
    pub counts: Option<Counts>,
    room: Room,
}

impl Evaluated {
    /// Keeps the room of factors that are no longer needed for the next pass.
    pub(crate) fn keep_room(&mut self, factors: Factors) {
        self.room.factors = Some(factors);
    }

    /// Takes over the other's room for pulls, unless it has one: one is enough where two take turns.
    pub(crate) fn take_room(&mut self, other: &mut Evaluated) {
        if self.room.pulls.is_none() {
            self.room.pulls = other.room.pulls.take();
        }
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
    pulls: Option<PullRoom>,
    /// Where each thread counts entries; all nothing between passes.
    tallies: Vec<Mutex<Tallies>>,
    /// Factors that are no longer needed.
    factors: Option<Factors>,
    /// The largest score of the last pass with a learned link, in absolute value.
    reach: Option<f64>,
}

impl Room {
    /// Factors that are all to be written, in the room that is there if they fit.
    fn factors_like(&mut self, like: &Factors) -> Factors {
        match self.factors.take() {
            Some(factors) if factors.is_like(like) => factors,
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

/// The scores of the entries: to be found from the factors, or there already.
enum Scores<'s> {
    Sought(&'s mut [f64]),
    Given(&'s [f64]),
}

impl Scores<'_> {
    /// The same for a first of two passes.
    fn again(&mut self) -> Scores<'_> {
        match self {
            Scores::Sought(scores) => Scores::Sought(scores),
            Scores::Given(scores) => Scores::Given(scores),
        }
    }

    /// The same when they were found.
    fn found(&self) -> Scores<'_> {
        match self {
            Scores::Sought(scores) => Scores::Given(scores),
            Scores::Given(scores) => Scores::Given(scores),
        }
    }
}

/// A link with the table that a pass reads it by, if it is learned.
#[derive(Clone, Copy)]
enum Tabled<'a> {
    Known(&'a Link),
    Learned(&'a FineTable),
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
        let bands: Vec<_> = bands.collect();
        let groups = groups(bands.len(), observations.len(), observations.shape().columns);
        Self { observations, row_blocks, bands, groups }
    }

    /// The observations.
    pub fn observations(&self) -> &'a Observations {
        self.observations
    }

    /// Writes the score of every entry and returns the largest in absolute value.
    pub fn scores(&self, factors: &Factors, scores: &mut Vec<f64>) -> f64 {
        scores.resize(self.observations.len(), 0.0);
        let blocks = self.with_scores(Scores::Sought(scores));
        let found = in_turn(
            blocks,
            || (),
            |(), block| simd::dispatch_wide(Largest(self.block_scores(block, factors))),
        );
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

    /// Adds the sum of squares to what an earlier pass with these scores and this link found.
    pub(crate) fn add_squares(
        &self,
        factors: &Factors,
        scores: &[f64],
        link: &Link,
        evaluated: &mut Evaluated,
    ) {
        let counts = evaluated.counts.take();
        self.evaluate(factors, scores, link, Need::Nothing, evaluated);
        evaluated.counts = counts;
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

    /// The sum of squares of the entries whose scores are inside the link's domain.
    pub fn squares_inside(&self, scores: &[f64], link: &LearnedLink) -> f64 {
        let (curve, half_width) = (link.fine().link(), link.space().half_width());
        let chunks = scores.par_chunks(CHUNK).zip(self.observations.values().par_chunks(CHUNK));
        let sums: Vec<f64> = chunks
            .map(|(scores, values)| {
                let entries = scores.iter().copied().zip(values.iter().copied());
                let (scores, values): (Vec<f64>, Vec<f64>) =
                    entries.filter(|(x, _)| x.abs() <= half_width).unzip();
                let inside = Squares { curve, scores: &scores, values: &values };
                simd::dispatch_wide(inside).1
            })
            .collect();
        sums.into_iter().sum()
    }

    /// Passes over the scores once, or twice where they go so far beyond those of the last pass that
    /// the link's table has to be longer.
    fn pass(
        &self,
        factors: &Factors,
        mut scores: Scores<'_>,
        link: &Link,
        need: Need,
        evaluated: &mut Evaluated,
    ) -> f64 {
        let Link::Learned(learned) = link else {
            return self.pass_with(factors, scores, Tabled::Known(link), need, evaluated);
        };
        if need == Need::Counts {
            return self.counts_pass(factors, scores, learned, evaluated);
        }
        let reach = evaluated.room.reach.unwrap_or(f64::INFINITY);
        let table = learned.space().work(|| learned.fine_within(reach));
        let first = Tabled::Learned(table);
        let largest = self.pass_with(factors, scores.again(), first, need, evaluated);
        // Beyond the domain nothing means anything; a link on a wider one comes next.
        evaluated.room.reach = Some(largest).filter(|largest| largest.is_finite());
        if !table.covers(largest) && largest <= learned.space().half_width() {
            let (found, whole) = (scores.found(), Tabled::Learned(learned.fine()));
            self.pass_with(factors, found, whole, need, evaluated);
        }
        largest
    }

    fn pass_with(
        &self,
        factors: &Factors,
        scores: Scores<'_>,
        link: Tabled<'_>,
        need: Need,
        evaluated: &mut Evaluated,
    ) -> f64 {
        if let Some(pull) = evaluated.pull.take().filter(|_| need == Need::Pull) {
            evaluated.keep_room(pull);
        }
        evaluated.counts = None;
        let blocks = self.with_scores(scores);
        let (largest, squares) = match (need, link) {
            (Need::Pull, link) => {
                let mut pull = evaluated.room.factors_like(factors);
                let room = evaluated.room.pulls.get_or_insert_default();
                let out = &mut pull;
                let found = match link {
                    Tabled::Known(Link::Known(KnownLink::Identity)) => {
                        self.pull_pass(blocks, factors, Straight, room, out)
                    }
                    Tabled::Learned(table) => {
                        self.pull_pass(blocks, factors, table.link(), room, out)
                    }
                    Tabled::Known(link) => self.pull_pass(blocks, factors, link, room, out),
                };
                evaluated.pull = Some(pull);
                found
            }
            // A known link has no step of its own.
            (_, Tabled::Known(Link::Known(KnownLink::Identity))) => {
                self.squares_pass(blocks, factors, Straight)
            }
            (_, Tabled::Learned(table)) => self.squares_pass(blocks, factors, table.link()),
            (_, Tabled::Known(link)) => self.squares_pass(blocks, factors, link),
        };
        evaluated.squares = Some(squares);
        largest
    }

    /// The sum of squares alone.
    fn squares_pass<K: Curve>(
        &self,
        blocks: Vec<RowBlock<'_>>,
        factors: &Factors,
        curve: K,
    ) -> Found {
        in_order(in_turn(
            blocks,
            || (),
            |(), block| {
                let values = self.values_of(&block.rows);
                let scores = self.block_scores(block, factors);
                simd::dispatch_wide(Squares { curve, scores, values })
            },
        ))
    }

    /// Counts entries where their scores lie, which takes no link but its grid. Returns the largest score.
    fn counts_pass(
        &self,
        factors: &Factors,
        scores: Scores<'_>,
        link: &LearnedLink,
        evaluated: &mut Evaluated,
    ) -> f64 {
        let intervals = Intervals::of(link.space().grid());
        let tallies = &mut evaluated.room.tallies;
        tallies.resize_with(rayon::current_num_threads(), Mutex::default);
        let tallies = &*tallies;
        let shares: Vec<Counts> = in_turn(
            self.shares(self.with_scores(scores)),
            || {
                let thread = rayon::current_thread_index().unwrap_or(0);
                let mut own = tallies[thread].lock().unwrap_or_else(PoisonError::into_inner);
                own.fit(intervals);
                own
            },
            |tallies, blocks| {
                let found = blocks.into_iter().map(|block| {
                    let values = self.values_of(&block.rows);
                    let scores = self.block_scores(block, factors);
                    let (places, tallies) = (intervals.places, tallies.turns());
                    simd::dispatch_wide(Counted { places, scores, values, tallies })
                });
                let reach = largest(found);
                tallies.take(intervals, reach)
            },
        );
        let reach = largest(shares.iter().map(|share| share.reach));
        let counts = link.space().work(|| Counts::of_shares(&shares, intervals, reach));
        evaluated.room.reach = Some(reach).filter(|reach| reach.is_finite());
        (evaluated.squares, evaluated.pull, evaluated.counts) = (None, None, Some(counts));
        reach
    }

    /// What the machine can do at best: a pass that only gathers and multiplies, as often as an
    /// iteration has to. By rows `x_k = u_i . v_t`, by rows `sum_k y_k v_t`, by columns
    /// `sum_k y_k u_i`, row by row and column by column, with whatever numbers are next in memory
    /// for the `y_k`; what comes out is written over what came before. An iteration is measured
    /// against it.
    pub fn gather(&self, factors: &Factors) -> f64 {
        let (observations, weights) = (self.observations, self.observations.values());
        let (width, starts) = (factors.width(), observations.row_starts());
        let room = || (Vec::new(), Vec::new());
        let by_rows = in_turn(self.row_blocks.iter().cloned(), room, |(found, out), rows| {
            let weights = self.values_of(&rows);
            found.resize(weights.len(), 0.0);
            out.resize(rows.len() * width, ZERO);
            let (units, others, scores) = (rows.clone(), observations.columns(), &mut found[..]);
            let sides = [factors.held_rows(), factors.held_columns()];
            by_width!(width, FindScores { width, starts, others, units, sides, scores });
            let out = &mut out[..];
            by_width!(width, SumRows { observations, factors, rows, weights, out });
            found.iter().chain(out.as_flattened()).next().copied().unwrap_or(0.0)
        });
        // Nothing is kept, so no band waits for another.
        let of_bands = self.bands.iter().flat_map(|BandBlocks { band, column_blocks, .. }| {
            column_blocks.iter().map(move |columns| (band, columns.clone()))
        });
        let by_columns = in_turn(
            of_bands,
            || (),
            |(), (band, columns)| {
                by_width!(width, GatherColumns { observations, factors, band, columns, weights })
            },
        );
        by_rows.into_iter().chain(by_columns).sum()
    }

    /// The moments of scores and targets on a grid, each entry counted `scale` times.
    pub(crate) fn moments(
        &self,
        grid: Grid,
        scores: &[f64],
        targets: &[f64],
        scale: f64,
    ) -> (GramMoments, LinearMoments) {
        let size = scores.len().div_ceil(self.tables(OF_TARGETS));
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

    /// How many tables there are: an even number, so that two threads have the same to
    /// do.
    fn tables(&self, (block, most): (usize, usize)) -> usize {
        (self.observations.len() / block / 2 * 2).clamp(2, most)
    }

    /// The blocks whose entries are counted together.
    fn shares<'s>(&self, blocks: Vec<RowBlock<'s>>) -> Vec<Vec<RowBlock<'s>>> {
        let tables = self.tables(OF_TALLIES);
        let share = blocks.len().div_ceil(tables);
        let mut blocks = blocks.into_iter();
        (0..tables)
            .map(|_| blocks.by_ref().take(share).collect())
            .take_while(|blocks: &Vec<_>| !blocks.is_empty())
            .collect()
    }

    fn values_of(&self, rows: &Range<usize>) -> &'a [f64] {
        let starts = self.observations.row_starts();
        &self.observations.values()[starts[rows.start]..starts[rows.end]]
    }

    /// The scores of a block, found if they are sought.
    fn block_scores<'s>(&self, block: RowBlock<'s>, factors: &Factors) -> &'s [f64] {
        match block.scores {
            Scores::Given(scores) => scores,
            Scores::Sought(scores) => {
                let (starts, others) =
                    (self.observations.row_starts(), self.observations.columns());
                let sides = [factors.held_rows(), factors.held_columns()];
                let (width, units, found) = (factors.width(), block.rows, &mut *scores);
                by_width!(width, FindScores { width, starts, others, units, sides, scores: found });
                scores
            }
        }
    }
}

/// The largest of all, not a number if one is not.
fn largest(found: impl IntoIterator<Item = f64>) -> f64 {
    found.into_iter().fold(0.0, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
}

/// The largest score, and the sums of squares added in the order of the blocks.
fn in_order(found: Vec<Found>) -> Found {
    let squares = found.iter().fold(0.0, |sum, block| sum + block.1);
    (largest(found.into_iter().map(|block| block.0)), squares)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        init::random_factors,
        link::{Kernel, KernelFamily, LinkSpace},
        observations::Shape,
    };

    #[test]
    fn what_a_pass_finds_does_not_depend_on_the_passes_before() {
        let shape = Shape { rows: 220, columns: 130 };
        let value = |i: usize, t: usize| ((i * 3 + t) as f64).sin();
        let observations = Observations::complete(shape, value).unwrap();
        let entries = Entries::new(&observations);
        let near = random_factors(shape, 3, 1);
        let (mut far, mut broken) = (near.clone(), near.clone());
        far.scale(1.7);
        broken.scale(f64::NAN);
        let mut scores = Vec::new();
        let half_width = 1.5 * entries.scores(&far, &mut scores);
        let kernel = Kernel::try_new(KernelFamily::Gaussian, half_width / 4.0).unwrap();
        let space = Arc::new(LinkSpace::build(kernel, half_width).unwrap());
        let weights = space.nearest(|x| x.tanh()).unwrap();
        for need in [Need::Nothing, Need::Pull, Need::Counts] {
            let mut used = Evaluated::default();
            // A short table after the first, scores beyond it, none at all, and short again.
            for factors in [&near, &near, &far, &broken, &near, &far] {
                // No table is left of the link before.
                let link = Link::Learned(LearnedLink::new(space.clone(), weights.clone()));
                let mut fresh = Evaluated::default();
                let found = [&mut used, &mut fresh].map(|evaluated| {
                    entries.score_and_evaluate(factors, &mut scores, &link, need, evaluated)
                });
                if found[0].is_nan() {
                    assert!(found[1].is_nan());
                    continue;
                }
                assert_eq!((found[0], used.squares), (found[1], fresh.squares));
                assert_eq!(used.pull, fresh.pull);
                assert_eq!(used.counts, fresh.counts);
            }
        }
    }

    #[test]
    fn squares_inside_a_domain_leave_out_the_entries_beyond_it() {
        let shape = Shape { rows: 150, columns: 90 };
        let observations =
            Observations::complete(shape, |i, t| ((i * 3 + t) as f64).sin()).unwrap();
        let entries = Entries::new(&observations);
        let mut scores = Vec::new();
        let half_width = 0.4 * entries.scores(&random_factors(shape, 3, 1), &mut scores);
        let kernel = Kernel::try_new(KernelFamily::Gaussian, half_width / 3.0).unwrap();
        let space = Arc::new(LinkSpace::build(kernel, half_width).unwrap());
        let weights = space.nearest(|x| x.tanh()).unwrap();
        let link = LearnedLink::new(space, weights);
        let pairs = || scores.iter().zip(observations.values());
        let inside = pairs().filter(|(x, _)| x.abs() <= half_width);
        assert!((1..scores.len()).contains(&inside.clone().count()));
        let slow: f64 = inside.map(|(&x, y)| (y - link.value_and_slope(x).0).powi(2)).sum();
        let found = entries.squares_inside(&scores, &link);
        assert!((found / slow - 1.0).abs() < 1e-9, "{found} and {slow}");
    }
}
