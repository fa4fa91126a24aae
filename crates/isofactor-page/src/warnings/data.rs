//! Warnings about the entries: too few of a row or column, repeated pairs, leaks.

use isofactor_report::Notice;

use super::{note, warning};
use crate::{
    study::{
        Study,
        pass::{Side, UnitErrors},
    },
    words::{count, counted, percent},
};

pub fn all(study: &Study<'_>) -> Vec<Notice> {
    let model = study.subject.model;
    let rank = if study.has_factors() { model.factors.rank() } else { 0 };
    let has_prior = model.fold_in.is_some();
    let few = Side::BOTH
        .into_iter()
        .filter_map(|side| few_entries(study.training.side(side), rank, has_prior, side));
    let mut found: Vec<Notice> = few.collect();
    found.extend(repeated(model.provenance.repeated, model.provenance.observed));
    let held = study.held_out.as_ref().map_or(0, |pass| pass.count);
    found.extend(leaked(study.leaked, held));
    found
}

/// Units with fewer entries than factors. A solver with a prior leans on it there; without one
/// such factors are not determined at all.
fn few_entries(units: &[UnitErrors], rank: usize, has_prior: bool, side: Side) -> Option<Notice> {
    let fewer = units.iter().filter(|unit| unit.count < rank).count();
    if fewer == 0 {
        return None;
    }
    let never = units.iter().filter(|unit| unit.count == 0).count();
    let of_them = match never {
        0 => String::new(),
        n => format!(", {} of them none at all", count(n)),
    };
    let (one, many) = (side.singular(), side.plural());
    let title = format!(
        "{} fewer entries than factors",
        counted(fewer, &format!("{one} has"), &format!("{many} have"))
    );
    let facts = format!(
        "{} of the {many} have fewer than {rank} training entries{of_them}.",
        percent(fewer as f64 / units.len() as f64)
    );
    Some(if has_prior {
        note(
            title,
            format!(
                "{facts} Their factors are drawn to what is usual, so predictions there come near to \
                 effects alone. More entries of them help; a lower rank does not harm them."
            ),
        )
    } else {
        warning(
            title,
            format!(
                "{facts} Data do not determine their factors: do not read them, and expect poor \
                 predictions there. Lower --rank, leave these {many} out, or use --solver fast."
            ),
        )
    })
}

fn repeated(repeated: usize, observed: usize) -> Option<Notice> {
    (repeated > 0).then(|| {
        note(
            format!(
                "{} a pair that occurred before",
                counted(repeated, "entry repeats", "entries repeat")
            ),
            format!(
                "{} of the training entries. Each counts as an observation of its own. If they are \
                 copies by mistake, remove them: they make errors look smaller than they are.",
                percent(repeated as f64 / observed as f64)
            ),
        )
    })
}

/// Held-out entries whose pair was learned from.
fn leaked(leaked: usize, held: usize) -> Option<Notice> {
    (leaked > 0).then(|| {
        warning(
            format!(
                "{} not new to the model",
                counted(leaked, "held-out entry is", "held-out entries are")
            ),
            format!(
                "{} of the held-out entries have the row and column of a training entry, so the \
                 held-out error is too small. Hold out whole pairs: remove repeated entries before \
                 splitting.",
                percent(leaked as f64 / held as f64)
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use isofactor_report::Weight;

    fn units(counts: &[usize]) -> Vec<UnitErrors> {
        counts.iter().map(|&count| UnitErrors { count, ..UnitErrors::default() }).collect()
    }

    #[test]
    fn rows_with_fewer_entries_than_factors_are_counted() {
        let found = few_entries(&units(&[0, 2, 3, 9]), 3, true, Side::Rows).unwrap();
        assert_eq!(found.weight, Weight::Note);
        assert!(found.title.starts_with("2 rows have"), "{}", found.title);
        assert!(found.text.contains("50.0%") && found.text.contains("1 of them none"));
        assert_eq!(few_entries(&units(&[3, 9]), 3, true, Side::Rows), None);
    }

    #[test]
    fn without_a_prior_it_is_a_warning() {
        let found = few_entries(&units(&[1, 9]), 3, false, Side::Columns).unwrap();
        assert_eq!(found.weight, Weight::Warning);
        assert!(found.title.starts_with("1 column has"));
    }

    #[test]
    fn repeated_pairs_and_leaks_are_told_with_their_share() {
        assert_eq!(repeated(0, 100), None);
        assert!(repeated(5, 100).unwrap().text.starts_with("5.0%"));
        assert_eq!(leaked(0, 100), None);
        assert!(leaked(25, 100).unwrap().text.starts_with("25.0%"));
    }
}
