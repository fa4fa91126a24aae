//! Where the factors begin.

mod random;
mod spectral;

pub use random::random_factors;
pub use spectral::spectral_factors;

use crate::{
    error::{DataError, Result},
    factors::Factors,
    observations::Shape,
};

/// Accepts given factors if they fit the data.
pub fn given_factors(factors: &Factors, shape: Shape, rank: usize) -> Result<Factors> {
    if factors.shape() != shape || factors.rank() != rank {
        return Err(DataError::StartMismatch {
            got_rows: factors.shape().rows,
            got_columns: factors.shape().columns,
            got_rank: factors.rank(),
            rows: shape.rows,
            columns: shape.columns,
            rank,
        }
        .into());
    }
    Ok(factors.clone())
}
