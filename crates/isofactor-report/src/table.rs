//! Rows and columns of text and numbers.

use crate::escape::markup;

/// A table with a caption. The first column names the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What the table shows.
    pub caption: String,
    /// The head of each column.
    pub columns: Vec<Column>,
    /// The cells, ready to be shown. Missing cells at the end of a row are left blank.
    pub rows: Vec<Vec<String>>,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub heading: String,
    /// How its cells are set.
    pub align: Align,
}

/// How cells are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// To the left.
    Text,
    /// To the right, with figures of equal width, so that equal numbers of decimals line up.
    Number,
}

impl Column {
    /// A column of text.
    #[must_use]
    pub fn text(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), align: Align::Text }
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), align: Align::Number }
    }
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(caption: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { caption: caption.into(), columns, rows: Vec::new() }
    }

    /// The table with one more row.
    #[must_use]
    pub fn row<Cell: Into<String>>(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    pub(crate) fn to_html(&self, number: usize) -> String {
        let caption = format!("<b>Table {number}.</b> {}", markup(&self.caption));
        self.framed(&format!("Table {number}"), &caption)
    }

    /// The table under a chart, which has the caption.
    pub(crate) fn folded(&self, name: &str) -> String {
        self.framed(name, &markup(&self.caption))
    }

    /// `caption` is markup already.
    fn framed(&self, name: &str, caption: &str) -> String {
        let width = self.rows.iter().map(Vec::len).max().unwrap_or(0).max(self.columns.len());
        let caption = match caption {
            "" => String::new(),
            text => format!("<caption><span>{text}</span></caption>\n"),
        };
        // A table wider than a phone scrolls inside its own box, which the keyboard can reach.
        let mut out = format!(
            "<div class=\"table\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n\
             <table>\n{caption}<thead><tr>",
            markup(name)
        );
        for i in 0..width {
            let heading = self.columns.get(i).map_or("", |c| &c.heading);
            out += &format!("<th scope=\"col\"{}>{}</th>", self.class(i), markup(heading));
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            out += "<tr>";
            for i in 0..width {
                let cell = markup(row.get(i).map_or("", String::as_str));
                let class = self.class(i);
                out += &match i {
                    0 => format!("<th scope=\"row\"{class}>{cell}</th>"),
                    _ => format!("<td{class}>{cell}</td>"),
                };
            }
            out += "</tr>\n";
        }
        out + "</tbody>\n</table>\n</div>\n"
    }

    fn class(&self, i: usize) -> &'static str {
        match self.columns.get(i).map(|c| c.align) {
            Some(Align::Number) => " class=\"number\"",
            _ => "",
        }
    }
}
