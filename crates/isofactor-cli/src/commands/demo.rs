//! `isofactor demo`: made data, a fit, what was recovered, a page to look at.

use std::collections::HashSet;

use isofactor::{
    FitConfig, FitInput, FittedModel, KnownLink, Observations, Shape, TraceRow, Truth,
    config::LinkChoice, fit, select::hold_out,
};
use isofactor_io::{LabelledModel, Labels, Target, write_entries, write_factors, write_model};
use isofactor_lab::{MadePanel, Noise, NoiseKind, Observed, Panel};
use isofactor_page::{Subject, charts, fit_page};
use isofactor_report::{Block, Column, Fact, Figure, Page, Section, Table};

use crate::{
    args::DemoArgs,
    failure::Failure,
    progress::Progress,
    summary::describe,
    text::{say, short, show, thousands},
};

/// Ranks that the linear model may choose from, by its error on the held-out entries.
const LINEAR_RANKS: std::ops::RangeInclusive<usize> = 3..=8;

/// A panel of 200 x 150, a third of it seen, through a link that is steep and saturates.
fn panel(seed: u64) -> MadePanel {
    let shape = Shape { rows: 200, columns: 150 };
    MadePanel {
        shape,
        rank: 3,
        observed: Observed::Distinct(shape.rows * shape.columns / 3),
        link: KnownLink::Sigmoid,
        noise: Noise { kind: NoiseKind::Gaussian, deviation: 0.05 },
        condition: 2.0,
        spread: 4.0,
        seed,
    }
}

/// Makes the panel, fits it three ways, shows and writes what was found.
pub fn run(args: &DemoArgs) -> Result<(), Failure> {
    std::fs::create_dir_all(&args.out).map_err(|e| {
        Failure::Unexpected(format!("{}: cannot be made ({e})", args.out.display()))
    })?;
    let file = |name: &str| Target::new(&args.out.join(name));
    let (page_file, panel_file) = (file("demo.html")?, file("panel.csv")?);
    let (truth_file, model_file) = (file("truth.csv")?, file("model.isofactor")?);
    let made = panel(args.seed);
    let Panel { observations, truth } = made.make()?;
    say(&format!(
        "a {} x {} panel of rank {}, seen through a steep sigmoid: {} entries, noise {}",
        made.shape.rows,
        made.shape.columns,
        made.rank,
        thousands(observations.len()),
        made.noise.deviation
    ));
    let study = Study::run(&made, &observations, &truth)?;
    show(&study.in_words())?;
    let html = study.page(&made, &observations, &truth).to_html();
    page_file.write(|out| out.write_all(html.as_bytes()))?;
    write_entries(panel_file, &observations, None)?;
    write_factors(truth_file, truth.factors(), Some(truth.link()), None)?;
    write_model(model_file, &numbered(study.learned, made.shape))?;
    let folder = args.out.display();
    show(&format!("\n  look at {folder}/demo.html; data, truth and model are beside it"))?;
    show(&format!("  try: isofactor fit {folder}/panel.csv --holdout 0.1\n"))?;
    Ok(())
}

/// The fits of the demo and how far each is from the truth where nothing was seen.
struct Study {
    learned: FittedModel,
    trace: Vec<TraceRow>,
    /// The true rank.
    rank: usize,
    linear_rank: usize,
    errors: Errors,
    /// `a` and `s` with true score = a + s times learned score, by least squares.
    scale: (f64, f64),
    /// The largest gap between the links over the middle 98% of the scores.
    link_gap: f64,
    train: Observations,
    held: Observations,
}

/// Root mean squared errors against the noiseless truth, entries never seen.
struct Errors {
    learned: f64,
    true_link: f64,
    linear: f64,
    linear_best: f64,
}

impl Study {
    fn run(made: &MadePanel, seen: &Observations, truth: &Truth) -> Result<Self, Failure> {
        let (train, held) = hold_out(seen.shape(), seen.iter().collect(), 0.1, made.seed)?;
        let unseen = unseen(seen);
        let config = FitConfig { seed: made.seed, ..FitConfig::default() };
        let mut progress = Progress::new(&config);
        let input = FitInput { validation: Some(&held), ..FitInput::new(&train) };
        let learned = fit(&config, &input, &mut progress);
        progress.finish();
        let learned = learned?;
        let other = |link: &KnownLink, rank: Option<usize>| {
            let link = LinkChoice::Known(link.clone());
            fit(&FitConfig { link, rank, ..config.clone() }, &input, &mut isofactor::Unwatched)
        };
        let true_link = other(truth.link(), None)?;
        let same_rank = other(&KnownLink::Identity, Some(made.rank))?;
        let mut best = same_rank.clone();
        for rank in LINEAR_RANKS {
            let next = other(&KnownLink::Identity, Some(rank))?;
            if held_out(&next) < held_out(&best) {
                best = next;
            }
        }
        let error = |predict: &dyn Fn(usize, usize) -> f64| {
            let squares = unseen.iter().map(|&(i, t)| (predict(i, t) - truth.value(i, t)).powi(2));
            (squares.sum::<f64>() / unseen.len() as f64).sqrt()
        };
        let errors = Errors {
            learned: error(&|i, t| learned.predict(Some(i), Some(t))),
            true_link: error(&|i, t| true_link.predict(Some(i), Some(t))),
            linear: error(&|i, t| same_rank.predict(Some(i), Some(t))),
            linear_best: error(&|i, t| best.predict(Some(i), Some(t))),
        };
        let scale = scale(&learned, truth, seen);
        let link_gap = link_gap(&learned, truth, seen, scale);
        let trace = progress.rows().to_vec();
        let linear_rank = best.factors.rank();
        let rank = made.rank;
        Ok(Self { learned, trace, rank, linear_rank, errors, scale, link_gap, train, held })
    }

