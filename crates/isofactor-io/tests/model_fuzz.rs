//! Hostile model files: whatever the bytes, they are refused with a sentence or they are a model
//! that can be used. `make fuzz-model CASES=...` tries millions.

// A test that cannot set its stage has to stop.
#![allow(clippy::unwrap_used)]

use std::{ops::Range, path::Path};

use isofactor::{
    Excluded, FitConfig, FitInput, KnownLink, Observations, Shape, Side, Similarity, Unwatched,
    Whom, config::LinkChoice, fit,
};
use isofactor_io::{
    Export, LabelledModel, Labels, TableKind, export, model_from_bytes, model_to_bytes,
};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

/// Cases in an ordinary run of the tests.
const USUAL_CASES: u32 = 3000;

fn cases() -> u32 {
    let told = std::env::var("ISOFACTOR_FUZZ_CASES").ok();
    told.map_or(USUAL_CASES, |text| text.parse().unwrap())
}

fn path() -> &'static Path {
    Path::new("fuzzed.isofactor")
}

/// Files of every kind of link. The last, whose link lives in the space of a kernel, takes
/// hundreds of times as long to read.
fn files() -> Vec<Vec<u8>> {
    let shape = Shape { rows: 9, columns: 7 };
    let seen = Observations::complete(shape, |i, t| {
        let (a, b) = (i as f64 - 3.5, t as f64 - 2.5);
        (a * b / 4.0 + 0.3 * (1.7 * a).sin() * b.cos()).tanh()
    })
    .unwrap();
    let (rank, iterations) = (Some(2), 5);
    let (identity, tanh) = (KnownLink::Identity, KnownLink::Tanh);
    let plain = FitConfig { rank, iterations, ..FitConfig::default() };
    let bcd = FitConfig { rank, iterations, ..FitConfig::bcd() };
    let configs = [
        FitConfig { link: LinkChoice::Known(identity), ..plain.clone() },
        FitConfig { link: LinkChoice::Learned, ..plain },
        FitConfig { link: LinkChoice::Known(tanh), ..bcd.clone() },
        bcd,
    ];
    let names = |prefix: &str, count: usize| {
        Labels::from_names((0..count).map(|i| format!("{prefix}\u{e9}{i}")).collect()).unwrap()
    };
    let file = |config: &FitConfig| {
        let model = fit(config, &FitInput::new(&seen), &mut Unwatched).unwrap();
        let (rows, columns) = (names("r", shape.rows), names("c", shape.columns));
        model_to_bytes(&LabelledModel { model, rows, columns }, path()).unwrap()
    };
    configs.iter().map(file).collect()
}

