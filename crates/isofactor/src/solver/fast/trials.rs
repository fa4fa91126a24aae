//! Trials: sweeps on most of the entries, judged by those that were held back.
//!
//! What a course remembers of the trials is not found again, so that choosing can stop at any sweep
//! and go on later.

use super::{
    belief::{Belief, Prior, Targets},
    choose::{FEW, GAIN, Kind, MOST_LINKED_SWEEPS, MOST_SWEEPS, Patience, Plan, patience},
    course::Course,
    panel::{Panel, spread},
    state::{State, Swept},
};
use crate::{
    model::Trial,
    monitor::{Flow, Monitor, TrialRow},
    observations::EntryList,
};

/// Sweeps after which a link with many entries must have caught up with what is simpler.
const PROBE: usize = 6;

/// Trials on the same entries.
pub(super) struct Trials<'a, 'm> {
    pub panel: Panel<'a>,
    pub judged: EntryList,
    pub range: (f64, f64),
    pub found: Vec<Trial>,
    /// Trials begun, and how many there are at most.
    pub begun: usize,
    pub most: usize,
    pub course: &'m mut Course,
    pub monitor: &'m mut (dyn Monitor + Send),
    pub flow: Flow,
}

impl Trials<'_, '_> {
    /// Whether someone has had enough of choosing.
    pub fn ended(&self) -> bool {
        self.flow != Flow::Continue
    }

    fn error(&self, predict: impl Fn(usize, usize) -> f64) -> f64 {
        let (low, high) = self.range;
        let squares: f64 = (self.judged.iter())
            .map(|e| (e.value - predict(e.row, e.column).clamp(low, high)).powi(2))
            .sum();
        (squares / self.judged.len() as f64).sqrt()
    }

    fn note(&mut self, what: String, rmse: f64, sweeps: usize) {
        if rmse.is_finite() {
            self.found.push(Trial { what, rmse, sweeps });
        }
    }

    /// One trial: sweeps until `enough` says so of a sweep and its error, or someone has had enough
    /// of choosing. Returns the errors.
    fn sweeps(
        &mut self,
        what: &str,
        plan: (Prior, &Kind),
        most: usize,
        mut enough: impl FnMut(usize, f64) -> bool,
    ) -> Vec<f64> {
        let trial = self.begun;
        if self.course.trials.len() == trial && !self.ended() {
            self.course.state = State::begin(&self.panel, plan.0, plan.1, None);
            self.course.trials.push(Vec::new());
        }
        self.begun += 1;
        let mut errors = Vec::new();
        while errors.len() < most {
            let known = self.course.trials.get(trial).and_then(|t| t.get(errors.len()));
            let error = match known {
                Some(error) => *error,
                None if self.ended() => break,
                None => self.sweep(trial, what),
            };
            let Some(error) = error else { break };
            errors.push(error);
            if enough(errors.len(), error) {
                break;
            }
        }
        errors
    }

    /// The next sweep of the trial under way: its error, which the course remembers; none when
    /// numbers fail.
    fn sweep(&mut self, trial: usize, what: &str) -> Option<f64> {
        let made = self.course.trials[trial].len();
        let panel = &self.panel;
        let swept = self.course.state.as_mut().map(|state| state.sweep(panel, made));
        let state = self.course.state.as_ref().filter(|_| swept == Some(Swept::Whole));
        let error = state.map(|state| self.error(|row, column| state.predict(row, column)));
        self.course.trials[trial].push(error);
        let row = TrialRow {
            number: trial + 1,
            most: self.most.max(trial + 1),
            what: what.to_owned(),
            sweep: made + 1,
            rmse: error.unwrap_or(f64::NAN),
        };
        self.flow = self.monitor.trial(&row);
        self.monitor.boundary(&self.course.checkpoint());
        error
    }

    /// The simplest of level, effects and factors that is good enough; returns the least error.
    pub fn of_factors(&mut self, plan: &mut Plan, shrinkages: &[f64]) -> f64 {
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
        let mut leader = None;
        for &shrinkage in shrinkages {
            let prior = Prior { shrinkage, ..plan.prior };
            let what = format!("factors, rank {}, shrinkage {shrinkage}", prior.rank);
            let (patience, errors) = self.of_shrinkage(&what, prior, leader.as_deref());
            leader.get_or_insert(errors);
            self.note(what, patience.best, patience.at);
            if patience.best < best {
                (best, plan.prior, plan.sweeps) = (patience.best, prior, patience.at);
            }
        }
        let judged = !self.ended() || best.is_finite();
        if judged && of_level <= GAIN.recip() * best.min(of_effects) {
            plan.kind = Kind::Level;
        } else if judged && of_effects <= GAIN.recip() * best {
            plan.kind = Kind::Effects;
        }
        best.min(of_effects).min(of_level)
    }

    /// A lower rank, taken where it is as good; returns its error.
    pub fn of_rank(&mut self, plan: &mut Plan, rank: usize, best: f64) -> f64 {
        let prior = Prior { rank, ..plan.prior };
        let what = format!("factors, rank {rank}");
        let (patience, _) = self.of_shrinkage(&what, prior, Some(&[best; MOST_SWEEPS]));
        self.note(what, patience.best, patience.at);
        if patience.best <= GAIN.recip() * best {
            (plan.prior, plan.sweeps) = (prior, patience.at);
        }
        patience.best
    }

    /// Sweeps with one shrinkage; given up where it falls behind the one before.
    fn of_shrinkage(
        &mut self,
        what: &str,
        prior: Prior,
        leader: Option<&[f64]>,
    ) -> (Patience, Vec<f64>) {
        const FIRST_JUDGED: usize = 4;
        const BEHIND: f64 = 1.005;
        let mut patience = patience(&Kind::Factors, self.panel.observations.len());
        let errors = self.sweeps(what, (prior, &Kind::Factors), MOST_SWEEPS, |sweep, error| {
            let leading = leader.and_then(|errors| errors.get(sweep - 1));
            let behind = sweep > FIRST_JUDGED + 1 && leading.is_some_and(|e| error > BEHIND * e);
            behind || sweep >= FIRST_JUDGED && patience.spent(sweep, error)
        });
        (patience, errors)
    }

    /// The best of increasing ranks, tried until the next one brings nothing.
    pub fn of_linked_ranks(
        &mut self,
        prior: Prior,
        ranks: &[usize],
        kind: &Kind,
        limit: f64,
    ) -> (Prior, Patience) {
        let mut best = (prior, Patience::new(0));
        // Many entries take long: a few sweeps at the highest rank tell whether a link has a chance.
        if ranks.len() > 1 && self.panel.observations.len() >= FEW {
            self.most += 1;
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
        let Kind::Linked { given, .. } = kind else { return Patience::new(0) };
        let entries = self.panel.observations.len();
        let small = entries < FEW;
        let mut patience = patience(kind, entries);
        let name = given.as_ref().map_or("learned link".to_owned(), |link| format!("link {link}"));
        let what = format!("{name}, rank {}", prior.rank);
        self.sweeps(&what, (prior, kind), most, |sweep, error| {
            let hopeless = patience.best.min(error) > limit
                && (sweep >= if small { 12 } else { PROBE })
                || (!small && sweep >= 3 && patience.best.min(error) > 1.01 * limit);
            patience.spent(sweep, error) || hopeless
        });
        self.note(what, patience.best, patience.at);
        patience
    }
}
