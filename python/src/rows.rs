//! Rows that the fit has not seen: placed by their entries, predicted, judged.

use isofactor::{FittedModel, NumericalError, Observations, solver::NewUnit};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::{
    data::Data,
    errors::{bad_input, detached, of_core},
    link::matrix,
    model::Model,
};

/// The parts of a row's entries, each of which is predicted from the others when rows are judged.
const FOLDS: usize = 5;
/// Rows that a thread takes at once.
const AT_ONCE: usize = 16;

/// What models of the other solver cannot do.
const NO_FOLD_IN: &str = "new rows cannot be placed by this model: it has no effects and no priors, \
     which solver='fast' learns";

/// Factors and effect (last) of new rows that have the columns of the model. The data are used up.
#[pyfunction]
pub fn place_rows<'py>(
    py: Python<'py>,
    model: &Model,
    data: &Bound<'_, Data>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let fitted = model.shared();
    let model = &fitted.labelled.model;
    let data = taken(data, model)?;
    let (count, width) = (data.rows.len(), model.factors.rank() + 1);
    let numbers = detached(py, || {
        let entries = data.arranged()?;
        let placed = each_row(threads, count, |row| {
            let unit = model.new_row(&of_row(entries.as_ref(), row))?;
            let mut coordinates = unit.factors;
            coordinates.push(unit.effect);
            Some(coordinates)
        })?;
        Ok(placed.concat())
    })?;
    matrix(py, count, width, numbers)
}

/// Predictions of every column for rows given by their factors and effect (last).
#[pyfunction]
pub fn predict_placed<'py>(
    py: Python<'py>,
    model: &Model,
    coordinates: PyReadonlyArray2<'_, f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let fitted = model.shared();
    let model = &fitted.labelled.model;
    let coordinates = coordinates.as_array();
    let (count, width) = coordinates.dim();
    let rank = model.factors.rank();
    if width != rank + 1 {
        return Err(bad_input(format!(
            "{width} numbers a row were given, {} are needed: {rank} factors and the effect",
            rank + 1
        )));
    }
    if model.offsets.is_none() {
        return Err(bad_input(NO_FOLD_IN));
    }
    let units: Vec<NewUnit> = coordinates
        .outer_iter()
        .map(|numbers| {
            let numbers = numbers.to_vec();
            NewUnit { effect: numbers[rank], factors: numbers[..rank].to_vec() }
        })
        .collect();
    let columns = model.shape().columns;
    let numbers = detached(py, || {
        let predicted = each_row(threads, count, |row| {
            let predict = |column| model.predict_new_row(&units[row], Some(column));
            Some((0..columns).map(predict).collect::<Vec<f64>>())
        })?;
        Ok(predicted.concat())
    })?;
    matrix(py, count, columns, numbers)
}

/// How well entries of new rows are predicted, each from others of its row: the sum of the squared
/// errors, that of the differences to the training mean, and how many entries there are. The data
/// are used up.
#[pyfunction]
pub fn judge_rows(
    py: Python<'_>,
    model: &Model,
    data: &Bound<'_, Data>,
    threads: usize,
) -> PyResult<(f64, f64, usize)> {
    let fitted = model.shared();
    let model = &fitted.labelled.model;
    let data = taken(data, model)?;
    detached(py, || {
        let count = data.rows.len();
        let Some(entries) = data.arranged()? else {
            return Err(bad_input("there are no observed values to score"));
        };
        let sums = each_row(threads, count, |row| judged(model, &of_row(Some(&entries), row)))?;
        let add = |(a, b): (f64, f64), (c, d): (f64, f64)| (a + c, b + d);
        let (errors, differences) = sums.into_iter().fold((0.0, 0.0), add);
        Ok((errors, differences, entries.len()))
    })
}

/// Squared errors and squared differences to the mean over the entries of one row.
fn judged(model: &FittedModel, entries: &[(usize, f64)]) -> Option<(f64, f64)> {
    let (mut errors, mut differences) = (0.0, 0.0);
    for fold in 0..FOLDS {
        let of_fold = |i: usize| i % FOLDS == fold;
        let part = |wanted: bool| -> Vec<(usize, f64)> {
            let numbered = entries.iter().enumerate().filter(|(i, _)| of_fold(*i) == wanted);
            numbered.map(|(_, entry)| *entry).collect()
        };
        let unit = model.new_row(&part(false))?;
        for (column, value) in part(true) {
            errors += (value - model.predict_new_row(&unit, Some(column))).powi(2);
            differences += (value - model.baseline.mean).powi(2);
        }
    }
    Some((errors, differences))
}

fn taken(data: &Bound<'_, Data>, model: &FittedModel) -> PyResult<Data> {
    let data = std::mem::take(&mut *data.borrow_mut());
    let (got, needed) = (data.columns.len(), model.shape().columns);
    if got != needed {
        return Err(bad_input(format!("{got} columns were given, the model has {needed}")));
    }
    Ok(data)
}

fn of_row(entries: Option<&Observations>, row: usize) -> Vec<(usize, f64)> {
    entries.map_or_else(Vec::new, |entries| {
        let entries = entries.row(row);
        let columns = entries.columns.iter().map(|&column| column as usize);
        columns.zip(entries.values.iter().copied()).collect()
    })
}

/// Work on every row, in their order. The threads are of this call alone: those of a process would
/// be missing in its forks.
fn each_row<T: Send>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> Option<T> + Sync,
) -> PyResult<Vec<T>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|_| of_core(NumericalError::NoThreads.into()))?;
    let done: Option<Vec<T>> =
        pool.install(|| (0..count).into_par_iter().with_min_len(AT_ONCE).map(&work).collect());
    done.ok_or_else(|| bad_input(NO_FOLD_IN))
}
