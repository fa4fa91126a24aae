//! Nearest link with bounded slopes (projection P_H): keeps the link increasing and invertible.
//!
//! ```text
//! min |w - w0|^2   subject to   low <= a_l . w <= high   for every row a_l
//! ```
//!
//! with `a_l = psi'(s_l)` the slopes of the basis at the nodes of the table. Solved by the dual
//! active-set method of Goldfarb and Idnani (1983): begin at the unconstrained minimum, take in
//! the most violated bound of every stretch, let go of bounds whose multiplier would turn negative. It ends in
//! finitely many steps, at the solution rather than near it, and can begin from the bounds that
//! were active last time, which between two iterations of a fit are nearly the same.

use std::{borrow::Cow, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{
    error::{NumericalError, Result},
    linalg::{self, Mat},
    link::active_set::Search,
    products,
};

/// Bounds on the slope of a link (`xi` and `Xi` in the paper).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlopeBounds {
    /// Smallest slope.
    pub low: f64,
    /// Largest slope.
    pub high: f64,
}

impl SlopeBounds {
    /// Any link that does not fall.
    pub const INCREASING: SlopeBounds = SlopeBounds { low: 0.0, high: f64::INFINITY };

    /// Both bounds moved inward.
    pub(crate) fn tightened(self, margin: f64) -> Self {
        Self { low: self.low + margin, high: self.high - margin }
    }

    /// Whether the theory's constants exist: `0 < xi` and `Xi < infinity`.
    pub fn suit_the_theory(&self) -> bool {
        self.low > 0.0 && self.high.is_finite()
    }
}

/// Which bound of which row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bound {
    pub row: usize,
    pub upper: bool,
}

/// What one projection leaves for the next: the bounds that held its solution back, and by how
/// much the bounds at the nodes are tightened so that none is crossed between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ActiveBounds {
    held: Vec<Bound>,
    pub(crate) margin: f64,
}

impl ActiveBounds {
    /// Whether the last solution was held back by none.
    pub(crate) fn is_free(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether all bounds are on the slopes of a table with this many nodes.
    pub(crate) fn fit(&self, nodes: usize) -> bool {
        self.held.iter().all(|bound| bound.row < nodes)
    }
}

/// How far outside a bound counts as on it, relative to the steepest slope in play.
const SLACK: f64 = 1e-10;
/// The same where many programs are solved on the way to one answer: a stretch of the link that is
/// held at a bound all along is then held in a few places instead of in most.
const LOOSE_SLACK: f64 = 1e-5;
/// Rows and bounds of one program.
pub(crate) struct SlopeProgram<'a> {
    /// Rows `a_l`, scaled so that `a_l . w` is the slope times `scale`.
    pub rows: &'a [&'a [f64]],
    /// What the rows are scaled by.
    pub scale: f64,
    /// The bounds on the slope; the upper one may be infinite.
    pub bounds: SlopeBounds,
    /// Distances are measured by `v = L'w`, or by `w` itself where there is no `L`.
    metric: Option<&'a Mat<f64>>,
    slack: f64,
}

