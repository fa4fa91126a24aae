//! Writes what was found: CSV, JSON and pictures of each experiment, and one page of all.

use std::{fs, path::Path};

use isofactor_io::Target;
use serde_json::json;

use super::{
    error::{Error, Result},
    findings::{Data, Outcome},
    page,
};

/// Writes an experiment's files into a folder of its name.
pub fn write_experiment(outcome: &Outcome, out: &Path) -> Result<()> {
    let Ok(findings) = &outcome.findings else { return Ok(()) };
    let folder = out.join(outcome.name);
    fs::create_dir_all(&folder).map_err(|e| Error::folder(&folder, &e))?;
    for data in &findings.data {
        write_csv(data, &folder.join(format!("{}.csv", data.name)))?;
    }
    for (stem, figure) in &findings.figures {
        write_text(&folder.join(format!("{stem}.svg")), &figure.chart.to_svg())?;
    }
    let object = json!({
        "name": outcome.name, "title": outcome.title, "paper": outcome.paper,
        "criterion": outcome.criterion, "choices": outcome.choices, "settings": outcome.settings,
        "verdict": findings.verdict, "sentence": findings.sentence, "numbers": findings.numbers,
        "seconds": outcome.seconds,
    });
    write_text(&folder.join("outcome.json"), &format!("{object:#}\n"))
}

/// Writes the page that collects all outcomes.
pub fn write_page(outcomes: &[Outcome], quick: bool, out: &Path) -> Result<()> {
    write_text(&out.join("index.html"), &page::page(outcomes, quick).to_html())
}

fn write_csv(data: &Data, path: &Path) -> Result<()> {
    Ok(Target::new(path)?.write(|out| {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(&data.columns)?;
        for row in &data.rows {
            csv.write_record(row)?;
        }
        csv.flush()
    })?)
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    Ok(Target::new(path)?.write(|out| out.write_all(text.as_bytes()))?)
}
