//! The constants of the paper's theory as one readable value, and the steps they admit.
//!
//! They are stated for the mean of squares. The sum is `M` times the mean with both penalties
//! divided by `M`, so its steps are `1/M` of those; [`Constants`] holds the steps for the scale
//! that was asked for.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    config::LossScale,
    error::Result,
    linalg,
    link::{Kernel, SlopeBounds},
    observations::Shape,
};

/// What the constants are computed from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circumstances {
    /// `n` and `T`.
    pub shape: Shape,
    /// `M`
    pub observed: usize,
    /// `r`
    pub rank: usize,
    /// `sigma_1` and `sigma_r`: largest and smallest singular value of the matrix of scores.
    pub singular_values: (f64, f64),
    /// `mu`
    pub incoherence: f64,
    /// The largest `|Z|_F` that the projection allows: `sqrt(n + T) beta`.
    pub largest_norm: f64,
    /// The kernel, for `B_K`, `L_K` and `L_K'`.
    pub kernel: Kernel,
    /// `xi` and `Xi`
    pub bounds: SlopeBounds,
    /// `alpha` as in the objective.
    pub link_penalty: f64,
    /// `lambda` as in the objective.
    pub balance_penalty: f64,
    /// The scale of the objective.
    pub loss: LossScale,
    /// `max_k |y_k|`
    pub largest_value: f64,
    /// `L(phi_0, Z_0)`
    pub start_objective: f64,
}

/// The constants of lemmas 2 to 6, proposition 1 and theorem 1, for the mean of squares, except
/// for the two steps, which are for the scale asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    /// `alpha` on the mean's scale.
    pub alpha: f64,
    /// `mu`
    pub incoherence: f64,
    /// `kappa = sigma_1 / sigma_r`
    pub condition: f64,
    /// `epsilon = xi^2 / (20 Xi^2)`: size of the neighbourhood `|Delta|_F^2 <= epsilon sigma_r`.
    pub neighbourhood: f64,
    /// `L_{phi,alpha} = sqrt(8 B_K^2 + 2 alpha^2)`
    pub l_phi_alpha: f64,
    /// `mu_Z = xi^2 sigma_r / (5 n T)`
    pub mu_z: f64,
    /// `A_Z = 8 Xi sqrt(sigma_1 / (n T)) B_K`
    pub a_z: f64,
    /// `A'_Z = 336 Xi^4 mu r sigma_1 B_K / (n T xi^2)`
    pub a_prime_z: f64,
    /// `B_Z = 1093 Xi^4 sigma_1^2 mu r / (n T)^2`
    pub b_z: f64,
    /// `G`: no residual is larger.
    pub largest_residual: f64,
    /// `L_{Z -> phi}`
    pub l_z_to_phi: f64,
    /// `L_Z`, with `L_R = 3 lambda max |Z|_F^2` for the part that the paper leaves open.
    pub l_z: f64,
    /// `gamma`: weight of `D_t` in the Lyapunov function.
    pub gamma: f64,
    /// The largest admissible `eta`: the smaller of `2 alpha / (L (alpha + L))` (lemma of the link
    /// step) and `1 / (alpha + L)` (appendix B), with `L = L_{phi,alpha}`.
    pub link_step: f64,
    /// The largest admissible `zeta`: the smallest of the bounds in proposition 1, theorem 1 and
    /// appendix B (`1 / L_Z`).
    pub factor_step: f64,
    /// `q_phi = 1 - eta alpha L / (alpha + L)`
    pub q_phi: f64,
    /// `1 - rho`, with `rho = max(a_EE, a_DD / gamma)` the factor by which `V_t` shrinks. It is
    /// held as the difference because `rho` itself is often 1 to the last digit.
    ///
    /// This is the definition in the paper's table of notations. The closed form that the proof
    /// ends in uses `q (1 + q) <= 1`, which needs `q_phi <= 0.618`, while the admissible link
    /// step makes `q_phi` nearly 1; the recipe still contracts there, only more slowly.
    pub contraction: f64,
    /// `C_phi`: what `chi^2` adds at each iteration, by its definition like `contraction`.
    pub c_phi: f64,
    /// `(mu r kappa)^2 min(n, T) / epsilon^2 log((n + T) / delta)` with `delta = 0.05` and 1 for
    /// the constant that the lemma leaves open.
    pub sample_size: f64,
}

