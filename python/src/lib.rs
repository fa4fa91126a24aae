//! Python over the core: every function here converts its arguments, lets go of the interpreter,
//! calls the core and wraps what comes back. What a user sees is the package beside this crate.

mod arrow;
mod data;
mod errors;
mod fit;
mod labels;
mod link;
mod model;
mod rows;
mod settings;
mod state;

use pyo3::prelude::*;

/// The compiled part of the package `isofactor`.
#[pymodule(gil_used = true)]
mod _isofactor {
    #[pymodule_export]
    use super::{
        data::Data,
        fit::fit,
        link::Link,
        model::Model,
        rows::{judge_rows, place_rows, predict_placed},
    };
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
