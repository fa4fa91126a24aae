//! Past the paper: the default solver on the same data, beside baselines that are fair to it.

use std::path::Path;

use isofactor::{FitConfig, FitInput, select::hold_out};
use isofactor_report::{Axis, Chart, Column, Series, Table};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::reproduce::{
    desk::Watch,
    error::Result,
    findings::{Data, Findings, Verdict, picture},
    real::{RealData, Split, Splits},
    ridge::Ridge,
    statistics::{mean, spread},
    study::Study,
};

/// Share of the training entries on which a penalty is chosen.
const INNER: f64 = 0.1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Settings {
    /// Splits of each data set.
    movielens_seeds: Vec<u64>,
    jester_seeds: Vec<u64>,
    /// The best that the paper reports for each.
    movielens_paper: f64,
    jester_paper: f64,
    ridge_rank: usize,
    ridge_penalties: Vec<f64>,
    ridge_sweeps: usize,
}

/// A data set with its splits.
struct Set {
    title: &'static str,
    /// What the comparison with other programs calls it.
    peer_name: &'static str,
    /// The best that the paper reports for it.
    paper: f64,
    splits: Splits,
    seeds: Vec<u64>,
}

pub(super) struct Beyond {
    settings: Settings,
    sets: Vec<Set>,
    /// Program, data set, RMSE, from the comparison with other programs.
    peers: Vec<(String, String, f64)>,
}

pub(super) fn plan(
    settings: Settings,
    data: Option<&Path>,
    peers: Option<&Path>,
) -> Result<Beyond> {
    let movielens = Set {
        title: "MovieLens-small",
        peer_name: "movielens",
        paper: settings.movielens_paper,
        splits: Splits::of(RealData::MovieLens.read(data)?),
        seeds: settings.movielens_seeds.clone(),
    };
    let jester = Set {
        title: "Jester-1",
        peer_name: "jester",
        paper: settings.jester_paper,
        splits: Splits::of(RealData::Jester.read(data)?),
        seeds: settings.jester_seeds.clone(),
    };
    Ok(Beyond { settings, sets: vec![movielens, jester], peers: read_peers(peers) })
}

/// What the comparison left behind; nothing if it has not been run.
fn read_peers(file: Option<&Path>) -> Vec<(String, String, f64)> {
    let text = file.and_then(|file| std::fs::read(file).ok());
    let parsed = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let summary = parsed.as_ref().and_then(|p| p["summary"].as_array());
    let one = |run: &Value| {
        let text = |key: &str| run[key].as_str().map(str::to_owned);
        Some((text("program")?, text("data")?, run["rmse"].as_f64()?))
    };
    summary.map(|runs| runs.iter().filter_map(one).collect()).unwrap_or_default()
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Mean,
    Effects,
    Ridge,
    Default,
}

impl Method {
    const ALL: [Method; 4] = [Method::Mean, Method::Effects, Method::Ridge, Method::Default];

    fn title(self) -> &'static str {
        match self {
            Method::Mean => "overall mean",
            Method::Effects => "effects alone",
            Method::Ridge => "effects and factors, ridge",
            Method::Default => "isofactor, nothing set",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Method::Mean => "mean",
            Method::Effects => "effects",
            Method::Ridge => "ridge",
            Method::Default => "default",
        }
    }
}

impl Study for Beyond {
    type Case = (usize, u64, Method);
    type Found = f64;

    fn key(&self) -> String {
        let sets: Vec<String> = self.sets.iter().map(|set| set.splits.key()).collect();
        format!("{} {sets:?}", json!(self.settings))
    }

    fn cases(&self) -> Vec<Self::Case> {
        let of_set = |(number, set): (usize, &Set)| {
            let seeds = set.seeds.clone();
            seeds.into_iter().flat_map(move |seed| Method::ALL.map(|method| (number, seed, method)))
        };
        self.sets.iter().enumerate().flat_map(of_set).collect()
    }

    fn name(&self, (set, seed, method): &Self::Case) -> String {
        format!("{}-split-{seed}-{}", self.sets[*set].peer_name, method.name())
    }

    fn cost(&self, (set, _, method): &Self::Case) -> f64 {
        let entries = self.sets[*set].splits.entries() as f64;
        let Settings { ridge_rank, ridge_sweeps, ridge_penalties, .. } = &self.settings;
        let tried = (1 + ridge_penalties.len()) * ridge_sweeps;
        entries
            * match method {
                Method::Mean => 1.0,
                Method::Effects => tried as f64,
                Method::Ridge => (tried * (1 + ridge_rank)) as f64,
                Method::Default => 300.0,
            }
    }

