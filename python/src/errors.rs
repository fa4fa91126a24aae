//! The core's sentences as Python exceptions; panics, as a last resort, as `RuntimeError`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use isofactor::NumericalError;
use pyo3::{
    exceptions::{PyArithmeticError, PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError},
    prelude::*,
};

/// Input that cannot be used.
pub fn bad_input(sentence: impl Into<String>) -> PyErr {
    PyValueError::new_err(sentence.into())
}

/// What is wrong according to the core.
pub fn of_core(error: isofactor::Error) -> PyErr {
    let sentence = error.to_string();
    match error {
        isofactor::Error::Data(_) | isofactor::Error::Config(_) => PyValueError::new_err(sentence),
        isofactor::Error::Numerical(NumericalError::NoThreads) => PyRuntimeError::new_err(sentence),
        isofactor::Error::Numerical(_) => PyArithmeticError::new_err(sentence),
    }
}

/// What is wrong with a file.
pub fn of_file(error: isofactor_io::Error) -> PyErr {
    use isofactor_io::Error as File;
    let sentence = error.to_string();
    match error {
        File::NotFound { .. } => PyFileNotFoundError::new_err(sentence),
        File::Unreadable { .. } | File::Unwritable { .. } => PyOSError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}

/// Runs work without the interpreter; a panic in it is an error, not the end of the process.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work)))
        .unwrap_or_else(|panic| Err(of_panic(panic.as_ref())))
}

/// A panic, which is always a fault of ours.
pub fn of_panic(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
    PyRuntimeError::new_err(format!(
        "isofactor failed where it should not ({}): please report this",
        said.unwrap_or_else(|| "no reason given".to_owned())
    ))
}
