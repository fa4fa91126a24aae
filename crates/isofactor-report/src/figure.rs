//! A chart on a page: legend, drawing, readout and caption, in reading order.

use crate::chart::Chart;
use crate::escape::markup;
use crate::plot::{self, Format, legend};
use crate::readout;
use crate::scene::Scene;

/// A chart with a caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What the chart shows.
    pub caption: String,
    /// The chart.
    pub chart: Chart,
}

impl Figure {
    /// A chart with a caption.
    #[must_use]
    pub fn new(caption: impl Into<String>, chart: Chart) -> Self {
        Self { caption: caption.into(), chart }
    }

    pub(crate) fn to_html(&self, number: usize) -> String {
        let scene = Scene::of(&self.chart);
        let notes: String = scene
            .notes
            .iter()
            .map(|n| format!(" <span class=\"note\">{}</span>", markup(n)))
            .collect();
        format!(
            "<figure id=\"figure-{number}\">\n{}<div class=\"plot\">\n{}{}</div>\n{}\
             <figcaption><b>Figure {number}.</b> {}{notes}</figcaption>\n</figure>\n",
            legend::html(&scene),
            plot::inline(&scene, Format::Wide),
            plot::inline(&scene, Format::Narrow),
            readout::data(&scene),
            markup(&self.caption),
        )
    }
}
