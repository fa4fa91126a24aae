//! Settings that are one word out of a few.

use crate::words::choices;

choices! {
    /// Which algorithm fits the model.
    pub enum SolverKind("solver") {
        /// Variational sweeps that set their own penalties; see `solver::fast`.
        Fast = "fast",
        /// The paper's projected block coordinate descent (Algorithm 1).
        Bcd = "bcd",
        /// The objective of Algorithm 1 by quasi-Newton steps with the best link.
        Lbfgs = "lbfgs",
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
        /// With the fast solver, not with Algorithm 1.
        Auto = "auto",
        /// A level, and an effect of every row and column.
        On = "on",
        /// None: the score is the product of the factors alone.
        Off = "off",
    }
}

impl Effects {
    /// Whether there are effects with a solver.
    pub fn are_on(self, solver: SolverKind) -> bool {
        match self {
            Effects::Auto => solver == SolverKind::Fast,
            Effects::On => true,
            Effects::Off => false,
        }
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
