//! Laws of reading entries, one topic a module.

mod arrow;
mod fixtures;
mod matrices;
mod parquet;
mod support;
mod text;
