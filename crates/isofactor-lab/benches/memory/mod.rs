//! The peak of the program's memory, reading included: a made file, `isofactor fit`, and what Linux
//! says about the process.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use isofactor::Shape;
use serde_json::{Value, json};

use crate::setup::uneven;

/// How a fit is asked for; steps so short that nothing but the cost matters.
const STEPS: &str = "--solver bcd --rank 10 --factor-step 1e-9 --link-step 1e-9 --iterations 3";
/// Not the spectral start: these entries are noise, whose singular values lie so close together
/// that finding them was not done after five minutes.
const FITS: [(&str, &str); 2] =
    [("identity link", "--start random --link identity"), ("learned link", "--start random")];

/// Writes about `count` entries to a file in `folder`, fits them in several ways, and removes what
/// was written.
pub fn measure(count: usize, program: &Path, folder: &Path) -> Vec<Value> {
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{error}"));
    let (data, model) = (folder.join("memory.csv"), folder.join("memory.isofactor"));
    let (shape, entries) = write(count, &data);
    println!("{entries} entries, {} rows, {} columns", shape.rows, shape.columns);
    let mut found = Vec::new();
    for (name, how) in FITS {
        let mut command = Command::new(program);
        command.arg("fit").arg(&data).arg("--out").arg(&model);
        command.args(STEPS.split(' ')).args(how.split(' '));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let began = Instant::now();
        let child = command.spawn().unwrap_or_else(|e| panic!("{}: {e}", program.display()));
        let peak = peak_of(child);
        let (seconds, each) = (began.elapsed().as_secs_f64(), peak as f64 / entries as f64);
        println!("{name:<30} {each:>6.1} bytes an entry at the peak, {seconds:.0} s");
        found.push(json!({
            "fit": name,
            "options": how,
            "rows": shape.rows,
            "columns": shape.columns,
            "entries": entries,
            "peak_bytes": peak,
            "bytes_per_entry": each,
            "seconds": seconds,
        }));
    }
    for path in [data, model] {
        fs::remove_file(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    found
}

/// A line an entry; the observations are gone before anything is measured.
fn write(count: usize, path: &Path) -> (Shape, usize) {
    let observations = uneven(count, 1);
    let file = File::create(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut file = BufWriter::with_capacity(1 << 20, file);
    writeln!(file, "row,column,value").expect("room on the disk");
    for entry in observations.iter() {
        writeln!(file, "r{},c{},{:.3}", entry.row, entry.column, entry.value)
            .expect("room on the disk");
    }
    file.flush().expect("room on the disk");
    (observations.shape(), observations.len())
}

/// The most memory that a process had resident, in bytes. Linux keeps the peak itself; it is asked
/// for until the process ends.
fn peak_of(mut child: Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        peak = peak.max(kibibytes.and_then(|number| number.parse().ok()).unwrap_or(0));
        if let Some(ended) = child.try_wait().unwrap_or_else(|error| panic!("{error}")) {
            assert!(ended.success(), "the program ended with {ended}");
            assert!(peak > 0, "the peak of a process can be read on Linux only");
            return 1024 * peak;
        }
        sleep(Duration::from_millis(5));
    }
}
