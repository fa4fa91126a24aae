//! Reproducing kernels of one variable, `K(x, c) = k(x - c)`, with the constants the theory needs.

use serde::{Deserialize, Serialize};

use crate::{
    error::{ConfigError, Result},
    linalg::Real,
    words::choices,
};

choices! {
    /// The shape of the kernel; `d = x - c`, `h` the bandwidth.
    pub enum KernelFamily("kernel") {
        /// `exp(-d^2 / (2 h^2))`
        Gaussian = "gaussian",
        /// `(1 + s + s^2/3) exp(-s)` with `s = sqrt(5) |d| / h`
        Matern52 = "matern52" | "matern",
        /// `1 / (1 + d^2 / (2 h^2))`
        RationalQuadratic = "rational-quadratic" | "rq",
        /// `1 / sqrt(1 + d^2 / h^2)`
        InverseMultiquadric = "inverse-multiquadric" | "imq",
    }
}

/// A kernel with its bandwidth. `K(x, x) = 1` for all of them, so `B_K = 1`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// The shape.
    pub family: KernelFamily,
    /// The length over which the link may bend (`h`).
    pub bandwidth: f64,
}

/// Value, slope and curvature of a function at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Jet<T> {
    pub value: T,
    pub slope: T,
    pub curvature: T,
}

impl Kernel {
    /// `B_K = sup K(x, x)`.
    pub const BOUND: f64 = 1.0;

    /// A kernel with a positive, finite bandwidth.
    pub fn try_new(family: KernelFamily, bandwidth: f64) -> Result<Self> {
        if !(bandwidth > 0.0 && bandwidth.is_finite()) {
            return Err(ConfigError::NotPositive { field: "bandwidth", got: bandwidth }.into());
        }
        Ok(Self { family, bandwidth })
    }

    /// `K(x, c)`
    pub fn value(&self, x: f64, c: f64) -> f64 {
        self.section(x, c)
    }

    /// `K(x, c)` in either precision.
    pub(crate) fn section<T: Real>(&self, x: T, c: f64) -> T {
        let number = <T as From<f64>>::from;
        let d = (x - number(c)) / number(self.bandwidth);
        let unit = number(1.0);
        match self.family {
            KernelFamily::Gaussian => (d * d * number(-0.5)).exp(),
            KernelFamily::Matern52 => {
                let s = number(5.0).sqrt() * d.abs();
                (unit + s + s * s / number(3.0)) * (-s).exp()
            }
            KernelFamily::RationalQuadratic => unit / (unit + d * d * number(0.5)),
            KernelFamily::InverseMultiquadric => (unit / (unit + d * d)).sqrt(),
        }
    }

    /// `K(x, c)` with its first and second derivative in `x`.
    pub(crate) fn jet<T: Real>(&self, x: T, c: f64) -> Jet<T> {
        let number = <T as From<f64>>::from;
        let d = (x - number(c)) / number(self.bandwidth);
        let unit = number(1.0);
        let value = self.section(x, c);
        let (slope, curvature) = match self.family {
            KernelFamily::Gaussian => (-(d * value), (d * d - unit) * value),
            KernelFamily::Matern52 => {
                let s = number(5.0).sqrt() * d.abs();
                let third = number(5.0) / number(3.0) * (-s).exp();
                (-(third * d * (unit + s)), -(third * (unit + s - s * s)))
            }
            KernelFamily::RationalQuadratic => {
                let k2 = value * value;
                (-(d * k2), k2 * (number(2.0) * d * d * value - unit))
            }
            KernelFamily::InverseMultiquadric => {
                let q = value * value;
                let k3 = value * q;
                (-(d * k3), k3 * (number(3.0) * d * d * q - unit))
            }
        };
        let h = number(self.bandwidth);
        Jet { value, slope: slope / h, curvature: curvature / h / h }
    }

