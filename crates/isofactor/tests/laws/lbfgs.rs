//! The solver `lbfgs`: Algorithm 1's objective and constraints, sooner.

use isofactor::{
    Entry, FitConfig, FitInput, FittedModel, KnownLink, Observations, Shape,
    config::{LossScale, SolverKind},
    fit,
    init::random_factors,
};

use crate::sample::{Objectives, noise, observations};

fn run(config: &FitConfig, observations: &Observations) -> (FittedModel, Vec<f64>) {
    let mut seen = Objectives::default();
    let model = fit(config, &FitInput::new(observations), &mut seen).unwrap();
    (model, seen.0)
}

/// How many iterations come first that are those of Algorithm 1.
const FIRST: usize = 20;

fn lbfgs(rank: usize, iterations: usize) -> FitConfig {
    let rank = Some(rank);
    FitConfig { rank, iterations, tolerance: 0.0, solver: SolverKind::Lbfgs, ..FitConfig::bcd() }
}

/// A bent panel with some noise, two thirds of it observed.
fn panel(seed: usize, link: KnownLink) -> Observations {
    let shape = Shape { rows: 60, columns: 40 };
    let z = random_factors(shape, 2, seed as u64);
    let (chance, error) = (noise(seed, 2400), noise(seed + 1, 2400));
    let entries: Vec<_> = (0..2400)
        .filter(|&k| chance[k] < 0.3)
        .map(|k| Entry {
            row: k / 40,
            column: k % 40,
            value: link.value_and_slope(z.score(k / 40, k % 40)).0 + 0.05 * error[k],
        })
        .collect();
    Observations::try_new(shape, &entries).unwrap()
}

#[test]
fn the_objective_never_rises() {
    for loss in [LossScale::Sum, LossScale::Mean] {
        for link in ["learned", "identity", "sigmoid"] {
            for project in ["off", "auto", "0.6"] {
                for monotone in ["off", "0,inf", "0.01,5"] {
                    let config = FitConfig {
                        loss,
                        link: link.parse().unwrap(),
                        project_factors: project.parse().unwrap(),
                        monotone: monotone.parse().unwrap(),
                        ..lbfgs(2, 80)
                    };
                    let (_, objectives) = run(&config, &observations(2));
                    let case = format!("{loss} {link} {project} {monotone}");
                    assert!(objectives.last().unwrap() < &objectives[1], "{case}");
                    // Before, Algorithm 1 may still have to get inside the slope bounds.
                    let rest = &objectives[objectives.len().min(FIRST + 1)..];
                    assert!(rest.windows(2).all(|w| w[1] <= w[0]), "{case} {rest:?}");
                }
            }
        }
    }
}

#[test]
fn it_comes_as_low_as_algorithm_1_in_a_tenth_of_the_iterations() {
    for (seed, link) in [(1, KnownLink::Sigmoid), (2, KnownLink::Tanh), (3, KnownLink::Identity)] {
        let observations = panel(seed, link.clone());
        for project in ["off", "auto"] {
            let project_factors = project.parse().unwrap();
            let short = FitConfig { project_factors, ..lbfgs(2, 200) };
            let long = FitConfig { iterations: 2000, solver: SolverKind::Bcd, ..short.clone() };
            let (ours, theirs) = (run(&short, &observations).1, run(&long, &observations).1);
            let (ours, theirs) = (ours.last().unwrap(), theirs.last().unwrap());
            assert!(ours <= &(theirs * (1.0 + 1e-3)), "{link:?} {project} {ours} {theirs}");
        }
    }
}

#[test]
fn its_constraints_are_those_of_algorithm_1() {
    let observations = panel(4, KnownLink::Sigmoid);
    let config = FitConfig {
        project_factors: "0.7".parse().unwrap(),
        monotone: "0.05,2".parse().unwrap(),
        ..lbfgs(2, 120)
    };
    let (model, _) = run(&config, &observations);
    let longest = model.factors.longest_row();
    assert!((0.699..=0.7 + 1e-12).contains(&longest), "not at the radius: {longest}");
    let (low, high) = model.link.learned().unwrap().slope_range();
    assert!(low >= 0.05 - 1e-6 && high <= 2.0 + 1e-6, "{low} {high}");
}
