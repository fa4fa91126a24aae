//! Choosing for the user: how many sweeps, how much shrinkage, whether factors and a learned link
//! are worth having. Every choice is judged on entries that were held back from its trial.

use super::{
    belief::{Belief, Prior, Targets},
    linked::Linked,
    panel::{Panel, Split, spread},
};
use crate::{
    config::{FitConfig, LinkChoice, Shrinkage},
    error::Result,
    link::KnownLink,
    model::{Chosen, Trial},
    observations::{EntryList, Observations, Shape},
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
/// Sweeps after which a link with many entries must have caught up with what is simpler.
const PROBE: usize = 6;
/// Below this many entries a link gets more time to prove itself.
const FEW: usize = 50_000;
/// The shrinkages that are tried: a prior more precise than the factors look is better where
/// which entries were observed tells much, and worse where it tells nothing.
const SHRINKAGES: [f64; 2] = [1.4, 1.0];
/// A link must be this much better than everything simpler; factors than effects, and effects
/// than the level.
const LINK_GAIN: f64 = 0.99;
const GAIN: f64 = 0.999;

/// What is to be fitted.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub prior: Prior,
    pub kind: Kind,
    pub sweeps: usize,
    pub chosen: Chosen,
}

/// How much there is to a model.
#[derive(Debug, Clone, PartialEq)]
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
    let prior = Prior { rank, shrinkage, effects, seed: settings.seed };
    let kind = if linked { Kind::Linked { given, before: 0 } } else { Kind::Factors };
    let chosen = Chosen { rank, link: String::new(), shrinkage, judged_by: 0, trials: Vec::new() };
    let sweeps = if panel.observations.len() < FEW { SWEEPS } else { WARM_SWEEPS };
    Plan { prior, kind, sweeps, chosen }.named()
}

/// Decides what to fit.
pub(super) fn choose(settings: &FitConfig, panel: &Panel<'_>) -> Result<Plan> {
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
        return Ok(plan.named());
    }
    let training = Observations::arrange(shape, training)?;
    let mut trials =
        Trials { panel: Panel::new(&training), judged, range: range(&training), found: Vec::new() };
    let mut best = f64::INFINITY;
    if try_factors {
        best = trials.of_factors(&mut plan, &shrinkages);
        if settings.rank.is_none() && plan.kind == Kind::Factors && RANKS[1] < rank {
            best = best.min(trials.of_rank(&mut plan, RANKS[1], best));
        }
    }
    if try_link {
        let shrinkage = if let [kappa] = shrinkages[..] { kappa } else { 1.0 };
        let prior = Prior { shrinkage, ..prior };
        let limit = if try_factors { best } else { f64::INFINITY };
        let ranks: Vec<usize> = match settings.rank {
            Some(_) => vec![rank],
            None => LINKED_RANKS.into_iter().filter(|&lower| lower < rank).chain([rank]).collect(),
        };
        let (prior, patience) = trials.of_linked_ranks(prior, &ranks, &linked, limit);
        if !try_factors || patience.best < LINK_GAIN * best {
            plan = Plan { prior, kind: linked, sweeps: patience.at + 2, ..plan };
        }
    }
    plan.chosen.trials = trials.found;
    Ok(plan.named())
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

/// Trials on the same entries.
struct Trials<'a> {
    panel: Panel<'a>,
    judged: EntryList,
    range: (f64, f64),
    found: Vec<Trial>,
}

