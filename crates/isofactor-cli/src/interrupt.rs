//! Ctrl-C: the first press asks for a clean end, the second ends the program at once.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

/// Set when Ctrl-C was pressed; shared because a process has one handler.
static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Whether Ctrl-C was pressed; it is listened for from the first call on.
pub fn interrupted() -> bool {
    let flag = INTERRUPTED.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = flag.clone();
        // Without a handler Ctrl-C ends the program at once, which is a fair fallback.
        let _ = ctrlc::set_handler(move || {
            if seen.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        flag
    });
    flag.load(Ordering::Relaxed)
}
