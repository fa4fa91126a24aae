//! The data: areas behind, then reference lines, points, and lines on top.

use super::coordinate as at;
use super::frame::{Format, Frame};
use super::{cells, markers};
use crate::chart::{Interval, Reference};
use crate::scene::{Body, Mark, Scene};

pub(super) const LINE_WIDTH: f64 = 2.25;
/// How far a dot on the edge may reach past the axes.
const DOT_BLEED: f64 = 5.0;
/// How far a line that leaves the axes is seen: half of its own width.
const LINE_BLEED: f64 = 1.2;
/// The height of the tallest density behind other series, as a share of the plot.
const DENSITY_SHARE: f64 = 0.3;
/// The same where there is nothing else.
pub(crate) const DENSITY_SHARE_ALONE: f64 = 0.95;
/// A line with no more vertices than this shows each of them.
const MOST_DOTS: usize = 25;
/// Overlap only darkens across paths, so a scatter is dealt out over this many.
const SCATTER_PATHS: usize = 64;

/// The dots of a line that is a guess.
const FAINT: &[f64] = &[1.0, 1.6];

/// All marks, back to front, each cut at the axes.
pub(super) fn draw(scene: &Scene, frame: &Frame) -> String {
    if scene.x.is_none() || (scene.y.is_none() && !scene.only_densities()) {
        return String::new();
    }
    let mut out = String::new();
    for layer in 0..7 {
        for mark in scene.marks.iter().filter(|m| depth(&m.body) == layer) {
            let drawn = draw_mark(mark, scene, frame);
            if !drawn.is_empty() {
                out += &cut(&drawn, bleed(&mark.body, scene), frame);
            }
        }
    }
    out
}

/// A nested drawing in the same coordinates cuts what lies outside it, and needs no name.
fn cut(drawn: &str, bleed: f64, frame: &Frame) -> String {
    let [x, y, w, h] = [
        frame.left - bleed,
        frame.top - bleed,
        frame.plot_width() + 2.0 * bleed,
        frame.plot_height() + 2.0 * bleed,
    ]
    .map(at);
    format!(
        "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">\n\
         {drawn}</svg>\n"
    )
}

fn bleed(body: &Body, scene: &Scene) -> f64 {
    let fixed = scene.chart.x.range.is_some() || scene.chart.y.range.is_some();
    if fixed && !matches!(body, Body::Points { .. }) { LINE_BLEED } else { DOT_BLEED }
}

fn depth(body: &Body) -> usize {
    match body {
        Body::Density { .. } => 0,
        Body::Band(_) => 1,
        Body::Cells(_) => 2,
        Body::Points { .. } => 3,
        Body::Reference(_) => 4,
        Body::Line { .. } => 5,
        Body::Intervals(_) => 6,
    }
}

fn draw_mark(mark: &Mark, scene: &Scene, frame: &Frame) -> String {
    let class = &mark.colour;
    match &mark.body {
        Body::Line { pieces, dash, faint: [] } => line(class, pieces, dash, frame),
        Body::Line { pieces, faint, .. } => trusted(class, pieces, faint, frame),
        Body::Intervals(bars) => intervals(class, bars, frame),
        Body::Cells(all) => cells::draw(class, all, frame),
        Body::Points { points, marker, .. } => scatter(class, points, *marker, frame),
        Body::Band(points) => {
            let upper = points.iter().map(|p| (frame.x(p.0), frame.y(p.2)));
            let lower = points.iter().rev().map(|p| (frame.x(p.0), frame.y(p.1)));
            area(class, "0.2", upper.chain(lower))
        }
        Body::Density { outline, alone, dash } => {
            let edge = if *alone { "muted" } else { class };
            density([class, edge], outline, dash, scene, frame)
        }
        Body::Reference(reference) => reference_line(class, *reference, frame, scene),
    }
}

