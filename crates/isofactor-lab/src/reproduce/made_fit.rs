//! Fits of made panels by Algorithm 1, as the paper's synthetic experiments run it.

use isofactor::{
    Factors, FitConfig, FitInput, FittedModel, Knots, KnownLink, Shape, TraceRow, Truth,
    config::{Bandwidth, LinkChoice, Monotone, Start, StartLink, StepRule},
    diagnostics::factor_distance,
    init::random_factors,
};
use serde::{Deserialize, Serialize};

use super::{desk::Watch, error::Result, statistics::log_places};
use crate::made::{MadePanel, Noise, NoiseKind, Observed, Panel};

/// Points of a trace that are kept.
const KEPT_POINTS: usize = 240;

/// The panel and the settings that an experiment's cases share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct MadeFit {
    /// `n` and `T`
    pub size: usize,
    /// `r`
    pub rank: usize,
    /// `M`
    pub observed: usize,
    /// Root mean square of the true scores.
    pub spread: f64,
    /// `lambda`
    pub balance_penalty: f64,
    /// `alpha`
    pub link_penalty: f64,
    /// `zeta`
    pub factor_step: StepRule,
    /// `eta`
    pub link_step: StepRule,
    /// How many iterations.
    pub iterations: usize,
    /// In units of the score.
    pub bandwidth: f64,
    /// `|Z_0 - Z*|_F / |Z*|_F`; none for the spectral start.
    pub perturbation: Option<f64>,
}

/// What distinguishes the fits of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variant {
    /// `phi*`
    pub link: KnownLink,
    /// Whether the fit is told.
    pub link_is_known: bool,
    /// `sigma`
    pub noise: f64,
    /// Of everything random.
    pub seed: u64,
}

/// One iterate, in the paper's quantities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// `t`
    pub iteration: usize,
    /// `|Delta_t|_F`
    pub factor_distance: f64,
    /// `|phi_t - phi*|_H`; 0 for a known link.
    pub link_distance: f64,
    /// `E_t`; 0 for a known link.
    pub lag: f64,
    /// `chi(Z_t)`; 0 for a known link.
    pub bias: f64,
    /// `R_t`; 0 for a known link.
    pub regret: f64,
}

impl MadeFit {
    /// Passes over entries of one fit.
    pub(crate) fn cost(&self) -> f64 {
        self.observed as f64 * self.iterations as f64
    }

    /// The panel of a variant.
    pub(crate) fn panel(&self, variant: &Variant) -> Result<Panel> {
        let made = MadePanel {
            shape: Shape { rows: self.size, columns: self.size },
            rank: self.rank,
            observed: Observed::Drawn(self.observed),
            link: variant.link.clone(),
            noise: Noise { kind: NoiseKind::Gaussian, deviation: variant.noise },
            condition: 1.0,
            spread: self.spread,
            seed: variant.seed,
        };
        Ok(made.make()?)
    }

    /// The settings of Algorithm 1.
    pub(crate) fn config(&self, variant: &Variant) -> FitConfig {
        let link = if variant.link_is_known {
            LinkChoice::Known(variant.link.clone())
        } else {
            LinkChoice::Learned
        };
        FitConfig {
            rank: Some(self.rank),
            link,
            bandwidth: Bandwidth::Fixed(self.bandwidth),
            link_penalty: self.link_penalty,
            balance_penalty: self.balance_penalty,
            factor_step: self.factor_step,
            link_step: self.link_step,
            iterations: self.iterations,
            tolerance: 0.0,
            start: Start::Spectral,
            start_link: StartLink::Zero,
            monotone: Monotone::Off,
            seed: variant.seed,
            ..FitConfig::bcd()
        }
    }

    /// Makes the panel and fits it; compared with the truth are the iterates that are drawn.
    pub(crate) fn run(&self, variant: &Variant, watch: &mut Watch<'_>) -> Result<Fitted> {
        watch.compare_only(log_places(self.iterations + 1, KEPT_POINTS));
        self.run_compared(variant, watch)
    }

