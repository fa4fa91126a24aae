//! Which rows and columns lie furthest out, by effect and by factor.

use isofactor_report::{Block, Column, Section, Table};

use crate::{
    study::{Study, pass::Side},
    words::{count, two},
};

/// Names at each end.
const ENDS: usize = 5;
/// Factors in a table.
const MOST_FACTORS: usize = 12;

/// None where the model has neither effects nor factors.
pub fn section(study: &Study<'_>) -> Option<Section> {
    let has_effects = study.subject.model.effects().is_some();
    if !has_effects && !study.has_factors() {
        return None;
    }
    let section = Section::new("Extremes").with(Block::Text(
        "The ends of each effect and factor often say what it is about. A value stands in brackets, \
         on the scale of the score."
            .to_owned(),
    ));
    Some(Side::BOTH.into_iter().fold(section, |section, side| section.with(table(study, side))))
}

fn table(study: &Study<'_>, side: Side) -> Table {
    let (candidates, fewest) = candidates(study, side);
    let what = format!(
        "{} at both ends, among the {} with at least {fewest} {} entries.",
        if side == Side::Rows { "Rows" } else { "Columns" },
        count(candidates.len()),
        study.training_name()
    );
    let table =
        Table::new(what, vec![Column::text("By"), Column::text("Highest"), Column::text("Lowest")]);
    let mut lines: Vec<(String, Vec<(usize, f64)>)> = Vec::new();
    if let Some(offsets) = study.subject.model.effects() {
        let effects = match side {
            Side::Rows => &offsets.rows,
            Side::Columns => &offsets.columns,
        };
        lines.push(("Effect".into(), candidates.iter().map(|&i| (i, effects[i])).collect()));
    }
    let rank = if study.has_factors() { study.principal.factors.rank() } else { 0 };
    for j in 0..rank.min(MOST_FACTORS) {
        let values = candidates.iter().map(|&i| (i, study.principal.of_unit(side, i)[j]));
        lines.push((format!("Factor\u{a0}{}", j + 1), values.collect()));
    }
    lines.into_iter().fold(table, |table, (name, mut values)| {
        values.sort_by(|a, b| b.1.total_cmp(&a.1));
        let ends = ENDS.min(values.len() / 2);
        let written = |&(i, value): &(usize, f64)| {
            format!("{}\u{a0}({})", study.subject.name_of(side, i), two(value))
        };
        let highest: Vec<String> = values.iter().take(ends).map(written).collect();
        let lowest: Vec<String> = values.iter().rev().take(ends).map(written).collect();
        table.row([name, highest.join(", "), lowest.join(", ")])
    })
}

/// Units with as many entries as there are factors, so that the ends are not those that little is
/// known of; with any entries where that leaves too few.
fn candidates(study: &Study<'_>, side: Side) -> (Vec<usize>, usize) {
    let units = study.training.side(side);
    let with = |fewest: usize| -> Vec<usize> {
        (0..units.len()).filter(|&i| units[i].count >= fewest).collect()
    };
    let wanted = study.principal.factors.rank().max(ENDS);
    let known = with(wanted);
    if known.len() >= 2 * ENDS { (known, wanted) } else { (with(1), 1) }
}
