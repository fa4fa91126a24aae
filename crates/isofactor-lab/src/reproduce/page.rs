//! The page that collects every experiment: what the paper says, what we found, the verdict.

use isofactor_report::{Block, Column, Fact, Page, Section, Table};

use serde_json::Value;

use super::findings::{Findings, Outcome, Verdict};

/// The page of these outcomes.
pub(super) fn page(outcomes: &[Outcome], quick: bool) -> Page {
    let size = if quick {
        " This is the quick version, with smaller experiments: its numbers are not the paper's."
    } else {
        ""
    };
    let lead = format!(
        "Every experiment of \"Learning Nonlinear Factor Models with Unknown Monotone Links from \
         Incomplete and Noisy Data\", run again by isofactor. Each number comes from the run that made \
         this page; whether the paper's statement is borne out is decided by a computed criterion.{size}"
    );
    let first = Page::new("The paper's experiments, reproduced", lead).with(summary(outcomes));
    outcomes.iter().fold(first, |page, outcome| page.with(section(outcome)))
}

fn summary(outcomes: &[Outcome]) -> Section {
    let verdicts: Vec<Verdict> =
        outcomes.iter().filter_map(|o| o.findings.as_ref().ok()).map(|f| f.verdict).collect();
    let count = |wanted: Verdict| verdicts.iter().filter(|v| **v == wanted).count().to_string();
    let seconds: f64 = outcomes.iter().map(|o| o.seconds).sum();
    let facts = vec![
        Fact::new("Borne out", count(Verdict::Holds)).note("by the criterion of each"),
        Fact::new("Not borne out", count(Verdict::DoesNotHold)).note("the reason is given"),
        Fact::new("Not run", (outcomes.len() - verdicts.len()).to_string())
            .note("what is missing is named"),
        Fact::new("Work", duration(seconds)).note("all cores together"),
    ];
    let table = Table::new(
        "All experiments.",
        vec![Column::text("Experiment"), Column::text("Verdict"), Column::number("Work")],
    );
    let table = outcomes.iter().fold(table, |table, outcome| {
        let verdict = outcome.findings.as_ref().map_or("not run", |f| f.verdict.in_words());
        let work = if outcome.findings.is_ok() { duration(outcome.seconds) } else { String::new() };
        table.row([format!("{} ({})", outcome.title, outcome.name), verdict.to_owned(), work])
    });
    Section::new("In short").with(Block::Facts(facts)).with(table)
}

fn section(outcome: &Outcome) -> Section {
    let section = Section::new(outcome.title.as_str())
        .with(Block::Text(format!("The paper: {}", outcome.paper)))
        .with(Block::Text(format!("The criterion: {}", outcome.criterion)));
    let section = match &outcome.findings {
        Ok(findings) => found(section, findings, outcome.seconds),
        Err(reason) => section.with(Block::Text(format!("Not run: {reason}"))),
    };
    let choices = outcome.choices.join(" ");
    section
        .with(Block::Text(format!("Where the paper leaves something out: {choices}")))
        .with(Block::Text(format!("Settings: {}.", in_words(&outcome.settings))))
}

/// Settings as a reader would write them down.
fn in_words(settings: &Value) -> String {
    let joined = |parts: Vec<String>, by: &str| parts.join(by);
    match settings {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| match value {
                Value::Object(_) => in_words(value),
                _ => format!("{} {}", name.replace('-', " "), in_words(value)),
            };
            joined(fields.iter().map(field).collect(), "; ")
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            joined(items.iter().map(|item| format!("({})", in_words(item))).collect(), " ")
        }
        Value::Array(items) => joined(items.iter().map(in_words).collect(), ", "),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn found(section: Section, findings: &Findings, seconds: f64) -> Section {
    let verdict = Fact::new("Verdict", findings.verdict.in_words());
    let section = section
        .with(Block::Facts(vec![verdict, Fact::new("Work", duration(seconds))]))
        .with(Block::Text(findings.sentence.clone()));
    let section =
        findings.figures.iter().fold(section, |section, (_, figure)| section.with(figure.clone()));
    findings.tables.iter().fold(section, |section, table| section.with(table.clone()))
}

/// `42 s`, `3 min 5 s`
fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0 => format!("{seconds:.1} s"),
        1..60 => format!("{whole} s"),
        _ => format!("{} min {} s", whole / 60, whole % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(findings: Result<Findings, String>) -> Outcome {
        Outcome {
            name: "alpha",
            title: "The link penalty".to_owned(),
            paper: "It matters.".to_owned(),
            criterion: "It does.".to_owned(),
            choices: vec!["The bandwidth is 1.".to_owned()],
            settings: serde_json::json!({ "fit": { "link-penalty": 0.5 }, "seeds": [1, 2] }),
            seconds: 75.0,
            findings,
        }
    }

    #[test]
    fn what_was_not_run_says_why_and_counts_as_such() {
        let html = page(&[outcome(Err("the data are missing".to_owned()))], false).to_html();
        assert!(html.contains("Not run: the data are missing") && html.contains("not run"));
        assert!(html.contains("The bandwidth is 1."));
        assert!(html.contains("Settings: link penalty 0.5; seeds 1, 2."));
    }

    #[test]
    fn the_verdict_and_its_reason_are_on_the_page() {
        let findings = Findings {
            verdict: Verdict::DoesNotHold,
            sentence: "It rises by 3%.".to_owned(),
            numbers: Value::Null,
            tables: Vec::new(),
            figures: Vec::new(),
            data: Vec::new(),
        };
        let html = page(&[outcome(Ok(findings))], true).to_html();
        assert!(html.contains("not borne out") && html.contains("It rises by 3%."));
        assert!(html.contains("1 min 15 s") && html.contains("quick version"));
    }
}
