//! The objective, its parts and its gradients: every formula once.
//!
//! ```text
//! L(phi, Z) = s sum_k (y_k - phi(x_k))^2 + (lambda/4) |Z'DZ|_F^2 + (alpha/2) |phi|_H^2
//! ```
//!
//! with `s = 1` (sum) or `s = 1/M` (mean), `x_k = u_i . v_t`, `Z'DZ = U'U - V'V`. A known link is
//! not penalised.

use serde::{Deserialize, Serialize};

use crate::{
    config::LossScale,
    error::Result,
    factors::Factors,
    linalg::{self, Mat},
    link::{
        LearnedLink, Link, LinkSpace,
        monotone::{ActiveBounds, SlopeBounds, SlopeProgram},
        table::Grid,
        tally::Counts,
    },
    observations::Side,
    passes::Entries,
    products,
    simd::Lanes,
};

/// The weights of the objective.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    /// Sum or mean of squares.
    pub loss: LossScale,
    /// `alpha`
    pub link_penalty: f64,
    /// `lambda`
    pub balance_penalty: f64,
}

/// The parts of the objective at a point.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ObjectiveValue {
    /// `s sum_k g_k^2`
    pub data: f64,
    /// `(lambda/4) |Z'DZ|_F^2`
    pub balance: f64,
    /// `(alpha/2) |phi|_H^2`
    pub link: f64,
}

impl ObjectiveValue {
    /// `L`
    pub fn total(&self) -> f64 {
        self.of_factors() + self.link
    }

    /// What a step of the factors changes.
    pub fn of_factors(&self) -> f64 {
        self.data + self.balance
    }

    /// What a step of the link changes.
    pub fn of_link(&self) -> f64 {
        self.data + self.link
    }
}

impl Objective {
    /// `s`: the weight of one squared residual among `observed`.
    pub fn weight(&self, observed: usize) -> f64 {
        match self.loss {
            LossScale::Sum => 1.0,
            LossScale::Mean => 1.0 / observed as f64,
        }
    }

    /// The objective, from the sum of the squared residuals under this link and with factors of this
    /// imbalance `Z'DZ`.
    pub fn value(
        &self,
        entries: &Entries<'_>,
        imbalance: &[f64],
        link: &Link,
        squares: f64,
    ) -> ObjectiveValue {
        ObjectiveValue {
            data: self.weight(entries.observations().len()) * squares,
            balance: self.balance(imbalance),
            link: link.learned().map_or(0.0, |link| self.link_term(link)),
        }
    }

    /// The data term of predicting zero everywhere: `s sum_k y_k^2`.
    pub fn of_zero(&self, entries: &Entries<'_>) -> f64 {
        let values = entries.observations().values();
        self.weight(values.len()) * values.iter().fold(0.0, |sum, y| sum + y * y)
    }

    /// `(lambda/4) |Z'DZ|_F^2`
    pub fn balance(&self, imbalance: &[f64]) -> f64 {
        self.balance_penalty / 4.0 * linalg::dot(imbalance, imbalance)
    }

    /// `(alpha/2) |phi|_H^2`
    pub fn link_term(&self, link: &LearnedLink) -> f64 {
        self.link_penalty / 2.0 * linalg::dot(link.weights(), link.weights())
    }

    /// `grad_Z L = -2s sum_k g_k phi'(x_k) (A_k + A_k') Z + lambda D Z Z'DZ`, from the pull
    /// `sum_k g_k phi'(x_k) (A_k + A_k') Z` and the imbalance `Z'DZ`.
    pub fn factor_gradient(
        &self,
        entries: &Entries<'_>,
        factors: &Factors,
        imbalance: &[f64],
        pull: Factors,
    ) -> Factors {
        self.scaled_gradient(1.0, entries, factors, imbalance, pull)
    }

    /// `-grad_Z L`
    pub(crate) fn factor_descent(
        &self,
        entries: &Entries<'_>,
        factors: &Factors,
        imbalance: &[f64],
        pull: Factors,
    ) -> Factors {
        self.scaled_gradient(-1.0, entries, factors, imbalance, pull)
    }

    /// `Z - step grad_Z L`, each part of it `finished` as soon as it is there, and the imbalance of
    /// what comes out.
    pub(crate) fn factors_moved(
        &self,
        step: f64,
        entries: &Entries<'_>,
        factors: &Factors,
        imbalance: &[f64],
        pull: Factors,
        finish: impl Fn(&mut [Lanes]) + Sync + Send,
    ) -> (Factors, Vec<f64>) {
        let (mut moved, width) = (pull, factors.width());
        let (scale, by) = self.combination(1.0, -step, entries, imbalance);
        let imbalance = moved.write(|side, first, part| {
            let of = &factors.held(side)[first..][..part.len()];
            let by = match side {
                Side::Rows => &by[0],
                Side::Columns => &by[1],
            };
            products::add_product(part, scale, of, factors.of_rank(by), width);
            finish(part);
        });
        (moved, imbalance)
    }

