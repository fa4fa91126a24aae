//! What steps tell of the curvature: limited-memory BFGS.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::search::Domain;
use crate::{
    factors::{Factors, Turn},
    observations::Shape,
};

/// How many steps are remembered: more tell little more and cost a pass over the factors each.
const REMEMBERED: usize = 3;
/// How many trials that would leave the domain there are before a wider one is tried; the waiting
/// about doubles with every attempt that does not pay.
const FIRST_PATIENCE: u32 = 10;
/// A change of the gradient along a step with a smaller cosine tells nothing of the curvature.
const FLAT: f64 = 1e-10;

/// What steps leave for the next ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The oldest first.
    pairs: VecDeque<Pair>,
    /// The last step, and the descent where it began.
    last: Option<(Factors, Factors)>,
    /// How many times its descent the last step was that was made without a memory.
    pub(super) length: Option<f64>,
    /// Trials that would have left the domain since it was last tried wider.
    hemmed: u32,
    /// How many there are until it is tried wider again, beyond the first few.
    patience: u32,
}

/// A step `s` and by how much the descent `-grad F` became less along it, `y`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pair {
    step: Factors,
    change: Factors,
    /// `s . y`, positive
    product: f64,
}

impl Memory {
    /// Whether it can be that of a fit of this shape and rank.
    pub(crate) fn fits(&self, shape: Shape, rank: usize) -> bool {
        let fits = |z: &Factors| z.shape() == shape && z.rank() == rank;
        self.pairs.len() <= REMEMBERED
            && self.pairs.iter().all(|pair| fits(&pair.step) && fits(&pair.change))
            && self.last.as_ref().is_none_or(|(step, descent)| fits(step) && fits(descent))
    }

    /// Whether there was no step yet.
    pub(super) fn is_new(&self) -> bool {
        self.last.is_none()
    }

    /// Whether it is time to try a wider domain.
    pub(super) fn domain(&self) -> Domain {
        match self.hemmed > self.patience.saturating_add(FIRST_PATIENCE) {
            true => Domain::MayGrow,
            false => Domain::Stays,
        }
    }

    /// A trial would have left the domain; if a wider one was tried, in vain.
    pub(super) fn hem(&mut self, tried: Domain) {
        match tried {
            Domain::Stays => self.hemmed = self.hemmed.saturating_add(1),
            Domain::MayGrow => (self.hemmed, self.patience) = (0, self.hemmed.saturating_mul(2)),
        }
    }

    /// A step was made, from where the descent was this one.
    pub(super) fn remember(&mut self, step: Factors, descent: Factors) {
        self.last = Some((step, descent));
    }

    /// The factors were moved otherwise: nothing is known of where they are.
    pub(super) fn restart(&mut self) {
        self.pairs.clear();
        self.last = None;
    }

    /// Forgets what the steps told.
    pub(super) fn forget(&mut self) {
        self.pairs.clear();
    }

    /// The factors are turned: steps turn with them, and what is measured along steps the other
    /// way, so that every product stays what it was.
    pub(super) fn turn(&mut self, by: &Turn) {
        let step = |step: &mut Factors| *step = step.turned(by);
        let descent = |descent: &mut Factors| *descent = descent.turned(&by.opposite());
        for pair in &mut self.pairs {
            step(&mut pair.step);
            descent(&mut pair.change);
        }
        if let Some(last) = &mut self.last {
            step(&mut last.0);
            descent(&mut last.1);
        }
    }

    /// Learns the curvature along the last step from the descent at its end.
    pub(super) fn learn(&mut self, descent: &Factors) {
        let Some((step, mut change)) = self.last.take() else { return };
        let [product, steps, changes] = change.update([descent, &step], |before, [after, s]| {
            let y = before - after;
            (y, [s * y, s * s, y * y])
        });
        if product > FLAT * (steps * changes).sqrt() {
            self.pairs.push_back(Pair { step, change, product });
            if self.pairs.len() > REMEMBERED {
                self.pairs.pop_front();
            }
        }
    }

    /// `H` times a descent, by the recursion of Nocedal (1980) from `H_0` in the scale of the last
    /// step; none without a memory.
    pub(super) fn direction(
        &self,
        descent: &Factors,
        first: impl Fn(&Factors) -> Factors,
    ) -> Option<Factors> {
        let newest = self.pairs.back()?;
        let mut shares = vec![newest.step.inner(descent) / newest.product];
        let mut direction = descent.moved(-shares[0], &newest.change);
        for pair in self.pairs.iter().rev().skip(1) {
            let share = pair.step.inner(&direction) / pair.product;
            direction.update([&pair.change], |q, [y]| (q - share * y, []));
            shares.push(share);
        }
        let scale = newest.product / newest.change.inner(&first(&newest.change));
        direction = first(&direction);
        direction.scale(scale);
        for (pair, share) in self.pairs.iter().zip(shares.iter().rev()) {
            let rest = share - pair.change.inner(&direction) / pair.product;
            direction.update([&pair.step], |d, [s]| (d + rest * s, []));
        }
        Some(direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::random_factors;

    const SHAPE: Shape = Shape { rows: 30, columns: 20 };

    fn memory() -> Memory {
        let pair = |seed| {
            let (step, noise) =
                (random_factors(SHAPE, 3, seed), random_factors(SHAPE, 3, seed + 9));
            let change = step.moved(0.3, &noise);
            let product = step.inner(&change);
            Pair { step, change, product }
        };
        Memory { pairs: (0..3).map(pair).collect(), ..Memory::default() }
    }

    /// Some `H_0`.
    fn twice(z: &Factors) -> Factors {
        z.moved(1.0, z)
    }

    #[test]
    fn the_newest_change_leads_back_to_its_step() {
        // The secant equation `H y = s`, whatever `H_0` is.
        let memory = memory();
        let newest = memory.pairs.back().unwrap();
        let found = memory.direction(&newest.change, twice).unwrap();
        let off = found.moved(-1.0, &newest.step).norm();
        assert!(off < 1e-10 * newest.step.norm(), "{off}");
    }

    #[test]
    fn what_a_memory_says_is_symmetric_and_positive() {
        let memory = memory();
        let (a, b) = (random_factors(SHAPE, 3, 6), random_factors(SHAPE, 3, 7));
        let times = |z: &Factors| memory.direction(z, twice).unwrap();
        let (ab, ba) = (a.inner(&times(&b)), b.inner(&times(&a)));
        assert!((ab - ba).abs() < 1e-10 * ab.abs().max(1.0), "{ab} {ba}");
        assert!(a.inner(&times(&a)) > 0.0);
    }

    #[test]
    fn turning_keeps_what_steps_and_changes_make_together() {
        let mut memory = memory();
        let products = |memory: &Memory| -> Vec<f64> {
            let pairs = memory.pairs.iter();
            pairs.clone().flat_map(|a| pairs.clone().map(|b| a.step.inner(&b.change))).collect()
        };
        let before = products(&memory);
        memory.turn(&random_factors(SHAPE, 3, 5).balancing().unwrap());
        for (before, after) in before.iter().zip(products(&memory)) {
            assert!((after - before).abs() < 1e-9 * before.abs().max(1.0), "{before} {after}");
        }
    }
}
