//! The two projections of Algorithm 1.

use rayon::prelude::*;

use crate::{
    error::Result,
    factors::{CHUNK, Factors},
    linalg,
    link::{
        LearnedLink, SlopeBounds,
        monotone::{ActiveBounds, SlopeProgram},
    },
    simd::{self, Kernel, LANES, Lanes, Machine},
};

/// P_C: every row of `Z` longer than `radius` is scaled back to it.
pub fn project_factors(factors: &mut Factors, radius: f64) {
    let (width, rank) = (factors.width(), factors.rank());
    let (rows, columns) = factors.both_mut();
    let chunks = rows.par_chunks_mut(CHUNK * width).chain(columns.par_chunks_mut(CHUNK * width));
    chunks.for_each(|units| project_units(units, rank, radius));
}

/// P_C of some rows of `Z`, as factors hold them.
pub(super) fn project_units(units: &mut [Lanes], rank: usize, radius: f64) {
    simd::dispatch(Clip { units, width: rank.div_ceil(LANES), rank, radius });
}

/// P_C of some rows of `Z`.
struct Clip<'a> {
    units: &'a mut [Lanes],
    width: usize,
    rank: usize,
    radius: f64,
}

impl Kernel for Clip<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        for z in self.units.chunks_exact_mut(self.width) {
            clip(&mut z.as_flattened_mut()[..self.rank], self.radius);
        }
    }
}

/// Scales numbers back to the radius if they are longer.
#[inline(always)]
pub(crate) fn clip(z: &mut [f64], radius: f64) {
    let squares = linalg::dot(z, z);
    if squares > radius * radius {
        let length = squares.sqrt();
        z.iter_mut().for_each(|x| *x *= radius / length);
    }
}

/// Takes from a direction what would carry a row of `Z` that is at the radius beyond it.
pub fn turn_inward(direction: &mut Factors, factors: &Factors, radius: f64) {
    let at_radius = (radius * (1.0 - 1e-9)).powi(2);
    direction.units_mut().zip(factors.units()).for_each(|(d, z)| {
        let (squares, outward) = (linalg::dot(z, z), linalg::dot(d, z));
        if squares >= at_radius && outward > 0.0 {
            linalg::add_scaled(d, -outward / squares, z);
        }
    });
}

/// P_H: the nearest link, in the norm of the space, whose slope keeps to the bounds.
pub fn project_link(
    link: LearnedLink,
    bounds: SlopeBounds,
    active: &mut ActiveBounds,
) -> Result<LearnedLink> {
    // A link inside the bounds stays as it is, as its table shows, which the passes need anyway. After one
    // that was held back the next one most likely is too, and its table would be made in vain.
    if active.is_free() && is_inside(&link, bounds.tightened(active.margin)) {
        return Ok(link);
    }
    let space = link.space().clone();
    let rows = space.slope_rows();
    within(bounds, active, |bounds, active| {
        let program = SlopeProgram::new(&rows, space.grid().spacing(), bounds);
        Ok(LearnedLink::new(space.clone(), program.project(link.weights(), active)?))
    })
}

/// How far outside its bounds a slope may be, relative to the steepest one.
const SLACK: f64 = 1e-8;

/// Whether a link's slope keeps to the bounds all over its domain.
pub fn keeps_to(link: &LearnedLink, bounds: SlopeBounds) -> bool {
    violation(link, bounds) <= 0.0
}

/// Whether a link's slope keeps to the bounds all over its domain without any slack.
fn is_inside(link: &LearnedLink, bounds: SlopeBounds) -> bool {
    let (lowest, highest) = link.slope_range();
    bounds.low <= lowest && highest <= bounds.high
}

/// By how much the slope leaves the bounds, less the slack.
fn violation(link: &LearnedLink, bounds: SlopeBounds) -> f64 {
    let (lowest, highest) = link.slope_range();
    let slack = SLACK * highest.abs().max(bounds.low);
    (bounds.low - lowest).max(highest - bounds.high) - slack
}

