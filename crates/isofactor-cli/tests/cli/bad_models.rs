//! Files that are no models, or no longer: exit code 3 and a sentence, for every command.

use crate::support::{Folder, MODEL};

/// Every command that reads a model refuses this one.
fn all_refuse(folder: &Folder, model: &str, words: &[&str]) {
    let words = &[&[model], words].concat();
    folder.refused(&["inspect", model], 3, words);
    folder.refused(&["evaluate", model, "data.csv", "--json"], 3, words);
    folder.refused(&["predict", model, "data.csv", "--out", "predicted.csv"], 3, words);
    let go_on = ["fit", "data.csv", "--rank", "2", "--start", model, "--out", "again.isofactor"];
    folder.refused(&go_on, 3, words);
}

#[test]
fn a_missing_model_is_named() {
    all_refuse(&Folder::with_panel(), "nosuch.isofactor", &["no such file"]);
}

#[test]
fn a_model_cut_off_anywhere_is_refused() {
    let folder = Folder::with_model();
    let whole = folder.bytes(MODEL);
    let some = (0..whole.len()).step_by(whole.len() / 30 + 1);
    for length in some.chain([1, 7, 8, 9, whole.len() - 8, whole.len() - 1]) {
        folder.write("cut.isofactor", &whole[..length]);
        all_refuse(&folder, "cut.isofactor", &["not a usable isofactor model"]);
    }
}

#[test]
fn a_model_with_more_behind_it_is_refused() {
    let folder = Folder::with_model();
    let mut bytes = folder.bytes(MODEL);
    bytes.extend_from_slice(b"more");
    folder.write("long.isofactor", bytes);
    all_refuse(&folder, "long.isofactor", &["not a usable isofactor model"]);
}

#[test]
fn a_model_of_another_format_names_both_formats() {
    let folder = Folder::with_model();
    let mut bytes = folder.bytes(MODEL);
    let mark = br#"\"format\":2"#;
    let place = bytes.windows(mark.len()).position(|w| w == mark).unwrap();
    bytes[place + mark.len() - 1] = b'7';
    folder.write("later.isofactor", bytes);
    all_refuse(&folder, "later.isofactor", &["format 7", "reads format 2", "fit it again"]);
}

#[test]
fn text_is_no_model() {
    let folder = Folder::with_panel();
    folder.write("notes.txt", "these are notes, not a model\n".repeat(10));
    all_refuse(&folder, "notes.txt", &["not a usable isofactor model"]);
    folder.refused(&["inspect", "data.csv"], 3, &["data.csv", "not a usable isofactor model"]);
    folder.write("empty", "");
    all_refuse(&folder, "empty", &["not a usable isofactor model"]);
}

#[test]
fn tensors_of_another_program_are_no_model() {
    let folder = Folder::with_panel();
    let header = br#"{"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend_from_slice(&1f64.to_le_bytes());
    folder.write("other.safetensors", bytes);
    all_refuse(&folder, "other.safetensors", &["not written by isofactor"]);
}

#[test]
fn a_folder_is_no_model() {
    let folder = Folder::with_panel();
    std::fs::create_dir(folder.path("models")).unwrap();
    all_refuse(&folder, "models", &["cannot be read"]);
}
