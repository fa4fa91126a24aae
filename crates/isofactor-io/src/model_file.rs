//! The model file: safetensors, with one JSON header under the key `isofactor`.
//!
//! | tensor | type | shape | what |
//! | --- | --- | --- | --- |
//! | `row_factors`, `column_factors` | F64 | rows (columns) x rank | |
//! | `row_deviations`, `column_deviations` | F64 | rows (columns) | see `Baseline`; NaN where nothing was observed |
//! | `row_label_bytes`, `column_label_bytes` | U8 | | the names, UTF-8, one after the other |
//! | `row_label_ends`, `column_label_ends` | U64 | rows (columns) | where each name ends |
//! | `link_table` | F64 | 201 x 3 | score, link, slope over the link's domain |
//! | `link_centres`, `link_weights` | F64 | | coordinates of a link learned in the space of a kernel |
//! | `link_values`, `link_slopes` | F64 | | the table of a link learned by the default solver |
//! | `row_effects`, `column_effects` | F64 | rows (columns) | effects; with them come the following |
//! | `row_variances`, `column_variances` | F64 | rows (columns) x (rank + 1) | of factors and effect |
//! | `row_presence`, `column_presence` | F64 | columns (rows) x (rank + 1) | what an entry there says of a row (column) before its value is seen |
//!
//! Format 2 added effects and what comes with them; a file of format 1 is read as one without.

use std::{
    collections::HashMap,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use isofactor::{
    Factors, FittedModel, Kernel, KnownLink, Link,
    baseline::Baseline,
    diagnostics::Standing,
    link::{LearnedLink, LinkSpace, Tabulated},
    model::{Offsets, Provenance},
    solver::{FoldIn, SidePrior},
    theory::Constants,
};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    given_start::known,
    labels::Labels,
    write::Target,
};

/// The format this program writes and reads.
const FORMAT: u64 = 2;
/// The oldest format that is still read.
const OLDEST: u64 = 1;
/// The key of the header in the file's metadata.
const KEY: &str = "isofactor";
/// Lines of the table of the link.
const TABLE_LINES: usize = 201;

/// A model that knows its rows and columns by name.
#[derive(Debug, Clone)]
pub struct LabelledModel {
    /// The model.
    pub model: FittedModel,
    /// Names of its rows.
    pub rows: Labels,
    /// Names of its columns.
    pub columns: Labels,
}

impl LabelledModel {
    /// How many of other names it knows.
    pub fn known(&self, rows: &Labels, columns: &Labels) -> usize {
        known((&self.rows, &self.columns), (rows, columns))
    }
}

/// What identifies a header of any format.
#[derive(Deserialize)]
struct Preamble {
    format: u64,
    version: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u64,
    version: String,
    mean: f64,
    link: StoredLink,
    #[serde(default)]
    offsets: Option<StoredOffsets>,
    provenance: Provenance,
    constants: Option<Constants>,
    standing: Option<Standing>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredLink {
    Known(KnownLink),
    Learned { kernel: Kernel, half_width: f64 },
    Tabulated { low: f64, spacing: f64 },
}

/// What the header says of effects.
#[derive(Serialize, Deserialize)]
struct StoredOffsets {
    level: f64,
    range: (f64, f64),
    noise_precision: f64,
    row_precision: Vec<f64>,
    column_precision: Vec<f64>,
}

/// Which program wrote a model, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The format of the file.
    pub format: u64,
    /// The version of the program.
    pub version: String,
}

/// Writes a model.
pub fn write_model(target: Target, labelled: &LabelledModel) -> Result<()> {
    let bytes = model_to_bytes(labelled, target.path())?;
    target.write(|out| out.write_all(&bytes))
}

/// The bytes of a model's file; the path is what an error names.
pub fn model_to_bytes(labelled: &LabelledModel, path: &Path) -> Result<Vec<u8>> {
    encode(labelled).map_err(|reason| Error::writing(path, reason))
}

