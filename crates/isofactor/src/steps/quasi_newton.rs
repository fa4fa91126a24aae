//! Quasi-Newton steps of the factors, with the link at its best for them all the way.
//!
//! ```text
//! F(Z)   = min_phi L(phi, Z)              phi within the slope bounds
//! grad F = grad_Z L(phi_sharp(Z), Z)      at its best the link has no gradient of its own
//! Z     <- P_C(Z + t d),  d = -H grad F
//! ```
//!
//! with `H` the inverse Hessian that the last steps and changes of the gradient tell of
//! (limited-memory BFGS), and `t` shortened from 1 until `F` falls enough. With the link out of the
//! way the scale that factors and link share is settled at every step, which is what Algorithm 1
//! spends most of its iterations on.

use std::{borrow::Cow, collections::VecDeque, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{MOST_HALVINGS, Problem, State, WILD, project::turn_inward};
use crate::{
    error::Result,
    factors::Factors,
    linalg,
    link::{Link, LinkSpace},
    observations::Shape,
    passes::Need,
};

/// How many steps are remembered: more tell little more and cost a pass over the factors each.
const REMEMBERED: usize = 3;
/// The share of what the gradient promises that a step must bring.
const ENOUGH: f64 = 1e-4;
/// A step too long is shortened to at most this and at least that share of itself.
const SHORTER: (f64, f64) = (0.5, 0.1);
/// How many times as wide a domain becomes that is too narrow.
const WIDER: f64 = 1.5;
/// How many trials that would leave the domain there are before a wider one is tried; the waiting
/// about doubles with every attempt that does not pay.
const FIRST_PATIENCE: u32 = 10;
/// The first step, as a share of the factors' length.
const FIRST: f64 = 0.1;
/// A change of the gradient along a step with a smaller cosine tells nothing of the curvature.
const FLAT: f64 = 1e-10;

/// What steps leave for the next ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The oldest first.
    pairs: VecDeque<Pair>,
    /// The last step, and the descent where it began.
    last: Option<(Factors, Factors)>,
    /// How many times its descent the last step was that was made without a memory.
    length: Option<f64>,
    /// Trials that would have left the domain since it was last tried wider.
    hemmed: u32,
    /// How many there are until it is tried wider again, beyond the first few.
    patience: u32,
}

/// A step `s` and by how much the descent `-grad F` became less along it, `y`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pair {
    step: Factors,
    change: Factors,
    /// `s . y`, positive
    product: f64,
}

impl Memory {
    /// Whether it can be that of a fit of this shape and rank.
    pub(crate) fn fits(&self, shape: Shape, rank: usize) -> bool {
        let fits = |z: &Factors| z.shape() == shape && z.rank() == rank;
        self.pairs.iter().all(|pair| fits(&pair.step) && fits(&pair.change))
            && self.last.as_ref().is_none_or(|(step, descent)| fits(step) && fits(descent))
    }

    /// Whether it is time to try a wider domain.
    fn domain(&self) -> Domain {
        match self.hemmed > self.patience.saturating_add(FIRST_PATIENCE) {
            true => Domain::MayGrow,
            false => Domain::Stays,
        }
    }

    /// A trial would have left the domain; if a wider one was tried, in vain.
    fn hem(&mut self, tried: Domain) {
        match tried {
            Domain::Stays => self.hemmed = self.hemmed.saturating_add(1),
            Domain::MayGrow => (self.hemmed, self.patience) = (0, self.hemmed.saturating_mul(2)),
        }
    }

    /// Learns the curvature along the last step from the descent at its end.
    fn learn(&mut self, descent: &Factors) {
        let Some((step, mut change)) = self.last.take() else { return };
        let [product, steps, changes] = change.update([descent, &step], |before, [after, s]| {
            let y = before - after;
            (y, [s * y, s * s, y * y])
        });
        if product > FLAT * (steps * changes).sqrt() {
            self.pairs.push_back(Pair { step, change, product });
            if self.pairs.len() > REMEMBERED {
                self.pairs.pop_front();
            }
        }
    }

    /// `H` times a descent, by the recursion of Nocedal (1980) from `H_0` in the scale of the last
    /// step; none without a memory.
    fn direction(&self, descent: &Factors, metric: &Metric) -> Option<Factors> {
        let newest = self.pairs.back()?;
        let mut shares = vec![newest.step.inner(descent) / newest.product];
        let mut direction = descent.moved(-shares[0], &newest.change);
        for pair in self.pairs.iter().rev().skip(1) {
            let share = pair.step.inner(&direction) / pair.product;
            direction.update([&pair.change], |q, [y]| (q - share * y, []));
            shares.push(share);
        }
        let scale = newest.product / newest.change.inner(&metric.times(&newest.change));
        direction = metric.times(&direction);
        direction.scale(scale);
        for (pair, share) in self.pairs.iter().zip(shares.iter().rev()) {
            let rest = share - pair.change.inner(&direction) / pair.product;
            direction.update([&pair.step], |d, [s]| (d + rest * s, []));
        }
        Some(direction)
    }
}

