//! Options from a file: each key is the long name of an option, put before those of the command
//! line, which therefore win.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use clap::{CommandFactory, Parser};
use toml::Spanned;

use crate::{
    args::{Args, Command},
    commands::fit::settings,
    failure::Failure,
};

/// Puts the options of `--config FILE` into the arguments of `fit`.
pub fn expand(raw: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let Some(command) = raw.iter().position(|arg| arg == "fit") else { return Ok(raw) };
    let (before, after) = raw.split_at(command + 1);
    let Some(path) = config_path(after) else { return Ok(raw) };
    let options = read(Path::new(&path))?.into_iter().filter(|(key, _)| !outruled(key, after));
    let options = options.map(|(_, option)| OsString::from(option));
    Ok(before.iter().cloned().chain(options).chain(after.iter().cloned()).collect())
}

fn config_path(args: &[OsString]) -> Option<OsString> {
    args.iter().enumerate().find_map(|(i, arg)| match arg.to_str()?.split_once('=') {
        Some(("--config", path)) => Some(path.into()),
        None if arg == "--config" => args.get(i + 1).cloned(),
        _ => None,
    })
}

/// Whether the command line has an option that excludes this one.
fn outruled(key: &str, args: &[OsString]) -> bool {
    let given = |name: &str| {
        args.iter().filter_map(|arg| arg.to_str()).any(|arg| {
            arg.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    match key {
        "holdout" => given("--valid"),
        "valid" => given("--holdout"),
        _ => false,
    }
}

/// The options of a file: each key, and the option as the command line would have it.
fn read(path: &Path) -> Result<Vec<(String, String)>, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::Usage(format!("{shown}: the configuration cannot be read ({e})")))?;
    let table: BTreeMap<Spanned<String>, toml::Value> = toml::from_str(&text).map_err(|e| {
        Failure::Usage(format!("{shown}: the configuration is not valid TOML\n{e}"))
    })?;
    let known = option_names();
    let mut options = Vec::new();
    for (key, value) in table {
        let line = 1 + text[..key.span().start].matches('\n').count();
        let key = key.into_inner();
        let bad = |reason: &str| Failure::Usage(format!("{shown}, line {line}: {reason}"));
        if !known.contains(&key) {
            let near = known.iter().min_by_key(|name| strsim::levenshtein(name, &key));
            let hint = near.map(|n| format!("; the nearest is '{n}'")).unwrap_or_default();
            return Err(bad(&format!("there is no option '{key}'{hint}")));
        }
        let written = written(&key, &value)
            .ok_or_else(|| bad(&format!("the value of '{key}' cannot be used")))?;
        for option in written {
            if let Some(reason) = refusal(&option) {
                return Err(bad(&reason));
            }
            options.push((key.clone(), option));
        }
    }
    Ok(options)
}

/// A key and its value as the command line would have them; none where the value is a table.
fn written(key: &str, value: &toml::Value) -> Option<Vec<String>> {
    match value {
        toml::Value::Boolean(true) => Some(vec![format!("--{key}")]),
        toml::Value::Boolean(false) => Some(Vec::new()),
        toml::Value::Array(list) if matches!(key, "missing" | "skip") => {
            list.iter().map(|mark| Some(format!("--{key}={}", scalar(mark)?))).collect()
        }
        toml::Value::Array(list) => {
            let parts: Option<Vec<String>> = list.iter().map(scalar).collect();
            Some(vec![format!("--{key}={}", parts?.join(","))])
        }
        single => Some(vec![format!("--{key}={}", scalar(single)?)]),
    }
}

/// What the command line would say against this option alone.
fn refusal(option: &str) -> Option<String> {
    match Args::try_parse_from(["isofactor", "fit", "-", option]) {
        Ok(Args { command: Command::Fit(args) }) => match settings(&args) {
            Err(Failure::Usage(sentence)) => Some(sentence),
            _ => None,
        },
        Ok(_) => None,
        Err(error) => {
            let text = error.render().to_string();
            let sentence = text.split("\n\n").next().unwrap_or(&text);
            Some(sentence.trim().trim_start_matches("error: ").to_owned())
        }
    }
}

fn scalar(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The long names of the options of `fit`.
fn option_names() -> Vec<String> {
    let command = Args::command();
    let fit = command.find_subcommand("fit");
    let names = fit.into_iter().flat_map(clap::Command::get_arguments);
    names.filter_map(|arg| arg.get_long()).filter(|n| *n != "config").map(str::to_owned).collect()
}
