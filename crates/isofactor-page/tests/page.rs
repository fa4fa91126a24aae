//! Laws of the whole page: what must be on it, for which fits, and what must never be.

#![allow(clippy::unwrap_used)]

use isofactor::{
    Entry, FitConfig, FitInput, FittedModel, Flow, KnownLink, Monitor, Observations, Shape,
    TraceRow,
    config::{Keep, LinkChoice, Shrinkage},
    fit,
    select::hold_out,
};
use isofactor_io::Labels;
use isofactor_lab::{MadePanel, Noise, NoiseKind, Observed};
use isofactor_page::{Subject, fit_page};

/// Remembers the course of a fit.
#[derive(Default)]
struct Recorder(Vec<TraceRow>);

impl Monitor for Recorder {
    fn iteration(&mut self, row: &TraceRow) -> Flow {
        self.0.push(*row);
        Flow::Continue
    }
}

/// A fit with everything that its page needs.
struct Fit {
    model: FittedModel,
    rows: Labels,
    columns: Labels,
    train: Observations,
    held: Option<Observations>,
    trace: Vec<TraceRow>,
}

impl Fit {
    fn of(config: &FitConfig, entries: Observations, holdout: Option<f64>) -> Self {
        let Shape { rows, columns } = entries.shape();
        let (train, held) = match holdout {
            Some(share) => {
                let (train, held) =
                    hold_out(entries.shape(), entries.iter().collect(), share, 1).unwrap();
                (train, Some(held))
            }
            None => (entries, None),
        };
        let mut recorder = Recorder::default();
        let input = FitInput { validation: held.as_ref(), ..FitInput::new(&train) };
        let model = fit(config, &input, &mut recorder).unwrap();
        let (rows, columns) = (Labels::numbered(rows), Labels::numbered(columns));
        Self { model, rows, columns, train, held, trace: recorder.0 }
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            held_out: self.held.as_ref(),
            trace: &self.trace,
            ..Subject::new(&self.model, &self.rows, &self.columns, &self.train)
        }
    }

    fn html(&self) -> String {
        fit_page(&self.subject()).to_html()
    }
}

fn panel(link: KnownLink, spread: f64) -> Observations {
    panel_of(Shape { rows: 80, columns: 60 }, 3_000, link, spread, 0.1)
}

fn panel_of(
    shape: Shape,
    observed: usize,
    link: KnownLink,
    spread: f64,
    deviation: f64,
) -> Observations {
    let noise = Noise { kind: NoiseKind::Gaussian, deviation };
    let observed = Observed::Distinct(observed);
    let made = MadePanel { shape, rank: 2, observed, link, noise, condition: 1.5, spread, seed: 3 };
    made.make().unwrap().observations
}

fn headings(html: &str) -> Vec<&str> {
    let starts = html.split("<h2 id=\"section-").skip(1);
    starts.map(|rest| rest.split_once('>').unwrap().1.split_once("</h2>").unwrap().0).collect()
}

