//! Warnings about the model: rank, link, the course of the fit.

use isofactor::{Stop, TraceRow, model::Chosen};
use isofactor_report::Notice;

use super::{note, tried::Tried, warning};
use crate::{
    study::{
        Study,
        trust::{Flat, Trust},
    },
    words::{count, counted, four, is_identity, percent, two},
};

/// A factor that adds less than this share of the spread of the scores is empty.
const EMPTY: f64 = 0.01;
/// A higher rank that gains less than this share over a lower one is hardly worth it.
const WORTH: f64 = 0.005;
/// A flat stretch or a slope at its bound matters where this share of the entries lie.
const MATTERS: f64 = 0.05;
/// An error that fell by more than this share over the last tenth of the iterations was falling.
const FALLING: f64 = 1e-3;

pub fn all(study: &Study<'_>) -> Vec<Notice> {
    let model = study.subject.model;
    let p = &model.provenance;
    let mut found = Vec::new();
    if study.has_factors() {
        found.extend(empty_factors(&study.principal.shares()));
        found.extend(p.chosen.as_ref().and_then(small_gain));
    }
    if !is_identity(model) {
        found.extend(flat(&study.trust.flat));
        found.extend(at_bounds(&study.trust));
    }
    found.extend(unfinished(p.stop, study.subject.trace));
    found
}

/// Factors whose products hardly vary.
fn empty_factors(shares: &[f64]) -> Option<Notice> {
    let empty = shares.iter().filter(|&&share| share < EMPTY).count();
    (empty > 0 && empty < shares.len()).then(|| {
        let enough = shares.len() - empty;
        note(
            format!("{} of {} factors are nearly empty", count(empty), count(shares.len())),
            format!(
                "Each adds less than {} of the spread of the scores. --rank {enough} would do as well \
                 and be easier to read.",
                percent(EMPTY)
            ),
        )
    })
}

/// The rank that was chosen is hardly better than a lower one that was tried.
fn small_gain(chosen: &Chosen) -> Option<Notice> {
    let trials = || chosen.trials.iter().filter_map(|t| Some((Tried::read(&t.what)?, t.rmse)));
    let of_chosen = trials().filter(|(tried, _)| tried.is(chosen)).map(|(_, rmse)| rmse);
    let own = of_chosen.fold(f64::INFINITY, f64::min);
    let lower = trials()
        .filter_map(|(tried, rmse)| match tried {
            Tried::Factors { rank, .. } if chosen.link == "identity" => Some((rank, rmse)),
            Tried::Linked { rank } if !chosen.link.starts_with("identity") => Some((rank, rmse)),
            _ => None,
        })
        .filter(|&(rank, rmse)| rank < chosen.rank && own >= (1.0 - WORTH) * rmse)
        .min_by_key(|&(rank, _)| rank)?;
    Some(note(
        format!("Rank {} is hardly better than rank {}", chosen.rank, lower.0),
        format!(
            "On the entries held back for choosing the error is {} with rank {} and {} with rank {}: a \
             gain of {}. --rank {} is easier to read.",
            four(own),
            chosen.rank,
            four(lower.1),
            lower.0,
            percent(1.0 - own / lower.1),
            lower.0
        ),
    ))
}

/// A link that does not rise where entries lie.
fn flat(stretches: &[Flat]) -> Option<Notice> {
    let share: f64 = stretches.iter().map(|flat| flat.share).sum();
    (share >= MATTERS).then(|| {
        let places: Vec<String> = stretches
            .iter()
            .filter(|flat| flat.share >= 0.01)
            .take(3)
            .map(|flat| format!("{} to {}", two(flat.low), two(flat.high)))
            .collect();
        note(
            format!("The link is flat where {} of the entries lie", percent(share)),
            format!(
                "Over the scores {} its slope is below a hundredth of its mean slope: values there \
                 have saturated and hardly tell scores apart. Predictions are fine, but do not \
                 compare scores or factors of rows and columns that lie there.",
                places.join(", ")
            ),
        )
    })
}

/// Slopes at the bounds of Algorithm 1.
fn at_bounds(trust: &Trust) -> Option<Notice> {
    let hit = [("upper", trust.at_high_bound), ("lower", trust.at_low_bound)];
    let (which, share) = hit.into_iter().find(|(_, share)| *share >= MATTERS)?;
    Some(warning(
        format!("The link's slope is at its {which} bound for {} of the entries", percent(share)),
        format!(
            "There the {which} bound of --monotone shapes the link, not the data. Widen the bound, \
             unless it is known to hold."
        ),
    ))
}

