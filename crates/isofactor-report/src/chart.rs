//! What a chart shows: two axes and any number of series. How it looks is decided elsewhere.

use crate::histogram;
use crate::plot;

/// Two axes and the series drawn between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
}

/// One axis: what it measures and on which scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The ends of the axis; `None` follows the data. A range that the scale cannot show (not
    /// finite, empty, not positive on a log scale) is ignored.
    pub range: Option<(f64, f64)>,
    /// Whether only whole numbers make sense on it, as for counts.
    pub whole: bool,
}

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    Linear,
    /// Equal ratios are equally long; values that are not positive have no place and are skipped.
    Log,
}

/// A named thing in a chart. A series with an empty name has no entry in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend and in the readout.
    pub name: String,
    /// What is drawn under that name.
    pub shape: Shape,
}

/// The ways to draw a series. Values that are not finite are skipped, and the caption says so.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Points joined in the order given; a value that cannot be drawn leaves a gap. Beyond 2,000
    /// points only the extremes of each short stretch are kept, and the caption says so.
    Line {
        /// The points, as (x, y).
        points: Vec<(f64, f64)>,
        /// Solid or dashed.
        stroke: Stroke,
        /// Stretches along x over which the line is drawn faint and dotted: there it is a guess.
        faint: Vec<(f64, f64)>,
    },
    /// A scatter. Beyond 5,000 points a fixed sample is drawn, and the caption says so.
    Points {
        /// The points, as (x, y).
        points: Vec<(f64, f64)>,
        /// What the readout calls each point; empty when they have no names.
        labels: Vec<String>,
    },
    /// Dots with bars through them.
    Intervals(Vec<Interval>),
    /// Counts of a crowd too large to scatter: the darker a cell, the more is in it, on a
    /// logarithmic scale.
    Cells(Vec<Cell>),
    /// The area between two curves, as (x, low, high), in the colour of the series before it.
    Band(Vec<(f64, f64, f64)>),
    /// An area of (x, height) standing on the horizontal axis, behind everything else, with a
    /// height scale of its own that is not shown.
    Density(Vec<(f64, f64)>),
    /// A line to compare with.
    Reference(Reference),
}

/// A value with the bar that says how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The place along x.
    pub x: f64,
    /// The lower end of the bar.
    pub low: f64,
    /// The value.
    pub middle: f64,
    /// The upper end of the bar.
    pub high: f64,
}

/// A rectangle of a two-dimensional histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// From where to where along x.
    pub x: (f64, f64),
    /// From where to where along y.
    pub y: (f64, f64),
    /// How many lie in it.
    pub count: usize,
}

/// The dash pattern of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// The first pattern that no other line of the chart uses.
    Auto,
    /// Solid.
    Solid,
    /// The first dashed pattern that no other line of the chart uses.
    Dashed,
}

/// A line that is not data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reference {
    /// `y = x`. Axes of the same scale without a range of their own then share one range, and the
    /// plot is square.
    Diagonal,
    /// `y = ` a constant.
    Horizontal(f64),
    /// `x = ` a constant.
    Vertical(f64),
}

impl Chart {
    /// A chart without series.
    #[must_use]
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, series: Vec::new() }
    }

    /// The chart with one more series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// A standalone SVG document with its own style (light, on white) and its legend inside.
    #[must_use]
    pub fn to_svg(&self) -> String {
        plot::standalone(self)
    }
}

impl Axis {
    /// A linear axis that follows the data.
    #[must_use]
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None, whole: false }
    }

    /// A logarithmic axis that follows the data.
    #[must_use]
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, range: None, whole: false }
    }

    /// The axis with ticks at whole numbers only, where its range has room for three.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// The axis with fixed ends. Points beyond them are left out, and the caption says so.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }
}

impl Series {
    /// A line through (x, y) points, in the order given.
    #[must_use]
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            shape: Shape::Line { points, stroke: Stroke::Auto, faint: Vec::new() },
        }
    }

    /// A scatter of (x, y) points.
    #[must_use]
    pub fn points(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), shape: Shape::Points { points, labels: Vec::new() } }
    }

    /// A scatter whose points have names, which the readout gives.
    #[must_use]
    pub fn labelled(name: impl Into<String>, items: Vec<(String, (f64, f64))>) -> Self {
        let (labels, points) = items.into_iter().unzip();
        Self { name: name.into(), shape: Shape::Points { points, labels } }
    }

    /// Dots with bars through them.
    #[must_use]
    pub fn intervals(name: impl Into<String>, intervals: Vec<Interval>) -> Self {
        Self { name: name.into(), shape: Shape::Intervals(intervals) }
    }

    /// The cells of a two-dimensional histogram.
    #[must_use]
    pub fn cells(name: impl Into<String>, cells: Vec<Cell>) -> Self {
        Self { name: name.into(), shape: Shape::Cells(cells) }
    }

    /// The area between two curves, as (x, low, high).
    #[must_use]
    pub fn band(name: impl Into<String>, points: Vec<(f64, f64, f64)>) -> Self {
        Self { name: name.into(), shape: Shape::Band(points) }
    }

    /// An area of (x, height) behind the curves, left to right.
    #[must_use]
    pub fn density(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), shape: Shape::Density(points) }
    }

    /// The histogram of the values, in equal bins, as a density behind the curves.
    #[must_use]
    pub fn histogram(name: impl Into<String>, values: &[f64], bins: usize) -> Self {
        Self::density(name, histogram::outline(values, bins))
    }

    /// A line to compare with.
    #[must_use]
    pub fn reference(name: impl Into<String>, reference: Reference) -> Self {
        Self { name: name.into(), shape: Shape::Reference(reference) }
    }

    /// A line drawn dashed; any other series as it is.
    #[must_use]
    pub fn dashed(self) -> Self {
        self.stroke(Stroke::Dashed)
    }

    /// A line drawn solid; any other series as it is.
    #[must_use]
    pub fn solid(self) -> Self {
        self.stroke(Stroke::Solid)
    }

    /// A line drawn faint over some stretches along x; any other series as it is.
    #[must_use]
    pub fn faint_over(mut self, stretches: Vec<(f64, f64)>) -> Self {
        if let Shape::Line { faint, .. } = &mut self.shape {
            *faint = stretches;
        }
        self
    }

    fn stroke(mut self, wanted: Stroke) -> Self {
        if let Shape::Line { stroke, .. } = &mut self.shape {
            *stroke = wanted;
        }
        self
    }
}
