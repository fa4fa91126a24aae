//! Which columns of a table are wanted: by name, by number, or by their place.

use std::path::PathBuf;

use crate::error::{Error, Result};

/// The columns of a table.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    /// The file.
    pub path: PathBuf,
    /// Their names; numbers from 1 where the file has no names.
    pub names: Vec<String>,
    /// A column that holds names of rows, if the file itself says so.
    pub index: Option<usize>,
}

impl Header {
    /// The names where the first line has none.
    pub fn numbered(path: PathBuf, width: usize) -> Self {
        Self { path, names: (1..=width).map(|number| number.to_string()).collect(), index: None }
    }

    /// The column with a name or, where none has it, with a number from 1.
    pub fn find(&self, name: &str) -> Result<usize> {
        let mut places = self.names.iter().enumerate().filter(|(_, n)| *n == name).map(|p| p.0);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(first), Some(second)) => Err(Error::TwoColumns {
                path: self.path.clone(),
                name: name.to_owned(),
                first: first + 1,
                second: second + 1,
            }),
            (None, _) => match name.parse::<usize>() {
                Ok(number) if (1..=self.names.len()).contains(&number) => Ok(number - 1),
                _ => Err(self.unknown(name)),
            },
        }
    }

    fn unknown(&self, name: &str) -> Error {
        /// A table may have very many columns.
        const SHOWN: usize = 30;
        let mut header = self.names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        if self.names.len() > SHOWN {
            header += &format!(", and {} more", self.names.len() - SHOWN);
        }
        let lower = name.to_lowercase();
        let distance = |other: &&String| strsim::damerau_levenshtein(&lower, &other.to_lowercase());
        let nearest = self.names.iter().take(1000).min_by_key(distance);
        let near = nearest.filter(|other| distance(other) <= name.chars().count().max(3) / 2);
        let nearest = near.map(|near| format!("; the nearest is '{near}'")).unwrap_or_default();
        Error::UnknownColumn { path: self.path.clone(), name: name.to_owned(), header, nearest }
    }
}

/// The columns of long form, and of pairs.
pub(crate) const LONG: [&str; 3] = ["row", "column", "value"];
/// The columns of pairs.
pub(crate) const PAIRS: [&str; 2] = ["row", "column"];

/// Where the columns are whose `roles` are given: those with the `names` asked for; where none is
/// asked for, those that bear the names of the roles, if all do; else the first ones.
pub(crate) fn in_long_form<const N: usize>(
    header: &Header,
    roles: &[&'static str; N],
    names: &[Option<&str>; N],
) -> Result<[usize; N]> {
    let named = |role: &str| header.names.iter().position(|name| name.eq_ignore_ascii_case(role));
    let by_role: Option<Vec<usize>> = roles.iter().map(|role| named(role)).collect();
    let mut places = [0; N];
    for (k, place) in places.iter_mut().enumerate() {
        *place = match (names[k], &by_role) {
            (Some(name), _) => header.find(name)?,
            (None, Some(by_role)) => by_role[k],
            (None, None) if header.names.len() < N => {
                return Err(Error::TooFewColumns {
                    path: header.path.clone(),
                    found: header.names.len(),
                    needed: N,
                    what: if N == 3 { "row, column and value" } else { "row and column" },
                });
            }
            (None, None) => k,
        };
    }
    Ok(places)
}

/// The columns of wide form.
pub(crate) struct WidePlaces {
    /// The one that names rows.
    pub row: Option<usize>,
    /// Those that hold values.
    pub values: Vec<usize>,
}

/// All columns but the one that names rows and those to skip.
pub(crate) fn in_wide_form(
    header: &Header,
    row: Option<&str>,
    skip: &[String],
) -> Result<WidePlaces> {
    let skipped: Vec<usize> = skip.iter().map(|name| header.find(name)).collect::<Result<_>>()?;
    let row = match row {
        Some(name) => Some(header.find(name)?),
        None => header.index.filter(|index| !skipped.contains(index)),
    };
    let mut kept = vec![true; header.names.len()];
    skipped.iter().chain(&row).for_each(|&place| kept[place] = false);
    let values: Vec<usize> = (0..kept.len()).filter(|&place| kept[place]).collect();
    if values.is_empty() {
        return Err(Error::TooFewColumns {
            path: header.path.clone(),
            found: 0,
            needed: 1,
            what: "columns of values, beside the one that names rows and those that are skipped",
        });
    }
    let mut seen = std::collections::HashMap::new();
    for &place in &values {
        if let Some(first) = seen.insert(header.names[place].as_str(), place) {
            return Err(Error::TwoColumns {
                path: header.path.clone(),
                name: header.names[place].clone(),
                first: first + 1,
                second: place + 1,
            });
        }
    }
    Ok(WidePlaces { row, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> Header {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Header { path: "t.csv".into(), names, index: None }
    }

    #[test]
    fn names_of_roles_win_over_places() {
        let places = |names: &[&str], given| in_long_form(&header(names), &LONG, &given).unwrap();
        assert_eq!(places(&["value", "Column", "row"], [None; 3]), [2, 1, 0]);
        assert_eq!(places(&["user", "item", "rating"], [None; 3]), [0, 1, 2]);
        assert_eq!(places(&["a", "b", "c", "d"], [Some("d"), None, Some("3")]), [3, 1, 2]);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = header(&["userId", "movieId"]).find("userid").unwrap_err().to_string();
        assert!(error.contains("nearest is 'userId'"), "{error}");
        let error = header(&["userId", "movieId"]).find("quantity").unwrap_err().to_string();
        assert!(error.contains("userId, movieId") && !error.contains("nearest"), "{error}");
    }

    #[test]
    fn in_wide_form_every_column_is_read_once() {
        let table = header(&["id", "n", "x", "y"]);
        let places = in_wide_form(&table, Some("id"), &["2".to_owned()]).unwrap();
        assert_eq!((places.row, places.values), (Some(0), vec![2, 3]));
        assert!(in_wide_form(&header(&["x", "x"]), None, &[]).is_err());
        assert!(in_wide_form(&header(&["x"]), Some("x"), &[]).is_err());
    }
}
