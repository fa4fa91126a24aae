//! Completions and manual pages know every command.

use crate::{help::COMMANDS, support::Folder};

#[test]
fn every_shell_completes_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.done(&["completions", shell]).stdout;
        for word in COMMANDS.iter().chain(&["holdout", "known"]) {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    folder.refused(&["completions", "csh"], 2, &["'csh'", "bash"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    folder.done(&["man", "--out", "pages"]);
    let program = folder.text("pages/isofactor.1");
    for command in COMMANDS {
        assert!(program.contains(&format!("isofactor\\-{command}")), "{command}");
        let page = folder.text(&format!("pages/isofactor-{command}.1"));
        assert!(
            page.contains(&format!("isofactor {command}")) && page.contains(".SH OPTIONS"),
            "{page}"
        );
        assert_eq!(folder.done(&["man", command]).stdout, page);
    }
    assert_eq!(folder.done(&["man"]).stdout, program);
    folder.refused(&["man", "nosuch"], 2, &["no command 'nosuch'", "recommend"]);
}
