//! Random start: independent normal factors.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use crate::{factors::Factors, observations::Shape};

/// Normal factors with variance `1/sqrt(r)`, so that scores have mean 0 and variance 1.
pub fn random_factors(shape: Shape, rank: usize, seed: u64) -> Factors {
    let mut random = Pcg64::seed_from_u64(seed);
    let deviation = (rank as f64).powf(-0.25);
    let mut factors = Factors::zeros(shape, rank);
    let mut fill = |side: &mut [f64]| {
        for z in side {
            let normal: f64 = StandardNormal.sample(&mut random);
            *z = deviation * normal;
        }
    };
    factors.each_row_mut().for_each(&mut fill);
    factors.each_column_mut().for_each(&mut fill);
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_and_scores_have_unit_variance() {
        let shape = Shape { rows: 60, columns: 50 };
        let factors = random_factors(shape, 4, 1);
        assert_eq!(factors, random_factors(shape, 4, 1));
        assert_ne!(factors, random_factors(shape, 4, 2));
        let squares: f64 = (0..60)
            .flat_map(|i| (0..50).map(move |t| (i, t)))
            .map(|(i, t)| factors.score(i, t).powi(2))
            .sum();
        assert!((squares / 3000.0 - 1.0).abs() < 0.3, "{}", squares / 3000.0);
    }
}
