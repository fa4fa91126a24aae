//! The paper's Algorithm 1, written to be read, not to be fast: the link keeps every representer
//! centre, phi = sum_j a_j K(c_j, .), with M more of them each iteration, and nothing is
//! approximated. The projection P_H is not here.
//!
//! objective = data term + (lambda/4) |U'U - V'V|_F^2 + (alpha/2) |phi|_H^2, with
//! data term = (c/2) sum_k g_k^2, g_k = y_k - phi(x_k), x_k = u_i . v_t, c = 2 (sum) or 2/M (mean).

#![allow(dead_code)]

/// Scale of the data term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    Sum,
    Mean,
}

/// Kernels of one variable, by their distance r.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kernel {
    Gaussian,
    Matern52,
    RationalQuadratic,
    InverseMultiquadric,
}

/// Which block moves first in an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    FactorsFirst,
    LinkFirst,
}

/// The link: learned, or known and fixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Link {
    Learned,
    Identity,
    Sigmoid,
    Tanh,
}

/// The learned link at iteration 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StartLink {
    Zero,
    Identity,
}

/// The projection P_C: none, a radius of 4/3 of the longest row of the start, or a given radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    Off,
    Auto,
    Radius(f64),
}

/// Everything that defines a run besides the entries and the start.
#[derive(Clone, Debug)]
pub struct Setting {
    pub loss: Loss,
    pub kernel: Kernel,
    pub bandwidth: f64,
    /// alpha
    pub link_penalty: f64,
    /// lambda
    pub balance_penalty: f64,
    /// zeta
    pub factor_step: f64,
    /// eta
    pub link_step: f64,
    pub iterations: usize,
    pub order: Order,
    pub projection: Projection,
    pub start_link: StartLink,
    pub link: Link,
}

/// One value an iteration, index 0 being the start, and the last factors and link.
#[derive(Clone, Debug, Default)]
pub struct Trajectory {
    pub objective: Vec<f64>,
    pub data_term: Vec<f64>,
    /// (lambda/4) |U'U - V'V|_F^2
    pub balance_term: Vec<f64>,
    /// |phi|_H, zero for a known link
    pub link_norm: Vec<f64>,
    pub u: Vec<Vec<f64>>,
    pub v: Vec<Vec<f64>>,
    /// The pairs (c_j, a_j) of the learned link.
    pub link: Vec<(f64, f64)>,
}

type Entry = (usize, usize, f64);
type Matrix = Vec<Vec<f64>>;

/// The learned link: the pairs (c_j, a_j), and |phi|_H^2.
#[derive(Default)]
struct Phi {
    terms: Vec<(f64, f64)>,
    norm2: f64,
}

/// K(c, x) = k(x - c) and its derivative in x, with d = x - c, r = |d|, s = sqrt(5) r / h:
/// exp(-r^2/(2h^2)); (1 + s + s^2/3) exp(-s); 1/(1 + r^2/(2h^2)); 1/sqrt(1 + r^2/h^2).
pub fn kernel(kind: Kernel, h: f64, c: f64, x: f64) -> (f64, f64) {
    let (d, h2) = (x - c, h * h);
    match kind {
        Kernel::Gaussian => {
            let k = (-d * d / (2.0 * h2)).exp();
            (k, -d / h2 * k)
        }
        Kernel::Matern52 => {
            let s = 5.0_f64.sqrt() * d.abs() / h;
            let e = (-s).exp();
            ((1.0 + s + s * s / 3.0) * e, -5.0 * d / (3.0 * h2) * (1.0 + s) * e)
        }
        Kernel::RationalQuadratic => {
            let q = 1.0 + d * d / (2.0 * h2);
            (1.0 / q, -d / h2 / (q * q))
        }
        Kernel::InverseMultiquadric => {
            let q = 1.0 + d * d / h2;
            (1.0 / q.sqrt(), -d / h2 / (q * q.sqrt()))
        }
    }
}

