//! The paper's tables on real data: every line on several splits, beside what the paper prints.

use isofactor_report::{Axis, Chart, Column, Figure, Series, Table, number};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    desk::Watch,
    error::Result,
    findings::{Data, Findings, Verdict, picture},
    real::{Line, LineFound, Splits},
    statistics::{mean, spread},
    study::Study,
};

/// What a table needs.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct LineSettings {
    lines: Vec<Line>,
    /// Of the splits.
    seeds: Vec<u64>,
    /// How much longer both projections may take than one.
    time_slack: f64,
}

/// A table of the paper on a data set.
pub(crate) struct Lines {
    pub settings: LineSettings,
    pub splits: Splits,
}

/// A line with what was found on every split.
struct Row<'a> {
    line: &'a Line,
    found: Vec<&'a LineFound>,
}

impl Row<'_> {
    fn numbers(&self, pick: fn(&LineFound) -> f64) -> (f64, f64) {
        let numbers: Vec<f64> = self.found.iter().map(|f| pick(f)).collect();
        (mean(numbers.iter().copied()), spread(&numbers))
    }

    fn validation(&self) -> (f64, f64) {
        self.numbers(|f| f.validation)
    }

    /// No worse than the paper's, within the spread over the splits.
    fn as_good(&self) -> bool {
        let (error, spread) = self.validation();
        error <= self.line.paper.validation + spread
    }

    fn seconds_per_iteration(&self) -> f64 {
        self.numbers(|f| f.seconds / f.iterations.max(1) as f64).0
    }
}

impl Study for Lines {
    type Case = (usize, u64);
    type Found = LineFound;

    fn key(&self) -> String {
        format!("{} {}", json!(self.settings), self.splits.key())
    }

    fn cases(&self) -> Vec<(usize, u64)> {
        let lines = 0..self.settings.lines.len();
        let seeds = &self.settings.seeds;
        seeds.iter().flat_map(|&seed| lines.clone().map(move |line| (line, seed))).collect()
    }

    fn name(&self, (line, seed): &(usize, u64)) -> String {
        format!("line-{}-split-{seed}", line + 1)
    }

    fn cost(&self, (line, _): &(usize, u64)) -> f64 {
        self.settings.lines[*line].cost(self.splits.entries())
    }

    fn run(&self, &(line, seed): &(usize, u64), watch: &mut Watch<'_>) -> Result<LineFound> {
        let split = self.splits.split(seed)?;
        self.settings.lines[line].run(&split, seed, watch)
    }

    fn conclude(&self, found: Vec<((usize, u64), LineFound)>) -> Result<Findings> {
        let rows: Vec<Row<'_>> = self
            .settings
            .lines
            .iter()
            .enumerate()
            .map(|(number, line)| Row {
                line,
                found: found.iter().filter(|((l, _), _)| *l == number).map(|(_, f)| f).collect(),
            })
            .collect();
        let as_good = rows.iter().all(Row::as_good);
        // The paper's claim: what is learned beats the identity of the paper.
        let identity = rows
            .iter()
            .filter(|row| !row.line.learned)
            .map(|row| row.line.paper.validation)
            .fold(f64::INFINITY, f64::min);
        let best = rows
            .iter()
            .filter(|row| row.line.learned)
            .map(|row| row.validation().0)
            .fold(f64::INFINITY, f64::min);
        let beats = best < identity;
        let time = self.time_ratio(&rows);
        let cheap = time.is_none_or(|ratio| ratio <= 1.0 + self.settings.time_slack);
        let time_in_words = time.map_or(String::new(), |ratio| {
            format!(
                " An iteration with both projections takes {ratio:.2} times one with P_C alone."
            )
        });
        Ok(Findings {
            verdict: Verdict::of(as_good && beats && cheap),
            sentence: format!(
                "The learned link reaches {} where the paper's identity has {}; {} of {} lines are no \
                 worse than the paper's within the spread over {} splits.{time_in_words}",
                number(best),
                number(identity),
                rows.iter().filter(|row| row.as_good()).count(),
                rows.len(),
                self.settings.seeds.len(),
            ),
            numbers: json!({
                "lines": rows.iter().map(line_numbers).collect::<Vec<_>>(),
                "time_ratio_both_projections": time,
            }),
            tables: vec![errors_table(&rows), ranges_table(&rows)],
            figures: figures(&rows),
            data: vec![self.data(&found)],
        })
    }
}

