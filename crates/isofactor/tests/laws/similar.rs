//! Similarity depends on the scores alone, whatever factors make them.

use isofactor::{Factors, FittedModel, Shape, Side, Similarity};

use crate::sample::models;

/// Another model with the same scores: `U A`, `V A^-T` for an `A` far from orthogonal, and, where
/// there are effects, factors moved by constants that the effects make up for.
fn rewritten(model: &FittedModel) -> FittedModel {
    let mut model = model.clone();
    let shift = |k: usize| 0.7 - 0.4 * k as f64;
    let (mut rows, mut columns) = (model.factors.rows(), model.factors.columns());
    if let Some(offsets) = &mut model.offsets {
        // u.v = (u+d).(v+e) - u.e - d.v - d.e, with d = e = shift.
        let dot = |z: &[f64]| z.iter().enumerate().map(|(k, z)| z * shift(k)).sum::<f64>();
        for (effect, u) in offsets.rows.iter_mut().zip(rows.chunks(3)) {
            *effect -= dot(u);
        }
        for (effect, v) in offsets.columns.iter_mut().zip(columns.chunks(3)) {
            *effect -= dot(v);
        }
        offsets.level -= (0..3).map(|k| shift(k) * shift(k)).sum::<f64>();
        for z in rows.chunks_mut(3).chain(columns.chunks_mut(3)) {
            z.iter_mut().enumerate().for_each(|(k, z)| *z += shift(k));
        }
    }
    let (a, inverse_transpose) = (
        [[2.0, 0.0, 0.0], [1.0, 0.25, 0.0], [-3.0, 1.0, 4.0]],
        // Of the lower triangular A above: (A^-1)'.
        [[0.5, -2.0, 0.875], [0.0, 4.0, -1.0], [0.0, 0.0, 0.25]],
    );
    let times = |z: &[f64], m: &[[f64; 3]; 3]| -> Vec<f64> {
        (0..3).map(|j| (0..3).map(|i| z[i] * m[i][j]).sum()).collect()
    };
    rows = rows.chunks(3).flat_map(|u| times(u, &a)).collect();
    columns = columns.chunks(3).flat_map(|v| times(v, &inverse_transpose)).collect();
    model.factors = Factors::from_vecs(3, rows, columns).unwrap();
    model
}

#[test]
fn another_model_with_the_same_scores_has_the_same_similarities() {
    for model in models() {
        let other = rewritten(&model);
        let Shape { rows, columns } = model.shape();
        for i in 0..rows {
            for t in 0..columns {
                let (a, b) = (model.score(Some(i), Some(t)), other.score(Some(i), Some(t)));
                assert!((a - b).abs() < 1e-10, "the other model has other scores: {a} {b}");
            }
        }
        for side in [Side::Rows, Side::Columns] {
            let (one, two) =
                (Similarity::new(&model, side).unwrap(), Similarity::new(&other, side).unwrap());
            for a in 0..one.len() {
                for b in 0..one.len() {
                    let (s, t) = (one.between(a, b), two.between(a, b));
                    assert!((s.similarity - t.similarity).abs() < 1e-6, "{s:?} {t:?}");
                    assert!((s.distance - t.distance).abs() < 1e-8, "{s:?} {t:?}");
                }
            }
        }
    }
}

/// The definition itself, from all scores.
#[test]
fn similarity_is_the_cosine_of_doubly_centred_scores() {
    for model in models() {
        let Shape { rows, columns } = model.shape();
        let x = |i: usize, t: usize| model.score(Some(i), Some(t));
        let over_columns = |i| (0..columns).map(|t| x(i, t)).sum::<f64>() / columns as f64;
        let over_rows = |t| (0..rows).map(|i| x(i, t)).sum::<f64>() / rows as f64;
        let row_means: Vec<f64> = (0..rows).map(over_columns).collect();
        let column_means: Vec<f64> = (0..columns).map(over_rows).collect();
        let mean = row_means.iter().sum::<f64>() / rows as f64;
        let centred = |i: usize| -> Vec<f64> {
            (0..columns).map(|t| x(i, t) - row_means[i] - column_means[t] + mean).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let similarity = Similarity::new(&model, Side::Rows).unwrap();
        for i in 0..rows {
            for j in 0..rows {
                let (a, b) = (centred(i), centred(j));
                let cosine = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
                let found = similarity.between(i, j);
                assert!((found.similarity - cosine).abs() < 1e-7, "{i} {j} {found:?} {cosine}");
                let gap: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
                let distance = (dot(&gap, &gap) / columns as f64).sqrt();
                assert!((found.distance - distance).abs() < 1e-9, "{i} {j}");
            }
        }
    }
}

#[test]
fn similarity_is_symmetric_and_nearest_is_a_slow_sort() {
    for model in models() {
        for side in [Side::Rows, Side::Columns] {
            let similarity = Similarity::new(&model, side).unwrap();
            for a in 0..similarity.len() {
                for b in 0..similarity.len() {
                    let (one, two) = (similarity.between(a, b), similarity.between(b, a));
                    assert_eq!((one.similarity, one.distance), (two.similarity, two.distance));
                }
                let others = (0..similarity.len()).filter(|&b| b != a);
                let mut slow: Vec<_> = others.map(|b| similarity.between(a, b)).collect();
                slow.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
                for top in [0, 1, 4, slow.len(), 1000] {
                    let nearest = similarity.nearest(a, top);
                    assert_eq!(nearest, slow[..top.min(slow.len())]);
                }
            }
        }
    }
}
