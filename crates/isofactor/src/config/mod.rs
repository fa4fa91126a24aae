//! Every setting of a fit, with its default, its range and the words that name it.
//!
//! | setting | default | range |
//! | --- | --- | --- |
//! | `rank` | auto | 1 to the smaller side of the matrix; auto is 12 with `fast` (what is not needed empties itself) and 5 with `bcd` |
//! | `link` | `auto` | `learned`, a known link's name, or a table of knots; `auto` is learned with `bcd`, and with `fast` where held-out entries say so |
//! | `solver` | `fast` | `bcd` |
//! | `shrinkage` | `auto` | above 0; how many times more precise the prior of the factors is than they look (`fast`) |
//! | `loss` | `sum` | `sum`, `mean` |
//! | `kernel` | `gaussian` | see [`KernelFamily`] |
//! | `bandwidth` | `auto` | above 0; `auto` is a sixth of the half-width of the link's first domain |
//! | `link-penalty` | 1e-3 | above 0 (alpha) |
//! | `balance-penalty` | 0.5 | 0 or above (lambda) |
//! | `factor-step`, `link-step` | `backtracking` | above 0, `theory` (zeta, eta) |
//! | `iterations` | 500 | 0 or above; `fast` makes 40 sweeps at most, 100 with a link |
//! | `tolerance` | 1e-7 | 0 or above; used with `backtracking` only |
//! | `order` | `factors-first` | `link-first` |
//! | `start` | `spectral` | `random` |
//! | `start-rescale` | false | divide the spectral start's matrix by the share observed |
//! | `start-link` | `zero` | `identity` |
//! | `project-factors` | `off` | `auto`, or a radius above 0 (beta) |
//! | `monotone` | `auto` | `off`, or `LOW,HIGH` with 0 <= LOW < HIGH (xi, Xi); HIGH may be `inf`; `auto` is `0,inf` with backtracking, else `off` |
//! | `effects` | `auto` | `on`, `off`; `auto` is on with `fast` and off with `bcd`, which has none |
//! | `keep` | `best` | `last`: which iterate to return when there are validation entries |
//! | `seed` | 0 | |

mod choices;
mod settings;

pub use choices::{Effects, Keep, LossScale, Order, SolverKind, Start, StartLink};
pub use settings::{Bandwidth, LinkChoice, Monotone, ProjectFactors, Shrinkage, StepRule};

use serde::{Deserialize, Serialize};

use crate::{
    error::{ConfigError, Result},
    link::{KernelFamily, SlopeBounds},
    observations::Shape,
};

/// Every setting of a fit. The module's table lists them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct FitConfig {
    /// Factors per row and column (`r`); none leaves it to the solver.
    pub rank: Option<usize>,
    /// Learned or known.
    pub link: LinkChoice,
    /// The algorithm.
    pub solver: SolverKind,
    /// How strongly factors are drawn to their prior.
    pub shrinkage: Shrinkage,
    /// Sum or mean of squares.
    pub loss: LossScale,
    /// Shape of the kernel of a learned link.
    pub kernel: KernelFamily,
    /// Its bandwidth.
    pub bandwidth: Bandwidth,
    /// Weight of the link's squared norm (`alpha`).
    pub link_penalty: f64,
    /// Weight of the imbalance of the factors (`lambda`).
    pub balance_penalty: f64,
    /// Step of the factors (`zeta`).
    pub factor_step: StepRule,
    /// Step of the link (`eta`).
    pub link_step: StepRule,
    /// How many iterations at most.
    pub iterations: usize,
    /// With backtracking, stop when ten iterations lower the objective by less than this share.
    pub tolerance: f64,
    /// Which block moves first.
    pub order: Order,
    /// Where the factors begin.
    pub start: Start,
    /// Whether the spectral start divides the zero-filled matrix by the share observed.
    pub start_rescale: bool,
    /// Where the link begins.
    pub start_link: StartLink,
    /// Bound on the rows of the factors.
    pub project_factors: ProjectFactors,
    /// Bounds on the slope of the link.
    pub monotone: Monotone,
    /// Effects of rows and columns.
    pub effects: Effects,
    /// Which iterate to return.
    pub keep: Keep,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for FitConfig {
    fn default() -> Self {
        Self {
            rank: None,
            link: LinkChoice::Auto,
            solver: SolverKind::Fast,
            shrinkage: Shrinkage::Auto,
            loss: LossScale::Sum,
            kernel: KernelFamily::Gaussian,
            bandwidth: Bandwidth::Auto,
            link_penalty: 1e-3,
            balance_penalty: 0.5,
            factor_step: StepRule::Backtracking,
            link_step: StepRule::Backtracking,
            iterations: 500,
            tolerance: 1e-7,
            order: Order::FactorsFirst,
            start: Start::Spectral,
            start_rescale: false,
            start_link: StartLink::Zero,
            project_factors: ProjectFactors::Off,
            monotone: Monotone::Auto,
            effects: Effects::Auto,
            keep: Keep::Best,
            seed: 0,
        }
    }
}

