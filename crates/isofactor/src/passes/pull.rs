//! What the entries pull at rows and columns: from the rows of a band to its columns while the
//! band's pulls are in a fast cache.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    BandBlocks, Entries, Found, RowBlock,
    blocks::split_at_ends,
    curve::{Curve, Pulls},
    in_order,
    kernels::{SumColumns, SumRows},
};
use crate::{
    factors::{CHUNK, Factors},
    simd::{self, Lanes, ZERO, by_width},
    threads::in_turn,
};

/// From how many bands on groups of them are worked on at the same time, and how many groups there
/// are at most.
const MANY_BANDS: usize = 4;
const MOST_GROUPS: usize = 32;
/// Each group has sums of its own for the columns. A column has at least so many entries in one, on
/// average, that these are few beside the entries.
const LEAST_IN_GROUP: usize = 32;

/// Bands that are worked on one after the other: all of them where bands or entries are few, and all
/// threads work on one band after the other. Otherwise threads take groups of them in turn, and
/// rarely wait for what another holds in its cache. Which it is depends on the data alone.
pub(super) fn groups(bands: usize, entries: usize, columns: usize) -> Vec<Range<usize>> {
    let groups = match entries / (LEAST_IN_GROUP * columns) {
        groups if bands >= MANY_BANDS && groups > 1 => groups.min(bands).min(MOST_GROUPS),
        _ => 1,
    };
    (0..groups).map(|group| group * bands / groups..(group + 1) * bands / groups).collect()
}

/// What passes that look for pulls write to on the way.
#[derive(Debug, Default)]
pub(super) struct PullRoom {
    /// For the pulls of a band, where all threads work on the same.
    pulls: Vec<f64>,
    /// For what each group of bands pulls at the columns.
    of_groups: Vec<Vec<Lanes>>,
}

