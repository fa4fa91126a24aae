//! Proposition 1 and theorem 1: every iterate against the bound from the one before.

use isofactor::{
    FitConfig, FitInput, Kernel, KernelFamily, KnownLink, Observations, Shape, Truth,
    config::{
        Bandwidth, LinkChoice, LossScale, Monotone, ProjectFactors, Start, StartLink, StepRule,
    },
    link::SlopeBounds,
    theory::{Circumstances, Constants},
};
use isofactor_report::{Axis, Chart, Column, Figure, Series, Table, number};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    made::{MadePanel, Noise, Observed, Panel},
    reproduce::{
        desk::Watch,
        error::Result,
        findings::{Data, Findings, Verdict, picture},
        made_fit::perturbed,
        statistics::log_places,
        study::Study,
    },
};

/// Rounding that a bound may be missed by, as a share of it.
const ROUNDING: f64 = 1e-9;
/// How well `E` is known: the slope bounds of a step and of the best link agree to some 1e-5 in norm.
const PRECISION: f64 = 1e-10;
/// Points of a curve that are drawn.
const DRAWN: usize = 240;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Settings {
    size: usize,
    rank: usize,
    spread: f64,
    bandwidth: f64,
    /// On the scale of the mean.
    link_penalty: f64,
    balance_penalty: f64,
    iterations: usize,
    /// `|Z_0 - Z*|_F^2` as a share of what the neighbourhood of the theory allows.
    neighbourhood: f64,
    seeds: Vec<u64>,
}

pub(super) struct Contraction(pub Settings);

/// One iterate with the bounds on the next.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Step {
    iteration: usize,
    /// `D_t`, `E_t`, `V_t`
    here: [f64; 3],
    /// Upper bounds on them from the iterate before; none for the first.
    bound: Option<[f64; 3]>,
    /// `rho^t V_0 + C_phi sum_i rho^(t-i-1) chi^2(Z_i)`
    theorem: f64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Found {
    steps: Vec<Step>,
    constants: Constants,
}

impl Study for Contraction {
    type Case = u64;
    type Found = Found;

    fn key(&self) -> String {
        json!(self.0).to_string()
    }

    fn cases(&self) -> Vec<u64> {
        self.0.seeds.clone()
    }

    fn name(&self, seed: &u64) -> String {
        format!("seed-{seed}")
    }

    fn cost(&self, _: &u64) -> f64 {
        // What is tracked at every iteration costs as much as some thousand entries.
        ((self.0.size * self.0.size) as f64 + 5e3) * self.0.iterations as f64
    }

    fn run(&self, &seed: &u64, watch: &mut Watch<'_>) -> Result<Found> {
        let Panel { observations, truth } = self.panel(seed)?;
        let radius = truth.factors().radius();
        let bounds = truth.slopes(radius * radius);
        let start = {
            let epsilon = bounds.low.powi(2) / (20.0 * bounds.high.powi(2));
            let smallest = truth.singular_values().last().copied().unwrap_or(0.0);
            let allowed = (self.0.neighbourhood * epsilon * smallest).sqrt();
            perturbed(&truth, allowed / truth.factors().norm(), seed)
        };
        let input =
            FitInput { start: Some(&start), truth: Some(&truth), ..FitInput::new(&observations) };
        let config = self.config(radius, bounds, seed);
        let (_, first) = watch.fit(&FitConfig { iterations: 0, ..config.clone() }, &input)?;
        let start_objective = first.first().map_or(f64::NAN, |row| row.objective);
        let constants = self.constants(&truth, &observations, radius, bounds, start_objective)?;
        let config = FitConfig {
            factor_step: StepRule::Fixed(constants.factor_step),
            link_step: StepRule::Fixed(constants.link_step),
            ..config
        };
        let (_, trace) = watch.fit(&config, &input)?;
        let iterates = trace.iter().filter_map(|row| {
            let truth = row.truth?;
            Some((row.iteration, truth.factor_distance.powi(2), truth.lag?, truth.bias?))
        });
        // The first link is the one before any projection: the theory speaks of those after.
        let steps = follow(&constants, iterates.skip(1));
        Ok(Found { steps, constants })
    }

