//! The numbers that the page's script reads back to whoever points at a chart.

use crate::chart::{Interval, Scale};
use crate::domain::Domain;
use crate::escape::json_string;
use crate::number::{machine, number};
use crate::plot::DENSITY_SHARE_ALONE;
use crate::scene::{Body, Mark, Scene};

/// Points without names that can still be read one by one; more would only weigh the page down.
const MOST_UNNAMED: usize = 1_000;

/// A JSON island with what can be read: lines and bars along x, points and cells where they lie.
/// Nothing when there is nothing to read.
pub(crate) fn data(scene: &Scene) -> String {
    let of_densities = || scene.only_densities().then(|| density_heights(scene));
    let (Some(x), Some(y)) = (scene.x, scene.y.or_else(of_densities)) else {
        return String::new();
    };
    let alone = scene.y.is_none();
    let marks = || scene.marks.iter().enumerate();
    let lines: Vec<String> = marks().filter_map(|(i, mark)| line(i, mark, x, alone)).collect();
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

/// The vertical axis of densities that have the height to themselves.
fn density_heights(scene: &Scene) -> Domain {
    Domain { low: 0.0, high: scene.peak() / DENSITY_SHARE_ALONE, scale: Scale::Linear }
}

/// A line, a density without other series, or a row of bars, sorted along x.
fn line(i: usize, mark: &Mark, x: Domain, alone: bool) -> Option<String> {
    let mut bars: Vec<Interval> = match &mark.body {
        Body::Line { pieces, .. } => {
            let points = pieces.iter().flatten();
            points.map(|&(x, y)| Interval { x, low: y, middle: y, high: y }).collect()
        }
        Body::Intervals(bars) => bars.clone(),
        Body::Density { outline, .. } if alone => {
            let points = middles(outline).into_iter();
            points.map(|(x, y)| Interval { x, low: y, middle: y, high: y }).collect()
        }
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

/// The middle of each bar of a histogram; the points of any other outline.
fn middles(outline: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let stairs =
        outline.len().is_multiple_of(2) && outline.chunks(2).all(|bar| bar[0].1 == bar[1].1);
    if !stairs {
        return outline.to_vec();
    }
    outline.chunks(2).map(|bar| (0.5 * (bar[0].0 + bar[1].0), bar[0].1)).collect()
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
