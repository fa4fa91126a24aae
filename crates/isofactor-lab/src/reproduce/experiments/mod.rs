//! Every experiment by name, and how its entry of `experiments.toml` is read.

mod alpha;
mod beyond;
mod contraction;
mod jester;
mod link_shape;
mod movielens;
mod noise_joint;
mod noise_known_link;
mod regret;
mod sample_size;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    error::{Error, Result},
    findings::{Findings, Outcome},
    study::{Circumstances, Planned},
};

/// The entries of all experiments.
const ENTRIES: &str = include_str!("../experiments.toml");

/// An experiment of the paper, or beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Figure 1: noise, with the link known.
    NoiseKnownLink,
    /// Figure 3: sample size, with the link known.
    SampleSize,
    /// Figure 2: noise, with the link learned.
    NoiseJoint,
    /// Figure 4: the link penalty.
    Alpha,
    /// Appendix: the learned link beside the true one.
    LinkShape,
    /// Appendix: regret.
    Regret,
    /// Tables 1 and 2, figure 5.
    Movielens,
    /// Table 3.
    Jester,
    /// Proposition 1 and theorem 1.
    Contraction,
    /// The default solver and fair baselines on the same data.
    Beyond,
}

impl Experiment {
    /// All, in the order of the page.
    pub const ALL: [Experiment; 10] = [
        Experiment::NoiseKnownLink,
        Experiment::SampleSize,
        Experiment::NoiseJoint,
        Experiment::Alpha,
        Experiment::LinkShape,
        Experiment::Regret,
        Experiment::Contraction,
        Experiment::Movielens,
        Experiment::Jester,
        Experiment::Beyond,
    ];

    /// Its name on the command line and in the file of entries.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::NoiseKnownLink => "noise-known-link",
            Experiment::SampleSize => "sample-size",
            Experiment::NoiseJoint => "noise-joint",
            Experiment::Alpha => "alpha",
            Experiment::LinkShape => "link-shape",
            Experiment::Regret => "regret",
            Experiment::Movielens => "movielens",
            Experiment::Jester => "jester",
            Experiment::Contraction => "contraction",
            Experiment::Beyond => "beyond",
        }
    }

    /// By name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|experiment| experiment.name() == name)
    }

    /// Whether it needs the folder of real data.
    pub fn needs_data(self) -> bool {
        matches!(self, Experiment::Movielens | Experiment::Jester | Experiment::Beyond)
    }

    /// Reads its settings (and its data), ready to be carried out.
    pub fn plan(self, given: &Circumstances<'_>) -> Result<Box<dyn Planned>> {
        Ok(match self {
            Experiment::NoiseKnownLink => {
                Box::new(noise_known_link::NoiseKnownLink(self.settings(given)?))
            }
            Experiment::SampleSize => Box::new(sample_size::SampleSize(self.settings(given)?)),
            Experiment::NoiseJoint => Box::new(noise_joint::NoiseJoint(self.settings(given)?)),
            Experiment::Alpha => Box::new(alpha::Alpha(self.settings(given)?)),
            Experiment::LinkShape => Box::new(link_shape::LinkShape(self.settings(given)?)),
            Experiment::Regret => Box::new(regret::Regret(self.settings(given)?)),
            Experiment::Contraction => Box::new(contraction::Contraction(self.settings(given)?)),
            Experiment::Movielens => Box::new(movielens::plan(self.settings(given)?, given.data)?),
            Experiment::Jester => Box::new(jester::plan(self.settings(given)?, given.data)?),
            Experiment::Beyond => {
                Box::new(beyond::plan(self.settings(given)?, given.data, given.peers)?)
            }
        })
    }

    /// Its findings, or why there are none, with what its entry says of it.
    pub fn outcome(
        self,
        given: &Circumstances<'_>,
        seconds: f64,
        findings: std::result::Result<Findings, String>,
    ) -> Result<Outcome> {
        let entry: Entry<Value> = self.entry()?;
        Ok(Outcome {
            name: self.name(),
            title: entry.title,
            paper: entry.paper,
            criterion: entry.criterion,
            choices: entry.choices,
            settings: if given.quick { entry.quick } else { entry.full },
            seconds,
            findings,
        })
    }

    fn settings<S: DeserializeOwned>(self, given: &Circumstances<'_>) -> Result<S> {
        let entry: Entry<S> = self.entry()?;
        Ok(if given.quick { entry.quick } else { entry.full })
    }

    fn entry<S: DeserializeOwned>(self) -> Result<Entry<S>> {
        let failed = |reason: String| Error::Settings { name: self.name(), reason };
        let mut entries: toml::Table =
            ENTRIES.parse().map_err(|e: toml::de::Error| failed(e.to_string()))?;
        let entry =
            entries.remove(self.name()).ok_or_else(|| failed("there is no entry".to_owned()))?;
        entry.try_into().map_err(|e| failed(e.to_string()))
    }
}

/// One experiment in `experiments.toml`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry<S> {
    title: String,
    paper: String,
    criterion: String,
    choices: Vec<String>,
    full: S,
    quick: S,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_an_entry_that_fits_it() {
        for experiment in Experiment::ALL {
            assert_eq!(Experiment::named(experiment.name()), Some(experiment));
            for quick in [false, true] {
                let given = Circumstances { quick, data: None, peers: None };
                let outcome = experiment.outcome(&given, 0.0, Err(String::new())).unwrap();
                assert!(outcome.criterion.ends_with('.'), "{}", experiment.name());
                let planned = experiment.plan(&given);
                assert_eq!(planned.is_err(), experiment.needs_data(), "{}", experiment.name());
                if let Err(error) = planned {
                    assert!(!matches!(error, Error::Settings { .. }), "{error}");
                }
            }
        }
    }
}