/// A link found under bounds that hold at the nodes of the table only, made to hold between them
/// too: where the slope bulges out between two nodes, the bounds at the nodes are tightened by
/// twice the bulge, which is some hundred-thousandth of the slope.
///
/// The margin is remembered: all links of a fit are projected onto the same set, once it is found.
pub fn within(
    bounds: SlopeBounds,
    active: &mut ActiveBounds,
    mut find: impl FnMut(SlopeBounds, &mut ActiveBounds) -> Result<LearnedLink>,
) -> Result<LearnedLink> {
    const MOST_TIGHTENINGS: usize = 6;
    let mut link = find(bounds.tightened(active.margin), active)?;
    for _ in 0..MOST_TIGHTENINGS {
        let bulge = violation(&link, bounds);
        let tighter = bounds.tightened(active.margin + 2.0 * bulge);
        if bulge <= 0.0 || tighter.low >= tighter.high {
            break;
        }
        active.margin += 2.0 * bulge;
        link = find(tighter, active)?;
    }
    Ok(link)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        init::random_factors,
        link::{Kernel, KernelFamily, LinkSpace},
        observations::Shape,
    };

    #[test]
    fn a_link_inside_the_bounds_stays_as_it_is_and_one_outside_does_not_whatever_came_before() {
        let kernel = Kernel::try_new(KernelFamily::Gaussian, 0.7).unwrap();
        let space = Arc::new(LinkSpace::build(kernel, 1.0).unwrap());
        let link = |f: fn(f64) -> f64| LearnedLink::new(space.clone(), space.nearest(f).unwrap());
        let (inside, outside) = (link(|x| x + 0.1 * x * x), link(|x| x * x - 0.3 * x));
        let bounds = SlopeBounds { low: 0.2, high: 1.8 };
        let mut held_back = ActiveBounds::default();
        let projected = project_link(outside.clone(), bounds, &mut held_back).unwrap();
        assert!(!held_back.is_free() && keeps_to(&projected, bounds));
        assert!(projected.distance(outside.weights()) > 0.1);
        for mut active in [ActiveBounds::default(), held_back] {
            let kept = project_link(inside.clone(), bounds, &mut active).unwrap();
            assert_eq!(kept.weights(), inside.weights());
            assert!(active.is_free());
            let again = project_link(outside.clone(), bounds, &mut active).unwrap();
            assert!(again.distance(projected.weights()) < 1e-6, "{active:?}");
        }
        // On the bound to the last digit, and a little outside of the tightened one.
        let (lowest, highest) = inside.slope_range();
        for (margin, stays) in [(0.0, true), (1e-3, false)] {
            let mut active = ActiveBounds::default();
            active.margin = margin;
            let bounds = SlopeBounds { low: lowest, high: highest };
            let found = project_link(inside.clone(), bounds, &mut active).unwrap();
            assert_eq!(found.weights() == inside.weights(), stays);
        }
    }

    #[test]
    fn only_what_leads_beyond_the_radius_is_taken_from_a_direction() {
        let shape = Shape { rows: 40, columns: 30 };
        let (mut z, direction) = (random_factors(shape, 3, 1), random_factors(shape, 3, 2));
        let radius = 0.8 * z.longest_row();
        project_factors(&mut z, radius);
        let mut turned = direction.clone();
        turn_inward(&mut turned, &z, radius);
        let (mut at_radius, mut untouched) = (0, 0);
        for ((z, before), after) in z.each_row().zip(direction.each_row()).zip(turned.each_row()) {
            let outward = linalg::dot(before, z);
            if linalg::dot(z, z) >= radius * radius * (1.0 - 1e-6) && outward > 0.0 {
                assert!(linalg::dot(after, z).abs() < 1e-12);
                at_radius += 1;
            } else {
                assert_eq!(before, after);
                untouched += 1;
            }
        }
        assert!(at_radius > 0 && untouched > 0, "{at_radius} {untouched}");
    }
}