/// Upper bounds on what one iteration makes of an iterate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// On `D_{t+1}`.
    pub d: f64,
    /// On `E_{t+1}`.
    pub e: f64,
    /// On `V_{t+1}`.
    pub v: f64,
}

/// `1 - SAMPLE_CONFIDENCE` is the probability with which the sample size is enough.
const SAMPLE_CONFIDENCE: f64 = 0.05;

impl Constants {
    /// Whether none of them has overflowed.
    pub fn is_finite(&self) -> bool {
        [self.l_z_to_phi, self.l_z, self.gamma, self.contraction, self.sample_size]
            .iter()
            .all(|constant| constant.is_finite())
    }

    /// What `D_t`, `E_t` and `V_t` are at most one iteration after `D`, `E` and `chi`, by the
    /// recursions behind proposition 1 and theorem 1, for steps `zeta`, `eta` of the mean's scale:
    ///
    /// ```text
    /// D' <= (1 - zeta mu_Z / 2) D + C (E + chi^2),    C = 2 zeta^2 A'_Z + 2 zeta A_Z^2 / mu_Z
    /// E' <= q (1 + delta) E + q (1 + 1/delta) (L_{Z->phi} / alpha)^2 zeta^2 (B_Z D + 2 A'_Z (E + chi^2))
    /// V' <= rho V + C_phi chi^2
    /// ```
    ///
    /// with `delta = (1/q - 1) / 2`.
    pub fn next_bounds(&self, zeta: f64, d: f64, e: f64, chi: f64) -> Bounds {
        let away = e + chi.powi(2);
        let across =
            2.0 * zeta.powi(2) * self.a_prime_z + 2.0 * zeta * self.a_z.powi(2) / self.mu_z;
        let q = self.q_phi;
        let delta = (1.0 / q - 1.0) / 2.0;
        let moved = zeta.powi(2) * (self.b_z * d + 2.0 * self.a_prime_z * away);
        let followed = q * (1.0 + 1.0 / delta) * (self.l_z_to_phi / self.alpha).powi(2) * moved;
        let v = e + self.gamma * d;
        Bounds {
            d: d - zeta * self.mu_z / 2.0 * d + across * away,
            e: q * (1.0 + delta) * e + followed,
            v: v - self.contraction * v + self.c_phi * chi.powi(2),
        }
    }

