//! The stretch of numbers that an axis covers, and where in it a value lies.

use crate::chart::{Axis, Scale};

/// Beyond this a difference of two values may overflow; nothing real is lost.
const LARGEST: f64 = 1e300;
/// Below this relative width two ends of a range cannot carry distinct tick labels.
const NARROWEST: f64 = 1e-9;

/// A proper interval: finite ends, the low one below the high one, both positive on a log scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Domain {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) scale: Scale,
}

/// Whether a value has a place on this kind of axis.
pub(crate) fn drawable(scale: Scale, value: f64) -> bool {
    value.abs() <= LARGEST && (scale == Scale::Linear || value >= 1.0 / LARGEST)
}

impl Domain {
    /// The range asked for, or else the range of the values with a little air at both ends.
    pub(crate) fn cover(axis: &Axis, values: impl Iterator<Item = f64>, air: f64) -> Option<Self> {
        if let Some(fixed) = Self::fixed(axis) {
            return Some(fixed);
        }
        let scale = axis.scale;
        let (low, high) = values
            .filter(|&v| drawable(scale, v))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        (low <= high).then(|| match scale {
            Scale::Linear => Self::linear(low, high, air),
            Scale::Log => Self::log(low, high, air),
        })
    }

    fn fixed(axis: &Axis) -> Option<Self> {
        let (a, b) = axis.range?;
        let (low, high) = (a.min(b), a.max(b));
        let usable = drawable(axis.scale, low)
            && drawable(axis.scale, high)
            && high - low > NARROWEST * low.abs().max(high.abs())
            && high - low > 1.0 / LARGEST;
        usable.then_some(Self { low, high, scale: axis.scale })
    }

    fn linear(low: f64, high: f64, air: f64) -> Self {
        let size = low.abs().max(high.abs());
        let span = high - low;
        if span <= NARROWEST * size || span <= 1.0 / LARGEST {
            let half = if size < 1e-280 { 1.0 } else { 0.1 * size };
            let middle = low + 0.5 * span;
            return Self { low: middle - half, high: middle + half, scale: Scale::Linear };
        }
        // Air must not invent negative iterations, or positive losses.
        let padded_low = low - air * span;
        let padded_high = high + air * span;
        Self {
            low: if low >= 0.0 { padded_low.max(0.0) } else { padded_low },
            high: if high <= 0.0 { padded_high.min(0.0) } else { padded_high },
            scale: Scale::Linear,
        }
    }

    fn log(low: f64, high: f64, air: f64) -> Self {
        let decades = (high / low).log10();
        let pad = if decades <= NARROWEST { 0.3 } else { air * decades };
        let stretch = 10f64.powf(pad.min(5.0));
        Self { low: low / stretch, high: high * stretch, scale: Scale::Log }
    }

    /// 0 at the low end, 1 at the high end, and beyond on either side.
    pub(crate) fn unit(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        }
    }

    pub(crate) fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cover(scale: Scale, values: &[f64]) -> Option<Domain> {
        let axis = Axis { scale, ..Axis::new("") };
        Domain::cover(&axis, values.iter().copied(), 0.05)
    }

    #[test]
    fn a_domain_is_a_proper_interval_around_its_values() {
        let odd = [0.0, -0.0, 5e-324, 1e-300, 1.0, 1.0 + 1e-15, -7.0, 1e299, -1e300, f64::NAN];
        for a in odd {
            for b in odd {
                for scale in [Scale::Linear, Scale::Log] {
                    let Some(domain) = cover(scale, &[a, b, f64::INFINITY]) else { continue };
                    assert!(domain.low < domain.high, "{a} {b}");
                    assert!((domain.high - domain.low).is_finite());
                    for v in [a, b].into_iter().filter(|&v| drawable(scale, v)) {
                        assert!((0.0..=1.0).contains(&domain.unit(v)), "{a} {b}: {domain:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_drawable_has_no_domain() {
        assert_eq!(cover(Scale::Linear, &[f64::NAN, f64::INFINITY]), None);
        assert_eq!(cover(Scale::Log, &[0.0, -1.0]), None);
    }

    #[test]
    fn a_senseless_fixed_range_is_ignored() {
        let axis = Axis::new("x").range(f64::NAN, 1.0);
        assert!(Domain::cover(&axis, [2.0, 3.0].into_iter(), 0.0).is_some_and(|d| d.low == 2.0));
        let axis = Axis::log("x").range(-1.0, 1.0);
        assert!(Domain::cover(&axis, [2.0, 3.0].into_iter(), 0.0).is_some_and(|d| d.low == 2.0));
    }
}
