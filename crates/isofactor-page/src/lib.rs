//! The page about a fit: a model, its entries and their names in, a [`Page`] out.
//!
//! [`isofactor_report`] draws and knows nothing of factors; [`isofactor`] computes and knows nothing
//! of pages. This crate stands between: it works out what a careful reader of a fit wants to know
//! and says it in words, tables and charts. The program and the Python package call it alike.
//!
//! ```
//! use isofactor::{FitConfig, FitInput, Observations, Shape, Unwatched, fit};
//! use isofactor_io::Labels;
//! use isofactor_page::{Subject, fit_page};
//!
//! let shape = Shape { rows: 20, columns: 15 };
//! let seen = Observations::complete(shape, |i, t| {
//!     ((i as f64 - 9.5) * (t as f64 - 7.0) / 20.0).tanh()
//! })?;
//! let model = fit(&FitConfig::default(), &FitInput::new(&seen), &mut Unwatched)?;
//! let (rows, columns) = (Labels::numbered(20), Labels::numbered(15));
//! let html = fit_page(&Subject::new(&model, &rows, &columns, &seen)).to_html();
//! assert!(html.contains("What was fitted"));
//! # Ok::<(), isofactor::Error>(())
//! ```
//!
//! | where | what |
//! | --- | --- |
//! | [`Subject`] | what a page is about |
//! | `study` | the numbers, computed once |
//! | `warnings` | what a careful statistician would warn of, a criterion each |
//! | `sections` | words, tables and figures, a file a section |
//! | [`charts`] | charts that other pages use too |

pub mod charts;
mod sections;
mod study;
mod subject;
mod warnings;
mod words;

use isofactor_report::Page;

pub use subject::Subject;

use study::Study;

/// The page about a fit.
#[must_use]
pub fn fit_page(subject: &Subject<'_>) -> Page {
    let study = Study::of(subject);
    let title = match subject.name {
        Some(name) => format!("{name}: factors and the link behind them"),
        None => "Factors and the link behind a matrix".to_owned(),
    };
    let page = Page::new(title, sections::fitted::in_words(&study));
    sections::all(&study).into_iter().fold(page, Page::with)
}
