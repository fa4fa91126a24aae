//! Entries from Arrow batches, over the C stream interface: values are read where they lie.

use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchReader,
    cast::AsArray,
    types::{Float64Type, Int64Type},
};
use arrow_cast::cast;
use arrow_schema::{DataType, Schema};
use isofactor::{Entry, EntryList};
use isofactor_io::Labels;
use pyo3::prelude::*;

use crate::{errors::bad_input, labels::whole};

/// What the three columns hold.
const PARTS: [&str; 3] = ["row", "column", "value"];

/// Reads entries; the first three columns are row, column and value unless names say otherwise.
pub fn entries(
    table: pyo3_arrow::PyRecordBatchReader,
    names: [Option<&str>; 3],
    rows: &mut Labels,
    columns: &mut Labels,
) -> PyResult<EntryList> {
    let reader = table.into_reader()?;
    let places = places(&reader.schema(), names)?;
    let batches: Vec<RecordBatch> = reader
        .collect::<Result<_, _>>()
        .map_err(|e| bad_input(format!("the Arrow stream cannot be read ({e})")))?;
    let mut entries = EntryList::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for batch in &batches {
        let part = |i: usize| batch.column(places[i]);
        for (part, what) in [part(0), part(1), part(2)].into_iter().zip(PARTS) {
            check_no_null(part, what)?;
        }
        let row = numbers(part(0), rows)?;
        let column = numbers(part(1), columns)?;
        let values = converted(part(2), &DataType::Float64, PARTS[2])?;
        let values = values.as_primitive::<Float64Type>().values();
        for ((row, column), &value) in row.into_iter().zip(column).zip(values) {
            entries.push(Entry { row, column, value });
        }
    }
    Ok(entries)
}

fn places(schema: &Schema, names: [Option<&str>; 3]) -> PyResult<[usize; 3]> {
    let header = || schema.fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>();
    let mut places = [0, 1, 2];
    for (place, name) in places.iter_mut().zip(names) {
        if let Some(name) = name {
            *place = schema.index_of(name).map_err(|_| {
                bad_input(format!(
                    "there is no column '{name}'; there are: {}",
                    header().join(", ")
                ))
            })?;
        }
    }
    let found = schema.fields().len();
    match places.iter().max() {
        Some(&last) if last >= found => Err(bad_input(format!(
            "{found} column(s) found, at least 3 are needed (row, column and value)"
        ))),
        _ => Ok(places),
    }
}

fn check_no_null(array: &ArrayRef, what: &str) -> PyResult<()> {
    match array.logical_null_count() {
        0 => Ok(()),
        count => Err(bad_input(format!(
            "the {what} of {count} entries is missing: an entry that was not observed is left out \
             of a long table"
        ))),
    }
}

/// The number of each name.
fn numbers(array: &ArrayRef, labels: &mut Labels) -> PyResult<Vec<usize>> {
    let mut number = |name: &str| labels.number(name);
    match array.data_type() {
        DataType::Dictionary(_, _) => {
            // Only names that occur are numbered, in the order in which they do.
            let dictionary = array.as_any_dictionary();
            let names = converted(dictionary.values(), &DataType::Utf8, "label")?;
            let names = names.as_string::<i32>();
            let mut known = vec![None; names.len()];
            let keys = dictionary.normalized_keys();
            let of_key = |key: usize| *known[key].get_or_insert_with(|| number(names.value(key)));
            Ok(keys.into_iter().map(of_key).collect())
        }
        kind if kind.is_integer() && *kind != DataType::UInt64 => {
            let array = converted(array, &DataType::Int64, "label")?;
            Ok(whole(array.as_primitive::<Int64Type>().values().iter().copied(), number))
        }
        DataType::LargeUtf8 => Ok(array.as_string::<i64>().iter().flatten().map(number).collect()),
        DataType::Utf8View => Ok(array.as_string_view().iter().flatten().map(number).collect()),
        _ => {
            let array = converted(array, &DataType::Utf8, "label")?;
            Ok(array.as_string::<i32>().iter().flatten().map(number).collect())
        }
    }
}

/// The same array where it has the type already.
fn converted(array: &ArrayRef, to: &DataType, what: &str) -> PyResult<ArrayRef> {
    if array.data_type() == to {
        return Ok(array.clone());
    }
    cast(array, to).map_err(|_| {
        let kind = array.data_type();
        bad_input(format!("the {what} column has the type {kind}, which cannot be used"))
    })
}
