//! The numbers that the page's script reads back to whoever points at a chart.

use crate::chart::{Interval, Scale};
use crate::domain::Domain;
use crate::escape::json_string;
use crate::number::{machine, number};
use crate::scene::{Body, Mark, Scene};

/// Points without names that can still be read one by one; more would only weigh the page down.
const MOST_UNNAMED: usize = 1_000;

/// A JSON island with what can be read: lines and bars along x, points and cells where they lie.
/// Nothing when there is nothing to read.
pub(crate) fn data(scene: &Scene) -> String {
    let (Some(x), Some(y)) = (scene.x, scene.y) else { return String::new() };
    let marks = || scene.marks.iter().enumerate();
    let lines: Vec<String> = marks().filter_map(|(i, mark)| line(i, mark, x)).collect();
    let spots: Vec<String> = marks().filter_map(|(i, mark)| spots(i, mark)).collect();
    if lines.is_empty() && spots.is_empty() {
        return String::new();
    }
    format!(
        "<script type=\"application/json\">{{\"x\":{},\"y\":{},\"lines\":[{}],\"spots\":[{}]}}\
         </script>\n",
        axis(&scene.chart.x.label, x),
        axis(&scene.chart.y.label, y),
        lines.join(","),
        spots.join(",")
    )
}

/// A line or a row of bars, sorted along x.
fn line(i: usize, mark: &Mark, x: Domain) -> Option<String> {
    let mut bars: Vec<Interval> = match &mark.body {
        Body::Line { pieces, .. } => {
            let points = pieces.iter().flatten();
            points.map(|&(x, y)| Interval { x, low: y, middle: y, high: y }).collect()
        }
        Body::Intervals(bars) => bars.clone(),
        _ => return None,
    };
    bars.retain(|bar| x.contains(bar.x));
    bars.sort_by(|a, b| a.x.total_cmp(&b.x));
    let pick = |name: &str, of: fn(&Interval) -> f64| {
        format!("\"{name}\":[{}]", list(bars.iter().map(of)))
    };
    let mut parts = vec![names(i, mark), pick("x", |b| b.x), pick("y", |b| b.middle)];
    if matches!(mark.body, Body::Intervals(_)) {
        parts.extend([pick("low", |b| b.low), pick("high", |b| b.high)]);
    }
    (!bars.is_empty()).then(|| format!("{{{}}}", parts.join(",")))
}

/// Points and cells, each with its place and what it is called.
fn spots(i: usize, mark: &Mark) -> Option<String> {
    let (places, texts): (Vec<(f64, f64)>, Vec<String>) = match &mark.body {
        Body::Points { points, labels, .. }
            if !labels.is_empty() || points.len() <= MOST_UNNAMED =>
        {
            (points.clone(), labels.iter().map(|label| json_string(label)).collect())
        }
        Body::Cells(cells) => cells
            .iter()
            .map(|c| {
                let middle = (0.5 * (c.x.0 + c.x.1), 0.5 * (c.y.0 + c.y.1));
                (middle, json_string(&format!("count {}", number(c.count as f64))))
            })
            .unzip(),
        _ => return None,
    };
    (!places.is_empty()).then(|| {
        format!(
            "{{{},\"x\":[{}],\"y\":[{}],\"text\":[{}]}}",
            names(i, mark),
            list(places.iter().map(|p| p.0)),
            list(places.iter().map(|p| p.1)),
            texts.join(",")
        )
    })
}

fn names(i: usize, mark: &Mark) -> String {
    format!(
        "\"name\":{},\"mark\":{i},\"colour\":{}",
        json_string(mark.name),
        json_string(&mark.colour)
    )
}

fn axis(label: &str, domain: Domain) -> String {
    format!(
        "{{\"label\":{},\"low\":{},\"high\":{},\"log\":{}}}",
        json_string(label),
        machine(domain.low),
        machine(domain.high),
        domain.scale == Scale::Log
    )
}

/// Numbers with commas between them.
pub(crate) fn list(values: impl Iterator<Item = f64>) -> String {
    values.map(machine).collect::<Vec<_>>().join(",")
}
