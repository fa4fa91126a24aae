//! Options from a file: each key is the long name of an option, put before those of the command
//! line, which therefore win.

use std::{ffi::OsString, path::Path};

use clap::CommandFactory;

use crate::{args::Args, failure::Failure};

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
    let table: toml::Table = text.parse().map_err(|e| {
        Failure::Usage(format!("{shown}: the configuration is not valid TOML\n{e}"))
    })?;
    let known = option_names();
    let mut options = Vec::new();
    for (key, value) in table {
        if !known.contains(&key) {
            let near = known.iter().min_by_key(|name| difference(name, &key));
            let hint = near.map(|n| format!("; the nearest is '{n}'")).unwrap_or_default();
            return Err(Failure::Usage(format!("{shown}: there is no option '{key}'{hint}")));
        }
        let bad = || Failure::Usage(format!("{shown}: the value of '{key}' cannot be used"));
        match value {
            toml::Value::Boolean(true) => options.push((key.clone(), format!("--{key}"))),
            toml::Value::Boolean(false) => {}
            toml::Value::Array(list) if matches!(key.as_str(), "missing" | "skip") => {
                for mark in &list {
                    let option = format!("--{key}={}", scalar(mark).ok_or_else(bad)?);
                    options.push((key.clone(), option));
                }
            }
            toml::Value::Array(list) => {
                let parts: Option<Vec<String>> = list.iter().map(scalar).collect();
                let option = format!("--{key}={}", parts.ok_or_else(bad)?.join(","));
                options.push((key.clone(), option));
            }
            single => {
                let option = format!("--{key}={}", scalar(&single).ok_or_else(bad)?);
                options.push((key.clone(), option));
            }
        }
    }
    Ok(options)
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

/// Letters to insert, remove or change to get from one name to the other.
fn difference(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        assert_eq!(difference("bandwidth", "bandwith"), 1);
        assert_eq!(difference("rank", "rank"), 0);
        assert_eq!(difference("loss", ""), 4);
    }
}
