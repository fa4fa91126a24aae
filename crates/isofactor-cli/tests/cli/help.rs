//! Help and version.

use crate::support::Folder;

/// Every command of the program.
pub const COMMANDS: [&str; 14] = [
    "demo",
    "generate",
    "fit",
    "predict",
    "evaluate",
    "inspect",
    "recommend",
    "similar",
    "compare",
    "export",
    "completions",
    "man",
    "report",
    "reproduce",
];

#[test]
fn the_help_of_each_command_has_an_example_of_it() {
    let folder = Folder::new();
    for command in COMMANDS {
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
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
}

#[test]
fn the_version_is_the_name_and_a_number() {
    let outcome = Folder::new().done(&["--version"]);
    assert_eq!(outcome.stdout, format!("isofactor {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_slip_of_the_fingers_is_answered_with_the_nearest() {
    let folder = Folder::with_ratings();
    folder.refused(&["recomend", "ratings.isofactor"], 2, &["'recomend'", "'recommend'"]);
    folder.refused(&["evaluate", "ratings.isofactor", "x", "--jsn"], 2, &["'--jsn'", "'--json'"]);
    let what = ["export", "ratings.isofactor", "--what", "colums"];
    folder.refused(&what, 2, &["'colums'", "columns"]);
    let slip = ["recommend", "ratings.isofactor", "--row", "Ana"];
    folder.refused(&slip, 3, &["no row 'Ana'", "'anna'"]);
    let slip = ["similar", "ratings.isofactor", "--column", "gataca"];
    folder.refused(&slip, 3, &["no column 'gataca'", "'Gattaca'"]);
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let folder = Folder::new();
    let stderr = |variables: &[(&str, &str)]| {
        let mut command = folder.command(&["inspect", "nosuch"]);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command.envs(variables.iter().copied());
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    assert!(!stderr(&[]).contains('\u{1b}'));
    assert!(stderr(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
    assert!(!stderr(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}
