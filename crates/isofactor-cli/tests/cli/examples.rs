//! What help texts tell the user to type does what they say.

use crate::support::Folder;

/// Runs a line as a shell would, without quoting: the default solver where none is named.
pub fn run(folder: &Folder, words: &[&str]) {
    let named = words.contains(&"--solver") || words[0] != "fit";
    let solver = if named { &[][..] } else { &["--solver", "auto"] };
    let outcome = folder.run(&[words, solver].concat()).succeeded();
    if words.contains(&"--json") {
        assert_eq!(outcome.stdout.lines().count(), 1, "{outcome:?}");
        assert!(outcome.json().is_object(), "{outcome:?}");
    }
}

/// The commands of the program, from its own list.
pub fn commands(folder: &Folder) -> Vec<String> {
    let help = folder.done(&["--help"]).stdout;
    let list = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let names = list
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '));
    names
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|n| n != "help")
        .collect()
}

#[test]
fn every_example_of_every_help_text_runs() {
    let folder = Folder::with_ratings();
    let mut count = 0;
    for command in commands(&folder) {
        let help = folder.done(&[&command, "--help"]).stdout;
        let (_, examples) =
            help.split_once("Example: isofactor ").unwrap_or_else(|| panic!("{help}"));
        for example in examples.split(" isofactor ") {
            let words: Vec<&str> = example.split_whitespace().collect();
            assert_eq!(words[0], command);
            run(&folder, &words);
            count += 1;
        }
    }
    assert!(count >= 19, "{count}");
}
