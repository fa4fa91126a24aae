//! One page with every building block, on made data: `cargo run -p isofactor-report --example
//! gallery -- gallery.html [figure.svg]`.

use isofactor_report::{
    Axis, Block, Cell, Chart, Column, Fact, Figure, Interval, Notice, Page, Plane, Reference,
    Section, Series, Table, Variable, Weight, number,
};

fn main() -> std::io::Result<()> {
    let mut paths = std::env::args().skip(1);
    let page = paths.next().unwrap_or_else(|| "gallery.html".into());
    std::fs::write(page, gallery().to_html())?;
    match paths.next() {
        Some(svg) => std::fs::write(svg, link_chart().to_svg()),
        None => Ok(()),
    }
}

fn gallery() -> Page {
    Page::new(
        "A sigmoid link, recovered",
        "Made data: 400 rows and 250 columns of rank 3, a tenth of the entries observed through a \
         saturating instrument. How close the fit comes to the truth.",
    )
    .with(
        Section::new("At a glance")
            .with(Block::Facts(vec![
                Fact::new("Held-out RMSE", "0.1027").note("noise alone: 0.1000"),
                Fact::new("Observed entries", number(10_000.0)).note("10% of the matrix"),
                Fact::new("Link error", "0.0081").note("root mean square over the scores"),
                Fact::new("Time to fit", "1.4 s").note("68 iterations, converged"),
            ]))
            .with(Block::Text(
                "The link is learned from the data, held to increase, and drawn below with the \
                 density of the fitted scores: where the density is thin, the data say little \
                 about the curve."
                    .into(),
            )),
    )
    .with(Section::new("Before you trust it").with(Block::Notices(vec![
        Notice {
            weight: Weight::Warning,
            title: "12 rows have fewer entries than factors".into(),
            text: "Their factors are not determined: leave them out.".into(),
        },
        Notice {
            weight: Weight::Note,
            title: "The held-out error is a little optimistic".into(),
            text: "The iterate was chosen by the same entries.".into(),
        },
    ])))
    .with(Section::new("The link").with(Figure::new(
        "Learned and true link, with a 95% band; behind them the density of the fitted scores.",
        link_chart(),
    )))
    .with(Section::new("Convergence").with(Figure::new(
        "Root mean squared error after each iteration, from the spectral start.",
        convergence_chart(),
    )))
    .with(
        Section::new("Prediction")
            .with(Figure::new(
                "Predicted against true values for the held-out entries. Points on the dashed \
                 line are predicted exactly.",
                prediction_chart(),
            ))
            .with(Figure::new(
                "The same, too many to draw one by one, with the mean of each tenth.",
                crowd_chart(),
            ))
            .with(comparison()),
    )
    .with(Section::new("Items").with(items()))
}

fn crowd_chart() -> Chart {
    let cells = (0..20)
        .flat_map(|i| (0..20).map(move |j| (i, j)))
        .map(|(i, j)| Cell {
            x: (f64::from(i) / 20.0, f64::from(i + 1) / 20.0),
            y: (f64::from(j) / 20.0, f64::from(j + 1) / 20.0),
            count: (4_000.0 * (-0.15 * f64::from((i - j) * (i - j))).exp()) as usize,
        })
        .collect();
    let tenths = (0..10)
        .map(|i| (f64::from(i) + 0.5) / 10.0)
        .map(|x| Interval { x, low: x - 0.02, middle: x + 0.005, high: x + 0.03 })
        .collect();
    Chart::new(Axis::new("Predicted value"), Axis::new("True value"))
        .with(Series::cells("entries: the darker, the more", cells))
        .with(Series::intervals("mean of each tenth", tenths))
        .with(Series::reference("exact prediction", Reference::Diagonal))
}

fn items() -> Plane {
    let mut draws = Draws(11);
    let mut variable = |name: &str| Variable {
        name: name.into(),
        values: (0..300).map(|_| draws.normal()).collect(),
    };
    Plane {
        caption: "Each item has three numbers: choose which two to see.".into(),
        name: "items".into(),
        labels: (1..=300).map(|i| format!("item {i}")).collect(),
        variables: vec![variable("Length"), variable("Width"), variable("Weight")],
        x: 0,
        y: 1,
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-1.7 * x).exp())
}

fn link_chart() -> Chart {
    let grid = || (-80..=80).map(|i| f64::from(i) / 20.0);
    let learned = |x: f64| sigmoid(x) + 0.012 * (1.9 * x).sin() * (1.0 + 0.1 * x * x).min(2.0);
    let spread = |x: f64| 0.012 + 0.003 * x * x;
    let mut draws = Draws(3);
    let scores: Vec<f64> =
        (0..10_000).map(|_| 1.3 * draws.normal()).filter(|s| s.abs() < 4.0).collect();
    Chart::new(Axis::new("Score"), Axis::new("Response (share of full scale)"))
        .with(Series::line("learned link", grid().map(|x| (x, learned(x))).collect()).solid())
        .with(Series::band(
            "95% band",
            grid().map(|x| (x, learned(x) - spread(x), learned(x) + spread(x))).collect(),
        ))
        .with(Series::line("true link", grid().map(|x| (x, sigmoid(x))).collect()).dashed())
        .with(Series::histogram("density of scores", &scores, 48))
}

fn convergence_chart() -> Chart {
    let mut draws = Draws(5);
    let curve = |floor: f64, rate: f64, draws: &mut Draws| -> Vec<(f64, f64)> {
        (0..=1200)
            .map(|i| (f64::from(i), floor + 2.0 * (-rate * f64::from(i)).exp()))
            .map(|(i, e)| (i, e * (1.0 + 0.01 * draws.normal())))
            .collect()
    };
    Chart::new(Axis::new("Iteration"), Axis::log("Root mean squared error"))
        .with(Series::line("training", curve(0.0031, 0.0095, &mut draws)))
        .with(Series::line("held out", curve(0.0102, 0.0088, &mut draws)))
        .with(Series::reference("noise level", Reference::Horizontal(0.01)))
}

fn prediction_chart() -> Chart {
    let mut draws = Draws(9);
    let points = (0..3000)
        .map(|_| {
            let truth = sigmoid(1.3 * draws.normal());
            (truth, truth + 0.035 * draws.normal())
        })
        .collect();
    Chart::new(Axis::new("True value"), Axis::new("Predicted value"))
        .with(Series::points("held-out entries", points))
        .with(Series::reference("exact prediction", Reference::Diagonal))
}

fn comparison() -> Table {
    Table::new(
        "The same split, four models; lower is better.",
        vec![
            Column::text("Model"),
            Column::number("RMSE"),
            Column::number("MAE"),
            Column::number("Seconds"),
            Column::text("Link"),
        ],
    )
    .row(["Learned link", "0.1027", "0.0816", "1.40", "increasing"])
    .row(["True link given", "0.1019", "0.0810", "0.92", "sigmoid"])
    .row(["Linear, with effects", "0.1391", "0.1098", "0.31", "identity"])
    .row(["Effects only", "0.2874", "0.2385", "0.02", "identity"])
}

/// A small generator, so that the page needs nothing but the crate.
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The sum of twelve uniform draws is close enough to normal for a picture.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}