fn encode(labelled: &LabelledModel) -> std::result::Result<Vec<u8>, String> {
    let LabelledModel { model, rows, columns } = labelled;
    let rank = model.factors.rank();
    let (row_bytes, row_ends) = packed(rows);
    let (column_bytes, column_ends) = packed(columns);
    let table: Vec<f64> =
        model.link_points(TABLE_LINES).flat_map(|p| [p.score, p.value, p.slope]).collect();
    let mut arrays: Vec<(&str, Vec<usize>, Vec<u8>)> = vec![
        ("row_factors", vec![rows.len(), rank], le_bytes(&model.factors.rows())),
        ("column_factors", vec![columns.len(), rank], le_bytes(&model.factors.columns())),
        ("row_deviations", vec![rows.len()], deviations(&model.baseline.rows)),
        ("column_deviations", vec![columns.len()], deviations(&model.baseline.columns)),
        ("link_table", vec![TABLE_LINES, 3], le_bytes(&table)),
    ];
    let mut push = |name, shape: Vec<usize>, numbers: &[f64]| {
        arrays.push((name, shape, le_bytes(numbers)));
    };
    let link = match &model.link {
        Link::Known(link) => StoredLink::Known(link.clone()),
        Link::Learned(link) => {
            let space = link.space();
            push("link_centres", vec![space.centres().len()], space.centres());
            push("link_weights", vec![link.weights().len()], link.weights());
            StoredLink::Learned { kernel: space.kernel(), half_width: space.half_width() }
        }
        Link::Tabulated(link) => {
            push("link_values", vec![link.values().len()], link.values());
            push("link_slopes", vec![link.slopes().len()], link.slopes());
            let (low, spacing) = link.grid();
            StoredLink::Tabulated { low, spacing }
        }
    };
    let offsets = model.offsets.as_ref().zip(model.fold_in.as_ref()).map(|(offsets, fold_in)| {
        push("row_effects", vec![rows.len()], &offsets.rows);
        push("column_effects", vec![columns.len()], &offsets.columns);
        let (of_rows, of_columns) = (&fold_in.rows, &fold_in.columns);
        push("row_variances", vec![rows.len(), rank + 1], &of_rows.variances);
        push("column_variances", vec![columns.len(), rank + 1], &of_columns.variances);
        push("row_presence", vec![columns.len(), rank + 1], &of_rows.presence);
        push("column_presence", vec![rows.len(), rank + 1], &of_columns.presence);
        StoredOffsets {
            level: offsets.level,
            range: offsets.range,
            noise_precision: fold_in.noise_precision,
            row_precision: of_rows.precision.clone(),
            column_precision: of_columns.precision.clone(),
        }
    });
    let mut views = Vec::new();
    for (name, shape, bytes) in &arrays {
        views.push((*name, view(Dtype::F64, shape.clone(), bytes)?));
    }
    let texts = [
        ("row_label_bytes", Dtype::U8, row_bytes.len(), &row_bytes),
        ("column_label_bytes", Dtype::U8, column_bytes.len(), &column_bytes),
        ("row_label_ends", Dtype::U64, rows.len(), &row_ends),
        ("column_label_ends", Dtype::U64, columns.len(), &column_ends),
    ];
    for (name, dtype, length, bytes) in texts {
        views.push((name, view(dtype, vec![length], bytes)?));
    }
    let header = Header {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mean: model.baseline.mean,
        link,
        offsets,
        provenance: model.provenance.clone(),
        constants: model.constants,
        standing: model.standing,
    };
    let header = serde_json::to_string(&header).map_err(|e| e.to_string())?;
    let metadata = HashMap::from([(KEY.to_owned(), header)]);
    safetensors::serialize(views, Some(metadata)).map_err(|e| e.to_string())
}

/// Reads a model.
pub fn read_model(path: &Path) -> Result<LabelledModel> {
    Ok(read_model_and_origin(path)?.0)
}

/// Reads a model, and which program wrote it.
pub fn read_model_and_origin(path: &Path) -> Result<(LabelledModel, Origin)> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|e| Error::reading(path, &e))?;
    model_from_bytes(&bytes, path)
}

/// A model from the bytes of its file; the path is what an error names.
///
/// Nothing is allocated by what the bytes claim: every array is as long as the bytes that are there.
pub fn model_from_bytes(bytes: &[u8], path: &Path) -> Result<(LabelledModel, Origin)> {
    let file = parse(path, bytes)?;
    let header = header(path, bytes)?;
    let origin = Origin { format: header.format, version: header.version.clone() };
    Ok((Decoder { path: path.to_owned(), file }.decode(header)?, origin))
}

fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<SafeTensors<'a>> {
    SafeTensors::deserialize(bytes).map_err(|e| {
        let reason = format!("it is cut off, damaged or something else: {e}");
        Error::NotAModel { path: path.to_owned(), reason }
    })
}

