//! Made panels: factors with a chosen condition number, seen through a known link, with noise.

use std::str::FromStr;

use isofactor::{
    ConfigError, DataError, Entry, EntryList, Factors, KnownLink, Observations, Result, Shape,
    Truth, init::random_factors,
};
use rand::{Rng, RngExt, SeedableRng, seq::index};
use rand_distr::{Distribution, StandardNormal, StudentT, Uniform};
use rand_pcg::Pcg64;

/// Which entries of a panel are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// Every one: complete observation.
    All,
    /// Pairs drawn independently, with replacement, as in the paper: some repeat.
    Drawn(usize),
    /// Different pairs.
    Distinct(usize),
}

/// The distribution of the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseKind {
    /// Normal.
    Gaussian,
    /// Even over an interval.
    Uniform,
    /// Plus or minus the same.
    Rademacher,
    /// Student's t with five degrees of freedom: heavy tails.
    Student,
}

impl FromStr for NoiseKind {
    type Err = ConfigError;

    fn from_str(text: &str) -> std::result::Result<Self, ConfigError> {
        Ok(match text {
            "gaussian" => NoiseKind::Gaussian,
            "uniform" => NoiseKind::Uniform,
            "rademacher" => NoiseKind::Rademacher,
            "student" => NoiseKind::Student,
            _ => {
                return Err(ConfigError::Unknown {
                    field: "noise-kind",
                    got: text.to_owned(),
                    choices: "gaussian, uniform, rademacher or student",
                });
            }
        })
    }
}

/// Degrees of freedom of [`NoiseKind::Student`].
const STUDENT_FREEDOM: f64 = 5.0;

/// Noise with mean 0 and a standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Its distribution.
    pub kind: NoiseKind,
    /// Its standard deviation (`sigma`); 0 for none.
    pub deviation: f64,
}

/// The most factors, and the most entries, that a panel may have.
const MOST_NUMBERS: usize = 1_000_000_000;

/// What panel to make.
#[derive(Debug, Clone, PartialEq)]
pub struct MadePanel {
    /// Rows and columns.
    pub shape: Shape,
    /// Factors per row and column.
    pub rank: usize,
    /// Which entries are seen.
    pub observed: Observed,
    /// The true link.
    pub link: KnownLink,
    /// The noise.
    pub noise: Noise,
    /// `kappa`: the largest singular value of the scores over the smallest; those between are
    /// spaced evenly on a log scale.
    pub condition: f64,
    /// Root mean square of the scores: how far into its curves the link is used.
    pub spread: f64,
    /// Seed of everything random.
    pub seed: u64,
}

/// A panel and what made it.
#[derive(Debug, Clone)]
pub struct Panel {
    /// What is seen.
    pub observations: Observations,
    /// What made it.
    pub truth: Truth,
}

impl MadePanel {
    /// Makes the panel.
    pub fn make(&self) -> Result<Panel> {
        self.check()?;
        let truth = Truth::new(&self.factors()?, self.link.clone())?;
        // Streams of their own: more noise does not move the entries that are seen.
        let mut places = Pcg64::seed_from_u64(self.seed.wrapping_add(1 << 32));
        let mut noise = Pcg64::seed_from_u64(self.seed.wrapping_add(2 << 32));
        let entries: EntryList = self
            .pairs(&mut places)
            .into_iter()
            .map(|(row, column)| {
                let value = truth.value(row, column) + self.noise.draw(&mut noise);
                Entry { row, column, value }
            })
            .collect();
        let observations = Observations::arrange(self.shape, entries)?;
        Ok(Panel { observations, truth })
    }

    fn check(&self) -> Result<()> {
        let Shape { rows, columns } = self.shape;
        let observed = match self.observed {
            Observed::All => 1,
            Observed::Drawn(count) | Observed::Distinct(count) => count,
        };
        let counts =
            [("rows", rows), ("columns", columns), ("rank", self.rank), ("observed", observed)];
        if let Some((field, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(ConfigError::NotPositive { field, got: 0.0 }.into());
        }
        let numbers = (rows.saturating_add(columns)).saturating_mul(self.rank);
        let cells = rows.saturating_mul(columns);
        let seen = if self.observed == Observed::All { cells } else { observed };
        for (what, count) in [("factors", numbers), ("observed entries", seen)] {
            if count > MOST_NUMBERS {
                return Err(DataError::TooMany { what, count, limit: MOST_NUMBERS }.into());
            }
        }
        if self.rank > rows.min(columns) {
            return Err(ConfigError::RankAboveShape { rank: self.rank, rows, columns }.into());
        }
        if !(self.condition >= 1.0 && self.condition.is_finite()) {
            let (got, low) = (self.condition, 1.0);
            return Err(ConfigError::TooSmall { field: "condition", got, low }.into());
        }
        if !(self.spread > 0.0 && self.spread.is_finite()) {
            return Err(ConfigError::NotPositive { field: "spread", got: self.spread }.into());
        }
        let deviation = self.noise.deviation;
        if !(deviation >= 0.0 && deviation.is_finite()) {
            return Err(ConfigError::Negative { field: "noise", got: deviation }.into());
        }
        if let Observed::Distinct(count) = self.observed
            && count > cells
        {
            let (got, high) = (count as f64, cells as f64);
            return Err(ConfigError::OutOfRange { field: "observed", got, low: 1.0, high }.into());
        }
        Ok(())
    }

    /// Random directions with the singular values asked for.
    fn factors(&self) -> Result<Factors> {
        let (directions, values) = random_factors(self.shape, self.rank, self.seed).balanced()?;
        let wanted = self.singular_values();
        let scale: Vec<f64> = wanted.iter().zip(&values).map(|(w, v)| (w / v).sqrt()).collect();
        let rescaled = |side: &[f64]| -> Vec<f64> {
            side.chunks(self.rank).flat_map(|z| z.iter().zip(&scale).map(|(z, s)| z * s)).collect()
        };
        let (rows, columns) = (rescaled(&directions.rows()), rescaled(&directions.columns()));
        Ok(Factors::from_vecs(self.rank, rows, columns).unwrap_or(directions))
    }

    /// `sigma_j`, from 1 down to `1/kappa` times what makes the mean square of the scores right.
    fn singular_values(&self) -> Vec<f64> {
        let last = (self.rank - 1).max(1) as f64;
        let shape: Vec<f64> =
            (0..self.rank).map(|j| self.condition.powf(-(j as f64) / last)).collect();
        let cells = (self.shape.rows * self.shape.columns) as f64;
        let unit = self.spread * (cells / shape.iter().map(|s| s * s).sum::<f64>()).sqrt();
        shape.into_iter().map(|s| s * unit).collect()
    }

    fn pairs(&self, random: &mut Pcg64) -> Vec<(usize, usize)> {
        let Shape { rows, columns } = self.shape;
        let pair = |cell: usize| (cell / columns, cell % columns);
        match self.observed {
            Observed::All => (0..rows * columns).map(pair).collect(),
            Observed::Drawn(count) => (0..count)
                .map(|_| (random.random_range(0..rows), random.random_range(0..columns)))
                .collect(),
            Observed::Distinct(count) => {
                let mut cells = index::sample(random, rows * columns, count).into_vec();
                cells.sort_unstable();
                cells.into_iter().map(pair).collect()
            }
        }
    }
}

impl Noise {
    /// None.
    pub const NONE: Noise = Noise { kind: NoiseKind::Gaussian, deviation: 0.0 };

