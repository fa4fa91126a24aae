//! Help and version.

use crate::support::Folder;

#[test]
fn the_help_of_each_command_has_an_example_of_it() {
    let folder = Folder::new();
    for command in ["demo", "generate", "fit", "predict", "evaluate", "inspect", "report"] {
        for flag in ["--help", "-h"] {
            let outcome = folder.done(&[command, flag]);
            let example = format!("Example: isofactor {command} ");
            assert!(outcome.stdout.contains(&example), "{outcome:?}");
            assert_eq!(outcome.stderr, "");
        }
    }
    assert!(folder.content().is_empty());
}

#[test]
fn the_help_of_the_program_lists_its_commands() {
    let help = Folder::new().done(&["--help"]).stdout;
    for command in ["demo", "generate", "fit", "predict", "evaluate", "inspect", "report"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
}

#[test]
fn the_version_is_the_name_and_a_number() {
    let outcome = Folder::new().done(&["--version"]);
    assert_eq!(outcome.stdout, format!("isofactor {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_examples_in_the_help_of_generate_and_fit_run() {
    let folder = Folder::new();
    let help = folder.done(&["generate", "--help"]).stdout;
    let example = help.split_once("Example: isofactor ").unwrap().1;
    folder.done(&example.split_whitespace().collect::<Vec<_>>());
    assert_eq!(folder.table("panel.csv").lines.len(), 5000);
    folder.done(&[
        "fit",
        "panel.csv",
        "--solver",
        "bcd",
        "--rank",
        "3",
        "--loss",
        "sum",
        "--kernel",
        "gaussian",
        "--bandwidth",
        "0.5",
        "--iterations",
        "5",
        "--trace",
        "trace.csv",
    ]);
    assert_eq!(folder.table("trace.csv").lines.len(), 6);
}
