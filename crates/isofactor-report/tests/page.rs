//! Laws of the whole page and of standalone drawings.

#[path = "support/markup.rs"]
mod markup;

use isofactor_report::{
    Axis, Block, Chart, Column, Fact, Figure, Page, Reference, Section, Series, Shape, Table,
};

const HOSTILE: &str = "\"'></title></script><script>alert(1)</script><!-- & \u{2028} ]]>";

fn wave(count: u32) -> Vec<(f64, f64)> {
    (0..count).map(|i| f64::from(i) / 10.0).map(|x| (x, x.sin())).collect()
}

/// Every kind of mark, with `name` wherever a name can stand.
fn full_chart(name: &str) -> Chart {
    let band = wave(50).into_iter().map(|(x, y)| (x, y - 0.1, y + 0.1)).collect();
    Chart::new(Axis::new(name), Axis::new(name))
        .with(Series::line(name, wave(50)))
        .with(Series::line(name, wave(20)).dashed())
        .with(Series::band(name, band))
        .with(Series::points(name, wave(30)))
        .with(Series::histogram(name, &[1.0, 2.0, 2.5, 3.0], 5))
        .with(Series::density(name, wave(30)))
        .with(Series::reference(name, Reference::Diagonal))
        .with(Series::reference(name, Reference::Horizontal(0.5)))
        .with(Series::reference(name, Reference::Vertical(2.0)))
}

fn full_page(name: &str) -> Page {
    Page::new(name, name).with(
        Section::new(name)
            .with(Block::Text(name.into()))
            .with(Block::Facts(vec![Fact::new(name, name).note(name), Fact::new(name, name)]))
            .with(
                Table::new(name, vec![Column::text(name), Column::number(name)])
                    .row([name, name])
                    .row([name])
                    .row([name, name, name]),
            )
            .with(Figure::new(name, full_chart(name))),
    )
}

/// Charts that a careless renderer trips over.
fn awkward_charts() -> Vec<Chart> {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e308, -1e308, 5e-324, 3.0];
    let points: Vec<(f64, f64)> =
        bad.iter().flat_map(|&x| bad.iter().map(move |&y| (x, y))).collect();
    let shapes = [
        Series::line("line", points.clone()),
        Series::points("points", points.clone()),
        Series::band("band", points.iter().map(|p| (p.0, p.1, p.0)).collect()),
        Series::density("density", points.clone()),
        Series::histogram("histogram", &bad, 7),
        Series::reference("nowhere", Reference::Horizontal(f64::NAN)),
        Series::reference("far", Reference::Vertical(f64::INFINITY)),
        Series::reference("diagonal", Reference::Diagonal),
        Series::line("empty", Vec::new()),
        Series::points("empty", Vec::new()),
        Series::line("one", vec![(2.0, 2.0)]),
    ];
    let axes = [
        (Axis::new("x"), Axis::new("y")),
        (Axis::log("x"), Axis::log("y")),
        (Axis::log("x"), Axis::new("y")),
        (Axis::new("x").range(1.0, 1.0), Axis::log("y").range(-1.0, f64::NAN)),
        (Axis::new("x").range(4.0, 2.0), Axis::new("y").range(1e-9, 2e-9)),
    ];
    let mut charts = Vec::new();
    for (x, y) in axes {
        let empty = Chart::new(x, y);
        charts.extend(shapes.iter().map(|s| empty.clone().with(s.clone())));
        charts.push(shapes.iter().cloned().fold(empty.clone(), Chart::with));
        charts.push(empty);
    }
    charts
}

#[test]
fn markup_is_balanced_whatever_the_labels() {
    for name in ["plain", HOSTILE, "", " ", "\u{0}\u{b}", "𝛗 中文 עברית"] {
        assert_eq!(markup::check(&full_page(name).to_html()), Ok(()));
        assert_eq!(markup::check(&full_chart(name).to_svg()), Ok(()));
    }
}

#[test]
fn the_checker_itself_sees_what_is_wrong() {
    for bad in ["<p>", "<p></b>", "<p>a & b</p>", "a > b", "< p></p>", "<p title=\"", "<p <b>"] {
        assert!(markup::check(bad).is_err(), "{bad}");
    }
}

