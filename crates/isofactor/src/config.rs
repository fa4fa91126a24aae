//! Every setting of a fit, with its default, its range and the words that name it.
//!
//! | setting | default | range |
//! | --- | --- | --- |
//! | `rank` | 5 | 1 to the smaller side of the matrix |
//! | `link` | `learned` | a known link's name, or a table of knots |
//! | `solver` | `bcd` | |
//! | `loss` | `sum` | `sum`, `mean` |
//! | `kernel` | `gaussian` | see [`KernelFamily`] |
//! | `bandwidth` | `auto` | above 0; `auto` is a sixth of the half-width of the link's first domain |
//! | `link-penalty` | 1e-3 | above 0 (alpha) |
//! | `balance-penalty` | 0.5 | 0 or above (lambda) |
//! | `factor-step`, `link-step` | `backtracking` | above 0, `theory` (zeta, eta) |
//! | `iterations` | 500 | 0 or above |
//! | `tolerance` | 1e-7 | 0 or above; used with `backtracking` only |
//! | `order` | `factors-first` | `link-first` |
//! | `start` | `spectral` | `random` |
//! | `start-rescale` | false | divide the spectral start's matrix by the share observed |
//! | `start-link` | `zero` | `identity` |
//! | `project-factors` | `off` | `auto`, or a radius above 0 (beta) |
//! | `monotone` | `off` | `LOW,HIGH` with 0 <= LOW < HIGH (xi, Xi); HIGH may be `inf` |
//! | `effects` | `off` | |
//! | `keep` | `best` | `last`: which iterate to return when there are validation entries |
//! | `seed` | 0 | |

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    error::{ConfigError, Result},
    link::{
        kernel::KernelFamily,
        known::{Knots, KnownLink},
        monotone::SlopeBounds,
    },
    observations::Shape,
};

/// An enum of plain choices that is read from, shown as and stored as its words.
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident($field:literal) {
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal $(| $alias:literal)*,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $($name::$variant => $word,)+ })
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::error::ConfigError;

            fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
                match text {
                    $($word $(| $alias)* => Ok($name::$variant),)+
                    _ => Err($crate::error::ConfigError::Unknown {
                        field: $field,
                        got: text.to_owned(),
                        choices: concat!("one of:" $(, " ", $word)+),
                    }),
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::error::ConfigError;

            fn try_from(text: String) -> std::result::Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(choice: $name) -> String {
                choice.to_string()
            }
        }
    };
}
pub(crate) use choices;

choices! {
    /// Which algorithm fits the model.
    pub enum SolverKind("solver") {
        /// The paper's projected block coordinate descent (Algorithm 1).
        Bcd = "bcd",
    }
}
choices! {
    /// The scale of the data term.
    pub enum LossScale("loss") {
        /// `sum_k (y_k - phi(x_k))^2` (the paper's appendix B).
        Sum = "sum",
        /// `(1/M) sum_k (y_k - phi(x_k))^2` (the paper's section 3.3).
        Mean = "mean",
    }
}
choices! {
    /// Which block an iteration moves first.
    pub enum Order("order") {
        /// The factors, then the link (main text).
        FactorsFirst = "factors-first",
        /// The link, then the factors (appendix B).
        LinkFirst = "link-first",
    }
}
choices! {
    /// Where the factors begin when none are given.
    pub enum Start("start") {
        /// The leading singular vectors of the zero-filled matrix.
        Spectral = "spectral",
        /// Independent normal numbers.
        Random = "random",
    }
}
choices! {
    /// Where a learned link begins when none is given.
    pub enum StartLink("start-link") {
        /// The zero function.
        Zero = "zero",
        /// The nearest the space comes to `x` on the start's scores, under the link penalty.
        Identity = "identity",
    }
}
choices! {
    /// Effects of rows and columns beside the factors.
    pub enum Effects("effects") {
        /// None: the score is the product of the factors alone.
        Off = "off",
    }
}
choices! {
    /// Which iterate a fit with validation entries returns.
    pub enum Keep("keep") {
        /// The one with the smallest validation error.
        Best = "best",
        /// The last one.
        Last = "last",
    }
}

/// A setting as a configuration file may write it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Numbers(Vec<f64>),
    Word(String),
}

impl Written {
    fn text(self) -> String {
        match self {
            Written::Number(number) => number.to_string(),
            Written::Numbers(numbers) => {
                numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
            }
            Written::Word(word) => word,
        }
    }
}

