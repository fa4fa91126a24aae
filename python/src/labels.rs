//! Names of rows and columns as Python hands them over: whole numbers or texts.

use std::collections::HashMap;

use isofactor_io::Labels;
use numpy::PyReadonlyArray1;
use pyo3::{prelude::*, types::PyList};

use crate::errors::bad_input;

/// The names of the rows (or columns) of some entries, one an entry.
#[derive(FromPyObject)]
pub enum Names<'py> {
    /// Whole numbers, which are named by their digits.
    Whole(PyReadonlyArray1<'py, i64>),
    /// Texts.
    Texts(Bound<'py, PyList>),
}

impl Names<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Names::Whole(numbers) => numbers.as_array().len(),
            Names::Texts(texts) => texts.len(),
        }
    }

    /// What each name stands for; every whole number is looked up once.
    pub fn resolved<T: Copy>(&self, mut resolve: impl FnMut(&str) -> T) -> PyResult<Vec<T>> {
        match self {
            Names::Whole(numbers) => Ok(whole(numbers.as_array().iter().copied(), resolve)),
            Names::Texts(texts) => {
                let mut found = Vec::with_capacity(texts.len());
                for text in texts {
                    found.push(resolve(&text.extract::<String>()?));
                }
                Ok(found)
            }
        }
    }
}

/// What each whole number stands for, looked up by its digits, each number once.
pub fn whole<T: Copy>(
    numbers: impl Iterator<Item = i64>,
    mut resolve: impl FnMut(&str) -> T,
) -> Vec<T> {
    let mut known: HashMap<i64, T> = HashMap::new();
    numbers
        .map(|number| *known.entry(number).or_insert_with(|| resolve(&number.to_string())))
        .collect()
}

/// The names of a side of a matrix: those given, which must differ, or numbers from 0.
pub fn of_side(given: Option<Vec<String>>, count: usize, side: &str) -> PyResult<Labels> {
    let names = given.unwrap_or_else(|| (0..count).map(|i| i.to_string()).collect());
    if names.len() != count {
        let got = names.len();
        return Err(bad_input(format!("{got} {side} labels were given for {count} {side}s")));
    }
    Labels::from_names(names).ok_or_else(|| bad_input(format!("a {side} label occurs twice")))
}
