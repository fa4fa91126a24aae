//! Names of rows or columns, numbered in the order in which they first occur.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// Names and their numbers; each name is held once, for there may be millions.
///
/// All names stand one after the other in one text. Most files name things by counting: `17`, or
/// `user17`. Names that are one prefix and such a number are found by the number, in a list of at most
/// 16 MiB that fits in a cache where a table of hashes does not. Of the others, a name of up to
/// seven bytes is found by one number made of its bytes and its length, without looking at the
/// text. Numbers are 32 bits wide: a matrix has no more rows or columns than that.
#[derive(Clone, Default)]
pub struct Labels {
    text: String,
    /// Where each name ends in the text.
    ends: Vec<usize>,
    counted: Counted,
    short: HashTable<(u64, u32)>,
    long: HashTable<u32>,
}

/// Names that are a prefix and a number.
#[derive(Clone, Default)]
struct Counted {
    /// That of the first such name.
    prefix: Option<Box<[u8]>>,
    /// One more than the number of the name with a count, or 0.
    numbers: Vec<u32>,
}

/// Counts below this are listed.
const COUNTS: usize = 1 << 22;

/// Names of so many bytes fit into a number beside their length.
const SHORT: usize = 7;
/// The same order of numbers in every run; names are not hashed for safety, for the number of
/// collisions that a file can bring about is limited by its size.
const HASH: FixedState = FixedState::with_seed(0x9e37_79b9_7f4a_7c15);

impl PartialEq for Labels {
    /// The same names in the same order.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.ends == other.ends
    }
}

impl std::fmt::Debug for Labels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Labels {
    /// From names that are all different; `None` when one repeats.
    pub fn from_names(names: Vec<String>) -> Option<Self> {
        let mut labels = Self::default();
        for (i, name) in names.iter().enumerate() {
            if labels.number(name) != i {
                return None;
            }
        }
        Some(labels)
    }

    /// Units that have no names but their numbers from 1.
    pub fn numbered(count: usize) -> Self {
        let mut labels = Self::default();
        for number in 1..=count {
            labels.number(&number.to_string());
        }
        labels
    }

    /// The number of a name, a new one if it has not occurred before.
    pub fn number(&mut self, name: &str) -> usize {
        match self.seek(name.as_bytes()) {
            Ok(number) => number,
            Err(key) => self.add(name, key),
        }
    }

    /// The number of a name given by its bytes; `None` when they are no text.
    pub(crate) fn number_of_bytes(&mut self, name: &[u8]) -> Option<usize> {
        match self.seek(name) {
            Ok(number) => Some(number),
            Err(key) => Some(self.add(std::str::from_utf8(name).ok()?, key)),
        }
    }

    /// The number of a name that has occurred.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.seek(name.as_bytes()).ok()
    }

    /// The name with a number below [`Labels::len`].
    pub fn name(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[number]]
    }

    /// All names in the order of their numbers.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|number| self.name(number))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of a name, or what it is to be filed under.
    fn seek(&self, name: &[u8]) -> Result<usize, Key> {
        let key = self.counted.count(name).map_or_else(|| Key::new(name), Key::Counted);
        let found = match key {
            Key::Counted(count) => {
                self.counted.numbers.get(count).and_then(|number| number.checked_sub(1))
            }
            Key::Short(packed) => {
                self.short.find(hash_of_short(packed), |&(other, _)| other == packed).map(|e| e.1)
            }
            Key::Long(hash) => {
                let same = |&number: &u32| self.name(number as usize).as_bytes() == name;
                self.long.find(hash, same).copied()
            }
        };
        found.map(|number| number as usize).ok_or(key)
    }

    fn add(&mut self, name: &str, key: Key) -> usize {
        let number = self.ends.len();
        // One more than fits is told by the number itself: arranging entries refuses it.
        let filed = u32::try_from(number).unwrap_or(u32::MAX);
        self.text.push_str(name);
        self.ends.push(self.text.len());
        let key = match (&self.counted.prefix, counted(name.as_bytes())) {
            (None, Some((prefix, count))) => {
                self.counted.prefix = Some(prefix.into());
                Key::Counted(count)
            }
            _ => key,
        };
        match key {
            Key::Counted(count) => {
                let numbers = &mut self.counted.numbers;
                if count >= numbers.len() {
                    numbers.resize((count + 1).next_power_of_two(), 0);
                }
                numbers[count] = filed.saturating_add(1);
            }
            Key::Short(packed) => {
                let entry = (packed, filed);
                self.short
                    .insert_unique(hash_of_short(packed), entry, |&(key, _)| hash_of_short(key));
            }
            Key::Long(hash) => {
                let (text, ends) = (self.text.as_bytes(), &self.ends);
                self.long.insert_unique(hash, filed, |&number| {
                    let start = (number as usize).checked_sub(1).map_or(0, |before| ends[before]);
                    hash_of_long(&text[start..ends[number as usize]])
                });
            }
        }
        number
    }
}

