//! Files in and files out: observed entries, factors, links, models, traces.
//!
//! Input is hostile until checked: every reader answers with an [`Error`] that names the file and
//! the line, and none allocates by what a header claims. Output is written beside its final name
//! and moved there when it is whole.

mod error;
mod factor_file;
mod knots;
mod labels;
mod model_file;
mod reading;
mod trace_file;
mod write;

pub use error::{Error, Place, Result};
pub use factor_file::{FactorFile, read_factors, write_factors};
pub use knots::read_knots;
pub use labels::Labels;
pub use model_file::{LabelledModel, read_model, write_model};
pub use reading::{
    entries::{Pairs, read_entries, read_entries_watched, read_pairs, read_pairs_watched},
    format::{FileKind, HeaderRule, TableFormat, parse_delimiter},
    guard::panics_are_caught,
    monitor::{ReadMonitor, Silent},
    source::Source,
};
pub use trace_file::write_trace;
pub use write::{Target, write_entries, write_predictions};
