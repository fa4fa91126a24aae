//! What is left over: its distribution, and the rows and columns that are fitted worst.

use isofactor::KnownLink;
use isofactor_report::{
    Axis, Block, Chart, Column, Figure, Reference, Section, Series, Table, number,
};

use crate::{
    study::{
        Study,
        pass::{Pass, Side, UnitErrors},
        residuals::{Residuals, normal_beyond, normal_quantile},
    },
    words::{count, counted, four, like, percent, two},
};

/// Residuals further out than so many standard deviations are counted, not drawn.
const DRAWN: f64 = 6.0;
/// Fewest and most bars of the histogram.
const BARS: (usize, usize) = (10, 60);
/// Quantiles that are drawn.
const QUANTILES: usize = 141;
/// Units in a scatter.
const MOST_UNITS: usize = 2_000;
/// Units in a table of the worst.
const WORST: usize = 10;
/// Units with fewer entries have no error worth comparing.
const FEWEST: usize = 5;

pub fn section(study: &Study<'_>) -> Section {
    let name = study.judged_name();
    let section = Section::new("Residuals")
        .with(Block::Text(format!(
            "A residual is the observed value minus the prediction. Those of the {name} entries have \
             the mean {} and the standard deviation {}.",
            two(study.residuals.mean),
            four(study.residuals.deviation)
        )))
        .with(distribution(&study.residuals))
        .with(quantiles(&study.residuals));
    Side::BOTH.into_iter().fold(section, |section, side| {
        let section = section.with(scatter(study, side));
        match worst(study, side) {
            Some(table) => section.with(table),
            None => section,
        }
    })
}

fn distribution(residuals: &Residuals) -> Figure {
    let scale = if residuals.deviation > 0.0 { residuals.deviation } else { 1.0 };
    let near: Vec<f64> = (residuals.standardised.iter())
        .filter(|z| z.abs() <= DRAWN)
        .map(|z| residuals.mean + scale * z)
        .collect();
    let normal = (-80..=80).map(|i| f64::from(i) / 20.0).map(|z| {
        let height = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() / scale;
        (residuals.mean + scale * z, height)
    });
    let far = match residuals.standardised.len() - near.len() {
        0 => String::new(),
        n => format!(
            " {} further out than {DRAWN} standard deviations.",
            counted(n, "residual lies", "residuals lie")
        ),
    };
    // Rice's rule: few residuals in many bars would show their luck.
    let bars = (2.0 * (near.len() as f64).cbrt()).ceil() as usize;
    let bars = bars.clamp(BARS.0, BARS.1);
    let chart = Chart::new(Axis::new("Residual"), Axis::new("Density"))
        .with(Series::histogram("residuals", &near, bars))
        .with(Series::density("normal with the same mean and spread", normal.collect()));
    Figure::new(format!("The distribution of the residuals beside a normal one.{far}"), chart)
        .numbers(tails(residuals))
}

/// How many residuals lie far out, and how many of a normal distribution would.
fn tails(residuals: &Residuals) -> Table {
    let all = residuals.standardised.len();
    let table = Table::new(
        "Tails: residuals beyond so many standard deviations, and what a normal distribution has.",
        vec![
            Column::number("Standard deviations"),
            Column::number("Residuals"),
            Column::number("Share"),
            Column::number("Normal share"),
        ],
    );
    [1.0, 2.0, 3.0, 4.0, 5.0].into_iter().fold(table, |table, z| {
        let beyond = residuals.beyond(z);
        table.row([
            number(z),
            count(beyond),
            percent(beyond as f64 / all as f64),
            percent(normal_beyond(z)),
        ])
    })
}

fn quantiles(residuals: &Residuals) -> Figure {
    let sorted = &residuals.standardised;
    let points = chosen_ranks(sorted.len())
        .into_iter()
        .map(|i| (normal_quantile((i as f64 + 0.5) / sorted.len() as f64), sorted[i]))
        .collect();
    // Both axes follow their own numbers: sharing a range would squeeze what heavy tails leave.
    let end = 0.1 - normal_quantile(0.5 / sorted.len().max(1) as f64);
    let chart = Chart::new(
        Axis::new("Normal quantile").range(-end, end),
        Axis::new("Quantile of the residuals, in standard deviations"),
    )
    .with(Series::points("quantiles", points))
    .with(Series::reference("normal", Reference::Diagonal));
    Figure::new(
        "Quantiles of the residuals against those of a normal distribution. Ends that bend away \
         from the dashed line, below it on the left and above it on the right, are heavy tails.",
        chart,
    )
    .numbers(tails(residuals))
}

/// Ranks that lie evenly along the normal quantiles, so that the tails are seen as well as the rest.
fn chosen_ranks(all: usize) -> Vec<usize> {
    let Some(last) = all.checked_sub(1) else { return Vec::new() };
    let end = normal_quantile(0.5 / all as f64);
    let mut ranks: Vec<usize> = (0..QUANTILES)
        .map(|i| end * (1.0 - 2.0 * i as f64 / (QUANTILES - 1) as f64))
        .map(|z| (KnownLink::Probit.value_and_slope(z).0 * all as f64).floor() as usize)
        .map(|rank| rank.min(last))
        .collect();
    ranks.dedup();
    ranks
}