    /// `L_K`: `|K(x, .) - K(x', .)|_H <= L_K |x - x'|`; its square is `-k''(0)`.
    pub fn lipschitz(&self) -> f64 {
        let second: f64 = match self.family {
            KernelFamily::Matern52 => 5.0 / 3.0,
            _ => 1.0,
        };
        second.sqrt() / self.bandwidth
    }

    /// `L_K'`: the same for the slope representer `dK(x, .)/dx`; its square is `k''''(0)`.
    pub fn slope_lipschitz(&self) -> f64 {
        let fourth: f64 = match self.family {
            KernelFamily::Gaussian => 3.0,
            KernelFamily::Matern52 => 25.0,
            KernelFamily::RationalQuadratic => 6.0,
            KernelFamily::InverseMultiquadric => 9.0,
        };
        fourth.sqrt() / self.bandwidth.powi(2)
    }

    /// `b` with `|f^(6)(x)| <= b |f|_H / h^6` for every `f` in the space (the root of `k^(12)(0)`).
    ///
    /// A Matern 5/2 space has no such bound; there it is the largest sixth derivative of `k`
    /// itself away from its kink, on which no interval of the table lies astride.
    pub(crate) fn sixth_derivative_bound(&self) -> f64 {
        match self.family {
            KernelFamily::Gaussian => 10_395f64.sqrt(),
            KernelFamily::Matern52 => 5f64.powi(3) * 5.0,
            KernelFamily::RationalQuadratic => (479_001_600.0f64 / 64.0).sqrt(),
            KernelFamily::InverseMultiquadric => (479_001_600.0f64 * 10_395.0 / 46_080.0).sqrt(),
        }
    }

    /// `b` with `|(f g)^(4)(x)| <= b |f|_H |g|_H / h^4` for all `f` and `g` in the space: by Leibniz' rule,
    /// `sum_i (4 over i) b_i b_{4-i}` where `b_i` bounds the `i`-th derivative, the root of `|k^(2i)(0)|`; for the
    /// third and fourth of Matern 5/2 see [`Kernel::sixth_derivative_bound`].
    pub(crate) fn product_bound(&self) -> f64 {
        let [b1, b2] =
            [self.lipschitz() * self.bandwidth, self.slope_lipschitz() * self.bandwidth.powi(2)];
        let [b3, b4] = match self.family {
            KernelFamily::Gaussian => [15.0, 105.0].map(f64::sqrt),
            KernelFamily::Matern52 => [2.99, 25.0],
            KernelFamily::RationalQuadratic => [90.0, 2_520.0].map(f64::sqrt),
            KernelFamily::InverseMultiquadric => [225.0, 11_025.0].map(f64::sqrt),
        };
        2.0 * b4 + 8.0 * b1 * b3 + 6.0 * b2 * b2
    }

    /// `b` with `|f^(5)(x)| <= b |f|_H / h^5` for every `f` in the space (the root of `-k^(10)(0)`);
    /// for Matern 5/2 see [`Kernel::sixth_derivative_bound`].
    pub(crate) fn fifth_derivative_bound(&self) -> f64 {
        match self.family {
            KernelFamily::Gaussian => 945f64.sqrt(),
            KernelFamily::Matern52 => 5f64.powf(2.5) * 8.0 / 3.0,
            KernelFamily::RationalQuadratic => 113_400f64.sqrt(),
            KernelFamily::InverseMultiquadric => 945.0,
        }
    }

