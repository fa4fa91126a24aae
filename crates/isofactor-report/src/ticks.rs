//! Where an axis carries numbers: three to eight round values inside its domain.

use crate::chart::Scale;
use crate::domain::Domain;
use crate::number::{decade_labels, magnitude, tick_labels};

const FEWEST: usize = 3;
const MOST: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// Round values inside the domain, as near to `target` in number as round steps allow.
pub(crate) fn ticks(domain: &Domain, target: usize) -> Vec<Tick> {
    let target = target.clamp(FEWEST, MOST);
    match domain.scale {
        Scale::Linear => labelled(linear(domain, target)),
        Scale::Log => log(domain, target),
    }
}

/// The same at whole numbers only; as usual where fewer than three lie inside.
pub(crate) fn whole_ticks(domain: &Domain, target: usize) -> Vec<Tick> {
    (FEWEST..=target.clamp(FEWEST, MOST))
        .rev()
        .map(|target| ticks(domain, target))
        .find(|found| found.iter().all(|tick| tick.value.fract() == 0.0))
        .unwrap_or_else(|| ticks(domain, target))
}

fn labelled(values: Vec<f64>) -> Vec<Tick> {
    let labels = tick_labels(&values);
    values.into_iter().zip(labels).map(|(value, label)| Tick { value, label }).collect()
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear(domain: &Domain, target: usize) -> Vec<f64> {
    let rough = magnitude((domain.high - domain.low) / target as f64);
    let mut best: Vec<f64> = Vec::new();
    for exponent in [rough + 1, rough, rough - 1] {
        for step in [5, 2, 1] {
            let values = multiples(domain, step, exponent);
            let fits = (FEWEST..=MOST).contains(&values.len());
            if fits && (best.is_empty() || nearer(values.len(), best.len(), target)) {
                best = values;
            }
        }
    }
    best
}

fn nearer(count: usize, than: usize, target: usize) -> bool {
    count.abs_diff(target) < than.abs_diff(target)
}

/// The multiples of `step * 10^exponent` inside the domain, each the closest float to its decimal.
fn multiples(domain: &Domain, step: i64, exponent: i32) -> Vec<f64> {
    let decimal = |k: i64| format!("{k}e{exponent}").parse::<f64>().unwrap_or(f64::NAN);
    let width = decimal(step);
    if width <= 0.0 || !width.is_finite() {
        return Vec::new();
    }
    // One more at each end: the division may have rounded across a multiple.
    let first = (domain.low / width).ceil() as i64 - 1;
    let last = (domain.high / width).floor() as i64 + 1;
    if last - first > 4 * MOST as i64 {
        return Vec::new();
    }
    (first..=last).map(|k| decimal(k * step)).filter(|&t| domain.contains(t)).collect()
}

/// Whole decades; within fewer than three decades 1, 2, 5; within less than that, as on a line.
fn log(domain: &Domain, target: usize) -> Vec<Tick> {
    let power = |e: i32| format!("1e{e}").parse::<f64>().unwrap_or(f64::NAN);
    let (first, last) = (magnitude(domain.low), magnitude(domain.high));
    let decades: Vec<i32> = (first..=last).filter(|&e| domain.contains(power(e))).collect();
    if decades.len() >= FEWEST {
        let exponents = every_few(&decades, target);
        let labels = decade_labels(&exponents);
        return exponents
            .into_iter()
            .zip(labels)
            .map(|(e, label)| Tick { value: power(e), label })
            .collect();
    }
    let fine: Vec<f64> = (first..=last)
        .flat_map(|e| [1, 2, 5].map(|m| format!("{m}e{e}").parse().unwrap_or(f64::NAN)))
        .filter(|&t| domain.contains(t))
        .collect();
    if fine.len() < FEWEST {
        return labelled(linear(domain, target));
    }
    fine.into_iter().map(|value| Tick { value, label: crate::number::number(value) }).collect()
}

/// Exponents that are multiples of one stride, the stride chosen for the number that remain.
fn every_few(decades: &[i32], target: usize) -> Vec<i32> {
    let mut best: Vec<i32> = Vec::new();
    for stride in 1..=300 {
        let kept: Vec<i32> = decades.iter().copied().filter(|e| e % stride == 0).collect();
        let fits = (FEWEST..=MOST).contains(&kept.len());
        if fits && (best.is_empty() || nearer(kept.len(), best.len(), target)) {
            best = kept;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Axis;

    /// A small linear congruential generator: the laws need many ranges, not good randomness.
    struct Draws(u64);

    impl Draws {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }
        fn wild(&mut self) -> f64 {
            let sign = if self.unit() < 0.5 { -1.0 } else { 1.0 };
            sign * 10f64.powf(600.0 * self.unit() - 300.0)
        }
    }

    fn check(domain: &Domain) {
        for target in [3, 4, 5, 6, 7, 8] {
            let ticks = ticks(domain, target);
            assert!((3..=8).contains(&ticks.len()), "{domain:?}: {ticks:?}");
            assert!(ticks.iter().all(|t| domain.contains(t.value)), "{domain:?}: {ticks:?}");
            assert!(ticks.windows(2).all(|w| w[0].value < w[1].value), "{domain:?}: {ticks:?}");
            assert!(ticks.windows(2).all(|w| w[0].label != w[1].label), "{domain:?}: {ticks:?}");
        }
    }

    fn cover(scale: Scale, a: f64, b: f64) -> Option<Domain> {
        let axis = Axis { scale, ..Axis::new("") };
        Domain::cover(&axis, [a, b].into_iter(), 0.04)
    }

    #[test]
    fn ticks_lie_inside_increase_and_number_three_to_eight() {
        let mut draws = Draws(7);
        for _ in 0..1_000 {
            let (a, b) = (draws.wild(), draws.wild());
            let near = a * (1.0 + 10f64.powf(-12.0 * draws.unit()));
            let (c, d) = (200.0 * draws.unit() - 100.0, 200.0 * draws.unit() - 100.0);
            for (a, b) in [(a, b), (a, near), (c, d), (a, a), (0.0, a)] {
                for domain in [cover(Scale::Linear, a, b), cover(Scale::Log, a.abs(), b.abs())] {
                    domain.iter().for_each(check);
                }
            }
        }
    }

    #[test]
    fn degenerate_ranges_have_ticks_too() {
        for v in [0.0, 1.0, -1.0, 1e300, -1e300, 1e-300, 5e-324, 1e15 + 0.5] {
            cover(Scale::Linear, v, v).iter().for_each(check);
            cover(Scale::Log, v, v).iter().for_each(check);
        }
    }

    fn labels(domain: Domain, target: usize) -> Vec<String> {
        ticks(&domain, target).into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn log_ticks_are_decades_when_there_are_enough() {
        let log = |low, high| Domain { low, high, scale: Scale::Log };
        assert_eq!(labels(log(0.8, 1500.0), 5), ["1", "10", "100", "1,000"]);
        assert_eq!(labels(log(1e-12, 1.0), 5), ["10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "10⁰"]);
        assert_eq!(labels(log(0.9, 30.0), 5), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(log(1.2, 1.9), 4), ["1.2", "1.4", "1.6", "1.8"]);
    }

    #[test]
    fn counts_have_whole_ticks_where_there_is_room() {
        let labels = |low, high| -> Vec<String> {
            let domain = Domain { low, high, scale: Scale::Linear };
            whole_ticks(&domain, 7).into_iter().map(|t| t.label).collect()
        };
        assert_eq!(labels(0.5, 3.5), ["1", "2", "3"]);
        assert_eq!(labels(0.5, 12.5), ["2", "4", "6", "8", "10", "12"]);
        assert!(labels(0.9, 1.1).len() >= 3);
    }

    #[test]
    fn linear_ticks_are_round() {
        let linear = |low, high| Domain { low, high, scale: Scale::Linear };
        assert_eq!(labels(linear(-0.1, 1.1), 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(linear(0.0, 3000.0), 4), ["0", "1000", "2000", "3000"]);
    }
}
