//! Lists of fours whose place in the pages of memory is known.
//!
//! Before it knows the page, a processor compares a load with the stores that are under way by where they lie
//! within one, and a load that seems to meet a store waits in vain. A pass that reads one table and adds to
//! another does so all the time if both begin at the same place of a page, as large lists from an
//! allocator do: it took 2 percent of an iteration with a learned link.

use std::ops::{Deref, DerefMut};

use super::{Four, ZERO};

/// Bytes of a page, as far as loads and stores are compared.
const PAGE: usize = 1 << 12;

/// Fours, one of which lies at a given place of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paged {
    /// The fours, and what lies before and behind them.
    room: Vec<Four>,
    first: usize,
    length: usize,
}

impl Paged {
    /// Makes room for so many in a list that is all zero, with the one of a number at a place of a page.
    pub fn fit(&mut self, length: usize, number: usize, place: usize) {
        self.room.resize(length + PAGE / size_of::<Four>(), Four(ZERO));
        let lies = self.room.as_ptr().addr() + number * size_of::<Four>();
        self.first = place.wrapping_sub(lies) % PAGE / size_of::<Four>();
        self.length = length;
    }
}

impl Deref for Paged {
    type Target = [Four];

    #[inline(always)]
    fn deref(&self) -> &[Four] {
        &self.room[self.first..][..self.length]
    }
}

impl DerefMut for Paged {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Four] {
        &mut self.room[self.first..][..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_four_lies_where_it_is_asked_for() {
        for length in [1, 2, 64, 500, 4096] {
            for place in [0, 32, 1024, PAGE / 2, PAGE - 32] {
                let mut list = Paged::default();
                list.fit(2 * length + 7, 5, 96);
                list.fit(length, length / 3, place);
                assert_eq!(list.len(), length);
                assert_eq!((&raw const list[length / 3]).addr() % PAGE, place);
                assert!(list.iter().all(|four| four.0 == ZERO));
            }
        }
    }
}
