//! What a trial of the solver was, read from its words.

use isofactor::model::Chosen;

/// One thing that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tried {
    Level,
    Effects,
    Factors { rank: usize, shrinkage: Option<f64> },
    Linked { rank: usize },
}

impl Tried {
    /// None where the words are not those of this version.
    pub fn read(what: &str) -> Option<Self> {
        match what {
            "level" => return Some(Tried::Level),
            "effects" => return Some(Tried::Effects),
            _ => {}
        }
        let (kind, rest) = what.split_once(", rank ")?;
        let (rank, shrinkage) = match rest.split_once(", shrinkage ") {
            Some((rank, shrinkage)) => (rank, Some(shrinkage.parse().ok()?)),
            None => (rest, None),
        };
        let rank = rank.parse().ok()?;
        match kind {
            "factors" => Some(Tried::Factors { rank, shrinkage }),
            _ if kind.contains("link") => Some(Tried::Linked { rank }),
            _ => None,
        }
    }

    /// Whether this is what was chosen.
    pub fn is(&self, chosen: &Chosen) -> bool {
        match *self {
            Tried::Level => chosen.link == "identity, level only",
            Tried::Effects => chosen.link == "identity, effects only",
            Tried::Factors { rank, shrinkage } => {
                chosen.link == "identity"
                    && rank == chosen.rank
                    && shrinkage.is_none_or(|s| s == chosen.shrinkage)
            }
            Tried::Linked { rank } => !chosen.link.starts_with("identity") && rank == chosen.rank,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_trials_are_understood() {
        assert_eq!(Tried::read("level"), Some(Tried::Level));
        assert_eq!(
            Tried::read("factors, rank 12, shrinkage 1.4"),
            Some(Tried::Factors { rank: 12, shrinkage: Some(1.4) })
        );
        assert_eq!(
            Tried::read("factors, rank 6"),
            Some(Tried::Factors { rank: 6, shrinkage: None })
        );
        assert_eq!(Tried::read("learned link, rank 3"), Some(Tried::Linked { rank: 3 }));
        assert_eq!(Tried::read("something else"), None);
    }
}
