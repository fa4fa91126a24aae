//! The factors: how much each adds, and where rows and columns lie.

use isofactor_report::{Axis, Block, Chart, Figure, Plane, Section, Series, Variable};

use crate::{
    study::{
        Study,
        pass::{Side, UnitErrors},
    },
    words::{count, percent},
};

/// Units in a plane.
const MOST_UNITS: usize = 2_000;
/// Factors that can be put on an axis.
const MOST_FACTORS: usize = 12;

pub fn section(study: &Study<'_>) -> Section {
    let mut section = Section::new("The factors");
    if study.has_factors() {
        section = section.with(Block::Text(
            "Factors are shown on their principal axes, the strongest first, both sides scaled \
             alike: the scores are the same as with the model's own. A row and a column that lie \
             in the same direction have higher scores together. Signs mean nothing: both sides can \
             be mirrored at once."
                .to_owned(),
        ));
        if study.principal.strengths.len() > 1 {
            section = section.with(strengths(study));
        }
    } else {
        section = section.with(Block::Text(
            "The model has no factors: level and effects were as good on held-back entries."
                .to_owned(),
        ));
    }
    Side::BOTH.into_iter().fold(section, |section, side| section.with(plane(study, side)))
}

fn strengths(study: &Study<'_>) -> Figure {
    let shares = study.principal.shares();
    let line = shares.iter().enumerate().map(|(j, &share)| ((j + 1) as f64, share)).collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    let chart = Chart::new(
        Axis::new("Factor").whole().range(0.5, shares.len() as f64 + 0.5),
        Axis::new("Share of the spread of the scores").range(0.0, 1.1 * most),
    )
    .with(Series::line("", line).solid());
    let first = shares.first().copied().unwrap_or(0.0);
    Figure::new(
        format!(
            "What each factor adds to the scores: the standard deviation of its products over the \
             {} entries, as a share of that of the scores ({} for the first). Shares need not add \
             up to one.",
            study.training_name(),
            percent(first)
        ),
        chart,
    )
}

/// The units that a plane shows: those with entries, the most observed where there are many.
fn shown(units: &[UnitErrors]) -> (Vec<usize>, usize) {
    let mut shown: Vec<usize> = (0..units.len()).filter(|&i| units[i].count > 0).collect();
    let seen = shown.len();
    shown.sort_by_key(|&i| std::cmp::Reverse(units[i].count));
    shown.truncate(MOST_UNITS);
    (shown, seen)
}

fn plane(study: &Study<'_>, side: Side) -> Plane {
    let units = study.training.side(side);
    let (shown, seen) = shown(units);
    let factors = if study.has_factors() { study.principal.factors.rank() } else { 0 };
    let drawn = factors.min(MOST_FACTORS);
    let variable = |name: String, of: &dyn Fn(usize) -> f64| Variable {
        name,
        values: shown.iter().map(|&i| of(i)).collect(),
    };
    let mut variables: Vec<Variable> = (0..drawn)
        .map(|j| variable(format!("Factor {}", j + 1), &|i| study.principal.of_unit(side, i)[j]))
        .collect();
    if let Some(offsets) = study.subject.model.effects() {
        let effects = match side {
            Side::Rows => &offsets.rows,
            Side::Columns => &offsets.columns,
        };
        variables.push(variable("Effect".to_owned(), &|i| effects[i]));
    }
    variables.push(variable("Entries (log10)".to_owned(), &|i| (units[i].count as f64).log10()));
    let mut notes = String::new();
    if seen > shown.len() {
        notes += &format!(
            " Drawn: the {} with the most entries, of {}.",
            count(shown.len()),
            count(seen)
        );
    }
    if factors > drawn {
        notes += &format!(" The first {drawn} of {factors} factors can be chosen.");
    }
    Plane {
        caption: format!(
            "The {}: choose what lies across and what goes up. The ends of every axis are listed \
             under Extremes.{notes}",
            side.plural()
        ),
        name: side.plural().to_owned(),
        labels: shown.iter().map(|&i| study.subject.name_of(side, i)).collect(),
        variables,
        x: 0,
        y: 1,
    }
}
