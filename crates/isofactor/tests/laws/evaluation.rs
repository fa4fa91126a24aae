//! Judging predictions: each figure against its definition, written out slowly.

use isofactor::{
    Evaluation,
    evaluation::{Difference, Judged},
};
use proptest::prelude::*;

fn judged(pairs: &[(f64, f64)]) -> Vec<Judged> {
    pairs.iter().map(|&(prediction, value)| Judged { prediction, value }).collect()
}

/// How many are smaller, and half of those that are equal.
fn slow_ranks(values: &[f64]) -> Vec<f64> {
    let rank = |v: &f64| {
        let smaller = values.iter().filter(|w| *w < v).count() as f64;
        let equal = values.iter().filter(|w| *w == v).count() as f64;
        smaller + (equal - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

fn slow_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (of_a, of_b) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(usize) -> f64| (0..a.len()).map(f).sum::<f64>();
    let product = sum(&|k| (a[k] - of_a) * (b[k] - of_b));
    let squares = sum(&|k| (a[k] - of_a).powi(2)) * sum(&|k| (b[k] - of_b).powi(2));
    (squares > 0.0).then(|| product / squares.sqrt())
}

proptest! {
    #[test]
    fn the_rank_correlation_equals_a_slow_one_with_ties(
        // Few different values, so that many are equal.
        pairs in prop::collection::vec((-6i32..6, -3i32..3), 1..60)
    ) {
        let pairs: Vec<(f64, f64)> = pairs.iter().map(|&(p, v)| (p.into(), v.into())).collect();
        let (p, v): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let slow = slow_correlation(&slow_ranks(&p), &slow_ranks(&v));
        let found = Evaluation::new(judged(&pairs)).spearman;
        prop_assert_eq!(found.is_some(), slow.is_some());
        if let (Some(found), Some(slow)) = (found, slow) {
            prop_assert!((found - slow).abs() < 1e-12, "{} {}", found, slow);
        }
    }

    #[test]
    fn calibration_holds_every_entry_once_in_order(
        pairs in prop::collection::vec((-9i32..9, -1e3..1e3f64), 1..80)
    ) {
        let pairs: Vec<(f64, f64)> = pairs.iter().map(|&(p, v)| (p.into(), v)).collect();
        let evaluation = Evaluation::new(judged(&pairs));
        let groups = &evaluation.calibration;
        prop_assert!(groups.len() <= 10);
        prop_assert_eq!(groups.iter().map(|g| g.count).sum::<usize>(), pairs.len());
        prop_assert!(groups.windows(2).all(|w| w[0].predicted < w[1].predicted));
        let total: f64 = groups.iter().map(|g| g.observed * g.count as f64).sum();
        let expected: f64 = pairs.iter().map(|pair| pair.1).sum();
        prop_assert!((total - expected).abs() < 1e-9 * (1.0 + expected.abs()) + 1e-7);
    }
}

#[test]
fn the_mean_of_the_values_explains_nothing_and_the_values_everything() {
    let values = [1.0, 4.0, 2.5, -3.0, 7.25];
    let mean = values.iter().sum::<f64>() / 5.0;
    let r2 = |pairs: Vec<(f64, f64)>| Evaluation::new(judged(&pairs)).r2.unwrap();
    assert!(r2(values.map(|v| (mean, v)).to_vec()).abs() < 1e-15);
    assert!((r2(values.map(|v| (v, v)).to_vec()) - 1.0).abs() < 1e-15);
    assert!(r2(values.map(|v| (-v, v)).to_vec()) < 0.0);
    let equal = Evaluation::new(judged(&[(1.0, 2.0), (2.0, 2.0)]));
    assert_eq!((equal.r2, equal.spearman), (None, None));
}

#[test]
fn equal_predictions_are_never_told_apart() {
    let pairs: Vec<(f64, f64)> = (0..100).map(|k| (3.0, f64::from(k))).collect();
    let evaluation = Evaluation::new(judged(&pairs));
    assert_eq!(evaluation.calibration.len(), 1);
    assert_eq!(evaluation.calibration[0].count, 100);
}

#[test]
fn values_near_the_end_of_the_range_are_judged_too() {
    let evaluation = Evaluation::new(judged(&[(1e308, -0.5e308), (-1e308, 0.2e308)]));
    assert!(evaluation.metrics.rmse.is_finite() && evaluation.r2.unwrap().is_finite());
}

/// The difference is that of the errors, and a model does not differ from itself.
#[test]
fn paired_differences_are_those_of_the_errors() {
    let a: Vec<f64> = (0..40).map(|k| f64::from(k % 7) - 2.0).collect();
    let b: Vec<f64> = (0..40).map(|k| f64::from(k % 5) - 2.5).collect();
    let rows: Vec<u32> = (0..40).map(|k| k / 4 * 2).collect();
    let rmse = |e: &[f64]| (e.iter().map(|e| e * e).sum::<f64>() / e.len() as f64).sqrt();
    let difference = Difference::new(&a, &b, &rows);
    assert!((difference.rmse - (rmse(&a) - rmse(&b))).abs() < 1e-12);
    let itself = Difference::new(&a, &a, &rows);
    assert_eq!((itself.rmse, itself.standard_error), (0.0, Some(0.0)));
    assert_eq!(Difference::new(&a, &b, &[3; 40]).standard_error, None);
}

/// The standard error is how much the difference varies from one set of rows to the next.
#[test]
fn the_standard_error_is_the_spread_over_repetitions() {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Twelve uniform numbers make a good enough normal one.
        let mut bits = state;
        (0..12)
            .map(|_| {
                bits = bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (bits >> 29);
                (bits >> 11) as f64 / 9_007_199_254_740_992.0
            })
            .sum::<f64>()
            - 6.0
    };
    let (mut differences, mut errors) = (Vec::new(), Vec::new());
    for _ in 0..400 {
        let (mut a, mut b, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..60u32 {
            let (scale, shared) = (1.0 + random().abs(), random());
            for _ in 0..5 {
                a.push(scale * (shared + random()));
                b.push(scale * (0.8 * shared + random()));
                rows.push(row);
            }
        }
        let difference = Difference::new(&a, &b, &rows);
        differences.push(difference.rmse);
        errors.push(difference.standard_error.unwrap());
    }
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let centre = mean(&differences);
    let spread = mean(&differences.iter().map(|d| (d - centre).powi(2)).collect::<Vec<_>>()).sqrt();
    let told = mean(&errors);
    assert!((told / spread - 1.0).abs() < 0.2, "told {told}, found {spread}");
}
