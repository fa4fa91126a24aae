//! What can be wrong with input, configuration or numerics: facts, from which the sentence is made.

use thiserror::Error;

/// A number as a sentence shows it: without hundreds of zeros.
fn shown(number: &f64) -> String {
    let size = number.abs();
    if size == 0.0 || (1e-5..1e12).contains(&size) || !size.is_finite() {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong. The `Display` text says what is wrong, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// The entries cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The computation failed.
    #[error(transparent)]
    Numerical(#[from] NumericalError),
}

/// Facts about entries that cannot be fitted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum DataError {
    /// There is nothing to fit.
    #[error("there are no observed entries: a fit needs at least one row, column and value")]
    NoEntries,
    /// A matrix with a single row or column has no factors to share.
    #[error(
        "the data have {rows} row(s) and {columns} column(s): a factor model needs at least two of each"
    )]
    TooSmall {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// Validation entries of another matrix.
    #[error(
        "the validation entries are of a {rows} x {columns} matrix, the training entries of another shape"
    )]
    OtherShape {
        /// Rows of the validation entries' matrix.
        rows: usize,
        /// Columns of it.
        columns: usize,
    },
    /// An entry lies outside the matrix.
    #[error("entry {entry} is at row {row}, column {column}, outside a {rows} x {columns} matrix")]
    OutOfShape {
        /// Position of the entry in the input, counted from 0.
        entry: usize,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// A value is NaN or infinite.
    #[error("entry {entry} has the value {value}: every observed value must be finite")]
    NotFinite {
        /// Position of the entry in the input, counted from 0.
        entry: usize,
        /// The value.
        value: f64,
    },
    /// All values are the same, so nothing about factors or link can be learned.
    #[error(
        "all {count} observed values equal {value}: there is no variation to explain, predict {value} everywhere"
    )]
    AllEqual {
        /// How many values there are.
        count: usize,
        /// The value they share.
        value: f64,
    },
    /// More entries, rows or columns than the indices can hold.
    #[error("{what}: {count} is more than the limit of {limit}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Given factors do not fit the data.
    #[error(
        "the start has {got_rows} x {got_columns} factors of rank {got_rank}, the fit needs {rows} x {columns} of rank {rank}"
    )]
    StartMismatch {
        /// Rows of the start.
        got_rows: usize,
        /// Columns of the start.
        got_columns: usize,
        /// Rank of the start.
        got_rank: usize,
        /// Rows of the data.
        rows: usize,
        /// Columns of the data.
        columns: usize,
        /// Rank asked for.
        rank: usize,
    },
}

/// Facts about settings that cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ConfigError {
    /// A number that must be above zero is not.
    #[error("{field} must be positive, got {}", shown(got))]
    NotPositive {
        /// Name of the setting.
        field: &'static str,
        /// What it was set to.
        got: f64,
    },
    /// A number that must not be below zero is, or is not finite.
    #[error("{field} must be zero or positive, got {}", shown(got))]
    Negative {
        /// Name of the setting.
        field: &'static str,
        /// What it was set to.
        got: f64,
    },
    /// A number lies outside its range.
    #[error("{field} must be between {} and {}, got {}", shown(low), shown(high), shown(got))]
    OutOfRange {
        /// Name of the setting.
        field: &'static str,
        /// What it was set to.
        got: f64,
        /// Smallest value allowed.
        low: f64,
        /// Largest value allowed.
        high: f64,
    },
    /// More factors than the matrix has rows or columns.
    #[error(
        "rank {rank} is above what a {rows} x {columns} matrix can hold: use at most {}",
        rows.min(columns)
    )]
    RankAboveShape {
        /// Rank asked for.
        rank: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// Slope bounds in the wrong order.
    #[error(
        "the slope bounds of monotone must satisfy 0 <= low < high, got {},{}",
        shown(low),
        shown(high)
    )]
    SlopeBounds {
        /// Lower bound of the slope.
        low: f64,
        /// Upper bound of the slope.
        high: f64,
    },
    /// Two settings that exclude or need each other.
    #[error("{first} needs {second}")]
    Needs {
        /// The setting that was made.
        first: &'static str,
        /// What it needs.
        second: &'static str,
    },
    /// A number is below what it may be.
    #[error("{field} must be at least {low}, got {}", shown(got))]
    TooSmall {
        /// Name of the setting.
        field: &'static str,
        /// What it was set to.
        got: f64,
        /// Smallest value allowed.
        low: f64,
    },
    /// A share of every row is less than one entry of each.
    #[error(
        "holdout {share} leaves no entry to judge by: the rows are too short, use a larger share or a validation file"
    )]
    NothingHeldOut {
        /// The share.
        share: f64,
    },
    /// A word that is not one of the choices.
    #[error("{field} cannot be '{got}': use {choices}")]
    Unknown {
        /// Name of the setting.
        field: &'static str,
        /// What it was set to.
        got: String,
        /// The choices there are.
        choices: &'static str,
    },
    /// A piecewise-linear link that is not increasing.
    #[error(
        "knot {knot} of the link table does not increase: both coordinates must rise from knot to knot, and at least two knots are needed"
    )]
    KnotsNotIncreasing {
        /// Which knot, counted from 1.
        knot: usize,
    },
}

/// Facts about a computation that failed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NumericalError {
    /// The objective is not finite before any step was made.
    #[error(
        "the objective is not finite at the start: the values, the start or the link are too large or too small; rescale them"
    )]
    BadStart,
    /// The iterates left every bound.
    #[error(
        "the fit diverged at iteration {iteration} (the objective is {objective:.3e}): use smaller steps, or the step rule 'backtracking'"
    )]
    Diverged {
        /// The iteration at which it was noticed.
        iteration: usize,
        /// The objective there.
        objective: f64,
    },
    /// The bandwidth is so small against the domain that no basis of reasonable size spans it.
    #[error(
        "the link's domain reaches {} on either side but its bandwidth is {}: it would need more than {limit} basis functions; use a larger bandwidth, smaller steps, or project the factors",
        shown(half_width),
        shown(bandwidth)
    )]
    DomainTooWide {
        /// How far the domain reaches on either side: beyond the largest score, to leave it room.
        half_width: f64,
        /// The kernel's bandwidth.
        bandwidth: f64,
        /// The largest basis built.
        limit: usize,
    },
    /// The iteration for singular vectors did not settle.
    #[error(
        "the spectral start did not converge after {restarts} restarts (residual {residual:.2e}): use the random start, or a smaller rank"
    )]
    SpectralStart {
        /// How often it was restarted.
        restarts: usize,
        /// Its last residual, relative to the largest singular value.
        residual: f64,
    },
    /// The quadratic program of the slope bounds has no solution in the link's space.
    #[error(
        "no link was found in the kernel's space that keeps its slope between {} and {} over the domain: widen the slope bounds, or use a smaller bandwidth",
        shown(low),
        shown(high)
    )]
    SlopesInfeasible {
        /// Lower bound of the slope.
        low: f64,
        /// Upper bound of the slope.
        high: f64,
    },
    /// A checkpoint is not of this fit.
    #[error("the checkpoint does not fit the entries or the settings: begin anew without it")]
    OtherCheckpoint,
    /// The system gave no threads.
    #[error("the threads could not be started: ask for fewer")]
    NoThreads,
    /// A decomposition failed, which happens only with values that are not finite.
    #[error(
        "a {what} could not be computed: the values are too large or too small, or the link penalty is; rescale the data or change the penalty"
    )]
    Decomposition {
        /// Which decomposition.
        what: &'static str,
    },
}