    /// `b grad_Z L`
    fn scaled_gradient(
        &self,
        b: f64,
        entries: &Entries<'_>,
        factors: &Factors,
        imbalance: &[f64],
        pull: Factors,
    ) -> Factors {
        let mut sum = pull;
        let (scale, [of_rows, of_columns]) = self.combination(0.0, b, entries, imbalance);
        sum.add_products(scale, factors, [&of_rows, &of_columns]);
        sum
    }

    /// How `a Z + b grad_Z L` is made in one pass over the factors: the pull so many times, and the
    /// factors of rows and of columns times a matrix each.
    fn combination(
        &self,
        a: f64,
        b: f64,
        entries: &Entries<'_>,
        imbalance: &[f64],
    ) -> (f64, [Vec<f64>; 2]) {
        let scale = -2.0 * b * self.weight(entries.observations().len());
        let lambda = b * self.balance_penalty;
        let size = imbalance.len().isqrt();
        let by = [lambda, -lambda].map(|lambda| {
            let mut matrix: Vec<f64> = imbalance.iter().map(|d| lambda * d).collect();
            matrix.iter_mut().step_by(size + 1).for_each(|diagonal| *diagonal += a);
            matrix
        });
        (scale, by)
    }

    /// How far the objective bends away from its tangent on a step of the link to `phi + delta`,
    /// `s sum_k delta(x_k)^2 + alpha/2 |delta|^2`, from the two sums of squares: for scores that stay, it is a
    /// parabola.
    pub fn link_bend(&self, observed: usize, distance: f64, squares: f64) -> f64 {
        self.weight(observed) * distance + 0.5 * self.link_penalty * squares
    }

    /// Coordinates of `grad_phi L = -2s sum_k g_k K(x_k, .) + alpha phi`, from how many scores lie where and
    /// the values there.
    pub fn link_gradient(&self, observed: usize, counts: &Counts, link: &LearnedLink) -> Vec<f64> {
        let mut gradient = counts.residual_sum(link.fine_within(counts.reach), link.space());
        let scale = -2.0 * self.weight(observed);
        for (g, w) in gradient.iter_mut().zip(link.weights()) {
            *g = scale * *g + self.link_penalty * w;
        }
        gradient
    }

    /// `phi_sharp`: the link that minimises `L` for these scores and `targets` in place of `y`,
    /// within slope bounds if there are any; they hold at the nodes of the link's table.
    pub fn best_link(
        &self,
        entries: &Entries<'_>,
        scores: &[f64],
        targets: &[f64],
        space: &LinkSpace,
        bounds: Option<SlopeBounds>,
    ) -> Result<Vec<f64>> {
        let equations = self.link_equations(entries, scores, targets, space, space.grid())?;
        match bounds {
            None => Ok(equations.minimum()),
            Some(bounds) => {
                let rows = space.slope_rows();
                let program = SlopeProgram::new(&rows, space.grid().spacing(), bounds);
                equations.minimum_within(&program, &mut ActiveBounds::default())
            }
        }
    }

    /// What the entries say of the link for these scores, by a table on `grid`: that of the space,
    /// or its thin one.
    pub(crate) fn link_equations(
        &self,
        entries: &Entries<'_>,
        scores: &[f64],
        targets: &[f64],
        space: &LinkSpace,
        grid: Grid,
    ) -> Result<LinkEquations> {
        let scale = 2.0 * self.weight(scores.len());
        let (squares, sums) = entries.moments(grid, scores, targets, scale);
        let mut normal = space.gram(&squares);
        for j in 0..space.dimension() {
            normal[(j, j)] += self.link_penalty;
        }
        Ok(LinkEquations {
            lower: linalg::cholesky(normal.as_ref())?,
            right: space.weighted_sum(&sums),
        })
    }
}

/// The ridge regression that the best link solves, of the size of its space:
///
/// ```text
/// (2s sum_k psi psi' + alpha I) w = 2s sum_k y_k psi(x_k)
/// ```
pub(crate) struct LinkEquations {
    /// The lower Cholesky factor of the left side.
    lower: Mat<f64>,
    right: Vec<f64>,
}

impl LinkEquations {
    /// The best link's coordinates.
    pub fn minimum(&self) -> Vec<f64> {
        let half_way = linalg::solve_lower(&self.lower, &self.right);
        linalg::solve_lower_transposed(&self.lower, &half_way)
    }

    /// The best link's coordinates within slope bounds; `active` is where to begin and is updated.
    pub fn minimum_within(
        &self,
        program: &SlopeProgram<'_>,
        active: &mut ActiveBounds,
    ) -> Result<Vec<f64>> {
        program.minimum(&self.lower, &self.right, active)
    }
}
