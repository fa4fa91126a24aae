//! Threads to work on: as many as asked for, and no answer depends on how many.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

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

/// Works on parts, each taken by whichever thread is free, in some room of the thread's own; what
/// comes of them, in their order.
///
/// A list that is halved and halved again, as rayon does by itself, ends with threads that wait for
/// each other's halves. One that waits falls asleep, and waking it takes as long as thousands of
/// entries. Here only the last part of another thread is ever waited for.
pub(crate) fn in_turn<T: Send, S, R: Send>(
    parts: impl IntoIterator<Item = T>,
    room: impl Fn() -> S + Sync + Send,
    work: impl Fn(&mut S, T) -> R + Sync + Send,
) -> Vec<R> {
    let mut parts: Vec<(usize, T)> = parts.into_iter().enumerate().collect();
    if parts.len() < 2 || rayon::current_num_threads() == 1 {
        let mut room = room();
        return parts.into_iter().map(|(_, part)| work(&mut room, part)).collect();
    }
    // Threads work far apart, so that they seldom write to the same line of the cache.
    let share = parts.len().div_ceil(rayon::current_num_threads());
    parts.sort_unstable_by_key(|&(number, _)| (number % share, number));
    let work = |room: &mut S, (number, part)| (number, work(room, part));
    let mut found: Vec<(usize, R)> = parts.into_iter().par_bridge().map_init(room, work).collect();
    found.sort_unstable_by_key(|&(number, _)| number);
    found.into_iter().map(|(_, found)| found).collect()
}

/// Does work that is too short to be shared, while another thread stays awake for what comes next: one
/// that finds nothing to do soon falls asleep, and waking it takes longer than such work. The work must
/// not share itself out to threads: one of them could be waiting for its end.
pub(crate) fn attended<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if rayon::current_num_threads() == 1 {
        return work();
    }
    let done = AtomicBool::new(false);
    let attend = || {
        while !done.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    };
    let work = || {
        // Also where the work ends in a panic.
        let _ends = Ends(&done);
        work()
    };
    rayon::join(work, attend).0
}

/// Tells that something has ended when it goes.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attended_work_comes_to_its_end_and_so_does_who_attends() {
        for threads in [1, 2, 5] {
            let pool = pool(threads).unwrap();
            assert_eq!(pool.install(|| (0..1000).map(|i| attended(|| i)).sum::<i32>()), 499_500);
            let fails = || pool.install(|| attended(|| panic!("as it should")));
            let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(fails));
            assert!(failed.is_err());
        }
    }

    #[test]
    fn parts_are_worked_on_once_and_come_back_in_their_order() {
        for (threads, count) in [(1, 0), (1, 7), (2, 1), (2, 9), (3, 100), (8, 5)] {
            let found = pool(threads).unwrap().install(|| {
                in_turn(
                    0..count,
                    || 0,
                    |seen, part| {
                        *seen += 1;
                        (part, *seen <= count)
                    },
                )
            });
            assert!(found.iter().all(|&(_, once)| once));
            assert!(found.into_iter().map(|(part, _)| part).eq(0..count));
        }
    }
}
