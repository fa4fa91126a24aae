//! What a page is about.

use isofactor::{FittedModel, Observations, TraceRow};
use isofactor_io::Labels;

use crate::study::pass::Side;

/// A model, the entries it learned from, those it is judged by, and the names of both sides.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The model.
    pub model: &'a FittedModel,
    /// Names of its rows.
    pub rows: &'a Labels,
    /// Names of its columns.
    pub columns: &'a Labels,
    /// Entries of the model's shape: those it learned from, where they are at hand.
    pub train: &'a Observations,
    /// Entries of the model's shape that it did not learn from.
    pub held_out: Option<&'a Observations>,
    /// The course of the fit; empty where it is not known.
    pub trace: &'a [TraceRow],
    /// What the data are called, for the title.
    pub name: Option<&'a str>,
    /// Entries that could not be used because the model does not know their row or column.
    pub unknown: usize,
}

impl<'a> Subject<'a> {
    /// A model and the entries it learned from, and nothing else.
    #[must_use]
    pub fn new(
        model: &'a FittedModel,
        rows: &'a Labels,
        columns: &'a Labels,
        train: &'a Observations,
    ) -> Self {
        Self { model, rows, columns, train, held_out: None, trace: &[], name: None, unknown: 0 }
    }

    /// The name of a row or column.
    pub(crate) fn name_of(&self, side: Side, unit: usize) -> String {
        match side {
            Side::Rows => name(self.rows, unit),
            Side::Columns => name(self.columns, unit),
        }
    }
}

/// Names longer than this are cut: one wild label must not fill the page.
const LONGEST: usize = 80;

fn name(labels: &Labels, number: usize) -> String {
    if number >= labels.len() {
        return format!("{}", number + 1);
    }
    let text = labels.name(number);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
