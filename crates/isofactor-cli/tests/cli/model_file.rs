//! The model file is what its document says: the example there reads it with other tools.

use std::process::Command;

use crate::support::Folder;

const MODEL: &str = "ratings.isofactor";

fn python() -> Option<&'static str> {
    let works = |program: &&str| {
        let run = Command::new(program).args(["-c", "import numpy"]).output();
        run.is_ok_and(|output| output.status.success())
    };
    ["python3", "python"].into_iter().find(works)
}

#[test]
fn the_python_example_of_the_document_predicts_the_same() {
    let document = include_str!("../../../../docs/model-file.md");
    let (_, rest) = document.split_once("```python\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let folder = Folder::with_ratings();
    let straight = ["fit", "ratings.csv", "--solver", "auto", "--link", "identity", "--out"];
    folder.done(&[&straight[..], &[MODEL]].concat());
    let Some(python) = python() else {
        eprintln!("skipped: there is no python3 with numpy");
        return;
    };
    folder.write("example.py", example);
    let mut command = Command::new(python);
    let output = command.args(["example.py", MODEL]).current_dir(folder.path("")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words[0], "anna", "{text} {}", String::from_utf8_lossy(&output.stderr));
    let completed = folder.done(&["export", MODEL, "--what", "completed"]).stdout;
    let line = completed.lines().nth(1).unwrap();
    for (found, told) in words[1..].iter().zip(line.split(',').skip(1)) {
        let (found, told): (f64, f64) = (found.parse().unwrap(), told.parse().unwrap());
        assert!((found - told).abs() < 1e-12, "{found} {told}");
    }
    assert_eq!(words.len(), line.split(',').count());
}

/// Every tensor and key that a file has is in the document.
#[test]
fn the_document_names_every_key_and_tensor() {
    let document = include_str!("../../../../docs/model-file.md");
    let folder = Folder::with_ratings();
    folder.done(&[
        "fit",
        "ratings.csv",
        "--rank",
        "2",
        "--iterations",
        "3",
        "--out",
        "bcd.isofactor",
    ]);
    let learned = ["fit", "ratings.csv", "--solver", "auto", "--link", "learned", "--out"];
    folder.done(&[&learned[..], &["learned.isofactor"]].concat());
    for file in [MODEL, "bcd.isofactor", "learned.isofactor"] {
        let bytes = folder.bytes(file);
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let about = header["__metadata__"]["isofactor"].as_str().unwrap();
        let about: serde_json::Value = serde_json::from_str(about).unwrap();
        let named = |name: &str| document.contains(&format!("`{name}`"));
        for tensor in header.as_object().unwrap().keys().filter(|key| *key != "__metadata__") {
            assert!(named(tensor), "the document does not name {tensor}");
        }
        for key in about.as_object().unwrap().keys().filter(|key| *key != "provenance") {
            assert!(named(key), "the document does not name {key}");
        }
        for key in about["provenance"].as_object().unwrap().keys() {
            let named = named(&format!("provenance.{key}")) || named(&format!(".{key}"));
            assert!(named, "the document does not name provenance.{key}");
        }
    }
}
