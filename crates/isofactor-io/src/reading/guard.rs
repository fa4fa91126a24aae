//! Holds panics of decoders that trust what stands inside a page or batch.
//!
//! Sizes, counts, offsets and types are checked before anything is decoded. What is left is the inside
//! of pages and batches: `parquet` and `arrow-ipc` (59) panic on some contents that no valid file has (a
//! page of codes before its dictionary, a map of nulls that is too short), and checking those first would
//! be decoding twice. So their calls are made here, a panic in them becomes an error, and the
//! decoder, which may be in any state, is not used again.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread would be caught and told as an error, so that a hook for panics
/// need not print it.
pub fn panics_are_caught() -> bool {
    GUARDED.get()
}

/// Calls a decoder that must not be used again if this fails; its panic in words.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T) -> Result<T, String> {
    let before = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(before);
    outcome.map_err(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("its contents make no sense: {}", words.unwrap_or("they cannot be decoded"))
    })
}
