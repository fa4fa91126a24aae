//! Fewer marks than values, chosen the same way every time, so that a page stays light.

/// Points drawn per series; beyond it a scatter only grows darker.
pub(crate) const MOST_POINTS: usize = 5_000;
/// Line vertices kept as they are; beyond it a screen cannot show the difference.
pub(crate) const MOST_VERTICES: usize = 2_000;

/// One index from each of `keep` equal stretches, at a scattered place in its stretch: a fixed
/// stride would fall in step with rows that are stored one after another.
pub(crate) fn sample(count: usize, keep: usize) -> Vec<usize> {
    if count <= keep {
        return (0..count).collect();
    }
    (0..keep)
        .map(|i| {
            let (start, end) = (stretch(i, count, keep), stretch(i + 1, count, keep));
            start + (scatter(i as u64) % (end - start) as u64) as usize
        })
        .collect()
}

/// The indices of a line's vertices that keep its look: in each stretch the first, the lowest, the
/// highest and the first gap (`None`), and the very last.
pub(crate) fn outline(heights: &[Option<f64>], most: usize) -> Vec<usize> {
    let count = heights.len();
    if count <= most {
        return (0..count).collect();
    }
    let stretches = (most / 4).max(1);
    let mut kept = Vec::with_capacity(most + 1);
    for i in 0..stretches {
        let (start, end) = (stretch(i, count, stretches), stretch(i + 1, count, stretches));
        let known = (start..end).filter_map(|k| heights[k].map(|h| (k, h)));
        let lowest = known.clone().min_by(|a, b| a.1.total_cmp(&b.1));
        let highest = known.max_by(|a, b| a.1.total_cmp(&b.1));
        let gap = (start..end).find(|&k| heights[k].is_none());
        kept.push(start);
        kept.extend(lowest.map(|(k, _)| k));
        kept.extend(highest.map(|(k, _)| k));
        kept.extend(gap);
    }
    kept.push(count - 1);
    kept.sort_unstable();
    kept.dedup();
    kept
}

fn stretch(i: usize, count: usize, parts: usize) -> usize {
    (i as u128 * count as u128 / parts as u128) as usize
}

/// SplitMix64's finaliser.
fn scatter(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_increases_and_has_the_size_asked_for() {
        for (count, keep) in [(0, 5), (3, 5), (5, 5), (6, 5), (1_000_003, 5_000)] {
            let kept = sample(count, keep);
            assert_eq!(kept.len(), count.min(keep));
            assert!(kept.windows(2).all(|w| w[0] < w[1]));
            assert!(kept.iter().all(|&i| i < count));
        }
    }

    #[test]
    fn an_outline_keeps_ends_extremes_and_gaps() {
        let mut heights: Vec<Option<f64>> = (0..50_000).map(|i| Some(f64::from(i).sin())).collect();
        heights[12_345] = Some(99.0);
        heights[23_456] = Some(-99.0);
        heights[34_567] = None;
        let kept = outline(&heights, 2_000);
        assert!(kept.len() <= 2_001);
        for must in [0, 12_345, 23_456, 34_567, 49_999] {
            assert!(kept.binary_search(&must).is_ok(), "{must}");
        }
    }
}
