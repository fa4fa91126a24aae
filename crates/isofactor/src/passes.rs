//! Passes over the entries: fixed blocks in a fixed order, one answer for any number of threads.
//!
//! Rows are gathered into blocks of about equal numbers of entries, columns likewise. A block's
//! work depends on the data alone, results of blocks are added in the order of the blocks, so the
//! number of threads changes the time and nothing else.

use std::ops::Range;

use rayon::prelude::*;

use crate::{
    factors::Factors,
    linalg,
    link::{
        Link,
        table::{Grid, LinearMoments, Moments},
    },
    observations::Observations,
};

/// About how many entries a block holds.
const BLOCK: usize = 1 << 14;
/// How many partial sums over a table are held at once.
const MOST_TABLES: usize = 32;

/// Observations with their division into blocks.
#[derive(Debug)]
pub struct Entries<'a> {
    observations: &'a Observations,
    row_blocks: Vec<Range<usize>>,
    column_blocks: Vec<Range<usize>>,
}

/// What the next step needs to know about every entry under a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The objective alone.
    Nothing,
    /// `g_k phi'(x_k)` of every entry, for a step of the factors.
    Pulls,
    /// The moments of the residuals, for a step of the link.
    Moments,
}

/// What a pass with a link found.
#[derive(Debug, Clone, Default)]
pub struct Evaluated {
    /// `sum_k g_k^2` with `g_k = y_k - phi(x_k)`
    pub squares: f64,
    /// `g_k phi'(x_k)`, if they were asked for.
    pulls: Option<Vec<f64>>,
    /// Moments of the residuals over the link's table, if they were asked for.
    moments: Option<ResidualMoments>,
    /// Room for pulls while there are none.
    room: Vec<f64>,
}

impl Evaluated {
    /// `g_k phi'(x_k)`, if the pass was made for them.
    pub fn pulls(&self) -> Option<&[f64]> {
        self.pulls.as_deref()
    }

    /// Moments of the residuals, if the pass was made for them.
    pub fn moments(&self) -> Option<&ResidualMoments> {
        self.moments.as_ref()
    }
}

/// Moments of the residuals over a link's table: all that a step of the link needs of the data.
#[derive(Debug, Clone)]
pub struct ResidualMoments(pub(crate) LinearMoments);

impl<'a> Entries<'a> {
    /// Divides observations into blocks.
    pub fn new(observations: &'a Observations) -> Self {
        Self {
            observations,
            row_blocks: blocks(observations.row_starts()),
            column_blocks: blocks(observations.column_starts()),
        }
    }

