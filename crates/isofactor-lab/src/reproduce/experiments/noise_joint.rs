//! Figure 2: factors, link and Lyapunov function over the iterations when both are learned.

use isofactor_report::{Axis, Chart, Column, Series, Table, number};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::reproduce::{
    desk::Watch,
    error::Result,
    findings::{Data, Findings, Verdict, picture},
    made_fit::{MadeFit, Point, Variant, named_link, with_seeds},
    statistics::{increasing, mean},
    study::Study,
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    fit: MadeFit,
    /// `phi*`
    link: String,
    sigmas: Vec<f64>,
    seeds: Vec<u64>,
    /// `gamma`: the weight of `D_t` in the Lyapunov function, the same for every `sigma`.
    gamma: f64,
    /// `V_t` has settled when it changes by less than this share over the last fifth.
    settled: f64,
}

pub(super) struct NoiseJoint(pub Settings);

impl Study for NoiseJoint {
    type Case = (f64, u64);
    type Found = Vec<Point>;

    fn key(&self) -> String {
        json!(self.0).to_string()
    }

    fn cases(&self) -> Vec<(f64, u64)> {
        with_seeds(&self.0.sigmas, &self.0.seeds)
    }

    fn name(&self, (sigma, seed): &(f64, u64)) -> String {
        format!("sigma-{sigma}-seed-{seed}")
    }

    fn cost(&self, _: &(f64, u64)) -> f64 {
        self.0.fit.cost()
    }

    fn run(&self, &(noise, seed): &(f64, u64), watch: &mut Watch<'_>) -> Result<Vec<Point>> {
        let variant =
            Variant { link: named_link(&self.0.link)?, link_is_known: false, noise, seed };
        self.0.fit.run(&variant, watch)?.points()
    }

    fn conclude(&self, found: Vec<((f64, u64), Vec<Point>)>) -> Result<Findings> {
        let curves: Vec<(f64, Vec<Mean>)> = self
            .0
            .sigmas
            .iter()
            .map(|&sigma| {
                let seeds =
                    found.iter().filter(|((s, _), _)| *s == sigma).map(|(_, points)| points);
                (sigma, self.average(&seeds.collect::<Vec<_>>()))
            })
            .collect();
        let limits: Vec<f64> = curves.iter().map(|(_, curve)| limit(curve)).collect();
        let changes: Vec<f64> = curves.iter().map(|(_, curve)| late_change(curve)).collect();
        let grows = increasing(&limits, 0.0);
        let settled = changes.iter().all(|change| *change <= self.0.settled);

        let mut table = Table::new(
            "Where the iterates end, mean over the seeds.",
            vec![
                Column::number("Noise σ"),
                Column::number("‖Δ‖"),
                Column::number("‖φ − φ*‖"),
                Column::number("V at the end"),
                Column::number("Change of V, last fifth"),
            ],
        );
        let columns = ["sigma", "iteration", "factor_distance", "link_distance", "lyapunov"];
        let mut data = Data::new("iterations", columns);
        for (((sigma, curve), limit), change) in curves.iter().zip(&limits).zip(&changes) {
            for m in curve {
                data.push([*sigma, m.iteration, m.factors, m.link, m.lyapunov]);
            }
            if let Some(last) = curve.last() {
                table = table.row([
                    number(*sigma),
                    number(last.factors),
                    number(last.link),
                    number(*limit),
                    format!("{:.1}%", 100.0 * change),
                ]);
            }
        }
        let chart = |label: &str, pick: fn(&Mean) -> f64| {
            let axes = Chart::new(Axis::log("Iteration + 1"), Axis::log(label));
            curves.iter().fold(axes, |chart, (sigma, curve)| {
                let drawn = curve.iter().map(|m| (m.iteration + 1.0, pick(m)));
                chart.with(Series::line(format!("σ = {sigma}"), drawn.collect()))
            })
        };
        let noiseless =
            self.0.sigmas.iter().zip(&limits).find(|(s, _)| **s == 0.0).map(|(_, limit)| *limit);
        Ok(Findings {
            verdict: Verdict::of(grows && settled),
            sentence: format!(
                "V {} by at most {}% over the last fifth of the iterations, and its limit {} with σ; \
                 without noise it is {}, the estimate of C_φ.",
                if settled { "changes" } else { "does not settle: it should change" },
                100.0 * self.0.settled,
                if grows { "grows" } else { "does not grow steadily" },
                noiseless.map_or("not known".to_owned(), number),
            ),
            numbers: json!({
                "sigmas": self.0.sigmas, "limits": limits, "late_changes": changes,
                "c_phi": noiseless, "grows": grows, "settled": settled,
            }),
            tables: vec![table],
            figures: vec![
                picture("factors", "Factor error.", chart("Factor error ‖Δ‖", |m| m.factors)),
                picture(
                    "link",
                    "Link error, in the norm of the kernel's space.",
                    chart("Link error ‖φ − φ*‖", |m| m.link),
                ),
                picture(
                    "lyapunov",
                    "Lyapunov function V = E + γ D.",
                    chart("Lyapunov function V", |m| m.lyapunov),
                ),
            ],
            data: vec![data],
        })
    }
}

/// The mean over seeds of one iterate.
struct Mean {
    iteration: f64,
    factors: f64,
    link: f64,
    /// `V_t = E_t + gamma D_t`
    lyapunov: f64,
}

impl NoiseJoint {
    fn average(&self, seeds: &[&Vec<Point>]) -> Vec<Mean> {
        let Some(first) = seeds.first() else { return Vec::new() };
        let over = |place: usize, pick: &dyn Fn(&Point) -> f64| {
            mean(seeds.iter().filter_map(|points| points.get(place)).map(pick))
        };
        (0..first.len())
            .map(|place| Mean {
                iteration: first[place].iteration as f64,
                factors: over(place, &|p| p.factor_distance),
                link: over(place, &|p| p.link_distance),
                lyapunov: over(place, &|p| p.lag + self.0.gamma * p.factor_distance.powi(2)),
            })
            .collect()
    }
}

/// The last value of the Lyapunov function.
fn limit(curve: &[Mean]) -> f64 {
    curve.last().map_or(f64::NAN, |m| m.lyapunov)
}

/// How much of its last value the Lyapunov function moves over the last fifth of the iterations.
fn late_change(curve: &[Mean]) -> f64 {
    let Some(last) = curve.last() else { return f64::NAN };
    let late = curve.iter().filter(|m| m.iteration >= 0.8 * last.iteration);
    let gap = late.map(|m| (m.lyapunov - last.lyapunov).abs()).fold(0.0, f64::max);
    gap / last.lyapunov
}
