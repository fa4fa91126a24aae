//! One way over the entries: what the model makes of each, and how it does on each row and column.

use isofactor::{FittedModel, Metrics, Observations};

/// Entries kept for what needs sorting or drawing; beyond it nothing on a page changes.
pub const MOST_KEPT: usize = 1_000_000;

/// One entry as the model sees it.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub row: u32,
    pub column: u32,
    pub score: f64,
    pub prediction: f64,
    pub value: f64,
}

impl Seen {
    /// Value minus prediction.
    pub fn residual(&self) -> f64 {
        self.value - self.prediction
    }
}

/// The residuals of one row or column, summed.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnitErrors {
    pub count: usize,
    pub sum: f64,
    pub squares: f64,
    /// The sum of its values.
    pub values: f64,
}

impl UnitErrors {
    /// The mean of its values.
    pub fn level(&self) -> f64 {
        self.values / self.count as f64
    }

    /// The mean residual.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// The root mean squared residual.
    pub fn rmse(&self) -> f64 {
        (self.squares / self.count as f64).sqrt()
    }

    fn add(&mut self, value: f64, residual: f64) {
        self.count += 1;
        self.values += value;
        self.sum += residual;
        self.squares += residual * residual;
    }
}

/// What one way over the entries brings.
#[derive(Debug, Clone)]
pub struct Pass {
    /// How many entries there are.
    pub count: usize,
    /// All of them, or an evenly spaced million.
    pub kept: Vec<Seen>,
    pub rows: Vec<UnitErrors>,
    pub columns: Vec<UnitErrors>,
    pub metrics: Metrics,
}

impl Pass {
    pub fn over(model: &FittedModel, entries: &Observations) -> Self {
        let count = entries.len();
        let keep = count.min(MOST_KEPT);
        let mut pass = Self {
            count,
            kept: Vec::with_capacity(keep),
            rows: vec![UnitErrors::default(); entries.shape().rows],
            columns: vec![UnitErrors::default(); entries.shape().columns],
            metrics: model.evaluate(entries),
        };
        for (k, entry) in entries.iter().enumerate() {
            let (row, column) = (entry.row, entry.column);
            let prediction = model.predict(Some(row), Some(column));
            let residual = entry.value - prediction;
            pass.rows[row].add(entry.value, residual);
            pass.columns[column].add(entry.value, residual);
            if pass.kept.len() < share_of(k + 1, keep, count) {
                let score = model.score(Some(row), Some(column));
                let (row, column) = (row as u32, column as u32);
                pass.kept.push(Seen { row, column, score, prediction, value: entry.value });
            }
        }
        pass
    }

    /// Whether entries were left out of what is kept.
    pub fn is_thinned(&self) -> bool {
        self.kept.len() < self.count
    }

    /// Errors of rows, or of columns.
    pub fn side(&self, side: Side) -> &[UnitErrors] {
        match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.columns,
        }
    }
}

/// How many of the first `seen` of `count` are kept when `keep` are kept in all.
fn share_of(seen: usize, keep: usize, count: usize) -> usize {
    (seen as u128 * keep as u128 / count as u128) as usize
}

/// Rows or columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Rows,
    Columns,
}

impl Side {
    pub const BOTH: [Side; 2] = [Side::Rows, Side::Columns];

    /// The word for many.
    pub fn plural(self) -> &'static str {
        match self {
            Side::Rows => "rows",
            Side::Columns => "columns",
        }
    }

    /// The word for one.
    pub fn singular(self) -> &'static str {
        match self {
            Side::Rows => "row",
            Side::Columns => "column",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_spread_evenly_and_complete_where_there_is_room() {
        for (count, keep) in [(1, 1), (10, 10), (10, 3), (1_000_003, 1_000)] {
            let mut kept = Vec::new();
            for k in 0..count {
                if kept.len() < share_of(k + 1, keep, count) {
                    kept.push(k);
                }
            }
            assert_eq!(kept.len(), keep);
            let gaps: Vec<usize> = kept.windows(2).map(|w| w[1] - w[0]).collect();
            assert!(gaps.iter().all(|&gap| gap.abs_diff(count / keep) <= 1), "{count} {keep}");
        }
    }
}
