//! Warnings about errors: what they are measured on, what they are compared with, their tails.

use isofactor::config::Keep;
use isofactor_report::{Notice, Weight};

use super::{note, warning};
use crate::{
    study::{
        Study,
        bins::{self, Bin},
        residuals::normal_beyond,
    },
    words::{count, four, percent, two},
};

/// Errors closer to a yardstick than this share are no gain.
const GAIN: f64 = 0.01;
/// A 95% interval of the held-out error wider than this share of it, to each side, is wide.
const WIDE: f64 = 0.1;
/// Excess kurtosis that means something, beside its own standard error.
const HEAVY: f64 = 2.0;
/// Held-out errors beyond so many times the training error mean that much was learned by heart.
const LEARNED_BY_HEART: f64 = 1.5;
/// Standard errors that one of ten means may be off by chance: 5% over all ten.
const OFF: f64 = 2.81;
/// Gaps smaller than this share of the residuals' deviation do not matter.
const SMALL_GAP: f64 = 0.25;

/// So many parts that are off are a pattern.
const MANY_OFF: usize = 3;

pub fn all(study: &Study<'_>) -> Vec<Notice> {
    let rmse = study.judged().metrics.rmse;
    let mut found = Vec::new();
    found.extend(match &study.held_out {
        None => Some(nothing_held_out(study.is_training)),
        Some(held) => small_held_out(held.count, rmse, study.residuals.rmse_error),
    });
    found.extend(no_gain(rmse, study.yardsticks.effects.rmse, study.yardsticks.mean.rmse));
    let residuals = &study.residuals;
    let all = residuals.standardised.len();
    found.extend(heavy_tails(residuals.excess_kurtosis, residuals.beyond(4.0), all));
    if study.held_out.is_some() {
        found.extend(by_heart(study.training.metrics.rmse, rmse).filter(|_| study.is_training));
        let pairs = study.judged().kept.iter().map(|seen| (seen.prediction, seen.value)).collect();
        let mut tenths = bins::equal_count(pairs, 10);
        // The kept entries stand for all.
        let share = study.judged().kept.len() as f64 / study.judged().count as f64;
        tenths.iter_mut().for_each(|bin| bin.half *= share.sqrt());
        found.extend(miscalibrated(&tenths, residuals.deviation));
        found.extend(optimistic(study));
    }
    found
}

fn nothing_held_out(is_training: bool) -> Notice {
    if !is_training {
        return note(
            "Nothing says which of these entries the model has seen",
            "Errors on entries that a model learned from flatter it. Give entries that it has not \
             seen as --valid, or the --holdout of the fit.",
        );
    }
    warning(
        "No entries were held out",
        "Every error on this page is of entries that the model learned from, so it is too small, and \
         more so the higher the rank. Fit with --holdout 0.1, or give entries as --valid.",
    )
}

/// Few held-out entries: the error itself is not well known.
fn small_held_out(held: usize, rmse: f64, rmse_error: f64) -> Option<Notice> {
    let half = 1.96 * rmse_error;
    (rmse > 0.0 && half > WIDE * rmse).then(|| {
        warning(
            format!("{} held-out entries are few", count(held)),
            format!(
                "The held-out error is {} ± {} (95%), {} to each side: other entries \
                 might as well have given any error within that. Hold out more, or average over \
                 several seeds; compare models on the same held-out entries only.",
                four(rmse),
                two(half),
                percent(half / rmse)
            ),
        )
    })
}

/// A model that is no better than what needs no factors.
fn no_gain(rmse: f64, effects: f64, mean: f64) -> Option<Notice> {
    if rmse >= mean {
        return Some(warning(
            "The model is no better than the overall mean",
            format!(
                "Its error is {}, that of the mean {}. There is nothing here that rows and columns \
                 explain, or the fit went wrong: look at the convergence and at the values.",
                four(rmse),
                four(mean)
            ),
        ));
    }
    (rmse > (1.0 - GAIN) * effects).then(|| {
        warning(
            "Nothing found beyond effects",
            format!(
                "The error is {}, that of row and column effects alone {}: a gain of {}. Factors and \
                 link do not predict here; do not interpret them.",
                four(rmse),
                four(effects),
                percent(1.0 - rmse / effects)
            ),
        )
    })
}

/// Tails that squares do not suit: the excess kurtosis is above two and above five of its standard
/// errors, `sqrt(24 / n)`.
fn heavy_tails(excess: f64, beyond_four: usize, all: usize) -> Option<Notice> {
    let certain = 5.0 * (24.0 / all as f64).sqrt();
    (excess > HEAVY.max(certain)).then(|| {
        note(
            "Residuals have heavy tails",
            format!(
                "Excess kurtosis {} (a normal distribution has 0); {} of the residuals lie beyond four \
                 standard deviations, where a normal distribution has {}. A few entries weigh most in \
                 the squares: look at the worst rows and columns, check those values, or transform \
                 them (logarithms of amounts).",
                four(excess),
                percent(beyond_four as f64 / all as f64),
                percent(normal_beyond(4.0))
            ),
        )
    })
}

