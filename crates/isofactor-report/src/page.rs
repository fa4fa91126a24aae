//! The page and its parts, from the title down to the paragraph.

use crate::escape::markup;
use crate::fact::{self, Fact};
use crate::figure::Figure;
use crate::notice::{self, Notice};
use crate::palette;
use crate::plane::Plane;
use crate::table::Table;

/// A whole report: one file that needs nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The title, also of the browser's tab.
    pub title: String,
    /// One or two sentences below the title; may be empty.
    pub lead: String,
    /// The sections, in reading order.
    pub sections: Vec<Section>,
}

/// A heading and what stands under it.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// The blocks, in reading order.
    pub blocks: Vec<Block>,
}

/// A building block of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Plain text; an empty line starts a new paragraph.
    Text(String),
    /// A row of big numbers.
    Facts(Vec<Fact>),
    /// A table, numbered in the order of the page.
    Table(Table),
    /// A chart, numbered in the order of the page.
    Figure(Figure),
    /// A scatter whose axes can be chosen, numbered as charts are.
    Plane(Plane),
    /// Warnings and notes.
    Notices(Vec<Notice>),
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Figure> for Block {
    fn from(figure: Figure) -> Self {
        Self::Figure(figure)
    }
}

impl From<Plane> for Block {
    fn from(plane: Plane) -> Self {
        Self::Plane(plane)
    }
}

impl Page {
    /// A page without sections.
    #[must_use]
    pub fn new(title: impl Into<String>, lead: impl Into<String>) -> Self {
        Self { title: title.into(), lead: lead.into(), sections: Vec::new() }
    }

    /// The page with one more section.
    #[must_use]
    pub fn with(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// The page as one HTML document: style, charts and script inside, no request to anywhere.
    #[must_use]
    pub fn to_html(&self) -> String {
        let title = markup(&self.title);
        // The policy makes the promise of no requests hold in the browser, not only in this code.
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
             base-uri 'none'; form-action 'none'\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n\
             <style>\n{}{}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{title}</h1>\n",
            palette::page_style(),
            include_str!("page.css"),
        );
        if !self.lead.is_empty() {
            out += &format!("<p class=\"lead\">{}</p>\n", markup(&self.lead));
        }
        out += &self.contents();
        out += "</header>\n";
        let mut numbers = Numbers::default();
        for (i, section) in self.sections.iter().enumerate() {
            let i = i + 1;
            out += &format!(
                "<section aria-labelledby=\"section-{i}\">\n<h2 id=\"section-{i}\">{}</h2>\n",
                markup(&section.heading)
            );
            for block in &section.blocks {
                out += &block.to_html(&mut numbers);
            }
            out += "</section>\n";
        }
        out += "</main>\n";
        if numbers.figures > 0 {
            out += &format!(
                "<script>\n(function () {{\n\"use strict\";\n{}{}{}}})();\n</script>\n",
                include_str!("script/reader.js"),
                include_str!("script/plane.js"),
                include_str!("script/start.js"),
            );
        }
        out + "</body>\n</html>\n"
    }

    /// Links to the sections of a page that is too long to see at once.
    fn contents(&self) -> String {
        if self.sections.len() < FEWEST_LISTED {
            return String::new();
        }
        let items: String = (self.sections.iter().enumerate())
            .map(|(i, s)| {
                format!("<li><a href=\"#section-{}\">{}</a></li>\n", i + 1, markup(&s.heading))
            })
            .collect();
        format!("<nav aria-label=\"Contents\">\n<ul>\n{items}</ul>\n</nav>\n")
    }
}

impl Section {
    /// A section without blocks.
    #[must_use]
    pub fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), blocks: Vec::new() }
    }

    /// The section with one more block.
    #[must_use]
    pub fn with(mut self, block: impl Into<Block>) -> Self {
        self.blocks.push(block.into());
        self
    }
}

/// Pages with fewer sections need no list of them.
const FEWEST_LISTED: usize = 4;

/// How many tables and figures the page has so far.
#[derive(Default)]
struct Numbers {
    tables: usize,
    figures: usize,
}

impl Block {
    fn to_html(&self, numbers: &mut Numbers) -> String {
        match self {
            Self::Text(text) => paragraphs(text),
            Self::Facts(facts) => fact::to_html(facts),
            Self::Table(table) => {
                numbers.tables += 1;
                table.to_html(numbers.tables)
            }
            Self::Figure(figure) => {
                numbers.figures += 1;
                figure.to_html(numbers.figures)
            }
            Self::Plane(plane) => {
                numbers.figures += 1;
                plane.to_html(numbers.figures)
            }
            Self::Notices(notices) => notice::to_html(notices),
        }
    }
}

fn paragraphs(text: &str) -> String {
    text.replace("\r\n", "\n")
        .split("\n\n")
        .map(str::trim)
        .filter(|p| !p.is_empty())
        .map(|p| format!("<p>{}</p>\n", markup(p)))
        .collect()
}