    /// All constants for given circumstances.
    pub fn compute(given: &Circumstances) -> Self {
        let to_mean = match given.loss {
            LossScale::Sum => 1.0 / given.observed as f64,
            LossScale::Mean => 1.0,
        };
        let (n, t) = (given.shape.rows as f64, given.shape.columns as f64);
        let (cells, r, mu) = (n * t, given.rank as f64, given.incoherence);
        let (largest, smallest) = given.singular_values;
        let SlopeBounds { low: xi, high: xi_high } = given.bounds;
        let b_k = Kernel::BOUND;
        let alpha = given.link_penalty * to_mean;
        let start_objective = given.start_objective * to_mean;

        let l = (8.0 * b_k.powi(2) + 2.0 * alpha.powi(2)).sqrt();
        let mu_z = xi.powi(2) * smallest / (5.0 * cells);
        let a_z = 8.0 * xi_high * (largest / cells).sqrt() * b_k;
        let a_prime_z = 336.0 * xi_high.powi(4) * mu * r * largest * b_k / (cells * xi.powi(2));
        let b_z = 1093.0 * xi_high.powi(4) * largest.powi(2) * mu * r / cells.powi(2);

        let z_norm = given.largest_norm;
        let lambda = given.balance_penalty * to_mean;
        let link_bound = (2.0 * start_objective / alpha).sqrt();
        let residual_bound =
            given.largest_value + b_k.sqrt() * link_bound + xi_high * z_norm.powi(2);
        let l_z_to_phi =
            4.0 * z_norm * (xi_high * b_k.sqrt() + residual_bound * given.kernel.lipschitz());
        let l_z = 4.0 * residual_bound * xi_high
            + 8.0
                * z_norm.powi(2)
                * (xi_high.powi(2) + link_bound * residual_bound * given.kernel.slope_lipschitz())
            + 3.0 * lambda * z_norm.powi(2);

        let larger_a = a_prime_z.sqrt().max(a_z);
        let gamma = l_z_to_phi * mu_z / (4.0 * alpha * larger_a);
        let eta = (2.0 * alpha / (l * (alpha + l))).min(1.0 / (alpha + l));
        let shrink = eta * alpha * l / (alpha + l);
        let zeta = [
            1.0 / a_z,
            mu_z / (2.0 * b_z),
            1.0 / (2.0 * mu_z),
            1.0 / l_z,
            shrink * alpha / (4.0 * a_prime_z.sqrt() * l_z_to_phi),
            shrink * alpha * mu_z.powi(2) / (16.0 * larger_a * l_z_to_phi * b_z),
        ]
        .into_iter()
        .fold(f64::INFINITY, f64::min);

        let q = 1.0 - shrink;
        // q (1 + 1/delta) A with delta = (1/q - 1)/2
        let passed_on = q * (1.0 + q) / shrink * (l_z_to_phi / alpha).powi(2);
        let across = 2.0 * zeta.powi(2) * a_prime_z + 2.0 * zeta * a_z.powi(2) / mu_z;
        let link_gain = shrink / 2.0 - passed_on * 2.0 * zeta.powi(2) * a_prime_z - gamma * across;
        let factor_gain = zeta * mu_z / 2.0 - passed_on * zeta.powi(2) * b_z / gamma;
        let contraction = link_gain.min(factor_gain);

        let condition = largest / smallest;
        let neighbourhood = xi.powi(2) / (20.0 * xi_high.powi(2));
        let sample_size = (mu * r * condition).powi(2) * n.min(t) / neighbourhood.powi(2)
            * ((n + t) / SAMPLE_CONFIDENCE).ln();
        Self {
            alpha,
            incoherence: mu,
            condition,
            neighbourhood,
            l_phi_alpha: l,
            mu_z,
            a_z,
            a_prime_z,
            b_z,
            largest_residual: residual_bound,
            l_z_to_phi,
            l_z,
            gamma,
            link_step: eta * to_mean,
            factor_step: zeta * to_mean,
            q_phi: q,
            contraction,
            c_phi: passed_on * 2.0 * zeta.powi(2) * a_prime_z + 2.0 * gamma * across,
            sample_size,
        }
    }
}

impl fmt::Display for Constants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: [(&str, f64); 19] = [
            ("alpha (mean scale)", self.alpha),
            ("mu", self.incoherence),
            ("kappa", self.condition),
            ("epsilon", self.neighbourhood),
            ("L_phi,alpha", self.l_phi_alpha),
            ("mu_Z", self.mu_z),
            ("A_Z", self.a_z),
            ("A'_Z", self.a_prime_z),
            ("B_Z", self.b_z),
            ("G", self.largest_residual),
            ("L_Z->phi", self.l_z_to_phi),
            ("L_Z", self.l_z),
            ("gamma", self.gamma),
            ("q_phi", self.q_phi),
            ("1 - rho", self.contraction),
            ("C_phi", self.c_phi),
            ("admissible link step", self.link_step),
            ("admissible factor step", self.factor_step),
            ("sample size", self.sample_size),
        ];
        for (name, value) in lines {
            writeln!(f, "{name:<24} {value:.6e}")?;
        }
        Ok(())
    }
}

