//! Appendix: the true link and the one that the last iteration holds.

use isofactor_report::{Axis, Chart, Column, Series, Table, number};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::reproduce::{
    desk::Watch,
    error::Result,
    findings::{Data, Findings, Verdict, picture},
    made_fit::{Fitted, MadeFit, Variant, named_link},
    study::Study,
};

/// Places at which the links are compared and drawn.
const PLACES: usize = 200;
/// Bins of the density under them.
const BINS: usize = 40;
/// The support of the scores: all but this share at either end.
const TAIL: f64 = 0.01;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    fit: MadeFit,
    links: Vec<String>,
    noise: f64,
    /// The largest gap that is called close, as a share of the true link's range on the support.
    close: f64,
    seed: u64,
}

pub(super) struct LinkShape(pub Settings);

#[derive(Serialize, Deserialize)]
pub(super) struct Found {
    /// Score, true value, learned value, over the support.
    curve: Vec<(f64, f64, f64)>,
    scores: Vec<f64>,
}

impl Found {
    fn gap(&self) -> f64 {
        self.curve.iter().map(|(_, star, learned)| (star - learned).abs()).fold(0.0, f64::max)
    }

    fn range(&self) -> f64 {
        let values = self.curve.iter().map(|c| c.1);
        values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min)
    }
}

impl Study for LinkShape {
    type Case = String;
    type Found = Found;

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

    fn run(&self, name: &String, watch: &mut Watch<'_>) -> Result<Found> {
        let link = named_link(name)?;
        let Settings { noise, seed, .. } = self.0;
        let variant = Variant { link, link_is_known: false, noise, seed };
        let Fitted { truth, model, .. } = self.0.fit.run(&variant, watch)?;
        let panel = self.0.fit.panel(&variant)?;
        let mut scores: Vec<f64> =
            panel.observations.iter().map(|e| model.score(Some(e.row), Some(e.column))).collect();
        scores.sort_by(f64::total_cmp);
        let cut = (TAIL * scores.len() as f64) as usize;
        let (low, high) = (scores[cut], scores[scores.len() - 1 - cut]);
        let place = |i: usize| low + (high - low) * i as f64 / (PLACES - 1) as f64;
        let curve = (0..PLACES)
            .map(place)
            .map(|x| (x, truth.link().value_and_slope(x).0, model.link.value(x)))
            .collect();
        Ok(Found { curve, scores })
    }

    fn conclude(&self, found: Vec<(String, Found)>) -> Result<Findings> {
        let shares: Vec<(String, f64)> =
            found.iter().map(|(link, f)| (link.clone(), f.gap() / f.range())).collect();
        let worst = shares.iter().map(|s| s.1).fold(0.0, f64::max);
        let mut table = Table::new(
            "Largest gap between the learned and the true link over the middle 98% of the scores.",
            vec![
                Column::text("True link"),
                Column::number("Largest gap"),
                Column::number("Share of the link's range there"),
            ],
        );
        let mut data = Data::new("links", ["link", "score", "true", "learned"]);
        let mut figures = Vec::new();
        for ((name, f), (_, share)) in found.iter().zip(&shares) {
            table = table.row([name.clone(), number(f.gap()), format!("{:.1}%", 100.0 * share)]);
            for (score, star, learned) in &f.curve {
                let numbers = [score, star, learned].map(f64::to_string);
                data.push(std::iter::once(name.clone()).chain(numbers));
            }
            let (star, learned): (Vec<_>, Vec<_>) =
                f.curve.iter().map(|&(x, star, learned)| ((x, star), (x, learned))).unzip();
            let chart = Chart::new(Axis::new("Score"), Axis::new("Value"))
                .with(Series::line("learned", learned).solid())
                .with(Series::line("true", star).dashed())
                .with(Series::histogram("density of the scores", &f.scores, BINS));
            let caption = format!("The {name} link and what was learned of it.");
            figures.push(picture(format!("link-{name}"), caption, chart));
        }
        Ok(Findings {
            verdict: Verdict::of(worst <= self.0.close),
            sentence: format!(
                "On the support of the scores the learned link is nowhere further from the true one \
                 than {:.1}% of its range (at most {}% asked).",
                100.0 * worst,
                100.0 * self.0.close,
            ),
            numbers: json!({ "gaps": shares, "worst": worst }),
            tables: vec![table],
            figures,
            data: vec![data],
        })
    }
}
