//! Lemma 1, lemma 2 and theorem 3 as inequalities on random inputs.

use isofactor::{
    KernelFamily, Link, Observations,
    config::LossScale,
    link::{Kernel, LearnedLink, LinkSpace},
    objective::Objective,
    passes::Entries,
    steps::project::{keeps_to, project_link, within},
    theory::{residual_bound, smallest_gram_eigenvalue},
};
use std::sync::Arc;

use crate::sample::{at, factors, inner, link, noise, objective, observations, space};

#[test]
fn the_objective_is_strongly_convex_and_smooth_in_the_link() {
    let observations = observations(1);
    let entries = Entries::new(&observations);
    let objective = Objective { link_penalty: 0.05, ..objective(LossScale::Mean) };
    let alpha = objective.link_penalty;
    let smooth = (8.0 * Kernel::BOUND.powi(2) + 2.0 * alpha * alpha).sqrt();
    let space = space(KernelFamily::Gaussian);
    for seed in 0..30 {
        let z = factors(seed, 3);
        let (one, two) = (link(&space, seed), link(&space, seed + 77));
        let point = at(&objective, &entries, &z, &Link::Learned(two.clone()));
        let other = at(&objective, &entries, &z, &Link::Learned(one.clone()));
        let gradient = point.link_gradient(&objective, &two);
        let difference: Vec<f64> =
            one.weights().iter().zip(two.weights()).map(|(a, b)| a - b).collect();
        let square = inner(&difference, &difference);
        let rise = other.value.total() - point.value.total() - inner(&gradient, &difference);
        assert!(rise >= alpha / 2.0 * square * (1.0 - 1e-9), "lemma 1 at {seed}");
        assert!(rise <= smooth * square * (1.0 + 1e-9), "lemma 2 at {seed}");
    }
}

/// Noiseless values of a true link in the space, at the scores of other factors than those fitted.
fn noiseless(space: &Arc<LinkSpace>, seed: usize) -> (Observations, f64) {
    let truth = link(space, seed);
    let z = factors(seed + 500, 2);
    let pattern = observations(seed);
    let entries: Vec<isofactor::Entry> = pattern
        .iter()
        .map(|e| isofactor::Entry { value: truth.value_and_slope(z.score(e.row, e.column)).0, ..e })
        .collect();
    (Observations::try_new(pattern.shape(), &entries).unwrap(), truth.norm())
}

#[test]
fn residuals_at_a_stationary_link_stay_below_theorem_threes_bound() {
    let space = space(KernelFamily::Gaussian);
    for loss in [LossScale::Sum, LossScale::Mean] {
        for (seed, alpha) in [(1, 1e-3), (2, 0.1), (3, 5.0)] {
            let (observations, norm) = noiseless(&space, seed);
            let entries = Entries::new(&observations);
            let objective = Objective { link_penalty: alpha, ..objective(loss) };
            let z = factors(seed, 2);
            let mut scores = Vec::new();
            entries.scores(&z, &mut scores);
            let best = objective
                .best_link(&entries, &scores, observations.values(), &space, None)
                .unwrap();
            let stationary = LearnedLink::new(space.clone(), best);
            let point = at(&objective, &entries, &z, &Link::Learned(stationary));
            let rmse = (point.squares / observations.len() as f64).sqrt();
            let smallest = smallest_gram_eigenvalue(space.kernel(), &scores).unwrap();
            let bound = residual_bound(alpha, objective.weight(observations.len()), smallest, norm);
            assert!(rmse <= bound, "{loss} {rmse} above {bound}");
        }
    }
}