    fn conclude(&self, found: Vec<(u64, Found)>) -> Result<Findings> {
        let steps = || found.iter().flat_map(|(_, f)| &f.steps);
        let beyond = |value: f64, bound: f64| value > bound * (1.0 + ROUNDING) + PRECISION;
        let missed = |which: usize| {
            steps().filter(|s| s.bound.is_some_and(|b| beyond(s.here[which], b[which]))).count()
        };
        let missed: [usize; 3] = [0, 1, 2].map(missed);
        let theorem = steps().filter(|s| beyond(s.here[2], s.theorem)).count();
        let counted = steps().filter(|s| s.bound.is_some()).count();
        let holds = missed.iter().sum::<usize>() + theorem == 0 && counted > 0;

        let mut bounds = Table::new(
            "Iterations at which a bound is missed.",
            vec![Column::text("Bound"), Column::number("Iterations"), Column::number("Missed")],
        );
        let names = [
            "D, from the iterate before",
            "E, from the iterate before",
            "V, from the iterate before",
        ];
        for (name, missed) in names.into_iter().zip(missed) {
            bounds = bounds.row([name.to_owned(), counted.to_string(), missed.to_string()]);
        }
        bounds = bounds.row(["V, theorem 1".to_owned(), counted.to_string(), theorem.to_string()]);
        let mut constants = Table::new(
            "The constants of the first seed's panel.",
            vec![Column::text("Constant"), Column::number("Value")],
        );
        let mut data = Data::new(
            "iterations",
            ["seed", "iteration", "d", "e", "v", "bound_d", "bound_e", "bound_v", "theorem"],
        );
        let mut figures = Vec::new();
        if let Some((_, first)) = found.first() {
            for (name, value) in named(&first.constants) {
                constants = constants.row([name.to_owned(), number(value)]);
            }
            figures = charts(&first.steps);
        }
        for (seed, f) in &found {
            for place in log_places(f.steps.len(), DRAWN) {
                let s = &f.steps[place];
                let bound = s.bound.unwrap_or([f64::NAN; 3]);
                let numbers = s.here.into_iter().chain(bound).chain([s.theorem]);
                data.push([*seed as f64, s.iteration as f64].into_iter().chain(numbers));
            }
        }
        Ok(Findings {
            verdict: Verdict::of(holds),
            sentence: format!(
                "Over {} seeds and {counted} iterations the bounds on D, E and V are missed {}, {} and {} \
                 times, that of theorem 1 {theorem} times.",
                found.len(),
                missed[0],
                missed[1],
                missed[2],
            ),
            numbers: json!({ "iterations": counted, "missed": missed, "missed_theorem": theorem }),
            tables: vec![bounds, constants],
            figures,
            data: vec![data],
        })
    }
}

impl Contraction {
    fn panel(&self, seed: u64) -> Result<Panel> {
        let made = MadePanel {
            shape: Shape { rows: self.0.size, columns: self.0.size },
            rank: self.0.rank,
            observed: Observed::All,
            link: KnownLink::Sigmoid,
            noise: Noise::NONE,
            condition: 1.0,
            spread: self.0.spread,
            seed,
        };
        Ok(made.make()?)
    }

    fn config(&self, radius: f64, bounds: SlopeBounds, seed: u64) -> FitConfig {
        FitConfig {
            rank: Some(self.0.rank),
            link: LinkChoice::Learned,
            loss: LossScale::Mean,
            bandwidth: Bandwidth::Fixed(self.0.bandwidth),
            link_penalty: self.0.link_penalty,
            balance_penalty: self.0.balance_penalty,
            iterations: self.0.iterations,
            tolerance: 0.0,
            start: Start::Spectral,
            start_link: StartLink::Identity,
            project_factors: ProjectFactors::Radius(radius),
            monotone: Monotone::Within(bounds),
            seed,
            ..FitConfig::bcd()
        }
    }

