//! Settings that are a number or a word.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    error::ConfigError,
    link::{Knots, KnownLink, SlopeBounds},
};

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

            fn try_from(written: Written) -> Result<Self, ConfigError> {
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

fn number(field: &'static str, text: &str, choices: &'static str) -> Result<f64, ConfigError> {
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

    fn from_str(text: &str) -> Result<Self, ConfigError> {
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

impl ProjectFactors {
    /// The radius, where it is a number.
    pub fn given(self) -> Option<f64> {
        match self {
            ProjectFactors::Radius(radius) => Some(radius),
            ProjectFactors::Off | ProjectFactors::Auto => None,
        }
    }
}

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

    fn from_str(text: &str) -> Result<Self, ConfigError> {
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
    /// Any increasing link when both steps are found by backtracking; no bounds with fixed steps,
    /// which are the paper's algorithm to the letter.
    Auto,
    /// No bounds: the link may fold.
    Off,
    /// The slope stays within these.
    Within(SlopeBounds),
}
written!(Monotone);

impl fmt::Display for Monotone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Monotone::Auto => f.write_str("auto"),
            Monotone::Off => f.write_str("off"),
            Monotone::Within(bounds) => write!(f, "{},{}", bounds.low, bounds.high),
        }
    }
}

impl FromStr for Monotone {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let choices = "auto, off, or two slopes as LOW,HIGH";
        match (text, text.split_once(',')) {
            ("auto", _) => Ok(Monotone::Auto),
            ("off", _) => Ok(Monotone::Off),
            (_, Some((low, high))) => Ok(Monotone::Within(SlopeBounds {
                low: number("monotone", low, choices)?,
                high: number("monotone", high, choices)?,
            })),
            (_, None) => {
                Err(ConfigError::Unknown { field: "monotone", got: text.to_owned(), choices })
            }
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

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "auto" => Ok(Bandwidth::Auto),
            _ => number("bandwidth", text, "auto or a number").map(Bandwidth::Fixed),
        }
    }
}

/// How much more precise the prior of the factors is than they look (fast solver).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Shrinkage {
    /// Whichever of a few is best on held-out entries.
    Auto,
    /// This factor.
    Fixed(f64),
}
written!(Shrinkage);

impl fmt::Display for Shrinkage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shrinkage::Auto => f.write_str("auto"),
            Shrinkage::Fixed(factor) => write!(f, "{factor}"),
        }
    }
}

impl FromStr for Shrinkage {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "auto" => Ok(Shrinkage::Auto),
            _ => number("shrinkage", text, "auto or a number").map(Shrinkage::Fixed),
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
    /// Learned where that is worth it (fast solver); always with Algorithm 1.
    Auto,
    /// Learned.
    Learned,
    /// Given.
    Known(KnownLink),
}

impl fmt::Display for LinkChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkChoice::Auto => f.write_str("auto"),
            LinkChoice::Learned => f.write_str("learned"),
            LinkChoice::Known(link) => link.fmt(f),
        }
    }
}

impl TryFrom<WrittenLink> for LinkChoice {
    type Error = ConfigError;

    fn try_from(written: WrittenLink) -> Result<Self, ConfigError> {
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

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "auto" => Ok(LinkChoice::Auto),
            "learned" => Ok(LinkChoice::Learned),
            _ => text.parse().map(LinkChoice::Known),
        }
    }
}
