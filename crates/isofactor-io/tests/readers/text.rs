//! CSV and its kin.

use std::io::Write;

use isofactor::Entry;
use isofactor_io::{HeaderRule, Source, TableFormat, parse_delimiter, read_pairs};
use proptest::prelude::*;

use crate::support::{Folder, Found, columns, plain, read, read_as, refusal, wide};

fn csv(text: impl AsRef<[u8]>, format: &TableFormat) -> Found {
    read_as("data.csv", text, format).unwrap()
}

#[test]
fn a_messy_file_is_read_as_meant() {
    let text = "\u{feff}user , \"item\",rating,when\r\nanna,\"Am\u{e9}lie, 2001\",4.5,1\r\n\r\n bert , x ,-1e0,2\r\n";
    let found = csv(text, &plain());
    assert!(found.rows.names().eq(["anna", "bert"]));
    assert!(found.columns.names().eq(["Am\u{e9}lie, 2001", "x"]));
    assert_eq!(found.entries[1], Entry { row: 1, column: 1, value: -1.0 });
}

#[test]
fn columns_are_found_by_name() {
    let format = columns("who", "what", "score");
    let found = csv("score,x,what,who\n3,9,a,b\n", &format);
    assert_eq!(found.named(), [("b".into(), "a".into(), 3.0)]);
    let message = refusal("data.csv", "score,x,what,whom\n3,9,a,b\n", &format);
    assert!(message.contains("no column 'who'"), "{message}");
    assert!(message.contains("score, x, what, whom; the nearest is 'whom'"), "{message}");
}

#[test]
fn the_words_row_column_and_value_in_a_header_say_which_is_which() {
    let found = csv("value,column,row\n3,a,b\n", &plain());
    assert_eq!(found.named(), [("b".into(), "a".into(), 3.0)]);
}

#[test]
fn a_file_without_a_header_loses_no_line() {
    assert_eq!(csv("1,1,4\n1,2,3\n", &plain()).entries.len(), 2);
    let by_number = columns("3", "2", "1");
    assert_eq!(csv("4,a,b\n3,c,d\n", &by_number).named()[0], ("b".into(), "a".into(), 4.0));
}

#[test]
fn whether_there_is_a_header_can_be_said() {
    let yes = TableFormat { header: HeaderRule::Yes, ..plain() };
    assert_eq!(csv("1,1,4\n1,2,3\n", &yes).entries.len(), 1);
    let no = TableFormat { header: HeaderRule::No, ..plain() };
    let message = refusal("data.csv", "a,b,c\n1,2,3\n", &no);
    assert!(message.contains("line 1") && message.contains("column '3'"), "{message}");
}

#[test]
fn wide_form_reads_jester_style_lines() {
    let format = TableFormat { missing: vec!["99".into()], ..wide() };
    let found = csv("1.5,99,NA\n99.0,-2,\n", &format);
    assert_eq!(found.entries.len(), 2);
    assert_eq!((found.rows.len(), found.columns.len()), (2, 3));
    assert_eq!(found.entries[1], Entry { row: 1, column: 1, value: -2.0 });
}

#[test]
fn the_count_of_ratings_in_the_first_column_can_be_skipped() {
    let format = TableFormat { missing: vec!["99".into()], skip: vec!["1".into()], ..wide() };
    let found = csv("2,1.5,99,3\n1,99,-2,99\n", &format);
    assert!(found.columns.names().eq(["2", "3", "4"]));
    assert_eq!(found.entries.len(), 3);
}

#[test]
fn wide_form_takes_names_of_rows_from_a_column() {
    let format = TableFormat { row: Some("id".into()), skip: vec!["age".into()], ..wide() };
    let found = csv("id,age,x,y\nanna,30,1,2\nbert,40,,3\n", &format);
    assert!(found.rows.names().eq(["anna", "bert"]));
    assert!(found.columns.names().eq(["x", "y"]));
    assert_eq!(found.entries[2], Entry { row: 1, column: 1, value: 3.0 });
    let first = TableFormat { row: Some("1".into()), header: HeaderRule::No, ..wide() };
    assert!(csv("anna,1,2\nbert,3,4\n", &first).rows.names().eq(["anna", "bert"]));
}