/// `H_0`: what a memory of no steps says, `(V'V)^-1` for rows and `(U'U)^-1` for columns.
///
/// That is the curvature if all entries were observed and the link were straight (Tong, Ma and Chi
/// 2021): factors that explain little move as fast as those that explain most.
struct Metric {
    /// Row after row, four abreast like the factors.
    of_rows: Vec<f64>,
    of_columns: Vec<f64>,
}

/// A direction that explains less than this share of the best explained one is not told from it.
const LEAST_SHARE: f64 = 1e-6;

impl Metric {
    fn at(factors: &Factors) -> Result<Self> {
        let (of_rows, of_columns) = factors.squares();
        let rank = factors.rank();
        Ok(Self { of_rows: inverse(&of_columns, rank)?, of_columns: inverse(&of_rows, rank)? })
    }

    fn times(&self, direction: &Factors) -> Factors {
        direction.turned(&self.of_rows, &self.of_columns)
    }
}

/// The inverse of the first rows and columns of a positive semidefinite matrix, row after row, the
/// rest zero; eigenvalues count as no smaller than [`LEAST_SHARE`] of the largest.
fn inverse(square: &[f64], rank: usize) -> Result<Vec<f64>> {
    let size = square.len().isqrt();
    let first = linalg::row_major(square, size, size).submatrix(0, 0, rank, rank);
    let (values, vectors) = linalg::symmetric_eigen(first)?;
    let largest = values.iter().fold(0.0f64, |a, &b| a.max(b));
    let least = (LEAST_SHARE * largest).max(f64::MIN_POSITIVE);
    let mut inverse = vec![0.0; square.len()];
    for (j, value) in values.iter().enumerate() {
        let vector = vectors.col_as_slice(j);
        for (row, v) in inverse.chunks_exact_mut(size).zip(vector) {
            linalg::add_scaled(&mut row[..rank], v / value.max(least), vector);
        }
    }
    Ok(inverse)
}

/// How a search along a direction ended.
enum Found {
    /// This share of the direction brought enough, by this step.
    Better(f64, Factors),
    /// No share of it does.
    Nothing,
}

/// Whether the link's domain may become wider.
#[derive(Clone, Copy, PartialEq)]
enum Domain {
    Stays,
    MayGrow,
}

/// What became of a trial.
enum Trial {
    Taken,
    /// The objective is too high.
    Refused(f64),
    /// Scores leave the link's domain, and a wider one does not pay.
    Beyond,
}

