//! Threads to work on: as many as asked for, and no answer depends on how many.

use crate::error::{ConfigError, NumericalError, Result};

/// More threads than any machine this runs on has cores.
const MOST_THREADS: usize = 1024;

/// So many threads; 0 is one per core.
pub(crate) fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    if threads > MOST_THREADS {
        let (got, high) = (threads as f64, MOST_THREADS as f64);
        return Err(ConfigError::OutOfRange { field: "threads", got, low: 0.0, high }.into());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|_| NumericalError::NoThreads.into())
}