/// One thing done to a file.
#[derive(Debug, Clone)]
enum Damage {
    /// A byte is another one.
    Byte(usize, u8),
    /// A number of the tensors is another one.
    Number(usize, f64),
    /// A run of bytes is gone.
    Cut(usize, usize),
    /// A run of bytes is there twice.
    Doubled(usize, usize),
    /// A number written in the header is another one, and the header's length fits it.
    Header(usize, String),
    /// A word of the header stands in place of another.
    Word(usize, usize),
    /// The header claims another length.
    Length(u64),
    /// The end is missing.
    Short(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<usize>;
    let extreme = [f64::NAN, f64::INFINITY, f64::MAX, -f64::MAX, f64::MIN_POSITIVE, 0.0, -1.0];
    let numbers = prop_oneof![prop::sample::select(extreme.to_vec()), any::<f64>()];
    let words = ["0", "-1", "1e308", "-1e308", "5e-324", "1e999", "null", "[]"];
    let sizes = ["18446744073709551615", "4611686018427387904", "9", "7", "2", "1", "3", "4"];
    let written = prop_oneof![
        prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        prop::sample::select(sizes.to_vec()).prop_map(str::to_owned),
        any::<u32>().prop_map(|number| number.to_string()),
    ];
    prop_oneof![
        3 => (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        4 => (place(), numbers).prop_map(|(at, number)| Damage::Number(at, number)),
        1 => (place(), 1usize..40).prop_map(|(at, length)| Damage::Cut(at, length)),
        1 => (place(), 1usize..40).prop_map(|(at, length)| Damage::Doubled(at, length)),
        6 => (place(), written).prop_map(|(at, text)| Damage::Header(at, text)),
        2 => (place(), place()).prop_map(|(at, from)| Damage::Word(at, from)),
        1 => any::<u64>().prop_map(Damage::Length),
        1 => place().prop_map(Damage::Short),
    ]
}

/// Where the header ends, as the file says.
fn header_end(bytes: &[u8]) -> Option<usize> {
    let length = bytes.first_chunk::<8>().map(|first| u64::from_le_bytes(*first))?;
    let end = usize::try_from(length).ok()?.checked_add(8)?;
    (end <= bytes.len()).then_some(end)
}

/// Runs of bytes that are all of a kind.
fn runs(header: &[u8], kind: impl Fn(u8) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..header.len()).filter(|&at| kind(header[at])) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// Puts another text in place of a run of the header, whose length is then set right.
fn in_header(
    bytes: &mut Vec<u8>,
    kind: impl Fn(u8) -> bool,
    at: usize,
    text: impl Fn(&[u8], &[Range<usize>]) -> Vec<u8>,
) {
    let Some(end) = header_end(bytes) else { return };
    let mut header = bytes[8..end].to_vec();
    let found = runs(&header, kind);
    if found.is_empty() {
        return;
    }
    let text = text(&header, &found);
    header.splice(found[at % found.len()].clone(), text);
    let length = (header.len() as u64).to_le_bytes();
    bytes.splice(..end, length.into_iter().chain(header));
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let count = bytes.len();
    let run = |at: usize, length: usize| at % count..(at % count + length).min(count);
    match damage {
        Damage::Byte(at, byte) => bytes[at % count] = *byte,
        Damage::Number(at, number) => {
            let Some(end) = header_end(bytes) else { return };
            let numbers = (count - end) / 8;
            if numbers > 0 {
                let at = end + at % numbers * 8;
                bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
        }
        Damage::Cut(at, length) => drop(bytes.drain(run(*at, *length))),
        Damage::Doubled(at, length) => {
            let twice = bytes[run(*at, *length)].to_vec();
            bytes.splice(at % count..at % count, twice);
        }
        Damage::Header(at, text) => {
            let digit = |byte: u8| byte.is_ascii_digit() || b"-.".contains(&byte);
            in_header(bytes, digit, *at, |_, _| text.clone().into_bytes());
        }
        Damage::Word(at, from) => {
            let letter = |byte: u8| byte.is_ascii_alphabetic() || b"_-".contains(&byte);
            let other = |header: &[u8], found: &[Range<usize>]| {
                header[found[from % found.len()].clone()].to_vec()
            };
            in_header(bytes, letter, *at, other);
        }
        Damage::Length(length) => {
            if let Some(first) = bytes.first_chunk_mut::<8>() {
                *first = length.to_le_bytes();
            }
        }
        Damage::Short(length) => bytes.truncate(length % count),
    }
}

/// Everything that the commands do with a model.
fn use_it(labelled: &LabelledModel) {
    let model = &labelled.model;
    let Shape { rows, columns } = model.shape();
    assert!(rows == labelled.rows.len() && columns == labelled.columns.len());
    let ends = [Some(0), None].into_iter().chain([Some(usize::MAX)]);
    for (row, column) in ends.clone().flat_map(|row| ends.clone().map(move |t| (row, t))) {
        let (row, column) = (row.map(|i| i.min(rows - 1)), column.map(|t| t.min(columns - 1)));
        let prediction = model.predict(row, column);
        if let Some(offsets) = &model.offsets {
            let (low, high) = offsets.range;
            assert!(prediction.is_nan() || (low..=high).contains(&prediction));
        }
        let _ = model.predict_by_effects(row, column);
    }
    assert_eq!(model.link_points(5).count(), 5);
    let best = model.recommend(Side::Rows, Whom::Known(0), Excluded::default().of(0), 3);
    assert_eq!(best.len(), 3.min(columns));
    // Factors near the end of the range may have no similarities, which is said, not shouted.
    if let Ok(similarity) = Similarity::new(model, Side::Columns) {
        assert_eq!(similarity.nearest(0, 2).len(), 2.min(columns - 1));
    }
    if let Some(new) = model.new_row(&[(0, 0.5), (columns - 1, -0.25)]) {
        let _ = model.predict_new_row(&new, Some(0));
    }
    let mut table = Vec::new();
    for what in [Export::Rows, Export::Link { points: 3 }, Export::CompletedWide] {
        export(labelled, what, TableKind::Csv, &mut table).unwrap();
    }
    // What was read can be written.
    model_to_bytes(labelled, path()).unwrap();
}

/// How many damaged files could be read and used, and how many were refused.
fn fuzz(files: &[Vec<u8>], cases: u32) -> (u32, u32) {
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    let (read, refused) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let strategy = (0..files.len(), prop::collection::vec(damage(), 1..4));
    let run = TestRunner::new(config).run(&strategy, |(file, damages)| {
        let mut bytes = files[file].clone();
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        match model_from_bytes(&bytes, path()) {
            Ok((labelled, _)) => {
                use_it(&labelled);
                read.set(read.get() + 1);
            }
            Err(error) => {
                prop_assert!(error.to_string().starts_with("fuzzed.isofactor: "));
                refused.set(refused.get() + 1);
            }
        }
        Ok(())
    });
    run.unwrap();
    (read.get(), refused.get())
}

#[test]
fn damaged_models_are_refused_or_can_be_used() {
    let (read, refused) = fuzz(&files()[..3], cases());
    // Both sides of the door were tried.
    assert!(read > cases() / 50 && refused > cases() / 50, "{read} read, {refused} refused");
    if cases() > USUAL_CASES {
        eprintln!("{read} read and used, {refused} refused");
    }
}

#[test]
fn damaged_models_with_a_kernel_are_refused_or_can_be_used() {
    let (read, refused) = fuzz(&files()[3..], cases() / 100);
    assert!(read > 0 && refused > 0, "{read} read, {refused} refused");
}
