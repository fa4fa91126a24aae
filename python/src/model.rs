//! A fitted model: what it holds, and predictions for what it knows.

use std::{path::PathBuf, sync::Arc};

use isofactor::{Observations, Shape, Side, Similarity, TraceRow, Whom, model::metrics};
use isofactor_io::{LabelledModel, Labels, Target, read_model, write_model};
use isofactor_page::{Subject, fit_page};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    data::Data,
    errors::{bad_input, detached, of_core, of_file},
    labels::Names,
    link::{Link, matrix},
    state,
};

/// A model, and what is remembered of its fit.
#[derive(Debug)]
pub struct Fitted {
    pub labelled: LabelledModel,
    /// The entries it was fitted to; a model from a file has none.
    pub train: Option<Observations>,
    /// Those it was judged by.
    pub validation: Option<Observations>,
    pub trace: Vec<TraceRow>,
    /// What the core's fit took.
    pub seconds: f64,
}

/// A fitted model.
#[pyclass(module = "isofactor._isofactor", frozen)]
pub struct Model(Arc<Fitted>);

impl Model {
    pub fn new(fitted: Fitted) -> Self {
        Self(Arc::new(fitted))
    }

    pub fn shared(&self) -> Arc<Fitted> {
        self.0.clone()
    }

    fn labelled(&self) -> &LabelledModel {
        &self.0.labelled
    }

    /// To go on from a model, the data must have something in common with it.
    pub fn check_shares_a_name(&self, data: &Data) -> PyResult<()> {
        if self.labelled().known(&data.rows, &data.columns) > 0 {
            return Ok(());
        }
        Err(bad_input("no row or column of the data is in the model that is to be updated"))
    }
}

