//! What a careful statistician would warn of, a computed criterion each.
//!
//! docs/report.md states every criterion with its formula; a test holds each to it.

mod data;
mod fit;
mod judging;
pub mod tried;

use isofactor_report::{Notice, Weight};

use crate::study::Study;

/// All that apply, warnings before notes.
pub fn all(study: &Study<'_>) -> Vec<Notice> {
    let mut found: Vec<Notice> = data::all(study);
    found.extend(fit::all(study));
    found.extend(judging::all(study));
    found.sort_by_key(|notice| notice.weight == Weight::Note);
    found
}

fn warning(title: impl Into<String>, text: impl Into<String>) -> Notice {
    Notice { weight: Weight::Warning, title: title.into(), text: text.into() }
}

fn note(title: impl Into<String>, text: impl Into<String>) -> Notice {
    Notice { weight: Weight::Note, title: title.into(), text: text.into() }
}