impl<'a> SlopeProgram<'a> {
    /// A program whose distances are those of the space.
    pub fn new(rows: &'a [&'a [f64]], scale: f64, bounds: SlopeBounds) -> Self {
        Self { rows, scale, bounds, metric: None, slack: SLACK }
    }

    /// The same program with less care for the last digits of the slopes.
    pub fn loosely(self) -> Self {
        Self { slack: LOOSE_SLACK, ..self }
    }

    /// `argmin w'Nw/2 - r'w` within the bounds, with `N = LL'` given by its lower Cholesky factor:
    /// the projection of `v = L^-1 r` where distances are measured by `v = L'w`.
    pub fn minimum(
        &self,
        lower: &Mat<f64>,
        right: &[f64],
        active: &mut ActiveBounds,
    ) -> Result<Vec<f64>> {
        let program = SlopeProgram { metric: Some(lower), ..*self };
        let nearest = program.project(&linalg::solve_lower(lower, right), active)?;
        Ok(program.weights(&nearest).into_owned())
    }

    /// `w` of a point.
    fn weights<'p>(&self, point: &'p [f64]) -> Cow<'p, [f64]> {
        match self.metric {
            Some(lower) => Cow::Owned(linalg::solve_lower_transposed(lower, point)),
            None => Cow::Borrowed(point),
        }
    }

    /// The nearest feasible point to `start`; `active` is where to begin and is updated.
    ///
    /// The search looks at one row in eight, and at those that were ever violated most: the slopes
    /// at neighbouring nodes are nearly the same. All rows are looked at before it ends.
    pub fn project(&self, start: &[f64], active: &mut ActiveBounds) -> Result<Vec<f64>> {
        const STRIDE: usize = 8;
        let all: Vec<usize> = (0..self.rows.len()).collect();
        let slopes = self.slopes(start, &all);
        let steepest = slopes.iter().map(|slope| slope.abs()).fold(0.0, f64::max);
        let slack = self.slack * steepest.max(self.bounds.low * self.scale);
        if self.violations(&slopes, &all, slack).next().is_none() {
            active.held.clear();
            return Ok(start.to_vec());
        }
        let mut search = Search::resume(self, start, &active.held);
        let mut rows: Vec<usize> = all.iter().copied().step_by(STRIDE).collect();
        let look_at = |rows: &mut Vec<usize>, more: Vec<usize>| {
            rows.extend(more);
            rows.sort_unstable();
            rows.dedup();
        };
        look_at(&mut rows, search.active.iter().map(|active| active.bound.row).collect());
        // A solution holds at most as many bounds as there are coordinates. Rounds that begin to look
        // at more rows come to an end by themselves.
        let mut rounds = 0..10 * (start.len() + 10);
        loop {
            let slopes = self.slopes(&search.point, &rows);
            let worst = peaks(self.violations(&slopes, &rows, slack));
            if !worst.is_empty() {
                // Looking again is a round as well: the two ways to find a slope round differently.
                let over = rounds.next().is_none();
                if over || !self.take_in(&mut search, worst, slack, &mut rounds) {
                    break;
                }
                continue;
            }
            let slopes = self.slopes(&search.point, &all);
            let more = peaks(self.violations(&slopes, &all, slack));
            if more.is_empty() {
                active.held = search.active.iter().map(|a| a.bound).collect();
                return Ok(search.point);
            }
            look_at(&mut rows, more.into_iter().map(|bound| bound.row).collect());
        }
        let SlopeBounds { low, high } = self.bounds;
        Err(NumericalError::SlopesInfeasible { low, high }.into())
    }

    /// Takes in bounds that are violated, the worst first, unless those before it have taken care
    /// of it. False when the rounds are over or no feasible point exists.
    fn take_in(
        &self,
        search: &mut Search,
        bounds: Vec<Bound>,
        slack: f64,
        rounds: &mut Range<usize>,
    ) -> bool {
        let mut first = true;
        bounds.into_iter().all(|bound| {
            let (normal, level) = self.half_space(bound);
            let violation = level - linalg::dot(&normal, &search.point);
            // The first was seen to be violated by another way to find its slope, which rounds differently:
            // if it were passed over here, it would be seen again for ever.
            let least = if std::mem::replace(&mut first, false) { slack } else { 0.0 };
            violation <= slack && least == 0.0
                || rounds.next().is_some()
                    && search.take_in(bound, (normal, level), violation.max(least))
        })
    }

    /// `a_l . w` for some rows, at a point.
    fn slopes(&self, point: &[f64], rows: &[usize]) -> Vec<f64> {
        let rows: Vec<&[f64]> = rows.iter().map(|&row| self.rows[row]).collect();
        products::times(&rows, &self.weights(point))
    }

    /// The bounds that the slopes of some rows violate by more than the slack, by how much (in units
    /// of the scaled rows), and where among these rows.
    fn violations(
        &self,
        slopes: &[f64],
        rows: &[usize],
        slack: f64,
    ) -> impl Iterator<Item = (usize, Bound, f64)> {
        let (low, high) = (self.bounds.low * self.scale, self.bounds.high * self.scale);
        let violation = move |(place, (&slope, &row)): (usize, (&f64, &usize))| {
            let (upper, violation) =
                if slope > high { (true, slope - high) } else { (false, low - slope) };
            (violation > slack).then_some((place, Bound { row, upper }, violation))
        };
        slopes.iter().zip(rows).enumerate().filter_map(violation)
    }

    /// The inward normal `n` and the level `b` of a bound `n . v >= b`: `L^-1 a_l` up to its sign.
    pub(super) fn half_space(&self, bound: Bound) -> (Vec<f64>, f64) {
        let sign = if bound.upper { -1.0 } else { 1.0 };
        let level = if bound.upper { -self.bounds.high } else { self.bounds.low };
        let normal: Vec<f64> = self.rows[bound.row].iter().map(|a| sign * a).collect();
        let normal = match self.metric {
            Some(lower) => linalg::solve_lower(lower, &normal),
            None => normal,
        };
        (normal, level * self.scale)
    }
}

