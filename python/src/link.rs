//! The link of a model, as a function of arrays.

use std::sync::Arc;

use isofactor::{Link as CoreLink, link::Tabulated};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, ndarray::Array2};
use pyo3::prelude::*;

use crate::{
    errors::{bad_input, detached},
    model::Fitted,
};

/// Lines of the table, as many as a model file has.
const LINES: usize = 201;

/// A link: an increasing function of the score.
#[pyclass(module = "isofactor._isofactor", frozen)]
pub struct Link(pub Arc<Fitted>);

#[pymethods]
impl Link {
    /// The link at each score.
    fn values<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.of_each(py, scores, |(value, _)| value)
    }

    /// Its slope at each score.
    fn slopes<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.of_each(py, scores, |(_, slope)| slope)
    }

    /// `learned`, or the name of a known one.
    #[getter]
    fn kind(&self) -> String {
        match self.link() {
            CoreLink::Known(link) => link.to_string(),
            CoreLink::Learned(_) | CoreLink::Tabulated(_) => "learned".to_owned(),
        }
    }

    /// The scores that it is known for: where it was learned, else those of the training entries.
    #[getter]
    fn domain(&self) -> (f64, f64) {
        match self.link() {
            CoreLink::Known(_) => self.0.labelled.model.provenance.score_range,
            CoreLink::Learned(link) => (-link.space().half_width(), link.space().half_width()),
            CoreLink::Tabulated(link) => ends(link),
        }
    }

    /// Score, value and slope over the scores of the training entries, a line each.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (low, high) = self.0.labelled.model.provenance.score_range;
        let lines: Vec<f64> = (0..LINES)
            .map(|i| low + (high - low) * i as f64 / (LINES - 1) as f64)
            .flat_map(|score| {
                let (value, slope) = self.link().value_and_slope(score);
                [score, value, slope]
            })
            .collect();
        matrix(py, LINES, 3, lines)
    }
}

impl Link {
    fn link(&self) -> &CoreLink {
        &self.0.labelled.model.link
    }

    fn of_each<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'_, f64>,
        pick: impl Fn((f64, f64)) -> f64 + Send + Sync,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scores: Vec<f64> = scores.as_array().to_vec();
        let link = self.link();
        let found = detached(py, || {
            Ok(scores.into_iter().map(|x| pick(link.value_and_slope(x))).collect::<Vec<f64>>())
        })?;
        Ok(found.into_pyarray(py))
    }
}

fn ends(link: &Tabulated) -> (f64, f64) {
    let (low, spacing) = link.grid();
    (low, low + spacing * (link.values().len() - 1) as f64)
}

/// Numbers laid out row after row as a matrix.
pub fn matrix(
    py: Python<'_>,
    rows: usize,
    columns: usize,
    numbers: Vec<f64>,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let matrix = Array2::from_shape_vec((rows, columns), numbers);
    Ok(matrix.map_err(|e| bad_input(e.to_string()))?.into_pyarray(py))
}