impl Problem<'_> {
    /// Moves the factors, and the link with them. False when no step of any length lowers the
    /// objective.
    pub fn step_jointly(&mut self, state: &mut State) -> Result<bool> {
        if state.evaluated.pull.is_none() {
            self.best_from_here(state)?;
        }
        let Some(pull) = state.evaluated.pull.take() else { return Ok(false) };
        let descent = self.objective.factor_descent(&self.entries, &state.factors, pull);
        let free = match self.radius {
            Some(_) => Cow::Owned(self.inward(descent.clone(), &state.factors)),
            None => Cow::Borrowed(&descent),
        };
        self.memory.learn(&free);
        let metric = Metric::at(&state.factors)?;
        let mut found = Found::Nothing;
        if let Some(direction) = self.memory.direction(&free, &metric) {
            let direction = self.inward(direction, &state.factors);
            let domain = self.memory.domain();
            found = self.search_along(state, &descent, direction, domain);
        }
        if matches!(found, Found::Nothing) {
            found = self.step_straight(state, &descent, &free);
        }
        let Found::Better(_, step) = found else { return Ok(false) };
        self.memory.last = Some((step, free.into_owned()));
        Ok(true)
    }

    /// A step straight down, without a memory, on whatever domain.
    fn step_straight(&mut self, state: &mut State, descent: &Factors, free: &Factors) -> Found {
        self.memory.pairs.clear();
        let first = || FIRST * state.factors.norm() / free.norm();
        let length = self.memory.length.unwrap_or_else(first);
        let mut direction = free.clone();
        direction.scale(length);
        let found = self.search_along(state, descent, direction, Domain::MayGrow);
        if let Found::Better(share, _) = found {
            self.memory.length = Some(share * length);
        }
        found
    }

    /// A direction without what would carry a row or column at the radius beyond it.
    fn inward(&self, mut direction: Factors, factors: &Factors) -> Factors {
        if let Some(radius) = self.radius {
            turn_inward(&mut direction, factors, radius);
        }
        direction
    }

    /// The best link for the factors as they are, and what the entries pull.
    fn best_from_here(&mut self, state: &mut State) -> Result<()> {
        if let Some(space) = state.link.learned().map(|link| link.space().clone()) {
            state.link = Link::Learned(self.best_link(&state.scores, &space)?);
        }
        self.evaluate(state, Need::Pull)
    }

    /// Goes along a direction as far as it brings enough.
    ///
    /// Where scores would leave the link's domain, the rows and columns that carry them there stay
    /// where they are, unless a wider domain is tried and pays: slope bounds on more of the line
    /// mostly cost more than a few entries bring.
    fn search_along(
        &mut self,
        state: &mut State,
        descent: &Factors,
        mut direction: Factors,
        mut domain: Domain,
    ) -> Found {
        let before = state.value.total();
        let mut share = 1.0;
        for _ in 0..MOST_HALVINGS {
            let mut factors = state.factors.moved(share, &direction);
            self.project(&mut factors);
            let step = factors.moved(-1.0, &state.factors);
            let promised = descent.inner(&step);
            if promised.is_nan() || promised <= f64::EPSILON * before {
                break;
            }
            match self.try_jointly(state, factors, before - ENOUGH * promised, domain) {
                Trial::Taken => return Found::Better(share, step),
                Trial::Beyond => {
                    self.hold_inside(&mut direction, state);
                    self.memory.hem(domain);
                    domain = Domain::Stays;
                }
                Trial::Refused(reached) => {
                    // The lowest point of the parabola through what is known.
                    let lowest = promised / (2.0 * (reached - before + promised));
                    share *= lowest.clamp(SHORTER.1, SHORTER.0);
                }
            }
        }
        // The scores are those of the last trial.
        self.entries.scores(&state.factors, &mut state.scores);
        Found::Nothing
    }

    /// Takes the factors with their best link if they bring the objective down to `allowed`. The
    /// scores become those of the trial either way.
    fn try_jointly(
        &mut self,
        state: &mut State,
        factors: Factors,
        allowed: f64,
        domain: Domain,
    ) -> Trial {
        let largest = self.entries.scores(&factors, &mut state.scores);
        let beyond = is_just_beyond(&state.link, largest);
        if beyond && domain == Domain::Stays {
            return Trial::Beyond;
        }
        let Some(link) = self.link_of_trial(state, largest) else {
            return Trial::Refused(f64::INFINITY);
        };
        let (entries, trial) = (&self.entries, &mut self.trial);
        entries.evaluate(&factors, &state.scores, &link, Need::Pull, trial);
        let value = self.objective.value(entries, &factors, &link, trial);
        match value.total() {
            total if total <= allowed => {
                (state.factors, state.link, state.value) = (factors, link, value);
                state.evaluated.exchange(&mut self.trial);
                Trial::Taken
            }
            _ if beyond => Trial::Beyond,
            total if total.is_nan() => Trial::Refused(f64::INFINITY),
            total => Trial::Refused(total),
        }
    }

    /// The best link for the scores of a trial, on a wider domain where they need one; none where
    /// they are flung out of all proportion.
    fn link_of_trial(&mut self, state: &State, largest: f64) -> Option<Link> {
        let Link::Learned(link) = &state.link else { return Some(state.link.clone()) };
        let half_width = link.space().half_width();
        if largest.is_nan() || largest > WILD * half_width {
            return None;
        }
        let space = match largest <= half_width {
            true => link.space().clone(),
            false => self.wider_space(link.space(), largest)?,
        };
        self.best_link(&state.scores, &space).ok().map(Link::Learned)
    }

    /// The space over the first domain in a row of ever wider ones that covers `largest`; none
    /// where it is too wide for any basis. It is remembered: the next trial will ask for it again.
    fn wider_space(&mut self, space: &LinkSpace, largest: f64) -> Option<Arc<LinkSpace>> {
        let mut half_width = space.half_width();
        while half_width < largest {
            half_width *= WIDER;
        }
        if self.wider.as_ref().is_none_or(|wider| wider.half_width() != half_width) {
            self.wider = LinkSpace::build(space.kernel(), half_width).ok().map(Arc::new);
        }
        self.wider.clone()
    }

    /// Takes rows and columns out of a direction that carry scores out of the link's domain.
    fn hold_inside(&self, direction: &mut Factors, state: &State) {
        let Some(link) = state.link.learned() else { return };
        let half_width = link.space().half_width();
        for (entry, score) in self.entries.observations().iter().zip(&state.scores) {
            if score.abs() > half_width {
                direction.row_mut(entry.row).fill(0.0);
                direction.column_mut(entry.column).fill(0.0);
            }
        }
    }
}

