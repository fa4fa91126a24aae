//! Figure 1: how the error of the factors depends on the noise when the link is known.

use isofactor::KnownLink;
use isofactor_report::{Axis, Chart, Column, Series, Table, number};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::reproduce::{
    desk::Watch,
    error::Result,
    findings::{Data, Findings, Verdict, picture},
    made_fit::{MadeFit, Point, Variant},
    statistics::{increasing, line},
    study::Study,
};

/// The least `R^2` that is called a straight line.
const STRAIGHT: f64 = 0.99;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    fit: MadeFit,
    sigmas: Vec<f64>,
    seed: u64,
}

pub(super) struct NoiseKnownLink(pub Settings);

impl Study for NoiseKnownLink {
    type Case = f64;
    type Found = Vec<Point>;

    fn key(&self) -> String {
        json!(self.0).to_string()
    }

    fn cases(&self) -> Vec<f64> {
        self.0.sigmas.clone()
    }

    fn name(&self, sigma: &f64) -> String {
        format!("sigma-{sigma}")
    }

    fn cost(&self, _: &f64) -> f64 {
        self.0.fit.cost()
    }

    fn run(&self, &noise: &f64, watch: &mut Watch<'_>) -> Result<Vec<Point>> {
        let link = KnownLink::Sigmoid;
        let variant = Variant { link, link_is_known: true, noise, seed: self.0.seed };
        self.0.fit.run(&variant, watch)?.points()
    }

    fn conclude(&self, found: Vec<(f64, Vec<Point>)>) -> Result<Findings> {
        let last = |points: &[Point]| points.last().map_or(f64::NAN, |p| p.factor_distance);
        let finals: Vec<(f64, f64)> = found.iter().map(|(s, points)| (*s, last(points))).collect();
        let noiseless = finals.iter().find(|f| f.0 == 0.0).map_or(f64::NAN, |f| f.1);
        let fitted = line(&finals);
        let errors: Vec<f64> = finals.iter().map(|f| f.1).collect();
        let ordered = increasing(&errors, 0.0);
        let straight = fitted.explained >= STRAIGHT;

        let mut table = Table::new(
            "Distance of the factors from the truth after the last iteration.",
            vec![
                Column::number("Noise σ"),
                Column::number("‖Δ‖"),
                Column::number("‖Δ‖ over that at σ = 0"),
            ],
        );
        let mut summary = Data::new("final", ["sigma", "factor_distance", "normalised"]);
        for &(sigma, error) in &finals {
            table = table.row([number(sigma), number(error), number(error / noiseless)]);
            summary.push([sigma, error, error / noiseless]);
        }
        let mut curves = Data::new("iterations", ["sigma", "iteration", "factor_distance"]);
        let mut over = Chart::new(Axis::log("Iteration + 1"), Axis::log("Factor error ‖Δ‖"));
        for (sigma, points) in &found {
            for p in points {
                curves.push([*sigma, p.iteration as f64, p.factor_distance]);
            }
            let drawn = points.iter().map(|p| (p.iteration as f64 + 1.0, p.factor_distance));
            over = over.with(Series::line(format!("σ = {sigma}"), drawn.collect()));
        }
        let top = finals.iter().map(|f| f.0).fold(0.0, f64::max);
        let normalised = finals.iter().map(|&(s, e)| (s, e / noiseless)).collect();
        let straight_line = [0.0, top].map(|s| (s, (fitted.level + fitted.slope * s) / noiseless));
        let against = Chart::new(
            Axis::new("Noise σ"),
            Axis::new("Final error ‖Δ‖, times that without noise"),
        )
        .with(Series::points("after the last iteration", normalised))
        .with(Series::line("straight line", straight_line.to_vec()).dashed());
        Ok(Findings {
            verdict: Verdict::of(straight && ordered),
            sentence: format!(
                "A straight line explains {:.2}% of the variance of the final error over σ (at least \
                 {}% asked), and the final errors {} ordered by σ.",
                100.0 * fitted.explained,
                100.0 * STRAIGHT,
                if ordered { "are" } else { "are not" },
            ),
            numbers: json!({
                "r_squared": fitted.explained, "slope": fitted.slope, "level": fitted.level,
                "ordered": ordered, "final": finals,
            }),
            tables: vec![table],
            figures: vec![
                picture("error-against-noise", "Final error against the noise.", against),
                picture("error-over-iterations", "Error over the iterations.", over),
            ],
            data: vec![summary, curves],
        })
    }
}
