//! What the entries pull at rows and columns: from the rows of a band to its columns while the
//! band's pulls are in a fast cache.

use std::sync::{Mutex, PoisonError, atomic::AtomicU64};

use rayon::prelude::*;

use super::{
    BandBlocks, Entries, Found, RowBlock,
    blocks::split_at_ends,
    curve::{Curve, Pulls},
    in_order,
    kernels::{PullColumns, PullRows},
};
use crate::{
    factors::{CHUNK, Factors},
    simd::{self, Lanes, ZERO, by_width},
    threads::in_turn,
};

/// From how many bands on they are worked on at the same time. Each then has sums of its own for the
/// columns; a column has enough entries in a band, on average, that these are few beside the entries.
const MANY_BANDS: usize = 8;

/// Room for the pulls of a band's entries, in the order of the columns; as often as there are
/// bands in work at the same time.
///
/// Several threads write to it, each to places of its own. The compiler cannot know that, so each
/// number is an atomic one, written and read without order: a plain store and a plain load.
#[derive(Debug, Default)]
pub(super) struct Rooms(Mutex<Vec<Vec<AtomicU64>>>);

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

impl Entries<'_> {
    /// The sum of squares, and the sums of the pulls `w_k = g_k phi'(x_k)`: `sum_k w_k v_t` of
    /// each row, `sum_k w_k u_i` of each column, written over what is there. Band after band, so
    /// that the pulls that a band's rows leave for its columns are still at hand.
    pub(super) fn pull_pass<K: Curve>(
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
        let parts = in_turn(
            bands,
            || (),
            |(), band| {
                let mut part = vec![ZERO; columns.len()];
                (pull(band, &mut part), part)
            },
        );
        let (found, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        columns.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, columns)| {
            columns.fill(ZERO);
            for part in &parts {
                let part = &part[chunk * CHUNK..];
                columns.iter_mut().zip(part).for_each(|(sum, part)| *sum = simd::add(*sum, *part));
            }
        });
        in_order(found.concat())
    }

    /// Whether there are so many bands that each is a task of its own, with its own sums for the
    /// columns: threads then rarely wait for what another holds in its cache. With few bands all
    /// threads work on one band after the other.
    fn bands_are_many(&self) -> bool {
        self.bands.len() >= MANY_BANDS
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
        in_turn(blocks.into_iter().zip(shares), Vec::new, |pulls, (block, out)| {
            let rows = block.rows.clone();
            let values = self.values_of(&rows);
            let (scores, largest) = self.block_scores(block, factors, false);
            pulls.resize(values.len(), 0.0);
            let squares = simd::dispatch(Pulls { curve, scores, values, pulls });
            let observations = self.observations;
            by_width!(width, PullRows { observations, factors, rows, pulls, first, room, out });
            (largest, squares)
        })
    }

    /// Adds for each column the sum of `w_k u_i` over its entries in a band.
    pub(super) fn pull_columns(
        &self,
        BandBlocks { band, column_blocks, .. }: &BandBlocks<'_>,
        factors: &Factors,
        room: &[AtomicU64],
        out: &mut [Lanes],
    ) {
        let (width, starts, first) = (factors.width(), band.starts, band.entries.start);
        let placed_rows = &self.observations.placed_rows()[band.entries.clone()];
        let ends: Vec<usize> = column_blocks.iter().map(|block| block.end * width).collect();
        let shares = column_blocks.iter().cloned().zip(split_at_ends(out, &ends));
        in_turn(
            shares,
            || (),
            |(), (columns, out)| {
                by_width!(
                    width,
                    PullColumns { factors, starts, first, placed_rows, columns, room, out }
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
                let (link, need) = (Link::Known(KnownLink::Identity), Need::Pull);
                pool.install(|| {
                    // The room that the first leaves is written over by the second.
                    for z in [&random_factors(shape, 3, 2), &z] {
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
