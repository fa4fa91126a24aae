//! The link, its slope, what the entries say about both, and how far to trust them.

use isofactor_report::{Block, Figure, Section, Series};

use crate::{
    charts::{intervals, link_chart, slope_chart},
    study::{Study, bins},
    words::{is_identity, two},
};

/// Parts of equal count whose mean values are drawn beside the link.
const PARTS: usize = 20;

pub fn section(study: &Study<'_>) -> Section {
    let model = study.subject.model;
    let scores: Vec<f64> = study.training.kept.iter().map(|seen| seen.score).collect();
    let judged = study.judged().kept.iter().map(|seen| (seen.score, seen.value)).collect();
    let bars = intervals(&bins::equal_count(judged, PARTS));
    let doubted = &study.trust.doubted;
    let chart = link_chart(model, &scores, doubted, None)
        .with(Series::intervals(format!("mean of {} values", study.judged_name()), bars));
    let section = Section::new("The link").with(Block::Text(trust(study))).with(Figure::new(
        format!(
            "The link over the scores. Dots are the mean values of {} entries in parts of equal \
             count, with 95% intervals (1.96 standard errors of the mean): where they leave the \
             curve, the link or the factors miss something. The curve is dotted where few entries \
             back it. Under it, the density of the scores of the {} entries.",
            study.judged_name(),
            study.training_name()
        ),
        chart,
    ));
    if is_identity(model) {
        return section;
    }
    section.with(Figure::new(
        "The slope of the link: how much a value changes with the score. Where it is near zero, \
         values hardly tell scores apart.",
        slope_chart(model, &scores, doubted),
    ))
}

fn trust(study: &Study<'_>) -> String {
    let (low, high) = study.trust.middle;
    let what = if is_identity(study.subject.model) {
        "The model has no link: a prediction is the score, kept to the range of the training values. \
         Dots that bend away from the line would speak for a link. "
    } else {
        ""
    };
    let doubt = if study.trust.doubted.is_empty() {
        "There are enough entries to back the curve everywhere.".to_owned()
    } else {
        let stretches: Vec<String> =
            study.trust.doubted.iter().map(|s| format!("{} to {}", two(s.0), two(s.1))).collect();
        format!(
            "Do not read much into it over the scores {}: few entries lie there.",
            listed(&stretches)
        )
    };
    format!(
        "{what}The middle 98% of the entries have scores between {} and {}. {doubt} Scores have no \
         scale of their own: only the shape of the curve means something.",
        two(low),
        two(high)
    )
}

/// The first few, joined.
fn listed(items: &[String]) -> String {
    const MOST: usize = 4;
    let shown = items.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if items.len() > MOST { format!("{shown} and {} more", items.len() - MOST) } else { shown }
}
