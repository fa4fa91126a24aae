//! Parquet files, written by the `parquet` crate.

use std::{path::Path, sync::Arc};

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int64Array,
    ListArray, RecordBatch, StringArray, UInt64Array, types::Int32Type,
};
use parquet::{arrow::ArrowWriter, basic::Compression, file::properties::WriterProperties};

use crate::support::{Folder, columns, plain, read, wide};

fn batch(list: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(list).unwrap()
}

fn write(path: &Path, batch: &RecordBatch, properties: WriterProperties) {
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn of_length(count: usize) -> RecordBatch {
    let rows: StringArray = (0..count).map(|k| Some(format!("r{}", k / 50))).collect();
    let columns: Int64Array = (0..count).map(|k| Some((k % 50) as i64)).collect();
    let values: Float64Array = (0..count).map(|k| (k % 7 != 3).then_some(k as f64)).collect();
    batch(vec![
        ("row", Arc::new(rows) as ArrayRef),
        ("column", Arc::new(columns)),
        ("value", Arc::new(values)),
    ])
}

#[test]
fn every_packing_and_layout_holds_the_same_entries() {
    let folder = Folder::new();
    let path = folder.path("t.parquet");
    let table = of_length(20_000);
    let packings = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4_RAW,
        Compression::LZ4,
        Compression::ZSTD(Default::default()),
        Compression::GZIP(Default::default()),
    ];
    let mut first = None;
    for packing in packings {
        for (dictionary, version) in [
            (true, parquet::file::properties::WriterVersion::PARQUET_1_0),
            (false, parquet::file::properties::WriterVersion::PARQUET_2_0),
        ] {
            let properties = WriterProperties::builder()
                .set_compression(packing)
                .set_dictionary_enabled(dictionary)
                .set_writer_version(version)
                .set_max_row_group_row_count(Some(7_000))
                .set_data_page_row_count_limit(900)
                .set_write_batch_size(300);
            write(&path, &table, properties.build());
            let found = read(&path, &plain()).unwrap().named();
            assert_eq!(found.len(), (0..20_000).filter(|k| k % 7 != 3).count());
            assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{packing:?}");
        }
    }
}

#[test]
fn names_and_values_may_be_of_any_type() {
    let folder = Folder::new();
    let path = folder.path("t.parquet");
    let decimals = Decimal128Array::from(vec![Some(150), None, Some(-5)]);
    let table = batch(vec![
        ("flag", Arc::new(BooleanArray::from(vec![true, false, true])) as ArrayRef),
        ("day", Arc::new(Date32Array::from(vec![0, 19_782, -1]))),
        ("large", Arc::new(UInt64Array::from(vec![u64::MAX, 0, 7]))),
        ("whole", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]))),
        ("decimal", Arc::new(decimals.with_precision_and_scale(10, 2).unwrap())),
        ("single", Arc::new(Float32Array::from(vec![0.5, f32::NAN, 1.0]))),
        ("text", Arc::new(StringArray::from(vec!["1.5", "2", "-3"]))),
    ]);
    write(&path, &table, WriterProperties::default());
    let found = |row, column, value| {
        let found = read(&path, &columns(row, column, value)).unwrap();
        let name = |e: &isofactor::Entry| {
            (found.rows.name(e.row).to_owned(), found.columns.name(e.column).to_owned(), e.value)
        };
        found.entries.iter().map(name).collect::<Vec<_>>()
    };
    let entry = |row: &str, column: &str, value| (row.to_owned(), column.to_owned(), value);
    assert_eq!(
        found("flag", "day", "decimal"),
        [entry("true", "1970-01-01", 1.5), entry("true", "1969-12-31", -0.05)]
    );
    assert_eq!(
        found("large", "whole", "single"),
        [entry("18446744073709551615", "1", 0.5), entry("7", "3", 1.0)]
    );
    assert_eq!(found("text", "whole", "flag")[1], entry("2", "2", 0.0));
}

#[test]
fn what_is_wrong_is_said_with_its_row_and_column() {
    let folder = Folder::new();
    let path = folder.path("t.parquet");
    let table = batch(vec![
        ("row", Arc::new(StringArray::from(vec!["r0", "r1", "r2"])) as ArrayRef),
        ("column", Arc::new(Int64Array::from(vec![Some(1), Some(2), None]))),
        ("value", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]))),
    ]);
    write(&path, &table, WriterProperties::default());
    let said = |format| read(&path, &format).unwrap_err().to_string();
    let message = said(columns("column", "row", "value"));
    assert!(message.contains("row 3") && message.contains("'column' is missing"), "{message}");
    let message = said(columns("column", "value", "row"));
    assert!(message.contains("row 1") && message.contains("'r0' in column 'row'"), "{message}");
    let message = said(columns("row", "colum", "value"));
    assert!(message.contains("the nearest is 'column'"), "{message}");
    let message = said(wide());
    assert!(message.contains("'row'") && message.contains("--skip"), "{message}");
}

#[test]
fn nested_columns_are_no_trouble_unless_asked_for() {
    let folder = Folder::new();
    let path = folder.path("t.parquet");
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None]);
    let table = batch(vec![
        ("list", Arc::new(lists) as ArrayRef),
        ("row", Arc::new(StringArray::from(vec!["a", "b"]))),
        ("column", Arc::new(StringArray::from(vec!["x", "y"]))),
        ("value", Arc::new(Float64Array::from(vec![1.0, 2.0]))),
    ]);
    write(&path, &table, WriterProperties::default());
    assert_eq!(read(&path, &plain()).unwrap().entries.len(), 2);
    let message = read(&path, &columns("row", "column", "list")).unwrap_err().to_string();
    assert!(message.contains("'list' holds List"), "{message}");
}

#[test]
fn parts_of_a_folder_must_have_the_same_columns() {
    let folder = Folder::new();
    let inside = folder.path("out");
    std::fs::create_dir(&inside).unwrap();
    assert!(read(&inside, &plain()).unwrap_err().to_string().contains("no Parquet file"));
    write(&inside.join("part-1.parquet"), &of_length(10), WriterProperties::default());
    std::fs::write(inside.join("_SUCCESS"), "").unwrap();
    std::fs::write(inside.join(".part-0.parquet"), "hidden").unwrap();
    assert_eq!(read(&inside, &columns("row", "value", "value")).unwrap().entries.len(), 9);
    let other = batch(vec![("x", Arc::new(Float64Array::from(vec![1.0])) as ArrayRef)]);
    write(&inside.join("part-2.parquet"), &other, WriterProperties::default());
    let message = read(&inside, &columns("row", "value", "value")).unwrap_err().to_string();
    assert!(message.contains("part-2.parquet") && message.contains("same names"), "{message}");
}

#[test]
fn names_have_a_length_that_is_read_again_and_again_without_harm() {
    let folder = Folder::new();
    let path = folder.path("t.parquet");
    let numbers: Int64Array = (0..3).map(Some).collect();
    let of_length = |length: usize| {
        let rows = StringArray::from(vec!["x".repeat(length); 3]);
        batch(vec![
            ("row", Arc::new(rows) as ArrayRef),
            ("column", Arc::new(numbers.clone())),
            ("value", Arc::new(numbers.clone())),
        ])
    };
    write(&path, &of_length(1 << 16), WriterProperties::default());
    let found = read(&path, &plain()).unwrap();
    assert_eq!((found.rows.len(), found.entries.len()), (1, 3));
    write(&path, &of_length((1 << 16) + 1), WriterProperties::default());
    let message = read(&path, &plain()).unwrap_err().to_string();
    assert!(message.contains("row 1") && message.contains("65536 bytes"), "{message}");
}
