//! Figure 3: from how many entries on the factors are found exactly.

use isofactor::KnownLink;
use isofactor_report::{Axis, Chart, Column, Series, Table, number};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::reproduce::{
    desk::Watch,
    error::Result,
    findings::{Data, Findings, Verdict, picture},
    made_fit::{MadeFit, Point, Variant},
    study::Study,
};

/// From this multiple of `r n` on the paper's iterates converge.
const CLAIMED: usize = 3;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    fit: MadeFit,
    /// `M` in units of `r n`.
    multiples: Vec<usize>,
    /// The share of the start's distance below which the truth counts as found.
    exact: f64,
    seed: u64,
}

pub(super) struct SampleSize(pub Settings);

impl SampleSize {
    fn fit(&self, multiple: usize) -> MadeFit {
        let fit = &self.0.fit;
        MadeFit { observed: multiple * fit.rank * fit.size, ..fit.clone() }
    }
}

impl Study for SampleSize {
    type Case = usize;
    type Found = Vec<Point>;

    fn key(&self) -> String {
        json!(self.0).to_string()
    }

    fn cases(&self) -> Vec<usize> {
        self.0.multiples.clone()
    }

    fn name(&self, multiple: &usize) -> String {
        format!("multiple-{multiple}")
    }

    fn cost(&self, &multiple: &usize) -> f64 {
        self.fit(multiple).cost()
    }

    fn run(&self, &multiple: &usize, watch: &mut Watch<'_>) -> Result<Vec<Point>> {
        let link = KnownLink::Identity;
        let variant = Variant { link, link_is_known: true, noise: 0.0, seed: self.0.seed };
        self.fit(multiple).run(&variant, watch)?.points()
    }

    fn conclude(&self, found: Vec<(usize, Vec<Point>)>) -> Result<Findings> {
        let share = |points: &[Point]| match (points.first(), points.last()) {
            (Some(first), Some(last)) => last.factor_distance / first.factor_distance,
            _ => f64::NAN,
        };
        let shares: Vec<(usize, f64)> = found.iter().map(|(m, p)| (*m, share(p))).collect();
        let found_from = shares.iter().rev().take_while(|s| s.1 <= self.0.exact).last();
        let enough = shares.iter().filter(|s| s.0 >= CLAIMED).all(|s| s.1 <= self.0.exact);

        let mut table = Table::new(
            "What is left of the start's distance from the truth.",
            vec![
                Column::number("M / (r n)"),
                Column::number("M"),
                Column::number("‖Δ‖ at the end, share of the start's"),
                Column::text("Found exactly"),
            ],
        );
        let mut data = Data::new("iterations", ["multiple", "iteration", "factor_distance"]);
        let mut chart = Chart::new(Axis::log("Iteration + 1"), Axis::log("Factor error ‖Δ‖"));
        for ((multiple, points), (_, share)) in found.iter().zip(&shares) {
            let exact = if *share <= self.0.exact { "yes" } else { "no" };
            let observed = self.fit(*multiple).observed;
            table = table.row([
                multiple.to_string(),
                number(observed as f64),
                number(*share),
                exact.to_owned(),
            ]);
            for p in points {
                data.push([*multiple as f64, p.iteration as f64, p.factor_distance]);
            }
            let drawn = points.iter().map(|p| (p.iteration as f64 + 1.0, p.factor_distance));
            chart = chart.with(Series::line(format!("M = {multiple} rn"), drawn.collect()));
        }
        let from =
            found_from.map_or("no sample size tried".to_owned(), |s| format!("M = {} rn", s.0));
        Ok(Findings {
            verdict: Verdict::of(enough),
            sentence: format!(
                "The factors are found to {} of the start's distance from {from} on; the paper says \
                 from M = {CLAIMED} rn on.",
                number(self.0.exact),
            ),
            numbers: json!({ "shares": shares, "found_from": found_from.map(|s| s.0) }),
            tables: vec![table],
            figures: vec![picture(
                "error-by-sample-size",
                "Error over the iterations, by sample size.",
                chart,
            )],
            data: vec![data],
        })
    }
}
