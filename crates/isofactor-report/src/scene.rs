//! A chart made ready to draw: values checked and thinned, ranges, colours and dashes settled.

use crate::chart::{Cell, Chart, Interval, Reference, Scale, Shape, Stroke};
use crate::domain::{Domain, drawable};
use crate::number::number;
use crate::palette::SERIES_COLOURS;
use crate::thin::{MOST_POINTS, MOST_VERTICES, outline, sample};

/// Air at the ends of an axis, as a share of its range.
const AIR_X: f64 = 0.02;
const AIR_Y: f64 = 0.05;

/// Dash patterns, in units of the stroke's width; empty is solid.
const DASHES: [&[f64]; 6] = [
    &[],
    &[3.5, 2.0],
    &[1.0, 1.8],
    &[5.0, 1.8, 1.0, 1.8],
    &[8.0, 2.5],
    &[5.0, 1.8, 1.0, 1.8, 1.0, 1.8],
];

pub(crate) struct Scene<'a> {
    pub(crate) chart: &'a Chart,
    pub(crate) x: Option<Domain>,
    pub(crate) y: Option<Domain>,
    /// Both axes measure the same thing: the plot is square.
    pub(crate) square: bool,
    pub(crate) marks: Vec<Mark<'a>>,
    /// What was left out, for the caption.
    pub(crate) notes: Vec<String>,
    /// Labels that the vertical axis must have room for beside its own.
    pub(crate) other_y_labels: Vec<String>,
}

pub(crate) struct Mark<'a> {
    pub(crate) name: &'a str,
    /// The class that carries the colour.
    pub(crate) colour: String,
    pub(crate) body: Body<'a>,
}

pub(crate) enum Body<'a> {
    Line { pieces: Vec<Vec<(f64, f64)>>, dash: &'static [f64], faint: &'a [(f64, f64)] },
    Points { points: Vec<(f64, f64)>, labels: Vec<&'a str>, marker: usize },
    Band(Vec<(f64, f64, f64)>),
    Intervals(Vec<Interval>),
    Cells(Vec<Cell>),
    Density { outline: Vec<(f64, f64)>, alone: bool, dash: &'static [f64] },
    Reference(Reference),
}

impl<'a> Scene<'a> {
    pub(crate) fn of(chart: &'a Chart) -> Self {
        let mut notes = Vec::new();
        let mut marks = marks(chart, &mut notes);
        let x = Domain::cover(&chart.x, marks.iter().flat_map(|m| m.body.xs()), AIR_X);
        // NaN stands for "everywhere along x": see `ys`.
        let seen = |v: f64| v.is_nan() || x.is_none_or(|d| d.contains(v));
        let heights = marks.iter().flat_map(|m| m.body.ys()).filter(|p| seen(p.0)).map(|p| p.1);
        let y = Domain::cover(&chart.y, heights, AIR_Y);
        let has_diagonal = |m: &Mark| matches!(m.body, Body::Reference(Reference::Diagonal));
        let free = chart.x.range.is_none() && chart.y.range.is_none();
        let shared = (marks.iter().any(has_diagonal) && chart.x.scale == chart.y.scale && free)
            .then(|| Some(x?.union(y?)))
            .flatten();
        let (x, y) = (shared.or(x), shared.or(y));
        if let (Some(x), Some(y)) = (x, y) {
            let outside: usize = marks.iter_mut().map(|m| m.body.drop_outside(x, y)).sum();
            if outside > 0 {
                notes.push(match outside {
                    1 => "1 point lies outside the axes.".into(),
                    n => format!("{} points lie outside the axes.", number(n as f64)),
                });
            }
        }
        Self { chart, x, y, square: shared.is_some(), marks, notes, other_y_labels: Vec::new() }
    }

    /// Only densities: they have the height to themselves, and the vertical axis has no numbers.
    pub(crate) fn only_densities(&self) -> bool {
        self.x.is_some() && self.y.is_none() && self.peak() > 0.0
    }

    /// The height of the tallest density.
    pub(crate) fn peak(&self) -> f64 {
        let heights = self.marks.iter().flat_map(|m| match &m.body {
            Body::Density { outline, .. } => outline.as_slice(),
            _ => &[],
        });
        heights.fold(0.0, |a, p| p.1.max(a))
    }
}

impl Body<'_> {
    fn xs(&self) -> Vec<f64> {
        match self {
            Self::Line { pieces, .. } => pieces.iter().flatten().map(|p| p.0).collect(),
            Self::Points { points, .. } => points.iter().map(|p| p.0).collect(),
            Self::Band(points) => points.iter().map(|p| p.0).collect(),
            Self::Intervals(bars) => bars.iter().map(|bar| bar.x).collect(),
            Self::Cells(cells) => cells.iter().flat_map(|c| [c.x.0, c.x.1]).collect(),
            Self::Density { outline, .. } => outline.iter().map(|p| p.0).collect(),
            Self::Reference(Reference::Vertical(x)) => vec![*x],
            Self::Reference(_) => Vec::new(),
        }
    }

    /// Heights with the place along x where each counts.
    fn ys(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Line { pieces, .. } => pieces.iter().flatten().copied().collect(),
            Self::Points { points, .. } => points.clone(),
            Self::Band(points) => points.iter().flat_map(|p| [(p.0, p.1), (p.0, p.2)]).collect(),
            Self::Intervals(bars) => {
                bars.iter().flat_map(|bar| [(bar.x, bar.low), (bar.x, bar.high)]).collect()
            }
            Self::Cells(cells) => {
                cells.iter().flat_map(|c| [(c.x.0, c.y.0), (c.x.1, c.y.1)]).collect()
            }
            Self::Density { .. } => Vec::new(),
            Self::Reference(Reference::Horizontal(y)) => vec![(f64::NAN, *y)],
            Self::Reference(_) => Vec::new(),
        }
    }

    /// Removes scattered points beyond the axes and says how many. Lines are cut when drawn.
    fn drop_outside(&mut self, x: Domain, y: Domain) -> usize {
        let Self::Points { points, labels, .. } = self else { return 0 };
        let inside = |p: &(f64, f64)| x.contains(p.0) && y.contains(p.1);
        let kept: Vec<bool> = points.iter().map(inside).collect();
        let mut of_labels = kept.iter();
        labels.retain(|_| of_labels.next().copied().unwrap_or(false));
        points.retain(inside);
        kept.len() - points.len()
    }
}