impl Entries<'_> {
    /// The sum of squares, and the sums of the pulls `w_k = g_k phi'(x_k)`: `sum_k w_k v_t` of
    /// each row, `sum_k w_k u_i` of each column, written over what is there. Band after band, so
    /// that the pulls that a band's rows leave for its columns are still at hand.
    pub(super) fn pull_pass<K: Curve>(
        &self,
        blocks: Vec<RowBlock<'_>>,
        factors: &Factors,
        curve: K,
        room: &mut PullRoom,
        out: &mut Factors,
    ) -> Found {
        let width = factors.width();
        let (rows, columns) = out.both_mut();
        let bands = |group: &Range<usize>| &self.bands[group.clone()];
        let last_row = |group| bands(group).last().map_or(0, |last| last.band.rows.end);
        let ends: Vec<usize> = self.groups.iter().map(|group| last_row(group) * width).collect();
        let mut blocks = blocks.into_iter();
        let shares = self.groups.iter().zip(split_at_ends(rows, &ends)).map(|(group, rows)| {
            let count = bands(group).iter().map(|of_band| of_band.row_blocks).sum();
            (blocks.by_ref().take(count).collect(), rows)
        });
        let PullRoom { pulls, of_groups } = room;
        let rooms = (pulls, of_groups);
        let found = self.over_groups(shares, rooms, columns, |pulls, bands, share, columns| {
            let (blocks, rows) = share;
            self.pull_bands(bands, blocks, factors, curve, pulls, [rows, columns])
        });
        in_order(found.concat())
    }

    /// What groups of bands find, each with its share of something, and the sum of what they write for
    /// the columns. There is room for the work where there is one group, and for what each writes where
    /// there are several.
    pub(super) fn over_groups<T: Send, S: Default, R: Send>(
        &self,
        shares: impl Iterator<Item = T>,
        (room, parts): (&mut S, &mut Vec<Vec<Lanes>>),
        columns: &mut [Lanes],
        work: impl Fn(&mut S, &[BandBlocks<'_>], T, &mut [Lanes]) -> R + Sync + Send,
    ) -> Vec<R> {
        let shares = self.groups.iter().map(|group| &self.bands[group.clone()]).zip(shares);
        if self.groups.len() == 1 {
            return shares.map(|(bands, share)| work(room, bands, share, columns)).collect();
        }
        parts.resize_with(self.groups.len(), Vec::new);
        let with_parts = shares.zip(parts.iter_mut());
        let found = in_turn(with_parts, S::default, |room, ((bands, share), part)| {
            part.resize(columns.len(), ZERO);
            work(room, bands, share, part)
        });
        columns.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, columns)| {
            columns.fill(ZERO);
            for part in &*parts {
                let part = &part[chunk * CHUNK..];
                columns.iter_mut().zip(part).for_each(|(sum, part)| *sum = simd::add(*sum, *part));
            }
        });
        found
    }

    /// The pulls of some bands: sums of squares of their blocks; sums for their rows, and for all
    /// columns.
    fn pull_bands<K: Curve>(
        &self,
        bands: &[BandBlocks<'_>],
        blocks: Vec<RowBlock<'_>>,
        factors: &Factors,
        curve: K,
        pulls: &mut Vec<f64>,
        [rows, columns]: [&mut [Lanes]; 2],
    ) -> Vec<Found> {
        let mut blocks = blocks.into_iter();
        let mut rest = rows;
        let mut found = Vec::new();
        for (number, of_band) in bands.iter().enumerate() {
            let blocks = blocks.by_ref().take(of_band.row_blocks).collect();
            let size = of_band.band.rows.len() * factors.width();
            let rows;
            (rows, rest) = std::mem::take(&mut rest).split_at_mut(size);
            pulls.resize(of_band.band.entries.len(), 0.0);
            found.extend(self.pull_rows(of_band, blocks, factors, curve, pulls, rows));
            self.sum_columns(of_band, factors, pulls, number > 0, columns);
        }
        found
    }

    /// The sums of squares of a band's blocks; the pulls of its entries; and for each of its rows
    /// the sum of `w_k v_t` over the entries.
    fn pull_rows<K: Curve>(
        &self,
        BandBlocks { band, .. }: &BandBlocks<'_>,
        blocks: Vec<RowBlock<'_>>,
        factors: &Factors,
        curve: K,
        pulls: &mut [f64],
        out: &mut [Lanes],
    ) -> Vec<Found> {
        let (width, observations) = (factors.width(), self.observations);
        let ends = |from: &dyn Fn(usize) -> usize| -> Vec<usize> {
            blocks.iter().map(|block| from(block.rows.end) - from(band.rows.start)).collect()
        };
        let of_entries = split_at_ends(pulls, &ends(&|row| observations.row_starts()[row]));
        let of_rows = split_at_ends(out, &ends(&|row| row * width));
        let work = blocks.into_iter().zip(of_entries).zip(of_rows);
        in_turn(
            work,
            || (),
            |(), ((block, pulls), out)| {
                let rows = block.rows.clone();
                let values = self.values_of(&rows);
                let scores = self.block_scores(block, factors);
                let found = simd::dispatch_wide(Pulls { curve, scores, values, pulls });
                let weights = &*pulls;
                by_width!(width, SumRows { observations, factors, rows, weights, out });
                found
            },
        )
    }

    /// For each column the sum of `w_k u_i` over its entries in a band, with the weights of the
    /// band's entries; added to what is there, or written over it.
    pub(super) fn sum_columns(
        &self,
        BandBlocks { band, column_blocks, .. }: &BandBlocks<'_>,
        factors: &Factors,
        weights: &[f64],
        add: bool,
        out: &mut [Lanes],
    ) {
        let (width, observations) = (factors.width(), self.observations);
        let ends: Vec<usize> = column_blocks.iter().map(|block| block.end * width).collect();
        let work = column_blocks.iter().cloned().zip(split_at_ends(out, &ends));
        in_turn(
            work,
            || (),
            |(), (columns, out)| {
                by_width!(
                    width,
                    SumColumns { observations, factors, band, columns, weights, add, out }
                );
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        init::random_factors,
        link::{KnownLink, Link},
        observations::{Entry, Observations, Shape},
        passes::{Evaluated, Need},
    };

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
        for (rows, many) in [(150, false), (500, true), (2000, true)] {
            let shape = Shape { rows, columns: 300 };
            let value = |i: usize, t: usize| ((3 * i + 7 * t) as f64).sin();
            let observations = Observations::complete(shape, value).unwrap();
            let entries = Entries::new(&observations);
            assert_eq!((entries.bands.len() > 2, entries.groups.len() > 1), (true, many));
            let z = random_factors(shape, 3, 1);
            let pull = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (mut scores, mut evaluated) = (Vec::new(), Evaluated::default());
                let (link, need) = (Link::Known(KnownLink::Identity), Need::Pull);
                pool.install(|| {
                    // The room that each leaves is written over by the next.
                    for z in [&random_factors(shape, 9, 2), &random_factors(shape, 3, 2), &z] {
                        entries.score_and_evaluate(z, &mut scores, &link, need, &mut evaluated);
                    }
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

    #[test]
    fn rows_longer_than_a_band_and_bands_without_entries_are_passed_over() {
        // One row with more entries than a band, many short ones, and rows with nothing at the end.
        let shape = Shape { rows: 20_000, columns: 80_000 };
        let long = (0..shape.columns).map(|column| (3, column));
        let short = (4..9_000).flat_map(|row| (0..3).map(move |i| (row, (7 * row + i) % 90)));
        let entries: Vec<Entry> = long
            .chain(short)
            .map(|(row, column)| Entry { row, column, value: (row + column) as f64 % 7.0 - 3.0 })
            .collect();
        let observations = Observations::try_new(shape, &entries).unwrap();
        for rank in [3, 33] {
            let z = random_factors(shape, rank, 2);
            let (mut scores, mut evaluated) = (Vec::new(), Evaluated::default());
            let link = Link::Known(KnownLink::Identity);
            let all = Entries::new(&observations);
            all.score_and_evaluate(&z, &mut scores, &link, Need::Pull, &mut evaluated);
            let found = evaluated.pull.unwrap();
            let (slow_rows, slow_columns) = slow_pull(&observations, &z);
            let pairs = found.rows().into_iter().zip(slow_rows);
            for (fast, slow) in pairs.chain(found.columns().into_iter().zip(slow_columns)) {
                assert!((fast - slow).abs() < 1e-9, "{fast} {slow}");
            }
        }
    }
}
