//! Holding entries back: the same share of every row.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use crate::{
    error::{ConfigError, Result},
    observations::{Entry, EntryList, Observations},
};

/// Training and validation entries: from each row `round(share * count)` entries, chosen by the
/// seed, are held back, but never a row's last one.
pub fn hold_out(
    observations: Observations,
    share: f64,
    seed: u64,
) -> Result<(Observations, Observations)> {
    if !(share > 0.0 && share < 1.0) {
        let (low, high) = (0.0, 1.0);
        return Err(ConfigError::OutOfRange { field: "holdout", got: share, low, high }.into());
    }
    let mut random = Pcg64::seed_from_u64(seed);
    let shape = observations.shape();
    let (mut training, mut validation) = (EntryList::default(), EntryList::default());
    for row in 0..shape.rows {
        let entries = observations.row(row);
        let count = entries.values.len();
        let held = ((share * count as f64).round() as usize).min(count.saturating_sub(1));
        let mut places: Vec<bool> = (0..count).map(|k| k < held).collect();
        places.shuffle(&mut random);
        for ((&column, &value), held) in entries.columns.iter().zip(entries.values).zip(places) {
            let entry = Entry { row, column: column as usize, value };
            if held { validation.push(entry) } else { training.push(entry) }
        }
    }
    if validation.is_empty() {
        return Err(ConfigError::NothingHeldOut { share }.into());
    }
    // Not held any longer than needed: entries may be many.
    drop(observations);
    let validation = Observations::arrange(shape, validation)?;
    Ok((Observations::arrange(shape, training)?, validation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::Shape;

    #[test]
    fn a_tenth_of_every_row_is_held_back_and_nothing_is_lost() {
        let shape = Shape { rows: 20, columns: 40 };
        let all = Observations::complete(shape, |i, t| (100 * i + t) as f64).unwrap();
        let (training, validation) = hold_out(all.clone(), 0.1, 7).unwrap();
        assert_eq!((training.len(), validation.len()), (720, 80));
        assert!((0..20).all(|row| validation.row(row).values.len() == 4));
        let mut values: Vec<f64> =
            training.values().iter().chain(validation.values()).copied().collect();
        values.sort_by(f64::total_cmp);
        let mut expected = all.values().to_vec();
        expected.sort_by(f64::total_cmp);
        assert_eq!(values, expected);
        assert_eq!(hold_out(all.clone(), 0.1, 7).unwrap().1, validation);
        assert_ne!(hold_out(all.clone(), 0.1, 8).unwrap().1, validation);
    }

    #[test]
    fn no_row_loses_its_last_entry() {
        let shape = Shape { rows: 30, columns: 2 };
        let all = Observations::complete(shape, |i, t| (i + t) as f64).unwrap();
        let (training, _) = hold_out(all.clone(), 0.9, 1).unwrap();
        assert!((0..30).all(|row| !training.row(row).values.is_empty()));
    }

    #[test]
    fn a_share_that_holds_nothing_back_is_refused() {
        let all = Observations::complete(Shape { rows: 5, columns: 3 }, |i, _| i as f64).unwrap();
        assert!(
            hold_out(all.clone(), 0.1, 0).unwrap_err().to_string().contains("no entry to judge by")
        );
    }

    #[test]
    fn shares_outside_zero_and_one_are_refused() {
        let all = Observations::complete(Shape { rows: 3, columns: 3 }, |i, _| i as f64).unwrap();
        for share in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(hold_out(all.clone(), share, 0).is_err());
        }
    }
}
