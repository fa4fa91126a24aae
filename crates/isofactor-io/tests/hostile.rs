//! Damaged files of every format: no panic, no more memory than is stated, and what is read is sound.
//!
//! Valid files are changed at random: bytes, bits, lengths, pieces taken out, doubled or moved. The
//! small run is part of the tests; `make fuzz-readers CASES=1000000` makes so many cases of each
//! file, with `SEED` to begin elsewhere. A case that fails is kept and named.

// Functions of a test may fail as the test itself may; the harness tells what it did.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::{
    alloc::System,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use cap::Cap;
use isofactor_io::{
    FileKind, Labels, Source, TableFormat, panics_are_caught, read_entries, read_pairs,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// What reading a file of some kilobytes may take at the most: what blocks may claim to unpack to
/// (256 MiB), once as a claim and once while it is checked, and the room of entries beside it.
const MOST_BYTES: usize = (2 * 256 + 192) << 20;

/// A format, a file of it, and how to read it.
struct Seed {
    name: &'static str,
    kind: FileKind,
    bytes: Vec<u8>,
    formats: Vec<TableFormat>,
}

fn seeds() -> Vec<Seed> {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let file = |name: &str| fs::read(data.join(name)).unwrap();
    let plain = TableFormat::default();
    let wide = TableFormat { wide: true, ..plain.clone() };
    let named = TableFormat {
        row: Some("row".into()),
        column: Some("day".into()),
        value: Some("value".into()),
        ..plain.clone()
    };
    let csv =
        "row,column,value,\"more, or less\"\r\nanna,\"x \"\"y\"\"\",1.5,z\n\nbert,\u{e9},-2e3,\n";
    let long = format!("{csv}{}", "anna,x,1.5,z\nbert,y,2,\n".repeat(20));
    let gzip = {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(long.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = zstd::stream::encode_all(long.as_bytes(), 3).unwrap();
    let array = "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n";
    let table = |name, kind, bytes, formats: &[&TableFormat]| Seed {
        name,
        kind,
        bytes,
        formats: formats.iter().map(|format| (*format).clone()).collect(),
    };
    let (csv_kind, arrow, parquet) = (FileKind::Csv, FileKind::Arrow, FileKind::Parquet);
    let semicolons = "a;b;c\nx;y;3,5\nx;z;4\n".as_bytes().to_vec();
    let comma = TableFormat { decimal_comma: true, ..plain.clone() };
    vec![
        table("csv", csv_kind, csv.as_bytes().to_vec(), &[&plain, &wide]),
        table("csv with semicolons", csv_kind, semicolons, &[&comma, &plain]),
        table("csv.gz", csv_kind, gzip, &[&plain]),
        table("csv.zst", csv_kind, zstd, &[&plain]),
        table("pandas.parquet", parquet, file("pandas.parquet"), &[&named]),
        table("pandas_wide.parquet", parquet, file("pandas_wide.parquet"), &[&wide]),
        table("polars.parquet", parquet, file("polars.parquet"), &[&plain]),
        table(
            "spark.parquet",
            parquet,
            file("spark.parquet/part-00001-5f1c-c000.snappy.parquet"),
            &[&plain],
        ),
        table("pandas.feather", arrow, file("pandas.feather"), &[&named]),
        table("polars.arrow", arrow, file("polars.arrow"), &[&plain]),
        table("polars_stream.arrow", arrow, file("polars_stream.arrow"), &[&plain]),
        table("sparse.mtx", FileKind::MatrixMarket, file("sparse.mtx"), &[&plain]),
        table("array.mtx", FileKind::MatrixMarket, array.as_bytes().to_vec(), &[&plain]),
        table("dense.npy", FileKind::Npy, file("dense.npy"), &[&plain]),
        table("fortran.npy", FileKind::Npy, file("fortran.npy"), &[&plain]),
        table("csr.npz", FileKind::Npz, file("csr.npz"), &[&plain]),
        table("csc.npz", FileKind::Npz, file("csc.npz"), &[&plain]),
        table("coo.npz", FileKind::Npz, file("coo.npz"), &[&plain]),
        table("dense.npz", FileKind::Npz, file("dense.npz"), &[&plain]),
    ]
}

/// Changes some bytes, once or several times.
fn mutate(seed: &[u8], random: &mut Pcg64Mcg) -> Vec<u8> {
    const ODD: [u64; 12] = [
        0,
        1,
        0x7f,
        0xff,
        0x7fff,
        0xffff,
        0x7fff_ffff,
        0xffff_ffff,
        0x1_0000_0000,
        i64::MAX as u64,
        u64::MAX,
        1_000_000_000_000_000,
    ];
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.random_range(0..4) * random.random_range(0..3) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = random.random_range(0..bytes.len());
        let length = random.random_range(1..=16.min(bytes.len() - at));
        match random.random_range(0..9) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.next_u32() as u8,
            2 => bytes[at] = bytes[at].wrapping_add(if random.random() { 1 } else { 255 }),
            3 => {
                // A number that lengths and counts are not made for.
                let odd = ODD[random.random_range(0..ODD.len())].to_le_bytes();
                let width = [2, 4, 8][random.random_range(0..3)].min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&odd[..width]);
            }
            4 => {
                bytes.drain(at..at + length);
            }
            5 => {
                let piece = bytes[at..at + length].to_vec();
                let to = random.random_range(0..=bytes.len());
                bytes.splice(to..to, piece);
            }
            6 => bytes.truncate(at),
            7 => {
                let from = random.random_range(0..=bytes.len() - length);
                bytes.copy_within(from..from + length, at);
            }
            _ => {
                // Texts: another digit, sign or mark.
                let marks = b"0123456789,;\"\n\r\t -.eE%nNaAiI()'<>|";
                bytes[at] = marks[random.random_range(0..marks.len())];
            }
        }
    }
    bytes
}

