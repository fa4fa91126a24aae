//! What reading tells while it goes on.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Watches a file being read.
pub trait ReadMonitor {
    /// So many bytes have been read, of so many where that is known.
    fn bytes(&mut self, read: u64, total: Option<u64>);
    /// Something was found out about the file that its user may want to know.
    fn note(&mut self, sentence: &str);
}

/// Reading that nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl ReadMonitor for Silent {
    fn bytes(&mut self, _: u64, _: Option<u64>) {}
    fn note(&mut self, _: &str) {}
}

/// Tells a monitor now and then how much has been read.
pub(crate) struct Meter<'a> {
    monitor: &'a mut dyn ReadMonitor,
    read: Arc<AtomicU64>,
    total: Option<u64>,
    steps: u32,
}

impl<'a> Meter<'a> {
    pub fn new(monitor: &'a mut dyn ReadMonitor, read: Arc<AtomicU64>, total: Option<u64>) -> Self {
        Self { monitor, read, total, steps: 0 }
    }

    /// After each entry or line; every so many of them the monitor is told.
    #[inline]
    pub fn step(&mut self) {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(1 << 16) {
            self.monitor.bytes(self.read.load(Ordering::Relaxed), self.total);
        }
    }
}
