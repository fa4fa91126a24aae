//! What must not change: the objective under rotation, the fit under another number of threads.

use isofactor::{
    Entry, Factors, FitConfig, FitInput, KernelFamily, Link, Observations, Shape, Unwatched,
    config::{LossScale, SolverKind},
    fit,
    passes::Entries,
};

use crate::sample::{at, factors, link, noise, objective, observations, space};

#[test]
fn validation_entries_of_another_shape_are_refused() {
    let train = observations(1);
    let other = Shape { rows: 2, columns: 2 };
    let other = Observations::complete(other, |i, t| (i + t) as f64).unwrap();
    for config in [FitConfig::default(), FitConfig::bcd()] {
        let input = FitInput { validation: Some(&other), ..FitInput::new(&train) };
        let refused = fit(&config, &input, &mut Unwatched).unwrap_err().to_string();
        assert!(refused.contains("2 x 2"), "{refused}");
    }
}

fn rotated(z: &Factors, angle: f64) -> Factors {
    let (s, c) = angle.sin_cos();
    let turn = |side: &[f64]| {
        side.chunks(2).flat_map(|p| [c * p[0] - s * p[1], s * p[0] + c * p[1]]).collect()
    };
    Factors::from_vecs(2, turn(&z.rows()), turn(&z.columns())).unwrap()
}

#[test]
fn rotating_the_factors_changes_nothing() {
    let observations = observations(1);
    let entries = Entries::new(&observations);
    let objective = objective(LossScale::Sum);
    let link = Link::Learned(link(&space(KernelFamily::Gaussian), 2));
    let z = factors(3, 2);
    let before = at(&objective, &entries, &z, &link).value;
    for angle in [0.3, 1.9, 4.0] {
        let after = at(&objective, &entries, &rotated(&z, angle), &link).value;
        assert!((after.total() - before.total()).abs() < 1e-12 * before.total());
        assert!((after.balance - before.balance).abs() < 1e-12 * before.balance);
    }
}

#[test]
fn stretching_one_side_against_the_other_changes_the_balance_term_alone() {
    let observations = observations(1);
    let entries = Entries::new(&observations);
    let objective = objective(LossScale::Sum);
    let link = Link::Learned(link(&space(KernelFamily::Gaussian), 2));
    let z = factors(3, 2);
    let rows = z.rows().iter().map(|x| 2.0 * x).collect();
    let columns = z.columns().iter().map(|x| 0.5 * x).collect();
    let stretched = Factors::from_vecs(2, rows, columns).unwrap();
    let (before, after) = (
        at(&objective, &entries, &z, &link).value,
        at(&objective, &entries, &stretched, &link).value,
    );
    assert!((after.data - before.data).abs() < 1e-12 * before.data);
    assert!(after.balance > before.balance);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // Large enough for several blocks of entries.
    let shape = Shape { rows: 300, columns: 200 };
    let values = noise(5, 45_000);
    let entries: Vec<Entry> = values
        .iter()
        .enumerate()
        .map(|(k, &v)| Entry { row: (k * 7) % 300, column: (k * 13 + k / 300) % 200, value: v })
        .collect();
    let observations = Observations::try_new(shape, &entries).unwrap();
    let bcd = FitConfig {
        rank: Some(3),
        iterations: 6,
        monotone: "0,inf".parse().unwrap(),
        ..FitConfig::bcd()
    };
    let lbfgs = FitConfig { iterations: 30, solver: SolverKind::Lbfgs, ..bcd.clone() };
    let free = FitConfig { monotone: "off".parse().unwrap(), ..bcd.clone() };
    let free_lbfgs = FitConfig { monotone: "off".parse().unwrap(), ..lbfgs.clone() };
    let run = |config: &FitConfig, threads| {
        let input = FitInput { threads, ..FitInput::new(&observations) };
        let model = fit(config, &input, &mut Unwatched).unwrap();
        let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let weights = model.link.learned().unwrap().weights();
        (bits(&model.factors.rows()), bits(&model.factors.columns()), bits(weights))
    };
    for config in [bcd, lbfgs, free, free_lbfgs] {
        let one = run(&config, 1);
        assert_eq!(one, run(&config, 2));
        assert_eq!(one, run(&config, 3));
    }
}
