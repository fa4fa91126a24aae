//! Reads a file of entries and tells how long it took: the reader's side of `make bench-reading`.

use std::{path::Path, process::ExitCode, time::Instant};

use isofactor_io::{Labels, Source, TableFormat, read_entries};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else { return ExitCode::from(2) };
    let (mut rows, mut columns) = (Labels::default(), Labels::default());
    let source = Source::new(Path::new(&path));
    let format =
        TableFormat { wide: std::env::args().any(|arg| arg == "--wide"), ..TableFormat::default() };
    let began = Instant::now();
    let read = read_entries(&source, &format, &mut rows, &mut columns);
    let seconds = began.elapsed().as_secs_f64();
    let text = match &read {
        Ok(entries) => {
            let object = serde_json::json!({
                "entries": entries.len(),
                "rows": rows.len(),
                "columns": columns.len(),
                "seconds": seconds,
                "peak_bytes": peak(),
            });
            object.to_string()
        }
        Err(error) => error.to_string(),
    };
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{text}");
    ExitCode::from(u8::from(read.is_err()))
}

/// The most memory that was resident, where Linux tells it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kibibytes| 1024 * kibibytes)
}
