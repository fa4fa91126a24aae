//! What the guide in docs/ tells the user to type does what it says, and its page of options is complete.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use crate::{
    examples::{commands, run},
    files::with_data,
    support::{Folder, answers, ratings},
};

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn text_of(page: &str) -> String {
    fs::read_to_string(docs().join(page)).unwrap_or_else(|e| panic!("docs/{page}: {e}"))
}

/// All pages that are there.
fn pages() -> BTreeSet<String> {
    let names = fs::read_dir(docs()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect()
}

/// The files that a page speaks of, where it neither shows nor makes them.
fn folder_for(page: &str) -> Folder {
    match page {
        "commands.md" | "report.md" => Folder::with_ratings(),
        "files.md" => with_data(),
        "long-work.md" => {
            let folder = Folder::new();
            folder.write("big.csv", ratings());
            folder
        }
        "ratings.md" => {
            let folder = Folder::with_ratings();
            folder.write("more-ratings.csv", ratings());
            folder
        }
        "test-items.md" => {
            let folder = Folder::new();
            folder.write("answers.csv", answers());
            folder.write("more-answers.csv", answers());
            folder
        }
        _ => Folder::new(),
    }
}

/// Goes through the blocks of a page in their order: `csv NAME` is a file, the lines of `sh` are
/// commands. How many commands there were.
fn follow(page: &str) -> usize {
    let (text, folder) = (text_of(page), folder_for(page));
    let mut count = 0;
    for block in text.split("\n```").skip(1).step_by(2) {
        let (info, content) = block.split_once('\n').unwrap();
        if let Some(name) = info.strip_prefix("csv ") {
            folder.write(name, format!("{content}\n"));
        }
        for line in content.lines().filter(|_| info == "sh") {
            let command = line.strip_prefix("isofactor ");
            let command = command.unwrap_or_else(|| panic!("{page}: '{line}' is not run"));
            run(&folder, &command.split_whitespace().collect::<Vec<_>>());
            count += 1;
        }
    }
    count
}

#[test]
fn every_command_in_the_guide_runs() {
    // The paper's experiments take minutes; commands.md has a quick one.
    let pages = pages().into_iter().filter(|page| page != "reproduce.md");
    let counts: BTreeMap<String, usize> = pages.map(|page| (page.clone(), follow(&page))).collect();
    for page in ["quick-start", "ratings", "panel", "test-items", "sensors", "commands", "files"] {
        assert!(counts[&format!("{page}.md")] >= 3, "{counts:?}");
    }
}

#[test]
fn every_command_of_the_program_has_a_section() {
    let guide = text_of("commands.md");
    for command in commands(&Folder::new()) {
        assert!(guide.contains(&format!("\n## {command}\n")), "no section on {command}");
    }
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let contents = text_of("SUMMARY.md");
    for page in pages() {
        assert_eq!(contents.matches(&format!("]({page})")).count(), 1, "{page}");
    }
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let contents = text_of("SUMMARY.md");
    for page in pages() {
        let text = text_of(&page);
        let links = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
        for link in links.filter(|link| !link.starts_with("https://")) {
            let (target, heading) = link.split_once('#').unwrap_or((link, ""));
            let known = contents.contains(&format!("]({target})")) || docs().join(target).exists();
            assert!(known, "{page} links to {target}");
            let there =
                heading.is_empty() || text_of(target).contains(&format!("\n## {heading}\n"));
            assert!(there, "{page} links to {link}");
        }
    }
}

/// The long options of a command and their defaults, from its help.
fn options(folder: &Folder, command: &str) -> BTreeMap<String, Option<String>> {
    let help = folder.done(&[command, "--help"]).stdout;
    let mut options = BTreeMap::new();
    // Words about an option begin with a line that is indented less than what goes on from it.
    let starts = |line: &str| line.starts_with("      --") || line.starts_with("  -");
    let words: Vec<&str> = help.split("\nExample: ").next().unwrap().lines().collect();
    let begins: Vec<usize> = (0..words.len()).filter(|&i| starts(words[i])).collect();
    for (place, &begin) in begins.iter().enumerate() {
        let end = begins.get(place + 1).copied().unwrap_or(words.len());
        let about = words[begin..end].join(" ");
        let name = named(&about).into_iter().next().unwrap();
        let default = about.split_once("[default:").and_then(|(_, rest)| rest.split_once(']'));
        options.insert(name, default.map(|(value, _)| value.trim().to_owned()));
    }
    options.remove("--help");
    options
}

/// Everything in a text that looks like a long option, in its order.
fn named(text: &str) -> Vec<String> {
    let word = |c: char| c.is_ascii_lowercase() || c == '-';
    let places = text.match_indices("--").filter(|(at, _)| !text[..*at].ends_with(word));
    let words = places.map(|(at, _)| text[at..].split(|c| !word(c)).next().unwrap().to_owned());
    words.filter(|name| name.len() > 2 && !name.starts_with("---")).collect()
}

/// The lines of the tables in a text that begin with a word in code, cell by cell.
fn table_lines(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter(|line| line.starts_with("| `"));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn the_page_of_options_has_those_of_fit_with_their_defaults_and_no_others() {
    let (folder, page) = (Folder::new(), text_of("options.md"));
    let (of_fit, of_others) = page.split_once("\n## Other commands\n").unwrap();
    let expected = options(&folder, "fit");
    assert!(expected.len() > 40 && expected["--every"].as_deref() == Some("30s"), "{expected:?}");
    let mut listed = BTreeMap::new();
    for cells in table_lines(of_fit) {
        let default = Some(cells[1].trim_matches('`').to_owned()).filter(|d| !d.is_empty());
        for name in named(cells[0]) {
            assert!(listed.insert(name, default.clone()).is_none(), "twice: {cells:?}");
        }
    }
    assert_eq!(listed, expected);
    for name in named(of_fit) {
        assert!(expected.contains_key(&name) || name == "--help", "fit has no {name}");
    }
    for cells in table_lines(of_others) {
        let known = options(&folder, cells[0].trim_matches('`'));
        for name in named(cells[1]) {
            assert!(known.contains_key(&name), "{} has no {name}", cells[0]);
        }
    }
}
