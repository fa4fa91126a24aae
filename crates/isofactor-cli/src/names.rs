//! Rows and columns by name; a name that the model does not know is answered with the nearest.

use std::{collections::BTreeMap, path::Path};

use isofactor::Side;
use isofactor_io::{LabelledModel, Labels, Source, TableFormat, read_pairs};

use crate::failure::Failure;

/// Names that are suggested.
const SUGGESTIONS: usize = 3;
/// Longer names are not compared letter by letter: that takes the product of their lengths.
const LONGEST: usize = 80;

/// The labels of a side.
pub fn labels(model: &LabelledModel, side: Side) -> &Labels {
    match side {
        Side::Rows => &model.rows,
        Side::Columns => &model.columns,
    }
}

/// One of the side, in a sentence.
pub fn one_of(side: Side) -> &'static str {
    match side {
        Side::Rows => "row",
        Side::Columns => "column",
    }
}

/// That the model has no such row or column, and which come near.
pub fn unknown(labels: &Labels, side: Side, name: &str) -> Failure {
    none_such(nearest(labels.names(), name), side, name)
}

/// The number of a row or column by its name, or by the text beside it.
pub fn find(
    labels: &Labels,
    side: Side,
    titles: Option<&Titles>,
    name: &str,
) -> Result<usize, Failure> {
    let Some(titles) = titles else {
        return labels.find(name).ok_or_else(|| unknown(labels, side, name));
    };
    let titled = || titles.0.iter().find(|(_, title)| *title == name);
    let found = labels.find(name).or_else(|| labels.find(titled()?.0));
    let all = labels
        .names()
        .map(|label| if titles.of(label).is_empty() { label } else { titles.of(label) });
    found.ok_or_else(|| none_such(nearest(all, name), side, name))
}

fn none_such(near: Vec<&str>, side: Side, name: &str) -> Failure {
    let hint = match near.len() {
        0 => String::new(),
        1 => format!("; the nearest is '{}'", near[0]),
        _ => format!("; the nearest are '{}'", near.join("', '")),
    };
    Failure::Data(format!("the model has no {} '{name}'{hint}", one_of(side)))
}

/// Names that may have been meant, the likeliest first.
fn nearest<'a>(names: impl Iterator<Item = &'a str>, name: &str) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let letters = wanted.chars().count();
    let mut near: Vec<(usize, usize, &str)> = Vec::new();
    for (number, label) in names.enumerate() {
        if let Some(rank) = nearness(&wanted, letters, label) {
            near.push((rank, number, label));
            // The best few are enough, whatever the number of labels.
            if near.len() >= 64 * SUGGESTIONS {
                near.sort_unstable();
                near.truncate(SUGGESTIONS);
            }
        }
    }
    near.sort_unstable();
    near.into_iter().take(SUGGESTIONS).map(|(_, _, label)| label).collect()
}

/// How far a label is from what was wanted; none where it is another word.
fn nearness(wanted: &str, letters: usize, label: &str) -> Option<usize> {
    if wanted.is_empty() || label.len() > 4 * LONGEST {
        return None;
    }
    let label = label.to_lowercase();
    if label == wanted {
        return Some(0);
    }
    if letters >= 3 && (label.starts_with(wanted) || label.contains(wanted)) {
        // As if a letter had been left out, or two.
        return Some(if label.starts_with(wanted) { 1 } else { 2 });
    }
    let most = (letters / 3).max(1);
    let length = label.chars().count();
    if letters > LONGEST || length.abs_diff(letters) > most {
        return None;
    }
    Some(strsim::osa_distance(wanted, &label))
        .filter(|&distance| distance <= most && distance < letters)
}

/// Texts to show beside names.
pub struct Titles(BTreeMap<String, String>);

impl Titles {
    /// From a table whose first two columns are a name and a text.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let pairs = read_pairs(&Source::new(path), &TableFormat::default())?;
        let named = pairs.iter().map(|(name, text)| (name.to_owned(), text.to_owned()));
        Ok(Self(named.collect()))
    }

    /// The text beside a name; empty where there is none.
    pub fn of(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str]) -> Labels {
        Labels::from_names(names.iter().map(|&name| name.to_owned()).collect()).unwrap()
    }

    #[test]
    fn a_slip_is_answered_with_the_nearest() {
        let known = labels(&["Alien (1979)", "Aliens (1986)", "Brazil", "anna", "Amelie"]);
        assert_eq!(nearest(known.names(), "brasil"), ["Brazil"]);
        assert_eq!(nearest(known.names(), "Anna"), ["anna"]);
        assert_eq!(nearest(known.names(), "alien"), ["Alien (1979)", "Aliens (1986)"]);
        assert_eq!(nearest(known.names(), "Amleie"), ["Amelie"]);
        assert!(nearest(known.names(), "Casablanca").is_empty());
        assert!(nearest(known.names(), "").is_empty());
        assert!(nearest(labels(&["x"]).names(), "y").is_empty());
    }

    #[test]
    fn the_text_beside_a_name_will_do() {
        let known = labels(&["1", "2", "Heat"]);
        let titles = [("1", "Alien (1979)"), ("2", "Brazil (1985)")];
        let titles = titles.map(|(name, title)| (name.to_owned(), title.to_owned()));
        let titles = Titles(titles.into_iter().collect());
        let find = |name: &str| find(&known, Side::Columns, Some(&titles), name);
        assert_eq!(find("Brazil (1985)").unwrap(), 1);
        assert_eq!((find("1").unwrap(), find("Heat").unwrap()), (0, 2));
        let Err(Failure::Data(sentence)) = find("brazil") else { panic!("found") };
        assert!(sentence.ends_with("the nearest is 'Brazil (1985)'"), "{sentence}");
    }

    #[test]
    fn no_more_are_suggested_than_are_read() {
        let many: Vec<String> = (0..5000).map(|i| format!("name {i}")).collect();
        let known = Labels::from_names(many).unwrap();
        assert_eq!(nearest(known.names(), "name 5000").len(), 3);
    }
}