/// Whether scores leave a learned link's domain, but not out of all proportion.
fn is_just_beyond(link: &Link, largest: f64) -> bool {
    link.learned().is_some_and(|link| {
        let half_width = link.space().half_width();
        largest > half_width && largest <= WILD * half_width
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::LossScale,
        init::random_factors,
        link::{Kernel, KernelFamily, LearnedLink, SlopeBounds},
        objective::Objective,
        observations::Observations,
        passes::Entries,
        steps::StepLength,
    };

    const SHAPE: Shape = Shape { rows: 30, columns: 20 };

    fn memory() -> Memory {
        let pair = |seed| {
            let (step, noise) =
                (random_factors(SHAPE, 3, seed), random_factors(SHAPE, 3, seed + 9));
            let change = step.moved(0.3, &noise);
            let product = step.inner(&change);
            Pair { step, change, product }
        };
        Memory { pairs: (0..3).map(pair).collect(), ..Memory::default() }
    }

    #[test]
    fn the_newest_change_leads_back_to_its_step() {
        // The secant equation `H y = s`, whatever `H_0` is.
        let memory = memory();
        let metric = Metric::at(&random_factors(SHAPE, 3, 5)).unwrap();
        let newest = memory.pairs.back().unwrap();
        let found = memory.direction(&newest.change, &metric).unwrap();
        let off = found.moved(-1.0, &newest.step).norm();
        assert!(off < 1e-10 * newest.step.norm(), "{off}");
    }

    #[test]
    fn what_a_memory_says_is_symmetric_and_positive() {
        let (memory, metric) = (memory(), Metric::at(&random_factors(SHAPE, 3, 5)).unwrap());
        let (a, b) = (random_factors(SHAPE, 3, 6), random_factors(SHAPE, 3, 7));
        let times = |z: &Factors| memory.direction(z, &metric).unwrap();
        let (ab, ba) = (a.inner(&times(&b)), b.inner(&times(&a)));
        assert!((ab - ba).abs() < 1e-10 * ab.abs().max(1.0), "{ab} {ba}");
        assert!(a.inner(&times(&a)) > 0.0);
    }

    #[test]
    fn the_metric_undoes_the_squares() {
        let z = random_factors(SHAPE, 3, 5);
        let (of_rows, of_columns) = z.squares();
        let there = random_factors(SHAPE, 3, 6);
        let back = Metric::at(&z).unwrap().times(&there.turned(&of_columns, &of_rows));
        assert!(back.moved(-1.0, &there).norm() < 1e-9 * there.norm());
    }

    #[test]
    fn the_descent_is_the_slope_of_the_objective_with_the_best_link() {
        let observations = Observations::complete(SHAPE, |i, t| {
            (i as f64 * 0.7).sin() * (t as f64 * 0.4).cos() + 0.1 * ((i * t) as f64).sin()
        })
        .unwrap();
        let kernel = Kernel::try_new(KernelFamily::Gaussian, 0.5).unwrap();
        let space = Arc::new(LinkSpace::build(kernel, 4.0).unwrap());
        let objective = Objective { loss: LossScale::Sum, link_penalty: 0.1, balance_penalty: 0.5 };
        for bounds in [None, Some(SlopeBounds::INCREASING)] {
            let search = StepLength::SEARCH;
            let entries = Entries::new(&observations);
            let mut problem = Problem::new(entries, objective, None, bounds, search, search);
            let mut best = |factors: Factors| {
                let link = Link::Learned(LearnedLink::zero(space.clone()));
                let mut state = problem.state(factors, link).unwrap();
                problem.best_from_here(&mut state).unwrap();
                let pull = state.evaluated.pull.take().unwrap();
                let gradient = objective.factor_descent(&problem.entries, &state.factors, pull);
                (state.value.total(), gradient)
            };
            let (z, direction) = (random_factors(SHAPE, 2, 1), random_factors(SHAPE, 2, 2));
            let z = z.moved(-0.5, &z);
            let (_, descent) = best(z.clone());
            let step = 1e-4;
            let (ahead, behind) =
                (best(z.moved(step, &direction)), best(z.moved(-step, &direction)));
            let slope = (behind.0 - ahead.0) / (2.0 * step);
            let expected = descent.inner(&direction);
            assert!((slope - expected).abs() < 1e-3 * expected.abs(), "{slope} {expected}");
        }
    }
}
