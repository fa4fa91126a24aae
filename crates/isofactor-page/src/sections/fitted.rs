//! What was fitted, in words and numbers, beside what simpler predictions come to.

use isofactor::{FitConfig, Metrics, Shape, Stop, config::SolverKind};
use isofactor_report::{Block, Column, Fact, Section, Table};
use serde_json::Value;

use crate::{
    study::Study,
    words::{count, counted, four, link, percent, two},
};

/// One sentence about the data and the model.
pub fn in_words(study: &Study<'_>) -> String {
    let model = study.subject.model;
    let Shape { rows, columns } = model.shape();
    let observed = model.provenance.observed;
    let effects = if model.effects().is_some() { "effects of rows and columns, " } else { "" };
    let factors = match (study.has_factors(), model.factors.rank()) {
        (false, _) => "no factors".to_owned(),
        (true, rank) => format!("{} per row and column", counted(rank, "factor", "factors")),
    };
    format!(
        "{} of a matrix with {} and {} ({} of it), explained by {effects}{factors}, and {}.",
        counted(observed, "entry", "entries"),
        counted(rows, "row", "rows"),
        counted(columns, "column", "columns"),
        percent(observed as f64 / (rows as f64 * columns as f64)),
        link(model),
    )
}

pub fn section(study: &Study<'_>) -> Section {
    let mut section = Section::new("What was fitted")
        .with(Block::Facts(facts(study)))
        .with(Block::Text(how(study)))
        .with(errors(study));
    if let Some(text) = about_data(study) {
        section = section.with(Block::Text(text));
    }
    section
}

fn facts(study: &Study<'_>) -> Vec<Fact> {
    let (judged, yardsticks) = (study.judged(), &study.yardsticks);
    let (name, rmse) = (study.judged_name(), judged.metrics.rmse);
    let explained = 1.0 - (rmse / yardsticks.mean.rmse).powi(2);
    let gain = 1.0 - rmse / yardsticks.effects.rmse;
    let rank = study.subject.model.factors.rank();
    vec![
        Fact::new(format!("RMSE, {name} entries"), four(rmse)).note(format!(
            "± {} (95%), {}",
            two(1.96 * study.residuals.rmse_error),
            counted(judged.count, "entry", "entries")
        )),
        Fact::new("Below effects alone", percent(gain))
            .note(format!("their RMSE: {}", four(yardsticks.effects.rmse))),
        Fact::new("Variance explained", percent(explained))
            .note(format!("RMSE of the mean: {}", four(yardsticks.mean.rmse))),
        Fact::new("Rank", if study.has_factors() { count(rank) } else { "0".to_owned() })
            .note("factors per row and column"),
    ]
}

fn how(study: &Study<'_>) -> String {
    let p = &study.subject.model.provenance;
    let (step, steps) = steps(p.config.solver);
    let ended = match p.stop {
        Stop::Converged => "Nothing moved any more after",
        Stop::EarlyStop => "The held-out entries gained nothing more after",
        Stop::ChosenNumber => "It made as many as were best on entries held back for choosing:",
        Stop::IterationLimit => "It stopped at its limit of",
        Stop::TimeLimit => "It stopped at its time limit after",
        Stop::Cancelled => "It was interrupted after",
    };
    let kept = if p.kept == p.iterations {
        String::new()
    } else {
        format!(" The model is that of {step} {}, the best on the held-out entries.", count(p.kept))
    };
    format!(
        "Solver {}, seed {}. {ended} {}.{kept} {}",
        p.config.solver,
        p.config.seed,
        counted(p.iterations, step, steps),
        settings(&p.config)
    )
}

/// What an iteration is called.
pub fn steps(solver: SolverKind) -> (&'static str, &'static str) {
    match solver {
        SolverKind::Fast => ("sweep", "sweeps"),
        SolverKind::Bcd | SolverKind::Lbfgs => ("iteration", "iterations"),
    }
}

/// Settings that are not at their defaults, beyond those the page tells in words.
fn settings(config: &FitConfig) -> String {
    const TOLD: [&str; 4] = ["rank", "link", "solver", "seed"];
    let values = |config: &FitConfig| serde_json::to_value(config).unwrap_or(Value::Null);
    let (mine, plain) = (values(config), values(&FitConfig::default()));
    let Value::Object(mine) = mine else { return String::new() };
    let changed: Vec<String> = mine
        .iter()
        .filter(|(key, value)| !TOLD.contains(&key.as_str()) && plain.get(key) != Some(value))
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key} {text}"),
            other => format!("{key} {other}"),
        })
        .collect();
    if changed.is_empty() {
        return "All other settings are the defaults.".to_owned();
    }
    format!("Settings that are not the defaults: {}.", changed.join(", "))
}

fn errors(study: &Study<'_>) -> Table {
    let (name, judged) = (study.judged_name(), study.judged().metrics);
    let table = Table::new(
        format!(
            "Errors on the {name} entries beside what needs no factors, learned from the same \
             entries."
        ),
        vec![
            Column::text("Prediction"),
            Column::number("RMSE"),
            Column::number("MAE"),
            Column::number("RMSE against this model"),
            Column::number("Entries"),
        ],
    );
    let line = |what: String, m: Metrics| {
        let more = m.rmse / judged.rmse - 1.0;
        let sign = if more > 0.0 { "+" } else { "" };
        let against =
            if more == 0.0 { "–".to_owned() } else { format!("{sign}{}", percent(more)) };
        [what, four(m.rmse), four(m.mae), against, count(m.count)]
    };
    let mut table = table
        .row(line("This model".to_owned(), judged))
        .row(line("Row and column effects alone".to_owned(), study.yardsticks.effects))
        .row(line("The overall mean".to_owned(), study.yardsticks.mean));
    if study.held_out.is_some() {
        let name = format!("This model on {} entries", study.training_name());
        table = table.row(line(name, study.training.metrics));
    }
    table
}

/// What the entries at hand are, where they are not plainly those of the fit.
fn about_data(study: &Study<'_>) -> Option<String> {
    let (p, subject) = (&study.subject.model.provenance, &study.subject);
    let mut parts = Vec::new();
    if !study.is_training {
        let held = p.validation.map_or(0, |m| m.count);
        let both = subject.train.len() + subject.unknown == p.observed + held && held > 0;
        let hint = if both {
            " There are as many of them as the fit's training and held-out entries together: give \
             the same --holdout as to the fit to tell them apart."
        } else {
            ""
        };
        parts.push(format!(
            "The entries given are not exactly those the model learned from ({} with an RMSE of \
             {}; these are {} with {}). Everything below that speaks of given entries is about \
             these.{hint}",
            count(p.observed),
            four(p.train.rmse),
            count(study.training.count),
            four(study.training.metrics.rmse),
        ));
    }
    if subject.unknown > 0 {
        parts.push(format!(
            "{} of rows or columns that the model does not know were left out.",
            counted(subject.unknown, "entry", "entries")
        ));
    }
    if study.training.is_thinned() || study.judged().is_thinned() {
        parts.push(
            "Errors, counts and the figures of rows and columns use all entries; densities, \
             intervals and tails use an even selection of a million."
                .to_owned(),
        );
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_told_where_they_differ_from_the_defaults() {
        assert_eq!(settings(&FitConfig::default()), "All other settings are the defaults.");
        let config =
            FitConfig { iterations: 7, link_penalty: 0.5, rank: Some(3), ..FitConfig::bcd() };
        let text = settings(&config);
        assert!(text.contains("iterations 7") && text.contains("link-penalty 0.5"), "{text}");
        assert!(!text.contains("rank") && !text.contains("loss"), "{text}");
    }
}
