//! Factor models with an unknown, increasing link: `y = phi(u_row . v_column) + noise`.
//!
//! A partly observed, noisy matrix is explained by a few factors per row and column and by the
//! function through which their product is seen. All three are learned, by the projected block
//! coordinate descent of "Learning Nonlinear Factor Models with Unknown Monotone Links from
//! Incomplete and Noisy Data", in the reproducing kernel Hilbert space of a kernel.
//!
//! ```
//! use isofactor::{FitConfig, FitInput, Observations, Shape, Unwatched, fit};
//!
//! let shape = Shape { rows: 20, columns: 15 };
//! let seen = Observations::complete(shape, |i, t| {
//!     ((i as f64 - 9.5) * (t as f64 - 7.0) / 20.0).tanh()
//! })?;
//! let config = FitConfig { rank: Some(1), iterations: 50, ..FitConfig::bcd() };
//! let model = fit(&config, &FitInput::new(&seen), &mut Unwatched)?;
//! assert!(model.provenance.train.rmse < 0.01);
//! let prediction = model.predict(Some(3), Some(4));
//! # assert!(prediction.is_finite());
//! # Ok::<(), isofactor::Error>(())
//! ```
//!
//! The crate computes and does nothing else: it reads no files, prints nothing, and its results
//! depend on its arguments alone.
//!
//! | where | what |
//! | --- | --- |
//! | [`observations`] | checked entries |
//! | [`config`] | every setting |
//! | [`factors`] | factors and scores |
//! | [`link`] | kernels, their spaces, learned and known links, slope bounds |
//! | [`passes`] | passes over the entries |
//! | [`objective`] | the objective and its gradients |
//! | [`theory`] | the theory's constants |
//! | [`init`] | starts |
//! | [`steps`] | one step of each block, the projections |
//! | [`solver`] | Algorithm 1 |
//! | [`checkpoint`] | a fit under way, to be stored |
//! | [`monitor`] | what a fit tells while it runs |
//! | [`diagnostics`] | distances to the truth |
//! | [`select`] | held-out entries |
//! | [`model`], [`fit()`] | the fitted model, the front door |
//! | [`evaluation`] | predictions judged by observed values |
//! | [`recommend`], [`similar`] | the best of the other side, the nearest of the same |

mod balance;
pub mod baseline;
pub mod checkpoint;
pub mod config;
pub mod diagnostics;
pub mod error;
pub mod evaluation;
pub mod factors;
mod fit;
mod four;
pub mod init;
mod linalg;
pub mod link;
pub mod model;
pub mod monitor;
pub mod objective;
pub mod observations;
pub mod passes;
mod products;
pub mod recommend;
pub mod select;
mod simd;
pub mod similar;
pub mod solver;
pub mod steps;
pub mod theory;
mod threads;
mod words;

pub use checkpoint::Checkpoint;
pub use config::FitConfig;
pub use diagnostics::Truth;
pub use error::{ConfigError, DataError, Error, NumericalError, Result};
pub use evaluation::Evaluation;
pub use factors::Factors;
pub use fit::{FitInput, fit, resume};
pub use link::{Kernel, KernelFamily, Knots, KnownLink, Link};
pub use model::{FittedModel, Metrics};
pub use monitor::{Flow, Hurry, Monitor, TraceRow, TrialRow, Unwatched};
pub use observations::{Entry, EntryList, Observations, Shape, Side};
pub use recommend::{Excluded, Recommended, Whom};
pub use similar::Similarity;
pub use solver::Stop;
