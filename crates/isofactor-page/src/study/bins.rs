//! Means of values in bins of equal count, with intervals: what calibration is read from.

/// How many standard errors an interval reaches to each side: 95% of a normal distribution.
const REACH: f64 = 1.96;
/// A bin has at least this many entries, else there are fewer bins.
const FEWEST: usize = 10;

/// The entries of one bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// The mean of what they were sorted by.
    pub place: f64,
    /// The mean of their values.
    pub mean: f64,
    /// Half the width of the 95% interval of that mean.
    pub half: f64,
    pub count: usize,
}

/// Sorts (place, value) pairs by place and cuts them into `bins` parts of equal count.
pub fn equal_count(mut pairs: Vec<(f64, f64)>, bins: usize) -> Vec<Bin> {
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bins = bins.min(pairs.len() / FEWEST).max(usize::from(!pairs.is_empty()));
    (0..bins).map(|i| bin(&pairs[i * pairs.len() / bins..(i + 1) * pairs.len() / bins])).collect()
}

fn bin(pairs: &[(f64, f64)]) -> Bin {
    let count = pairs.len() as f64;
    let place = pairs.iter().map(|p| p.0).sum::<f64>() / count;
    let mean = pairs.iter().map(|p| p.1).sum::<f64>() / count;
    let squares: f64 = pairs.iter().map(|p| (p.1 - mean).powi(2)).sum();
    let half = if pairs.len() > 1 { REACH * (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
    Bin { place, mean, half, count: pairs.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_share_all_entries_evenly_and_in_order() {
        let pairs: Vec<(f64, f64)> = (0..1_003).map(|i| (f64::from(i * 7 % 1_003), 1.0)).collect();
        let bins = equal_count(pairs, 10);
        assert_eq!(bins.len(), 10);
        assert_eq!(bins.iter().map(|b| b.count).sum::<usize>(), 1_003);
        assert!(bins.iter().all(|b| b.count == 100 || b.count == 101));
        assert!(bins.windows(2).all(|w| w[0].place < w[1].place));
        assert!(bins.iter().all(|b| b.mean == 1.0 && b.half == 0.0));
    }

    #[test]
    fn few_entries_have_few_bins_and_none_has_none() {
        assert_eq!(equal_count(vec![(1.0, 2.0); 25], 10).len(), 2);
        assert_eq!(equal_count(vec![(1.0, 2.0)], 10).len(), 1);
        assert!(equal_count(Vec::new(), 10).is_empty());
    }

    #[test]
    fn the_interval_is_the_standard_error_of_the_mean() {
        let pairs: Vec<(f64, f64)> = (0..10).map(|i| (0.0, f64::from(i % 2))).collect();
        let bin = equal_count(pairs, 1)[0];
        // Variance 10/36 with ten values.
        assert!((bin.half - 1.96 * (10.0_f64 / 36.0 / 10.0).sqrt()).abs() < 1e-12);
    }
}
