//! Backtracking never raises the objective, in any order, with any constraint.

use isofactor::{
    Factors, FitConfig, FitInput, Flow, Monitor, Stop, TraceRow,
    config::{LinkChoice, LossScale, Order},
    fit,
};

use crate::sample::{Objectives, factors, observations};

fn trace(config: &FitConfig) -> Vec<f64> {
    let mut seen = Objectives::default();
    fit(config, &FitInput::new(&observations(2)), &mut seen).unwrap();
    seen.0
}

#[test]
fn the_objective_never_rises_under_backtracking() {
    for order in [Order::FactorsFirst, Order::LinkFirst] {
        for loss in [LossScale::Sum, LossScale::Mean] {
            for link in ["learned", "identity", "sigmoid", "softplus"] {
                for project in ["off", "auto", "0.6"] {
                    let config = FitConfig {
                        rank: Some(2),
                        iterations: 60,
                        order,
                        loss,
                        link: link.parse::<LinkChoice>().unwrap(),
                        project_factors: project.parse().unwrap(),
                        monotone: "off".parse().unwrap(),
                        ..FitConfig::bcd()
                    };
                    let objectives = trace(&config);
                    assert!(
                        objectives.windows(2).all(|w| w[1] <= w[0]),
                        "{order} {loss} {link} {project}"
                    );
                    assert!(objectives.last().unwrap() < &objectives[0]);
                }
            }
        }
    }
}

#[test]
fn once_inside_the_slope_bounds_the_objective_never_rises() {
    let config = FitConfig {
        rank: Some(2),
        iterations: 60,
        project_factors: "auto".parse().unwrap(),
        monotone: "0.01,5".parse().unwrap(),
        ..FitConfig::bcd()
    };
    let objectives = trace(&config);
    assert!(objectives[1..].windows(2).all(|w| w[1] <= w[0]));
}

#[test]
fn a_domain_that_grows_under_slope_bounds_does_not_raise_the_objective() {
    for seed in 0..6 {
        let seen = observations(seed);
        let config = FitConfig {
            rank: Some(2),
            iterations: 60,
            bandwidth: "0.3".parse().unwrap(),
            monotone: "0,inf".parse().unwrap(),
            ..FitConfig::bcd()
        };
        // Scores that are small at first, and with them the domain: three times the largest.
        let [rows, columns] = [factors(seed, 2).rows(), factors(seed, 2).columns()]
            .map(|side| side.into_iter().map(|z| 0.2 * z).collect());
        let start = Factors::from_vecs(2, rows, columns).unwrap();
        let largest = seen.iter().map(|entry| start.score(entry.row, entry.column).abs());
        let first = 3.0 * largest.fold(0.0, f64::max);
        let mut objectives = Objectives::default();
        let input = FitInput { start: Some(&start), ..FitInput::new(&seen) };
        let model = fit(&config, &input, &mut objectives).unwrap();
        let half_width = model.link.learned().unwrap().space().half_width();
        assert!(half_width > 1.4 * first, "{seed}: {first} and {half_width}");
        assert!(objectives.0[1..].windows(2).all(|w| w[1] <= w[0]), "{seed}");
    }
}

#[test]
fn steps_of_the_theory_are_tiny_and_still_descend() {
    let config = FitConfig {
        rank: Some(2),
        iterations: 20,
        loss: LossScale::Mean,
        link_penalty: 1.0,
        factor_step: "theory".parse().unwrap(),
        link_step: "theory".parse().unwrap(),
        project_factors: "auto".parse().unwrap(),
        monotone: "0.1,1".parse().unwrap(),
        ..FitConfig::bcd()
    };
    let objectives = trace(&config);
    assert!(objectives[1..].windows(2).all(|w| w[1] <= w[0] + 1e-12));
}

#[test]
fn fixed_steps_make_every_iteration_asked_for() {
    let config = FitConfig {
        rank: Some(2),
        iterations: 37,
        factor_step: "1e-9".parse().unwrap(),
        link_step: "1e-9".parse().unwrap(),
        ..FitConfig::bcd()
    };
    assert_eq!(trace(&config).len(), 38);
}

#[test]
fn the_link_is_searched_for_also_where_a_given_step_raised_the_objective() {
    #[derive(Default)]
    struct Seen(Vec<(f64, f64)>);
    impl Monitor for Seen {
        fn iteration(&mut self, row: &TraceRow) -> Flow {
            self.0.push((row.objective, row.link_norm.unwrap()));
            Flow::Continue
        }
    }
    let config = FitConfig {
        rank: Some(2),
        iterations: 12,
        factor_step: "0.2".parse().unwrap(),
        project_factors: "1.2".parse().unwrap(),
        monotone: "off".parse().unwrap(),
        ..FitConfig::bcd()
    };
    let mut seen = Seen::default();
    fit(&config, &FitInput::new(&observations(2)), &mut seen).unwrap();
    assert!(seen.0.windows(2).any(|w| w[1].0 > w[0].0), "{:?}", seen.0);
    assert!(seen.0.windows(2).all(|w| w[1].1 != w[0].1), "{:?}", seen.0);
}

#[test]
fn a_monitor_can_stop_a_fit_and_keep_what_there_is() {
    struct After(usize);
    impl Monitor for After {
        fn iteration(&mut self, row: &TraceRow) -> Flow {
            if row.iteration >= self.0 { Flow::Cancel } else { Flow::Continue }
        }
    }
    let config = FitConfig { rank: Some(2), ..FitConfig::bcd() };
    let model = fit(&config, &FitInput::new(&observations(2)), &mut After(4)).unwrap();
    assert_eq!(model.provenance.stop, Stop::Cancelled);
    assert_eq!(model.provenance.iterations, 4);
}

#[test]
fn steps_far_too_long_are_reported_as_divergence() {
    let config = FitConfig {
        rank: Some(2),
        link: "cubic".parse().unwrap(),
        factor_step: "1e6".parse().unwrap(),
        ..FitConfig::bcd()
    };
    let error = fit(&config, &FitInput::new(&observations(2)), &mut isofactor::Unwatched);
    let message = error.unwrap_err().to_string();
    assert!(message.contains("diverged at iteration"), "{message}");
}

#[test]
fn a_fit_goes_on_from_an_earlier_model_where_that_one_ended() {
    let seen = observations(2);
    let config = FitConfig { rank: Some(2), iterations: 25, ..FitConfig::bcd() };
    let mut before = Objectives::default();
    let model = fit(&config, &FitInput::new(&seen), &mut before).unwrap();
    let input = FitInput {
        start: Some(&model.factors),
        start_link: model.link.learned(),
        ..FitInput::new(&seen)
    };
    let mut after = Objectives::default();
    fit(&config, &input, &mut after).unwrap();
    let (ended, begun) = (before.0.last().unwrap(), after.0[0]);
    assert!((ended - begun).abs() <= 1e-12 * ended, "{ended} then {begun}");
    assert!(after.0.windows(2).all(|w| w[1] <= w[0]));
    assert!(after.0.last().unwrap() < ended);
}
