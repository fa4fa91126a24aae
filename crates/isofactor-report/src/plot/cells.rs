//! Cells of a two-dimensional histogram, the darker the fuller.

use super::coordinate as at;
use super::frame::Frame;
use crate::chart::Cell;

/// Cells in a few shades: one path a shade.
pub(super) fn draw(class: &str, cells: &[Cell], frame: &Frame) -> String {
    let most = cells.iter().map(|c| c.count).max().unwrap_or(0) as f64;
    let mut paths = vec![String::new(); SHADES];
    for cell in cells {
        let share = (cell.count as f64).ln_1p() / most.ln_1p();
        let shade = ((share * SHADES as f64).ceil() as usize).clamp(1, SHADES) - 1;
        let (left, right) = (frame.x(cell.x.0), frame.x(cell.x.1));
        let (top, bottom) = (frame.y(cell.y.1), frame.y(cell.y.0));
        let [x, y, w, h] = [left, top, right - left, bottom - top].map(at);
        paths[shade] += &format!("M{x} {y}h{w}v{h}h-{w}z");
    }
    let drawn = paths.iter().enumerate().filter(|(_, path)| !path.is_empty());
    drawn
        .map(|(shade, path)| {
            let opacity = shade_opacity(shade);
            format!(
                "<path class=\"{class}\" fill=\"currentColor\" fill-opacity=\"{opacity:.2}\" \
                 d=\"{path}\"/>\n"
            )
        })
        .collect()
}

/// How many shades there are.
const SHADES: usize = 6;

/// How dark a shade is.
pub(super) fn shade_opacity(shade: usize) -> f64 {
    0.08 + 0.72 * shade as f64 / (SHADES - 1) as f64
}
