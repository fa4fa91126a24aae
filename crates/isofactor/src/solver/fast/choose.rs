//! Choosing for the user: how many sweeps, how much shrinkage, whether factors and a learned link
//! are worth having. Every choice is judged on entries that were held back from its trial.

use serde::{Deserialize, Serialize};

use super::{
    belief::Prior,
    course::Course,
    panel::{Panel, Split},
    trials::Trials,
};
use crate::{
    config::{FitConfig, LinkChoice, Shrinkage},
    error::{NumericalError, Result},
    factors::Factors,
    link::KnownLink,
    model::Chosen,
    monitor::{Flow, Hurry, Monitor},
    observations::{Observations, Shape},
};

/// The share of entries that trials are judged by.
const HELD: f64 = 0.1;
/// Trials use the rows of about so many entries where there are more than twice as many.
const ENOUGH: usize = 150_000;
/// Fewer entries than this judge nothing.
const FEWEST_JUDGED: usize = 20;
/// Sweeps at most, without and with a link.
pub(super) const MOST_SWEEPS: usize = 40;
pub(super) const MOST_LINKED_SWEEPS: usize = 100;
/// Sweeps where nothing could be judged.
const SWEEPS: usize = 15;
/// Sweeps from where an earlier fit ended, with many entries.
const WARM_SWEEPS: usize = 8;
/// The ranks that `auto` tries: the smaller one where it is as good. Coordinates that are not
/// needed empty themselves, so that a rank too high costs time and little else.
const RANKS: [usize; 2] = [12, 6];
/// With a link lower ranks are tried first, and higher ones while they are better: factors that are
/// not needed can imitate a bent link, and do harm there.
const LINKED_RANKS: [usize; 2] = [3, 6];
/// Below this many entries a link gets more time to prove itself.
pub(super) const FEW: usize = 50_000;
/// The shrinkages that are tried: a prior more precise than the factors look is better where
/// which entries were observed tells much, and worse where it tells nothing.
const SHRINKAGES: [f64; 2] = [1.4, 1.0];
/// A link must be this much better than everything simpler; factors than effects, and effects
/// than the level.
const LINK_GAIN: f64 = 0.99;
pub(super) const GAIN: f64 = 0.999;

/// What is to be fitted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    pub prior: Prior,
    pub kind: Kind,
    pub sweeps: usize,
    pub chosen: Chosen,
}

/// How much there is to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Kind {
    Level,
    Effects,
    Factors,
    Linked {
        /// The link, unless it is learned.
        given: Option<KnownLink>,
        /// Sweeps before there is a link.
        before: usize,
    },
}

/// When to stop: after so many sweeps without a gain.
#[derive(Debug)]
pub(super) struct Patience {
    pub best: f64,
    /// The sweep that was best.
    pub at: usize,
    mark: f64,
    mark_at: usize,
    most: usize,
}

impl Patience {
    /// A gain is one of this share.
    const GAIN: f64 = 2e-4;

    pub fn new(most: usize) -> Self {
        Self { best: f64::INFINITY, at: 0, mark: f64::INFINITY, mark_at: 0, most }
    }

    /// Takes the error after a sweep; true when it is time to stop.
    pub fn spent(&mut self, sweep: usize, error: f64) -> bool {
        if error < self.best {
            (self.best, self.at) = (error, sweep);
        }
        if error < self.mark * (1.0 - Self::GAIN) {
            (self.mark, self.mark_at) = (error, sweep);
        }
        sweep >= self.mark_at + self.most
    }
}

/// How long to wait for a gain.
pub(super) fn patience(kind: &Kind, entries: usize) -> Patience {
    let linked = matches!(kind, Kind::Linked { .. });
    Patience::new(if linked && entries < FEW { 10 } else { 6 })
}

/// What to fit from where an earlier fit ended: what it chose, no trials.
pub(super) fn go_on(settings: &FitConfig, panel: &Panel<'_>, rank: usize) -> Plan {
    let given = match &settings.link {
        LinkChoice::Known(link) if *link != KnownLink::Identity => Some(link.clone()),
        _ => None,
    };
    let linked = given.is_some() || settings.link == LinkChoice::Learned;
    let shrinkage = match settings.shrinkage {
        Shrinkage::Auto => SHRINKAGES[usize::from(linked)],
        Shrinkage::Fixed(kappa) => kappa,
    };
    let effects = settings.effects.are_on(settings.solver);
    let radius = settings.project_factors.given();
    let prior = Prior { rank, shrinkage, effects, radius, seed: settings.seed };
    let kind = if linked { Kind::Linked { given, before: 0 } } else { Kind::Factors };
    let chosen = Chosen { rank, link: String::new(), shrinkage, judged_by: 0, trials: Vec::new() };
    let sweeps = if panel.observations.len() < FEW { SWEEPS } else { WARM_SWEEPS };
    Plan { prior, kind, sweeps, chosen }.named()
}

/// What there is before anything is chosen: the start, or effects alone.
pub(super) fn unfitted(settings: &FitConfig, panel: &Panel<'_>, start: Option<&Factors>) -> Plan {
    let Shape { rows, columns } = panel.observations.shape();
    let usual = settings.rank.unwrap_or(RANKS[0]).min(rows.min(columns));
    let plan = go_on(settings, panel, start.map_or(usual, Factors::rank));
    let kind = if start.is_some() { Kind::Factors } else { Kind::Effects };
    Plan { kind, ..plan }.named()
}