    fn run(&self, &(set, seed, method): &Self::Case, watch: &mut Watch<'_>) -> Result<f64> {
        let split = self.sets[set].splits.split(seed)?;
        match method {
            Method::Mean => {
                let mean = split.training.mean();
                Ok(isofactor::model::metrics(&split.held, |_, _| mean).rmse)
            }
            Method::Effects => self.ridge(&split, 0, seed),
            Method::Ridge => self.ridge(&split, self.settings.ridge_rank, seed),
            Method::Default => {
                // Without the held-out entries: nothing is chosen by what it is judged on.
                let config = FitConfig { seed, ..FitConfig::default() };
                let (model, _) = watch.fit(&config, &FitInput::new(&split.training))?;
                Ok(model.evaluate(&split.held).rmse)
            }
        }
    }

    fn conclude(&self, found: Vec<(Self::Case, f64)>) -> Result<Findings> {
        let of = |number: usize, method: Method| -> Vec<f64> {
            let same = found.iter().filter(|((s, _, m), _)| *s == number && *m == method);
            same.map(|(_, error)| *error).collect()
        };
        let mut data = Data::new("errors", ["data", "method", "split", "rmse"]);
        for ((set, seed, method), error) in &found {
            let title = self.sets[*set].title.to_owned();
            data.push([title, method.title().to_owned(), seed.to_string(), error.to_string()]);
        }
        let mut tables = Vec::new();
        let mut margins = Vec::new();
        let mut chart =
            Chart::new(Axis::new("Split"), Axis::new("Held-out RMSE over that of effects alone"));
        for (number, set) in self.sets.iter().enumerate() {
            tables.push(self.table(set, &|method| of(number, method)));
            let ours = mean(of(number, Method::Default));
            let fair = mean(of(number, Method::Ridge)).min(mean(of(number, Method::Effects)));
            margins.push((set.title, ours, fair, set.paper));
            for method in [Method::Ridge, Method::Default] {
                let errors = of(number, method).into_iter().zip(of(number, Method::Effects));
                let points = errors.enumerate().map(|(k, (e, base))| (k as f64 + 1.0, e / base));
                let name = format!("{}, {}", set.title, method.title());
                chart = chart.with(Series::line(name, points.collect()));
            }
        }
        let better = margins.iter().all(|(_, ours, fair, paper)| ours < fair && ours < paper);
        let sentence: Vec<String> = margins
            .iter()
            .map(|(title, ours, fair, paper)| {
                format!(
                    "On {title} the default solver has {ours:.4}, the best fair baseline {fair:.4}, \
                     the paper {paper}."
                )
            })
            .collect();
        Ok(Findings {
            verdict: Verdict::of(better),
            sentence: sentence.join(" "),
            numbers: json!({
                "margins": margins
                    .iter()
                    .map(|(title, ours, fair, paper)| {
                        json!({"data": title, "default": ours, "fair": fair, "paper": paper})
                    })
                    .collect::<Vec<_>>(),
                "peers": self.peers,
            }),
            tables,
            figures: vec![picture(
                "against-effects",
                "Error on each split as a share of what effects alone reach.",
                chart,
            )],
            data: vec![data],
        })
    }
}

impl Beyond {
    /// The error of the ridge fit, its penalty chosen on entries of the training part.
    fn ridge(&self, split: &Split, rank: usize, seed: u64) -> Result<f64> {
        let sweeps = self.settings.ridge_sweeps;
        let training = &split.training;
        let (inner, judge) = hold_out(training.shape(), training.iter().collect(), INNER, seed)?;
        let error =
            |&penalty: &f64| Ridge::fit(&inner, rank, penalty, sweeps, seed).errors(&judge).rmse;
        let tried = self.settings.ridge_penalties.iter().map(|p| (*p, error(p)));
        let best = tried.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(1.0, |(penalty, _)| penalty);
        Ok(Ridge::fit(training, rank, best, sweeps, seed).errors(&split.held).rmse)
    }

    fn table(&self, set: &Set, of: &dyn Fn(Method) -> Vec<f64>) -> Table {
        let caption = format!(
            "{}: RMSE on held-out entries that nobody saw, over {} splits; other programs as the \
             comparison (make bench-peers) last measured them, on a split of its own.",
            set.title,
            set.seeds.len()
        );
        let table = Table::new(
            caption,
            vec![Column::text("Method"), Column::number("Held out"), Column::number("Spread")],
        );
        let ours = Method::ALL.into_iter().fold(table, |table, method| {
            let errors = of(method);
            table.row([
                method.title().to_owned(),
                format!("{:.4}", mean(errors.iter().copied())),
                format!("{:.4}", spread(&errors)),
            ])
        });
        let paper =
            ours.row(["the paper's best".to_owned(), format!("{:.3}", set.paper), String::new()]);
        let same = self.peers.iter().filter(|(_, data, _)| data == set.peer_name);
        let others = same.filter(|(program, ..)| !program.starts_with("isofactor"));
        others.fold(paper, |table, (program, _, rmse)| {
            table.row([program.clone(), format!("{rmse:.4}"), String::new()])
        })
    }
}