/// Where panics came from, and the first case of each.
static PANICS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Notes the place of a panic instead of printing it; all of them are told at the end.
fn note_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if panics_are_caught() {
            return;
        }
        let mut panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
        panics.entry(panic.to_string()).or_default();
    }));
}

/// What the cases of a seed came to.
#[derive(Default)]
struct Tally {
    read: u64,
    refused: u64,
    most_bytes: usize,
    slowest: Duration,
}

fn run(seed: &Seed, cases: u64, first: u64, folder: &Path) -> Tally {
    let path = folder.join("case");
    let before = MEMORY.allocated();
    let mut tally = Tally::default();
    for case in first..first + cases {
        let mut random = Pcg64Mcg::seed_from_u64(case);
        let bytes = mutate(&seed.bytes, &mut random);
        fs::write(&path, &bytes).unwrap();
        let format = &seed.formats[random.random_range(0..seed.formats.len())];
        let format = TableFormat { kind: Some(seed.kind), ..format.clone() };
        let pairs = random.random_range(0..8) == 0;
        let began = Instant::now();
        let sound = std::panic::catch_unwind(|| one(&path, &format, pairs));
        // The most of all cases so far: the first that takes too much is the one at hand.
        let (taken, time) = (MEMORY.max_allocated().saturating_sub(before), began.elapsed());
        let kept = || {
            let name = format!("isofactor-hostile-{}-{case}", seed.name.replace(' ', "-"));
            let kept = std::env::temp_dir().join(name);
            fs::write(&kept, &bytes).unwrap();
            format!("{} case {case}, kept as {}", seed.name, kept.display())
        };
        match sound {
            Ok(true) => tally.read += 1,
            Ok(false) => tally.refused += 1,
            Err(_) => {
                let mut panics = PANICS.lock().unwrap();
                panics.values_mut().filter(|case| case.is_empty()).for_each(|case| *case = kept());
            }
        }
        assert!(taken <= MOST_BYTES, "{taken} bytes at {}", kept());
        tally.most_bytes = tally.most_bytes.max(taken);
        tally.slowest = tally.slowest.max(time);
    }
    tally
}

/// Reads a file; what comes of it is sound, or a refusal that names the file.
fn one(path: &Path, format: &TableFormat, pairs: bool) -> bool {
    let source = Source::new(path);
    let refusal = if pairs {
        match read_pairs(&source, format) {
            Ok(pairs) => {
                assert!(!pairs.is_empty());
                return true;
            }
            Err(error) => error,
        }
    } else {
        let (mut rows, mut columns) = (Labels::default(), Labels::default());
        match read_entries(&source, format, &mut rows, &mut columns) {
            Ok(entries) => {
                for entry in entries.iter() {
                    assert!(entry.value.is_finite());
                    assert!(entry.row < rows.len() && entry.column < columns.len());
                }
                return true;
            }
            Err(error) => error,
        }
    };
    assert!(refusal.to_string().contains("case"), "{refusal}");
    false
}

#[test]
fn damaged_files_are_read_or_refused() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (cases, first) = (number("CASES", 400), number("SEED", 0));
    let only = std::env::var("ONLY").unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    note_panics();
    for seed in seeds().iter().filter(|seed| seed.name.contains(&only)) {
        let tally = run(seed, cases, first, folder.path());
        println!(
            "{:<22} {cases} cases: {} read, {} refused, {} KiB at most so far, slowest {:?}",
            seed.name,
            tally.read,
            tally.refused,
            tally.most_bytes >> 10,
            tally.slowest
        );
    }
    let _ = std::panic::take_hook();
    let panics = PANICS.lock().unwrap();
    assert!(panics.is_empty(), "{} panics: {panics:#?}", panics.len());
}