    /// The same, with every iterate compared, as the regret needs it.
    pub(crate) fn run_compared(&self, variant: &Variant, watch: &mut Watch<'_>) -> Result<Fitted> {
        let Panel { observations, truth } = self.panel(variant)?;
        let start = self.perturbation.map(|share| perturbed(&truth, share, variant.seed));
        let input =
            FitInput { start: start.as_ref(), truth: Some(&truth), ..FitInput::new(&observations) };
        let (model, trace) = watch.fit(&self.config(variant), &input)?;
        Ok(Fitted { truth, model, trace })
    }
}

/// A fit beside its truth.
pub(crate) struct Fitted {
    pub truth: Truth,
    pub model: FittedModel,
    pub trace: Vec<TraceRow>,
}

impl Fitted {
    /// The iterates that are drawn, evenly spaced on a log scale, and the last one, which may have
    /// come before the number of iterations that was asked for.
    pub(crate) fn points(&self) -> Result<Vec<Point>> {
        let compared: Vec<Point> = self.trace.iter().filter_map(point).collect();
        let places = log_places(compared.len(), KEPT_POINTS);
        let mut points: Vec<Point> = places.into_iter().map(|place| compared[place]).collect();
        if let (Some(&last), Some(row)) = (points.last(), self.trace.last())
            && last.iteration < row.iteration
        {
            let factor_distance = factor_distance(&self.model.factors, self.truth.factors())?;
            points.push(Point { iteration: row.iteration, factor_distance, ..last });
        }
        Ok(points)
    }
}

fn point(row: &TraceRow) -> Option<Point> {
    row.truth.map(|truth| Point {
        iteration: row.iteration,
        factor_distance: truth.factor_distance,
        link_distance: truth.link_distance.unwrap_or(0.0),
        lag: truth.lag.unwrap_or(0.0),
        bias: truth.bias.unwrap_or(0.0),
        regret: truth.regret.unwrap_or(0.0),
    })
}

/// `Z* + share |Z*|_F W / |W|_F` with independent normal `W`: a start in the neighbourhood that the
/// theory presumes.
pub(crate) fn perturbed(truth: &Truth, share: f64, seed: u64) -> Factors {
    let exact = truth.factors();
    let direction = random_factors(exact.shape(), exact.rank(), seed.wrapping_add(3 << 32));
    exact.moved(share * exact.norm() / direction.norm(), &direction)
}

/// Every value with every seed.
pub(crate) fn with_seeds(values: &[f64], seeds: &[u64]) -> Vec<(f64, u64)> {
    values.iter().flat_map(|&value| seeds.iter().map(move |&seed| (value, seed))).collect()
}

/// A link by name, beside those of the core: `piecewise` is flat, steep and flat again.
pub(crate) fn named_link(name: &str) -> Result<KnownLink> {
    if name == "piecewise" {
        let knots = [(-6.0, -1.4), (-1.0, -0.9), (-0.5, -0.6), (0.5, 0.6), (1.0, 0.9), (6.0, 1.4)];
        return Ok(KnownLink::Piecewise(Knots::try_new(knots.to_vec())?));
    }
    Ok(name.parse().map_err(isofactor::Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perturbed_start_is_as_far_as_asked() {
        let factors = random_factors(Shape { rows: 30, columns: 20 }, 2, 1);
        let truth = Truth::new(&factors, KnownLink::Sigmoid).unwrap();
        let start = perturbed(&truth, 0.1, 7);
        let gap = start.moved(-1.0, truth.factors()).norm();
        assert!((gap / truth.factors().norm() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn every_named_link_increases() {
        for name in ["piecewise", "sigmoid", "tanh", "cubic", "softplus"] {
            let link = named_link(name).unwrap();
            let values: Vec<f64> =
                (-30..=30).map(|i| link.value_and_slope(f64::from(i) / 10.0).0).collect();
            assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
        }
        assert!(named_link("folded").is_err());
    }
}