#[test]
fn two_columns_of_one_name_are_refused_in_wide_form() {
    let message = refusal("data.csv", "x,y,x\n1,2,3\n", &wide());
    assert!(message.contains("1 and 3 are both called 'x'"), "{message}");
    let skipped = TableFormat { skip: vec!["3".into()], ..wide() };
    assert_eq!(csv("x,y,x\n1,2,3\n", &skipped).entries.len(), 2);
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_column() {
    let said = |text: &[u8]| refusal("data.csv", text, &plain());
    assert!(said(b"").contains("empty"));
    assert!(said(b"r,c,v\n").contains("no entries"));
    assert!(said(b"r,c\na,b\n").contains("2 column(s) found"));
    let text = said(b"r,c,v\na,b,1\na,c,good\n");
    assert!(text.contains("line 3") && text.contains("'good' in column 'v'"), "{text}");
    assert!(said(b"r,c,v\na,b,NaN\n").contains("not finite"));
    assert!(said(b"r,c,v\na,b,1e999\n").contains("not finite"));
    assert!(said(b"r,c,v\na,b,1\na,b\n").contains("line 3"));
    assert!(said(b"r,c,v\na,\xff,1\n").contains("UTF-8"));
    let missing = read("/no/such/file.csv".as_ref(), &plain()).unwrap_err().to_string();
    assert!(missing.contains("no such file"));
}

#[test]
fn several_marks_of_missing_values_are_skipped() {
    let format = TableFormat { missing: vec!["NA".into(), "99".into(), "-".into()], ..plain() };
    assert_eq!(csv("r,c,v\na,b,NA\na,c,2\na,d,99.00\na,e,-\n", &format).entries.len(), 1);
}

#[test]
fn semicolons_are_noticed_and_decimal_commas_asked_for() {
    let text = "row;column;value\nanna;x;3,5\nbert;x;4\n";
    let message = refusal("data.csv", text, &plain());
    assert!(message.contains("line 2") && message.contains("--decimal-comma"), "{message}");
    let comma = TableFormat { decimal_comma: true, ..plain() };
    assert_eq!(csv(text, &comma).named()[0], ("anna".into(), "x".into(), 3.5));
    let both = TableFormat { delimiter: Some(b','), ..comma };
    assert!(refusal("data.csv", text, &both).contains("--delimiter ';'"));
}

#[test]
fn a_delimiter_can_be_named() {
    let format = TableFormat { delimiter: parse_delimiter("|").ok(), ..plain() };
    assert_eq!(csv("r|c|v\na,b|c;d|1\n", &format).named(), [("a,b".into(), "c;d".into(), 1.0)]);
    assert_eq!(parse_delimiter("tab"), Ok(b'\t'));
    for bad in ["", "ab", "x", "\"", " "] {
        assert!(parse_delimiter(bad).is_err(), "{bad}");
    }
    assert_eq!(read_as("data.tsv", "a,1\tb;2\t3\n", &plain()).unwrap().named().len(), 1);
}

fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn packed_texts_are_unpacked_whatever_they_are_called() {
    let text = b"r,c,v\na,b,1\nc,d,2\n";
    let zstd = zstd::stream::encode_all(&text[..], 1).unwrap();
    let parts = [gzipped(&text[..8]), gzipped(&text[8..])].concat();
    for (name, bytes) in [
        ("data.csv.gz", gzipped(text)),
        ("data.csv", parts),
        ("data.csv.zst", zstd.clone()),
        ("DATA.CSV.ZSTD", zstd),
    ] {
        assert_eq!(read_as(name, bytes, &plain()).unwrap().entries.len(), 2, "{name}");
    }
    let cut = gzipped(&text.repeat(100));
    let message = refusal("data.csv.gz", &cut[..cut.len() - 9], &plain());
    assert!(message.contains("data.csv.gz"), "{message}");
}

#[test]
fn a_file_of_an_unknown_ending_is_asked_about() {
    let message = refusal("u.data", "1\t2\t3\n", &plain());
    assert!(message.contains(".parquet") && message.contains("--format"), "{message}");
    let said = TableFormat { kind: "tsv".parse().ok(), ..plain() };
    assert_eq!(read_as("u.data", "1\t2\t3\n", &said).unwrap().entries.len(), 1);
}

#[test]
fn pairs_are_read_by_name_or_place_and_keep_their_order() {
    let folder = Folder::new();
    let pairs = |text: &str, format: &TableFormat| -> Vec<(String, String)> {
        let source = Source::new(&folder.write("pairs.csv", text));
        let pairs = read_pairs(&source, format).unwrap();
        pairs.iter().map(|(row, column)| (row.to_owned(), column.to_owned())).collect()
    };
    let pair = |row: &str, column: &str| (row.to_owned(), column.to_owned());
    assert_eq!(
        pairs("user,item\nb,x\na,y\nb,x\n", &plain())[..2],
        [pair("b", "x"), pair("a", "y")]
    );
    assert_eq!(pairs("column,row\nx,b\n", &plain()), [pair("b", "x")]);
    assert_eq!(pairs("1,2\n3,4\n", &plain()), [pair("1", "2"), pair("3", "4")]);
    let no = TableFormat { header: HeaderRule::No, ..plain() };
    assert_eq!(pairs("a,x\n", &no), [pair("a", "x")]);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400), is_wide in any::<bool>()
    ) {
        let format = TableFormat { wide: is_wide, ..plain() };
        if let Ok(found) = read_as("data.csv", &bytes, &format) {
            for entry in found.entries {
                prop_assert!(entry.value.is_finite());
                prop_assert!(entry.row < found.rows.len() && entry.column < found.columns.len());
            }
        }
    }

    #[test]
    fn what_is_written_as_csv_is_read_back(
        lines in prop::collection::vec(("[a-z,;\"\u{e9} 0-9\n]{1,9}", "[a-z0-9]{1,9}", -1e6..1e6_f64), 1..40)
    ) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["row", "column", "value"]).unwrap();
        for (row, column, value) in &lines {
            writer.write_record([row, column, &value.to_string()]).unwrap();
        }
        let found = csv(writer.into_inner().unwrap(), &TableFormat { delimiter: Some(b','), ..plain() });
        prop_assert_eq!(found.entries.len(), lines.len());
        for (entry, (row, column, value)) in found.entries.iter().zip(&lines) {
            prop_assert_eq!(found.rows.name(entry.row), row.trim_ascii());
            prop_assert_eq!(found.columns.name(entry.column), column.as_str());
            prop_assert_eq!(entry.value, *value);
        }
    }
}
