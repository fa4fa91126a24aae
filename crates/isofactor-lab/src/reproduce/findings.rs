//! What an experiment found: a verdict by a computed criterion, and what it rests on.

use isofactor_report::{Chart, Figure, Table};
use serde::Serialize;
use serde_json::Value;

/// Whether our run bears out what the paper claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The criterion is met.
    Holds,
    /// It is not.
    DoesNotHold,
}

impl Verdict {
    /// From a criterion.
    pub fn of(met: bool) -> Self {
        if met { Verdict::Holds } else { Verdict::DoesNotHold }
    }

    /// For a reader.
    pub fn in_words(self) -> &'static str {
        match self {
            Verdict::Holds => "borne out",
            Verdict::DoesNotHold => "not borne out",
        }
    }
}

/// Numbers as they go into a CSV file.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// The file's name without its ending.
    pub name: &'static str,
    /// The columns.
    pub columns: Vec<String>,
    /// The lines.
    pub rows: Vec<Vec<String>>,
}

impl Data {
    /// A file without lines.
    pub fn new<Column: Into<String>>(
        name: &'static str,
        columns: impl IntoIterator<Item = Column>,
    ) -> Self {
        Self { name, columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a line.
    pub fn push<Cell: ToString>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().map(|cell| cell.to_string()).collect());
    }
}

/// A chart with its caption and the name of its file.
pub(crate) fn picture(
    stem: impl Into<String>,
    caption: impl Into<String>,
    chart: Chart,
) -> (String, Figure) {
    (stem.into(), Figure::new(caption, chart))
}

/// What an experiment found.
#[derive(Debug, Clone)]
pub struct Findings {
    /// By the criterion.
    pub verdict: Verdict,
    /// The verdict's reason, with its numbers.
    pub sentence: String,
    /// The numbers that the sentence and the tables are made from.
    pub numbers: Value,
    /// What the paper prints beside what we found.
    pub tables: Vec<Table>,
    /// Each with the name of its file.
    pub figures: Vec<(String, Figure)>,
    /// What the figures are drawn from.
    pub data: Vec<Data>,
}

/// An experiment's findings with what is known of it beforehand.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// What the paper states.
    pub paper: String,
    /// When we count that as borne out.
    pub criterion: String,
    /// What the paper leaves out, and what was chosen.
    pub choices: Vec<String>,
    /// Its settings, as they stand in the file of experiments.
    pub settings: Value,
    /// Seconds of work, all cores together.
    pub seconds: f64,
    /// What was found; or why it was not run.
    pub findings: Result<Findings, String>,
}
