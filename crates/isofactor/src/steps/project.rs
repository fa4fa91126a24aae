//! The two projections of Algorithm 1.

use crate::{
    error::Result,
    factors::Factors,
    linalg,
    link::{
        LearnedLink, SlopeBounds,
        monotone::{ActiveBounds, SlopeProgram},
    },
};

/// P_C: every row of `Z` longer than `radius` is scaled back to it.
pub fn project_factors(factors: &mut Factors, radius: f64) {
    let rank = factors.rank();
    clip_rows(factors.rows_mut(), rank, radius);
    clip_rows(factors.columns_mut(), rank, radius);
}

fn clip_rows(side: &mut [f64], rank: usize, radius: f64) {
    for z in side.chunks_exact_mut(rank) {
        let length = linalg::dot(z, z).sqrt();
        if length > radius {
            z.iter_mut().for_each(|x| *x *= radius / length);
        }
    }
}

/// P_H: the nearest link, in the norm of the space, whose slope keeps to the bounds at every node
/// of the table (a few hundred per bandwidth's worth of domain).
pub fn project_link(
    link: LearnedLink,
    bounds: SlopeBounds,
    active: &mut ActiveBounds,
) -> Result<LearnedLink> {
    let space = link.space().clone();
    let rows = space.slope_rows();
    let program = SlopeProgram { rows: &rows, scale: space.grid().spacing(), bounds };
    let weights = program.project(link.weights(), active)?;
    let unchanged = weights == link.weights();
    Ok(if unchanged { link } else { LearnedLink::new(space.clone(), weights) })
}

/// Whether a link's slope keeps to the bounds at every node of the table.
pub fn keeps_to(link: &LearnedLink, bounds: SlopeBounds) -> bool {
    let rows = link.space().slope_rows();
    let scale = link.space().grid().spacing();
    SlopeProgram { rows: &rows, scale, bounds }.holds(link.weights())
}
