//! What a model is made of, as values that Python can pickle and show.

use std::path::Path;

use isofactor::{Entry, EntryList, Observations, Shape, TraceRow};
use isofactor_io::{model_from_bytes, model_to_bytes};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};

use crate::{
    errors::{bad_input, of_core, of_file},
    model::Fitted,
};

/// A column of the trace: its name and how it is read.
type Column = (&'static str, fn(&TraceRow) -> f64);

/// The columns of the trace beside the iteration; what is not defined is NaN.
const COLUMNS: [Column; 7] = [
    ("objective", |row| row.objective),
    ("data_term", |row| row.data_term),
    ("balance_term", |row| row.balance_term),
    ("link_norm", |row| row.link_norm.unwrap_or(f64::NAN)),
    ("train_rmse", |row| row.train_rmse),
    ("validation_rmse", |row| row.validation_rmse.unwrap_or(f64::NAN)),
    ("seconds", |row| row.seconds),
];

/// The whole trace: an array for each column.
pub fn trace_columns<'py>(py: Python<'py>, trace: &[TraceRow]) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let iterations: Vec<i64> = trace.iter().map(|row| row.iteration as i64).collect();
    columns.set_item("iteration", iterations.into_pyarray(py))?;
    for (name, read) in COLUMNS {
        columns.set_item(name, trace.iter().map(read).collect::<Vec<f64>>().into_pyarray(py))?;
    }
    Ok(columns)
}

/// What errors call the bytes of a pickled model.
const PICKLE: &str = "pickle";

/// One line of the trace; what is not defined is `None`.
pub fn trace_dict<'py>(py: Python<'py>, row: &TraceRow) -> PyResult<Bound<'py, PyDict>> {
    let line = PyDict::new(py);
    line.set_item("iteration", row.iteration)?;
    for (name, read) in COLUMNS {
        line.set_item(name, Some(read(row)).filter(|number| !number.is_nan()))?;
    }
    Ok(line)
}

/// Everything: the bytes of the model file, the trace, the entries.
pub fn store<'py>(py: Python<'py>, fitted: &Fitted) -> PyResult<Bound<'py, PyDict>> {
    let state = PyDict::new(py);
    let bytes = model_to_bytes(&fitted.labelled, Path::new(PICKLE)).map_err(of_file)?;
    state.set_item("model", PyBytes::new(py, &bytes))?;
    state.set_item("trace", trace_columns(py, &fitted.trace)?)?;
    state.set_item("seconds", fitted.seconds)?;
    for (name, entries) in [("train", &fitted.train), ("validation", &fitted.validation)] {
        let entries = entries.as_ref().map(|entries| entry_columns(py, entries)).transpose()?;
        state.set_item(name, entries)?;
    }
    Ok(state)
}

fn entry_columns<'py>(py: Python<'py>, entries: &Observations) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let rows: Vec<u32> = entries.iter().map(|entry| entry.row as u32).collect();
    let of_entries: Vec<u32> = entries.iter().map(|entry| entry.column as u32).collect();
    columns.set_item("rows", rows.into_pyarray(py))?;
    columns.set_item("columns", of_entries.into_pyarray(py))?;
    columns.set_item("values", entries.values().to_vec().into_pyarray(py))?;
    Ok(columns)
}

/// A model from what [`store`] gave, checked as any input is.
pub fn restore(state: &Bound<'_, PyDict>) -> PyResult<Fitted> {
    let bytes = item(state, "model")?;
    let bytes: &[u8] = bytes.extract()?;
    let (labelled, _) = model_from_bytes(bytes, Path::new(PICKLE)).map_err(of_file)?;
    let shape = labelled.model.shape();
    let entries = |name: &str| -> PyResult<Option<Observations>> {
        let columns = item(state, name)?;
        if columns.is_none() {
            return Ok(None);
        }
        entries_of(columns.cast()?, shape).map(Some)
    };
    Ok(Fitted {
        train: entries("train")?,
        validation: entries("validation")?,
        trace: trace_of(item(state, "trace")?.cast()?)?,
        seconds: item(state, "seconds")?.extract()?,
        labelled,
    })
}

fn entries_of(columns: &Bound<'_, PyDict>, shape: Shape) -> PyResult<Observations> {
    let rows: PyReadonlyArray1<'_, u32> = item(columns, "rows")?.extract()?;
    let of_entries: PyReadonlyArray1<'_, u32> = item(columns, "columns")?.extract()?;
    let values: PyReadonlyArray1<'_, f64> = item(columns, "values")?.extract()?;
    let places = rows.as_array().into_iter().zip(of_entries.as_array());
    let list: EntryList = places
        .zip(values.as_array())
        .map(|((&row, &column), &value)| Entry {
            row: row as usize,
            column: column as usize,
            value,
        })
        .collect();
    Observations::arrange(shape, list).map_err(of_core)
}

fn trace_of(columns: &Bound<'_, PyDict>) -> PyResult<Vec<TraceRow>> {
    let iterations: PyReadonlyArray1<'_, i64> = item(columns, "iteration")?.extract()?;
    let mut numbers = Vec::new();
    for (name, _) in COLUMNS {
        let column: PyReadonlyArray1<'_, f64> = item(columns, name)?.extract()?;
        numbers.push(column.as_array().to_vec());
    }
    let line = |(i, iteration): (usize, &i64)| {
        let number = |column: usize| numbers[column].get(i).copied().unwrap_or(f64::NAN);
        let known = |column: usize| Some(number(column)).filter(|number| !number.is_nan());
        TraceRow {
            iteration: usize::try_from(*iteration).unwrap_or(0),
            objective: number(0),
            data_term: number(1),
            balance_term: number(2),
            link_norm: known(3),
            train_rmse: number(4),
            validation_rmse: known(5),
            seconds: number(6),
            truth: None,
        }
    };
    Ok(iterations.as_array().iter().enumerate().map(line).collect())
}

fn item<'py>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    dict.get_item(name)?.ok_or_else(|| bad_input(format!("the pickle has no {name}")))
}
