//! The checkpoint file: a line of JSON that says what it is of, a fit under way, a checksum.
//!
//! | part | what |
//! | --- | --- |
//! | the first line | one JSON object: `isofactor-checkpoint` (the format), `version`, `at`, `data` (see [`fingerprint`](crate::fingerprint())), `settings` |
//! | up to the last 16 bytes | the fit, the trace so far and the seconds it took, in the postcard encoding |
//! | the last 16 bytes | XXH3-128 of everything before, least significant byte first |
//!
//! The middle part is for the version of the program that wrote it, and for no other.

use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use isofactor::{Checkpoint, FitConfig, TraceRow, monitor::TruthRow};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::{
    error::{Error, Result},
    write::Target,
};

/// The format this program writes and reads.
const FORMAT: u64 = 5;
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Bytes of the checksum.
const SUM: usize = 16;

/// Where the checkpoints of a fit are kept, and what the fit is made from.
#[derive(Debug)]
pub struct CheckpointFile {
    path: PathBuf,
    settings: serde_json::Value,
    data: String,
}

/// A fit that was under way.
#[derive(Debug)]
pub struct StoredFit {
    /// Its state.
    pub checkpoint: Checkpoint<'static>,
    /// Its trace.
    pub trace: Vec<TraceRow>,
    /// Seconds it has taken.
    pub seconds: f64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(rename = "isofactor-checkpoint")]
    format: u64,
    version: String,
    /// How far the fit had come, in words.
    at: String,
    data: String,
    settings: serde_json::Value,
}

/// What identifies a header of any format.
#[derive(Deserialize)]
struct Preamble {
    #[serde(rename = "isofactor-checkpoint")]
    format: u64,
    version: String,
}

impl CheckpointFile {
    /// For a fit with these settings, made from what has this fingerprint.
    pub fn new(path: &Path, settings: &FitConfig, data: String) -> Result<Self> {
        // Noticed before any work is done.
        Target::new(path)?;
        let settings = serde_json::to_value(settings).map_err(|e| Error::writing(path, e))?;
        Ok(Self { path: path.to_owned(), settings, data })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a checkpoint over the one that is there.
    pub fn write(
        &self,
        checkpoint: &Checkpoint<'_>,
        trace: &[TraceRow],
        seconds: f64,
    ) -> Result<()> {
        let header = Header {
            format: FORMAT,
            version: VERSION.to_owned(),
            at: checkpoint.place().to_string(),
            data: self.data.clone(),
            settings: self.settings.clone(),
        };
        let trace: Vec<StoredRow> = trace.iter().map(StoredRow::from).collect();
        Target::new(&self.path)?.write(|out| {
            let mut out = BufWriter::with_capacity(1 << 16, Summed::new(out));
            serde_json::to_writer(&mut out, &header)?;
            out.write_all(b"\n")?;
            let stored = postcard::to_io(&(checkpoint, trace, seconds), &mut out).map(|_| ());
            // The stream's own error says more than that of the encoding.
            out.flush()?;
            stored.map_err(std::io::Error::other)?;
            let sum = out.get_ref().sum.digest128();
            out.write_all(&sum.to_le_bytes())?;
            out.flush()
        })
    }

    /// Reads the checkpoint that is there; none where there is no file.
    pub fn read(&self) -> Result<Option<StoredFit>> {
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::reading(&self.path, &e)),
        };
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let end = end.ok_or_else(|| self.damaged("it is cut off or something else"))?;
        self.check(&bytes[..end])?;
        let (whole, sum) = bytes
            .split_last_chunk::<SUM>()
            .filter(|(whole, _)| whole.len() > end)
            .ok_or_else(|| self.damaged("it is cut off"))?;
        if xxh3_128(whole) != u128::from_le_bytes(*sum) {
            return Err(self.damaged("it is cut off or damaged"));
        }
        let ((checkpoint, trace, seconds), rest) =
            postcard::take_from_bytes::<(Checkpoint<'static>, Vec<StoredRow>, f64)>(
                &whole[end + 1..],
            )
            .map_err(|e| self.damaged(&e.to_string()))?;
        if !rest.is_empty() {
            return Err(self.damaged("there is more in it than a fit"));
        }
        let trace = trace.into_iter().map(TraceRow::from).collect();
        Ok(Some(StoredFit { checkpoint, trace, seconds }))
    }

    /// Whether it is of this fit.
    fn check(&self, line: &[u8]) -> Result<()> {
        let other = || self.damaged("it was not written by isofactor");
        let Preamble { format, version } = serde_json::from_slice(line).map_err(|_| other())?;
        if format != FORMAT || version != VERSION {
            let (path, writer) = (self.path.clone(), version);
            return Err(Error::CheckpointVersion { path, writer, version: VERSION });
        }
        let header: Header = serde_json::from_slice(line).map_err(|_| other())?;
        if let Some((setting, was, now)) = difference(&header.settings, &self.settings) {
            return Err(Error::OtherSettings { path: self.path.clone(), setting, was, now });
        }
        if header.data != self.data {
            return Err(Error::OtherData { path: self.path.clone() });
        }
        Ok(())
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::NotACheckpoint { path: self.path.clone(), reason: reason.to_owned() }
    }
}

