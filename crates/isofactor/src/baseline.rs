//! What is predicted for rows and columns that have no entries to learn factors from.

use serde::{Deserialize, Serialize};

use crate::observations::Observations;

/// Entries by which the mean of a row or column is drawn towards the overall mean.
const SHRINKAGE: f64 = 5.0;

/// The overall mean, and how far the mean of each row and column lies from it.
///
/// A row's deviation is `sum (y - mean) / (count + 5)`; it is absent when nothing was observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The overall mean.
    pub mean: f64,
    /// The deviation of each row.
    pub rows: Vec<Option<f64>>,
    /// The deviation of each column.
    pub columns: Vec<Option<f64>>,
}

impl Baseline {
    /// From the training entries.
    pub fn new(observations: &Observations) -> Self {
        let mean = observations.mean();
        let shape = observations.shape();
        let mut rows = vec![(0.0, 0usize); shape.rows];
        let mut columns = vec![(0.0, 0usize); shape.columns];
        for entry in observations.iter() {
            for (sum, count) in [&mut rows[entry.row], &mut columns[entry.column]] {
                *sum += entry.value - mean;
                *count += 1;
            }
        }
        let deviation =
            |(sum, count): (f64, usize)| (count > 0).then(|| sum / (count as f64 + SHRINKAGE));
        Self {
            mean,
            rows: rows.into_iter().map(deviation).collect(),
            columns: columns.into_iter().map(deviation).collect(),
        }
    }

    /// The prediction where factors cannot tell: when the row or the column (or both) is unknown
    /// or was never observed. None when both were.
    pub fn predict(&self, row: Option<usize>, column: Option<usize>) -> Option<f64> {
        let row = row.and_then(|row| self.rows[row]);
        let column = column.and_then(|column| self.columns[column]);
        match (row, column) {
            (Some(_), Some(_)) => None,
            (row, column) => Some(self.mean + row.or(column).unwrap_or(0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observations::{Entry, Shape};

    #[test]
    fn unknown_rows_get_what_is_known_about_the_column() {
        let entries = [(0, 0, 4.0), (0, 1, 2.0), (1, 0, 5.0), (1, 1, 1.0)]
            .map(|(row, column, value)| Entry { row, column, value });
        let shape = Shape { rows: 3, columns: 2 };
        let baseline = Baseline::new(&Observations::try_new(shape, &entries).unwrap());
        assert_eq!(baseline.predict(Some(0), Some(0)), None);
        assert_eq!(baseline.predict(Some(2), None), Some(3.0));
        assert_eq!(baseline.predict(None, None), Some(3.0));
        assert_eq!(baseline.predict(Some(2), Some(0)), Some(3.0 + 3.0 / 7.0));
        assert_eq!(baseline.predict(Some(1), None), Some(3.0));
    }
}
