//! Counts of values in equal bins, as an outline ready to be filled.

/// The outline of a histogram with unit area: two points a bin, left to right. Non-finite values
/// are left out; without any value the outline is empty.
pub(crate) fn outline(values: &[f64], bins: usize) -> Vec<(f64, f64)> {
    let finite = || values.iter().copied().filter(|v| v.abs() <= 1e300);
    let (mut low, mut high) =
        finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    if low > high {
        return Vec::new();
    }
    if high - low <= 1e-9 * low.abs().max(high.abs()) {
        let half = if low == 0.0 { 0.5 } else { 0.05 * low.abs() };
        (low, high) = (low - half, high + half);
    }
    let bins = bins.clamp(1, 500);
    let width = (high - low) / bins as f64;
    let mut counts = vec![0usize; bins];
    for value in finite() {
        let bin = ((value - low) / width) as usize;
        counts[bin.min(bins - 1)] += 1;
    }
    let total = counts.iter().sum::<usize>() as f64;
    let edge = |i: usize| if i == bins { high } else { low + width * i as f64 };
    counts
        .iter()
        .enumerate()
        .flat_map(|(i, &count)| {
            let height = count as f64 / total / width;
            [(edge(i), height), (edge(i + 1), height)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_has_unit_area() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i).sin()).collect();
        let area: f64 = outline(&values, 30).chunks(2).map(|b| (b[1].0 - b[0].0) * b[0].1).sum();
        assert!((area - 1.0).abs() < 1e-12);
    }

    #[test]
    fn odd_input_has_a_histogram_or_none() {
        assert!(outline(&[], 10).is_empty());
        assert!(outline(&[f64::NAN, f64::INFINITY], 10).is_empty());
        assert_eq!(outline(&[2.0, 2.0], 4).len(), 8);
        assert_eq!(outline(&[0.0], 0).len(), 2);
        assert!(outline(&[0.0, 1e-320], 3).iter().all(|p| p.0.is_finite()));
    }
}
