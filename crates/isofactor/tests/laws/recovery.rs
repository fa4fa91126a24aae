//! Without noise and with everything seen, a known link gives the factors back.

use isofactor::{
    Factors, FitConfig, FitInput, KnownLink, Observations, Shape, Truth, Unwatched,
    config::LinkChoice, diagnostics::factor_distance, fit,
};

use crate::sample::noise;

const SHAPE: Shape = Shape { rows: 25, columns: 20 };

fn truth(link: KnownLink) -> Truth {
    let factors =
        Factors::from_vecs(2, noise(1, SHAPE.rows * 2), noise(2, SHAPE.columns * 2)).unwrap();
    Truth::new(&factors, link).unwrap()
}

fn distance_after_fit(truth: &Truth) -> f64 {
    let seen = Observations::complete(SHAPE, |i, t| truth.value(i, t)).unwrap();
    let config = FitConfig {
        rank: Some(2),
        link: LinkChoice::Known(truth.link().clone()),
        iterations: 20_000,
        tolerance: 1e-30,
        ..FitConfig::bcd()
    };
    let model = fit(&config, &FitInput::new(&seen), &mut Unwatched).unwrap();
    factor_distance(&model.factors, truth.factors()).unwrap()
}

#[test]
fn complete_noiseless_observation_recovers_the_factors() {
    let knots = vec![(-3.0, -4.0), (-0.2, -0.3), (0.3, 0.3), (3.0, 1.5)];
    let piecewise = KnownLink::Piecewise(isofactor::Knots::try_new(knots).unwrap());
    for link in
        [KnownLink::Identity, KnownLink::Tanh, KnownLink::Sigmoid, KnownLink::Softplus, piecewise]
    {
        let distance = distance_after_fit(&truth(link.clone()));
        assert!(distance < 1e-6, "{link}: {distance:e}");
    }
}

#[test]
fn rows_without_entries_are_predicted_from_what_is_known() {
    let truth = truth(KnownLink::Tanh);
    let shape = Shape { rows: SHAPE.rows + 1, columns: SHAPE.columns + 1 };
    let entries: Vec<isofactor::Entry> =
        Observations::complete(SHAPE, |i, t| truth.value(i, t)).unwrap().iter().collect();
    let seen = Observations::try_new(shape, &entries).unwrap();
    let config = FitConfig { rank: Some(2), iterations: 20, ..FitConfig::bcd() };
    let model = fit(&config, &FitInput::new(&seen), &mut Unwatched).unwrap();
    let mean = seen.mean();
    assert_eq!(model.predict(Some(SHAPE.rows), Some(SHAPE.columns)), mean);
    assert_eq!(model.predict(None, None), mean);
    let column_known = model.predict(Some(SHAPE.rows), Some(3));
    assert!(column_known.is_finite() && column_known != mean);
}