    fn in_words(&self) -> String {
        let line = |name: String, error: f64| format!("  {name:<34} {:>9}", short(error));
        let e = &self.errors;
        [
            format!("\n{}\n", describe(&self.learned, None)),
            "  Error against the noiseless truth, on entries never seen".to_owned(),
            line("learned link".to_owned(), e.learned),
            line("the true link given".to_owned(), e.true_link),
            line(format!("linear factors, rank {}", self.rank), e.linear),
            line(format!("linear factors, its best rank ({})", self.linear_rank), e.linear_best),
            String::new(),
            format!(
                "  The learned link is within {} of the true one over 98% of the scores.",
                short(self.link_gap)
            ),
        ]
        .join("\n")
    }

    fn page(&self, made: &MadePanel, seen: &Observations, truth: &Truth) -> Page {
        let e = &self.errors;
        let lead = format!(
            "A {} x {} panel of rank {} was made, seen through a steep, saturating link, with noise \
             of standard deviation {}. A third of it was shown to isofactor, which was told neither \
             the factors nor the link.",
            made.shape.rows, made.shape.columns, made.rank, made.noise.deviation
        );
        let facts = vec![
            Fact::new("Learned link", short(e.learned)).note("error on entries never seen"),
            Fact::new("True link given", short(e.true_link)).note("what knowing it would bring"),
            Fact::new("Linear factors", short(e.linear_best))
                .note(format!("best rank, {}", self.linear_rank)),
            Fact::new("Gap of the link", short(self.link_gap)).note("largest, over 98% of scores"),
        ];
        let errors = Table::new(
            "Root mean squared error against the noiseless truth, on entries never seen.",
            vec![Column::text("Model"), Column::number("Error"), Column::number("Times the noise")],
        );
        let rows = [
            ("Learned link".to_owned(), e.learned),
            ("The true link given".to_owned(), e.true_link),
            (format!("Linear factors, rank {}", made.rank), e.linear),
            (format!("Linear factors, best rank ({})", self.linear_rank), e.linear_best),
        ];
        let errors = rows.into_iter().fold(errors, |table, (name, error)| {
            table.row([name, short(error), format!("{:.2}", error / made.noise.deviation)])
        });
        let model = &self.learned;
        let link = (truth.link(), self.scale);
        let pairs: Vec<(f64, f64)> = unseen(seen)
            .into_iter()
            .map(|(i, t)| (model.predict(Some(i), Some(t)), truth.value(i, t)))
            .collect();
        let page = Page::new("What was recovered", lead)
            .with(Section::new("In short").with(Block::Facts(facts)).with(errors))
            .with(Section::new("Against the truth").with(Figure::new(
                "The learned link and the true one, whose score is shifted and scaled to match: data \
                 cannot tell where scores begin nor how long they are. Under them, how many entries have each score.",
                charts::link_chart(model, &scores(model, seen), &[], Some(link)),
            )).with(Figure::new(
                "Entries never seen: what is predicted, and the truth without noise. Dots are the mean \
                 true value of each tenth of the predictions.",
                charts::prediction_chart(&pairs, "True value").0,
            )));
        self.report(made).sections.into_iter().fold(page, Page::with)
    }

    /// What anyone sees who does not know the truth.
    fn report(&self, made: &MadePanel) -> Page {
        let Shape { rows, columns } = made.shape;
        let (rows, columns) = (Labels::numbered(rows), Labels::numbered(columns));
        fit_page(&Subject {
            held_out: Some(&self.held),
            trace: &self.trace,
            ..Subject::new(&self.learned, &rows, &columns, &self.train)
        })
    }
}

/// The scores of entries.
fn scores(model: &FittedModel, observations: &Observations) -> Vec<f64> {
    observations.iter().map(|e| model.score(Some(e.row), Some(e.column))).collect()
}

fn held_out(model: &FittedModel) -> f64 {
    model.provenance.validation.map_or(f64::INFINITY, |m| m.rmse)
}

/// Every pair that was not observed.
fn unseen(seen: &Observations) -> Vec<(usize, usize)> {
    let known: HashSet<(usize, usize)> = seen.iter().map(|e| (e.row, e.column)).collect();
    let Shape { rows, columns } = seen.shape();
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    all.filter(|pair| !known.contains(pair)).collect()
}

/// `a` and `s` with true score = a + s times learned score, by least squares.
fn scale(model: &FittedModel, truth: &Truth, seen: &Observations) -> (f64, f64) {
    let pairs: Vec<(f64, f64)> = scores(model, seen)
        .into_iter()
        .zip(seen.iter().map(|e| truth.factors().score(e.row, e.column)))
        .collect();
    let count = pairs.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| pairs.iter().map(pick).sum::<f64>() / count;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let product: f64 = pairs.iter().map(|pair| (pair.0 - x) * (pair.1 - y)).sum();
    let square: f64 = pairs.iter().map(|pair| (pair.0 - x).powi(2)).sum();
    let s = product / square;
    (y - s * x, s)
}

fn link_gap(model: &FittedModel, truth: &Truth, seen: &Observations, (a, s): (f64, f64)) -> f64 {
    let mut scores = scores(model, seen);
    scores.sort_by(f64::total_cmp);
    let cut = scores.len() / 100;
    scores[cut..scores.len() - cut]
        .iter()
        .map(|&x| (model.link.value(x) - truth.link().value_and_slope(a + s * x).0).abs())
        .fold(0.0, f64::max)
}

/// Rows and columns named by their numbers from 1, as in the file of entries.
fn numbered(model: FittedModel, Shape { rows, columns }: Shape) -> LabelledModel {
    LabelledModel { model, rows: Labels::numbered(rows), columns: Labels::numbered(columns) }
}