    /// The norm to which a basis reproduces `K(x, .)` over its domain.
    ///
    /// The space of Matern 5/2 holds functions that no small basis reaches, hence its larger value.
    pub fn basis_tolerance(&self) -> f64 {
        match self.family {
            KernelFamily::Matern52 => 1e-3,
            _ => 1e-8,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::linalg::Extended;

    pub(crate) const FAMILIES: &[KernelFamily] = KernelFamily::ALL;

    #[test]
    fn derivatives_agree_with_finite_differences() {
        for &family in FAMILIES {
            let kernel = Kernel::try_new(family, 0.7).unwrap();
            for x in [-1.3, -0.2, 0.4, 2.1] {
                let step = 1e-5;
                let (low, high) = (kernel.jet(x - step, 0.1), kernel.jet(x + step, 0.1));
                let middle = kernel.jet(x, 0.1);
                let slope = (high.value - low.value) / (2.0 * step);
                let curvature = (high.slope - low.slope) / (2.0 * step);
                assert!((middle.slope - slope).abs() < 1e-8, "{family:?} slope at {x}");
                assert!((middle.curvature - curvature).abs() < 1e-8, "{family:?} curvature at {x}");
            }
        }
    }

    #[test]
    fn bounds_on_products_are_those_of_derivatives_by_differences() {
        for &family in FAMILIES {
            let kernel = Kernel::try_new(family, 0.7).unwrap();
            let k = |x: f64| kernel.section(Extended::from(x), 0.0);
            // `k^(n)(x)` in units of the bandwidth, by central differences in extended precision.
            let derivative = |n: u32, x: f64, step: f64| {
                let mut binomial = 1.0;
                let mut sum = Extended::from(0.0);
                for i in 0..=n {
                    let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                    let place = x + (f64::from(n) / 2.0 - f64::from(i)) * step;
                    sum += Extended::from(sign * binomial) * k(place);
                    binomial = binomial * f64::from(n - i) / f64::from(i + 1);
                }
                sum.to_f64() * (0.7 / step).powi(n as i32)
            };
            let [b1, b2] = [2, 4].map(|n| derivative(n, 0.0, 1e-3).abs().sqrt());
            let [b3, b4] = if family == KernelFamily::Matern52 {
                // Away from the kink.
                let places = || (1..400).map(|i| 0.01 + f64::from(i) * 0.01);
                [3, 4].map(|n| places().map(|x| derivative(n, x, 1e-3).abs()).fold(0.0, f64::max))
            } else {
                [6, 8].map(|n| derivative(n, 0.0, 4e-3).abs().sqrt())
            };
            let bound = 2.0 * b4 + 8.0 * b1 * b3 + 6.0 * b2 * b2;
            let gap = kernel.product_bound() / bound - 1.0;
            assert!(gap.abs() < 0.05, "{family:?} {bound}");
        }
    }

    #[test]
    fn both_precisions_agree_and_the_extended_one_has_more_digits() {
        for &family in FAMILIES {
            let kernel = Kernel::try_new(family, 0.3).unwrap();
            let plain = kernel.jet(0.5, 0.2).value;
            let extended = kernel.jet(Extended::from(0.5), 0.2).value;
            assert!((extended.to_f64() - plain).abs() < 1e-15);
            assert!(extended.1 != 0.0, "{family:?}");
        }
    }

    #[test]
    fn lipschitz_constants_hold_and_are_tight_near_zero() {
        for &family in FAMILIES {
            let kernel = Kernel::try_new(family, 0.6).unwrap();
            for distance in [1e-3, 0.1, 1.0, 5.0] {
                let gap = (2.0 * (1.0 - kernel.value(distance, 0.0))).sqrt();
                assert!(gap <= kernel.lipschitz() * distance * (1.0 + 1e-6), "{family:?}");
                // <d_x K(x,.), d_x K(x',.)> = -k''(x - x')
                let at = |d: f64| -kernel.jet(d, 0.0).curvature;
                let slope_gap = (2.0 * (at(0.0) - at(distance))).max(0.0).sqrt();
                assert!(
                    slope_gap <= kernel.slope_lipschitz() * distance * (1.0 + 1e-6),
                    "{family:?}"
                );
            }
            let tight = (2.0 * (1.0 - kernel.value(1e-3, 0.0))).sqrt() / 1e-3;
            assert!((tight / kernel.lipschitz() - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn a_bandwidth_that_is_not_positive_is_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Kernel::try_new(KernelFamily::Gaussian, bad).is_err());
        }
    }
}