impl Trials<'_> {
    fn error(&self, predict: impl Fn(usize, usize) -> f64) -> f64 {
        let (low, high) = self.range;
        let squares: f64 = (self.judged.iter())
            .map(|e| (e.value - predict(e.row, e.column).clamp(low, high)).powi(2))
            .sum();
        (squares / self.judged.len() as f64).sqrt()
    }

    fn note(&mut self, what: String, rmse: f64, sweeps: usize) {
        self.found.push(Trial { what, rmse, sweeps });
    }

    /// The simplest of level, effects and factors that is good enough; returns the least error.
    fn of_factors(&mut self, plan: &mut Plan, shrinkages: &[f64]) -> f64 {
        let values = self.panel.observations.values();
        let mean = spread(values).0;
        let of_level = self.error(|_, _| mean);
        self.note("level".to_owned(), of_level, 0);
        let mut of_effects = f64::INFINITY;
        if plan.prior.effects {
            let targets = Targets::values(&self.panel);
            let effects = Belief::new(&self.panel, targets, plan.prior).without_factors(true);
            of_effects = self.error(|row, column| effects.score(row, column));
            self.note("effects".to_owned(), of_effects, 0);
        }
        let mut best = f64::INFINITY;
        let mut path = Vec::new();
        for &shrinkage in shrinkages {
            let prior = Prior { shrinkage, ..plan.prior };
            let patience = self.of_shrinkage(prior, &mut path);
            let what = format!("factors, rank {}, shrinkage {shrinkage}", prior.rank);
            self.note(what, patience.best, patience.at);
            if patience.best < best {
                (best, plan.prior, plan.sweeps) = (patience.best, prior, patience.at);
            }
        }
        if of_level <= GAIN.recip() * best.min(of_effects) {
            plan.kind = Kind::Level;
        } else if of_effects <= GAIN.recip() * best {
            plan.kind = Kind::Effects;
        }
        best.min(of_effects).min(of_level)
    }

    /// A lower rank, taken where it is as good; returns its error.
    fn of_rank(&mut self, plan: &mut Plan, rank: usize, best: f64) -> f64 {
        let prior = Prior { rank, ..plan.prior };
        let patience = self.of_shrinkage(prior, &mut vec![best; MOST_SWEEPS]);
        self.note(format!("factors, rank {rank}"), patience.best, patience.at);
        if patience.best <= GAIN.recip() * best {
            (plan.prior, plan.sweeps) = (prior, patience.at);
        }
        patience.best
    }

    /// Sweeps with one shrinkage; given up where it falls behind the path of the one before.
    fn of_shrinkage(&self, prior: Prior, path: &mut Vec<f64>) -> Patience {
        const FIRST_JUDGED: usize = 4;
        const BEHIND: f64 = 1.005;
        let targets = Targets::values(&self.panel);
        let mut belief = Belief::new(&self.panel, targets, prior);
        let mut patience = patience(&Kind::Factors, self.panel.observations.len());
        let leads = path.is_empty();
        for number in 0..MOST_SWEEPS {
            belief.sweep(&self.panel, targets, number);
            let error = self.error(|row, column| belief.score(row, column));
            if leads {
                path.push(error);
            } else if number > FIRST_JUDGED && path.get(number).is_some_and(|p| error > BEHIND * p)
            {
                break;
            }
            if number + 1 >= FIRST_JUDGED && patience.spent(number + 1, error) {
                break;
            }
        }
        patience
    }

    /// The best of increasing ranks, tried until the next one brings nothing.
    fn of_linked_ranks(
        &mut self,
        prior: Prior,
        ranks: &[usize],
        kind: &Kind,
        limit: f64,
    ) -> (Prior, Patience) {
        let mut best = (prior, Patience::new(0));
        // Many entries take long: a few sweeps at the highest rank tell whether a link has a chance.
        if ranks.len() > 1 && self.panel.observations.len() >= FEW {
            let probe = self.of_link(prior, kind, limit, PROBE);
            if probe.best > limit {
                return (prior, probe);
            }
        }
        for &rank in ranks {
            let next = Prior { rank, ..prior };
            let patience = self.of_link(next, kind, limit, MOST_LINKED_SWEEPS);
            if patience.best >= GAIN * best.1.best {
                break;
            }
            best = (next, patience);
        }
        best
    }

    /// Sweeps with a link; given up where it stays behind what is simpler.
    fn of_link(&mut self, prior: Prior, kind: &Kind, limit: f64, most: usize) -> Patience {
        let Kind::Linked { given, before } = kind else { return Patience::new(0) };
        let entries = self.panel.observations.len();
        let small = entries < FEW;
        let mut patience = patience(kind, entries);
        let name = given.as_ref().map_or("learned link".to_owned(), |link| format!("link {link}"));
        let name = format!("{name}, rank {}", prior.rank);
        if let Some(mut linked) = Linked::new(&self.panel, prior, given.clone(), *before, None) {
            for sweep in 1..=most {
                if linked.sweep(&self.panel).is_none() {
                    break;
                }
                let error = self.error(|row, column| linked.predict(row, column));
                let hopeless = patience.best.min(error) > limit
                    && (sweep >= if small { 12 } else { PROBE })
                    || (!small && sweep >= 3 && patience.best.min(error) > 1.01 * limit);
                if patience.spent(sweep, error) || hopeless {
                    break;
                }
            }
        }
        self.note(name, patience.best, patience.at);
        patience
    }
}