fn line(class: &str, pieces: &[Vec<(f64, f64)>], dash: &[f64], frame: &Frame) -> String {
    let path: String = pieces
        .iter()
        .map(|piece| polyline(piece.iter().map(|p| (frame.x(p.0), frame.y(p.1)))))
        .collect();
    if path.is_empty() {
        return String::new();
    }
    let mut out = format!("<path class=\"{class}\" {} d=\"{path}\"/>\n", stroke(dash, LINE_WIDTH));
    if pieces.iter().map(Vec::len).sum::<usize>() <= MOST_DOTS {
        let dots: String = pieces
            .iter()
            .flatten()
            .map(|p| format!("M{} {}h0", at(frame.x(p.0)), at(frame.y(p.1))))
            .collect();
        out += &format!(
            "<path class=\"{class}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"6.5\" \
             stroke-linecap=\"round\" d=\"{dots}\"/>\n"
        );
    }
    out
}

/// A line that is solid where it can be trusted and faint dots over other stretches.
fn trusted(class: &str, pieces: &[Vec<(f64, f64)>], faint: &[(f64, f64)], frame: &Frame) -> String {
    let doubted = |x: f64| faint.iter().any(|&(low, high)| low <= x && x <= high);
    let mut paths = [String::new(), String::new()];
    for piece in pieces {
        let segments: Vec<(bool, &[(f64, f64)])> =
            piece.windows(2).map(|pair| (doubted(0.5 * (pair[0].0 + pair[1].0)), pair)).collect();
        for run in segments.chunk_by(|a, b| a.0 == b.0) {
            let ends = run[0].1.first().into_iter().chain(run.iter().filter_map(|s| s.1.last()));
            paths[usize::from(run[0].0)] += &polyline(ends.map(|p| (frame.x(p.0), frame.y(p.1))));
        }
    }
    let [solid, dotted] = paths;
    let mut out = String::new();
    if !dotted.is_empty() {
        out += &format!(
            "<path class=\"{class}\" {} stroke-opacity=\"0.75\" d=\"{dotted}\"/>\n",
            stroke(FAINT, LINE_WIDTH)
        );
    }
    if !solid.is_empty() {
        out += &format!("<path class=\"{class}\" {} d=\"{solid}\"/>\n", stroke(&[], LINE_WIDTH));
    }
    out
}

/// Bars with a dot each; a rim in the colour of the paper lifts them off what lies under them.
fn intervals(class: &str, bars: &[Interval], frame: &Frame) -> String {
    if bars.is_empty() {
        return String::new();
    }
    let stems: String = bars
        .iter()
        .map(|b| {
            let (x, low, high) = (at(frame.x(b.x)), at(frame.y(b.low)), at(frame.y(b.high)));
            format!("M{x} {low}L{x} {high}")
        })
        .collect();
    let dots: String =
        bars.iter().map(|b| format!("M{} {}h0", at(frame.x(b.x)), at(frame.y(b.middle)))).collect();
    let path = |class: &str, width: f64, d: &str| {
        format!(
            "<path class=\"{class}\" fill=\"none\" stroke=\"currentColor\" \
             stroke-width=\"{width}\" stroke-linecap=\"round\" d=\"{d}\"/>\n"
        )
    };
    path("paper", 4.0, &stems)
        + &path("paper", 9.0, &dots)
        + &path(class, 1.75, &stems)
        + &path(class, 6.0, &dots)
}

/// Attributes of a stroke; dashes grow with its width.
pub(super) fn stroke(dash: &[f64], width: f64) -> String {
    let dashes = match dash {
        [] => String::new(),
        _ => {
            let lengths: Vec<String> = dash.iter().map(|d| at(d * width)).collect();
            format!(" stroke-dasharray=\"{}\"", lengths.join(" "))
        }
    };
    let cap = if dash.is_empty() { "round" } else { "butt" };
    format!(
        "fill=\"none\" stroke=\"currentColor\" stroke-width=\"{width}\" stroke-linejoin=\"round\" \
         stroke-linecap=\"{cap}\"{dashes}"
    )
}

/// Thin, finely dashed and without colour: not data.
pub(super) fn reference_stroke() -> String {
    stroke(&[4.0, 3.0], 1.25)
}