impl Counted {
    /// The count of a name that has the prefix.
    #[inline]
    fn count(&self, name: &[u8]) -> Option<usize> {
        count(name.strip_prefix(&**self.prefix.as_ref()?)?)
    }
}

/// The count that digits are, if they are written as numbers are and it is listed.
#[inline]
fn count(digits: &[u8]) -> Option<usize> {
    match digits {
        [] | [b'0', _, ..] => None,
        _ if digits.len() > 7 => None,
        _ => {
            let mut count = 0;
            for &digit in digits {
                let value = digit.wrapping_sub(b'0');
                if value > 9 {
                    return None;
                }
                count = 10 * count + value as usize;
            }
            (count < COUNTS).then_some(count)
        }
    }
}

/// A name as a prefix that does not end in a digit, and a count.
fn counted(name: &[u8]) -> Option<(&[u8], usize)> {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (prefix, digits) = name.split_at(name.len() - digits);
    Some((prefix, count(digits)?))
}

/// What a name is filed under.
#[derive(Clone, Copy)]
enum Key {
    /// Its number behind the common prefix.
    Counted(usize),
    /// Its bytes and, in the highest byte, its length.
    Short(u64),
    /// The hash of its bytes.
    Long(u64),
}

impl Key {
    fn new(name: &[u8]) -> Self {
        if name.len() > SHORT {
            return Key::Long(hash_of_long(name));
        }
        let bytes = name.iter().rev().fold(0, |packed, &byte| packed << 8 | u64::from(byte));
        Key::Short(bytes | (name.len() as u64) << 56)
    }
}

fn hash_of_short(packed: u64) -> u64 {
    let mut hasher = HASH.build_hasher();
    hasher.write_u64(packed);
    hasher.finish()
}

fn hash_of_long(name: &[u8]) -> u64 {
    let mut hasher = HASH.build_hasher();
    hasher.write(name);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn names_that_differ_in_length_alone_are_different() {
        let names = ["", "\0", "\0\0", "a", "a\0", "1234567", "12345678", "1234567\0"];
        let labels = Labels::from_names(names.map(str::to_owned).to_vec()).unwrap();
        assert!(labels.names().eq(names));
        assert_eq!(labels.find("12345678"), Some(6));
        assert_eq!(labels.find("\0\0\0"), None);
    }

    #[test]
    fn names_that_count_are_told_apart_from_those_that_nearly_do() {
        let names = [
            "u7",
            "u07",
            "u",
            "7",
            "u70",
            "v7",
            "u4194303",
            "u4194304",
            "u7x",
            "uu7",
            "u0",
            "u00",
            "u77777777",
            "",
        ];
        let labels = Labels::from_names(names.map(str::to_owned).to_vec()).unwrap();
        assert!(labels.names().eq(names));
        assert!(names.iter().enumerate().all(|(i, name)| labels.find(name) == Some(i)));
        assert_eq!(labels.find("u8"), None);
        assert!(labels.counted.numbers.len() <= COUNTS);
    }

    #[test]
    fn a_repeated_name_is_noticed() {
        assert!(Labels::from_names(vec!["a".into(), "b".into(), "a".into()]).is_none());
    }

    #[test]
    fn bytes_that_are_no_text_have_no_number() {
        let mut labels = Labels::default();
        assert_eq!(labels.number_of_bytes(b"\xff"), None);
        assert_eq!(labels.number_of_bytes("\u{e9}".as_bytes()), Some(0));
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_a_plain_map(names in prop::collection::vec("[ab]{0,2}[0-9]{0,3}[c\u{e9}]{0,8}", 0..300)) {
            let mut labels = Labels::default();
            let mut plain: HashMap<String, usize> = HashMap::new();
            for name in &names {
                let next = plain.len();
                let expected = *plain.entry(name.clone()).or_insert(next);
                prop_assert_eq!(labels.number(name), expected);
            }
            prop_assert_eq!(labels.len(), plain.len());
            for (name, number) in plain {
                prop_assert_eq!(labels.name(number), name.as_str());
                prop_assert_eq!(labels.find(&name), Some(number));
            }
        }
    }
}