#[test]
fn with_few_well_separated_scores_theorem_threes_bound_is_sharp_enough_to_bite() {
    // Two by two with scores far apart: K is nearly the identity, lambda_min nearly 1.
    let kernel = Kernel::try_new(KernelFamily::Gaussian, 0.3).unwrap();
    let space = Arc::new(LinkSpace::build(kernel, 6.0).unwrap());
    let shape = isofactor::Shape { rows: 2, columns: 2 };
    let z = isofactor::Factors::from_vecs(1, vec![1.0, -2.5], vec![2.0, -0.3]).unwrap();
    let truth = link(&space, 4);
    let observations =
        Observations::complete(shape, |i, t| truth.value_and_slope(z.score(i, t)).0).unwrap();
    let entries = Entries::new(&observations);
    let scores: Vec<f64> = observations.iter().map(|e| z.score(e.row, e.column)).collect();
    let smallest = smallest_gram_eigenvalue(kernel, &scores).unwrap();
    assert!(smallest > 0.5);
    for alpha in [1e-3, 0.1, 1.0] {
        let objective = Objective { link_penalty: alpha, ..objective(LossScale::Sum) };
        let best =
            objective.best_link(&entries, &scores, observations.values(), &space, None).unwrap();
        let fitted = Link::Learned(LearnedLink::new(space.clone(), best));
        let point = at(&objective, &entries, &z, &fitted);
        let rmse = (point.squares / 4.0).sqrt();
        let bound = residual_bound(alpha, 1.0, smallest, truth.norm());
        assert!(rmse <= bound && bound < truth.norm(), "{rmse} {bound}");
    }
}

#[test]
fn the_best_link_has_no_gradient_and_nothing_near_it_is_better() {
    let observations = observations(3);
    let entries = Entries::new(&observations);
    for loss in [LossScale::Sum, LossScale::Mean] {
        let objective = objective(loss);
        let space = space(KernelFamily::Gaussian);
        let z = factors(4, 2);
        let mut scores = Vec::new();
        entries.scores(&z, &mut scores);
        let values = observations.values();
        let best = objective.best_link(&entries, &scores, values, &space, None).unwrap();
        let best = LearnedLink::new(space.clone(), best);
        let point = at(&objective, &entries, &z, &Link::Learned(best.clone()));
        let gradient = point.link_gradient(&objective, &best);
        // Beside the sums that cancel out in it.
        let sums = 2.0 * objective.weight(values.len()) * values.len() as f64 * best.norm();
        assert!(inner(&gradient, &gradient).sqrt() < 1e-10 * sums);
        for seed in 0..10 {
            let nearby = crate::sample::moved(&best, 1e-2, &noise(seed, best.weights().len()));
            let value = at(&objective, &entries, &z, &Link::Learned(nearby)).value.total();
            assert!(value > point.value.total());
        }
    }
}

#[test]
fn the_best_link_within_slope_bounds_beats_every_feasible_neighbour() {
    let observations = observations(3);
    let entries = Entries::new(&observations);
    let objective = objective(LossScale::Sum);
    let space = space(KernelFamily::Gaussian);
    let bounds = isofactor::link::SlopeBounds { low: 0.05, high: 0.6 };
    let z = factors(4, 2);
    let mut scores = Vec::new();
    entries.scores(&z, &mut scores);
    let values = observations.values();
    let best = within(bounds, &mut Default::default(), |bounds, _| {
        let best = objective.best_link(&entries, &scores, values, &space, Some(bounds))?;
        Ok(LearnedLink::new(space.clone(), best))
    });
    let best = best.unwrap();
    assert!(keeps_to(&best, bounds));
    let value = at(&objective, &entries, &z, &Link::Learned(best.clone())).value.total();
    for seed in 0..10 {
        let nearby = crate::sample::moved(&best, 1e-2, &noise(seed, best.weights().len()));
        let mut active = Default::default();
        let feasible = project_link(nearby, bounds, &mut active).unwrap();
        let other = at(&objective, &entries, &z, &Link::Learned(feasible)).value.total();
        // Bounds tightened against bulges between nodes cost some parts in a hundred thousand.
        assert!(other >= value * (1.0 - 1e-4), "{other} below {value}");
    }
}
