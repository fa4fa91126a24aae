//! Files in and files out: observed entries, factors, links, models, traces.
//!
//! Input is hostile until checked: every reader answers with an [`Error`] that names the file and
//! the line, and none allocates by what a header claims. Output is written beside its final name
//! and moved there when it is whole.

mod entries;
mod error;
mod factor_file;
mod knots;
mod labels;
mod model_file;
mod trace_file;
mod write;

pub use entries::{Source, TableFormat, read_entries, read_pairs};
pub use error::{Error, Result};
pub use factor_file::{FactorFile, read_factors, write_factors};
pub use knots::read_knots;
pub use labels::Labels;
pub use model_file::{LabelledModel, decode_model, encode_model, read_model, write_model};
pub use trace_file::write_trace;
pub use write::{Target, write_entries, write_predictions};
