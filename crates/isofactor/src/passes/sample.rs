//! A few entries that stand for all: about what a step of the link does, long before a pass over all of
//! them says it.

use super::curve::{Slopes, Squares};
use crate::{link::LearnedLink, simd};

/// About how many entries. Where there are not several times as many, a pass over all is hardly longer.
const ENTRIES: usize = 1 << 13;
const SEVERAL: usize = 4;
/// How many neighbours are taken together: a line of the cache.
const RUN: usize = 8;

/// Scores from all over the data, and what a link makes of them.
#[derive(Debug)]
pub(crate) struct Sample {
    scores: Vec<f64>,
    fitted: Vec<f64>,
    /// How large scores are at most, in absolute value, those outside the sample included.
    reach: f64,
    /// How many entries each stands for.
    weight: f64,
}

impl Sample {
    /// Some of the scores, all of which are at most `reach` in absolute value, under a link whose domain
    /// covers them. None where there are few.
    pub fn new(scores: &[f64], link: &LearnedLink, reach: f64) -> Option<Self> {
        let every = scores.len() / ENTRIES;
        if every < SEVERAL {
            return None;
        }
        let sampled: Vec<f64> =
            scores.chunks_exact(RUN).step_by(every).flatten().copied().collect();
        let zeros = vec![0.0; sampled.len()];
        let (mut residuals, mut slopes) = (zeros.clone(), zeros.clone());
        simd::dispatch_wide(Slopes {
            curve: link.fine_within(reach).link(),
            scores: &sampled,
            values: &zeros,
            residuals: &mut residuals,
            slopes: &mut slopes,
        });
        let fitted = residuals.into_iter().map(|residual| -residual).collect();
        let weight = scores.len() as f64 / sampled.len() as f64;
        Some(Self { scores: sampled, fitted, reach, weight })
    }

    /// `sum_k (phi(x_k) - phi_0(x_k))^2` over all entries, as those of the sample have it; `phi_0` is the
    /// link it was taken under.
    pub fn distance(&self, link: &LearnedLink) -> f64 {
        let curve = link.fine_within(self.reach).link();
        let (_, squares) =
            simd::dispatch_wide(Squares { curve, scores: &self.scores, values: &self.fitted });
        self.weight * squares
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::link::{Kernel, KernelFamily, LinkSpace};

    #[test]
    fn a_sample_tells_how_far_apart_links_are_on_all_entries() {
        let kernel = Kernel::try_new(KernelFamily::Gaussian, 0.5).unwrap();
        let space = Arc::new(LinkSpace::build(kernel, 2.0).unwrap());
        let link = |f: fn(f64) -> f64| LearnedLink::new(space.clone(), space.nearest(f).unwrap());
        let [from, to] = [link(|x| x.tanh()), link(|x| 0.8 * x.tanh() + 0.1 * x.cos())];
        // Waves of many lengths: no multiple of the sample's distance is special.
        let scores: Vec<f64> =
            (0..100_000).map(f64::from).map(|i| i.sin() + 0.9 * (0.01 * i).cos()).collect();
        let gap = |x| from.value_and_slope(x).0 - to.value_and_slope(x).0;
        let all: f64 = scores.iter().map(|&x| gap(x).powi(2)).sum();
        let sample = Sample::new(&scores, &from, 1.9).unwrap();
        assert!(sample.scores.len() <= 2 * ENTRIES);
        assert!((sample.distance(&to) / all - 1.0).abs() < 0.03);
        assert!(sample.distance(&from) < 1e-20 * all);
        assert!(Sample::new(&scores[..SEVERAL * ENTRIES - 1], &from, 1.9).is_none());
    }
}
