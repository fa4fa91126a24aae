//! Ctrl-C: noticed at the next boundary of a fit, and where that does not come soon, before it.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use isofactor::Hurry;

use crate::text::say;

/// How long a boundary is waited for, and then what is done without one.
const SOON: Duration = Duration::from_millis(500);

/// Whether and how urgently the user wants to stop.
#[derive(Debug)]
pub struct Interrupt {
    asked: AtomicBool,
    hurry: Hurry,
    /// Whether a boundary was reached, so that there is something to save.
    reached: AtomicBool,
}

impl Interrupt {
    /// The one of this process, listening from now on.
    pub fn listen() -> Arc<Self> {
        static ONLY: OnceLock<Arc<Interrupt>> = OnceLock::new();
        let only = ONLY.get_or_init(|| {
            let interrupt = Arc::new(Self {
                asked: AtomicBool::new(false),
                hurry: Hurry::new(),
                reached: AtomicBool::new(false),
            });
            let heard = interrupt.clone();
            // Without a handler Ctrl-C ends the program at once, which is a fair fallback.
            let _ = ctrlc::set_handler(move || {
                if heard.asked.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
                let heard = heard.clone();
                std::thread::spawn(move || heard.press());
            });
            interrupt
        });
        only.clone()
    }

    /// Gives the next boundary half a second; then ends the sweep under way; then the program, if
    /// there is nothing to save yet.
    fn press(&self) {
        std::thread::sleep(SOON);
        self.hurry.raise();
        std::thread::sleep(SOON);
        if !self.reached.load(Ordering::Relaxed) {
            say(
                "isofactor: interrupted before the first iteration, with nothing to save yet; to begin anew, run the same command again",
            );
            std::process::exit(130);
        }
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// What ends a sweep before its boundary.
    pub fn hurry(&self) -> Hurry {
        self.hurry.clone()
    }

    /// A boundary was reached.
    pub fn reach(&self) {
        self.reached.store(true, Ordering::Relaxed);
    }
}