/// Lets a configuration file write a setting as a number, a list or a word.
macro_rules! written {
    ($name:ident) => {
        impl TryFrom<Written> for $name {
            type Error = ConfigError;

            fn try_from(written: Written) -> std::result::Result<Self, ConfigError> {
                written.text().parse()
            }
        }

        impl From<$name> for Written {
            fn from(setting: $name) -> Written {
                Written::Word(setting.to_string())
            }
        }
    };
}

fn number(
    field: &'static str,
    text: &str,
    choices: &'static str,
) -> std::result::Result<f64, ConfigError> {
    text.trim().parse().map_err(|_| ConfigError::Unknown { field, got: text.to_owned(), choices })
}

/// How long a step is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum StepRule {
    /// The same length at every iteration.
    Fixed(f64),
    /// The length that theorem 1 admits, computed from the data and the start.
    Theory,
    /// As long as the objective decreases enough, found anew at every iteration.
    Backtracking,
}
written!(StepRule);

impl fmt::Display for StepRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepRule::Fixed(step) => write!(f, "{step}"),
            StepRule::Theory => f.write_str("theory"),
            StepRule::Backtracking => f.write_str("backtracking"),
        }
    }
}

impl FromStr for StepRule {
    type Err = ConfigError;

    fn from_str(text: &str) -> std::result::Result<Self, ConfigError> {
        match text {
            "theory" => Ok(StepRule::Theory),
            "backtracking" => Ok(StepRule::Backtracking),
            _ => number("a step", text, "a number, theory or backtracking").map(StepRule::Fixed),
        }
    }
}

/// The bound on the length of each row of the factors (projection P_C).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum ProjectFactors {
    /// No bound.
    Off,
    /// Four thirds of the longest row of the start.
    Auto,
    /// This radius.
    Radius(f64),
}
written!(ProjectFactors);

impl fmt::Display for ProjectFactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProjectFactors::Off => f.write_str("off"),
            ProjectFactors::Auto => f.write_str("auto"),
            ProjectFactors::Radius(radius) => write!(f, "{radius}"),
        }
    }
}

impl FromStr for ProjectFactors {
    type Err = ConfigError;

    fn from_str(text: &str) -> std::result::Result<Self, ConfigError> {
        match text {
            "off" => Ok(ProjectFactors::Off),
            "auto" => Ok(ProjectFactors::Auto),
            _ => {
                number("project-factors", text, "off, auto or a radius").map(ProjectFactors::Radius)
            }
        }
    }
}

/// Bounds on the slope of the link (projection P_H).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Monotone {
    /// No bounds: the link may fold.
    Off,
    /// The slope stays within these.
    Within(SlopeBounds),
}
written!(Monotone);

impl Monotone {
    /// The bounds, if there are any.
    pub fn bounds(&self) -> Option<SlopeBounds> {
        match self {
            Monotone::Off => None,
            Monotone::Within(bounds) => Some(*bounds),
        }
    }
}

impl fmt::Display for Monotone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Monotone::Off => f.write_str("off"),
            Monotone::Within(bounds) => write!(f, "{},{}", bounds.low, bounds.high),
        }
    }
}

impl FromStr for Monotone {
    type Err = ConfigError;

    fn from_str(text: &str) -> std::result::Result<Self, ConfigError> {
        let choices = "off, or two slopes as LOW,HIGH";
        match text.split_once(',') {
            _ if text == "off" => Ok(Monotone::Off),
            Some((low, high)) => Ok(Monotone::Within(SlopeBounds {
                low: number("monotone", low, choices)?,
                high: number("monotone", high, choices)?,
            })),
            None => Err(ConfigError::Unknown { field: "monotone", got: text.to_owned(), choices }),
        }
    }
}

/// The kernel's bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Bandwidth {
    /// A sixth of the half-width of the link's first domain.
    Auto,
    /// This length, in units of the score.
    Fixed(f64),
}
written!(Bandwidth);

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bandwidth::Auto => f.write_str("auto"),
            Bandwidth::Fixed(bandwidth) => write!(f, "{bandwidth}"),
        }
    }
}

impl FromStr for Bandwidth {
    type Err = ConfigError;

    fn from_str(text: &str) -> std::result::Result<Self, ConfigError> {
        match text {
            "auto" => Ok(Bandwidth::Auto),
            _ => number("bandwidth", text, "auto or a number").map(Bandwidth::Fixed),
        }
    }
}