/// phi(x) and phi'(x): sum_j a_j K(c_j, x) and its derivative, or the known link's own.
pub fn link(setting: &Setting, terms: &[(f64, f64)], x: f64) -> (f64, f64) {
    match setting.link {
        Link::Learned => terms.iter().fold((0.0, 0.0), |(value, slope), &(c, a)| {
            let (k, dk) = kernel(setting.kernel, setting.bandwidth, c, x);
            (value + a * k, slope + a * dk)
        }),
        Link::Identity => (x, 1.0),
        Link::Sigmoid => {
            let p = 1.0 / (1.0 + (-x).exp());
            (p, p * (1.0 - p))
        }
        Link::Tanh => (x.tanh(), 1.0 - x.tanh().powi(2)),
    }
}

/// x_k = u_i . v_t
fn scores(entries: &[Entry], u: &Matrix, v: &Matrix) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
    entries.iter().map(|&(i, t, _)| dot(&u[i], &v[t])).collect()
}

/// W = U'U - V'V
fn imbalance(u: &Matrix, v: &Matrix) -> Matrix {
    let gram = |z: &Matrix, p: usize, q: usize| z.iter().map(|row| row[p] * row[q]).sum::<f64>();
    let rank = u[0].len();
    (0..rank).map(|p| (0..rank).map(|q| gram(u, p, q) - gram(v, p, q)).collect()).collect()
}

/// P_C: rows longer than the radius are scaled to its length.
fn clip(z: &mut Matrix, radius: f64) {
    for row in z {
        let length = row.iter().map(|a| a * a).sum::<f64>().sqrt();
        if length > radius {
            row.iter_mut().for_each(|a| *a *= radius / length);
        }
    }
}

/// The a with (c K + alpha I) a = c x, by Cholesky: the ridge fit of the scores on themselves.
fn ridge(setting: &Setting, c: f64, x: &[f64]) -> Vec<f64> {
    let (m, mut l, mut a) = (x.len(), vec![vec![0.0; x.len()]; x.len()], vec![0.0; x.len()]);
    for i in 0..m {
        for j in 0..=i {
            let diagonal = if i == j { setting.link_penalty } else { 0.0 };
            let entry = c * kernel(setting.kernel, setting.bandwidth, x[i], x[j]).0 + diagonal;
            let rest = entry - (0..j).map(|p| l[i][p] * l[j][p]).sum::<f64>();
            l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
        }
        a[i] = (c * x[i] - (0..i).map(|p| l[i][p] * a[p]).sum::<f64>()) / l[i][i];
    }
    for i in (0..m).rev() {
        a[i] = (a[i] - (i + 1..m).map(|p| l[p][i] * a[p]).sum::<f64>()) / l[i][i];
    }
    a
}

/// phi <- shrink phi + sum_k b_k K(x_k, .). Its squared norm becomes
/// shrink^2 |phi|^2 + 2 shrink sum_k b_k phi(x_k) + b'Kb.
fn add_terms(s: &Setting, phi: &mut Phi, shrink: f64, x: &[f64], b: &[f64]) {
    let new: Vec<(f64, f64)> = x.iter().copied().zip(b.iter().copied()).collect();
    let cross: f64 = new.iter().map(|&(x, b)| b * link(s, &phi.terms, x).0).sum();
    let own: f64 = new.iter().map(|&(x, b)| b * link(s, &new, x).0).sum();
    phi.norm2 = shrink * shrink * phi.norm2 + 2.0 * shrink * cross + own;
    phi.terms.iter_mut().for_each(|(_, a)| *a *= shrink);
    phi.terms.extend(new);
}