/// Decides what to fit; none when it was cancelled on the way. What the course knows of the trials
/// is not found again.
pub(super) fn choose(
    settings: &FitConfig,
    panel: &Panel<'_>,
    course: &mut Course,
    monitor: &mut (dyn Monitor + Send),
) -> Result<Option<Plan>> {
    let observations = panel.observations;
    let Shape { rows, columns } = observations.shape();
    let rank = settings.rank.unwrap_or(RANKS[0]).min(rows.min(columns));
    let shrinkages: Vec<f64> = match settings.shrinkage {
        Shrinkage::Auto => SHRINKAGES.to_vec(),
        Shrinkage::Fixed(kappa) => vec![kappa],
    };
    let prior = Prior {
        rank,
        shrinkage: shrinkages[0],
        effects: settings.effects.are_on(settings.solver),
        radius: settings.project_factors.given(),
        seed: settings.seed,
    };
    let most = if observations.len() > 2 * ENOUGH { ENOUGH } else { usize::MAX };
    let Split { shape, training, judged } = panel.split(HELD, most, settings.seed);
    let given = match &settings.link {
        LinkChoice::Known(link) if *link != KnownLink::Identity => Some(link.clone()),
        _ => None,
    };
    let before = if training.len() < FEW { 10 } else { 5 };
    let linked = Kind::Linked { given: given.clone(), before };
    let (try_factors, try_link) = match &settings.link {
        LinkChoice::Auto => (true, true),
        LinkChoice::Learned => (false, true),
        LinkChoice::Known(_) => (given.is_none(), given.is_some()),
    };
    let chosen = Chosen {
        rank,
        link: String::new(),
        shrinkage: prior.shrinkage,
        judged_by: judged.len(),
        trials: Vec::new(),
    };
    let mut plan = Plan { prior, kind: Kind::Factors, sweeps: SWEEPS, chosen };
    let all_given = settings.rank.is_some()
        && settings.shrinkage != Shrinkage::Auto
        && settings.link != LinkChoice::Auto;
    if all_given || judged.len() < FEWEST_JUDGED || training.is_empty() {
        plan.chosen.judged_by = 0;
        if !try_factors {
            plan.kind = linked;
            plan.sweeps = MOST_SWEEPS;
            if settings.shrinkage == Shrinkage::Auto {
                plan.prior.shrinkage = 1.0;
            }
        }
        return Ok(Some(plan.named()));
    }
    let training = Observations::arrange(shape, training)?;
    if !course.fits(shape) {
        return Err(NumericalError::OtherCheckpoint.into());
    }
    let try_rank = settings.rank.is_none() && RANKS[1] < rank;
    let ranks: Vec<usize> = match settings.rank {
        Some(_) => vec![rank],
        None => LINKED_RANKS.into_iter().filter(|&lower| lower < rank).chain([rank]).collect(),
    };
    let of_factors = if try_factors { shrinkages.len() + usize::from(try_rank) } else { 0 };
    let of_links = if try_link { ranks.len() } else { 0 };
    let mut trials = Trials {
        panel: Panel::new(&training, Hurry::default()),
        judged,
        range: range(&training),
        found: Vec::new(),
        begun: 0,
        most: of_factors + of_links,
        course,
        monitor,
        flow: Flow::Continue,
    };
    let mut best = f64::INFINITY;
    if try_factors {
        best = trials.of_factors(&mut plan, &shrinkages);
        if try_rank && plan.kind == Kind::Factors {
            best = best.min(trials.of_rank(&mut plan, RANKS[1], best));
        }
    }
    if try_link {
        let shrinkage = if let [kappa] = shrinkages[..] { kappa } else { 1.0 };
        let prior = Prior { shrinkage, ..prior };
        let limit = if try_factors { best } else { f64::INFINITY };
        let (prior, patience) = trials.of_linked_ranks(prior, &ranks, &linked, limit);
        if !try_factors || patience.best < LINK_GAIN * best {
            plan = Plan { prior, kind: linked, sweeps: patience.at + 2, ..plan };
        }
    }
    if trials.ended() {
        // A trial that was cut short says too little about when to stop.
        let usual = if plan.kind == Kind::Factors { SWEEPS } else { MOST_SWEEPS };
        plan.sweeps = plan.sweeps.max(usual);
    }
    let cancelled = trials.flow == Flow::Cancel;
    plan.chosen.trials = trials.found;
    Ok((!cancelled).then(|| plan.named()))
}

impl Plan {
    /// The plan with its choices in words.
    fn named(mut self) -> Self {
        (self.chosen.rank, self.chosen.shrinkage) = (self.prior.rank, self.prior.shrinkage);
        self.chosen.link = match &self.kind {
            Kind::Level => "identity, level only".to_owned(),
            Kind::Effects => "identity, effects only".to_owned(),
            Kind::Factors => "identity".to_owned(),
            Kind::Linked { given: None, .. } => "learned".to_owned(),
            Kind::Linked { given: Some(link), .. } => link.to_string(),
        };
        self
    }
}

/// Smallest and largest value.
pub(super) fn range(observations: &Observations) -> (f64, f64) {
    let values = observations.values().iter();
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)))
}