    fn constants(
        &self,
        truth: &Truth,
        observations: &Observations,
        radius: f64,
        bounds: SlopeBounds,
        start_objective: f64,
    ) -> Result<Constants> {
        let shape = observations.shape();
        let values = truth.singular_values();
        let ends = (values.first(), values.last());
        Ok(Constants::compute(&Circumstances {
            shape,
            observed: observations.len(),
            rank: self.0.rank,
            singular_values: (
                ends.0.copied().unwrap_or(f64::NAN),
                ends.1.copied().unwrap_or(f64::NAN),
            ),
            incoherence: truth.factors().incoherence(),
            largest_norm: ((shape.rows + shape.columns) as f64).sqrt() * radius,
            kernel: Kernel::try_new(KernelFamily::Gaussian, self.0.bandwidth)?,
            bounds,
            link_penalty: self.0.link_penalty,
            balance_penalty: self.0.balance_penalty,
            loss: LossScale::Mean,
            largest_value: observations.values().iter().fold(0.0f64, |a, v| a.max(v.abs())),
            start_objective,
        }))
    }
}

/// Iterates (number, D, E, chi) with the bounds that each puts on the next.
fn follow(
    constants: &Constants,
    iterates: impl Iterator<Item = (usize, f64, f64, f64)>,
) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut before: Option<(f64, f64, f64, f64)> = None;
    for (iteration, d, e, chi) in iterates {
        let v = e + constants.gamma * d;
        let bound = before.map(|(d, e, chi, _)| {
            let next = constants.next_bounds(constants.factor_step, d, e, chi);
            [next.d, next.e, next.v]
        });
        let theorem = before.map_or(v, |(_, _, chi, theorem)| {
            theorem - constants.contraction * theorem + constants.c_phi * chi.powi(2)
        });
        steps.push(Step { iteration, here: [d, e, v], bound, theorem });
        before = Some((d, e, chi, theorem));
    }
    steps
}

fn named(c: &Constants) -> [(&'static str, f64); 9] {
    [
        ("α, on the scale of the mean", c.alpha),
        ("ε, the neighbourhood", c.neighbourhood),
        ("μ_Z", c.mu_z),
        ("L_{Z→φ}", c.l_z_to_phi),
        ("γ", c.gamma),
        ("1 − ρ", c.contraction),
        ("C_φ", c.c_phi),
        ("link step η", c.link_step),
        ("factor step ζ", c.factor_step),
    ]
}

fn charts(steps: &[Step]) -> Vec<(String, Figure)> {
    let places = log_places(steps.len(), DRAWN);
    let drawn = |pick: &dyn Fn(&Step) -> Option<f64>| -> Vec<(f64, f64)> {
        let kept = places.iter().map(|place| &steps[*place]);
        kept.filter_map(|s| pick(s).map(|y| (s.iteration as f64, y))).collect()
    };
    let chart = |label: &str, which: usize| {
        Chart::new(Axis::log("Iteration"), Axis::log(label))
            .with(Series::line("iterates", drawn(&|s| Some(s.here[which]))).solid())
            .with(Series::line("bound", drawn(&|s| s.bound.map(|b| b[which]))).dashed())
    };
    let v = chart("V = E + γ D", 2).with(Series::line("theorem 1", drawn(&|s| Some(s.theorem))));
    vec![
        picture("d", "D and its bound from the iterate before.", chart("D = ‖Δ‖²", 0)),
        picture("e", "E and its bound from the iterate before.", chart("E = ‖φ − φ♯‖²", 1)),
        picture("v", "V, its bound from the iterate before, and that of theorem 1.", v),
    ]
}
