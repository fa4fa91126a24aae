//! Warnings about the entries: too few of a row or column, repeated pairs, leaks.

use isofactor_report::Notice;

use super::{note, warning};
use crate::{
    study::{
        Study,
        pass::{Side, UnitErrors},
    },
    words::{count, counted, percent, two},
};

/// A mean value further out than so many spreads is on another scale.
const FAR: f64 = 6.0;
/// Judged by no fewer entries than this.
const ENOUGH: usize = 10;
/// And by no more than one unit in so many.
const RARE: usize = 20;

pub fn all(study: &Study<'_>) -> Vec<Notice> {
    let model = study.subject.model;
    let rank = if study.has_factors() { model.factors.rank() } else { 0 };
    let has_prior = model.fold_in.is_some();
    let few = Side::BOTH
        .into_iter()
        .filter_map(|side| few_entries(study.training.side(side), rank, has_prior, side));
    let mut found: Vec<Notice> = few.collect();
    let mut values: Vec<f64> = study.training.kept.iter().map(|seen| seen.value).collect();
    values.sort_by(f64::total_cmp);
    for side in Side::BOTH {
        let name = |unit: usize| study.subject.name_of(side, unit);
        found.extend(another_scale(study.training.side(side), &values, side, name));
    }
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

/// Units whose mean value lies further from the median of all values than six times the spread of
/// the values, 1.4826 times their median distance from the median.
fn another_scale(
    units: &[UnitErrors],
    sorted: &[f64],
    side: Side,
    name: impl Fn(usize) -> String,
) -> Option<Notice> {
    let median = *sorted.get(sorted.len() / 2)?;
    let mut distances: Vec<f64> = sorted.iter().map(|value| (value - median).abs()).collect();
    distances.sort_by(f64::total_cmp);
    let spread = 1.4826 * distances[distances.len() / 2];
    let is_off =
        |unit: &UnitErrors| unit.count >= ENOUGH && (unit.level() - median).abs() > FAR * spread;
    let off: Vec<usize> = (0..units.len()).filter(|&i| is_off(&units[i])).collect();
    // Where many are far out, that is how these values are.
    if off.is_empty() || spread <= 0.0 || off.len() * RARE > units.len() {
        return None;
    }
    let named: Vec<String> = off.iter().take(3).map(|&i| format!("“{}”", name(i))).collect();
    let more = if off.len() > 3 { ", ..." } else { "" };
    let (one, many) = (side.singular(), side.plural());
    Some(warning(
        format!(
            "{} values on another scale",
            counted(off.len(), &format!("{one} has"), &format!("{many} have"))
        ),
        format!(
            "{}{more}: mean value {}, where half of all values lie within {} of {}. It may be no {one} \
             of the matrix but a count or an identifier that was read as one. It spoils errors, \
             effects and figures: leave it out, or bring it to the scale of the others.",
            named.join(", "),
            two(units[off[0]].level()),
            two(spread / 1.4826),
            two(median),
        ),
    ))
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
    fn a_column_of_counts_among_ratings_is_found() {
        let values: Vec<f64> = (0..1_000).map(|i| f64::from(i % 5)).collect();
        let unit =
            |level: f64| UnitErrors { count: 50, values: 50.0 * level, ..UnitErrors::default() };
        let mut columns = vec![unit(2.0); 40];
        let find = |columns: &[UnitErrors]| {
            another_scale(columns, &values, Side::Columns, |i| format!("c{i}"))
        };
        assert_eq!(find(&columns), None);
        columns[7] = unit(70.0);
        let found = find(&columns).unwrap();
        assert!(
            found.title.starts_with("1 column has") && found.text.contains("“c7”"),
            "{found:?}"
        );
        assert_eq!(find(&[vec![unit(2.0); 9], vec![unit(70.0); 9]].concat()), None, "half of them");
        columns[7].count = 3;
        assert_eq!(find(&columns), None, "too few entries to say");
    }

    #[test]
    fn repeated_pairs_and_leaks_are_told_with_their_share() {
        assert_eq!(repeated(0, 100), None);
        assert!(repeated(5, 100).unwrap().text.starts_with("5.0%"));
        assert_eq!(leaked(0, 100), None);
        assert!(leaked(25, 100).unwrap().text.starts_with("25.0%"));
    }
}
