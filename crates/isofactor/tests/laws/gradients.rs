//! Both gradients agree with finite differences of the objective.

use isofactor::{Factors, KernelFamily, KnownLink, Link, config::LossScale, passes::Entries};

use crate::sample::{
    SHAPE, at, factors, inner, link, moved, noise, objective, observations, space,
};

const FAMILIES: &[KernelFamily] = KernelFamily::ALL;

fn relative(a: f64, b: f64) -> f64 {
    (a - b).abs() / (1.0 + a.abs())
}

#[test]
fn the_factor_gradient_is_the_slope_of_the_objective() {
    let observations = observations(1);
    let entries = Entries::new(&observations);
    let mut links: Vec<Link> =
        FAMILIES.iter().map(|&family| Link::Learned(link(&space(family), 3))).collect();
    links.extend(KnownLink::NAMED.into_iter().map(|(_, known)| Link::Known(known)));
    for loss in [LossScale::Sum, LossScale::Mean] {
        let objective = objective(loss);
        for link in &links {
            let z = factors(2, 3);
            let point = at(&objective, &entries, &z, link);
            let gradient =
                objective.factor_gradient(&entries, &z, &z.imbalance(), point.pull.clone());
            for seed in 0..4 {
                let direction = factors(50 + seed, 3);
                let step = 1e-5;
                let value = |s: f64| at(&objective, &entries, &z.moved(s, &direction), link).value;
                let slope = (value(step).total() - value(-step).total()) / (2.0 * step);
                let gap = relative(gradient.inner(&direction), slope);
                assert!(gap < 1e-6, "{loss} {gap:e}");
            }
        }
    }
}

#[test]
fn each_single_factor_has_its_own_slope() {
    let observations = observations(7);
    let entries = Entries::new(&observations);
    let objective = objective(LossScale::Sum);
    let z = factors(8, 2);
    let link = Link::Learned(link(&space(KernelFamily::Gaussian), 9));
    let point = at(&objective, &entries, &z, &link);
    let gradient = objective.factor_gradient(&entries, &z, &z.imbalance(), point.pull.clone());
    let unit = |row: Option<usize>, column: Option<usize>| {
        let mut rows = vec![0.0; SHAPE.rows * 2];
        let mut columns = vec![0.0; SHAPE.columns * 2];
        row.into_iter().for_each(|i| rows[i] = 1.0);
        column.into_iter().for_each(|t| columns[t] = 1.0);
        Factors::from_vecs(2, rows, columns).unwrap()
    };
    let places = (0..18).map(|i| (Some(i), None)).chain((0..14).map(|t| (None, Some(t))));
    for (row, column) in places {
        let direction = unit(row, column);
        let value = |s: f64| at(&objective, &entries, &z.moved(s, &direction), &link).value.total();
        let slope = (value(1e-5) - value(-1e-5)) / 2e-5;
        assert!(relative(gradient.inner(&direction), slope) < 1e-6, "{row:?} {column:?}");
    }
}

#[test]
fn the_link_gradient_is_the_slope_of_the_objective() {
    let observations = observations(4);
    let entries = Entries::new(&observations);
    for loss in [LossScale::Sum, LossScale::Mean] {
        let objective = objective(loss);
        for &family in FAMILIES {
            let link = link(&space(family), 5);
            let z = factors(6, 2);
            let point = at(&objective, &entries, &z, &Link::Learned(link.clone()));
            let gradient = point.link_gradient(&objective, &link);
            for seed in 0..4 {
                let direction = noise(seed, link.weights().len());
                let value = |s: f64| {
                    let there = Link::Learned(moved(&link, s, &direction));
                    at(&objective, &entries, &z, &there).value.total()
                };
                let slope = (value(1e-5) - value(-1e-5)) / 2e-5;
                assert!(relative(inner(&gradient, &direction), slope) < 1e-6, "{family} {loss}");
            }
        }
    }
}

#[test]
fn along_a_step_of_the_link_the_objective_is_a_parabola() {
    let observations = observations(4);
    let entries = Entries::new(&observations);
    for loss in [LossScale::Sum, LossScale::Mean] {
        let objective = objective(loss);
        let link = link(&space(FAMILIES[0]), 5);
        let z = factors(6, 2);
        let point = at(&objective, &entries, &z, &Link::Learned(link.clone()));
        let gradient = point.link_gradient(&objective, &link);
        let step = noise(7, link.weights().len());
        let there = moved(&link, 1.0, &step);
        let gap = |&x: &f64| there.value_and_slope(x).0 - link.value_and_slope(x).0;
        let distance = point.scores.iter().map(|x| gap(x).powi(2)).sum();
        let bend = objective.link_bend(observations.len(), distance, inner(&step, &step));
        let expected = point.value.total() + inner(&gradient, &step) + bend;
        let reached = at(&objective, &entries, &z, &Link::Learned(there)).value.total();
        assert!(relative(reached, expected) < 1e-9, "{loss}");
    }
}

#[test]
fn the_link_gradient_evaluates_to_the_papers_sum_of_kernels() {
    // grad(x) = -2s sum_k g_k K(x_k, x) + alpha phi(x), without basis or table.
    let observations = observations(4);
    let entries = Entries::new(&observations);
    let objective = objective(LossScale::Sum);
    let space = space(KernelFamily::Gaussian);
    let link = link(&space, 5);
    let point = at(&objective, &entries, &factors(6, 2), &Link::Learned(link.clone()));
    let gradient = point.link_gradient(&objective, &link);
    for x in [-1.7, -0.3, 0.0, 0.9, 2.4] {
        let data: f64 = point
            .scores
            .iter()
            .zip(observations.values())
            .map(|(&score, y)| {
                let residual = y - link.value_and_slope(score).0;
                -2.0 * residual * space.kernel().value(score, x)
            })
            .sum();
        let direct = data + objective.link_penalty * link.value_and_slope(x).0;
        assert!((inner(&gradient, &space.coordinates(x)) - direct).abs() < 1e-8);
    }
}
