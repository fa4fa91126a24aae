//! Matrix Market and NumPy.

use isofactor_io::TableFormat;

use crate::support::{plain, read_as, refusal};

fn mtx(text: &str) -> Vec<(String, String, f64)> {
    read_as("m.mtx", text, &plain()).unwrap().named()
}

fn cells(list: &[(u32, u32, f64)]) -> Vec<(String, String, f64)> {
    list.iter().map(|&(i, j, v)| (i.to_string(), j.to_string(), v)).collect()
}

#[test]
fn symmetric_matrices_are_whole_again() {
    let text =
        "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n\n2 2 2\n1 1 5\n2 1 3.5\n";
    assert_eq!(mtx(text), cells(&[(1, 1, 5.0), (1, 2, 3.5), (2, 1, 3.5)]));
    let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n";
    assert_eq!(mtx(skew), cells(&[(1, 2, -3.0), (2, 1, 3.0)]));
    let array = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n";
    assert_eq!(mtx(array), cells(&[(1, 1, 1.0), (1, 2, 2.0), (2, 1, 2.0), (2, 2, 3.0)]));
    let skew = "%%MatrixMarket matrix array real skew-symmetric\n2 2\n7\n";
    assert_eq!(mtx(skew), cells(&[(1, 2, -7.0), (2, 1, 7.0)]));
}

#[test]
fn arrays_stand_column_after_column() {
    let text = "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\nnan\n5\n6\n";
    let expected = [(1, 1, 1.0), (1, 2, 3.0), (1, 3, 5.0), (2, 1, 2.0), (2, 3, 6.0)];
    assert_eq!(mtx(text), cells(&expected));
}

#[test]
fn what_a_matrix_market_file_announces_must_be_there() {
    let said = |text: &str| refusal("m.mtx", text, &plain());
    let head = "%%MatrixMarket matrix coordinate real general\n";
    assert!(said(&format!("{head}2 2 2\n1 1 5\n")).contains("1 of 2 entries"));
    assert!(said(&format!("{head}2 2 1\n1 1 5\n2 2 6\n")).contains("line 4"));
    assert!(said(&format!("{head}2 2 1\n3 1 5\n")).contains("outside of 2 x 2"));
    assert!(said(&format!("{head}2 2 1\n0 1 5\n")).contains("line 3"));
    assert!(said(&format!("{head}2 2 1\n1 1\n")).contains("row, column and value"));
    assert!(
        said(&format!("{head}999999999999999 999999999999999 999999999999999\n1 1 1\n"))
            .contains("1 of 999999999999999")
    );
    assert!(said("%%MatrixMarket matrix array real general\n2 2\n1\n").contains("2 x 2 is full"));
    assert!(
        said("%%MatrixMarket matrix array real general\n999999999999999 2\n1\n")
            .contains("is full")
    );
    assert!(said("row,column,value\n").contains("%%MatrixMarket"));
}

#[test]
fn a_pattern_is_refused_for_it_has_no_values() {
    let text = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n";
    assert!(refusal("m.mtx", text, &plain()).contains("no values"));
    let text = "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n";
    assert!(refusal("m.mtx", text, &plain()).contains("real numbers"));
}

/// An array as NumPy writes it.
fn npy(kind: &str, fortran: bool, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), numbers].concat()
}

#[test]
fn numbers_of_every_kind_are_read() {
    let values = |kind: &str, bytes: &[u8]| {
        let found = read_as("a.npy", npy(kind, false, "(1, 2)", bytes), &plain()).unwrap();
        found.entries.iter().map(|entry| entry.value).collect::<Vec<f64>>()
    };
    assert_eq!(values("|i1", &[0xff, 2]), [-1.0, 2.0]);
    assert_eq!(values("|u1", &[0xff, 2]), [255.0, 2.0]);
    assert_eq!(values("|b1", &[0, 1]), [0.0, 1.0]);
    assert_eq!(values("<i2", &[0xfe, 0xff, 2, 0]), [-2.0, 2.0]);
    assert_eq!(values(">i2", &[0xff, 0xfe, 0, 2]), [-2.0, 2.0]);
    assert_eq!(values("<f2", &[0x00, 0x3c, 0x00, 0xc0]), [1.0, -2.0]);
    let floats = [1.5_f32.to_le_bytes(), (-2.5_f32).to_le_bytes()].concat();
    assert_eq!(values("<f4", &floats), [1.5, -2.5]);
    let longs = [i64::MIN.to_be_bytes(), 7_i64.to_be_bytes()].concat();
    assert_eq!(values(">i8", &longs), [i64::MIN as f64, 7.0]);
}

#[test]
fn a_row_of_nothing_but_missing_values_is_still_a_row() {
    let bytes: Vec<u8> =
        [1.0, f64::NAN, f64::NAN, f64::NAN].iter().flat_map(|v: &f64| v.to_le_bytes()).collect();
    for fortran in [false, true] {
        let found = read_as("a.npy", npy("<f8", fortran, "(2, 2)", &bytes), &plain()).unwrap();
        assert_eq!((found.rows.len(), found.columns.len(), found.entries.len()), (2, 2, 1));
    }
}

#[test]
fn arrays_that_are_no_matrices_of_numbers_are_refused() {
    let said =
        |kind: &str, shape: &str| refusal("a.npy", npy(kind, false, shape, &[0; 16]), &plain());
    assert!(said("<f8", "(2,)").contains("1 dimension(s)"));
    assert!(said("<f8", "(1, 1, 2)").contains("3 dimension(s)"));
    assert!(said("|O8", "(1, 2)").contains("Python objects"));
    assert!(said("<c16", "(1, 1)").contains("'<c16'"));
    assert!(said("<f8", "(999999999999999, 2)").contains("cut off"));
    assert!(said("<f8", "(2, 999999999999999)").contains("cut off"));
    assert!(said("<f8", "(999999999999999, 0)").contains("no entries"));
    assert!(said("|S8", "(1, 2)").contains("text"));
    let infinite = npy("<f8", false, "(1, 1)", &f64::INFINITY.to_le_bytes());
    assert!(refusal("a.npy", infinite, &plain()).contains("row 1 and column 1 is infinite"));
    assert!(
        refusal("a.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff", &plain()).contains("4294967295")
    );
}

#[test]
fn names_of_columns_have_no_meaning_in_a_matrix() {
    let format = TableFormat { row: Some("user".into()), ..plain() };
    let bytes = npy("<f8", false, "(1, 1)", &[0; 8]);
    assert!(refusal("a.npy", bytes, &format).contains("no column 'user'"));
}

#[test]
fn an_archive_of_several_arrays_asks_which() {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, value) in [("a", 1.0_f64), ("b", 2.0)] {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&npy("<f8", false, "(1, 1)", &value.to_le_bytes())).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let message = refusal("m.npz", &bytes, &plain());
    assert!(message.contains("--value: a, b"), "{message}");
    let format = TableFormat { value: Some("b".into()), ..plain() };
    assert_eq!(read_as("m.npz", &bytes, &format).unwrap().entries[0].value, 2.0);
}