/// A link as a configuration file may write it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenLink {
    Name(String),
    Knots(Knots),
}

/// Whether the link is learned, or which one is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenLink", into = "WrittenLink")]
pub enum LinkChoice {
    /// Learned in the space of the kernel.
    Learned,
    /// Given.
    Known(KnownLink),
}

impl fmt::Display for LinkChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkChoice::Learned => f.write_str("learned"),
            LinkChoice::Known(link) => link.fmt(f),
        }
    }
}

impl TryFrom<WrittenLink> for LinkChoice {
    type Error = ConfigError;

    fn try_from(written: WrittenLink) -> std::result::Result<Self, ConfigError> {
        match written {
            WrittenLink::Name(name) => name.parse(),
            WrittenLink::Knots(knots) => Ok(LinkChoice::Known(KnownLink::Piecewise(knots))),
        }
    }
}

impl From<LinkChoice> for WrittenLink {
    fn from(choice: LinkChoice) -> Self {
        match choice {
            LinkChoice::Known(KnownLink::Piecewise(knots)) => WrittenLink::Knots(knots),
            named => WrittenLink::Name(named.to_string()),
        }
    }
}

impl FromStr for LinkChoice {
    type Err = ConfigError;

    fn from_str(text: &str) -> std::result::Result<Self, ConfigError> {
        match text {
            "learned" => Ok(LinkChoice::Learned),
            _ => text.parse().map(LinkChoice::Known),
        }
    }
}

/// Every setting of a fit. The module's table lists them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct FitConfig {
    /// Factors per row and column (`r`).
    pub rank: usize,
    /// Learned or known.
    pub link: LinkChoice,
    /// The algorithm.
    pub solver: SolverKind,
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
            rank: 5,
            link: LinkChoice::Learned,
            solver: SolverKind::Bcd,
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
            monotone: Monotone::Off,
            effects: Effects::Off,
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

impl FitConfig {
    /// Checks every setting.
    pub fn check(self, shape: Shape) -> Result<CheckedConfig> {
        let Shape { rows, columns } = shape;
        let rank = self.rank;
        if rank == 0 {
            return Err(ConfigError::NotPositive { field: "rank", got: 0.0 }.into());
        }
        if rank > rows.min(columns) {
            return Err(ConfigError::RankAboveShape { rank, rows, columns }.into());
        }
        positive("link-penalty", self.link_penalty)?;
        not_negative("balance-penalty", self.balance_penalty)?;
        not_negative("tolerance", self.tolerance)?;
        for (field, rule) in [("factor-step", self.factor_step), ("link-step", self.link_step)] {
            if let StepRule::Fixed(step) = rule {
                positive(field, step)?;
            }
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
        self.check_theory()?;
        Ok(CheckedConfig(self))
    }

    /// The steps of theorem 1 are computed from the slope bounds.
    fn check_theory(&self) -> Result<()> {
        let asked = [self.factor_step, self.link_step].contains(&StepRule::Theory);
        let bounded = |b: SlopeBounds| b.low > 0.0 && b.high.is_finite();
        if asked && !self.monotone.bounds().is_some_and(bounded) {
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
            let mut config = FitConfig::default();
            change(&mut config);
            match config.check(SHAPE) {
                Err(Error::Config(error)) => error.to_string(),
                other => panic!("{other:?}"),
            }
        };
        assert!(refused(|c| c.rank = 9).contains("at most 8"));
        assert!(refused(|c| c.rank = 0).contains("rank"));
        assert!(refused(|c| c.link_penalty = 0.0).contains("link-penalty must be positive, got 0"));
        assert!(refused(|c| c.bandwidth = Bandwidth::Fixed(-1.0)).contains("bandwidth"));
        assert!(refused(|c| c.factor_step = StepRule::Fixed(f64::NAN)).contains("factor-step"));
        assert!(refused(|c| c.project_factors = ProjectFactors::Radius(0.0)).contains("project"));
        assert!(refused(|c| c.factor_step = StepRule::Theory).contains("monotone"));
        let crossed = Monotone::Within(SlopeBounds { low: 2.0, high: 1.0 });
        let mut config = FitConfig { monotone: crossed, ..FitConfig::default() };
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
        for text in ["off", "0.1,2"] {
            assert_eq!(text.parse::<Monotone>().unwrap().to_string(), text);
        }
        assert!("fast".parse::<StepRule>().is_err());
        assert!("median".parse::<LossScale>().unwrap_err().to_string().contains("sum"));
    }
}
