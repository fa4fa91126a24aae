//! What was chosen for the user, and the evidence.

use isofactor::model::Chosen;
use isofactor_report::{Block, Column, Section, Table, number};

use crate::{
    study::Study,
    warnings::tried::Tried,
    words::{count, four, percent},
};

/// None where nothing was chosen.
pub fn section(study: &Study<'_>) -> Option<Section> {
    let chosen = study.subject.model.provenance.chosen.as_ref()?;
    let section = Section::new("What was chosen");
    if chosen.trials.is_empty() {
        return Some(section.with(Block::Text(format!(
            "Nothing was tried: rank {}, link {} and shrinkage {} were given, taken from an earlier \
             model, or there were too few entries to judge by.",
            chosen.rank,
            chosen.link,
            number(chosen.shrinkage)
        ))));
    }
    let words = format!(
        "Link: {}. Rank: {}. Shrinkage: {}. Every trial was judged on {} training entries that were \
         held back from it; a trial that fell behind was given up early. More is chosen only where \
         it is better by a margin: factors than effects by 0.1%, a learned link than none by 1%.",
        chosen.link,
        chosen.rank,
        number(chosen.shrinkage),
        count(chosen.judged_by)
    );
    Some(section.with(Block::Text(words)).with(table(chosen)))
}

fn table(chosen: &Chosen) -> Table {
    let best = chosen.trials.iter().map(|t| t.rmse).fold(f64::INFINITY, f64::min);
    let table = Table::new(
        "What was tried, in the order of the trials.",
        vec![
            Column::text("Trial"),
            Column::number("RMSE"),
            Column::number("Above the best"),
            Column::number("Best sweep"),
            Column::text("Chosen"),
        ],
    );
    chosen.trials.iter().fold(table, |table, trial| {
        let above = trial.rmse / best - 1.0;
        let is_chosen = Tried::read(&trial.what).is_some_and(|tried| tried.is(chosen));
        table.row([
            trial.what.clone(),
            if trial.rmse.is_finite() { four(trial.rmse) } else { "failed".to_owned() },
            if above > 0.0 && above.is_finite() { percent(above) } else { "–".to_owned() },
            if trial.sweeps == 0 { "–".to_owned() } else { count(trial.sweeps) },
            if is_chosen { "chosen".to_owned() } else { String::new() },
        ])
    })
}