impl Lines {
    /// Seconds an iteration with P_C and P_H over those with P_C alone, where both are run.
    fn time_ratio(&self, rows: &[Row<'_>]) -> Option<f64> {
        let learned = |monotone: bool| {
            rows.iter().find(|row| row.line.learned && row.line.monotone == monotone)
        };
        let (one, both) = (learned(false)?, learned(true)?);
        Some(both.seconds_per_iteration() / one.seconds_per_iteration())
    }

    fn data(&self, found: &[((usize, u64), LineFound)]) -> Data {
        let columns = [
            "method",
            "split",
            "validation_rmse",
            "training_rmse",
            "best_iteration",
            "iterations",
            "smallest_score",
            "largest_score",
        ];
        let mut data = Data::new("fits", columns);
        for ((line, seed), f) in found {
            let numbers = [
                *seed as f64,
                f.validation,
                f.training,
                f.kept as f64,
                f.iterations as f64,
                f.range.0,
                f.range.1,
            ];
            let method = self.settings.lines[*line].method.clone();
            data.push(std::iter::once(method).chain(numbers.map(|n| n.to_string())));
        }
        data
    }
}

fn line_numbers(row: &Row<'_>) -> serde_json::Value {
    let (validation, spread) = row.validation();
    json!({
        "method": row.line.method, "validation": validation, "spread": spread,
        "paper": row.line.paper.validation, "training": row.numbers(|f| f.training).0,
        "best_iteration": row.numbers(|f| f.kept as f64).0, "as_good": row.as_good(),
    })
}

fn errors_table(rows: &[Row<'_>]) -> Table {
    let table = Table::new(
        "RMSE at the best checkpoint, mean and spread over the splits, beside what the paper prints. \
         Seconds are of one core here and of the paper's machine there.",
        vec![
            Column::text("Method"),
            Column::number("Held out"),
            Column::number("Spread"),
            Column::number("Paper"),
            Column::number("Training"),
            Column::number("Paper"),
            Column::number("Best iteration"),
            Column::number("Paper"),
            Column::number("Seconds"),
            Column::number("Paper"),
            Column::text("No worse"),
        ],
    );
    rows.iter().fold(table, |table, row| {
        let (validation, spread) = row.validation();
        let paper = row.line.paper;
        table.row([
            row.line.method.clone(),
            format!("{validation:.4}"),
            format!("{spread:.4}"),
            format!("{:.3}", paper.validation),
            format!("{:.3}", row.numbers(|f| f.training).0),
            format!("{:.3}", paper.training),
            format!("{:.0}", row.numbers(|f| f.kept as f64).0),
            paper.iterations.to_string(),
            format!("{:.1}", row.numbers(|f| f.seconds).0),
            number(paper.seconds),
            if row.as_good() { "yes" } else { "no" }.to_owned(),
        ])
    })
}

fn ranges_table(rows: &[Row<'_>]) -> Table {
    let table = Table::new(
        "Smallest and largest score over the whole matrix, mean over the splits.",
        vec![
            Column::text("Method"),
            Column::number("Smallest"),
            Column::number("Paper"),
            Column::number("Largest"),
            Column::number("Paper"),
        ],
    );
    rows.iter().fold(table, |table, row| {
        let printed = |pick: fn((f64, f64)) -> f64| {
            row.line.paper.range.map_or("not printed".to_owned(), |range| number(pick(range)))
        };
        table.row([
            row.line.method.clone(),
            number(row.numbers(|f| f.range.0).0),
            printed(|r| r.0),
            number(row.numbers(|f| f.range.1).0),
            printed(|r| r.1),
        ])
    })
}

fn figures(rows: &[Row<'_>]) -> Vec<(String, Figure)> {
    let links = Chart::new(Axis::new("Score"), Axis::new("Value"));
    let links = rows.iter().filter(|row| row.line.learned).fold(links, |chart, row| {
        let curve = row.found.first().map(|f| f.link.clone()).unwrap_or_default();
        chart.with(Series::line(row.line.method.as_str(), curve))
    });
    let curves = Chart::new(Axis::log("Iteration + 1"), Axis::new("Held-out RMSE"));
    let curves = rows.iter().fold(curves, |chart, row| {
        let points = row.found.first().map(|f| f.curve.as_slice()).unwrap_or_default();
        let drawn = points.iter().map(|&(t, error)| (t as f64 + 1.0, error)).collect();
        chart.with(Series::line(row.line.method.as_str(), drawn))
    });
    vec![
        picture(
            "links",
            "The learned links on the first split, over the scores of the training entries.",
            links,
        ),
        picture("curves", "Held-out error over the iterations on the first split.", curves),
    ]
}
