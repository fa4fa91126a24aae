//! Figure 4: the final error of the factors as the link penalty varies.

use isofactor::diagnostics::factor_distance;
use isofactor_report::{Axis, Chart, Column, Reference, Series, Table, number};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::reproduce::{
    desk::Watch,
    error::Result,
    findings::{Data, Findings, Verdict, picture},
    made_fit::{Fitted, MadeFit, Variant, named_link, with_seeds},
    statistics::{mean, spread},
    study::Study,
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    fit: MadeFit,
    /// `phi*`
    link: String,
    alphas: Vec<f64>,
    seeds: Vec<u64>,
    noise: f64,
    /// Errors this share above the least still count as flat.
    flat: f64,
}

pub(super) struct Alpha(pub Settings);

impl Study for Alpha {
    type Case = (f64, u64);
    type Found = f64;

    fn key(&self) -> String {
        json!(self.0).to_string()
    }

    fn cases(&self) -> Vec<(f64, u64)> {
        with_seeds(&self.0.alphas, &self.0.seeds)
    }

    fn name(&self, (alpha, seed): &(f64, u64)) -> String {
        format!("alpha-{alpha:e}-seed-{seed}")
    }

    fn cost(&self, _: &(f64, u64)) -> f64 {
        self.0.fit.cost()
    }

    fn run(&self, &(alpha, seed): &(f64, u64), watch: &mut Watch<'_>) -> Result<f64> {
        let noise = self.0.noise;
        let variant =
            Variant { link: named_link(&self.0.link)?, link_is_known: false, noise, seed };
        let fit = MadeFit { link_penalty: alpha, ..self.0.fit.clone() };
        watch.compare_only([]);
        let Fitted { truth, model, .. } = fit.run_compared(&variant, watch)?;
        Ok(factor_distance(&model.factors, truth.factors())?)
    }

    fn conclude(&self, found: Vec<((f64, u64), f64)>) -> Result<Findings> {
        let errors: Vec<(f64, f64, f64)> = self
            .0
            .alphas
            .iter()
            .map(|&alpha| {
                let of_alpha = found.iter().filter(|((a, _), _)| *a == alpha);
                let errors: Vec<f64> = of_alpha.map(|(_, error)| *error).collect();
                (alpha, mean(errors.iter().copied()), spread(&errors))
            })
            .collect();
        let least = errors.iter().map(|e| e.1).fold(f64::INFINITY, f64::min);
        let best = errors.iter().find(|e| e.1 == least).map_or(f64::NAN, |e| e.0);
        let limit = least * (1.0 + self.0.flat);
        let smallest_is_flat = errors.first().is_some_and(|e| e.1 <= limit);
        let largest = errors.last().map_or(f64::NAN, |e| e.1);
        let rises = largest > limit;

        let mut table = Table::new(
            format!("Final factor error, mean and spread over {} seeds.", self.0.seeds.len()),
            vec![Column::number("α"), Column::number("‖Δ‖"), Column::number("Spread")],
        );
        let mut data = Data::new("final", ["alpha", "factor_distance", "spread"]);
        for &(alpha, error, spread) in &errors {
            table = table.row([number(alpha), number(error), number(spread)]);
            data.push([alpha, error, spread]);
        }
        let band = errors.iter().map(|&(a, e, s)| (a, e - s, e + s)).collect();
        let chart = Chart::new(Axis::log("Link penalty α"), Axis::new("Final factor error ‖Δ‖"))
            .with(Series::line("mean over seeds", errors.iter().map(|e| (e.0, e.1)).collect()))
            .with(Series::band("spread", band))
            .with(Series::reference("least error", Reference::Vertical(best)));
        Ok(Findings {
            verdict: Verdict::of(smallest_is_flat && rises),
            sentence: format!(
                "The least error, {}, is at α = {}; the smallest α {} within {}% of it, and at the \
                 largest the error is {:.2} times as large.",
                number(least),
                number(best),
                if smallest_is_flat { "is" } else { "is not" },
                100.0 * self.0.flat,
                largest / least,
            ),
            numbers: json!({
                "errors": errors, "best_alpha": best, "least_error": least,
                "flat_at_small": smallest_is_flat, "rises_at_large": rises,
            }),
            tables: vec![table],
            figures: vec![picture(
                "error-against-alpha",
                "Final error as the link penalty varies.",
                chart,
            )],
            data: vec![data],
        })
    }
}