/// Algorithm 1 from the start [u0; v0]. Every iteration takes, in the order of the setting,
/// Z <- P_C(Z - zeta grad_Z) and phi <- phi - eta grad_phi, each at the newest other block, with
/// grad_Z = -c sum_k g_k phi'(x_k) (A_k + A_k') Z + lambda D Z Z'D Z and
/// grad_phi = -c sum_k g_k K(x_k, .) + alpha phi.
pub fn run(entries: &[Entry], u0: &[Vec<f64>], v0: &[Vec<f64>], setting: &Setting) -> Trajectory {
    let s = setting;
    let c = match s.loss {
        Loss::Sum => 2.0,
        Loss::Mean => 2.0 / entries.len() as f64,
    };
    let (mut u, mut v) = (u0.to_vec(), v0.to_vec());
    let length = |row: &Vec<f64>| row.iter().map(|a| a * a).sum::<f64>().sqrt();
    let radius = match s.projection {
        Projection::Off => f64::INFINITY,
        Projection::Auto => 4.0 / 3.0 * u.iter().chain(&v).map(length).fold(0.0, f64::max),
        Projection::Radius(radius) => radius,
    };
    clip(&mut u, radius);
    clip(&mut v, radius);
    let mut phi = Phi::default();
    if s.link == Link::Learned && s.start_link == StartLink::Identity {
        let x = scores(entries, &u, &v);
        add_terms(s, &mut phi, 1.0, &x, &ridge(s, c, &x));
    }

    let factor_step = |u: &mut Matrix, v: &mut Matrix, phi: &Phi| {
        let (old_u, old_v, w) = (u.clone(), v.clone(), imbalance(u, v));
        for (z, old, sign) in [(&mut *u, &old_u, 1.0), (&mut *v, &old_v, -1.0)] {
            for (row, old) in z.iter_mut().zip(old) {
                for (q, value) in row.iter_mut().enumerate() {
                    let pull: f64 = old.iter().zip(&w).map(|(a, w)| a * w[q]).sum();
                    *value -= s.factor_step * s.balance_penalty * sign * pull;
                }
            }
        }
        for (&(i, t, y), x) in entries.iter().zip(scores(entries, &old_u, &old_v)) {
            let (value, slope) = link(s, &phi.terms, x);
            let weight = s.factor_step * c * (y - value) * slope;
            for q in 0..w.len() {
                u[i][q] += weight * old_v[t][q];
                v[t][q] += weight * old_u[i][q];
            }
        }
        clip(u, radius);
        clip(v, radius);
    };
    let link_step = |u: &Matrix, v: &Matrix, phi: &mut Phi| {
        if s.link == Link::Learned {
            let x = scores(entries, u, v);
            let g = |(&(_, _, y), &x): (&Entry, &f64)| y - link(s, &phi.terms, x).0;
            let b: Vec<f64> = entries.iter().zip(&x).map(|k| s.link_step * c * g(k)).collect();
            add_terms(s, phi, 1.0 - s.link_step * s.link_penalty, &x, &b);
        }
    };

    let mut out = Trajectory::default();
    for iteration in 0..=s.iterations {
        if iteration > 0 && s.order == Order::FactorsFirst {
            factor_step(&mut u, &mut v, &phi);
            link_step(&u, &v, &mut phi);
        } else if iteration > 0 {
            link_step(&u, &v, &mut phi);
            factor_step(&mut u, &mut v, &phi);
        }
        let x = scores(entries, &u, &v);
        let square = |(&(_, _, y), &x): (&Entry, &f64)| (y - link(s, &phi.terms, x).0).powi(2);
        let data = c / 2.0 * entries.iter().zip(&x).map(square).sum::<f64>();
        let w2: f64 = imbalance(&u, &v).iter().flatten().map(|w| w * w).sum();
        let balance = s.balance_penalty / 4.0 * w2;
        out.objective.push(data + balance + s.link_penalty / 2.0 * phi.norm2);
        out.data_term.push(data);
        out.balance_term.push(balance);
        out.link_norm.push(phi.norm2.max(0.0).sqrt());
    }
    Trajectory { u, v, link: phi.terms, ..out }
}
