//! Files in: one file here for each format, one door for all of them.
//!
//! Formats that are tables give [`tabular::Records`]: named fields, record by record; long form, wide
//! form and pairs are made of those in one place. Formats that are matrices give
//! [`cells::Cell`]s: numbered rows and columns with values.
//!
//! # Memory
//!
//! Beside the entries (16 bytes each, and half as much again while their list grows) and one copy of
//! each name, a reader holds one block of its file: 1 MiB of a text, or a line if that is longer (at most
//! [`scanner::LONGEST`]); one batch of an Arrow file as it stands in the file; of a Parquet
//! file one page a column. What a file claims about itself never makes it more: sizes in headers are
//! checked before anything is unpacked, see [`decoded_limit`].

mod arrow_checks;
pub(crate) mod arrow_file;
pub(crate) mod batches;
pub(crate) mod cells;
pub(crate) mod columns;
pub(crate) mod delimited;
pub(crate) mod entries;
pub(crate) mod format;
pub(crate) mod guard;
pub(crate) mod matrix_market;
pub(crate) mod monitor;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod number;
pub(crate) mod parquet_file;
mod parquet_pages;
pub(crate) mod places;
mod scanner;
pub(crate) mod source;
pub(crate) mod tabular;

/// How many bytes a block that takes `packed` bytes in its file may claim to unpack to: 64 times
/// as many, or 256 MiB.
pub(crate) fn decoded_limit(packed: u64) -> u64 {
    (256 << 20).max(packed.saturating_mul(64))
}
