//! The prior of each side, learned with the rest.
//!
//! The coordinates of a unit are normal around `pi_i = n_i^(-1/2) sum_t W_t`, the sum over the
//! `n_i` other units it has entries with: which entries were observed says something about a row
//! before their values are seen (who watches what). Each `W_t` is normal around zero with
//! precisions `beta`, and all precisions are set to what makes the present state most likely.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::units::{Lists, Units};
use crate::four::triangle;
use crate::simd::{self, Kernel, LANES, Lanes, Machine, ZERO};

/// What the presence of each unit of the other side says about a unit's coordinates.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Presence {
    /// `W`, `p` numbers a unit of the other side.
    pub weights: Vec<f64>,
    /// The variance of each.
    pub variances: Vec<f64>,
    /// `beta`
    pub precision: Vec<f64>,
}

impl Presence {
    /// Nothing, with precisions a small share of the units' own.
    pub fn new(others: usize, units: &Units) -> Self {
        const SHARE: f64 = 0.02;
        let zeros = vec![0.0; others * units.p];
        let precision = units.precision.iter().map(|alpha| SHARE * alpha).collect();
        Self { weights: zeros.clone(), variances: zeros, precision }
    }

    /// Whether there are numbers for so many units of the other side.
    pub fn fit(&self, others: usize, p: usize) -> bool {
        let size = others.checked_mul(p);
        self.precision.len() == p
            && size == Some(self.weights.len())
            && size == Some(self.variances.len())
    }

    /// One pass over the weights, each set to its best given the others, in the order given;
    /// returns for each coordinate the variance that the uncertain weights add to the units.
    ///
    /// With `x_i = n_i^(-1/2)`, `X_t = sum_i x_i^2` and `e_i = m_i - pi_i`,
    ///
    /// ```text
    /// W_t <- alpha (sum_i x_i e_i + X_t W_t) / (alpha X_t + beta)
    /// ```
    pub fn update(
        &mut self,
        units: &mut Units,
        lists: Lists<'_>,
        other_lists: Lists<'_>,
        order: &[u32],
    ) -> Vec<f64> {
        let (p, count) = (units.p, units.len());
        let share: Vec<f64> = (0..count)
            .map(|unit| match lists.count(unit) {
                0 => 0.0,
                n => (n as f64).sqrt().recip(),
            })
            .collect();
        // Coordinates do not see each other, so each four of them are a task of their own.
        let results: Vec<Coordinates> = (0..p.div_ceil(LANES))
            .into_par_iter()
            .map(|task| {
                let first = task * LANES;
                let four = |numbers: &[f64], unit: usize| -> Lanes {
                    std::array::from_fn(|i| match first + i {
                        a if a < p => numbers[unit * p + a],
                        _ => 0.0,
                    })
                };
                let gaps = (0..count)
                    .map(|unit| simd::sub(four(&units.mean, unit), four(&units.prior, unit)));
                let others = self.weights.len() / p;
                let mut coordinates = Coordinates {
                    // Coordinates that are not there have no say.
                    alpha: std::array::from_fn(|i| {
                        units.precision.get(first + i).copied().unwrap_or(1.0)
                    }),
                    beta: std::array::from_fn(|i| {
                        self.precision.get(first + i).copied().unwrap_or(1.0)
                    }),
                    gaps: gaps.collect(),
                    weights: (0..others).map(|t| four(&self.weights, t)).collect(),
                    variances: vec![ZERO; others],
                    spread: ZERO,
                    squares: ZERO,
                };
                simd::dispatch(Pass {
                    coordinates: &mut coordinates,
                    share: &share,
                    other_lists,
                    order,
                });
                coordinates
            })
            .collect();
        spread_out(&mut self.weights, p, &results, |four| &four.weights);
        spread_out(&mut self.variances, p, &results, |four| &four.variances);
        spread_out(&mut units.prior, p, &results, |four| &four.gaps);
        // The prior is the mean without the gap.
        let both = units.prior.par_iter_mut().zip(&units.mean).with_min_len(1 << 12);
        both.for_each(|(prior, mean)| *prior = mean - *prior);
        let others = (self.weights.len() / p) as f64;
        let mut spread = vec![0.0; p];
        for a in 0..p {
            let (coordinates, lane) = (&results[a / LANES], a % LANES);
            // A weak prior on the precision keeps it finite when all weights vanish.
            let least = 2e-3 / units.precision[a];
            self.precision[a] = (others + 2.0) / (coordinates.squares[lane] + least);
            spread[a] = coordinates.spread[lane];
        }
        spread
    }
}

/// Writes numbers that are held four coordinates at a time to where a unit's are together.
fn spread_out(
    to: &mut [f64],
    p: usize,
    from: &[Coordinates],
    pick: impl Fn(&Coordinates) -> &[Lanes] + Sync,
) {
    to.par_chunks_mut(p).with_min_len(256).enumerate().for_each(|(unit, to)| {
        for (four, to) in from.iter().zip(to.chunks_mut(LANES)) {
            simd::store(pick(four)[unit], to);
        }
    });
}

