//! Appendix: the regret against the best link for the current factors, for several true links.

use isofactor_report::{Axis, Chart, Column, Series, Table, number};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::reproduce::{
    desk::Watch,
    error::Result,
    findings::{Data, Findings, Verdict, picture},
    made_fit::{MadeFit, Point, Variant, named_link},
    statistics::line,
    study::Study,
};

/// The paper's rate: `R_T` falls at least as fast as `T^(-1/2)`.
const RATE: f64 = -0.5;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Settings {
    fit: MadeFit,
    links: Vec<String>,
    noise: f64,
    /// Iterations that do not count for the rate.
    burn_in: usize,
    seed: u64,
}

pub(super) struct Regret(pub Settings);

impl Study for Regret {
    type Case = String;
    type Found = Vec<Point>;

    fn key(&self) -> String {
        json!(self.0).to_string()
    }

    fn cases(&self) -> Vec<String> {
        self.0.links.clone()
    }

    fn name(&self, link: &String) -> String {
        link.clone()
    }

    fn cost(&self, _: &String) -> f64 {
        self.0.fit.cost()
    }

    fn run(&self, name: &String, watch: &mut Watch<'_>) -> Result<Vec<Point>> {
        let link = named_link(name)?;
        let Settings { noise, seed, .. } = self.0;
        let variant = Variant { link, link_is_known: false, noise, seed };
        self.0.fit.run_compared(&variant, watch)?.points()
    }

    fn conclude(&self, found: Vec<(String, Vec<Point>)>) -> Result<Findings> {
        let rate = |points: &[Point]| {
            let settled = points.iter().filter(|p| p.iteration >= self.0.burn_in);
            let logs = settled.map(|p| ((p.iteration as f64).ln(), p.regret.ln()));
            line(&logs.collect::<Vec<_>>()).slope
        };
        let rates: Vec<(String, f64)> =
            found.iter().map(|(link, points)| (link.clone(), rate(points))).collect();
        let slowest = rates.iter().map(|r| r.1).fold(f64::NEG_INFINITY, f64::max);

        let mut table = Table::new(
            format!("Slope of log R over log T from iteration {} on.", self.0.burn_in),
            vec![
                Column::text("True link"),
                Column::number("Slope"),
                Column::number("R at the end"),
            ],
        );
        let mut data = Data::new("regret", ["link", "iteration", "regret"]);
        let mut chart = Chart::new(Axis::log("Iteration T"), Axis::log("Regret R"));
        for ((link, points), (_, rate)) in found.iter().zip(&rates) {
            let drawn: Vec<(f64, f64)> = points
                .iter()
                .filter(|p| p.iteration > 0)
                .map(|p| (p.iteration as f64, p.regret))
                .collect();
            for (iteration, regret) in &drawn {
                data.push([link.clone(), iteration.to_string(), regret.to_string()]);
            }
            let end = drawn.last().map_or(f64::NAN, |d| d.1);
            table = table.row([link.clone(), format!("{rate:.2}"), number(end)]);
            chart = chart.with(Series::line(link.as_str(), drawn));
        }
        if let Some((_, points)) = found.first() {
            chart = chart.with(Series::line("T^(−1/2)", self.guide(points)).dashed());
        }
        Ok(Findings {
            verdict: Verdict::of(slowest <= RATE),
            sentence: format!(
                "After {} iterations the slowest of {} links falls with slope {slowest:.2} (at most \
                 {RATE} asked).",
                self.0.burn_in,
                rates.len(),
            ),
            numbers: json!({ "slopes": rates, "slowest": slowest }),
            tables: vec![table],
            figures: vec![picture(
                "regret",
                "Mean regret over the iterations; both axes are logarithmic.",
                chart,
            )],
            data: vec![data],
        })
    }
}

impl Regret {
    /// The rate of the theorem, through a curve at the end of the burn-in.
    fn guide(&self, points: &[Point]) -> Vec<(f64, f64)> {
        let settled: Vec<&Point> =
            points.iter().filter(|p| p.iteration >= self.0.burn_in.max(1)).collect();
        let Some(first) = settled.first() else { return Vec::new() };
        let at = |p: &&Point| {
            let ratio = p.iteration as f64 / first.iteration as f64;
            (p.iteration as f64, first.regret * ratio.powf(RATE))
        };
        settled.iter().map(at).collect()
    }
}
