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

/// Many columns with a few entries each, beside few rows; or the other way round.
fn uneven(rows_are_few: bool) -> Observations {
    let (few, many) = (9, 300);
    let error = noise(5, few * many);
    let entries: Vec<_> = (0..many)
        .flat_map(|t| (0..1 + t % few).map(move |i| ((i * 5 + t) % few, t)))
        .map(|(i, t)| {
            let score = (i as f64).sin() * (0.3 * t as f64).cos() + 0.2 * (i * t) as f64 % 1.0;
            let value = (3.0 * score).tanh() + 0.1 * error[i * many + t];
            let (row, column) = if rows_are_few { (i, t) } else { (t, i) };
            Entry { row, column, value }
        })
        .collect();
    let (rows, columns) = if rows_are_few { (few, many) } else { (many, few) };
    Observations::try_new(Shape { rows, columns }, &entries).unwrap()
}

#[test]
fn few_rows_with_many_columns_are_as_good_as_few_columns_with_many_rows() {
    for rows_are_few in [true, false] {
        let observations = uneven(rows_are_few);
        let short = lbfgs(5, 150);
        let long = FitConfig { iterations: 1500, solver: SolverKind::Bcd, ..short.clone() };
        let (ours, theirs) = (run(&short, &observations).1, run(&long, &observations).1);
        let rest = &ours[ours.len().min(FIRST + 1)..];
        assert!(rest.windows(2).all(|w| w[1] <= w[0]), "{rest:?}");
        let (ours, theirs) = (ours.last().unwrap(), theirs.last().unwrap());
        assert!(ours <= theirs, "{rows_are_few} {ours} {theirs}");
    }
}

#[test]
fn threads_change_no_digit_where_columns_have_few_entries() {
    let observations = uneven(true);
    let run = |threads| {
        let input = FitInput { threads, ..FitInput::new(&observations) };
        fit(&lbfgs(6, 60), &input, &mut Objectives::default()).unwrap()
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one.factors, three.factors);
    assert_eq!(one.provenance.train.rmse.to_bits(), three.provenance.train.rmse.to_bits());
}
