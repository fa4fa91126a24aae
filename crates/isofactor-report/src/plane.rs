//! Items with many numbers each, shown two at a time: the reader chooses which.

use crate::chart::{Axis, Chart, Scale, Series};
use crate::domain::{Domain, drawable};
use crate::escape::json_string;
use crate::figure;
use crate::number::machine;
use crate::scene::Scene;
use crate::ticks::{Tick, ticks};

/// Air around the points, as a share of their range.
const AIR: f64 = 0.05;
/// Ticks to aim for: as many as fit a phone.
const TICKS: usize = 5;

/// A scatter whose axes can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// What the figure shows.
    pub caption: String,
    /// What the points are.
    pub name: String,
    /// What each point is called.
    pub labels: Vec<String>,
    /// What can be put on an axis; each has a value for each label.
    pub variables: Vec<Variable>,
    /// The variable that is on the horizontal axis first.
    pub x: usize,
    /// The variable that is on the vertical axis first.
    pub y: usize,
}

/// One number of each item.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// What it is.
    pub name: String,
    /// Its values, in the order of the labels.
    pub values: Vec<f64>,
}

impl Plane {
    pub(crate) fn to_html(&self, number: usize) -> String {
        let sound: Vec<&Variable> =
            self.variables.iter().filter(|v| v.values.len() == self.labels.len()).collect();
        let axes: Vec<(Domain, Vec<Tick>)> = sound.iter().map(|v| axis(&v.values)).collect();
        let chosen = |i: usize| sound.get(i).or(sound.first()).copied();
        let chart = self.first(chosen(self.x), chosen(self.y));
        let mut scene = Scene::of(&chart);
        scene.other_y_labels =
            axes.iter().flat_map(|(_, ticks)| ticks.iter().map(|t| t.label.clone())).collect();
        let choosable = sound.len() > 1 && !self.labels.is_empty();
        let data = if choosable { self.data(&sound, &axes) } else { String::new() };
        figure::html(&scene, number, &self.caption, &data, None)
    }

    /// The chart before anything else is chosen.
    fn first(&self, x: Option<&Variable>, y: Option<&Variable>) -> Chart {
        let (Some(x), Some(y), false) = (x, y, self.labels.is_empty()) else {
            return Chart::new(Axis::new(""), Axis::new(""));
        };
        let points = x.values.iter().copied().zip(y.values.iter().copied());
        let items = self.labels.iter().cloned().zip(points).collect();
        let fixed = |v: &Variable| {
            let domain = axis(&v.values).0;
            Axis::new(&v.name).range(domain.low, domain.high)
        };
        Chart::new(fixed(x), fixed(y)).with(Series::labelled(&self.name, items))
    }

    fn data(&self, variables: &[&Variable], axes: &[(Domain, Vec<Tick>)]) -> String {
        let one = |(v, (domain, ticks)): (&&Variable, &(Domain, Vec<Tick>))| {
            let ticks: Vec<String> = ticks
                .iter()
                .map(|t| format!("[{},{}]", machine(t.value), json_string(&t.label)))
                .collect();
            let values: Vec<String> = v.values.iter().map(|&v| coarse(v)).collect();
            format!(
                "{{\"name\":{},\"low\":{},\"high\":{},\"ticks\":[{}],\"values\":[{}]}}",
                json_string(&v.name),
                machine(domain.low),
                machine(domain.high),
                ticks.join(","),
                values.join(",")
            )
        };
        let variables: Vec<String> = variables.iter().zip(axes).map(one).collect();
        let labels: Vec<String> = self.labels.iter().map(|label| json_string(label)).collect();
        let last = variables.len() - 1;
        format!(
            "<script type=\"application/json\">{{\"name\":{},\"x\":{},\"y\":{},\"labels\":[{}],\
             \"variables\":[{}]}}</script>\n",
            json_string(&self.name),
            self.x.min(last),
            self.y.min(last),
            labels.join(","),
            variables.join(",")
        )
    }
}

/// Four significant digits are finer than the drawing; what has no place is left out.
fn coarse(value: f64) -> String {
    if !drawable(Scale::Linear, value) {
        return "null".into();
    }
    machine(format!("{value:.3e}").parse().unwrap_or(0.0))
}

fn axis(values: &[f64]) -> (Domain, Vec<Tick>) {
    let axis = Axis::new("");
    let unit = Domain { low: 0.0, high: 1.0, scale: Scale::Linear };
    let domain = Domain::cover(&axis, values.iter().copied(), AIR).unwrap_or(unit);
    let ticks = ticks(&domain, TICKS);
    (domain, ticks)
}