/// The worst bound of each run of violated ones, the worst of all first.
fn peaks(violations: impl Iterator<Item = (usize, Bound, f64)>) -> Vec<Bound> {
    let mut peaks: Vec<(Bound, f64)> = Vec::new();
    let mut last = None;
    for (place, bound, violation) in violations {
        match peaks.last_mut() {
            Some(peak) if last == place.checked_sub(1) && peak.0.upper == bound.upper => {
                if violation > peak.1 {
                    *peak = (bound, violation);
                }
            }
            _ => peaks.push((bound, violation)),
        }
        last = Some(place);
    }
    peaks.sort_by(|a, b| b.1.total_cmp(&a.1));
    peaks.into_iter().map(|(bound, _)| bound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        linalg::add_scaled,
        link::{Kernel, KernelFamily, LinkSpace},
    };
    use clarabel::algebra::CscMatrix;
    use clarabel::solver::{
        DefaultSettingsBuilder, DefaultSolver, IPSolver, SupportedConeT::NonnegativeConeT,
    };
    use proptest::prelude::*;

    fn space() -> LinkSpace {
        let kernel = Kernel::try_new(KernelFamily::Gaussian, 0.5).unwrap();
        LinkSpace::build(kernel, 1.0).unwrap()
    }

    /// A smooth link: a few kernel sections.
    fn link(space: &LinkSpace, coefficients: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; space.dimension()];
        for (i, &c) in coefficients.iter().enumerate() {
            let x = 1.8 * (i as f64 + 0.5) / coefficients.len() as f64 - 0.9;
            add_scaled(&mut weights, c, &space.coordinates(x));
        }
        weights
    }

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn a_slope_that_misses_its_bound_by_the_slack_to_the_last_digit_is_no_endless_search() {
        let space = space();
        let rows = space.slope_rows();
        let all: Vec<usize> = (0..rows.len()).collect();
        for shape in 0..200 {
            let w = link(&space, &[-1.0, 0.01 * f64::from(shape), 1.0]);
            let free = SlopeProgram::new(&rows, 1.0, SlopeBounds::INCREASING);
            let slopes = free.slopes(&w, &all);
            let least = slopes.iter().copied().fold(f64::INFINITY, f64::min);
            let slack = SLACK * slopes.iter().copied().fold(0.0, f64::max);
            let mut low = least + slack * (1.0 - 1e-5);
            while low < least + slack * (1.0 + 1e-5) {
                let program = SlopeProgram::new(&rows, 1.0, SlopeBounds { low, high: f64::MAX });
                assert!(program.project(&w, &mut ActiveBounds::default()).is_ok(), "{shape} {low}");
                low = low.next_up();
            }
        }
    }

    /// Largest violation of the optimality conditions at `w`: feasibility, sign of multipliers
    /// (found by a fresh search from the active bounds), stationarity.
    fn kkt_residual(
        program: &SlopeProgram<'_>,
        start: &[f64],
        w: &[f64],
        active: &ActiveBounds,
    ) -> f64 {
        let mut search = Search::holding(program, start, &active.held);
        search.solve_multipliers(start);
        let mut stationarity = start.to_vec();
        for a in &search.active {
            add_scaled(&mut stationarity, a.multiplier, &a.normal);
        }
        let negative = search.active.iter().map(|a| -a.multiplier).fold(0.0, f64::max);
        let all: Vec<usize> = (0..program.rows.len()).collect();
        let slopes = program.slopes(w, &all);
        let violations = program.violations(&slopes, &all, 0.0);
        let infeasible = violations.map(|(_, _, v)| v / program.scale).fold(0.0, f64::max);
        negative.max(infeasible).max(distance(&stationarity, w))
    }

    /// The same projection by a general interior-point solver.
    fn by_clarabel(program: &SlopeProgram<'_>, start: &[f64]) -> Vec<f64> {
        let m = start.len();
        let (mut rows, mut levels) = (Vec::new(), Vec::new());
        for (sign, level) in [(-1.0, -program.bounds.low), (1.0, program.bounds.high)] {
            for row in program.rows {
                rows.push(row.iter().map(|a| sign * a / program.scale).collect::<Vec<f64>>());
                levels.push(level);
            }
        }
        let identity = CscMatrix::identity(m);
        let constraints = CscMatrix::from(&rows);
        let q: Vec<f64> = start.iter().map(|w| -w).collect();
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(1e-12)
            .tol_gap_rel(1e-12)
            .tol_feas(1e-12)
            .build()
            .unwrap();
        let cones = [NonnegativeConeT(levels.len())];
        let mut solver =
            DefaultSolver::new(&identity, &q, &constraints, &levels, &cones, settings).unwrap();
        solver.solve();
        solver.solution.x.clone()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn projections_are_optimal_idempotent_and_non_expansive(
            first in prop::collection::vec(-3.0f64..3.0, 6),
            second in prop::collection::vec(-3.0f64..3.0, 6),
            low in 0.0f64..0.5,
            width in prop_oneof![Just(f64::INFINITY), 0.3f64..3.0],
        ) {
            let space = space();
            let rows = space.slope_rows();
            let bounds = SlopeBounds { low, high: low + width };
            let program = SlopeProgram::new(&rows, space.grid().spacing(), bounds);
            let (a, b) = (link(&space, &first), link(&space, &second));
            let mut active = ActiveBounds::default();
            let near_a = program.project(&a, &mut active).unwrap();
            prop_assert!(kkt_residual(&program, &a, &near_a, &active) < 1e-8);
            let again = program.project(&near_a, &mut ActiveBounds::default()).unwrap();
            prop_assert!(distance(&again, &near_a) < 1e-8);
            // From the bounds of another projection the answer is the same.
            let near_b = program.project(&b, &mut ActiveBounds::default()).unwrap();
            let warm = program.project(&b, &mut active).unwrap();
            prop_assert!(distance(&warm, &near_b) < 1e-7);
            prop_assert!(distance(&near_a, &near_b) <= distance(&a, &b) + 1e-8);
        }
    }

    #[test]
    fn a_general_solver_finds_the_same_link() {
        let space = space();
        let rows = space.slope_rows();
        for (k, (low, high)) in [(0.0, 5.0), (0.2, 1.0), (0.4, 0.6)].into_iter().enumerate() {
            let bounds = SlopeBounds { low, high };
            let program = SlopeProgram::new(&rows, space.grid().spacing(), bounds);
            let coefficients: Vec<f64> = (0..6).map(|i| ((3 * k + i) as f64 * 1.7).sin()).collect();
            let start = link(&space, &coefficients);
            let ours = program.project(&start, &mut ActiveBounds::default()).unwrap();
            let theirs = by_clarabel(&program, &start);
            let (d, e) = (distance(&ours, &start), distance(&theirs, &start));
            assert!((d - e).abs() < 1e-7 * d, "{d} against {e}");
            assert!(distance(&ours, &theirs) < 1e-4 * d);
        }
    }

    #[test]
    fn what_keeps_to_the_bounds_is_left_alone() {
        let space = space();
        let rows = space.slope_rows();
        let bounds = SlopeBounds { low: 0.0, high: 100.0 };
        let program = SlopeProgram::new(&rows, space.grid().spacing(), bounds);
        let increasing = space.nearest(|x| (2.0 * x).tanh()).unwrap();
        let near = program.project(&increasing, &mut ActiveBounds::default()).unwrap();
        assert_eq!(near, increasing);
    }
}
