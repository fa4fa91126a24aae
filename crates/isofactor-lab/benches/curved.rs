//! How close a learned link comes to the fit that is given the true one:
//!
//! ```text
//! cargo bench -p isofactor-lab --bench curved -- [--seeds 3] [--out FOLDER]
//! ```
//!
//! Made panels of rank 3, a third observed, with noise of 5% of the signal's deviation. All
//! entries are compared with the noiseless truth; errors are shares of the signal's deviation.
//! The default fit, the fit that is given the true link, and the fit with the identity link are
//! made by the same solver with the same seed.

#![allow(clippy::panic, clippy::print_stdout, clippy::expect_used)]

use std::{fs, path::PathBuf, time::Instant};

use isofactor::{
    Entry, EntryList, FitConfig, FitInput, FittedModel, Knots, KnownLink, Observations, Shape,
    Unwatched, config::LinkChoice, fit,
};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use serde_json::json;

const SHAPE: Shape = Shape { rows: 300, columns: 200 };
const RANK: usize = 3;
const OBSERVED: f64 = 1.0 / 3.0;
const NOISE: f64 = 0.05;

type Curve = fn(f64) -> f64;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Name, link, and whether it is bounded.
const LINKS: [(&str, Curve, bool); 10] = [
    ("linear", |x| x, false),
    ("sigmoid, steep", |x| sigmoid(4.0 * x), true),
    ("sigmoid, steeper", |x| sigmoid(10.0 * x), true),
    ("tanh", f64::tanh, true),
    (
        "piecewise",
        |x| {
            if x < -1.0 {
                0.2 * x - 1.8
            } else if x < 1.0 {
                2.0 * x
            } else {
                0.5 * x + 1.5
            }
        },
        false,
    ),
    ("thresholds", |x| [-2.0, -0.7, 0.7, 2.0].iter().map(|t| sigmoid(10.0 * (x - t))).sum(), true),
    ("square root, signed", |x| x.signum() * x.abs().sqrt(), false),
    ("square root, shifted", |x| (x + 8.0).max(0.0).sqrt(), false),
    ("exponential, mild", |x| (0.3 * x).exp(), false),
    ("exponential", |x| (0.5 * x).exp(), false),
];

/// A panel and its noiseless values.
struct Made {
    observations: Observations,
    truth: Vec<f64>,
    deviation: f64,
}

fn make(curve: Curve, seed: u64) -> Made {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let u: Vec<f64> = (0..SHAPE.rows * RANK).map(|_| normal()).collect();
    let v: Vec<f64> = (0..SHAPE.columns * RANK).map(|_| normal()).collect();
    let score = |row: usize, column: usize| -> f64 {
        (0..RANK).map(|a| u[row * RANK + a] * v[column * RANK + a]).sum()
    };
    let pairs = (0..SHAPE.rows).flat_map(|row| (0..SHAPE.columns).map(move |column| (row, column)));
    let truth: Vec<f64> = pairs.clone().map(|(row, column)| curve(score(row, column))).collect();
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let squares: f64 = truth.iter().map(|y| (y - mean).powi(2)).sum();
    let deviation = (squares / truth.len() as f64).sqrt();
    let mut list = EntryList::default();
    for ((row, column), value) in pairs.zip(&truth) {
        let noise: f64 = StandardNormal.sample(&mut random);
        if random.random::<f64>() < OBSERVED {
            list.push(Entry { row, column, value: value + NOISE * deviation * noise });
        }
    }
    let observations = Observations::arrange(SHAPE, list).expect("made entries are sound");
    Made { observations, truth, deviation }
}

/// Error against the truth, and the model.
fn fitted(made: &Made, link: LinkChoice, seed: u64) -> (f64, FittedModel) {
    let config = FitConfig { link, seed, ..FitConfig::default() };
    let model = fit(&config, &FitInput::new(&made.observations), &mut Unwatched)
        .unwrap_or_else(|error| panic!("{error}"));
    let squares: f64 = (made.truth.iter().enumerate())
        .map(|(k, y)| {
            let (row, column) = (k / SHAPE.columns, k % SHAPE.columns);
            (y - model.predict(Some(row), Some(column))).powi(2)
        })
        .sum();
    ((squares / made.truth.len() as f64).sqrt() / made.deviation, model)
}

/// The true link as a table of knots.
fn known(curve: Curve) -> LinkChoice {
    let points: Vec<(f64, f64)> =
        (-4000..=4000).map(|i| f64::from(i) / 200.0).map(|x| (x, curve(x) + 1e-9 * x)).collect();
    let knots = Knots::try_new(points).unwrap_or_else(|error| panic!("{error}"));
    LinkChoice::Known(KnownLink::Piecewise(knots))
}

/// The smallest slope of the link on a fine grid over the scores and beyond.
fn least_slope(model: &FittedModel) -> f64 {
    let (low, high) = model.provenance.score_range;
    let reach = high - low;
    (0..=4000)
        .map(|i| low - reach + 3.0 * reach * f64::from(i) / 4000.0)
        .map(|x| model.link.value_and_slope(x).1)
        .fold(f64::INFINITY, f64::min)
}

fn main() {
    let (mut seeds, mut out) = (3, PathBuf::from("target/bench"));
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("{name} needs a value"));
        match name.as_str() {
            "--seeds" => seeds = value.parse().unwrap_or_else(|e| panic!("--seeds: {e}")),
            "--out" => out = PathBuf::from(value),
            _ => panic!("{name}: there is --seeds and --out"),
        }
    }
    println!(
        "{:<22} {:>9} {:>9} {:>9} {:>13} {:>7} {:>15} {:>8}",
        "link",
        "identity",
        "true",
        "default",
        "default/true",
        "worst",
        "identity/default",
        "seconds"
    );
    let mut lines = Vec::new();
    for (name, curve, bounded) in LINKS {
        let mut sums = [0.0; 4];
        let (mut worst, mut learned) = (0.0f64, 0);
        for seed in 0..seeds {
            let made = make(curve, 9000 + seed);
            let identity = fitted(&made, LinkChoice::Known(KnownLink::Identity), seed).0;
            let given =
                if name == "linear" { identity } else { fitted(&made, known(curve), seed).0 };
            let began = Instant::now();
            let (chosen, model) = fitted(&made, LinkChoice::Auto, seed);
            let seconds = began.elapsed().as_secs_f64();
            assert!(least_slope(&model) >= 0.0, "{name}: the link falls");
            learned += u64::from(model.link.is_learned());
            worst = worst.max(chosen / given);
            for (sum, x) in sums.iter_mut().zip([identity, given, chosen, seconds]) {
                *sum += x / seeds as f64;
            }
        }
        let [identity, given, chosen, seconds] = sums;
        println!(
            "{name:<22} {identity:>9.4} {given:>9.4} {chosen:>9.4} {:>13.2} {worst:>7.2} {:>15.1} {seconds:>8.2}",
            chosen / given,
            identity / chosen,
        );
        lines.push(json!({
            "link": name, "bounded": bounded, "seeds": seeds, "learned": learned,
            "identity": identity, "true_link": given, "default": chosen,
            "worst_ratio": worst, "seconds": seconds,
        }));
    }
    fs::create_dir_all(&out).unwrap_or_else(|error| panic!("{error}"));
    let text = serde_json::to_string_pretty(&lines).expect("numbers");
    fs::write(out.join("curved.json"), text + "\n").unwrap_or_else(|error| panic!("{error}"));
}
