//! Grid, axis lines, tick labels and axis labels.

use super::coordinate as at;
use super::frame::{Frame, LINE_HEIGHT};
use crate::escape::markup;
use crate::scene::Scene;

/// Faint horizontal lines behind everything.
pub(super) fn grid(frame: &Frame) -> String {
    if frame.y_ticks.is_empty() {
        return String::new();
    }
    let (left, width) = (at(frame.left), at(frame.plot_width()));
    let lines: String =
        frame.y_ticks.iter().map(|(y, _)| format!("M{left} {}h{width}", at(*y))).collect();
    format!(
        "<path data-part=\"grid\" class=\"grid\" stroke=\"currentColor\" fill=\"none\" d=\"{lines}\"/>\n"
    )
}

/// The base line with its ticks, all numbers, and what they measure.
pub(super) fn draw(scene: &Scene, frame: &Frame) -> String {
    let base = frame.baseline();
    let ticks: String =
        frame.x_ticks.iter().map(|(x, _)| format!("M{} {}v5", at(*x), at(base))).collect();
    let mut out = format!(
        "<path data-part=\"rule\" class=\"rule\" stroke=\"currentColor\" fill=\"none\" \
         d=\"M{} {}h{}{ticks}\"/>\n\
         <g data-part=\"x-ticks\" class=\"muted\" fill=\"currentColor\" text-anchor=\"middle\">\n",
        at(frame.left),
        at(base),
        at(frame.plot_width()),
    );
    let below = base + 8.0 + frame.font;
    for (x, tick) in frame.x_ticks.iter().filter(|(_, t)| !t.label.is_empty()) {
        out += &text(*x, below, &tick.label);
    }
    out += "</g>\n<g data-part=\"y-ticks\" class=\"muted\" fill=\"currentColor\" \
            text-anchor=\"end\">\n";
    for (y, tick) in &frame.y_ticks {
        out += &text(frame.left - 8.0, y + 0.35 * frame.font, &tick.label);
    }
    out += "</g>\n<g data-part=\"y-label\" class=\"ink\" fill=\"currentColor\">\n";
    let line = frame.font * LINE_HEIGHT;
    for (i, label) in frame.y_label.iter().enumerate() {
        out += &text(0.0, frame.label_top + frame.font + i as f64 * line, label);
    }
    out += "</g>\n<g data-part=\"x-label\" class=\"ink\" fill=\"currentColor\" \
            text-anchor=\"middle\">\n";
    let middle = frame.left + 0.5 * frame.plot_width();
    for (i, label) in frame.x_label.iter().enumerate() {
        out += &text(middle, below + line + 4.0 + i as f64 * line, label);
    }
    if scene.x.is_none() || (scene.y.is_none() && !scene.only_densities()) {
        out += &text(middle, frame.top + 0.5 * frame.plot_height(), "no data");
    }
    out + "</g>\n"
}

fn text(x: f64, y: f64, content: &str) -> String {
    format!("<text x=\"{}\" y=\"{}\">{}</text>\n", at(x), at(y), markup(content))
}