/// Settings proven to make sense together and for a shape.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedConfig(FitConfig);

impl CheckedConfig {
    /// The settings.
    pub fn settings(&self) -> &FitConfig {
        &self.0
    }
}

/// The rank with the paper's objective where none is given.
const BCD_RANK: usize = 5;

impl FitConfig {
    /// Algorithm 1 with its defaults.
    pub fn bcd() -> Self {
        let (rank, link) = (Some(BCD_RANK), LinkChoice::Learned);
        Self { rank, link, solver: SolverKind::Bcd, ..Self::default() }
    }

    /// The settings with what `auto` means with the paper's objective filled in, for a shape.
    pub(crate) fn resolved_for_descent(mut self, shape: Shape) -> Self {
        let most = shape.rows.min(shape.columns);
        self.rank.get_or_insert(BCD_RANK.min(most));
        if self.link == LinkChoice::Auto {
            self.link = LinkChoice::Learned;
        }
        self
    }

    /// The bounds on the link's slope that the settings come to.
    pub fn slope_bounds(&self) -> Option<SlopeBounds> {
        let searching = [self.factor_step, self.link_step] == [StepRule::Backtracking; 2];
        match self.monotone {
            Monotone::Off => None,
            Monotone::Within(bounds) => Some(bounds),
            Monotone::Auto => searching.then_some(SlopeBounds::INCREASING),
        }
    }

    /// Checks every setting.
    pub fn check(self, shape: Shape) -> Result<CheckedConfig> {
        self.check_values()?;
        let Shape { rows, columns } = shape;
        let rank = self.rank.unwrap_or(1);
        if rank > rows.min(columns) {
            return Err(ConfigError::RankAboveShape { rank, rows, columns }.into());
        }
        self.check_solver()?;
        self.check_theory()?;
        Ok(CheckedConfig(self))
    }

    /// Checks each setting by itself, whatever the data and the other settings are.
    pub fn check_values(&self) -> Result<()> {
        if self.rank == Some(0) {
            return Err(ConfigError::NotPositive { field: "rank", got: 0.0 }.into());
        }
        positive("link-penalty", self.link_penalty)?;
        not_negative("balance-penalty", self.balance_penalty)?;
        not_negative("tolerance", self.tolerance)?;
        for (field, rule) in [("factor-step", self.factor_step), ("link-step", self.link_step)] {
            if let StepRule::Fixed(step) = rule {
                positive(field, step)?;
            }
        }
        if let Shrinkage::Fixed(factor) = self.shrinkage {
            positive("shrinkage", factor)?;
        }
        if let Bandwidth::Fixed(bandwidth) = self.bandwidth {
            positive("bandwidth", bandwidth)?;
        }
        if let ProjectFactors::Radius(radius) = self.project_factors {
            positive("project-factors", radius)?;
        }
        if let Monotone::Within(SlopeBounds { low, high }) = self.monotone
            && !(0.0 <= low && low < high)
        {
            return Err(ConfigError::SlopeBounds { low, high }.into());
        }
        Ok(())
    }

    /// What one solver has and the other has not.
    fn check_solver(&self) -> Result<()> {
        const FAST: &str = "the solver 'fast'";
        const BCD: &str = "the solver 'bcd'";
        const DESCENT: &str = "the solver 'bcd' or 'lbfgs'";
        let of_others = match self.solver {
            SolverKind::Fast => {
                [self.of_bcd().zip(Some(BCD)), self.of_descent().zip(Some(DESCENT))]
            }
            SolverKind::Bcd => [self.of_fast().zip(Some(FAST)), None],
            SolverKind::Lbfgs => [self.of_fast().zip(Some(FAST)), self.of_bcd().zip(Some(BCD))],
        };
        match of_others.into_iter().flatten().next() {
            Some((first, second)) => Err(ConfigError::Needs { first, second }.into()),
            None => Ok(()),
        }
    }

