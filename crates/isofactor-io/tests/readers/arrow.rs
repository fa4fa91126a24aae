//! Arrow files and streams, written by the `arrow-ipc` crate.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, LargeStringArray, ListArray, NullArray,
    RecordBatch, StringArray, StringViewArray, TimestampMillisecondArray,
    types::{Int8Type, Int32Type},
};
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};

use crate::support::{columns, plain, read_as, refusal, wide};

fn batch(list: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(list).unwrap()
}

fn table(count: i64) -> RecordBatch {
    let rows: DictionaryArray<Int8Type> =
        (0..count).map(|k| ["a", "b", "c"][k as usize % 3]).collect();
    let columns: LargeStringArray = (0..count).map(|k| Some(format!("t{k}"))).collect();
    let values: Float64Array = (0..count).map(|k| (k != 4).then_some(k as f64 / 2.0)).collect();
    batch(vec![
        ("row", Arc::new(rows) as ArrayRef),
        ("column", Arc::new(columns)),
        ("value", Arc::new(values)),
    ])
}

fn packed(packing: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(packing).unwrap()
}

fn file(batches: &[RecordBatch], packing: Option<CompressionType>) -> Vec<u8> {
    let schema = batches[0].schema();
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &schema, packed(packing)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn stream(batches: &[RecordBatch], packing: Option<CompressionType>) -> Vec<u8> {
    let schema = batches[0].schema();
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &schema, packed(packing)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn files_and_streams_packed_or_not_hold_the_same_entries() {
    let whole = table(20_000);
    let batches = [whole.slice(0, 12_345), whole.slice(12_345, 20_000 - 12_345)];
    let packings = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    for packing in packings {
        for (name, bytes) in [
            ("t.arrow", file(&batches, packing)),
            ("t.feather", file(&batches, packing)),
            ("t.arrow", stream(&batches, packing)),
        ] {
            let found = read_as(name, bytes, &plain()).unwrap();
            assert_eq!(found.entries.len(), 19_999);
            assert_eq!((found.rows.len(), found.columns.len()), (3, 19_999));
            let last = found.entries[19_998];
            assert_eq!(found.columns.name(last.column), "t19999");
            assert_eq!((found.rows.name(last.row), last.value), ("b", 9999.5));
        }
    }
}

#[test]
fn views_moments_and_nulls_are_read() {
    let moments = TimestampMillisecondArray::from(vec![Some(0), Some(1_500)]).with_timezone("UTC");
    let table = batch(vec![
        (
            "who",
            Arc::new(StringViewArray::from(vec!["a name of more than twelve bytes", "b"]))
                as ArrayRef,
        ),
        ("when", Arc::new(moments)),
        ("nothing", Arc::new(NullArray::new(2))),
        ("much", Arc::new(Int64Array::from(vec![1, 2]))),
    ]);
    let bytes = file(&[table], Some(CompressionType::ZSTD));
    let found = read_as("t.arrow", &bytes, &columns("who", "when", "much")).unwrap();
    assert!(found.columns.names().eq(["1970-01-01T00:00:00Z", "1970-01-01T00:00:01.500Z"]));
    assert!(found.rows.names().eq(["a name of more than twelve bytes", "b"]));
    let said = |row, column, value| refusal("t.arrow", &bytes, &columns(row, column, value));
    assert!(said("who", "when", "nothing").contains("every value is marked as missing"));
    assert!(said("nothing", "when", "much").contains("row 1"));
    assert!(said("who", "much", "when").contains("dates or times"));
}

#[test]
fn wide_form_is_read_too() {
    let table = batch(vec![
        ("x", Arc::new(Float64Array::from(vec![1.0, f64::NAN])) as ArrayRef),
        ("y", Arc::new(StringArray::from(vec!["2.5", "NA"]))),
    ]);
    let found = read_as("t.arrow", file(&[table], None), &wide()).unwrap();
    assert_eq!((found.rows.len(), found.columns.len(), found.entries.len()), (2, 2, 2));
}

#[test]
fn nested_columns_are_refused_by_name() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)])]);
    let bytes = file(&[batch(vec![("list", Arc::new(lists) as ArrayRef)])], None);
    assert!(refusal("t.arrow", bytes, &plain()).contains("'list' is nested"));
}

#[test]
fn damaged_files_are_called_so() {
    let whole = file(&[table(100)], None);
    for cut in [3, 9, 20, 300, whole.len() / 2] {
        let message = refusal("t.arrow", &whole[..cut], &plain());
        assert!(message.contains("not a usable Arrow file"), "{cut}: {message}");
    }
    assert!(refusal("t.feather", b"FEA1 and so on", &plain()).contains("version 1"));
    assert!(refusal("t.arrow", b"row,column,value\n1,2,3\n", &plain()).contains("Arrow"));
}