fn polyline(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut out = String::new();
    for (i, (x, y)) in points.enumerate() {
        out += if i == 0 { "M" } else { "L" };
        out += &format!("{} {}", at(x), at(y));
    }
    // A lone point would leave no trace; a step of no length leaves a dot.
    if !out.is_empty() && !out.contains('L') {
        out += "h0";
    }
    out
}

fn area(class: &str, opacity: &str, points: impl Iterator<Item = (f64, f64)>) -> String {
    let path = polyline(points);
    if path.is_empty() {
        return String::new();
    }
    format!(
        "<path class=\"{class}\" fill=\"currentColor\" fill-opacity=\"{opacity}\" d=\"{path}z\"/>\n"
    )
}

fn density(
    [class, edge]: [&str; 2],
    outline: &[(f64, f64)],
    dash: &[f64],
    scene: &Scene,
    frame: &Frame,
) -> String {
    let (Some(first), Some(last), true) = (outline.first(), outline.last(), scene.peak() > 0.0)
    else {
        return String::new();
    };
    let share = if scene.only_densities() { DENSITY_SHARE_ALONE } else { DENSITY_SHARE };
    let unit = share * frame.plot_height() / scene.peak();
    let base = frame.baseline();
    let ends = [(frame.x(first.0), base), (frame.x(last.0), base)];
    let top = outline.iter().map(|p| (frame.x(p.0), base - unit * p.1));
    let closed = || [ends[0]].into_iter().chain(top.clone()).chain([ends[1]]);
    format!(
        "{}<path class=\"{edge}\" {} stroke-opacity=\"0.7\" d=\"{}\"/>\n",
        area(class, fill_opacity(class, edge), closed()),
        stroke(dash, if class == edge { 1.5 } else { 1.0 }),
        polyline(closed()),
    )
}

/// A neutral shade is drawn full; colours stay faint, since densities may overlap.
pub(super) fn fill_opacity(class: &str, edge: &str) -> &'static str {
    if class == edge { "0.18" } else { "1" }
}

fn reference_line(class: &str, reference: Reference, frame: &Frame, scene: &Scene) -> String {
    let (Some(x), Some(y)) = (scene.x, scene.y) else { return String::new() };
    let points: Vec<(f64, f64)> = match reference {
        Reference::Horizontal(v) if y.contains(v) => vec![(x.low, v), (x.high, v)],
        Reference::Vertical(v) if x.contains(v) => vec![(v, y.low), (v, y.high)],
        Reference::Diagonal if x.low.max(y.low) < x.high.min(y.high) => {
            // Straight between two points, unless one scale is linear and the other is not.
            let (low, high) = (x.low.max(y.low), x.high.min(y.high));
            let steps = if x.scale == y.scale { 1 } else { 96 };
            (0..=steps)
                .map(|i| f64::from(i) / f64::from(steps))
                .map(|t| low * (1.0 - t) + high * t)
                .map(|v| (v, v))
                .collect()
        }
        _ => return String::new(),
    };
    let path = polyline(points.into_iter().map(|(a, b)| (frame.x(a), frame.y(b))));
    format!("<path class=\"{class}\" {} d=\"{path}\"/>\n", reference_stroke())
}

fn scatter(class: &str, points: &[(f64, f64)], marker: usize, frame: &Frame) -> String {
    let crowd = (points.len().max(1) as f64).log10();
    let scale = if frame.format == Format::Narrow { 0.8 } else { 1.0 };
    let radius = (5.0 - 0.9 * crowd).clamp(1.6, 4.5) * scale;
    let opacity = (1.15 - 0.22 * crowd).clamp(0.3, 0.9);
    let paths = points.len().min(SCATTER_PATHS);
    let mut out = format!(
        "<g data-part=\"points\" class=\"{class}\" opacity=\"1\" {} stroke-opacity=\"{opacity:.2}\" \
         fill-opacity=\"{opacity:.2}\">\n",
        markers::paint(marker, radius)
    );
    for start in 0..paths {
        let path: String = points
            .iter()
            .skip(start)
            .step_by(paths)
            .map(|p| markers::path(marker, frame.x(p.0), frame.y(p.1), radius))
            .collect();
        out += &format!("<path d=\"{path}\"/>\n");
    }
    out + "</g>\n"
}