/// The entries that units are judged by: held-out ones where units have five on average.
fn entries_of<'s>(study: &'s Study<'_>, side: Side) -> (&'s Pass, &'static str) {
    let held = study.held_out.as_ref();
    match held.filter(|pass| pass.count >= FEWEST * pass.side(side).len()) {
        Some(pass) => (pass, "held-out"),
        None => (&study.training, study.training_name()),
    }
}

fn scatter(study: &Study<'_>, side: Side) -> Figure {
    let (pass, entries) = entries_of(study, side);
    let units = pass.side(side);
    let mut shown: Vec<usize> = (0..units.len()).filter(|&i| units[i].count > 0).collect();
    let seen = shown.len();
    shown.sort_by_key(|&i| units[i].count);
    if seen > MOST_UNITS {
        shown = (0..MOST_UNITS).map(|k| shown[k * (seen - 1) / (MOST_UNITS - 1)]).collect();
    }
    let items = shown
        .iter()
        .map(|&i| (study.subject.name_of(side, i), (units[i].count as f64, units[i].rmse())))
        .collect();
    let (one, many) = (side.singular(), side.plural());
    let thinned = if seen > shown.len() {
        format!(
            " Drawn: {} of {} {many}, evenly over their numbers of entries.",
            count(shown.len()),
            count(seen)
        )
    } else {
        String::new()
    };
    let chart = Chart::new(
        Axis::log(format!("Entries of the {one}")).whole(),
        Axis::new("Root mean squared residual"),
    )
    .with(Series::labelled(many, items))
    .with(Series::reference("all entries", Reference::Horizontal(pass.metrics.rmse)));
    Figure::new(
        format!("How well each {one} is fitted, by its number of {entries} entries.{thinned}"),
        chart,
    )
    .numbers(spread(units, side))
}

/// Quantiles of the units' errors.
fn spread(units: &[UnitErrors], side: Side) -> Table {
    let mut errors: Vec<f64> =
        units.iter().filter(|u| u.count >= FEWEST).map(UnitErrors::rmse).collect();
    errors.sort_by(f64::total_cmp);
    let table = Table::new(
        format!(
            "Root mean squared residuals of the {} {} with at least {FEWEST} entries.",
            count(errors.len()),
            side.plural()
        ),
        vec![Column::text("Quantile"), Column::number("Error")],
    );
    let quantiles = [
        ("lowest", 0.0),
        ("5%", 0.05),
        ("25%", 0.25),
        ("median", 0.5),
        ("75%", 0.75),
        ("95%", 0.95),
        ("highest", 1.0),
    ];
    let Some(last) = errors.len().checked_sub(1) else { return table };
    quantiles.into_iter().fold(table, |table, (name, share)| {
        table.row([name.to_owned(), four(errors[(share * last as f64).round() as usize])])
    })
}

/// How far a unit's mean square lies above that of all entries, in standard errors of normal
/// residuals: `(mse_i / mse - 1) sqrt(n_i / 2)`. Ranks by evidence, not by luck of few entries.
fn excess(unit: &UnitErrors, mse: f64) -> f64 {
    let own = unit.squares / unit.count as f64;
    (own / mse - 1.0) * (0.5 * unit.count as f64).sqrt()
}

fn worst(study: &Study<'_>, side: Side) -> Option<Table> {
    let (pass, entries) = entries_of(study, side);
    let units = pass.side(side);
    let mse = pass.metrics.rmse.powi(2);
    let mut ranked: Vec<(usize, f64)> = (0..units.len())
        .filter(|&i| units[i].count >= FEWEST)
        .map(|i| (i, excess(&units[i], mse)))
        .filter(|(_, excess)| *excess > 2.0)
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked.truncate(WORST);
    if ranked.is_empty() {
        return None;
    }
    let (one, many) = (side.singular(), side.plural());
    let table = Table::new(
        format!(
            "The {many} that are fitted worst, by {entries} entries: how many standard errors the \
             mean square of a {one} lies above that of all entries."
        ),
        vec![
            Column::text(if side == Side::Rows { "Row" } else { "Column" }),
            Column::number("Entries"),
            Column::number("RMSE"),
            Column::number("Mean residual"),
            Column::number("Standard errors above"),
        ],
    );
    Some(ranked.into_iter().fold(table, |table, (i, excess)| {
        table.row([
            study.subject.name_of(side, i),
            count(units[i].count),
            four(units[i].rmse()),
            like(units[i].mean(), pass.metrics.rmse),
            format!("{excess:.1}"),
        ])
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_keep_both_ends_and_increase() {
        for all in [0, 1, 200, 201, 1_000_000] {
            let ranks = chosen_ranks(all);
            assert!(ranks.len() <= QUANTILES);
            assert!(ranks.windows(2).all(|w| w[0] < w[1]));
            if all > 0 {
                assert_eq!((ranks[0], ranks[ranks.len() - 1]), (0, all - 1));
            }
        }
    }

    #[test]
    fn many_entries_make_the_same_error_more_telling() {
        let unit = |count: usize| UnitErrors {
            count,
            squares: 2.0 * count as f64,
            ..UnitErrors::default()
        };
        assert_eq!(excess(&unit(8), 1.0), 2.0);
        assert!(excess(&unit(800), 1.0) > excess(&unit(8), 1.0));
        assert_eq!(excess(&unit(50), 2.0), 0.0);
    }
}