#[test]
fn hostile_labels_reach_no_markup_and_no_script() {
    let html = full_page(HOSTILE).to_html();
    assert!(!html.contains("<script>alert"));
    assert!(!html.contains("<!--"));
    assert!(script_data(&html).contains("\\u2028") && !script_data(&html).contains('\u{2028}'));
    assert!(!full_chart(HOSTILE).to_svg().contains("<script"));
    let names = |html: &str| html.matches("<script").count();
    assert_eq!(names(&html), names(&full_page("plain").to_html()));
}

fn script_data(html: &str) -> String {
    html.split("<script type=\"application/json\">")
        .skip(1)
        .filter_map(|rest| rest.split("</script>").next())
        .collect()
}

#[test]
fn values_without_a_place_are_skipped_not_drawn() {
    for chart in awkward_charts() {
        for text in [chart.to_svg(), page_of(chart.clone()).to_html()] {
            assert_eq!(markup::check(&text), Ok(()));
            for attribute in ["d", "x", "y", "viewBox", "data-plot"] {
                for value in markup::attributes(&text, attribute) {
                    assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
                }
            }
            assert!(!script_data(&text).contains("NaN"));
        }
    }
}

fn page_of(chart: Chart) -> Page {
    Page::new("t", "").with(Section::new("s").with(Figure::new("c", chart)))
}

#[test]
fn a_chart_without_data_says_so() {
    let axes = || Chart::new(Axis::new("x"), Axis::log("y"));
    let unknown = vec![(f64::NAN, 1.0), (1.0, -1.0)];
    for chart in [axes(), axes().with(Series::line("a", unknown))] {
        assert!(chart.to_svg().contains(">no data</text>"));
        assert!(page_of(chart).to_html().contains(">no data</text>"));
    }
    assert!(!full_chart("a").to_svg().contains("no data"));
}

#[test]
fn what_is_left_out_is_said() {
    let many = (0..20_000).map(|i| (f64::from(i), f64::from(i % 77))).collect();
    let chart = Chart::new(Axis::new("x"), Axis::new("y"))
        .with(Series::points("crowd", many))
        .with(Series::line("gap", vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, 1.0)]));
    let html = page_of(chart).to_html();
    assert!(html.contains("Drawn: 5,000 of 20,000 points of “crowd” (a fixed sample)."));
    assert!(html.contains("Left out: 1 point (not finite)."));
}

#[test]
fn lines_differ_in_more_than_colour() {
    let chart = (0..12).fold(Chart::new(Axis::new("x"), Axis::new("y")), |chart, i| {
        chart.with(Series::line(format!("line {i}"), wave(40)))
    });
    let html = page_of(chart).to_html();
    let mut samples: Vec<&str> = html
        .split("<li data-mark=")
        .skip(1)
        .filter_map(|item| item.split_once("<path")?.1.split_once("/>"))
        .map(|(sample, _)| sample)
        .collect();
    samples.sort_unstable();
    samples.dedup();
    assert_eq!(samples.len(), 12);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(full_page("a").to_html(), full_page("a").to_html());
    assert_eq!(full_chart("a").to_svg(), full_chart("a").to_svg());
}

#[test]
fn a_page_asks_the_network_for_nothing() {
    let html = full_page("a").to_html();
    let svg = full_chart("a").to_svg().replacen("http://www.w3.org/2000/svg", "", 1);
    for text in [html, svg] {
        for forbidden in ["http://", "https://", "url(", "@import", "src=", "href=\"/"] {
            assert!(!text.contains(forbidden), "{forbidden}");
        }
    }
}

#[test]
fn a_page_has_what_assistive_technology_looks_for() {
    let html = full_page("a").to_html();
    for needed in [
        "<html lang=\"en\">",
        "<main>",
        "<h1>",
        "<h2 ",
        "<figcaption>",
        "<caption>",
        "scope=\"col\"",
        "scope=\"row\"",
        "role=\"img\"",
        "<title>a against a</title>",
        "<desc>Horizontal axis from ",
    ] {
        assert!(html.contains(needed), "{needed}");
    }
    assert_eq!(html.matches("<h1>").count(), 1);
}

#[test]
fn a_long_line_stays_light_and_keeps_its_peak() {
    let mut points = wave(100_000);
    points[54_321].1 = 40.0;
    let series = Series::line("long", points);
    let Shape::Line { points, .. } = &series.shape else { unreachable!() };
    let peak = points[54_321].0.to_string();
    let html = page_of(Chart::new(Axis::new("x"), Axis::new("y")).with(series)).to_html();
    assert!(html.len() < 200_000, "{} bytes", html.len());
    assert!(script_data(&html).contains(&peak));
    assert!(html.contains("(extremes kept)"));
}
