//! A chart on a page: legend, drawing, readout, caption and numbers, in reading order.

use crate::chart::Chart;
use crate::escape::markup;
use crate::numbers;
use crate::plot::{self, Format, legend};
use crate::readout;
use crate::scene::Scene;
use crate::table::Table;

/// A chart with a caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What the chart shows.
    pub caption: String,
    /// The chart.
    pub chart: Chart,
    /// Its numbers, folded away below it; without one they are read off the chart.
    pub table: Option<Table>,
}

impl Figure {
    /// A chart with a caption.
    #[must_use]
    pub fn new(caption: impl Into<String>, chart: Chart) -> Self {
        Self { caption: caption.into(), chart, table: None }
    }

    /// The figure with a table that says the same.
    #[must_use]
    pub fn numbers(mut self, table: Table) -> Self {
        self.table = Some(table);
        self
    }

    pub(crate) fn to_html(&self, number: usize) -> String {
        let scene = Scene::of(&self.chart);
        let table = self.table.clone().or_else(|| numbers::table(&scene));
        html(&scene, number, &self.caption, &readout::data(&scene), table.as_ref())
    }
}

/// A figure around a scene, with what the script reads and a table that is folded away.
pub(crate) fn html(
    scene: &Scene,
    number: usize,
    caption: &str,
    data: &str,
    table: Option<&Table>,
) -> String {
    let notes: String =
        scene.notes.iter().map(|n| format!(" <span class=\"note\">{}</span>", markup(n))).collect();
    let table = table.map_or(String::new(), |table| {
        let name = format!("Numbers of figure {number}");
        format!("<details>\n<summary>{name}</summary>\n{}</details>\n", table.folded(&name))
    });
    format!(
        "<figure id=\"figure-{number}\">\n{}<div class=\"plot\">\n{}{}</div>\n{data}\
         <figcaption><b>Figure {number}.</b> {}{notes}</figcaption>\n{table}</figure>\n",
        legend::html(scene),
        plot::inline(scene, Format::Wide),
        plot::inline(scene, Format::Narrow),
        markup(caption),
    )
}