    /// A setting of Algorithm 1 alone that is not at its default.
    fn of_bcd(&self) -> Option<&'static str> {
        let plain = Self::default();
        let changed = [
            ("factor-step", self.factor_step != plain.factor_step),
            ("link-step", self.link_step != plain.link_step),
            ("order", self.order != plain.order),
            ("start-link", self.start_link != plain.start_link),
        ];
        changed.iter().find(|(_, changed)| *changed).map(|(name, _)| *name)
    }

    /// A setting of the paper's objective alone that is not at its default.
    fn of_descent(&self) -> Option<&'static str> {
        let plain = Self::default();
        let changed = [
            ("loss", self.loss != plain.loss),
            ("kernel", self.kernel != plain.kernel),
            ("bandwidth", self.bandwidth != plain.bandwidth),
            ("link-penalty", self.link_penalty != plain.link_penalty),
            ("balance-penalty", self.balance_penalty != plain.balance_penalty),
            ("tolerance", self.tolerance != plain.tolerance),
            ("start random", self.start != plain.start),
            ("start-rescale", self.start_rescale != plain.start_rescale),
            ("project-factors auto", self.project_factors == ProjectFactors::Auto),
            ("monotone", self.monotone != plain.monotone),
        ];
        changed.iter().find(|(_, changed)| *changed).map(|(name, _)| *name)
    }

    /// A setting of the fast solver alone that is not at its default.
    fn of_fast(&self) -> Option<&'static str> {
        let changed = [
            ("effects", self.effects == Effects::On),
            ("shrinkage", self.shrinkage != Shrinkage::Auto),
        ];
        changed.iter().find(|(_, changed)| *changed).map(|(name, _)| *name)
    }

    /// The steps of theorem 1 are computed from the slope bounds.
    fn check_theory(&self) -> Result<()> {
        let asked = [self.factor_step, self.link_step].contains(&StepRule::Theory);
        if asked && !self.slope_bounds().is_some_and(|bounds| bounds.suit_the_theory()) {
            let second = "monotone LOW,HIGH with LOW above 0: theorem 1 is stated for such links";
            return Err(ConfigError::Needs { first: "the step rule 'theory'", second }.into());
        }
        Ok(())
    }
}

fn positive(field: &'static str, got: f64) -> Result<()> {
    if got > 0.0 && got.is_finite() {
        Ok(())
    } else {
        Err(ConfigError::NotPositive { field, got }.into())
    }
}

fn not_negative(field: &'static str, got: f64) -> Result<()> {
    if got >= 0.0 && got.is_finite() {
        Ok(())
    } else {
        Err(ConfigError::Negative { field, got }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    const SHAPE: Shape = Shape { rows: 10, columns: 8 };

    #[test]
    fn the_defaults_are_sound() {
        assert!(FitConfig::default().check(SHAPE).is_ok());
    }

    #[test]
    fn settings_outside_their_range_are_refused_by_name() {
        let refused = |change: fn(&mut FitConfig)| {
            let mut config = FitConfig::bcd();
            change(&mut config);
            match config.check(SHAPE) {
                Err(Error::Config(error)) => error.to_string(),
                other => panic!("{other:?}"),
            }
        };
        assert!(refused(|c| c.rank = Some(9)).contains("at most 8"));
        assert!(refused(|c| c.rank = Some(0)).contains("rank"));
        assert!(refused(|c| c.link_penalty = 0.0).contains("link-penalty must be positive, got 0"));
        assert!(refused(|c| c.bandwidth = Bandwidth::Fixed(-1.0)).contains("bandwidth"));
        assert!(refused(|c| c.factor_step = StepRule::Fixed(f64::NAN)).contains("factor-step"));
        assert!(refused(|c| c.project_factors = ProjectFactors::Radius(0.0)).contains("project"));
        assert!(refused(|c| c.factor_step = StepRule::Theory).contains("monotone"));
        let crossed = Monotone::Within(SlopeBounds { low: 2.0, high: 1.0 });
        let mut config = FitConfig { monotone: crossed, ..FitConfig::bcd() };
        assert!(config.clone().check(SHAPE).is_err());
        config.monotone = "0.1,2".parse().unwrap();
        assert!(config.check(SHAPE).is_ok());
    }

    #[test]
    fn words_and_numbers_are_read_back() {
        for text in ["theory", "backtracking", "0.25"] {
            assert_eq!(text.parse::<StepRule>().unwrap().to_string(), text);
        }
        for text in ["off", "auto", "1.5"] {
            assert_eq!(text.parse::<ProjectFactors>().unwrap().to_string(), text);
        }
        for text in ["auto", "off", "0.1,2"] {
            assert_eq!(text.parse::<Monotone>().unwrap().to_string(), text);
        }
        assert!("fast".parse::<StepRule>().is_err());
        assert!("median".parse::<LossScale>().unwrap_err().to_string().contains("sum"));
    }
}