    fn draw(&self, random: &mut impl Rng) -> f64 {
        let unit: f64 = match self.kind {
            NoiseKind::Gaussian => StandardNormal.sample(random),
            NoiseKind::Uniform => {
                let half = 3f64.sqrt();
                Uniform::new_inclusive(-half, half).map_or(0.0, |even| even.sample(random))
            }
            NoiseKind::Rademacher => {
                if random.random() {
                    1.0
                } else {
                    -1.0
                }
            }
            NoiseKind::Student => {
                let shrink = ((STUDENT_FREEDOM - 2.0) / STUDENT_FREEDOM).sqrt();
                StudentT::new(STUDENT_FREEDOM).map_or(0.0, |t| shrink * t.sample(random))
            }
        };
        self.deviation * unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel() -> MadePanel {
        MadePanel {
            shape: Shape { rows: 60, columns: 50 },
            rank: 3,
            observed: Observed::Drawn(2000),
            link: KnownLink::Sigmoid,
            noise: Noise { kind: NoiseKind::Gaussian, deviation: 0.1 },
            condition: 4.0,
            spread: 2.0,
            seed: 5,
        }
    }

    #[test]
    fn the_seed_decides_everything() {
        let (a, b) = (panel().make().unwrap(), panel().make().unwrap());
        assert_eq!(a.observations, b.observations);
        let other = MadePanel { seed: 6, ..panel() }.make().unwrap();
        assert_ne!(a.observations, other.observations);
    }

    #[test]
    fn condition_number_and_spread_are_as_asked() {
        let made = MadePanel { observed: Observed::All, noise: Noise::NONE, ..panel() };
        let truth = made.make().unwrap().truth;
        let values = truth.singular_values();
        assert!((values[0] / values[2] - 4.0).abs() < 1e-9);
        assert!((values[0] / values[1] - 2.0).abs() < 1e-9);
        let squares: f64 = (0..60)
            .flat_map(|i| (0..50).map(move |t| (i, t)))
            .map(|(i, t)| truth.factors().score(i, t).powi(2))
            .sum();
        assert!(((squares / 3000.0).sqrt() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn noise_has_mean_zero_and_the_deviation_asked_for() {
        for kind in
            [NoiseKind::Gaussian, NoiseKind::Uniform, NoiseKind::Rademacher, NoiseKind::Student]
        {
            let mut random = Pcg64::seed_from_u64(3);
            let noise = Noise { kind, deviation: 0.5 };
            let draws: Vec<f64> = (0..40_000).map(|_| noise.draw(&mut random)).collect();
            let mean = draws.iter().sum::<f64>() / 40_000.0;
            let variance = draws.iter().map(|x| x * x).sum::<f64>() / 40_000.0;
            assert!(mean.abs() < 0.01, "{kind:?} {mean}");
            assert!((variance.sqrt() - 0.5).abs() < 0.01, "{kind:?} {variance}");
        }
    }

    #[test]
    fn without_noise_what_is_seen_is_the_truth() {
        let made = MadePanel { noise: Noise::NONE, observed: Observed::Distinct(500), ..panel() };
        let Panel { observations, truth } = made.make().unwrap();
        assert_eq!(observations.len(), 500);
        assert_eq!(observations.repeated(), 0);
        assert!(observations.iter().all(|e| e.value == truth.value(e.row, e.column)));
    }

    #[test]
    fn drawn_pairs_repeat_as_the_paper_has_it() {
        assert!(panel().make().unwrap().observations.repeated() > 100);
    }

    #[test]
    fn impossible_panels_are_refused() {
        assert!(MadePanel { rank: 51, ..panel() }.make().is_err());
        assert!(MadePanel { condition: 0.5, ..panel() }.make().is_err());
        assert!(MadePanel { spread: 0.0, ..panel() }.make().is_err());
        assert!(MadePanel { observed: Observed::Distinct(3001), ..panel() }.make().is_err());
    }
}
