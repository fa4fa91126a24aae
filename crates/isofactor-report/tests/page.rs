//! Laws of the whole page and of standalone drawings.

#[path = "support/markup.rs"]
mod markup;

use isofactor_report::{
    Axis, Block, Cell, Chart, Column, Fact, Figure, Interval, Notice, Page, Plane, Reference,
    Section, Series, Shape, Table, Variable, Weight,
};

const HOSTILE: &str =
    "\"'></title></script><script>alert(1)</script><img src=x onerror=alert(2)><!-- & \u{2028} ]]>";

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
        .with(Series::line(name, wave(40)).faint_over(vec![(0.0, 1.0), (2.0, 9.0)]))
        .with(Series::points(name, wave(30)))
        .with(Series::labelled(name, wave(9).into_iter().map(|p| (name.into(), p)).collect()))
        .with(Series::intervals(name, wave(5).iter().map(|p| bar(p.0, p.1)).collect()))
        .with(Series::cells(name, vec![cell(1.0, 0.0, 3), cell(2.0, 0.0, 800), cell(3.0, 0.1, 0)]))
        .with(Series::histogram(name, &[1.0, 2.0, 2.5, 3.0], 5))
        .with(Series::density(name, wave(30)))
        .with(Series::reference(name, Reference::Diagonal))
        .with(Series::reference(name, Reference::Horizontal(0.5)))
        .with(Series::reference(name, Reference::Vertical(2.0)))
}

fn bar(x: f64, y: f64) -> Interval {
    Interval { x, low: y - 0.1, middle: y, high: y + 0.2 }
}

fn cell(x: f64, y: f64, count: usize) -> Cell {
    Cell { x: (x, x + 1.0), y: (y, y + 0.5), count }
}

fn plane(name: &str, count: u32) -> Plane {
    let variable = |k: u32| Variable {
        name: name.into(),
        values: (0..count).map(|i| f64::from(i * k).sin()).collect(),
    };
    Plane {
        caption: name.into(),
        name: name.into(),
        labels: (0..count).map(|_| name.into()).collect(),
        variables: vec![variable(1), variable(2), variable(3)],
        x: 0,
        y: 2,
    }
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
            .with(Block::Notices(vec![
                Notice { weight: Weight::Warning, title: name.into(), text: name.into() },
                Notice { weight: Weight::Note, title: name.into(), text: name.into() },
            ]))
            .with(Figure::new(name, full_chart(name)))
            .with(
                Figure::new(name, full_chart(name))
                    .numbers(Table::new(name, vec![Column::text(name)]).row([name])),
            )
            .with(plane(name, 30)),
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
        Series::labelled("named", points.iter().map(|&p| ("a".into(), p)).collect()),
        Series::intervals("bars", points.iter().map(|p| bar(p.0, p.1)).collect()),
        Series::cells("cells", points.iter().map(|p| cell(p.0, p.1, 2)).collect()),
        Series::line("doubted", points.clone()).faint_over(vec![(f64::NAN, 1.0), (-1.0, 2.0)]),
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
    assert!(!html.contains("<img"));
    assert!(script_data(&html).contains("\\u2028") && !script_data(&html).contains('\u{2028}'));
    assert!(!script_data(&html).contains('<') && !script_data(&html).contains('&'));
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
        for forbidden in ["http://", "https://", "url(", "@import", "src=\"", "href=\"/"] {
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

#[test]
fn every_chart_of_curves_comes_with_its_numbers() {
    let html = page_of(
        Chart::new(Axis::new("dose"), Axis::new("answer"))
            .with(Series::line("curve", wave(500)))
            .with(Series::intervals("bars", vec![bar(10.0, 0.25)])),
    )
    .to_html();
    let table = html.split_once("<details>").unwrap().1.split_once("</details>").unwrap().0;
    assert!(table.contains("Numbers of figure 1"));
    assert!(table.contains(">dose</th>") && table.contains(">curve</th>"));
    assert_eq!(table.matches("<tr>").count(), 1 + 24);
    assert!(table.contains("<th scope=\"row\" class=\"number\">0</th>"), "the first place");
    assert!(table.contains(">49.9</th>"), "the last place");
    assert!(table.contains("<td class=\"number\">–</td>"), "bars have no value far from them");
}

#[test]
fn a_table_of_the_caller_stands_for_that_of_the_chart() {
    let figure = Figure::new("c", full_chart("a"))
        .numbers(Table::new("mine", vec![Column::text("only")]).row(["this"]));
    let html = Page::new("t", "").with(Section::new("s").with(figure)).to_html();
    assert_eq!(html.matches("<details>").count(), 1);
    assert!(html.contains("<caption><span>mine</span></caption>"));
}

#[test]
fn a_plane_carries_all_its_numbers_and_draws_the_first_two() {
    let html = Page::new("t", "").with(Section::new("s").with(plane("v", 30))).to_html();
    let data = script_data(&html);
    assert_eq!(data.matches("\"values\":[").count(), 3);
    assert!(data.contains("\"x\":0,\"y\":2"));
    assert_eq!(html.matches("data-part=\"points\"").count(), 2, "one for each format");
}

#[test]
fn a_plane_of_nothing_says_so() {
    let odd = Plane { variables: vec![], ..plane("v", 3) };
    let uneven = Plane {
        variables: vec![Variable { name: "v".into(), values: vec![f64::NAN] }],
        ..plane("v", 3)
    };
    for plane in [plane("v", 0), odd, uneven] {
        let html = Page::new("t", "").with(Section::new("s").with(plane)).to_html();
        assert_eq!(markup::check(&html), Ok(()));
        assert!(html.contains(">no data</text>"));
        assert_eq!(script_data(&html), "");
    }
}

#[test]
fn a_line_is_faint_where_it_is_a_guess_and_solid_elsewhere() {
    let line = || Series::line("l", wave(100));
    let drawn = |series: Series| Chart::new(Axis::new("x"), Axis::new("y")).with(series).to_svg();
    assert!(!drawn(line()).contains("stroke-opacity=\"0.75\""));
    let half = drawn(line().faint_over(vec![(5.0, 100.0)]));
    assert_eq!(half.matches("stroke-opacity=\"0.75\"").count(), 1);
    let whole = drawn(line().faint_over(vec![(-1.0, 100.0)]));
    assert!(
        whole.matches("<path class=\"c0\"").count() < half.matches("<path class=\"c0\"").count()
    );
}

#[test]
fn fuller_cells_are_darker() {
    let chart = Chart::new(Axis::new("x"), Axis::new("y")).with(Series::cells(
        "cells",
        vec![cell(0.0, 0.0, 1), cell(1.0, 0.0, 1_000), cell(2.0, 0.0, 0)],
    ));
    let svg = chart.to_svg();
    let plot = svg.split_once("viewBox").unwrap().1;
    assert!(plot.contains("fill-opacity=\"0.80\"") && plot.contains("fill-opacity=\"0.08\""));
}

#[test]
fn long_pages_have_links_to_their_sections() {
    let page = |count: usize| {
        (0..count).fold(Page::new("t", ""), |page, i| page.with(Section::new(format!("s{i}"))))
    };
    assert!(!page(3).to_html().contains("<nav"));
    assert_eq!(page(5).to_html().matches("<a href=\"#section-").count(), 5);
}
