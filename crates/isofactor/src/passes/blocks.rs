//! Rows and columns gathered into blocks of about equal numbers of entries.

use std::ops::Range;

/// About how many entries a block holds: what is known of them fits in a fast cache together.
const BLOCK: usize = 1 << 11;

/// Cuts a slice at increasing ends, the last of which is its length.
pub(crate) fn split_at_ends<'b, T>(slice: &'b mut [T], ends: &[usize]) -> Vec<&'b mut [T]> {
    let mut rest = slice;
    let mut start = 0;
    ends.iter()
        .map(|&end| {
            let (share, remaining) = std::mem::take(&mut rest).split_at_mut(end - start);
            rest = remaining;
            start = end;
            share
        })
        .collect()
}

/// Blocks of units each of which has a system to solve beside its entries.
pub(crate) fn blocks_with_systems(starts: &[usize]) -> Vec<Range<usize>> {
    /// A system costs as much to solve as so many entries to gather.
    const SOLVE: usize = 16;
    let work: Vec<usize> =
        starts.iter().enumerate().map(|(unit, start)| start + SOLVE * unit).collect();
    blocks(&work)
}

/// Consecutive groups (rows or columns) with at least [`BLOCK`] entries together, but for the last.
pub(crate) fn blocks<T: Copy + TryInto<usize>>(starts: &[T]) -> Vec<Range<usize>> {
    let start = |group: usize| starts[group].try_into().unwrap_or(usize::MAX);
    let groups = starts.len() - 1;
    let mut blocks = Vec::new();
    let mut first = 0;
    for group in 0..groups {
        if start(group + 1) - start(first) >= BLOCK || group + 1 == groups {
            blocks.push(first..group + 1);
            first = group + 1;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_row_once() {
        let starts: Vec<usize> = (0..=500).map(|row| row * row * 3).collect();
        let blocks = blocks(&starts);
        assert!(blocks.len() > 10);
        assert_eq!(blocks[0].start, 0);
        assert_eq!(blocks.last().unwrap().end, 500);
        assert!(blocks.windows(2).all(|w| w[0].end == w[1].start));
    }
}