fn header(path: &Path, bytes: &[u8]) -> Result<Header> {
    let no_model = |reason: String| Error::NotAModel { path: path.to_owned(), reason };
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| no_model(e.to_string()))?;
    let text = metadata.metadata().as_ref().and_then(|m| m.get(KEY));
    let text = text.ok_or_else(|| no_model("it was not written by isofactor".to_owned()))?;
    let preamble: Preamble =
        serde_json::from_str(text).map_err(|e| no_model(format!("its header: {e}")))?;
    if !(OLDEST..=FORMAT).contains(&preamble.format) {
        let (found, supported, writer) = (preamble.format, FORMAT, preamble.version);
        return Err(Error::ModelVersion { path: path.to_owned(), found, supported, writer });
    }
    serde_json::from_str(text).map_err(|e| no_model(format!("its header: {e}")))
}

struct Decoder<'a> {
    path: PathBuf,
    file: SafeTensors<'a>,
}

impl Decoder<'_> {
    fn decode(self, header: Header) -> Result<LabelledModel> {
        let rows = self.labels("row_label_bytes", "row_label_ends")?;
        let columns = self.labels("column_label_bytes", "column_label_ends")?;
        let rank = self.tensor("row_factors", Dtype::F64)?.shape().get(1).copied().unwrap_or(0);
        let (row_factors, column_factors) =
            (self.numbers("row_factors")?, self.numbers("column_factors")?);
        // A rank above either side is none that a fit has, and could make a small file large.
        let fits = (1..=rows.len().min(columns.len())).contains(&rank)
            && row_factors.len() == rows.len() * rank
            && column_factors.len() == columns.len() * rank;
        let finite = row_factors.iter().chain(&column_factors).all(|x| x.is_finite());
        let factors = Factors::from_vecs(rank, row_factors, column_factors)
            .filter(|_| fits && finite)
            .ok_or_else(|| self.damaged("its factors do not fit its labels"))?;
        let deviations = |name: &str, labels: &Labels| -> Result<Vec<Option<f64>>> {
            let numbers = self.numbers(name)?;
            if numbers.len() != labels.len() {
                return Err(self.damaged("its deviations do not fit its labels"));
            }
            Ok(numbers.into_iter().map(|x| x.is_finite().then_some(x)).collect())
        };
        let baseline = Baseline {
            mean: header.mean,
            rows: deviations("row_deviations", &rows)?,
            columns: deviations("column_deviations", &columns)?,
        };
        let link = self.link(&header.link)?;
        self.check_scores(&link, header.provenance.score_range)?;
        let (offsets, fold_in) = match &header.offsets {
            None => (None, None),
            Some(stored) => {
                let (offsets, fold_in) = self.offsets(stored, &rows, &columns, rank)?;
                (Some(offsets), Some(fold_in))
            }
        };
        let Header { provenance, constants, standing, .. } = header;
        let model = FittedModel {
            factors,
            link,
            offsets,
            fold_in,
            baseline,
            provenance,
            constants,
            standing,
        };
        Ok(LabelledModel { model, rows, columns })
    }

    fn link(&self, stored: &StoredLink) -> Result<Link> {
        let (kernel, half_width) = match stored {
            StoredLink::Known(link) => return Ok(Link::Known(link.clone())),
            StoredLink::Tabulated { low, spacing } => {
                let (values, slopes) = (self.numbers("link_values")?, self.numbers("link_slopes")?);
                let link = Tabulated::try_new(*low, *spacing, values, slopes);
                let link = link.ok_or_else(|| self.damaged("its link is no increasing table"))?;
                return Ok(Link::Tabulated(link));
            }
            StoredLink::Learned { kernel, half_width } => (kernel, *half_width),
        };
        let kernel = Kernel::try_new(kernel.family, kernel.bandwidth)
            .map_err(|e| self.damaged(&e.to_string()))?;
        let (centres, weights) = (self.numbers("link_centres")?, self.numbers("link_weights")?);
        if centres.len() != weights.len() || !weights.iter().all(|w| w.is_finite()) {
            return Err(self.damaged("its link's centres and weights do not fit"));
        }
        let space = LinkSpace::from_centres(kernel, half_width, &centres)
            .ok_or_else(|| self.damaged("its link's centres are no basis"))?;
        Ok(Link::Learned(LearnedLink::new(Arc::new(space), weights)))
    }

    /// That the scores of the training entries are a range over which the link can be drawn.
    fn check_scores(&self, link: &Link, (low, high): (f64, f64)) -> Result<()> {
        let finite = |x: f64| link.value(x).is_finite();
        if low <= high && (high - low).is_finite() && finite(low) && finite(high) {
            return Ok(());
        }
        Err(self.damaged("its range of scores"))
    }

    fn offsets(
        &self,
        stored: &StoredOffsets,
        rows: &Labels,
        columns: &Labels,
        rank: usize,
    ) -> Result<(Offsets, FoldIn)> {
        let sized = |name: &str, count: usize| -> Result<Vec<f64>> {
            let numbers = self.numbers(name)?;
            let sound = numbers.len() == count && numbers.iter().all(|x| x.is_finite());
            sound.then_some(numbers).ok_or_else(|| self.damaged(&format!("its {name} do not fit")))
        };
        let p = rank + 1;
        let precision = |numbers: &[f64]| -> Result<Vec<f64>> {
            let sound = numbers.len() == p && numbers.iter().all(|x| *x > 0.0 && x.is_finite());
            sound.then(|| numbers.to_vec()).ok_or_else(|| self.damaged("its precisions do not fit"))
        };
        let (low, high) = stored.range;
        let sound = stored.level.is_finite() && stored.noise_precision > 0.0 && low <= high;
        if !sound {
            return Err(self.damaged("its level, range or noise"));
        }
        let variances = |name: &str, count: usize| -> Result<Vec<f64>> {
            let numbers = sized(name, count)?;
            let sound = numbers.iter().all(|x| *x >= 0.0);
            sound.then_some(numbers).ok_or_else(|| self.damaged(&format!("its {name}")))
        };
        let offsets = Offsets {
            level: stored.level,
            rows: sized("row_effects", rows.len())?,
            columns: sized("column_effects", columns.len())?,
            range: stored.range,
        };
        let fold_in = FoldIn {
            noise_precision: stored.noise_precision,
            rows: SidePrior {
                precision: precision(&stored.row_precision)?,
                presence: sized("row_presence", columns.len().saturating_mul(p))?,
                variances: variances("row_variances", rows.len().saturating_mul(p))?,
            },
            columns: SidePrior {
                precision: precision(&stored.column_precision)?,
                presence: sized("column_presence", rows.len().saturating_mul(p))?,
                variances: variances("column_variances", columns.len().saturating_mul(p))?,
            },
        };
        Ok((offsets, fold_in))
    }

    fn labels(&self, bytes: &str, ends: &str) -> Result<Labels> {
        let text = self.tensor(bytes, Dtype::U8)?.data();
        let mut start = 0usize;
        let mut names = Vec::new();
        for end in self.tensor(ends, Dtype::U64)?.data().as_chunks::<8>().0 {
            let end = usize::try_from(u64::from_le_bytes(*end)).unwrap_or(usize::MAX);
            let name = text.get(start..end).and_then(|bytes| std::str::from_utf8(bytes).ok());
            names.push(name.ok_or_else(|| self.damaged("its labels"))?.to_owned());
            start = end;
        }
        Labels::from_names(names).ok_or_else(|| self.damaged("a label occurs twice"))
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>> {
        let data = self.tensor(name, Dtype::F64)?.data();
        Ok(data.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    fn tensor(&self, name: &str, dtype: Dtype) -> Result<TensorView<'_>> {
        let tensor =
            self.file.tensor(name).map_err(|_| self.damaged(&format!("it has no {name}")))?;
        if tensor.dtype() != dtype {
            return Err(self.damaged(&format!("{name} has the wrong type")));
        }
        Ok(tensor)
    }

    fn damaged(&self, reason: &str) -> Error {
        Error::NotAModel { path: self.path.clone(), reason: reason.to_owned() }
    }
}

fn view(
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: &[u8],
) -> std::result::Result<TensorView<'_>, String> {
    TensorView::new(dtype, shape, bytes).map_err(|e| e.to_string())
}

