//! The key to a chart: a sample of each mark beside its name, outside the plotting area.

use super::coordinate as at;
use super::frame::LINE_HEIGHT;
use super::{cells, markers, marks, text};
use crate::escape::markup;
use crate::scene::{Body, Mark, Scene};

const SAMPLE_WIDTH: f64 = 28.0;
const SAMPLE_HEIGHT: f64 = 12.0;
const GAP: f64 = 8.0;

/// A list for the page; the browser wraps it.
pub(crate) fn html(scene: &Scene) -> String {
    let items: String = named(scene)
        .map(|(i, mark)| {
            format!(
                "<li data-mark=\"{i}\"><svg aria-hidden=\"true\" width=\"{w}\" height=\"{h}\" \
                 viewBox=\"0 0 {w} {h}\">{}</svg>{}</li>\n",
                sample(mark),
                markup(mark.name),
                w = at(SAMPLE_WIDTH),
                h = at(SAMPLE_HEIGHT),
            )
        })
        .collect();
    if items.is_empty() { items } else { format!("<ul class=\"legend\">\n{items}</ul>\n") }
}

/// One row of the legend inside a drawing: where each entry starts, which mark, what text.
pub(super) type Row = Vec<(f64, usize, String)>;

/// Deals the entries out over rows no wider than the drawing.
pub(super) fn rows(scene: &Scene, width: f64, font: f64) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut x = 0.0;
    for (i, mark) in named(scene) {
        let room = width - SAMPLE_WIDTH - GAP;
        let name = text::wrap(mark.name, room, font).into_iter().next().unwrap_or_default();
        let needed = SAMPLE_WIDTH + GAP + text::width(&name, font);
        match rows.last_mut() {
            Some(row) if x + needed <= width => row.push((x, i, name)),
            _ => {
                x = 0.0;
                rows.push(vec![(x, i, name)]);
            }
        }
        x += needed + 2.5 * GAP;
    }
    rows
}

pub(super) fn height(rows: &[Row], font: f64) -> f64 {
    if rows.is_empty() { 0.0 } else { rows.len() as f64 * font * LINE_HEIGHT + font }
}

pub(super) fn svg(scene: &Scene, rows: &[Row], font: f64) -> String {
    let mut out = String::new();
    for (line, row) in rows.iter().enumerate() {
        let middle = (line as f64 + 0.5) * font * LINE_HEIGHT;
        for (x, i, name) in row {
            out += &format!(
                "<g transform=\"translate({} {})\">{}</g>\
                 <text class=\"ink\" fill=\"currentColor\" x=\"{}\" y=\"{}\">{}</text>\n",
                at(*x),
                at(middle - 0.5 * SAMPLE_HEIGHT),
                sample(&scene.marks[*i]),
                at(x + SAMPLE_WIDTH + GAP),
                at(middle + 0.35 * font),
                markup(name),
            );
        }
    }
    out
}

fn named<'s>(scene: &'s Scene) -> impl Iterator<Item = (usize, &'s Mark<'s>)> {
    scene.marks.iter().enumerate().filter(|(_, m)| !m.name.trim().is_empty())
}

fn sample(mark: &Mark) -> String {
    let class = &mark.colour;
    let (w, h) = (SAMPLE_WIDTH, SAMPLE_HEIGHT);
    let across = format!("M1 {}h{}", at(0.5 * h), at(w - 2.0));
    match &mark.body {
        Body::Line { dash, .. } => {
            let paint = marks::stroke(dash, marks::LINE_WIDTH);
            format!("<path class=\"{class}\" {paint} d=\"{across}\"/>")
        }
        Body::Reference(_) => {
            let paint = marks::reference_stroke();
            format!("<path class=\"{class}\" {paint} d=\"{across}\"/>")
        }
        Body::Points { marker, .. } => {
            let paint = markers::paint(*marker, 4.0);
            let path = markers::path(*marker, 0.5 * w, 0.5 * h, 4.0);
            format!("<path class=\"{class}\" {paint} d=\"{path}\"/>")
        }
        Body::Band(_) => block(class, class, &[]),
        Body::Intervals(_) => format!(
            "<path class=\"{class}\" {} d=\"M14 1v10\"/><path class=\"{class}\" {} d=\"M14 6h0\"/>",
            marks::stroke(&[], 1.75),
            marks::stroke(&[], 6.0),
        ),
        Body::Cells(_) => (0..3)
            .map(|i| {
                let opacity = cells::shade_opacity(2 * i + 1);
                format!(
                    "<path class=\"{class}\" fill=\"currentColor\" fill-opacity=\"{opacity:.2}\" \
                     d=\"M{} 1h8v10h-8z\"/>",
                    2 + 8 * i
                )
            })
            .collect(),
        Body::Density { alone: true, dash, .. } => block(class, "muted", dash),
        Body::Density { alone: false, dash, .. } => block(class, class, dash),
    }
}

fn block(class: &str, edge: &str, dash: &[f64]) -> String {
    format!(
        "<path class=\"{class}\" fill=\"currentColor\" fill-opacity=\"{}\" \
         d=\"M3 1h22v10h-22z\"/><path class=\"{edge}\" {} stroke-opacity=\"0.7\" \
         d=\"M3 1h22v10h-22z\"/>",
        marks::fill_opacity(class, edge),
        marks::stroke(dash, if class == edge { 1.5 } else { 1.0 }),
    )
}