/// Much smaller errors on what was learned from.
fn by_heart(train: f64, held: f64) -> Option<Notice> {
    (held > LEARNED_BY_HEART * train).then(|| {
        warning(
            "The model has learned much by heart",
            format!(
                "The error is {} on training entries and {} on held-out ones, {:.1} times as much. Try a \
                 lower --rank or more --shrinkage.",
                four(train),
                four(held),
                held / train
            ),
        )
    })
}

/// Tenths of the predictions whose mean value is not the mean prediction.
fn miscalibrated(tenths: &[Bin], deviation: f64) -> Option<Notice> {
    let gap = |bin: &Bin| bin.mean - bin.place;
    let is_off = |bin: &&Bin| {
        gap(bin).abs() > OFF / 1.96 * bin.half && gap(bin).abs() > SMALL_GAP * deviation
    };
    let off: Vec<&Bin> = tenths.iter().filter(is_off).collect();
    let most = off.iter().max_by(|a, b| gap(a).abs().total_cmp(&gap(b).abs()))?;
    let side = if gap(most) > 0.0 { "low" } else { "high" };
    let weight = if off.len() >= MANY_OFF { Weight::Warning } else { Weight::Note };
    Some(Notice {
        weight,
        title: format!("Predictions are off in {} of {} parts", off.len(), tenths.len()),
        text: format!(
            "Most so around {}, where they are too {side} by {} on average ({} entries). See the figure \
             of predictions; a learned link (--link learned) can straighten what bends alike for all.",
            four(most.place),
            four(gap(most).abs()),
            count(most.count)
        ),
    })
}

/// The kept iterate was chosen by the entries that judge it.
fn optimistic(study: &Study<'_>) -> Option<Notice> {
    let p = &study.subject.model.provenance;
    let judged_by_the_same = p.validation.is_some_and(|m| m.rmse == study.judged().metrics.rmse);
    let chosen = p.config.keep == Keep::Best && p.iterations > 0 && judged_by_the_same;
    chosen.then(|| {
        note(
            "The held-out error is a little optimistic",
            "Which iterate to keep was chosen by the same held-out entries (--keep best). For an error \
             to publish, keep a third set of entries and use “isofactor evaluate”, or --keep last.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_is_not_well_known_is_told_with_its_interval() {
        let found = small_held_out(40, 1.0, 0.06).unwrap();
        assert!(found.text.contains("1.000 ± 0.12"), "{}", found.text);
        assert_eq!(small_held_out(10_000, 1.0, 0.01), None);
        assert_eq!(small_held_out(10, 0.0, 0.0), None);
    }

    #[test]
    fn a_model_must_beat_effects_by_a_hundredth() {
        assert_eq!(no_gain(0.98, 1.0, 1.2), None);
        assert!(no_gain(0.995, 1.0, 1.2).unwrap().title.contains("beyond effects"));
        assert!(no_gain(1.3, 1.0, 1.2).unwrap().title.contains("overall mean"));
    }

    #[test]
    fn heavy_tails_need_size_and_certainty() {
        assert!(heavy_tails(4.0, 60, 10_000).unwrap().text.contains("0.6%"));
        assert_eq!(heavy_tails(1.9, 60, 1_000_000), None, "certain but small");
        assert_eq!(heavy_tails(4.0, 1, 20), None, "large but not certain");
    }

    #[test]
    fn errors_half_again_as_large_on_new_entries_are_told() {
        assert!(by_heart(1.0, 1.6).unwrap().text.contains("1.6 times"));
        assert_eq!(by_heart(1.0, 1.4), None);
    }

    #[test]
    fn a_part_is_off_where_chance_and_size_say_so() {
        let part = |mean: f64, half: f64| Bin { place: 1.0, mean, half, count: 50 };
        assert!(miscalibrated(&[part(1.5, 0.1)], 1.0).unwrap().text.contains("too low by 0.5000"));
        assert_eq!(miscalibrated(&[part(1.5, 0.4)], 1.0), None, "could be chance");
        assert_eq!(miscalibrated(&[part(1.2, 0.001)], 1.0), None, "does not matter");
        assert_eq!(miscalibrated(&[], 1.0), None);
        let weight =
            |count: usize| miscalibrated(&vec![part(1.5, 0.1); count], 1.0).unwrap().weight;
        assert_eq!((weight(2), weight(3)), (Weight::Note, Weight::Warning));
    }

    #[test]
    fn entries_that_may_have_been_seen_are_told_apart_from_those_that_were() {
        assert!(nothing_held_out(true).title.contains("No entries"));
        assert!(nothing_held_out(false).title.contains("Nothing says"));
    }
}
