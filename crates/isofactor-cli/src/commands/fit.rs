//! `isofactor fit`: learn factors and link from a file.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use isofactor::{
    FitConfig, FitInput, FittedModel, Observations, Shape, Stop, TraceRow, Truth,
    config::{LinkChoice, SolverKind, Start},
    evaluation::Yardsticks,
    resume,
    select::hold_out,
};
use isofactor_io::{
    GivenStart, LabelledModel, Labels, Source, Target, read_factors, read_model, write_model,
    write_trace,
};
use isofactor_page::{Subject, fit_page};

use super::{
    evaluate::yardsticks_in_words,
    generate::{is_table, known_link},
};
use crate::{
    args::FitArgs,
    failure::Failure,
    going_on,
    keeper::{self, Keeper},
    paths,
    progress::Progress,
    reading,
    summary::{FitJson, describe},
    text::{say, short, show, thousands},
};

/// Reads, fits, writes and tells.
pub fn run(args: &FitArgs) -> Result<(), Failure> {
    let began = Instant::now();
    let mut config = settings(args)?;
    check_paths(args)?;
    keeper::check(&args.long)?;
    let outputs = Outputs::open(args)?;
    let data = Data::read(args)?;
    let start = start(args, &data)?;
    if let Some(start) = &start {
        start.settle(&mut config);
    }
    if args.truth.is_some() && config.solver == SolverKind::Fast {
        let sentence = "--truth compares the iterates of Algorithm 1: add --solver bcd";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    let truth = args.truth.as_deref().map(|path| truth(path, &data)).transpose()?;
    let mut input = FitInput {
        validation: data.validation.as_ref(),
        truth: truth.as_ref(),
        threads: args.threads,
        ..FitInput::new(&data.train)
    };
    if let Some(start) = &start {
        input = start.begin(input);
    }
    let (keeper, stored) = Keeper::open(&args.long, &config, &input)?;
    let mut progress = Progress::new(&config)
        .with_limit(args.long.time_limit.map(|limit| limit.0))
        .with_keeper(keeper);
    let mut checkpoint = None;
    if let Some(stored) = stored {
        progress = progress.with_past(stored.trace, stored.seconds);
        checkpoint = Some(stored.checkpoint);
    }
    let fitted = resume(&config, &input, checkpoint, &mut progress);
    progress.finish();
    let Data { rows, columns, train, validation } = data;
    let labelled = LabelledModel { model: fitted?, rows, columns };
    let trace = progress.rows();
    let yardsticks = validation.as_ref().map(|held| yardsticks(&labelled.model, held));
    outputs.write(&labelled, &train, validation.as_ref(), trace)?;
    tell(args, &labelled.model, yardsticks.as_ref(), began.elapsed().as_secs_f64())?;
    let stop = labelled.model.provenance.stop;
    if matches!(stop, Stop::Cancelled | Stop::TimeLimit) {
        say(&how_to_go_on(args, &labelled.model, progress.keeper()));
    } else if let Some(keeper) = progress.keeper() {
        keeper.remove();
    }
    if stop == Stop::Cancelled { Err(Failure::Interrupted) } else { Ok(()) }
}

/// What was saved of a fit that was stopped, and the command that goes on.
fn how_to_go_on(args: &FitArgs, model: &FittedModel, keeper: Option<&Keeper>) -> String {
    let p = &model.provenance;
    let stopped = match (p.stop, args.long.time_limit) {
        (Stop::TimeLimit, Some(limit)) => format!("stopped at the time limit of {limit}"),
        _ => "stopped".to_owned(),
    };
    let (kept, made) = (p.kept, p.iterations);
    let saved = args.out.as_ref().map(|path| (path, format!("iteration {kept} of {made}")));
    match (keeper.is_some_and(Keeper::has_one), saved) {
        (true, Some((path, iteration))) => format!(
            "{stopped}; {} holds {iteration}; to go on:\n  {}",
            path.display(),
            going_on::from_checkpoint()
        ),
        (true, None) => format!("{stopped}; to go on:\n  {}", going_on::from_checkpoint()),
        // Without a sweep there are effects at most, and nothing was chosen.
        (false, Some(_)) if made == 0 && p.config.solver == SolverKind::Fast => {
            format!("{stopped} before anything was fitted; to begin anew:\n  {}", going_on::again())
        }
        (false, Some((path, iteration))) => format!(
            "{stopped}; {} holds {iteration}; to go on from there:\n  {}",
            path.display(),
            going_on::from_model(model.factors.rank(), path)
        ),
        (false, None) => {
            format!("{stopped}; nothing was saved: add --out FILE or --checkpoint FILE")
        }
    }
}

/// The settings, before the data are known; each by itself can be used.
pub fn settings(args: &FitArgs) -> Result<FitConfig, Failure> {
    let bcd = args.bcd.clone();
    let link = match args.link.as_str() {
        "auto" => LinkChoice::Auto,
        "learned" => LinkChoice::Learned,
        other => LinkChoice::Known(known_link(other)?),
    };
    let config = FitConfig {
        rank: args.rank.0,
        link,
        solver: args.solver,
        shrinkage: args.shrinkage,
        loss: bcd.loss,
        kernel: bcd.kernel,
        bandwidth: bcd.bandwidth,
        link_penalty: bcd.link_penalty,
        balance_penalty: bcd.balance_penalty,
        factor_step: bcd.factor_step,
        link_step: bcd.link_step,
        iterations: args.iterations,
        tolerance: bcd.tolerance,
        order: bcd.order,
        start: bcd.start.parse().unwrap_or(Start::Spectral),
        start_rescale: bcd.start_rescale,
        start_link: bcd.start_link,
        project_factors: bcd.project_factors,
        monotone: bcd.monotone,
        effects: args.effects,
        keep: args.keep,
        seed: args.seed,
    };
    config.check_values()?;
    Ok(config)
}

fn check_paths(args: &FitArgs) -> Result<(), Failure> {
    let standard_input = Path::new("-");
    if args.data == standard_input && args.valid.as_deref() == Some(standard_input) {
        let sentence = "only one of the data and --valid can be standard input";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    // A model may be written over the model it began from; tables are somebody's work.
    let table = |text: &String| is_table(Path::new(text)).then(|| PathBuf::from(text));
    let (start, link) = (table(&args.bcd.start), table(&args.link));
    paths::check(
        &[
            ("the data", Some(&args.data)),
            ("the file of --valid", args.valid.as_ref()),
            ("the file of --truth", args.truth.as_ref()),
            ("the file of --config", args.config.as_ref()),
            ("the file of --start", start.as_ref()),
            ("the file of --link", link.as_ref()),
        ],
        &[
            ("--out", args.out.as_ref()),
            ("--trace", args.trace.as_ref()),
            ("--report", args.report.as_ref()),
            ("--checkpoint", args.long.checkpoint.as_ref()),
        ],
    )
}

/// Training and validation entries with the names of their rows and columns.
struct Data {
    rows: Labels,
    columns: Labels,
    train: Observations,
    validation: Option<Observations>,
}

impl Data {
    fn read(args: &FitArgs) -> Result<Self, Failure> {
        let format = args.table.format();
        let (mut rows, mut columns) = (Labels::default(), Labels::default());
        let mut read = |path: &Path| reading::entries(path, &format, &mut rows, &mut columns);
        let train = read(&args.data)?;
        let validation = args.valid.as_deref().map(&mut read).transpose()?;
        // Rows and columns that only the validation entries have belong to the matrix too.
        let shape = Shape { rows: rows.len(), columns: columns.len() };
        train.check_can_be_fitted(shape)?;
        let (train, validation) = match args.holdout {
            Some(share) => {
                let (train, held) = hold_out(shape, train, share, args.seed)?;
                (train, Some(held))
            }
            None => {
                let arrange = |entries| Observations::arrange(shape, entries);
                (arrange(train)?, validation.map(arrange).transpose()?)
            }
        };
        Ok(Self { rows, columns, train, validation })
    }
}

/// Where the fit begins, when a file says so.
fn start(args: &FitArgs, data: &Data) -> Result<Option<GivenStart>, Failure> {
    let text = &args.bcd.start;
    if text.parse::<Start>().is_ok() {
        return Ok(None);
    }
    let path = Path::new(text);
    if !path.exists() {
        return Err(Failure::Data(format!(
            "--start '{text}' is neither spectral nor random, and there is no such file"
        )));
    }
    if is_table(path) {
        let file = read_factors(&Source::new(path))?;
        check_known(path, file.known(&data.rows, &data.columns), data)?;
        return Ok(Some(GivenStart::from_factors(&file, &data.rows, &data.columns)));
    }
    let model = read_model(path)?;
    check_known(path, model.known(&data.rows, &data.columns), data)?;
    Ok(Some(GivenStart::from_model(&model, &data.rows, &data.columns)))
}

/// Refuses a file that knows none of the data's rows and columns; says how many it does not know.
fn check_known(path: &Path, known: usize, data: &Data) -> Result<(), Failure> {
    let (path, wanted) = (path.display(), data.rows.len() + data.columns.len());
    if known == 0 {
        return Err(Failure::Data(format!("{path}: no row or column of the data is in it")));
    }
    if known < wanted {
        let missing = thousands(wanted - known);
        say(&format!(
            "{path}: {missing} rows or columns of the data are not in it and begin at zero"
        ));
    }
    Ok(())
}

fn truth(path: &Path, data: &Data) -> Result<Truth, Failure> {
    let file = read_factors(&Source::new(path))?;
    let link = file.link.clone().ok_or_else(|| {
        Failure::Data(format!("{}: the truth needs a line 'link,NAME'", path.display()))
    })?;
    check_known(path, file.known(&data.rows, &data.columns), data)?;
    Ok(Truth::new(&file.arranged(&data.rows, &data.columns), link)?)
}

/// The files to write, opened before the work begins.
struct Outputs {
    model: Option<Target>,
    trace: Option<Target>,
    report: Option<Target>,
    /// What the page calls the data.
    name: Option<String>,
}

impl Outputs {
    fn open(args: &FitArgs) -> Result<Self, Failure> {
        let open = |path: &Option<PathBuf>| path.as_deref().map(Target::new).transpose();
        let (model, trace) = (open(&args.out)?, open(&args.trace)?);
        Ok(Self { model, trace, report: open(&args.report)?, name: name_of(&args.data) })
    }

    /// The model first: it is what took the time.
    fn write(
        self,
        labelled: &LabelledModel,
        train: &Observations,
        validation: Option<&Observations>,
        trace: &[TraceRow],
    ) -> Result<(), Failure> {
        if let Some(target) = self.model {
            write_model(target, labelled)?;
        }
        if let Some(target) = self.trace {
            write_trace(target, trace)?;
        }
        if let Some(target) = self.report {
            let LabelledModel { model, rows, columns } = labelled;
            let subject = Subject {
                held_out: validation,
                trace,
                name: self.name.as_deref(),
                ..Subject::new(model, rows, columns, train)
            };
            let html = fit_page(&subject).to_html();
            target.write(|out| out.write_all(html.as_bytes()))?;
        }
        Ok(())
    }
}

/// What a page calls the data of a file; nothing for standard input.
pub fn name_of(data: &Path) -> Option<String> {
    let name = data.file_name().filter(|_| data != Path::new("-"))?;
    Some(name.to_string_lossy().into_owned())
}

/// What the error on the held-out entries is to be held against.
fn yardsticks(model: &FittedModel, held: &Observations) -> Yardsticks {
    Yardsticks::new(model, held.iter().map(|e| (Some(e.row), Some(e.column), e.value)))
}

fn tell(
    args: &FitArgs,
    model: &FittedModel,
    yardsticks: Option<&Yardsticks>,
    seconds: f64,
) -> Result<(), Failure> {
    if args.json {
        let path = args.out.as_deref().map(Path::to_string_lossy);
        let object = FitJson::new(model, seconds, path.as_deref());
        let text = serde_json::to_string(&object)
            .map_err(|e| Failure::Unexpected(format!("the result cannot be written ({e})")))?;
        return Ok(show(&text)?);
    }
    show(&format!("\n{}\n", describe(model, Some(seconds))))?;
    if let Some(yardsticks) = yardsticks {
        let words = yardsticks_in_words(yardsticks);
        show(&format!("  for comparison, on the held-out entries: {words}\n"))?;
    }
    let unseen = model.baseline.rows.iter().chain(&model.baseline.columns);
    let unseen = unseen.filter(|deviation| deviation.is_none()).count();
    if unseen > 0 {
        say(&format!(
            "{} rows or columns have no training entries: they are predicted by the mean of what is known",
            thousands(unseen)
        ));
    }
    let bounded = model.provenance.config.slope_bounds().is_some();
    if let Some(slope) = steepest_fall(model).filter(|_| !bounded) {
        say(&format!(
            "the learned link falls in places (slope down to {}): --monotone 0,inf keeps it increasing",
            short(slope)
        ));
    }
    if args.out.is_none() {
        say("no model was written: add --out FILE to keep it");
    }
    for path in [&args.out, &args.report, &args.trace].into_iter().flatten() {
        say(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// The lowest slope of the link over the scores of the training entries, if it is below zero.
fn steepest_fall(model: &FittedModel) -> Option<f64> {
    let (low, high) = model.provenance.score_range;
    let slopes =
        (0..=200).map(|i| model.link.value_and_slope(low + (high - low) * f64::from(i) / 200.0).1);
    let lowest = slopes.fold(f64::INFINITY, f64::min);
    // A flat stretch is not a fall.
    let steepness = (model.link.value(high) - model.link.value(low)).abs() / (high - low);
    (lowest < -1e-6 * steepness).then_some(lowest)
}