fn le_bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn deviations(values: &[Option<f64>]) -> Vec<u8> {
    values.iter().flat_map(|x| x.unwrap_or(f64::NAN).to_le_bytes()).collect()
}

fn packed(labels: &Labels) -> (Vec<u8>, Vec<u8>) {
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for name in labels.names() {
        bytes.extend_from_slice(name.as_bytes());
        ends.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    }
    (bytes, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use isofactor::{FitConfig, FitInput, Observations, Shape, Unwatched, config::LinkChoice, fit};

    fn sample(link: LinkChoice) -> LabelledModel {
        let shape = Shape { rows: 8, columns: 6 };
        let seen = Observations::complete(shape, |i, t| {
            ((i as f64 - 3.5) * (t as f64 - 2.5) / 4.0).tanh()
        });
        let config = FitConfig { rank: Some(2), iterations: 8, link, ..FitConfig::bcd() };
        let model = fit(&config, &FitInput::new(&seen.unwrap()), &mut Unwatched).unwrap();
        let names = |prefix: &str, count: usize| {
            Labels::from_names((0..count).map(|i| format!("{prefix}\u{e9}{i}")).collect()).unwrap()
        };
        LabelledModel { model, rows: names("r", 8), columns: names("c", 6) }
    }

    fn store(folder: &Path, labelled: &LabelledModel) -> PathBuf {
        let path = folder.join("model.isofactor");
        write_model(Target::new(&path).unwrap(), labelled).unwrap();
        path
    }

    #[test]
    fn a_model_read_back_predicts_the_same() {
        let folder = tempfile::tempdir().unwrap();
        for link in [LinkChoice::Learned, LinkChoice::Known(KnownLink::Tanh)] {
            let before = sample(link);
            let path = store(folder.path(), &before);
            let after = read_model(&path).unwrap();
            assert_eq!(after.rows, before.rows);
            assert_eq!(after.model.provenance, before.model.provenance);
            for (row, column) in [(Some(0), Some(5)), (Some(7), None), (None, None)] {
                let (a, b) = (before.model.predict(row, column), after.model.predict(row, column));
                assert!((a - b).abs() < 1e-12, "{a} {b}");
            }
            let first = std::fs::read(&path).unwrap();
            store(folder.path(), &after);
            assert_eq!(std::fs::read(&path).unwrap().len(), first.len());
        }
    }

    #[test]
    fn a_file_cut_off_anywhere_is_refused_with_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = store(folder.path(), &sample(LinkChoice::Learned));
        let whole = std::fs::read(&path).unwrap();
        for length in (0..whole.len()).step_by(97) {
            std::fs::write(&path, &whole[..length]).unwrap();
            let message = read_model(&path).unwrap_err().to_string();
            assert!(message.contains("not a usable isofactor model"), "{message}");
        }
    }

    #[test]
    fn another_format_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = store(folder.path(), &sample(LinkChoice::Learned));
        let whole = std::fs::read(&path).unwrap();
        let needle = b"\\\"format\\\":2";
        let place = whole.windows(needle.len()).position(|w| w == needle).unwrap();
        let mut changed = whole.clone();
        changed[place + needle.len() - 1] = b'7';
        std::fs::write(&path, changed).unwrap();
        let message = read_model(&path).unwrap_err().to_string();
        assert!(message.contains("format 7") && message.contains("reads format 2"), "{message}");
    }

    #[test]
    fn a_file_of_the_first_format_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let before = sample(LinkChoice::Learned);
        let path = store(folder.path(), &before);
        let mut bytes = std::fs::read(&path).unwrap();
        // It had no key for effects; spaces keep the length.
        for (now, then) in [("\\\"format\\\":2", "\\\"format\\\":1"), ("\\\"offsets\\\":null,", "")]
        {
            let place = bytes.windows(now.len()).position(|w| w == now.as_bytes()).unwrap();
            let filled = format!("{then:<width$}", width = now.len());
            bytes[place..place + now.len()].copy_from_slice(filled.as_bytes());
        }
        let (after, origin) = model_from_bytes(&bytes, &path).unwrap();
        assert_eq!((origin.format, origin.version.as_str()), (1, env!("CARGO_PKG_VERSION")));
        let predict = |of: &LabelledModel| of.model.predict(Some(2), Some(3));
        assert!((predict(&after) - predict(&before)).abs() < 1e-12);
        assert!(after.model.offsets.is_none());
    }

    #[test]
    fn a_rank_above_the_matrix_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut labelled = sample(LinkChoice::Learned);
        let zeros = |count: usize| vec![0.0; count];
        labelled.model.factors = Factors::from_vecs(7, zeros(56), zeros(42)).unwrap();
        let path = store(folder.path(), &labelled);
        assert!(read_model(&path).unwrap_err().to_string().contains("factors"));
    }
}
