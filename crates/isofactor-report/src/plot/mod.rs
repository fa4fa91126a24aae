//! Draws a scene as SVG, in one of two formats, for a page or for a file of its own.

mod axes;
mod cells;
mod frame;
pub(crate) mod legend;
mod markers;
mod marks;
mod text;

use crate::chart::Chart;
use crate::escape::markup;
use crate::number::number;
use crate::palette;
use crate::scene::{Body, Mark, Scene};
use frame::Frame;

pub(crate) use frame::Format;
pub(crate) use marks::DENSITY_SHARE_ALONE;

/// White around a standalone drawing.
const MARGIN: f64 = 16.0;
const FONT: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

/// The drawing for a page, without a legend: the page has its own, which wraps with the window.
pub(crate) fn inline(scene: &Scene, format: Format) -> String {
    let frame = Frame::of(scene, format, 0.0);
    let class = match format {
        Format::Wide => "wide",
        Format::Narrow => "narrow",
    };
    format!(
        "<svg class=\"{class}{}\" role=\"img\" viewBox=\"0 0 {} {}\" style=\"max-width:{}px\" \
         font-size=\"{}\" data-plot=\"{}\">\n{}{}</svg>\n",
        if scene.square { " square" } else { "" },
        coordinate(frame.width),
        coordinate(frame.height),
        // Small screens between the two formats may enlarge the narrow one a little.
        coordinate(frame.width * if format == Format::Narrow { 1.25 } else { 1.0 }),
        frame.font,
        [frame.left, frame.top, frame.plot_width(), frame.plot_height()].map(coordinate).join(" "),
        words(scene),
        body(scene, &frame),
    )
}

/// The drawing as a document of its own, with a legend inside.
pub(crate) fn standalone(chart: &Chart) -> String {
    let scene = Scene::of(chart);
    let format = Format::Wide;
    let rows = legend::rows(&scene, format.width(scene.square), format.font());
    let frame = Frame::of(&scene, format, legend::height(&rows, format.font()));
    let edge = coordinate(-MARGIN);
    let [width, height] = [frame.width, frame.height].map(|v| coordinate(v + 2.0 * MARGIN));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"{edge} {edge} {width} {height}\" \
         font-family=\"{FONT}\" font-size=\"{}\">\n{}<style>{}</style>\n\
         <rect x=\"{edge}\" y=\"{edge}\" width=\"{width}\" height=\"{height}\" \
         class=\"paper\" fill=\"currentColor\"/>\n{}{}</svg>\n",
        frame.font,
        words(&scene),
        palette::standalone_style(),
        legend::svg(&scene, &rows, format.font()),
        body(&scene, &frame),
    )
}

/// The title and the description, which must come first in a drawing to count as its own.
fn words(scene: &Scene) -> String {
    let (title, description) = (markup(&title(scene)), markup(&description(scene)));
    format!("<title>{title}</title>\n<desc>{description}</desc>\n")
}

fn body(scene: &Scene, frame: &Frame) -> String {
    axes::grid(frame) + &marks::draw(scene, frame) + &axes::draw(scene, frame)
}

fn title(scene: &Scene) -> String {
    match (scene.chart.y.label.trim(), scene.chart.x.label.trim()) {
        ("", "") => "Chart".into(),
        ("", label) | (label, "") => label.into(),
        (y, x) => format!("{y} against {x}"),
    }
}

/// What a reader who cannot see the chart needs first: axes, ranges, series.
fn description(scene: &Scene) -> String {
    let mut out = String::new();
    for (name, domain) in [("Horizontal", scene.x), ("Vertical", scene.y)] {
        if let Some(d) = domain {
            out += &format!("{name} axis from {} to {}. ", number(d.low), number(d.high));
        }
    }
    if scene.marks.is_empty() {
        return out + "No data.";
    }
    out += "Series: ";
    out += &scene.marks.iter().map(describe).collect::<Vec<_>>().join("; ");
    out + "."
}

fn describe(mark: &Mark) -> String {
    let (kind, count) = match &mark.body {
        Body::Line { pieces, .. } => ("line", pieces.iter().map(Vec::len).sum()),
        Body::Points { points, .. } => ("scatter", points.len()),
        Body::Band(points) => ("band", points.len()),
        Body::Intervals(bars) => ("values with intervals", bars.len()),
        Body::Cells(cells) => ("cells of counts", cells.len()),
        Body::Density { outline, .. } => ("density", outline.len()),
        Body::Reference(_) => ("reference line", 0),
    };
    let name = if mark.name.is_empty() { "unnamed" } else { mark.name };
    match count {
        0 => format!("{name} ({kind})"),
        n => format!("{name} ({kind}, {} points)", number(n as f64)),
    }
}

/// A length in the drawing: tenths are finer than any screen shows, and short.
fn coordinate(value: f64) -> String {
    let tenths = (value * 10.0).round() as i64;
    let (sign, size) = (if tenths < 0 { "-" } else { "" }, tenths.unsigned_abs());
    match size % 10 {
        0 => format!("{sign}{}", size / 10),
        tenth => format!("{sign}{}.{tenth}", size / 10),
    }
}
