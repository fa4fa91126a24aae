//! The numbers of a page, computed once, before any word is chosen.

pub mod axes;
pub mod bins;
pub mod pass;
pub mod residuals;
pub mod trust;
pub mod yardsticks;

use std::collections::HashSet;

use crate::subject::Subject;
use axes::Principal;
use pass::Pass;
use residuals::Residuals;
use trust::Trust;
use yardsticks::Yardsticks;

/// Everything that sections and warnings draw on.
pub struct Study<'a> {
    pub subject: Subject<'a>,
    /// The entries the model learned from, or those given in their place.
    pub training: Pass,
    pub held_out: Option<Pass>,
    /// Whether the entries given are those the model learned from.
    pub is_training: bool,
    /// Of the judged entries.
    pub residuals: Residuals,
    pub yardsticks: Yardsticks,
    pub principal: Principal,
    pub trust: Trust,
    /// Held-out entries whose pair the model also learned from.
    pub leaked: usize,
}

impl<'a> Study<'a> {
    pub fn of(subject: &Subject<'a>) -> Self {
        let model = subject.model;
        let training = Pass::over(model, subject.train);
        let held_out = subject.held_out.map(|entries| Pass::over(model, entries));
        let known = &model.provenance;
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
        let is_training =
            training.count == known.observed && same(training.metrics.rmse, known.train.rmse);
        let judged = held_out.as_ref().unwrap_or(&training);
        let judged_entries = subject.held_out.unwrap_or(subject.train);
        let residuals = Residuals::of(judged);
        let yardsticks = Yardsticks::of(subject.train, judged_entries);
        let principal = Principal::of(model, &training);
        let trust = Trust::of(model, &training);
        let leaked = leaked(subject);
        Self {
            subject: *subject,
            training,
            held_out,
            is_training,
            residuals,
            yardsticks,
            principal,
            trust,
            leaked,
        }
    }

    /// The entries that errors are reported on: held-out ones where there are any.
    pub fn judged(&self) -> &Pass {
        self.held_out.as_ref().unwrap_or(&self.training)
    }

    /// What the judged entries are called.
    pub fn judged_name(&self) -> &'static str {
        if self.held_out.is_some() { "held-out" } else { self.training_name() }
    }

    /// What the entries that are not held out are called.
    pub fn training_name(&self) -> &'static str {
        if self.is_training { "training" } else { "given" }
    }

    /// Whether the model has factors that do anything.
    pub fn has_factors(&self) -> bool {
        self.principal.strengths.first().is_some_and(|&strength| strength > 0.0)
    }
}

/// Counts held-out entries whose pair is among the training entries.
fn leaked(subject: &Subject<'_>) -> usize {
    let Some(held) = subject.held_out else { return 0 };
    let rows = 0..held.shape().rows.min(subject.train.shape().rows);
    rows.map(|row| {
        let held = held.row(row);
        if held.columns.is_empty() {
            return 0;
        }
        let trained: HashSet<u32> = subject.train.row(row).columns.iter().copied().collect();
        held.columns.iter().filter(|&column| trained.contains(column)).count()
    })
    .sum()
}
