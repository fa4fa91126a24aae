//! Where the plotting area lies: margins that fit the labels, ticks that fit the width.

use super::text;
use crate::chart::Axis;
use crate::domain::Domain;
use crate::scene::Scene;
use crate::ticks::{Tick, ticks, whole_ticks};

pub(super) const LINE_HEIGHT: f64 = 1.35;
const TICK_GAP: f64 = 8.0;

/// The two shapes a drawing comes in, so that its text is never scaled out of reading size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A desktop's column, or paper.
    Wide,
    /// A phone.
    Narrow,
}

impl Format {
    pub(super) fn width(self, square: bool) -> f64 {
        match (self, square) {
            (Self::Wide, false) => 720.0,
            (Self::Wide, true) => 520.0,
            (Self::Narrow, _) => 358.0,
        }
    }

    pub(super) fn font(self) -> f64 {
        13.0
    }

    fn plot_height(self) -> f64 {
        match self {
            Self::Wide => 330.0,
            Self::Narrow => 240.0,
        }
    }

    fn targets(self) -> (usize, usize) {
        match self {
            Self::Wide => (7, 5),
            Self::Narrow => (5, 5),
        }
    }
}

pub(super) struct Frame {
    pub(super) format: Format,
    pub(super) font: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Ticks with the place of each, in the drawing's units; a blank label where two would touch.
    pub(super) x_ticks: Vec<(f64, Tick)>,
    pub(super) y_ticks: Vec<(f64, Tick)>,
    pub(super) x_label: Vec<String>,
    pub(super) y_label: Vec<String>,
    /// Where the vertical axis' label begins, below whatever stands above it.
    pub(super) label_top: f64,
    x: Option<Domain>,
    y: Option<Domain>,
}

impl Frame {
    /// A frame around a scene, with `head` units of room above everything else.
    pub(super) fn of(scene: &Scene, format: Format, head: f64) -> Self {
        let font = format.font();
        let width = format.width(scene.square);
        let (x_target, y_target) = format.targets();
        let y_ticks = scene.y.map_or(Vec::new(), |y| ticks_of(&scene.chart.y, &y, y_target));
        let labels = y_ticks.iter().map(|t| &t.label).chain(&scene.other_y_labels);
        let widest = labels.map(|label| text::width(label, font)).fold(0.0, f64::max);
        let left =
            if y_ticks.is_empty() { 8.0 } else { (widest + TICK_GAP + 2.0).min(width / 3.0) };
        let label = |axis: &Axis, room: f64| text::wrap(&axis.label, room, font);
        let y_label = label(&scene.chart.y, width - 4.0);
        let label_room = |lines: usize| lines as f64 * font * LINE_HEIGHT;
        let mut frame = Self {
            format,
            font,
            width,
            height: 0.0,
            left,
            right: 12.0,
            top: head + label_room(y_label.len()) + 10.0,
            bottom: 0.0,
            x_ticks: Vec::new(),
            y_ticks: Vec::new(),
            x_label: label(&scene.chart.x, width - left - 12.0),
            y_label,
            label_top: head,
            x: scene.x,
            y: scene.y,
        };
        frame.place_x_ticks(&scene.chart.x, x_target);
        let plot_height = if scene.square { frame.plot_width() } else { format.plot_height() };
        frame.bottom = TICK_GAP + font * LINE_HEIGHT + 4.0 + label_room(frame.x_label.len()) + 2.0;
        frame.height = frame.top + plot_height + frame.bottom;
        frame.y_ticks = y_ticks.into_iter().map(|t| (frame.y(t.value), t)).collect();
        frame
    }

    /// As many ticks as fit side by side; if even three touch, only every second keeps its label.
    fn place_x_ticks(&mut self, axis: &Axis, target: usize) {
        let Some(domain) = self.x else { return };
        let mut placed = Vec::new();
        for target in (3..=target).rev() {
            let ticks = ticks_of(axis, &domain, target);
            let last = ticks.last().map_or(0.0, |t| text::width(&t.label, self.font));
            let share = ticks.last().map_or(0.0, |t| 1.0 - domain.unit(t.value));
            // Half of the last label may reach past the end of the axis.
            self.right = (0.5 * last + 2.0 - share * (self.width - self.left)).max(12.0);
            placed = ticks.into_iter().map(|t| (self.x(t.value), t)).collect();
            if self.all_apart(&placed) {
                break;
            }
        }
        let mut stride = 1;
        while !self.all_apart(&placed) && stride < placed.len() {
            stride += 1;
            for (i, (_, tick)) in placed.iter_mut().enumerate() {
                if i % stride != 0 {
                    tick.label.clear();
                }
            }
        }
        self.x_ticks = placed;
    }

    fn all_apart(&self, placed: &[(f64, Tick)]) -> bool {
        let shown: Vec<_> = placed.iter().filter(|(_, t)| !t.label.is_empty()).collect();
        shown.windows(2).all(|w| {
            let half = |i: usize| 0.5 * text::width(&w[i].1.label, self.font);
            w[1].0 - w[0].0 >= half(0) + half(1) + self.font
        })
    }

    pub(super) fn plot_width(&self) -> f64 {
        self.width - self.left - self.right
    }

    pub(super) fn plot_height(&self) -> f64 {
        self.height - self.top - self.bottom
    }

    pub(super) fn baseline(&self) -> f64 {
        self.top + self.plot_height()
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + self.plot_width() * place(self.x, value)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.baseline() - self.plot_height() * place(self.y, value)
    }
}

fn ticks_of(axis: &Axis, domain: &Domain, target: usize) -> Vec<Tick> {
    if axis.whole { whole_ticks(domain, target) } else { ticks(domain, target) }
}

/// A share of the axis. Far outside, where nothing is seen, it is held to a number SVG can take.
fn place(domain: Option<Domain>, value: f64) -> f64 {
    domain.map_or(0.5, |d| d.unit(value)).clamp(-20.0, 20.0)
}
