//! Names of rows or columns, numbered in the order in which they first occur.

use std::collections::HashMap;

/// Names and their numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Labels {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Labels {
    /// From names that are all different; `None` when one repeats.
    pub fn from_names(names: Vec<String>) -> Option<Self> {
        let numbers: HashMap<String, usize> =
            names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        (numbers.len() == names.len()).then_some(Self { names, numbers })
    }

    /// The number of a name, a new one if it has not occurred before.
    pub fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len();
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The number of a name that has occurred.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// All names in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
