//! A chart as a table, for whoever cannot see it or wants the figures.

use crate::number::number;
use crate::scene::{Body, Mark, Scene};
use crate::table::{Column, Table};

/// Lines of a table made from a chart; the readout has the rest.
const MOST_LINES: usize = 24;

/// What the curves, bars and densities of a chart come to at some places along x. None for charts
/// of points or cells alone, which no short table can hold.
pub(crate) fn table(scene: &Scene) -> Option<Table> {
    let x = scene.x?;
    let readable: Vec<&Mark> = scene.marks.iter().filter(|m| is_curve(&m.body)).collect();
    let densities: Vec<&Mark> =
        scene.marks.iter().filter(|m| matches!(m.body, Body::Density { .. })).collect();
    let marks = if readable.is_empty() { densities } else { readable };
    let mut places: Vec<f64> =
        marks.iter().flat_map(|m| along(&m.body)).filter(|&v| x.contains(v)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    if places.is_empty() {
        return None;
    }
    let heading = |label: &str, other: &str| match label.trim() {
        "" => other.to_owned(),
        text => text.to_owned(),
    };
    let y_label = heading(&scene.chart.y.label, "Value");
    let mut columns = vec![Column::number(heading(&scene.chart.x.label, "x"))];
    columns.extend(marks.iter().map(|m| Column::number(heading(m.name, &y_label))));
    let mut table = Table::new("", columns);
    for i in spread(places.len()) {
        let place = places[i];
        let cells = marks.iter().map(|m| value(&m.body, place));
        table = table.row([number(place)].into_iter().chain(cells));
    }
    Some(table)
}

fn is_curve(body: &Body) -> bool {
    matches!(body, Body::Line { .. } | Body::Band(_) | Body::Intervals(_))
}

/// Evenly spread positions, the first and the last among them.
fn spread(count: usize) -> Vec<usize> {
    let kept = count.min(MOST_LINES);
    (0..kept).map(|i| if kept < 2 { 0 } else { i * (count - 1) / (kept - 1) }).collect()
}

fn along(body: &Body) -> Vec<f64> {
    match body {
        Body::Line { pieces, .. } => pieces.iter().flatten().map(|p| p.0).collect(),
        Body::Band(points) => points.iter().map(|p| p.0).collect(),
        Body::Intervals(bars) => bars.iter().map(|b| b.x).collect(),
        Body::Density { outline, .. } => outline.iter().map(|p| p.0).collect(),
        _ => Vec::new(),
    }
}

/// What a curve is at its place nearest to `x`; a dash beyond its ends.
fn value(body: &Body, x: f64) -> String {
    let xs = along(body);
    let (low, high) =
        xs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
    let nearest = (0..xs.len()).min_by(|&a, &b| (xs[a] - x).abs().total_cmp(&(xs[b] - x).abs()));
    let Some(k) = nearest.filter(|_| low <= x && x <= high) else { return "–".into() };
    match body {
        Body::Line { pieces, .. } => {
            pieces.iter().flatten().nth(k).map_or(String::new(), |p| number(p.1))
        }
        Body::Band(points) => format!("{} to {}", number(points[k].1), number(points[k].2)),
        Body::Intervals(bars) => {
            let bar = &bars[k];
            format!("{} ({} to {})", number(bar.middle), number(bar.low), number(bar.high))
        }
        Body::Density { outline, .. } => number(outline[k].1),
        _ => String::new(),
    }
}
