//! What is recommended is what a slow sort of all predictions would say.

use isofactor::{Excluded, FittedModel, Recommended, Side, Whom};

use crate::sample::models;

fn predict(model: &FittedModel, side: Side, unit: usize, other: usize) -> (f64, f64) {
    let (row, column) = match side {
        Side::Rows => (Some(unit), Some(other)),
        Side::Columns => (Some(other), Some(unit)),
    };
    (model.predict(row, column), model.score(row, column))
}

/// All of the other side, sorted by prediction, score and number.
fn slowly(model: &FittedModel, side: Side, unit: usize, excluded: &[u32]) -> Vec<Recommended> {
    let others = (0..model.count(side.other())).filter(|&o| !excluded.contains(&(o as u32)));
    let mut all: Vec<(f64, f64, usize)> = others
        .map(|other| predict(model, side, unit, other))
        .zip((0..).filter(|&o: &usize| !excluded.contains(&(o as u32))))
        .map(|((prediction, score), other)| (prediction, score, other))
        .collect();
    all.sort_by(|a, b| (b.0, b.1).partial_cmp(&(a.0, a.1)).unwrap().then(a.2.cmp(&b.2)));
    all.into_iter().map(|(prediction, _, unit)| Recommended { unit, prediction }).collect()
}

/// Pairs that look arbitrary, some of them repeated and some out of the matrix.
fn excluded(model: &FittedModel, side: Side) -> Excluded {
    let count = model.count(side);
    let pairs = (0..200usize).map(move |k| ((k * 7) % (count + 2), (k * k) % 23));
    Excluded::new(count, pairs)
}

#[test]
fn recommendations_agree_with_a_slow_sort_of_predictions() {
    for model in models() {
        for side in [Side::Rows, Side::Columns] {
            let excluded = excluded(&model, side);
            for top in [0, 1, 5, 1000] {
                let all = model.recommend_all(side, &excluded, top, 0).unwrap();
                let mut units = 0;
                for (unit, best) in all {
                    assert_eq!(unit, units);
                    let mut expected = slowly(&model, side, unit, excluded.of(unit));
                    expected.truncate(top);
                    assert_eq!(best, expected);
                    let one = model.recommend(side, Whom::Known(unit), excluded.of(unit), top);
                    assert_eq!(one, expected);
                    units += 1;
                }
                assert_eq!(units, model.count(side));
            }
        }
    }
}

#[test]
fn what_is_excluded_is_never_recommended() {
    let model = &models()[0];
    let excluded = excluded(model, Side::Rows);
    let known: usize = (0..model.count(Side::Rows)).map(|row| excluded.of(row).len()).sum();
    assert!(known > 100);
    for (row, best) in model.recommend_all(Side::Rows, &excluded, 1000, 0).unwrap() {
        assert!(best.iter().all(|r| !excluded.of(row).contains(&(r.unit as u32))));
    }
}

#[test]
fn threads_change_no_recommendation() {
    let model = &models()[1];
    let excluded = Excluded::default();
    let all = |threads| -> Vec<_> {
        model.recommend_all(Side::Rows, &excluded, 7, threads).unwrap().collect()
    };
    assert_eq!(all(1), all(3));
    assert!(model.recommend_all(Side::Rows, &excluded, 7, 100_000).is_err());
}

#[test]
fn a_new_row_is_served_as_its_predictions_say() {
    for model in &models()[..2] {
        let new = model.new_row(&[(0, 0.9), (3, 0.7), (20, -0.5)]).unwrap();
        let best = model.recommend(Side::Rows, Whom::New(&new), &[0, 3, 20], 6);
        assert_eq!(best.len(), 6);
        for pair in best.windows(2) {
            assert!(pair[0].prediction >= pair[1].prediction);
        }
        for r in &best {
            assert_eq!(r.prediction, model.predict_new_row(&new, Some(r.unit)));
            assert!(![0, 3, 20].contains(&r.unit));
        }
    }
}
