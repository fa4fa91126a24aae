//! The paper's experiments, in their quick version.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::support::Folder;

const MADE: [&str; 7] = [
    "noise-known-link",
    "sample-size",
    "noise-joint",
    "alpha",
    "link-shape",
    "regret",
    "contraction",
];

/// Those whose quick version is large enough for what is claimed.
const SHOWN_BY_SMALL_ONES: [&str; 4] = ["noise-joint", "link-shape", "regret", "contraction"];

/// Every file below a folder that is a table or a picture.
fn tables_and_pictures(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tables_and_pictures(&path));
        } else if path.extension().is_some_and(|e| e == "csv" || e == "svg") {
            found.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    found
}

fn outcome(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.text(&format!("out/{name}/outcome.json"))).unwrap()
}

#[test]
fn without_data_the_made_experiments_are_run_and_the_page_says_what_is_missing() {
    let folder = Folder::new();
    folder.done(&["reproduce", "all", "--quick", "--out", "out"]);
    let page = folder.text("out/index.html");
    for name in MADE {
        let outcome = outcome(&folder, name);
        let verdict = outcome["verdict"].as_str().unwrap();
        // Small versions of the others need not show what the full ones do.
        let expected = if SHOWN_BY_SMALL_ONES.contains(&name) { "holds" } else { verdict };
        assert_eq!(verdict, expected, "{name}: {}", outcome["sentence"]);
        assert!(page.contains(name), "{name} is not on the page");
    }
    assert_eq!(page.matches("Not run: it needs real data.").count(), 3);
    assert!(page.contains("--data"));
    assert!(!folder.path("out/.unfinished").exists());
}

#[test]
fn the_same_numbers_come_out_again_with_any_number_of_threads() {
    let folder = Folder::new();
    for (out, threads) in [("one", "1"), ("two", "2")] {
        let experiments = ["reproduce", "contraction", "sample-size", "--quick"];
        folder.done(&[&experiments[..], &["--out", out, "--threads", threads]].concat());
    }
    let (one, two) =
        (tables_and_pictures(&folder.path("one")), tables_and_pictures(&folder.path("two")));
    assert!(one.len() >= 5);
    assert!(one.values().eq(two.values()));
}

#[test]
fn what_cannot_be_run_is_refused_with_what_can() {
    let folder = Folder::new();
    folder.refused(&["reproduce", "alhpa"], 2, &["'alhpa'", "all", "alpha", "regret"]);
    folder.refused(&["reproduce", "jester", "--data", "nowhere"], 3, &["jester-data-1.csv"]);
    fs::create_dir_all(folder.path("data/movielens-small")).unwrap();
    folder.write("data/movielens-small/ratings.csv", "u,m,r,t\n1,2,3,4\n2,2,4,4\n");
    let other = ["reproduce", "movielens", "--data", "data"];
    folder.refused(&other, 3, &["ratings.csv", "2 rows", "610"]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_goes_on_to_the_same_numbers() {
    use std::{
        process::{Command, Stdio},
        time::Duration,
    };

    let folder = Folder::new();
    let run = |out: &'static str| ["reproduce", "noise-joint", "--quick", "--out", out];
    folder.done(&run("whole"));
    let mut command = folder.command(&run("cut"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let kept = folder.path("cut/.unfinished/noise-joint");
    let finished = || fs::read_dir(&kept).map_or(0, |cases| cases.count());
    while child.try_wait().unwrap().is_none() && finished() == 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ended = child.wait().unwrap();
    // It may have been done by then on a fast machine; what counts is what comes out.
    assert!(ended.code() == Some(130) && kept.exists() || ended.success(), "{ended:?}");
    folder.done(&run("cut"));
    let (whole, cut) =
        (tables_and_pictures(&folder.path("whole")), tables_and_pictures(&folder.path("cut")));
    assert!(whole.values().eq(cut.values()) && !whole.is_empty());
}
