//! The quantities of the analysis against made data.

use isofactor::{
    Factors, FitConfig, FitInput, Flow, KnownLink, Monitor, Observations, Shape, TraceRow, Truth,
    fit, monitor::TruthRow,
};

use crate::sample::noise;

const SHAPE: Shape = Shape { rows: 30, columns: 25 };

#[derive(Default)]
struct Rows(Vec<TraceRow>);

impl Monitor for Rows {
    fn iteration(&mut self, row: &TraceRow) -> Flow {
        self.0.push(*row);
        Flow::Continue
    }
}

fn run(link: &str, config: FitConfig) -> (Vec<TraceRow>, Vec<TruthRow>) {
    let factors =
        Factors::from_vecs(2, noise(1, SHAPE.rows * 2), noise(2, SHAPE.columns * 2)).unwrap();
    let truth = Truth::new(&factors, link.parse().unwrap()).unwrap();
    let seen = Observations::complete(SHAPE, |i, t| truth.value(i, t)).unwrap();
    let mut rows = Rows::default();
    let input = FitInput { truth: Some(&truth), ..FitInput::new(&seen) };
    fit(&config, &input, &mut rows).unwrap();
    let truth_rows = rows.0.iter().map(|row| row.truth.unwrap()).collect();
    (rows.0, truth_rows)
}

#[test]
fn with_the_true_link_known_the_distance_falls_to_nothing() {
    let link = isofactor::config::LinkChoice::Known(KnownLink::Tanh);
    let config =
        FitConfig { rank: Some(2), link, iterations: 3000, tolerance: 1e-30, ..FitConfig::bcd() };
    let (_, rows) = run("tanh", config);
    let last = rows.last().unwrap();
    assert!(last.factor_distance < 1e-6 * rows[0].factor_distance);
    assert_eq!((last.link_distance, last.regret), (None, None));
}

#[test]
fn regret_is_the_running_mean_of_gaps_that_are_never_negative() {
    let config = FitConfig { rank: Some(2), iterations: 40, ..FitConfig::bcd() };
    let (_, rows) = run("tanh", config);
    assert_eq!(rows[0].regret, None);
    let sums: Vec<f64> =
        rows.iter().enumerate().map(|(t, r)| r.regret.unwrap_or(0.0) * t as f64).collect();
    assert!(sums.windows(2).all(|w| w[1] >= w[0] - 1e-9), "a gap below zero");
    assert!(rows.last().unwrap().regret < rows[1].regret);
}

#[test]
fn the_lyapunov_function_of_a_fit_at_rest_is_gamma_times_the_distance() {
    // With a strong penalty the link settles at phi_sharp, so E_t vanishes.
    let config = FitConfig {
        rank: Some(2),
        iterations: 400,
        link_penalty: 50.0,
        tolerance: 1e-30,
        project_factors: "auto".parse().unwrap(),
        ..FitConfig::bcd()
    };
    let (trace, rows) = run("sigmoid", config);
    let ratio = |k: usize| rows[k].lyapunov.unwrap() / rows[k].factor_distance.powi(2);
    let last = rows.len() - 1;
    assert!((ratio(last) / ratio(last - 5) - 1.0).abs() < 1e-3);
    assert!(trace[last].objective < trace[0].objective);
}

#[test]
fn gamma_is_the_theorems_whether_or_not_the_link_is_kept_increasing() {
    // At the start the factors are the same, so V_0 - E_0 tells gamma; bounds that the theory cannot
    // use (0 and infinity) must not turn it into another number than no bounds at all.
    let start = |monotone: &str| {
        let config = FitConfig {
            rank: Some(2),
            iterations: 0,
            link_penalty: 1e3,
            project_factors: "auto".parse().unwrap(),
            monotone: monotone.parse().unwrap(),
            ..FitConfig::bcd()
        };
        let (_, rows) = run("sigmoid", config);
        rows[0].lyapunov.unwrap() / rows[0].factor_distance.powi(2)
    };
    let (free, increasing) = (start("off"), start("auto"));
    assert!((free / increasing - 1.0).abs() < 0.05, "{free} against {increasing}");
    assert!((free - 1.0).abs() > 0.05, "gamma fell back to 1");
}
