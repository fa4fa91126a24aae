//! Big numbers with a label: what a reader takes away at a glance.

use crate::escape::markup;

/// One big number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What the value is.
    pub label: String,
    /// The value, ready to be shown.
    pub value: String,
    /// A remark below it; may be empty.
    pub note: String,
}

impl Fact {
    /// A fact without a note.
    #[must_use]
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        Self { label: label.into(), value: value.into(), note: String::new() }
    }

    /// The fact with a note below its value.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

pub(crate) fn to_html(facts: &[Fact]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let mut out = String::from("<dl class=\"facts\">\n");
    for fact in facts {
        out += &format!(
            "<div><dt>{}</dt><dd class=\"value\">{}</dd>",
            markup(&fact.label),
            markup(&fact.value)
        );
        if !fact.note.is_empty() {
            out += &format!("<dd class=\"note\">{}</dd>", markup(&fact.note));
        }
        out += "</div>\n";
    }
    out + "</dl>\n"
}