#[test]
fn a_page_has_its_sections_in_reading_order() {
    let html = Fit::of(&FitConfig::default(), panel(KnownLink::Sigmoid, 4.0), Some(0.1)).html();
    assert_eq!(
        headings(&html),
        [
            "What was fitted",
            "Before you trust it",
            "The link",
            "Convergence",
            "Predictions",
            "Residuals",
            "The factors",
            "Extremes",
            "What was chosen"
        ]
    );
    for words in [
        "Row and column effects alone",
        "The overall mean",
        "The slope of the link",
        "kept: sweep",
        "mean of each tenth",
        "Quantiles of the residuals",
        "How well each row is fitted",
        "How well each column is fitted",
        "learned link",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert!(!html.contains(">no data<") && !html.contains("NaN") && !html.contains("undefined"));
}

#[test]
fn every_trial_is_understood_and_one_is_the_chosen() {
    for (link, spread) in [(KnownLink::Sigmoid, 4.0), (KnownLink::Identity, 1.0)] {
        let fit = Fit::of(&FitConfig::default(), panel(link, spread), Some(0.1));
        assert!(fit.model.provenance.chosen.as_ref().unwrap().trials.len() > 3);
        assert_eq!(fit.html().matches("<td>chosen</td>").count(), 1);
    }
}

#[test]
fn a_sound_fit_gives_nothing_to_warn_of() {
    let config = FitConfig {
        rank: Some(2),
        link: LinkChoice::Known(KnownLink::Identity),
        keep: Keep::Last,
        ..FitConfig::default()
    };
    let shape = Shape { rows: 150, columns: 120 };
    let entries = panel_of(shape, 12_000, KnownLink::Identity, 1.0, 0.5);
    let html = Fit::of(&config, entries, Some(0.2)).html();
    let section = html.split_once("Before you trust it</h2>").unwrap().1;
    let section = section.split_once("</section>").unwrap().0;
    assert!(section.contains("Nothing to warn of"), "{section}");
}

#[test]
fn effects_alone_are_seen_to_be_all_there_is() {
    let shape = Shape { rows: 60, columns: 50 };
    // Effects and noise.
    let wild = |i: usize, t: usize| {
        let mut z = ((i * 50 + t) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((z ^ (z >> 27)) >> 40) as f64 / (1u64 << 24) as f64
    };
    let made = |i: usize, t: usize| (i % 9) as f64 + (t % 7) as f64 + wild(i, t);
    let entries = Observations::complete(shape, made).unwrap();
    let config = FitConfig {
        rank: Some(2),
        shrinkage: Shrinkage::Fixed(1.0),
        link: LinkChoice::Known(KnownLink::Identity),
        ..FitConfig::default()
    };
    let html = Fit::of(&config, entries, Some(0.2)).html();
    let facts = html.split_once("What was fitted</h2>").unwrap().1.split_once("</dl>").unwrap().0;
    assert!(html.contains("Nothing found beyond effects"), "{facts}");
}

#[test]
fn without_held_out_entries_every_error_is_said_to_flatter() {
    let html = Fit::of(&FitConfig::default(), panel(KnownLink::Identity, 1.0), None).html();
    assert!(html.contains("No entries were held out"));
    assert!(html.contains("RMSE, training entries"));
}

#[test]
fn a_fit_whose_course_is_not_known_says_so_instead_of_an_empty_chart() {
    let fit = Fit::of(&FitConfig::default(), panel(KnownLink::Identity, 1.0), Some(0.1));
    let html = fit_page(&Subject { trace: &[], ..fit.subject() }).to_html();
    assert!(html.contains("A model file does not hold the course of its fit"));
    assert!(!html.contains("Root mean squared error</text>"));
}

#[test]
fn entries_that_are_not_those_of_the_fit_are_told_apart() {
    let fit = Fit::of(&FitConfig::default(), panel(KnownLink::Identity, 1.0), Some(0.1));
    let held = fit.held.as_ref().unwrap();
    let other = Subject { unknown: 7, ..Subject::new(&fit.model, &fit.rows, &fit.columns, held) };
    let html = fit_page(&other).to_html();
    assert!(html.contains("The entries given are not exactly those the model learned from"));
    assert!(html.contains("7 entries of rows or columns that the model does not know"));
    assert!(html.contains("RMSE, given entries"));
    assert!(!fit.html().contains("not exactly those"));
}

#[test]
fn the_papers_algorithm_shows_its_objective_and_warns_of_units_with_few_entries() {
    let seen = panel(KnownLink::Sigmoid, 2.0);
    let few = Entry { row: 80, column: 3, value: 0.5 };
    let entries: Vec<Entry> = seen.iter().chain([few]).collect();
    let shape = Shape { rows: 81, ..seen.shape() };
    let config = FitConfig { rank: Some(2), iterations: 30, ..FitConfig::bcd() };
    let html = Fit::of(&config, Observations::try_new(shape, &entries).unwrap(), Some(0.1)).html();
    assert!(html.contains("The objective after each iteration"));
    assert!(html.contains("1 row has fewer entries than factors"));
    assert!(html.contains("solver bcd") || html.contains("Solver bcd"));
    assert!(html.contains("iterations 30"), "a setting that is not the default");
}

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'&\u{2028}";

#[test]
fn hostile_names_stay_names() {
    let mut fit = Fit::of(&FitConfig::default(), panel(KnownLink::Identity, 1.0), Some(0.1));
    let named = |labels: &Labels| {
        Labels::from_names(labels.names().map(|n| format!("{HOSTILE}{n}")).collect()).unwrap()
    };
    let plain = fit.html();
    (fit.rows, fit.columns) = (named(&fit.rows), named(&fit.columns));
    let html = fit_page(&Subject { name: Some(HOSTILE), ..fit.subject() }).to_html();
    assert!(!html.contains("<img") && html.contains("&lt;img src=x"));
    assert_eq!(html.matches("<script").count(), plain.matches("<script").count());
    assert_eq!(html.matches("</script").count(), plain.matches("</script").count());
    assert!(!html.contains('\u{2028}') || html.matches("\\u2028").count() > 100);
    for island in html.split("<script type=\"application/json\">").skip(1) {
        let json = island.split("</script>").next().unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(json).is_ok(), "not JSON");
    }
}

#[test]
fn a_page_about_many_rows_stays_small_and_says_what_it_leaves_out() {
    let shape = Shape { rows: 100_000, columns: 60 };
    let entries: Vec<Entry> = (0..400_000)
        .map(|k| (k % shape.rows, (k * 7 + k / shape.rows * 13) % shape.columns))
        .map(|(row, column)| Entry { row, column, value: ((row * 31 + column * 17) % 97) as f64 })
        .collect();
    let config = FitConfig {
        rank: Some(12),
        shrinkage: Shrinkage::Fixed(1.0),
        link: LinkChoice::Known(KnownLink::Identity),
        iterations: 2,
        ..FitConfig::default()
    };
    let html = Fit::of(&config, Observations::try_new(shape, &entries).unwrap(), None).html();
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(html.contains("Drawn: the 2,000 with the most entries, of 100,000."));
}

#[test]
fn the_same_fit_gives_the_same_bytes() {
    let fit = || Fit::of(&FitConfig::default(), panel(KnownLink::Sigmoid, 2.0), Some(0.1));
    assert_eq!(fit().html(), fit().html());
}

#[test]
fn odd_values_make_a_page_too() {
    type Made = fn(usize, usize) -> f64;
    let odd: [(usize, usize, Made); 5] = [
        (2, 2, |i, t| (i + 2 * t) as f64),
        (3, 2, |i, t| if i + t == 0 { 1.0 } else { 0.0 }),
        (12, 9, |i, t| 1e150 * (i as f64 - t as f64)),
        (12, 9, |i, t| 1e-300 * (i * t) as f64),
        (30, 20, |i, t| if (i, t) == (3, 4) { 1e9 } else { (i % 3) as f64 }),
    ];
    for (k, (rows, columns, made)) in odd.into_iter().enumerate() {
        let entries = Observations::complete(Shape { rows, columns }, made).unwrap();
        for config in [FitConfig::default(), FitConfig { rank: None, ..FitConfig::bcd() }] {
            let (train, rows, columns) =
                (&entries, Labels::numbered(rows), Labels::numbered(columns));
            let mut recorder = Recorder::default();
            // Some are too odd to be fitted; that is another matter.
            let Ok(model) = fit(&config, &FitInput::new(train), &mut recorder) else { continue };
            let subject = Subject {
                trace: &recorder.0,
                held_out: Some(train),
                ..Subject::new(&model, &rows, &columns, train)
            };
            let html = fit_page(&subject).to_html();
            let text = html.split("<script>").next().unwrap();
            for forbidden in ["NaN", "inf%", "not a number", ">inf<"] {
                assert!(!text.contains(forbidden), "{k}, {}: {forbidden}", config.solver);
            }
        }
    }
}