fn marks<'a>(chart: &'a Chart, notes: &mut Vec<String>) -> Vec<Mark<'a>> {
    let fits = |x: f64, y: f64| drawable(chart.x.scale, x) && drawable(chart.y.scale, y);
    let mut dashes = dashes(chart).into_iter();
    let (mut markers, mut drawn_densities) = (0, 0);
    let mut next_colour = 0;
    let mut fresh = || {
        next_colour += 1;
        format!("c{}", (next_colour - 1) % SERIES_COLOURS)
    };
    let densities = chart.series.iter().filter(|s| matches!(s.shape, Shape::Density(_))).count();
    let mut previous: Option<String> = None;
    let mut skipped = 0;
    let mut out = Vec::new();
    for series in &chart.series {
        let name = series.name.as_str();
        let (colour, body) = match &series.shape {
            Shape::Line { points, faint, .. } => {
                let heights: Vec<Option<f64>> =
                    points.iter().map(|&(x, y)| fits(x, y).then_some(y)).collect();
                skipped += heights.iter().filter(|h| h.is_none()).count();
                let kept = outline(&heights, MOST_VERTICES);
                note_thinned(notes, name, kept.len(), points.len(), "extremes kept");
                let pieces = kept
                    .split(|&i| heights[i].is_none())
                    .filter(|piece| !piece.is_empty())
                    .map(|piece| piece.iter().map(|&i| points[i]).collect())
                    .collect();
                let dash = dashes.next().unwrap_or_default();
                (fresh(), Body::Line { pieces, dash, faint })
            }
            Shape::Points { points, labels } => {
                let good: Vec<usize> =
                    (0..points.len()).filter(|&i| fits(points[i].0, points[i].1)).collect();
                skipped += points.len() - good.len();
                let kept = sample(good.len(), MOST_POINTS);
                note_thinned(notes, name, kept.len(), good.len(), "a fixed sample");
                let kept = || kept.iter().map(|&i| good[i]);
                let labels = kept().filter_map(|i| labels.get(i)).map(String::as_str).collect();
                let points = kept().map(|i| points[i]).collect();
                markers += 1;
                (fresh(), Body::Points { points, labels, marker: markers - 1 })
            }
            Shape::Intervals(bars) => {
                let good = |b: &&Interval| [b.low, b.middle, b.high].iter().all(|&y| fits(b.x, y));
                let kept: Vec<Interval> = bars.iter().filter(good).copied().collect();
                skipped += bars.len() - kept.len();
                (fresh(), Body::Intervals(kept))
            }
            Shape::Cells(cells) => {
                let good = |c: &&Cell| fits(c.x.0, c.y.0) && fits(c.x.1, c.y.1) && c.count > 0;
                (fresh(), Body::Cells(cells.iter().filter(good).copied().collect()))
            }
            Shape::Band(points) => {
                let good = |p: &&(f64, f64, f64)| fits(p.0, p.1) && fits(p.0, p.2);
                let kept: Vec<_> = points.iter().filter(good).copied().collect();
                skipped += points.len() - kept.len();
                (previous.clone().unwrap_or_else(&mut fresh), Body::Band(kept))
            }
            Shape::Density(points) => {
                let good =
                    |p: &&(f64, f64)| drawable(chart.x.scale, p.0) && drawable(Scale::Linear, p.1);
                let outline: Vec<_> =
                    points.iter().filter(good).map(|p| (p.0, p.1.max(0.0))).collect();
                skipped += points.len() - outline.len();
                let alone = densities == 1;
                let colour = if alone { "shade".into() } else { fresh() };
                drawn_densities += 1;
                let dash = DASHES[(drawn_densities - 1) % DASHES.len()];
                (colour, Body::Density { outline, alone, dash })
            }
            Shape::Reference(reference) => ("ink".into(), Body::Reference(*reference)),
        };
        if matches!(body, Body::Line { .. } | Body::Points { .. }) {
            previous = Some(colour.clone());
        }
        out.push(Mark { name, colour, body });
    }
    note_skipped(chart, notes, skipped);
    out
}

