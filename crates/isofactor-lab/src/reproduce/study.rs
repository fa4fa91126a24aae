//! What an experiment is: independent cases, and what is concluded from them.

use std::path::Path;

use serde::{Serialize, de::DeserializeOwned};

use super::{
    desk::{Desk, Watch},
    error::Result,
    findings::Findings,
};

/// What an experiment may depend on beside its entry.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// The smaller version.
    pub quick: bool,
    /// Where the real data are.
    pub data: Option<&'a Path>,
    /// What the comparison with other programs left behind, if it has been run.
    pub peers: Option<&'a Path>,
}

/// An experiment with its settings.
pub(crate) trait Study: Sync {
    /// What distinguishes one case from another.
    type Case: Sync;
    /// What is kept of a case.
    type Found: Serialize + DeserializeOwned + Send;

    /// What of the settings and the data decides the results, as text: kept cases of another key
    /// are not used.
    fn key(&self) -> String;
    /// All cases.
    fn cases(&self) -> Vec<Self::Case>;
    /// A name for the file of a case.
    fn name(&self, case: &Self::Case) -> String;
    /// How much work a case is, in passes over one entry.
    fn cost(&self, case: &Self::Case) -> f64;
    /// Does the work of one case.
    fn run(&self, case: &Self::Case, watch: &mut Watch<'_>) -> Result<Self::Found>;
    /// What follows from all cases, in the order of `cases`.
    fn conclude(&self, found: Vec<(Self::Case, Self::Found)>) -> Result<Findings>;
}

/// An experiment that is ready to be carried out.
pub trait Planned {
    /// How much work it is, in passes over one entry.
    fn cost(&self) -> f64;
    /// Runs every case and concludes.
    fn carry_out(&self, name: &str, desk: &Desk<'_>) -> Result<Findings>;
}

impl<S: Study> Planned for S {
    fn cost(&self) -> f64 {
        self.cases().iter().map(|case| Study::cost(self, case)).sum()
    }

    fn carry_out(&self, name: &str, desk: &Desk<'_>) -> Result<Findings> {
        let cases = self.cases();
        let found = desk.run(name, self, &cases)?;
        self.conclude(cases.into_iter().zip(found).collect())
    }
}
