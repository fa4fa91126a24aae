//! The estimator's parameters as the core's settings, by the words of its configuration file.

use isofactor::{FitConfig, Knots};
use pyo3::{
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyInt, PyString},
};
use serde_json::{Map, Number, Value};

use crate::errors::{bad_input, of_core};

/// Settings that are whole numbers; their negatives and fractions are refused by name.
const WHOLE: [&str; 3] = ["rank", "iterations", "seed"];

/// Reads settings; what is `None` keeps its default.
pub fn read(settings: &Bound<'_, PyDict>) -> PyResult<FitConfig> {
    let mut map = Map::new();
    for (key, value) in settings {
        let key = key.extract::<String>()?.replace('_', "-");
        if !value.is_none() {
            map.insert(key.clone(), written(&key, &value)?);
        }
    }
    serde_json::from_value(Value::Object(map)).map_err(|error| bad_input(error.to_string()))
}

fn written(key: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let refused = || bad_input(format!("{key} cannot be {}", shown(value)));
    if WHOLE.contains(&key) {
        let low = u64::from(key == "rank");
        let number =
            value.extract::<u64>().ok().filter(|n| *n >= low && !value.is_instance_of::<PyBool>());
        return number.map(Value::from).ok_or_else(|| {
            bad_input(format!("{key} must be a whole number from {low} on, got {}", shown(value)))
        });
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::String(value.extract()?));
    }
    if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
        return number(value.extract()?).ok_or_else(refused);
    }
    if let Ok(points) = value.extract::<Vec<(f64, f64)>>() {
        // Checked here too, for the sentence.
        Knots::try_new(points.clone()).map_err(of_core)?;
        let point = |(x, y)| Some(Value::Array(vec![number(x)?, number(y)?]));
        return points
            .into_iter()
            .map(point)
            .collect::<Option<_>>()
            .map(Value::Array)
            .ok_or_else(refused);
    }
    if let Ok(numbers) = value.extract::<Vec<f64>>() {
        // As text, for infinity is a bound too.
        let texts: Vec<String> = numbers.iter().map(f64::to_string).collect();
        return Ok(Value::String(texts.join(",")));
    }
    match value.extract::<f64>() {
        Ok(plain) => number(plain).ok_or_else(refused),
        Err(_) => Err(refused()),
    }
}

fn number(value: f64) -> Option<Value> {
    Number::from_f64(value).map(Value::Number)
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "that".to_owned(), |text| text.to_string())
}
