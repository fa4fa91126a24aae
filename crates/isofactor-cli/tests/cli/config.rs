//! Options from a file are the options of the command line, which wins over it.

use crate::support::{Folder, MODEL, Table};

/// Fits with these arguments and gives the model's bytes and the trace without its times.
fn fitted(folder: &Folder, options: &[&str]) -> (Vec<u8>, Table) {
    let fit = ["fit", "data.csv", "--out", MODEL, "--trace", "trace.csv"];
    folder.done(&[&fit, options].concat());
    (folder.bytes(MODEL), folder.table("trace.csv").without("seconds"))
}

/// `fit --config settings.toml` refuses this text.
fn refuses(text: impl AsRef<[u8]>, words: &[&str]) {
    let folder = Folder::with_panel();
    folder.write("settings.toml", text);
    let args = ["fit", "data.csv", "--config", "settings.toml", "--out", MODEL];
    folder.refused(&args, 2, words);
}

const OPTIONS: [(&str, &str); 19] = [
    ("rank", "2"),
    ("link", "learned"),
    ("solver", "bcd"),
    ("holdout", "0.34"),
    ("keep", "last"),
    ("seed", "7"),
    ("threads", "1"),
    ("loss", "mean"),
    ("kernel", "matern52"),
    ("bandwidth", "0.75"),
    ("link-penalty", "0.01"),
    ("balance-penalty", "0.25"),
    ("factor-step", "backtracking"),
    ("link-step", "0.125"),
    ("iterations", "9"),
    ("order", "link-first"),
    ("start", "random"),
    ("start-link", "identity"),
    ("project-factors", "auto"),
];

#[test]
fn a_key_in_the_file_is_an_option_on_the_command_line() {
    let folder = Folder::with_panel();
    let line = |(key, value): (&str, &str)| {
        let value = if value.parse::<f64>().is_ok() { value.into() } else { format!("'{value}'") };
        format!("{key} = {value}\n")
    };
    let text: String = OPTIONS.map(line).concat();
    folder.write("settings.toml", text + "monotone = [0.1, 2]\neffects = 'off'\n");
    let mut args: Vec<String> = OPTIONS.map(|(key, value)| format!("--{key}={value}")).to_vec();
    args.push("--monotone=0.1,2".to_owned());
    args.push("--effects=off".to_owned());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let from_line = fitted(&folder, &args);
    assert!(fitted(&folder, &["--config", "settings.toml"]) == from_line);
    assert!(fitted(&folder, &["--config=settings.toml"]) == from_line);
    let plain = fitted(&folder, &["--rank", "2", "--iterations", "9"]);
    assert!(plain != from_line, "the settings make no difference");
}

#[test]
fn each_key_alone_is_its_option() {
    let folder = Folder::with_panel();
    let base = ["--rank", "2", "--iterations", "3"];
    for (key, value) in OPTIONS {
        folder.write("settings.toml", format!("{key} = '{value}'\n"));
        let option = format!("--{key}={value}");
        // The command line would win over the file.
        let base: Vec<&str> = match key {
            "rank" => base[2..].to_vec(),
            "iterations" => base[..2].to_vec(),
            _ => base.to_vec(),
        };
        let from_file = fitted(&folder, &[&base[..], &["--config", "settings.toml"]].concat());
        let from_line = fitted(&folder, &[&base[..], &[&option]].concat());
        assert!(from_file == from_line, "{key}");
    }
}

#[test]
fn switches_lists_and_outputs_can_stand_in_the_file() {
    let folder = Folder::with_panel();
    folder.write("data.csv", folder.text("data.csv") + "r0,c0,99\nr1,c1,-1000\n");
    folder.write(
        "settings.toml",
        "rank = 2\niterations = 3\njson = true\nwide = false\nmissing = [99, '-1000']\n\
         out = 'model.isofactor'\ntrace = 'trace.csv'\nreport = 'page.html'\n",
    );
    let json = folder.done(&["fit", "data.csv", "--config", "settings.toml"]).json();
    assert_eq!(json["observed"], 48);
    assert_eq!(json["model"], MODEL);
    assert!(folder.path("trace.csv").exists() && folder.path("page.html").exists());
}

#[test]
fn the_command_line_wins_over_the_file_wherever_it_stands() {
    let folder = Folder::with_panel();
    folder.write("settings.toml", "rank = 3\niterations = 5\nlink = 'sigmoid'\n");
    let file = ["--config", "settings.toml"];
    let line = ["--rank", "2", "--link", "tanh"];
    for args in [[&file[..], &line].concat(), [&line[..], &file].concat()] {
        let json = folder.done(&[&["fit", "data.csv", "--json"], &args[..]].concat()).json();
        assert_eq!((&json["rank"], &json["link"]), (&2.into(), &"tanh".into()));
        assert_eq!(json["iterations"], 5);
    }
}

#[test]
fn validation_entries_on_the_command_line_win_over_a_share_in_the_file() {
    let folder = Folder::with_panel();
    folder.write("settings.toml", "rank = 2\niterations = 3\nholdout = 0.5\n");
    folder.write("valid.csv", "row,column,value\nr0,c0,0.5\n");
    let args = ["fit", "data.csv", "--json", "--config", "settings.toml", "--valid", "valid.csv"];
    let json = folder.done(&args).json();
    assert_eq!(json["validation"]["count"], 1);
}

#[test]
fn a_key_that_is_no_option_is_answered_with_the_nearest() {
    refuses("rank = 2\nbandwith = 1\n", &["settings.toml", "'bandwith'", "'bandwidth'"]);
    refuses("iteration = 2\n", &["settings.toml", "'iteration'", "'iterations'"]);
    refuses("link_penalty = 1\n", &["settings.toml", "'link_penalty'", "'link-penalty'"]);
}

#[test]
fn a_value_out_of_its_range_is_refused_with_the_line() {
    refuses("rank = 2\nlink-penalty = -1\n", &["settings.toml, line 2", "link-penalty", "-1"]);
    refuses("rank = 0\n", &["settings.toml, line 1", "rank must be positive"]);
    refuses("monotone = [2, 1]\n", &["settings.toml, line 1", "0 <= low < high"]);
}

#[test]
fn a_file_that_is_not_toml_is_refused_with_the_place() {
    refuses("rank = 2\niterations : 5\n", &["settings.toml", "not valid TOML", "line 2"]);
    refuses("rank = 2\nrank = 3\n", &["settings.toml", "not valid TOML", "duplicate"]);
    refuses(b"rank = \xff\n", &["settings.toml", "UTF-8"]);
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_with_its_key() {
    refuses("rank = 'two'\n", &["--rank", "'two'"]);
    refuses("rank = [2, 3]\n", &["rank", "2,3"]);
    refuses("rank = {a = 1}\n", &["settings.toml", "'rank'", "cannot be used"]);
    refuses("kernel = 'nosuch'\n", &["kernel", "'nosuch'", "gaussian"]);
    refuses("link-penalty = -1\n", &["link-penalty", "positive"]);
    refuses("[bcd]\nrank = 2\n", &["settings.toml", "'bcd'"]);
}

#[test]
fn a_missing_file_of_settings_is_named() {
    let folder = Folder::with_panel();
    let args = ["fit", "data.csv", "--config", "nosuch.toml", "--out", MODEL];
    folder.refused(&args, 2, &["nosuch.toml", "cannot be read"]);
    folder.refused(&["fit", "data.csv", "--config"], 2, &["--config"]);
}
