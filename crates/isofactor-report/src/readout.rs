//! The numbers that the page's script reads back to whoever points at a chart.

use crate::chart::Scale;
use crate::domain::Domain;
use crate::escape::json_string;
use crate::number::machine;
use crate::scene::{Body, Scene};

/// A JSON island with every named line, sorted along x; nothing when there is no line to read.
pub(crate) fn data(scene: &Scene) -> String {
    let (Some(x), Some(y)) = (scene.x, scene.y) else { return String::new() };
    let lines: Vec<String> = scene
        .marks
        .iter()
        .enumerate()
        .filter_map(|(i, mark)| {
            let Body::Line { pieces, .. } = &mark.body else { return None };
            let mut points: Vec<(f64, f64)> =
                pieces.iter().flatten().copied().filter(|p| x.contains(p.0)).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            (!points.is_empty()).then(|| {
                format!(
                    "{{\"name\":{},\"mark\":{i},\"colour\":{},\"x\":[{}],\"y\":[{}]}}",
                    json_string(mark.name),
                    json_string(&mark.colour),
                    list(points.iter().map(|p| p.0)),
                    list(points.iter().map(|p| p.1)),
                )
            })
        })
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "<script type=\"application/json\">{{\"x\":{},\"y\":{},\"lines\":[{}]}}</script>\n",
        axis(&scene.chart.x.label, x),
        axis(&scene.chart.y.label, y),
        lines.join(",")
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

fn list(values: impl Iterator<Item = f64>) -> String {
    values.map(machine).collect::<Vec<_>>().join(",")
}