/// Four coordinates of all units and weights.
struct Coordinates {
    alpha: Lanes,
    beta: Lanes,
    /// `e`
    gaps: Vec<Lanes>,
    weights: Vec<Lanes>,
    variances: Vec<Lanes>,
    /// What the uncertain weights add to the variance of the units.
    spread: Lanes,
    /// `sum_t E W_t^2`
    squares: Lanes,
}

/// One pass over the weights.
struct Pass<'a> {
    coordinates: &'a mut Coordinates,
    share: &'a [f64],
    other_lists: Lists<'a>,
    order: &'a [u32],
}

impl Kernel for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        let Coordinates { alpha, beta, gaps, weights, variances, spread, squares } =
            self.coordinates;
        for &t in self.order {
            let t = t as usize;
            let units = self.other_lists.others(t);
            let (mut pull, mut weight) = (ZERO, 0.0);
            for &i in units {
                let x = self.share[i as usize];
                pull = simd::mul_add::<M>([x; LANES], gaps[i as usize], pull);
                weight += x * x;
            }
            let precision = simd::mul_add::<M>(*alpha, [weight; LANES], *beta);
            let pull = simd::mul_add::<M>([weight; LANES], weights[t], pull);
            let new = simd::div(simd::mul(*alpha, pull), precision);
            let change = simd::sub(new, weights[t]);
            for &i in units {
                let x = -self.share[i as usize];
                gaps[i as usize] = simd::mul_add::<M>([x; LANES], change, gaps[i as usize]);
            }
            weights[t] = new;
            variances[t] = simd::div([1.0; LANES], precision);
            *squares = simd::add(*squares, simd::mul_add::<M>(new, new, variances[t]));
            *spread = simd::add(*spread, simd::div([weight; LANES], precision));
        }
    }
}

/// `alpha_a = kappa n / (sum_i E (m_ia - pi_ia)^2 + spread_a)`; the effect, the last coordinate,
/// without `kappa`.
pub(super) fn update_precisions(units: &mut Units, spread: Option<&[f64]>, kappa: f64) {
    let (p, count) = (units.p, units.len());
    let squares = units.sum(p, |unit, squares| {
        let (mean, prior, covariance) =
            (units.of(unit), units.prior_of(unit), units.covariance_of(unit));
        for a in 0..p {
            let gap = mean[a] - prior[a];
            squares[a] += gap * gap + covariance[triangle(a) + a];
        }
    });
    for a in 0..p {
        let squares = squares[a] + spread.map_or(0.0, |spread| spread[a]);
        let kappa = if a + 1 < p { kappa } else { 1.0 };
        units.precision[a] = kappa * count as f64 / squares.max(f64::MIN_POSITIVE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A weight updated alone is the posterior mean of its own normal equation, and the priors
    /// of its units move with it.
    #[test]
    fn weights_explain_what_units_with_the_same_entries_share() {
        let mut units = Units::new(3, 1);
        units.mean = vec![1.0, 1.2, -0.5];
        units.precision = vec![2.0];
        let (starts, others) = ([0usize, 1, 2, 3], [0u32, 0, 1]);
        let never = crate::Hurry::default();
        let lists = Lists { starts: &starts, others: &others, in_bands: true, hurry: &never };
        let (other_starts, rows) = ([0usize, 2, 3], [0u32, 1, 2]);
        let other_lists =
            Lists { starts: &other_starts, others: &rows, in_bands: true, hurry: &never };
        let mut presence = Presence::new(2, &units);
        presence.precision = vec![0.5];
        presence.update(&mut units, lists, other_lists, &[0, 1]);
        let first = 2.0 * (1.0 + 1.2) / (2.0 * 2.0 + 0.5);
        let second = 2.0 * -0.5 / (2.0 + 0.5);
        assert!((presence.weights[0] - first).abs() < 1e-14);
        assert!((presence.weights[1] - second).abs() < 1e-14);
        let expected = [first, first, second];
        assert!(units.prior.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14));
    }

    #[test]
    fn precisions_match_the_spread_around_the_prior() {
        let mut units = Units::new(2, 2);
        units.mean = vec![1.0, 3.0, -1.0, 3.0];
        units.prior = vec![0.0, 2.0, 0.0, 2.0];
        units.covariance = vec![0.5, 0.0, 0.25, 0.5, 0.0, 0.25];
        update_precisions(&mut units, None, 1.4);
        assert!((units.precision[0] - 1.4 * 2.0 / 3.0).abs() < 1e-14);
        assert!((units.precision[1] - 2.0 / 2.5).abs() < 1e-14);
    }
}
