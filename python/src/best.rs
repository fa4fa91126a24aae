//! The best columns for a row and the units most alike, until the core has its own functions.

use isofactor::FittedModel;

/// The columns with the highest predictions for a row, best first, without those in `seen`.
///
/// Equal predictions (many reach the highest training value) are in the order of their scores, and
/// where these are equal too in the order of the columns.
pub fn columns_for(model: &FittedModel, row: usize, seen: &[u32], top: usize) -> Vec<(usize, f64)> {
    let seen: std::collections::HashSet<u32> = seen.iter().copied().collect();
    let columns = 0..model.shape().columns;
    let mut found: Vec<(usize, f64, f64)> = columns
        .filter(|column| !u32::try_from(*column).is_ok_and(|column| seen.contains(&column)))
        .map(|column| {
            let (row, column_known) = (Some(row), Some(column));
            (column, model.predict(row, column_known), model.score(row, column_known))
        })
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.2.total_cmp(&a.2)).then(a.0.cmp(&b.0)));
    found.into_iter().take(top).map(|(column, prediction, _)| (column, prediction)).collect()
}

/// The units whose factors point most nearly the same way, with the cosine of the angle.
pub fn alike(model: &FittedModel, unit: usize, columns: bool, top: usize) -> Vec<(usize, f64)> {
    let factors = &model.factors;
    let of = |i: usize| if columns { factors.column(i) } else { factors.row(i) };
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let shape = model.shape();
    let count = if columns { shape.columns } else { shape.rows };
    let (mine, length) = (of(unit), dot(of(unit), of(unit)).sqrt());
    let cosine = |i: usize| {
        let lengths = length * dot(of(i), of(i)).sqrt();
        if lengths > 0.0 { dot(mine, of(i)) / lengths } else { 0.0 }
    };
    let others = (0..count).filter(|&i| i != unit);
    let mut found: Vec<(usize, f64)> = others.map(|i| (i, cosine(i))).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(top);
    found
}
