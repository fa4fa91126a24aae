//! Small problems to state laws on.

use std::sync::Arc;

use isofactor::{
    Entry, Factors, FitConfig, FitInput, FittedModel, Flow, Kernel, KernelFamily, KnownLink, Link,
    Monitor, Observations, Shape, TraceRow, Unwatched,
    config::{LinkChoice, LossScale},
    fit,
    link::{LearnedLink, LinkSpace},
    objective::{Objective, ObjectiveValue},
    passes::{Entries, Evaluated, Need},
};

/// The objective of every iterate.
#[derive(Default)]
pub struct Objectives(pub Vec<f64>);

impl Monitor for Objectives {
    fn iteration(&mut self, row: &TraceRow) -> Flow {
        self.0.push(row.objective);
        Flow::Continue
    }
}

/// Numbers between -1 and 1 that look random.
pub fn noise(seed: usize, count: usize) -> Vec<f64> {
    let mut state = seed as u64 ^ 0x9E37_79B9_7F4A_7C15;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
        })
        .collect()
}

pub const SHAPE: Shape = Shape { rows: 9, columns: 7 };

/// Entries with some pairs repeated and some missing.
pub fn observations(seed: usize) -> Observations {
    let values = noise(seed, 45);
    let entries: Vec<Entry> = (0..45)
        .map(|k| Entry { row: (k * 5) % 9, column: (k * k + k / 3) % 7, value: values[k] })
        .collect();
    Observations::try_new(SHAPE, &entries).unwrap()
}

pub fn factors(seed: usize, rank: usize) -> Factors {
    let rows = noise(seed, SHAPE.rows * rank);
    let columns = noise(seed + 100, SHAPE.columns * rank);
    Factors::from_vecs(rank, rows, columns).unwrap()
}

pub fn space(family: KernelFamily) -> Arc<LinkSpace> {
    let kernel = Kernel::try_new(family, 0.8).unwrap();
    Arc::new(LinkSpace::build(kernel, 3.0).unwrap())
}

/// A link made of a few kernel sections.
pub fn link(space: &Arc<LinkSpace>, seed: usize) -> LearnedLink {
    let mut weights = vec![0.0; space.dimension()];
    for (i, c) in noise(seed, 5).into_iter().enumerate() {
        let x = i as f64 - 2.0;
        for (w, psi) in weights.iter_mut().zip(space.coordinates(x)) {
            *w += c * psi;
        }
    }
    LearnedLink::new(space.clone(), weights)
}

pub fn objective(loss: LossScale) -> Objective {
    Objective { loss, link_penalty: 0.3, balance_penalty: 0.7 }
}

/// Scores, residuals and objective at a point.
pub struct Point {
    pub scores: Vec<f64>,
    /// From a pass made for it.
    pub pull: Factors,
    pub squares: f64,
    /// From a pass that counted scores.
    pub evaluated: Evaluated,
    pub value: ObjectiveValue,
}

impl Point {
    /// The gradient of the link at the point.
    pub fn link_gradient(&self, objective: &Objective, link: &LearnedLink) -> Vec<f64> {
        objective.link_gradient(self.scores.len(), self.evaluated.counts.as_ref().unwrap(), link)
    }
}

pub fn at(objective: &Objective, entries: &Entries<'_>, z: &Factors, link: &Link) -> Point {
    let mut scores = Vec::new();
    entries.scores(z, &mut scores);
    let mut evaluated = Evaluated::default();
    entries.evaluate(z, &scores, link, Need::Pull, &mut evaluated);
    let (pull, squares) = (evaluated.pull.take().unwrap(), evaluated.squares.unwrap());
    entries.evaluate(z, &scores, link, Need::Counts, &mut evaluated);
    let value = objective.value(entries, &z.imbalance(), link, squares);
    Point { scores, pull, squares, evaluated, value }
}

/// The link moved along a direction in coordinates.
pub fn moved(link: &LearnedLink, step: f64, direction: &[f64]) -> LearnedLink {
    let weights = link.weights().iter().zip(direction).map(|(w, d)| w + step * d).collect();
    LearnedLink::new(link.space().clone(), weights)
}

pub fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Models of both solvers on a panel that is half seen, with a row and a column without entries.
pub fn models() -> Vec<FittedModel> {
    let shape = Shape { rows: 41, columns: 31 };
    let noise = noise(3, shape.rows * shape.columns);
    let mut entries = Vec::new();
    for row in 0..shape.rows - 1 {
        for column in (0..shape.columns - 1).filter(|column| (row * 3 + column * 5) % 4 < 2) {
            let (a, b) = (row as f64 / 10.0 - 2.0, column as f64 / 8.0 - 1.9);
            let score = a * b + (2.0 * a).sin() * (3.0 * b).cos() + 0.4 * b;
            let value = score.tanh() + 0.02 * noise[row * shape.columns + column];
            entries.push(Entry { row, column, value });
        }
    }
    let seen = Observations::try_new(shape, &entries).unwrap();
    let rank = Some(3);
    let configs = [
        FitConfig { rank, link: LinkChoice::Known(KnownLink::Identity), ..FitConfig::default() },
        FitConfig { rank, link: LinkChoice::Learned, ..FitConfig::default() },
        FitConfig { rank, iterations: 10, ..FitConfig::bcd() },
    ];
    let fit = |config: &FitConfig| fit(config, &FitInput::new(&seen), &mut Unwatched).unwrap();
    configs.iter().map(fit).collect()
}
