//! Links whose formula is given: for fits with a known link, and as the truth of made data.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::error::{ConfigError, Result};

/// An increasing function that is not learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownLink {
    /// `x`: the linear factor model.
    Identity,
    /// `1 / (1 + exp(-x))`
    Sigmoid,
    /// `tanh(x)`
    Tanh,
    /// The standard normal distribution function.
    Probit,
    /// `log(1 + exp(x))`
    Softplus,
    /// `exp(x)`
    Exponential,
    /// `x^3`
    Cubic,
    /// Straight lines between given points, going on straight beyond them.
    Piecewise(Knots),
}

impl KnownLink {
    /// The links that have a name, in the order in which help texts list them.
    pub const NAMED: [(&'static str, KnownLink); 7] = [
        ("identity", KnownLink::Identity),
        ("sigmoid", KnownLink::Sigmoid),
        ("tanh", KnownLink::Tanh),
        ("probit", KnownLink::Probit),
        ("softplus", KnownLink::Softplus),
        ("exponential", KnownLink::Exponential),
        ("cubic", KnownLink::Cubic),
    ];

    /// `phi(x)` and `phi'(x)`
    #[inline]
    pub fn value_and_slope(&self, x: f64) -> (f64, f64) {
        match self {
            KnownLink::Identity => (x, 1.0),
            KnownLink::Sigmoid => {
                let p = sigmoid(x);
                (p, p * (1.0 - p))
            }
            KnownLink::Tanh => {
                let y = x.tanh();
                (y, 1.0 - y * y)
            }
            KnownLink::Probit => {
                let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
                (normal_distribution(x, density), density)
            }
            KnownLink::Softplus => (x.max(0.0) + (-x.abs()).exp().ln_1p(), sigmoid(x)),
            KnownLink::Exponential => (x.exp(), x.exp()),
            KnownLink::Cubic => (x * x * x, 3.0 * x * x),
            KnownLink::Piecewise(knots) => knots.value_and_slope(x),
        }
    }
}

impl fmt::Display for KnownLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::NAMED.iter().find(|(_, link)| link == self);
        f.write_str(named.map_or("piecewise", |(name, _)| name))
    }
}

impl FromStr for KnownLink {
    type Err = ConfigError;

    fn from_str(text: &str) -> std::result::Result<Self, ConfigError> {
        let named = Self::NAMED.into_iter().find(|(name, _)| *name == text);
        named.map(|(_, link)| link).ok_or_else(|| ConfigError::Unknown {
            field: "link",
            got: text.to_owned(),
            choices: "learned, identity, sigmoid, tanh, probit, softplus, exponential, cubic, or a CSV file of knots",
        })
    }
}

/// Points through which a piecewise-linear link goes, increasing in both coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(f64, f64)>", into = "Vec<(f64, f64)>")]
pub struct Knots(Vec<(f64, f64)>);

impl Knots {
    /// At least two finite points, each above and to the right of the one before.
    pub fn try_new(points: Vec<(f64, f64)>) -> Result<Self> {
        let bad = points.windows(2).position(|w| !(w[0].0 < w[1].0 && w[0].1 < w[1].1));
        if let Some(first) = bad {
            return Err(ConfigError::KnotsNotIncreasing { knot: first + 2 }.into());
        }
        let finite = points.iter().all(|(x, y)| x.is_finite() && y.is_finite());
        if points.len() < 2 || !finite {
            return Err(ConfigError::KnotsNotIncreasing { knot: points.len() }.into());
        }
        Ok(Self(points))
    }

    /// The points.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.0
    }

    fn value_and_slope(&self, x: f64) -> (f64, f64) {
        let next = self.0.partition_point(|knot| knot.0 <= x).clamp(1, self.0.len() - 1);
        let ((x0, y0), (x1, y1)) = (self.0[next - 1], self.0[next]);
        let slope = (y1 - y0) / (x1 - x0);
        (y0 + slope * (x - x0), slope)
    }
}

