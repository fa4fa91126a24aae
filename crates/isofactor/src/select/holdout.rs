//! Holding entries back: the same share of every row.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use crate::{
    error::{ConfigError, Result},
    observations::{EntryList, Observations, Shape},
};

/// Training and validation entries: from each row `round(share * count)` entries, chosen by the
/// seed, are held back, but never a row's last one. Which they are depends on the order in which the
/// entries of a row are given.
pub fn hold_out(
    shape: Shape,
    entries: EntryList,
    share: f64,
    seed: u64,
) -> Result<(Observations, Observations)> {
    if !(share > 0.0 && share < 1.0) {
        let (low, high) = (0.0, 1.0);
        return Err(ConfigError::OutOfRange { field: "holdout", got: share, low, high }.into());
    }
    entries.check(shape)?;
    let mut next = entries.row_starts(shape);
    let held = held_places(&next, share, seed);
    let count = held.iter().filter(|&&held| held).count();
    let mut training = EntryList::with_capacity(held.len() - count);
    let mut validation = EntryList::with_capacity(count);
    for entry in entries.iter() {
        let place = next[entry.row];
        next[entry.row] += 1;
        if held[place] { validation.push(entry) } else { training.push(entry) }
    }
    if validation.is_empty() {
        return Err(ConfigError::NothingHeldOut { share }.into());
    }
    // Not held any longer than needed: entries may be many.
    drop((entries, held, next));
    let validation = Observations::arrange(shape, validation)?;
    Ok((Observations::arrange(shape, training)?, validation))
}

/// Whether the first entry of the first row is held back, the second, and so on.
fn held_places(row_starts: &[usize], share: f64, seed: u64) -> Vec<bool> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut held = vec![false; row_starts.last().copied().unwrap_or(0)];
    for ends in row_starts.windows(2) {
        let count = ends[1] - ends[0];
        let of_row = ((share * count as f64).round() as usize).min(count.saturating_sub(1));
        held[ends[0]..ends[0] + of_row].fill(true);
        held[ends[0]..ends[1]].shuffle(&mut random);
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::Entry;

    /// Every entry of a matrix, row by row.
    fn complete(shape: Shape, value: impl Fn(usize, usize) -> f64) -> EntryList {
        let pairs = (0..shape.rows).flat_map(|row| (0..shape.columns).map(move |c| (row, c)));
        pairs.map(|(row, column)| Entry { row, column, value: value(row, column) }).collect()
    }

    #[test]
    fn a_tenth_of_every_row_is_held_back_and_nothing_is_lost() {
        let shape = Shape { rows: 20, columns: 40 };
        let all = complete(shape, |i, t| (100 * i + t) as f64);
        let hold_out = |seed| hold_out(shape, all.clone(), 0.1, seed).unwrap();
        let (training, validation) = hold_out(7);
        assert_eq!((training.len(), validation.len()), (720, 80));
        assert!((0..20).all(|row| validation.row(row).values.len() == 4));
        let mut values: Vec<f64> =
            training.values().iter().chain(validation.values()).copied().collect();
        values.sort_by(f64::total_cmp);
        let mut expected: Vec<f64> = all.iter().map(|entry| entry.value).collect();
        expected.sort_by(f64::total_cmp);
        assert_eq!(values, expected);
        assert_eq!(hold_out(7).1, validation);
        assert_ne!(hold_out(8).1, validation);
    }

    #[test]
    fn rows_that_come_mixed_up_are_split_as_if_each_came_at_once() {
        let shape = Shape { rows: 6, columns: 50 };
        // Within a row from the last column to the first, rows in turn or one after the other.
        let value = |row: usize, place: usize| (100 * row + place) as f64;
        let entry = |row, place| Entry { row, column: 49 - place, value: value(row, place) };
        let in_turn = (0..50).flat_map(|place| (0..6).map(move |row| entry(row, place)));
        let at_once = (0..6).flat_map(|row| (0..50).map(move |place| entry(row, place)));
        let split = |entries: EntryList| hold_out(shape, entries, 0.3, 5).unwrap();
        let expected = split(at_once.collect());
        assert_eq!(split(in_turn.collect()), expected);
        // The places that the seed chooses are counted in the order given, not in that of columns.
        let mirrored = split(complete(shape, value));
        assert!(mirrored.1.values().iter().all(|value| expected.1.values().contains(value)));
    }

    #[test]
    fn no_row_loses_its_last_entry() {
        let shape = Shape { rows: 30, columns: 2 };
        let all = complete(shape, |i, t| (i + t) as f64);
        let (training, _) = hold_out(shape, all, 0.9, 1).unwrap();
        assert!((0..30).all(|row| !training.row(row).values.is_empty()));
    }

    #[test]
    fn a_share_that_holds_nothing_back_is_refused() {
        let shape = Shape { rows: 5, columns: 3 };
        let refused = hold_out(shape, complete(shape, |i, _| i as f64), 0.1, 0).unwrap_err();
        assert!(refused.to_string().contains("no entry to judge by"));
    }

    #[test]
    fn shares_outside_zero_and_one_are_refused() {
        let shape = Shape { rows: 3, columns: 3 };
        for share in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(hold_out(shape, complete(shape, |i, _| i as f64), share, 0).is_err());
        }
    }

    #[test]
    fn entries_outside_the_shape_are_refused() {
        let shape = Shape { rows: 3, columns: 3 };
        let mut entries = complete(shape, |i, _| i as f64);
        entries.push(Entry { row: 3, column: 0, value: 1.0 });
        assert!(hold_out(shape, entries, 0.5, 0).unwrap_err().to_string().contains("row 3"));
    }
}
