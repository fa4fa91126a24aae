//! What a reader must know before trusting the rest: warnings and notes.

use crate::escape::markup;

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The result may mislead.
    Warning,
    /// Worth knowing.
    Note,
}

/// One warning or note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How much it matters.
    pub weight: Weight,
    /// What is the matter, in a few words.
    pub title: String,
    /// The numbers, and what to do.
    pub text: String,
}

pub(crate) fn to_html(notices: &[Notice]) -> String {
    if notices.is_empty() {
        return String::new();
    }
    let items: String = notices
        .iter()
        .map(|notice| {
            let (class, word) = match notice.weight {
                Weight::Warning => ("warning", "Warning"),
                Weight::Note => ("remark", "Note"),
            };
            format!(
                "<li class=\"{class}\"><p class=\"matter\"><span>{word}</span> {}</p><p>{}</p></li>\n",
                markup(&notice.title),
                markup(&notice.text)
            )
        })
        .collect();
    format!("<ul class=\"notices\">\n{items}</ul>\n")
}