/// Each line's pattern: what was asked for first, then whatever is still unused.
fn dashes(chart: &Chart) -> Vec<&'static [f64]> {
    let strokes: Vec<Stroke> = chart
        .series
        .iter()
        .filter_map(|s| match s.shape {
            Shape::Line { stroke, .. } => Some(stroke),
            _ => None,
        })
        .collect();
    let mut used = [0usize; DASHES.len()];
    let mut chosen = vec![0; strokes.len()];
    for wanted in [Stroke::Solid, Stroke::Dashed, Stroke::Auto] {
        for (i, _) in strokes.iter().enumerate().filter(|(_, s)| **s == wanted) {
            let candidates = match wanted {
                Stroke::Solid => 0..1,
                Stroke::Dashed => 1..DASHES.len(),
                Stroke::Auto => 0..DASHES.len(),
            };
            // Colours come round at the same pace: start one pattern later each time, so that
            // no two lines share both.
            let round = used.iter().min().copied().unwrap_or(0);
            let turn = |k: usize| (k + round * (DASHES.len() - 1)) % DASHES.len();
            chosen[i] = candidates.min_by_key(|&k| (used[k], turn(k))).unwrap_or(0);
            used[chosen[i]] += 1;
        }
    }
    chosen.into_iter().map(|k| DASHES[k]).collect()
}

fn note_thinned(notes: &mut Vec<String>, name: &str, drawn: usize, all: usize, how: &str) {
    if drawn < all {
        let of = if name.is_empty() { String::new() } else { format!(" of “{name}”") };
        let (drawn, all) = (number(drawn as f64), number(all as f64));
        notes.push(format!("Drawn: {drawn} of {all} points{of} ({how})."));
    }
}

fn note_skipped(chart: &Chart, notes: &mut Vec<String>, skipped: usize) {
    let any_log = chart.x.scale == Scale::Log || chart.y.scale == Scale::Log;
    let why = if any_log { "not finite, or not positive on a log axis" } else { "not finite" };
    match skipped {
        0 => {}
        1 => notes.push(format!("Left out: 1 point ({why}).")),
        n => notes.push(format!("Left out: {} points ({why}).", number(n as f64))),
    }
}