/// The first setting that differs, what it was and what it is.
fn difference(
    was: &serde_json::Value,
    now: &serde_json::Value,
) -> Option<(String, String, String)> {
    let none = serde_json::Map::new();
    let (was, now) = (was.as_object().unwrap_or(&none), now.as_object().unwrap_or(&none));
    let shown = |value: Option<&serde_json::Value>| match value {
        None | Some(serde_json::Value::Null) => "auto".to_owned(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let mut names = now.keys().chain(was.keys());
    let name = names.find(|name| was.get(*name) != now.get(*name))?;
    Some((name.clone(), shown(was.get(name)), shown(now.get(name))))
}

/// A writer that knows the checksum of what went through it.
struct Summed<'a> {
    out: &'a mut dyn Write,
    sum: Xxh3,
}

impl<'a> Summed<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Self { out, sum: Xxh3::new() }
    }
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// A line of the trace, field by field.
#[derive(Serialize, Deserialize)]
struct StoredRow {
    iteration: usize,
    /// Objective, data term, balance term, training error, seconds.
    numbers: [f64; 5],
    link_norm: Option<f64>,
    validation_rmse: Option<f64>,
    /// Distance of the factors; distance of the link, Lyapunov function, regret, lag, bias.
    truth: Option<(f64, [Option<f64>; 5])>,
}

impl From<&TraceRow> for StoredRow {
    fn from(row: &TraceRow) -> Self {
        let TraceRow { iteration, objective, data_term, balance_term, train_rmse, .. } = *row;
        Self {
            iteration,
            numbers: [objective, data_term, balance_term, train_rmse, row.seconds],
            link_norm: row.link_norm,
            validation_rmse: row.validation_rmse,
            truth: row.truth.map(|t| {
                (t.factor_distance, [t.link_distance, t.lyapunov, t.regret, t.lag, t.bias])
            }),
        }
    }
}

impl From<StoredRow> for TraceRow {
    fn from(row: StoredRow) -> Self {
        let StoredRow { iteration, numbers, link_norm, validation_rmse, truth } = row;
        let [objective, data_term, balance_term, train_rmse, seconds] = numbers;
        let truth = truth.map(|(factor_distance, others)| {
            let [link_distance, lyapunov, regret, lag, bias] = others;
            TruthRow { factor_distance, link_distance, lyapunov, regret, lag, bias }
        });
        Self {
            iteration,
            objective,
            data_term,
            balance_term,
            link_norm,
            train_rmse,
            validation_rmse,
            seconds,
            truth,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint;
    use isofactor::{FitInput, Flow, Monitor, Observations, Shape, Unwatched, fit, resume};
    use proptest::prelude::*;

    fn seen() -> Observations {
        let shape = Shape { rows: 20, columns: 15 };
        let value = |i: usize, t: usize| ((i as f64 - 9.5) * (t as f64 - 7.0) / 20.0).tanh();
        Observations::complete(shape, value).unwrap()
    }

    /// Stores the checkpoint of one boundary.
    struct Keeper<'a> {
        file: &'a CheckpointFile,
        at: usize,
        rows: Vec<TraceRow>,
    }

    impl Monitor for Keeper<'_> {
        fn iteration(&mut self, row: &TraceRow) -> Flow {
            self.rows.push(*row);
            Flow::Continue
        }

        fn boundary(&mut self, checkpoint: &Checkpoint<'_>) {
            if self.at == 0 {
                self.file.write(checkpoint, &self.rows, 1.5).unwrap();
            }
            self.at = self.at.wrapping_sub(1);
        }
    }

    fn configs() -> [FitConfig; 3] {
        [
            FitConfig { rank: Some(2), ..FitConfig::default() },
            FitConfig::default(),
            FitConfig { rank: Some(2), iterations: 12, ..FitConfig::bcd() },
        ]
    }

    /// A file with the checkpoint of some boundary of a fit.
    fn stored(folder: &Path, config: &FitConfig, at: usize) -> CheckpointFile {
        let seen = seen();
        let input = FitInput::new(&seen);
        let path = folder.join("fit.checkpoint");
        let file = CheckpointFile::new(&path, config, fingerprint(&input)).unwrap();
        fit(config, &input, &mut Keeper { file: &file, at, rows: Vec::new() }).unwrap();
        file
    }

