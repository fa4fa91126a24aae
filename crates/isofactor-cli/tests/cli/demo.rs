//! The demo: something to look at, without any input.

use crate::support::Folder;

#[test]
fn the_demo_writes_a_page_that_needs_no_other_and_tells_what_it_recovered() {
    let folder = Folder::new();
    let outcome = folder.done(&["demo", "--out", "look-here"]);
    let told = outcome.stdout.to_lowercase();
    assert!(told.contains("truth") && told.contains("linear"), "{outcome:?}");
    let error = |name: &str| -> f64 {
        let line = told.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().last().unwrap().parse().unwrap()
    };
    assert!(error("learned link") < error("linear factors"), "{outcome:?}");
    let files = std::fs::read_dir(folder.path("look-here")).unwrap().map(|f| f.unwrap().path());
    let pages: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "html")).collect();
    assert!(!pages.is_empty(), "{outcome:?}");
    for page in pages {
        let html = std::fs::read_to_string(page).unwrap();
        assert!(html.contains("</html>"));
        assert!(!html.contains("http://") && !html.contains("https://"));
    }
}
