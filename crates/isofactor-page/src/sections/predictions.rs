//! Predicted against observed values, and whether predictions mean what they say.

use isofactor_report::{Block, Column, Figure, Section, Table};

use crate::{
    charts::prediction_chart,
    study::{Study, bins},
    words::{count, counted, four, like},
};

pub fn section(study: &Study<'_>) -> Section {
    let pairs: Vec<(f64, f64)> =
        study.judged().kept.iter().map(|seen| (seen.prediction, seen.value)).collect();
    let name = study.judged_name();
    let (chart, beyond) = prediction_chart(&pairs, "Observed value");
    let beyond = match beyond {
        0 => String::new(),
        n => format!(" {} beyond the axes.", counted(n, "entry lies", "entries lie")),
    };
    let caption = format!(
        "Predicted against observed values of the {name} entries. Dots are the mean observed value \
         of each tenth of the predictions, with a 95% interval: on the dashed line predictions mean \
         what they say.{beyond}"
    );
    let optimism = if study.held_out.is_some() {
        "These entries were held out: the model did not learn from them."
    } else {
        "No entries were held out: the model has seen these values, so they flatter it."
    };
    Section::new("Predictions")
        .with(Block::Text(optimism.to_owned()))
        .with(Figure::new(caption, chart).numbers(tenths(&pairs, study.residuals.deviation)))
}

fn tenths(pairs: &[(f64, f64)], deviation: f64) -> Table {
    let table = Table::new(
        "Tenths of the predictions, lowest first.",
        vec![
            Column::number("Mean prediction"),
            Column::number("Mean observed"),
            Column::number("95% interval"),
            Column::number("Observed minus predicted"),
            Column::number("Entries"),
        ],
    );
    bins::equal_count(pairs.to_vec(), 10).iter().fold(table, |table, bin| {
        table.row([
            four(bin.place),
            four(bin.mean),
            format!("{} to {}", four(bin.mean - bin.half), four(bin.mean + bin.half)),
            like(bin.mean - bin.place, deviation),
            count(bin.count),
        ])
    })
}