/// What is held for each side of the matrix: rows, then columns.
type Matrices<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// Two lists of numbers.
type Sides<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Model {
    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        let Shape { rows, columns } = self.labelled().model.shape();
        (rows, columns)
    }

    /// Factors per row and column.
    #[getter]
    fn rank(&self) -> usize {
        self.labelled().model.factors.rank()
    }

    /// The link.
    #[getter]
    fn link(&self) -> Link {
        Link(self.0.clone())
    }

    /// Names of rows and of columns.
    #[getter]
    fn labels(&self) -> (Vec<String>, Vec<String>) {
        let names = |labels: &Labels| labels.names().map(str::to_owned).collect();
        (names(&self.labelled().rows), names(&self.labelled().columns))
    }

    /// Factors of all rows and of all columns.
    fn factors<'py>(&self, py: Python<'py>) -> PyResult<Matrices<'py>> {
        let factors = &self.labelled().model.factors;
        let (Shape { rows, columns }, rank) = (factors.shape(), factors.rank());
        Ok((matrix(py, rows, rank, factors.rows())?, matrix(py, columns, rank, factors.columns())?))
    }

    /// The level; none for models without effects.
    #[getter]
    fn level(&self) -> Option<f64> {
        self.labelled().model.offsets.as_ref().map(|offsets| offsets.level)
    }

    /// Effects of rows and of columns; none for models without.
    fn effects<'py>(&self, py: Python<'py>) -> Option<Sides<'py>> {
        let offsets = self.labelled().model.effects()?;
        Some((offsets.rows.clone().into_pyarray(py), offsets.columns.clone().into_pyarray(py)))
    }

    /// How the model came to be, as JSON.
    fn provenance(&self) -> PyResult<String> {
        serde_json::to_string(&self.labelled().model.provenance)
            .map_err(|e| bad_input(e.to_string()))
    }

    /// The trace: an array for each of its columns.
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        state::trace_columns(py, &self.0.trace)
    }

    /// Seconds that the core's fit took.
    #[getter]
    fn seconds(&self) -> f64 {
        self.0.seconds
    }

    /// Whether the entries it was fitted to are still there.
    #[getter]
    fn has_entries(&self) -> bool {
        self.0.train.is_some()
    }

    /// Predictions for pairs of names; a name never seen counts as nothing known of it.
    fn predict_pairs<'py>(
        &self,
        py: Python<'py>,
        rows: Names<'_>,
        columns: Names<'_>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let LabelledModel { model, rows: known_rows, columns: known_columns } = self.labelled();
        let rows = rows.resolved(|name| known_rows.find(name))?;
        let columns = columns.resolved(|name| known_columns.find(name))?;
        let pairs = rows.into_iter().zip(columns);
        let found = detached(py, || {
            Ok(pairs.map(|(row, column)| model.predict(row, column)).collect::<Vec<f64>>())
        })?;
        Ok(found.into_pyarray(py))
    }

    /// The whole matrix: predictions, and with `observed` the values that were seen in their
    /// places (of a repeated pair their mean).
    fn matrix<'py>(&self, py: Python<'py>, observed: bool) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = &self.labelled().model;
        let Shape { rows, columns } = model.shape();
        let size = rows.checked_mul(columns).ok_or_else(|| bad_input("the matrix is too large"))?;
        let entries = match (observed, &self.0.train) {
            (false, _) => None,
            (true, Some(train)) => Some((train, self.0.validation.as_ref())),
            (true, None) => return Err(bad_input(NO_ENTRIES)),
        };
        let numbers = detached(py, || {
            let mut numbers = Vec::new();
            numbers.try_reserve_exact(size).map_err(|_| bad_input("the matrix is too large"))?;
            for row in 0..rows {
                numbers.extend((0..columns).map(|t| model.predict(Some(row), Some(t))));
            }
            for seen in entries.into_iter().flat_map(|(train, held)| [Some(train), held]).flatten()
            {
                put_observed(&mut numbers, seen);
            }
            Ok(numbers)
        })?;
        matrix(py, rows, columns, numbers)
    }

    /// Predictions and values of the entries it was judged by, or else fitted to, and which.
    fn judged<'py>(&self, py: Python<'py>) -> PyResult<(Sides<'py>, &'static str)> {
        let (entries, what) = match (&self.0.validation, &self.0.train) {
            (Some(entries), _) => (entries, "held-out"),
            (None, Some(entries)) => (entries, "training"),
            (None, None) => return Err(bad_input(NO_ENTRIES)),
        };
        let model = &self.labelled().model;
        let (predictions, values): (Vec<f64>, Vec<f64>) = detached(py, || {
            Ok(entries
                .iter()
                .map(|e| (model.predict(Some(e.row), Some(e.column)), e.value))
                .unzip())
        })?;
        Ok(((predictions.into_pyarray(py), values.into_pyarray(py)), what))
    }

    /// Root mean squared and mean absolute error on entries, and how many they are. The data are
    /// used up.
    fn evaluate(&self, py: Python<'_>, data: &Bound<'_, Data>) -> PyResult<(f64, f64, usize)> {
        let data = std::mem::take(&mut *data.borrow_mut());
        let LabelledModel { model, rows, columns } = self.labelled();
        let found = |known: &Labels, labels: &Labels| -> Vec<Option<usize>> {
            labels.names().map(|name| known.find(name)).collect()
        };
        let (rows, columns) = (found(rows, &data.rows), found(columns, &data.columns));
        let errors = detached(py, || {
            let Some(entries) = data.arranged()? else {
                return Err(bad_input("there are no entries to evaluate"));
            };
            Ok(metrics(&entries, |row, column| model.predict(rows[row], columns[column])))
        })?;
        Ok((errors.rmse, errors.mae, errors.count))
    }

    /// The columns with the highest predictions for a row, best first: numbers and predictions.
    /// With `unseen` without those that the row has a training entry with.
    fn recommend(
        &self,
        py: Python<'_>,
        row: &str,
        top: usize,
        unseen: bool,
    ) -> PyResult<Vec<(usize, f64)>> {
        let LabelledModel { model, rows, .. } = self.labelled();
        let row = rows.find(row).ok_or_else(|| unknown("row", row))?;
        let seen = match (unseen, &self.0.train) {
            (false, _) => &[],
            (true, Some(train)) => train.row(row).columns,
            (true, None) => return Err(bad_input(NO_ENTRIES)),
        };
        detached(py, || {
            let best = model.recommend(Side::Rows, Whom::Known(row), seen, top);
            Ok(best.into_iter().map(|found| (found.unit, found.prediction)).collect())
        })
    }

    /// The rows (or columns) most like one of them by their scores.
    fn similar(
        &self,
        py: Python<'_>,
        name: &str,
        columns: bool,
        top: usize,
    ) -> PyResult<Vec<(usize, f64)>> {
        let LabelledModel { model, rows, columns: column_names } = self.labelled();
        let (labels, side, word) = if columns {
            (column_names, Side::Columns, "column")
        } else {
            (rows, Side::Rows, "row")
        };
        let unit = labels.find(name).ok_or_else(|| unknown(word, name))?;
        detached(py, || {
            let nearest = Similarity::new(model, side).map_err(of_core)?.nearest(unit, top);
            Ok(nearest.into_iter().map(|found| (found.unit, found.similarity)).collect())
        })
    }

    /// Writes the model file that the program reads too.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || {
            let target = Target::new(&path).map_err(of_file)?;
            write_model(target, self.labelled()).map_err(of_file)
        })
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let labelled = detached(py, || read_model(&path).map_err(of_file))?;
        let (train, validation, trace) = (None, None, Vec::new());
        Ok(Self::new(Fitted { labelled, train, validation, trace, seconds: 0.0 }))
    }

    /// Writes a page about the fit.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || {
            let train = self.0.train.as_ref().ok_or_else(|| bad_input(NO_ENTRIES))?;
            let target = Target::new(&path).map_err(of_file)?;
            let LabelledModel { model, rows, columns } = self.labelled();
            let subject = Subject {
                held_out: self.0.validation.as_ref(),
                trace: &self.0.trace,
                ..Subject::new(model, rows, columns, train)
            };
            let html = fit_page(&subject).to_html();
            target.write(|out| out.write_all(html.as_bytes())).map_err(of_file)
        })
    }

    /// Everything, for pickling.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        state::store(py, &self.0)
    }

    /// From what `state` gave.
    #[staticmethod]
    fn from_state(state: &Bound<'_, PyDict>) -> PyResult<Self> {
        state::restore(state).map(Self::new)
    }
}

/// What a model from a file cannot do.
pub const NO_ENTRIES: &str = "a model from a file does not hold the entries it was fitted to, which this \
     needs: use the model that was fitted, or its pickle";

fn unknown(side: &str, name: &str) -> PyErr {
    bad_input(format!("the model knows no {side} '{name}'"))
}

fn put_observed(numbers: &mut [f64], observations: &Observations) {
    let columns = observations.shape().columns;
    for row in 0..observations.shape().rows {
        let entries = observations.row(row);
        let mut sums: std::collections::BTreeMap<u32, (f64, f64)> = Default::default();
        for (&column, &value) in entries.columns.iter().zip(entries.values) {
            let (sum, count) = sums.entry(column).or_default();
            (*sum, *count) = (*sum + value, *count + 1.0);
        }
        for (column, (sum, count)) in sums {
            numbers[row * columns + column as usize] = sum / count;
        }
    }
}