/// Scores up to which the smallest eigenvalue of their Gram matrix is computed.
const MOST_SCORES: usize = 1500;

/// `lambda_min(K)` of the Gram matrix of scores; 0, which it never falls below, for many scores.
pub fn smallest_gram_eigenvalue(kernel: Kernel, scores: &[f64]) -> Result<f64> {
    if scores.len() > MOST_SCORES {
        return Ok(0.0);
    }
    let gram =
        linalg::Mat::from_fn(scores.len(), scores.len(), |i, j| kernel.value(scores[i], scores[j]));
    let smallest = linalg::symmetric_eigenvalues(gram.as_ref())?.first().copied();
    Ok(smallest.unwrap_or(0.0).max(0.0))
}

/// Theorem 3: at a stationary point of noiseless data, the root mean squared residual is at most
///
/// ```text
/// alpha sqrt(B_K) / (alpha + 2s lambda_min(K)) |phi*|_H
/// ```
///
/// with `K` the Gram matrix of the scores and `s` the weight of one squared residual (the paper
/// writes it for `s = 1`).
pub fn residual_bound(
    link_penalty: f64,
    weight: f64,
    smallest_eigenvalue: f64,
    true_link_norm: f64,
) -> f64 {
    let shrunk = link_penalty + 2.0 * weight * smallest_eigenvalue;
    link_penalty * Kernel::BOUND.sqrt() / shrunk * true_link_norm
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::KernelFamily;

    fn sample(loss: LossScale) -> Circumstances {
        Circumstances {
            shape: Shape { rows: 40, columns: 30 },
            observed: 1000,
            rank: 2,
            singular_values: (30.0, 12.0),
            incoherence: 3.0,
            largest_norm: 4.0 / 3.0 * 3f64.sqrt() * 9.0,
            kernel: Kernel::try_new(KernelFamily::Gaussian, 1.0).unwrap(),
            bounds: SlopeBounds { low: 0.1, high: 0.5 },
            link_penalty: if loss == LossScale::Sum { 10.0 } else { 0.01 },
            balance_penalty: if loss == LossScale::Sum { 500.0 } else { 0.5 },
            loss,
            largest_value: 1.0,
            start_objective: if loss == LossScale::Sum { 300.0 } else { 0.3 },
        }
    }

    #[test]
    fn the_constants_are_the_printed_formulas() {
        // Worked out by hand from the paper for n=40, T=30, r=2, sigma=(30,12), mu=3,
        // xi=0.1, Xi=0.5, alpha=0.01.
        let c = Constants::compute(&sample(LossScale::Mean));
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} against {b}");
        close(c.l_phi_alpha, (8.0f64 + 2e-4).sqrt());
        close(c.mu_z, 0.01 * 12.0 / 6000.0);
        close(c.a_z, 4.0 * (30.0f64 / 1200.0).sqrt());
        close(c.a_prime_z, 336.0 * 0.0625 * 6.0 * 30.0 / (1200.0 * 0.01));
        close(c.b_z, 1093.0 * 0.0625 * 900.0 * 6.0 / 1_440_000.0);
        close(c.condition, 2.5);
        close(c.neighbourhood, 0.01 / (20.0 * 0.25));
        let l = c.l_phi_alpha;
        close(c.link_step, 0.02 / (l * (0.01 + l)));
        close(c.q_phi, 1.0 - c.link_step * 0.01 * l / (0.01 + l));
        close(c.gamma, c.l_z_to_phi * c.mu_z / (0.04 * c.a_prime_z.sqrt().max(c.a_z)));
        let r_z = 4.0 / 3.0 * 3f64.sqrt() * 9.0;
        let g = 1.0 + (2.0 * 0.3 / 0.01f64).sqrt() + 0.5 * r_z * r_z;
        close(c.largest_residual, g);
        close(c.l_z_to_phi, 4.0 * r_z * (0.5 + g));
        let balance = 3.0 * 0.5 * r_z * r_z;
        let curved = 8.0 * r_z * r_z * (0.25 + 60f64.sqrt() * g * 3f64.sqrt());
        close(c.l_z, 4.0 * g * 0.5 + curved + balance);
    }

    #[test]
    fn the_recipe_of_theorem_one_contracts() {
        let c = Constants::compute(&sample(LossScale::Mean));
        assert!(0.0 < c.q_phi && c.q_phi < 1.0);
        assert!(0.0 < c.contraction && c.contraction < 1.0, "{}", c.contraction);
        assert!(c.factor_step > 0.0 && c.factor_step <= c.mu_z / (2.0 * c.b_z));
    }

    #[test]
    fn contraction_is_one_minus_the_larger_coefficient() {
        // a_EE and a_DD / gamma as printed, at steps large enough to be seen beside 1.
        let mut given = sample(LossScale::Mean);
        given.link_penalty = 5.0;
        given.bounds = SlopeBounds { low: 0.9, high: 1.0 };
        let c = Constants::compute(&given);
        let (zeta, q) = (c.factor_step, c.q_phi);
        let delta = (1.0 / q - 1.0) / 2.0;
        let a = (c.l_z_to_phi / c.alpha).powi(2);
        let c_e = 2.0 * zeta.powi(2) * c.a_prime_z;
        let c_d = zeta.powi(2) * c.b_z;
        let across = c_e + 2.0 * zeta * c.a_z.powi(2) / c.mu_z;
        let a_ee = q * (1.0 + delta) + q * (1.0 + 1.0 / delta) * a * c_e + c.gamma * across;
        let a_dd = q * (1.0 + 1.0 / delta) * a * c_d + c.gamma * (1.0 - zeta * c.mu_z / 2.0);
        let rho = a_ee.max(a_dd / c.gamma);
        assert!((1.0 - rho - c.contraction).abs() < 1e-15, "{rho} {}", c.contraction);
        assert!(1.0 - a_ee > 1e-3);
    }

    #[test]
    fn the_bound_on_v_is_no_tighter_than_those_on_its_parts() {
        // V' = E' + gamma D', and rho, C_phi are made from the same coefficients.
        let c = Constants::compute(&sample(LossScale::Mean));
        for (d, e, chi) in [(0.3, 0.2, 0.0), (0.0, 1.0, 0.0), (2.0, 0.0, 0.5)] {
            let next = c.next_bounds(c.factor_step, d, e, chi);
            assert!(next.e + c.gamma * next.d <= next.v * (1.0 + 1e-9), "{next:?}");
        }
        let still = c.next_bounds(c.factor_step, 0.0, 0.0, 0.0);
        assert_eq!((still.d, still.e, still.v), (0.0, 0.0, 0.0));
        // The admissible step gains less than the last digit of 1; a larger one shows the sign.
        let zeta = 1e-3 / c.mu_z;
        let shrunk = c.next_bounds(zeta, 1.0, 0.0, 0.0);
        assert!((shrunk.d - (1.0 - 0.5e-3)).abs() < 1e-12, "{shrunk:?}");
    }

    #[test]
    fn the_sum_has_the_constants_of_the_mean_and_steps_divided_by_m() {
        let (mean, sum) = (
            Constants::compute(&sample(LossScale::Mean)),
            Constants::compute(&sample(LossScale::Sum)),
        );
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} against {b}");
        close(sum.link_step * 1000.0, mean.link_step);
        close(sum.factor_step * 1000.0, mean.factor_step);
        close(sum.gamma, mean.gamma);
        close(sum.contraction, mean.contraction);
    }
}