impl TryFrom<Vec<(f64, f64)>> for Knots {
    type Error = crate::Error;

    fn try_from(points: Vec<(f64, f64)>) -> Result<Self> {
        Self::try_new(points)
    }
}

impl From<Knots> for Vec<(f64, f64)> {
    fn from(knots: Knots) -> Self {
        knots.0
    }
}

fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// The standard normal distribution function at `x`, given the density there.
///
/// Inside, the series `1/2 + density (x + x^3/3 + x^5/15 + ...)`; outside, the continued fraction
/// of the tail `density / (x + 1/(x + 2/(x + 3/(x + ...))))`. Both to about 1e-15.
fn normal_distribution(x: f64, density: f64) -> f64 {
    if x.abs() < 3.0 {
        let mut term = x;
        let mut sum = x;
        let mut odd = 1.0;
        while term.abs() > 1e-17 * sum.abs() {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        0.5 + density * sum
    } else {
        let far = x.abs();
        let fraction = (1..=120).rev().fold(far, |below, k| far + k as f64 / below);
        let tail = density / fraction;
        if x > 0.0 { 1.0 - tail } else { tail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<KnownLink> {
        let knots = vec![(-1.0, 0.0), (0.0, 0.2), (0.5, 2.0)];
        let mut links: Vec<KnownLink> = KnownLink::NAMED.into_iter().map(|(_, l)| l).collect();
        links.push(KnownLink::Piecewise(Knots::try_new(knots).unwrap()));
        links
    }

    #[test]
    fn slopes_agree_with_finite_differences() {
        for link in all() {
            for x in [-3.7, -3.2, -1.2, -0.3, 0.11, 0.8, 2.9, 3.1, 4.4] {
                let step = 1e-6;
                let rise = link.value_and_slope(x + step).0 - link.value_and_slope(x - step).0;
                let slope = link.value_and_slope(x).1;
                assert!(
                    (rise / (2.0 * step) - slope).abs() < 1e-7 * (1.0 + slope),
                    "{link} at {x}"
                );
            }
        }
    }

    #[test]
    fn every_link_increases() {
        for link in all() {
            let values: Vec<f64> =
                (-400..=400).map(|i| link.value_and_slope(i as f64 / 100.0).0).collect();
            assert!(values.windows(2).all(|w| w[0] < w[1]), "{link}");
        }
    }

    #[test]
    fn probit_matches_known_values() {
        // Tabulated values of the standard normal distribution function.
        for (x, p) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-2.0, 0.022_750_131_948_179_2),
            (3.5, 0.999_767_370_920_964_5),
            (-6.0, 9.865_876_450_376_98e-10),
        ] {
            let value = KnownLink::Probit.value_and_slope(x).0;
            assert!((value - p).abs() < 1e-14 * p.max(1e-2), "{x}: {value}");
        }
    }

    #[test]
    fn extreme_scores_stay_finite_where_the_link_is_bounded() {
        for link in [KnownLink::Sigmoid, KnownLink::Tanh, KnownLink::Probit, KnownLink::Softplus] {
            for x in [-1e8, -800.0, 800.0, 1e8] {
                let (value, slope) = link.value_and_slope(x);
                assert!(value.is_finite() && slope.is_finite(), "{link} at {x}");
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for (name, link) in KnownLink::NAMED {
            assert_eq!(name.parse::<KnownLink>().unwrap(), link);
            assert_eq!(link.to_string(), name);
        }
        assert!("logit".parse::<KnownLink>().is_err());
    }

    #[test]
    fn knots_that_do_not_increase_are_refused() {
        assert!(Knots::try_new(vec![(0.0, 0.0)]).is_err());
        assert!(Knots::try_new(vec![(0.0, 0.0), (1.0, 0.0)]).is_err());
        assert!(Knots::try_new(vec![(0.0, 0.0), (1.0, f64::NAN)]).is_err());
    }
}