    #[test]
    fn a_fit_goes_on_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let seen = seen();
        let input = FitInput::new(&seen);
        for config in configs() {
            let whole = fit(&config, &input, &mut Unwatched).unwrap();
            for at in [0, 5, 9] {
                let file = stored(folder.path(), &config, at);
                let StoredFit { checkpoint, trace, seconds } = file.read().unwrap().unwrap();
                assert_eq!(
                    (trace.is_empty(), seconds),
                    (!trace.iter().any(|r| r.iteration == 0), 1.5)
                );
                let resumed = resume(&config, &input, Some(checkpoint), &mut Unwatched).unwrap();
                assert_eq!(resumed.factors, whole.factors);
                assert_eq!(resumed.provenance, whole.provenance);
            }
        }
    }

    #[test]
    fn another_fit_is_refused_with_what_differs() {
        let folder = tempfile::tempdir().unwrap();
        let config = FitConfig { rank: Some(2), ..FitConfig::default() };
        let file = stored(folder.path(), &config, 3);
        let refused = |config: &FitConfig, data: &str| {
            let other = CheckpointFile::new(file.path(), config, data.to_owned()).unwrap();
            other.read().unwrap_err().to_string()
        };
        let sentence = refused(&FitConfig { rank: Some(3), ..config.clone() }, &file.data);
        assert!(sentence.contains("rank 2") && sentence.contains("here it is 3"), "{sentence}");
        let sentence = refused(&config, "of something else");
        assert!(sentence.contains("other data"), "{sentence}");
        let bytes = std::fs::read(file.path()).unwrap();
        let header = String::from_utf8_lossy(&bytes).lines().next().unwrap().to_owned();
        assert!(header.contains(&format!("\"isofactor-checkpoint\":{FORMAT}")), "{header}");
        let place = bytes.windows(VERSION.len()).position(|w| w == VERSION.as_bytes()).unwrap();
        let mut older = bytes.clone();
        older[place] = b'9';
        std::fs::write(file.path(), older).unwrap();
        let sentence = file.read().unwrap_err().to_string();
        assert!(sentence.contains("written by isofactor 9"), "{sentence}");
        std::fs::remove_file(file.path()).unwrap();
        assert!(file.read().unwrap().is_none());
    }

    #[test]
    fn a_file_cut_off_anywhere_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for config in configs() {
            let file = stored(folder.path(), &config, 5);
            let whole = std::fs::read(file.path()).unwrap();
            for length in (0..whole.len()).step_by(61) {
                std::fs::write(file.path(), &whole[..length]).unwrap();
                let sentence = file.read().unwrap_err().to_string();
                assert!(sentence.contains("not a usable checkpoint"), "{sentence}");
            }
        }
    }

    #[test]
    fn changed_bytes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for config in configs() {
            let file = stored(folder.path(), &config, 5);
            let whole = std::fs::read(file.path()).unwrap();
            let mut runner =
                proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(100));
            let change = (0..whole.len(), 1..=255u8);
            runner
                .run(&change, |(place, change)| {
                    let mut bytes = whole.clone();
                    bytes[place] ^= change;
                    std::fs::write(file.path(), &bytes).unwrap();
                    prop_assert!(file.read().is_err());
                    Ok(())
                })
                .unwrap();
        }
    }

    /// Someone who knows the checksum can change the fit; the worst that comes of it is a sentence
    /// or another fit.
    #[test]
    fn forged_bytes_never_panic() {
        let folder = tempfile::tempdir().unwrap();
        let seen = seen();
        let input = FitInput::new(&seen);
        for config in configs() {
            let file = stored(folder.path(), &config, 5);
            let whole = std::fs::read(file.path()).unwrap();
            let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
            let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(20));
            let change = (first..whole.len() - SUM, any::<u8>());
            runner
                .run(&prop::collection::vec(change, 1..4), |changes| {
                    let mut bytes = whole.clone();
                    for (place, byte) in changes {
                        bytes[place] = byte;
                    }
                    let end = bytes.len() - SUM;
                    let sum = xxh3_128(&bytes[..end]).to_le_bytes();
                    bytes[end..].copy_from_slice(&sum);
                    std::fs::write(file.path(), &bytes).unwrap();
                    if let Ok(Some(stored)) = file.read() {
                        let _ = resume(&config, &input, Some(stored.checkpoint), &mut Unwatched);
                    }
                    Ok(())
                })
                .unwrap();
        }
    }
}