/// A fit that ended before it was done.
fn unfinished(stop: Stop, trace: &[TraceRow]) -> Option<Notice> {
    if matches!(stop, Stop::Cancelled | Stop::TimeLimit) {
        return Some(warning(
            "The fit was stopped before it was done",
            "The model is the best that there was at that moment. To go on, fit again with --start \
             and the model file.",
        ));
    }
    if stop != Stop::IterationLimit {
        return None;
    }
    let errors: Vec<f64> =
        trace.iter().map(|row| row.validation_rmse.unwrap_or(row.train_rmse)).collect();
    let (first, last) = (errors.get(errors.len() * 9 / 10)?, errors.last()?);
    let fell = 1.0 - last / first;
    (fell > FALLING).then(|| {
        warning(
            "The fit ended at its limit while the error was falling",
            format!(
                "Over the last {} the error fell by {}. Raise --iterations, or go on with --start and \
                 the model file.",
                counted(errors.len() - errors.len() * 9 / 10, "iteration", "iterations"),
                percent(fell)
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use isofactor::model::Trial;

    fn chosen(rank: usize, link: &str, trials: &[(&str, f64)]) -> Chosen {
        let trial = |&(what, rmse): &(&str, f64)| Trial { what: what.into(), rmse, sweeps: 1 };
        let trials = trials.iter().map(trial).collect();
        Chosen { rank, link: link.into(), shrinkage: 1.4, judged_by: 100, trials }
    }

    #[test]
    fn factors_that_add_nothing_are_counted() {
        let found = empty_factors(&[0.5, 0.2, 0.009, 0.0]).unwrap();
        assert!(found.title.starts_with("2 of 4") && found.text.contains("--rank 2"));
        assert_eq!(empty_factors(&[0.5, 0.2, 0.02]), None);
    }

    #[test]
    fn a_rank_that_gains_less_than_half_a_percent_is_told() {
        let trials = [("factors, rank 12, shrinkage 1.4", 0.998), ("factors, rank 6", 1.0)];
        let found = small_gain(&chosen(12, "identity", &trials)).unwrap();
        assert!(found.title.contains("rank 6") && found.text.contains("0.2%"), "{found:?}");
        let trials = [("factors, rank 12, shrinkage 1.4", 0.99), ("factors, rank 6", 1.0)];
        assert_eq!(small_gain(&chosen(12, "identity", &trials)), None);
        let lower = [("factors, rank 12, shrinkage 1.4", 1.0), ("factors, rank 6", 1.0)];
        assert_eq!(small_gain(&chosen(6, "identity", &lower)), None);
    }

    #[test]
    fn a_flat_link_matters_where_entries_lie() {
        let stretch = |share| vec![Flat { low: 1.0, high: 2.0, share }];
        assert!(flat(&stretch(0.2)).unwrap().text.contains("1 to 2"));
        assert_eq!(flat(&stretch(0.01)), None);
        assert_eq!(flat(&[]), None);
    }

    #[test]
    fn slopes_at_a_bound_are_told_by_which() {
        let trust = Trust { at_high_bound: 0.3, ..Trust::default() };
        assert!(at_bounds(&trust).unwrap().title.contains("upper bound for 30.0%"));
        let trust = Trust { at_low_bound: 0.3, ..Trust::default() };
        assert!(at_bounds(&trust).unwrap().title.contains("lower"));
        assert_eq!(at_bounds(&Trust::default()), None);
    }

    fn row(iteration: usize, error: f64) -> TraceRow {
        TraceRow {
            iteration,
            objective: error,
            data_term: error,
            balance_term: 0.0,
            link_norm: None,
            train_rmse: error,
            validation_rmse: None,
            seconds: 0.0,
            truth: None,
        }
    }

    #[test]
    fn a_limit_matters_while_the_error_falls() {
        let falling: Vec<TraceRow> = (0..100).map(|i| row(i, 1.0 / (1.0 + i as f64))).collect();
        let still: Vec<TraceRow> = (0..100).map(|i| row(i, 1.0)).collect();
        assert!(unfinished(Stop::IterationLimit, &falling).is_some());
        assert_eq!(unfinished(Stop::IterationLimit, &still), None);
        assert_eq!(unfinished(Stop::Converged, &falling), None);
        assert_eq!(unfinished(Stop::IterationLimit, &[]), None);
        assert!(unfinished(Stop::Cancelled, &[]).is_some());
    }
}