    /// The observations.
    pub fn observations(&self) -> &'a Observations {
        self.observations
    }

    /// Writes the score of every entry and returns the largest in absolute value.
    pub fn scores(&self, factors: &Factors, scores: &mut Vec<f64>) -> f64 {
        scores.resize(self.observations.len(), 0.0);
        let largest = self.over_entries(scores).map(|(rows, first, scores)| {
            let mut largest = 0.0f64;
            for row in rows {
                let entries = self.observations.row(row);
                let start = entries.first - first;
                for (score, &column) in scores[start..].iter_mut().zip(entries.columns) {
                    *score = factors.score(row, column as usize);
                    largest = if score.is_finite() { largest.max(score.abs()) } else { f64::NAN };
                    if largest.is_nan() {
                        return largest;
                    }
                }
            }
            largest
        });
        let largest: Vec<f64> = largest.collect();
        largest
            .into_iter()
            .fold(0.0, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
    }

    /// Passes over the scores with a link, for what the next step needs.
    pub fn evaluate(&self, scores: &[f64], link: &Link, need: Need, evaluated: &mut Evaluated) {
        match link {
            Link::Known(link) => {
                self.evaluate_with(scores, |x| link.value_and_slope(x), None, need, evaluated);
            }
            Link::Learned(link) => {
                let grid = Some(link.space().grid());
                self.evaluate_with(scores, |x| link.value_and_slope(x), grid, need, evaluated);
            }
        }
    }

    fn evaluate_with(
        &self,
        scores: &[f64],
        link: impl Fn(f64) -> (f64, f64) + Sync,
        grid: Option<Grid>,
        need: Need,
        evaluated: &mut Evaluated,
    ) {
        if let Some(pulls) = evaluated.pulls.take() {
            evaluated.room = pulls;
        }
        evaluated.moments = None;
        match (need, grid) {
            (Need::Pulls, _) => {
                let mut pulls = std::mem::take(&mut evaluated.room);
                evaluated.squares = self.pulls_with(scores, link, &mut pulls);
                evaluated.pulls = Some(pulls);
            }
            (Need::Moments, Some(grid)) => {
                let (squares, moments) = self.moments_with(scores, link, grid);
                evaluated.squares = squares;
                evaluated.moments = Some(moments);
            }
            // A known link has no step of its own.
            (Need::Moments, None) | (Need::Nothing, _) => {
                let values = self.observations.values();
                let squares: Vec<f64> = (scores.par_chunks(BLOCK).zip(values.par_chunks(BLOCK)))
                    .map(|(scores, values)| {
                        let pairs = scores.iter().zip(values);
                        pairs.fold(0.0, |sum, (&x, y)| sum + (y - link(x).0).powi(2))
                    })
                    .collect();
                evaluated.squares = squares.into_iter().fold(0.0, |sum, block: f64| sum + block);
            }
        }
    }

    /// Writes `g_k phi'(x_k)` and returns `sum_k g_k^2`.
    fn pulls_with(
        &self,
        scores: &[f64],
        link: impl Fn(f64) -> (f64, f64) + Sync,
        pulls: &mut Vec<f64>,
    ) -> f64 {
        pulls.resize(scores.len(), 0.0);
        let inputs = scores.par_chunks(BLOCK).zip(self.observations.values().par_chunks(BLOCK));
        let squares: Vec<f64> = (pulls.par_chunks_mut(BLOCK).zip(inputs))
            .map(|(pulls, (scores, values))| {
                let mut squares = 0.0;
                for ((pull, &x), y) in pulls.iter_mut().zip(scores).zip(values) {
                    let (fitted, slope) = link(x);
                    let residual = y - fitted;
                    *pull = residual * slope;
                    squares += residual * residual;
                }
                squares
            })
            .collect();
        squares.into_iter().fold(0.0, |sum, block| sum + block)
    }

    /// `sum_k g_k^2` and the moments of the residuals.
    fn moments_with(
        &self,
        scores: &[f64],
        link: impl Fn(f64) -> (f64, f64) + Sync,
        grid: Grid,
    ) -> (f64, ResidualMoments) {
        let values = self.observations.values();
        let size = table_block(scores.len());
        let parts: Vec<(Vec<f64>, LinearMoments)> = scores
            .par_chunks(size)
            .zip(values.par_chunks(size))
            .map(|(scores, values)| {
                let mut moments = Moments::zero(grid);
                // Block by block, as in every other pass, so that all find the same sum.
                let blocks = scores.chunks(BLOCK).zip(values.chunks(BLOCK));
                let squares = blocks.map(|(scores, values)| {
                    let mut squares = 0.0;
                    for (&x, y) in scores.iter().zip(values) {
                        let residual = y - link(x).0;
                        squares += residual * residual;
                        moments.add(x, residual);
                    }
                    squares
                });
                (squares.collect(), moments)
            })
            .collect();
        let mut sum = Moments::zero(grid);
        let mut squares = 0.0;
        for (block_squares, moments) in parts {
            squares = block_squares.into_iter().fold(squares, |sum, block| sum + block);
            sum.merge(&moments);
        }
        (squares, ResidualMoments(sum))
    }

    /// `sum_k w_k (A_k + A_k') Z` with the pulls `w_k = g_k phi'(x_k)`: for each row the sum of
    /// `w_k v_t` over its entries, for each column the sum of `w_k u_i`.
    pub fn pull(&self, factors: &Factors, pulls: &[f64]) -> Factors {
        let mut pull = Factors::zeros(factors.shape(), factors.rank());
        let rank = factors.rank();
        over_blocks(&self.row_blocks, rank, pull.rows_mut()).for_each(|(rows, out)| {
            for (row, out) in rows.zip(out.chunks_exact_mut(rank)) {
                let entries = self.observations.row(row);
                let pulls = &pulls[entries.first..];
                for (&pull, &column) in pulls.iter().zip(entries.columns) {
                    linalg::add_scaled(out, pull, factors.column(column as usize));
                }
            }
        });
        over_blocks(&self.column_blocks, rank, pull.columns_mut()).for_each(|(columns, out)| {
            for (column, out) in columns.zip(out.chunks_exact_mut(rank)) {
                let entries = self.observations.column(column);
                for (&row, &k) in entries.rows.iter().zip(entries.entries) {
                    linalg::add_scaled(out, pulls[k as usize], factors.row(row as usize));
                }
            }
        });
        pull
    }

    /// `sum_k weight(k) t_k^p` of every interval of a grid.
    pub(crate) fn moments<const P: usize>(
        &self,
        grid: Grid,
        scores: &[f64],
        weight: impl Fn(usize) -> f64 + Sync,
    ) -> Moments<P> {
        let size = table_block(scores.len());
        let parts: Vec<Moments<P>> = scores
            .par_chunks(size)
            .enumerate()
            .map(|(block, scores)| {
                let mut moments = Moments::zero(grid);
                for (k, &x) in (block * size..).zip(scores) {
                    moments.add(x, weight(k));
                }
                moments
            })
            .collect();
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_else(|| Moments::zero(grid));
        parts.fold(first, |mut sum, part| {
            sum.merge(&part);
            sum
        })
    }

    /// The row blocks, each with the number of its first entry and its share of a vector that has
    /// one number per entry.
    fn over_entries<'b>(
        &self,
        per_entry: &'b mut [f64],
    ) -> impl IndexedParallelIterator<Item = (Range<usize>, usize, &'b mut [f64])> {
        let starts = self.observations.row_starts();
        let first_entries = self.row_blocks.iter().map(|block| starts[block.start]);
        let ends: Vec<usize> = self.row_blocks.iter().map(|block| starts[block.end]).collect();
        let shares = split_at_ends(per_entry, &ends);
        let work: Vec<_> = self
            .row_blocks
            .iter()
            .cloned()
            .zip(first_entries)
            .zip(shares)
            .map(|((block, first), share)| (block, first, share))
            .collect();
        work.into_par_iter()
    }
}

