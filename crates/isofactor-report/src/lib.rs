//! Values in, one self-contained HTML page out.
//!
//! The crate knows nothing of where its numbers come from. It offers a few building blocks (text,
//! big numbers, tables, charts) and draws them as a page that opens offline, on a phone or a
//! desktop, in light or dark, on screen or on paper. The same input gives the same bytes.
//!
//! ```
//! use isofactor_report::{Axis, Block, Chart, Fact, Figure, Page, Section, Series};
//!
//! let curve: Vec<(f64, f64)> = (-30..=30)
//!     .map(|i| f64::from(i) / 10.0)
//!     .map(|x| (x, x.tanh()))
//!     .collect();
//! let chart = Chart::new(Axis::new("Score"), Axis::new("Response (volts)"))
//!     .with(Series::line("learned", curve.clone()))
//!     .with(Series::line("true", curve).dashed());
//! let page = Page::new("A small report", "What was fitted, and how well.").with(
//!     Section::new("The link")
//!         .with(Block::Facts(vec![Fact::new("RMSE", "0.012").note("held-out entries")]))
//!         .with(Figure::new("Learned and true link.", chart)),
//! );
//! let html = page.to_html();
//! assert!(html.starts_with("<!doctype html>"));
//! ```

mod chart;
mod domain;
mod escape;
mod fact;
mod figure;
mod histogram;
mod notice;
mod number;
mod numbers;
mod page;
mod palette;
mod plane;
mod plot;
mod readout;
mod scene;
mod table;
mod thin;
mod ticks;

pub use chart::{Axis, Cell, Chart, Interval, Reference, Scale, Series, Shape, Stroke};
pub use fact::Fact;
pub use figure::Figure;
pub use notice::{Notice, Weight};
pub use number::number;
pub use page::{Block, Page, Section};
pub use plane::{Plane, Variable};
pub use table::{Align, Column, Table};
