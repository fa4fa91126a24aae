//! The few statistics that criteria are made from.

/// A straight line by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    /// `y` at `x = 0`.
    pub level: f64,
    /// How much `y` grows with `x`.
    pub slope: f64,
    /// `R^2`: the share of the variance of `y` that the line explains.
    pub explained: f64,
}

/// The line with the least sum of squares
/// `sum (y - a - b x)^2`, `b = sum (x - mx)(y - my) / sum (x - mx)^2`, `a = my - b mx`.
pub(crate) fn line(points: &[(f64, f64)]) -> Line {
    let (mx, my) = (mean(points.iter().map(|p| p.0)), mean(points.iter().map(|p| p.1)));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|&(x, y)| f(x - mx, y - my)).sum()
    };
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    let slope = xy / xx;
    Line { level: my - slope * mx, slope, explained: xy * xy / (xx * yy) }
}

/// The mean; not a number without any.
pub(crate) fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.into_iter().fold((0.0, 0usize), |(s, n), x| (s + x, n + 1));
    sum / count as f64
}

/// The standard deviation of a sample; 0 for one number.
pub(crate) fn spread(numbers: &[f64]) -> f64 {
    let middle = mean(numbers.iter().copied());
    let squares: f64 = numbers.iter().map(|x| (x - middle).powi(2)).sum();
    if numbers.len() < 2 { 0.0 } else { (squares / (numbers.len() - 1) as f64).sqrt() }
}

/// Whether each number is at least the one before, up to a share of it.
pub(crate) fn increasing(numbers: &[f64], slack: f64) -> bool {
    numbers.windows(2).all(|pair| pair[1] >= pair[0] * (1.0 - slack))
}

/// At most `most` places of `0..count`, the first and the last among them, evenly on a log scale.
pub(crate) fn log_places(count: usize, most: usize) -> Vec<usize> {
    let last = count.saturating_sub(1);
    let mut places: Vec<usize> = (0..most)
        .map(|k| {
            let share = k as f64 / (most - 1).max(1) as f64;
            ((last as f64 + 1.0).powf(share) - 1.0).round() as usize
        })
        .collect();
    places.dedup();
    places.retain(|place| *place < count);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_explains_itself() {
        let points: Vec<(f64, f64)> = (0..5).map(f64::from).map(|x| (x, 3.0 - 2.0 * x)).collect();
        let found = line(&points);
        assert!((found.level - 3.0).abs() < 1e-12 && (found.slope + 2.0).abs() < 1e-12);
        assert!((found.explained - 1.0).abs() < 1e-12);
        let bent: Vec<(f64, f64)> = points.iter().map(|&(x, _)| (x, x * x)).collect();
        assert!(line(&bent).explained < 0.95);
    }

    #[test]
    fn spread_is_that_of_a_sample() {
        assert!((spread(&[1.0, 3.0]) - 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(spread(&[4.0]), 0.0);
    }

    #[test]
    fn order_is_judged_up_to_slack() {
        assert!(increasing(&[1.0, 1.0, 2.0], 0.0));
        assert!(!increasing(&[1.0, 0.98], 0.01));
        assert!(increasing(&[1.0, 0.98], 0.05));
    }

    #[test]
    fn places_begin_and_end_where_the_trace_does() {
        let places = log_places(5001, 200);
        assert_eq!((places.first(), places.last()), (Some(&0), Some(&5000)));
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]) && places.len() <= 200);
        assert_eq!(log_places(3, 200), [0, 1, 2]);
    }
}
