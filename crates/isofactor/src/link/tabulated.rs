//! A link read from a table of values and slopes: what the default solver learns.

use serde::{Deserialize, Serialize};

/// An increasing function on a uniform table, straight between its nodes and beyond its ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Tabulated {
    low: f64,
    spacing: f64,
    values: Vec<f64>,
    slopes: Vec<f64>,
}

impl Tabulated {
    /// Values and slopes at `low`, `low + spacing`, ...; none unless there are at least two nodes,
    /// all finite, and values that do not fall and slopes that are not negative.
    pub fn try_new(low: f64, spacing: f64, values: Vec<f64>, slopes: Vec<f64>) -> Option<Self> {
        let sound = low.is_finite()
            && spacing > 0.0
            && spacing.is_finite()
            && values.len() >= 2
            && values.len() == slopes.len()
            && values.iter().all(|value| value.is_finite())
            && slopes.iter().all(|slope| slope.is_finite() && *slope >= 0.0)
            && values.windows(2).all(|pair| pair[0] <= pair[1]);
        sound.then_some(Self { low, spacing, values, slopes })
    }

    /// The score of the first node, and the distance of two.
    pub fn grid(&self) -> (f64, f64) {
        (self.low, self.spacing)
    }

    /// The values at the nodes.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The slopes at the nodes.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// `phi(x)` and `phi'(x)`
    #[inline]
    pub fn value_and_slope(&self, x: f64) -> (f64, f64) {
        let last = self.values.len() - 1;
        let position = (x - self.low) / self.spacing;
        if position <= 0.0 {
            return (self.values[0] + self.slopes[0] * (x - self.low), self.slopes[0]);
        }
        if position >= last as f64 {
            let end = self.low + last as f64 * self.spacing;
            return (self.values[last] + self.slopes[last] * (x - end), self.slopes[last]);
        }
        // Not a number falls through to the first interval and comes out as what it is.
        let node = (position as usize).min(last - 1);
        let t = position - node as f64;
        let between = |table: &[f64]| table[node] + t * (table[node + 1] - table[node]);
        (between(&self.values), between(&self.slopes))
    }
}

/// A table that nobody has checked yet.
#[derive(Deserialize)]
struct Stored {
    low: f64,
    spacing: f64,
    values: Vec<f64>,
    slopes: Vec<f64>,
}

impl TryFrom<Stored> for Tabulated {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { low, spacing, values, slopes } = stored;
        Self::try_new(low, spacing, values, slopes).ok_or("the table of the link is damaged")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Tabulated {
        Tabulated::try_new(-1.0, 0.5, vec![0.0, 1.0, 1.5, 3.5], vec![1.0, 2.0, 1.0, 4.0]).unwrap()
    }

    #[test]
    fn values_lie_between_their_nodes_and_go_on_straight() {
        let link = sample();
        assert_eq!(link.value_and_slope(-0.75), (0.5, 1.5));
        assert_eq!(link.value_and_slope(-2.0), (-1.0, 1.0));
        assert_eq!(link.value_and_slope(1.5), (7.5, 4.0));
        assert!(link.value_and_slope(f64::NAN).0.is_nan());
    }

    #[test]
    fn a_table_that_falls_is_refused() {
        assert!(Tabulated::try_new(0.0, 1.0, vec![1.0, 0.5], vec![1.0, 1.0]).is_none());
        assert!(Tabulated::try_new(0.0, 0.0, vec![0.0, 1.0], vec![1.0, 1.0]).is_none());
        assert!(Tabulated::try_new(0.0, 1.0, vec![0.0, f64::NAN], vec![1.0, 1.0]).is_none());
    }
}
