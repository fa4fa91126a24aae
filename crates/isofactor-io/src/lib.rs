//! Files in and files out: observed entries, factors, links, models, traces.
//!
//! Input is hostile until checked: every reader answers with an [`Error`] that names the file and
//! the line, and none allocates by what a header claims. Output is written beside its final name
//! and moved there when it is whole.

mod checkpoint_file;
mod error;
mod export;
mod factor_file;
mod fingerprint;
mod given_start;
mod knots;
mod labels;
mod model_file;
mod reading;
mod table_file;
mod trace_file;
mod write;

pub use checkpoint_file::{CheckpointFile, StoredFit};
pub use error::{Error, Place, Result};
pub use export::{Export, export};
pub use factor_file::{FactorFile, read_factors, write_factors};
pub use fingerprint::fingerprint;
pub use given_start::GivenStart;
pub use knots::read_knots;
pub use labels::Labels;
pub use model_file::{
    LabelledModel, Origin, model_from_bytes, model_to_bytes, read_model, read_model_and_origin,
    write_model,
};
pub use reading::{
    entries::{Pairs, read_entries, read_entries_watched, read_pairs, read_pairs_watched},
    format::{FileKind, HeaderRule, TableFormat, parse_delimiter},
    guard::panics_are_caught,
    monitor::{ReadMonitor, Silent},
    source::Source,
};
pub use table_file::{Cell, Field, TableKind, TableWriter};
pub use trace_file::write_trace;
pub use write::{Target, write_entries};
