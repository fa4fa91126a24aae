//! The core against a plain implementation that keeps every representer centre.

use isofactor::{
    FitConfig, FitInput, Flow, Monitor, TraceRow,
    config::{Bandwidth, LinkChoice, LossScale, Order, ProjectFactors, StartLink, StepRule},
    fit,
    init::spectral_factors,
};

use crate::{
    reference::{self, Projection, Setting},
    sample::observations,
};

const ITERATIONS: usize = 50;

struct Rows(Vec<TraceRow>);

impl Monitor for Rows {
    fn iteration(&mut self, row: &TraceRow) -> Flow {
        self.0.push(*row);
        Flow::Continue
    }
}

/// The same run in the words of the core.
fn config(setting: &Setting, family: &str) -> FitConfig {
    FitConfig {
        rank: Some(2),
        link: match setting.link {
            reference::Link::Learned => LinkChoice::Learned,
            reference::Link::Identity => "identity".parse().unwrap(),
            reference::Link::Sigmoid => "sigmoid".parse().unwrap(),
            reference::Link::Tanh => "tanh".parse().unwrap(),
        },
        loss: match setting.loss {
            reference::Loss::Sum => LossScale::Sum,
            reference::Loss::Mean => LossScale::Mean,
        },
        kernel: family.parse().unwrap(),
        bandwidth: Bandwidth::Fixed(setting.bandwidth),
        link_penalty: setting.link_penalty,
        balance_penalty: setting.balance_penalty,
        factor_step: StepRule::Fixed(setting.factor_step),
        link_step: StepRule::Fixed(setting.link_step),
        iterations: setting.iterations,
        order: match setting.order {
            reference::Order::FactorsFirst => Order::FactorsFirst,
            reference::Order::LinkFirst => Order::LinkFirst,
        },
        start_link: match setting.start_link {
            reference::StartLink::Zero => StartLink::Zero,
            reference::StartLink::Identity => StartLink::Identity,
        },
        project_factors: match setting.projection {
            Projection::Off => ProjectFactors::Off,
            Projection::Auto => ProjectFactors::Auto,
            Projection::Radius(radius) => ProjectFactors::Radius(radius),
        },
        ..FitConfig::bcd()
    }
}

fn base() -> Setting {
    Setting {
        loss: reference::Loss::Sum,
        kernel: reference::Kernel::Gaussian,
        bandwidth: 0.8,
        link_penalty: 1e-2,
        balance_penalty: 0.5,
        factor_step: 5e-3,
        link_step: 5e-3,
        iterations: ITERATIONS,
        order: reference::Order::FactorsFirst,
        projection: Projection::Off,
        start_link: reference::StartLink::Identity,
        link: reference::Link::Learned,
    }
}

/// The largest relative difference of the objective over all iterations.
fn difference(setting: &Setting, family: &str) -> f64 {
    let observations = observations(11);
    let z0 = spectral_factors(&observations, 2, false, 0).unwrap();
    let rows = |side: &[f64]| side.chunks(2).map(<[f64]>::to_vec).collect::<Vec<_>>();
    let entries: Vec<(usize, usize, f64)> =
        observations.iter().map(|e| (e.row, e.column, e.value)).collect();
    let plain = reference::run(&entries, &rows(&z0.rows()), &rows(&z0.columns()), setting);
    let mut seen = Rows(Vec::new());
    fit(&config(setting, family), &FitInput::new(&observations), &mut seen).unwrap();
    assert_eq!(seen.0.len(), setting.iterations + 1);
    let moved = (plain.objective[0] - plain.objective[setting.iterations]).abs();
    assert!(moved > 0.01 * plain.objective[0], "the run hardly moves");
    seen.0
        .iter()
        .zip(&plain.objective)
        .map(|(row, exact)| (row.objective - exact).abs() / exact.abs())
        .fold(0.0, f64::max)
}

#[test]
fn scales_orders_starts_and_clipping_agree_at_every_iteration() {
    for (loss, scale) in [(reference::Loss::Sum, 1.0), (reference::Loss::Mean, 45.0)] {
        for order in [reference::Order::FactorsFirst, reference::Order::LinkFirst] {
            for projection in [Projection::Off, Projection::Auto, Projection::Radius(0.7)] {
                for start_link in [reference::StartLink::Zero, reference::StartLink::Identity] {
                    let base = base();
                    let setting = Setting {
                        loss,
                        order,
                        projection,
                        start_link,
                        factor_step: base.factor_step * scale,
                        link_step: base.link_step * scale,
                        link_penalty: base.link_penalty / scale,
                        balance_penalty: base.balance_penalty / scale,
                        ..base
                    };
                    let gap = difference(&setting, "gaussian");
                    assert!(gap < 1e-9, "{setting:?}: {gap:e}");
                }
            }
        }
    }
}

#[test]
fn kernels_and_bandwidths_agree_at_every_iteration() {
    let kernels = [
        (reference::Kernel::Gaussian, "gaussian", 1e-9),
        (reference::Kernel::RationalQuadratic, "rational-quadratic", 1e-9),
        (reference::Kernel::InverseMultiquadric, "inverse-multiquadric", 1e-9),
        (reference::Kernel::Matern52, "matern52", 1e-3),
    ];
    for (kernel, name, allowed) in kernels {
        for bandwidth in [0.3, 0.8, 2.0] {
            for projection in [Projection::Off, Projection::Radius(0.9)] {
                let setting = Setting { kernel, bandwidth, projection, ..base() };
                let gap = difference(&setting, name);
                assert!(gap < allowed, "{name} {bandwidth} {projection:?}: {gap:e}");
            }
        }
    }
}

#[test]
fn known_links_agree_at_every_iteration() {
    for link in [reference::Link::Identity, reference::Link::Sigmoid, reference::Link::Tanh] {
        let setting = Setting { link, factor_step: 1e-2, ..base() };
        let gap = difference(&setting, "gaussian");
        assert!(gap < 1e-11, "{link:?}: {gap:e}");
    }
}
