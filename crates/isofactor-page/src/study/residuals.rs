//! The distribution of the residuals: spread, tails, and how well the error itself is known.

use isofactor::KnownLink;

use super::pass::Pass;

/// Residuals of a set of entries.
#[derive(Debug, Clone)]
pub struct Residuals {
    pub mean: f64,
    /// `s`: their standard deviation around the mean.
    pub deviation: f64,
    /// `m4 / m2^2 - 3`: zero for a normal distribution.
    pub excess_kurtosis: f64,
    /// `(g - mean) / s`, increasing.
    pub standardised: Vec<f64>,
    /// Standard error of the root mean squared error.
    pub rmse_error: f64,
}

impl Residuals {
    pub fn of(pass: &Pass) -> Self {
        let raw: Vec<f64> = pass.kept.iter().map(|seen| seen.residual()).collect();
        let share = pass.kept.len() as f64 / pass.count as f64;
        Self::from_raw(&raw, share)
    }

    /// `share` is how much of all residuals these are.
    fn from_raw(raw: &[f64], share: f64) -> Self {
        let count = raw.len() as f64;
        let mean_of = |f: &dyn Fn(f64) -> f64| raw.iter().map(|&g| f(g)).sum::<f64>() / count;
        let mean = mean_of(&|g| g);
        let deviation = mean_of(&|g| (g - mean).powi(2)).sqrt();
        let scale = if deviation > 0.0 { deviation } else { 1.0 };
        let fourth = mean_of(&|g| ((g - mean) / scale).powi(4));
        let mut standardised: Vec<f64> = raw.iter().map(|g| (g - mean) / scale).collect();
        standardised.sort_by(f64::total_cmp);
        // Delta method: var(rmse) = var(g^2) / (4 n mse).
        let mse = mean_of(&|g| g * g);
        let of_squares = mean_of(&|g| (g * g - mse).powi(2));
        let rmse_error =
            if mse > 0.0 { (of_squares * share / (4.0 * count * mse)).sqrt() } else { 0.0 };
        let excess_kurtosis = if deviation > 0.0 { fourth - 3.0 } else { 0.0 };
        Self { mean, deviation, excess_kurtosis, standardised, rmse_error }
    }

    /// How many residuals lie more than `z` standard deviations from the mean.
    pub fn beyond(&self, z: f64) -> usize {
        let below = self.standardised.partition_point(|&g| g < -z);
        let upto = self.standardised.partition_point(|&g| g <= z);
        below + self.standardised.len() - upto
    }
}

/// The share of a normal distribution beyond `z` standard deviations: `2 Phi(-z)`.
pub fn normal_beyond(z: f64) -> f64 {
    2.0 * KnownLink::Probit.value_and_slope(-z).0
}

/// The number below which a share of the standard normal distribution lies.
pub fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    // 18 / 2^60: as close as a double comes.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if KnownLink::Probit.value_and_slope(middle).0 < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_is_what_tables_say() {
        for (z, share) in [(1.0, 0.317_310_5), (2.0, 0.045_500_26), (4.0, 6.334_25e-5)] {
            assert!((normal_beyond(z) / share - 1.0).abs() < 1e-5, "{z}");
        }
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-6);
        assert!((normal_quantile(0.5)).abs() < 1e-9);
        assert!((normal_quantile(1e-6) + 4.753_424).abs() < 1e-5);
    }

    #[test]
    fn two_points_have_the_least_kurtosis_and_one_far_off_much() {
        let coin: Vec<f64> = (0..100).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let of_coin = Residuals::from_raw(&coin, 1.0);
        assert!((of_coin.excess_kurtosis + 2.0).abs() < 1e-12);
        assert_eq!(of_coin.rmse_error, 0.0, "all squares are equal");
        let far: Vec<f64> = (0..100).map(|i| if i == 0 { 100.0 } else { 0.0 }).collect();
        assert!(Residuals::from_raw(&far, 1.0).excess_kurtosis > 90.0);
    }

    #[test]
    fn residuals_that_are_all_the_same_have_no_spread_and_no_tails() {
        let flat = Residuals::from_raw(&[0.25; 9], 1.0);
        assert_eq!((flat.deviation, flat.excess_kurtosis, flat.beyond(1.0)), (0.0, 0.0, 0));
    }

    #[test]
    fn counts_beyond_are_on_both_sides() {
        let raw: Vec<f64> = (-50..=50).map(f64::from).collect();
        let residuals = Residuals::from_raw(&raw, 1.0);
        let by_hand = raw.iter().filter(|g| g.abs() / residuals.deviation > 1.5).count();
        assert_eq!(residuals.beyond(1.5), by_hand);
    }

    #[test]
    fn the_error_of_the_error_shrinks_with_the_root_of_the_count() {
        let wave = |count: usize| -> Vec<f64> { (0..count).map(|i| (i as f64).sin()).collect() };
        let (few, many) =
            (Residuals::from_raw(&wave(400), 1.0), Residuals::from_raw(&wave(40_000), 1.0));
        assert!((few.rmse_error / many.rmse_error - 10.0).abs() < 0.2);
    }
}