/// How many scores share a table of moments: whole blocks.
fn table_block(scores: usize) -> usize {
    scores.div_ceil(MOST_TABLES).next_multiple_of(BLOCK).max(BLOCK)
}

/// Blocks of rows (or columns), each with its share of their factors.
fn over_blocks<'b>(
    blocks: &[Range<usize>],
    rank: usize,
    factors: &'b mut [f64],
) -> impl IndexedParallelIterator<Item = (Range<usize>, &'b mut [f64])> {
    let ends: Vec<usize> = blocks.iter().map(|block| block.end * rank).collect();
    let work: Vec<_> = blocks.iter().cloned().zip(split_at_ends(factors, &ends)).collect();
    work.into_par_iter()
}

/// Cuts a slice at increasing ends, the last of which is its length.
fn split_at_ends<'b>(slice: &'b mut [f64], ends: &[usize]) -> Vec<&'b mut [f64]> {
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

/// Consecutive groups (rows or columns) with at least [`BLOCK`] entries together, but for the last.
fn blocks(starts: &[usize]) -> Vec<Range<usize>> {
    let groups = starts.len() - 1;
    let mut blocks = Vec::new();
    let mut first = 0;
    for group in 0..groups {
        if starts[group + 1] - starts[first] >= BLOCK || group + 1 == groups {
            blocks.push(first..group + 1);
            first = group + 1;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_row_once() {
        let starts: Vec<usize> = (0..=500).map(|row| row * row * 3).collect();
        let blocks = blocks(&starts);
        assert!(blocks.len() > 10);
        assert_eq!(blocks[0].start, 0);
        assert_eq!(blocks.last().unwrap().end, 500);
        assert!(blocks.windows(2).all(|w| w[0].end == w[1].start));
    }
}
