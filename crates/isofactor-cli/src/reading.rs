//! Reading with a bar for large files on a terminal, and with notes about what was found out.

use std::{
    io::IsTerminal,
    path::Path,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use isofactor::EntryList;
use isofactor_io::{
    Labels, Pairs, ReadMonitor, Source, TableFormat, read_entries_watched, read_pairs_watched,
};

use crate::{failure::Failure, text::say};

/// Files that are read sooner than this need no bar.
const SOON: Duration = Duration::from_millis(500);

/// Reads entries, numbering names as they occur.
pub fn entries(
    path: &Path,
    format: &TableFormat,
    rows: &mut Labels,
    columns: &mut Labels,
) -> Result<EntryList, Failure> {
    let mut bar = Bar::new();
    let read = read_entries_watched(&Source::new(path), format, rows, columns, &mut bar);
    bar.finish();
    Ok(read?)
}

/// Reads pairs of names.
pub fn pairs(path: &Path, format: &TableFormat) -> Result<Pairs, Failure> {
    let mut bar = Bar::new();
    let read = read_pairs_watched(&Source::new(path), format, &mut bar);
    bar.finish();
    Ok(read?)
}

/// Shows how far reading has come; silent where standard error is no terminal.
struct Bar {
    began: Instant,
    terminal: bool,
    bar: Option<ProgressBar>,
}

impl Bar {
    fn new() -> Self {
        Self { began: Instant::now(), terminal: std::io::stderr().is_terminal(), bar: None }
    }

    fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

impl ReadMonitor for Bar {
    fn bytes(&mut self, read: u64, total: Option<u64>) {
        if !self.terminal || self.began.elapsed() < SOON {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let (bar, template) = match total {
                Some(total) => {
                    let template =
                        "  reading {bar:30.cyan/dim} {bytes:>10}/{total_bytes}  {eta} left";
                    (ProgressBar::new(total), template)
                }
                None => (ProgressBar::no_length(), "  reading {bytes}"),
            };
            let style = ProgressStyle::with_template(template);
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_position(read);
    }

    fn note(&mut self, sentence: &str) {
        say(sentence);
    }
}
