//! The shapes of scattered points: a second cue beside colour.

use super::coordinate as at;

/// Attributes that go with the path of a marker: circle, square, triangle, diamond, plus, cross.
pub(super) fn paint(marker: usize, radius: f64) -> String {
    match marker % 6 {
        0 => format!(
            "fill=\"none\" stroke=\"currentColor\" stroke-linecap=\"round\" stroke-width=\"{}\"",
            at(2.0 * radius)
        ),
        1..=3 => "fill=\"currentColor\" stroke=\"none\"".into(),
        _ => format!(
            "fill=\"none\" stroke=\"currentColor\" stroke-width=\"{}\"",
            at((0.7 * radius).max(1.2))
        ),
    }
}

/// One marker around a place; all cover about the same area.
pub(super) fn path(marker: usize, x: f64, y: f64, radius: f64) -> String {
    let r = radius;
    match marker % 6 {
        0 => format!("M{} {}h0", at(x), at(y)),
        1 => {
            let (s, side) = (0.9 * r, at(1.8 * r));
            format!("M{} {}h{side}v{side}h-{side}z", at(x - s), at(y - s))
        }
        2 => format!(
            "M{} {}l{} {}h-{}z",
            at(x),
            at(y - 1.3 * r),
            at(1.3 * r),
            at(2.2 * r),
            at(2.6 * r)
        ),
        3 => {
            let d = at(1.3 * r);
            format!("M{} {}l{d} {d}l-{d} {d}l-{d} -{d}z", at(x), at(y - 1.3 * r))
        }
        4 => {
            let (a, side) = (1.4 * r, at(2.8 * r));
            format!("M{} {}h{side}M{} {}v{side}", at(x - a), at(y), at(x), at(y - a))
        }
        _ => {
            let (a, side) = (1.1 * r, at(2.2 * r));
            format!(
                "M{} {}l{side} {side}M{} {}l{side} -{side}",
                at(x - a),
                at(y - a),
                at(x - a),
                at(y + a)
            )
        }
    }
}
