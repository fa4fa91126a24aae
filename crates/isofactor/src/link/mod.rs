//! The increasing function through which scores are seen.

mod active_set;
mod basis;
pub(crate) mod fine;
pub mod kernel;
pub mod known;
pub mod learned;
pub mod monotone;
mod sections;
pub mod space;
pub(crate) mod table;
mod tabulated;
pub(crate) mod tally;

use serde::{Deserialize, Serialize};

pub use kernel::{Kernel, KernelFamily};
pub use known::{Knots, KnownLink};
pub use learned::LearnedLink;
pub use monotone::SlopeBounds;
pub use space::LinkSpace;
pub use tabulated::Tabulated;
pub use tally::Counts;

/// A link, learned or known.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Link {
    /// Given by its formula or its knots.
    Known(KnownLink),
    /// In the space of a kernel.
    Learned(LearnedLink),
    /// Learned as a table, by the default solver.
    Tabulated(Tabulated),
}

impl Link {
    /// `phi(x)` and `phi'(x)`
    #[inline]
    pub fn value_and_slope(&self, x: f64) -> (f64, f64) {
        match self {
            Link::Known(link) => link.value_and_slope(x),
            Link::Learned(link) => link.value_and_slope(x),
            Link::Tabulated(link) => link.value_and_slope(x),
        }
    }

    /// `phi(x)`
    pub fn value(&self, x: f64) -> f64 {
        self.value_and_slope(x).0
    }

    /// The learned link, if it is one in the space of a kernel.
    pub fn learned(&self) -> Option<&LearnedLink> {
        match self {
            Link::Learned(link) => Some(link),
            _ => None,
        }
    }

    /// Makes the tables of a learned link, before work that threads share: made within it, one thread
    /// could wait for a table that it has itself begun.
    pub(crate) fn prepare(&self) {
        if let Link::Learned(link) = self {
            link.fine();
        }
    }

    /// Whether it came from the data.
    pub fn is_learned(&self) -> bool {
        !matches!(self, Link::Known(_))
    }
}
