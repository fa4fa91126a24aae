//! Names of rows or columns, numbered in the order in which they first occur.

use indexmap::IndexSet;

/// Names and their numbers; each name is held once, for there may be millions.
#[derive(Debug, Clone, Default)]
pub struct Labels(IndexSet<Box<str>>);

impl PartialEq for Labels {
    /// The same names in the same order.
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().eq(other.0.iter())
    }
}

impl Labels {
    /// From names that are all different; `None` when one repeats.
    pub fn from_names(names: Vec<String>) -> Option<Self> {
        let count = names.len();
        let set: IndexSet<Box<str>> = names.into_iter().map(String::into_boxed_str).collect();
        (set.len() == count).then_some(Self(set))
    }

    /// Units that have no names but their numbers from 1.
    pub fn numbered(count: usize) -> Self {
        Self((1..=count).map(|number| number.to_string().into_boxed_str()).collect())
    }

    /// The number of a name, a new one if it has not occurred before.
    pub fn number(&mut self, name: &str) -> usize {
        match self.0.get_index_of(name) {
            Some(number) => number,
            None => self.0.insert_full(name.into()).0,
        }
    }

    /// The number of a name that has occurred.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.0.get_index_of(name)
    }

    /// The name with a number below [`Labels::len`].
    pub fn name(&self, number: usize) -> &str {
        &self.0[number]
    }

    /// All names in the order of their numbers.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|name| &**name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
