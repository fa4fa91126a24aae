//! The front door: settings and observations in, a fitted model out.

use std::{borrow::Cow, sync::Arc, time::Instant};

use crate::{
    baseline::Baseline,
    checkpoint::{Checkpoint, Content, Ground, OfDescent},
    config::{
        Bandwidth, CheckedConfig, FitConfig, LinkChoice, ProjectFactors, SolverKind, Start,
        StartLink, StepRule,
    },
    diagnostics::{Standing, Tracker, Truth},
    error::{ConfigError, DataError, NumericalError, Result},
    factors::Factors,
    init, linalg,
    link::{Kernel, LearnedLink, Link, LinkSpace, SlopeBounds},
    model::{FittedModel, Metrics, Offsets, Provenance, metrics, predict},
    monitor::{Flow, Monitor, TraceRow},
    objective::Objective,
    observations::{Observations, Shape},
    passes::Entries,
    solver::{self, Course, Method, Outcome, Run, Watch, fast::FastFit},
    steps::{Problem, State, StepLength, project::project_factors},
    theory::{Circumstances, Constants},
    threads,
};

/// What a fit is made from beside its settings.
#[derive(Debug, Clone, Copy)]
pub struct FitInput<'a> {
    /// The entries to learn from.
    pub train: &'a Observations,
    /// Entries of the same shape to judge by.
    pub validation: Option<&'a Observations>,
    /// Factors to begin from, instead of the start of the settings.
    pub start: Option<&'a Factors>,
    /// Level and effects to begin from, beside the factors (fast solver).
    pub start_offsets: Option<&'a Offsets>,
    /// A link to begin from, instead of the start link of the settings (Algorithm 1).
    pub start_link: Option<&'a LearnedLink>,
    /// The truth, for made data.
    pub truth: Option<&'a Truth>,
    /// How many threads to use; 0 is one per core.
    pub threads: usize,
}

impl<'a> FitInput<'a> {
    /// Training entries alone, on all cores.
    pub fn new(train: &'a Observations) -> Self {
        Self {
            train,
            validation: None,
            start: None,
            start_offsets: None,
            start_link: None,
            truth: None,
            threads: 0,
        }
    }
}

/// Fits the model `y = phi(u_row . v_column) + noise`.
///
/// The result depends on the settings and the entries alone: the same seed gives the same bytes
/// with any number of threads.
pub fn fit(
    config: &FitConfig,
    input: &FitInput<'_>,
    monitor: &mut (dyn Monitor + Send),
) -> Result<FittedModel> {
    resume(config, input, None, monitor)
}

/// Fits the model, going on from a checkpoint if there is one.
///
/// With the settings and the entries that the checkpoint was made with, the result is that of a
/// fit that never stopped, to the last digit. A checkpoint of a fit of another shape or solver is
/// refused; whether settings and entries are the same is the caller's to know.
pub fn resume(
    config: &FitConfig,
    input: &FitInput<'_>,
    checkpoint: Option<Checkpoint<'static>>,
    monitor: &mut (dyn Monitor + Send),
) -> Result<FittedModel> {
    let config = config.clone().check(input.train.shape())?;
    input.train.check_can_be_fitted()?;
    if let Some(Shape { rows, columns }) =
        input.validation.map(Observations::shape).filter(|&shape| shape != input.train.shape())
    {
        return Err(DataError::OtherShape { rows, columns }.into());
    }
    linalg::stay_sequential();
    threads::pool(input.threads)?.install(|| fit_here(&config, input, checkpoint, monitor))
}

fn fit_here(
    config: &CheckedConfig,
    input: &FitInput<'_>,
    checkpoint: Option<Checkpoint<'static>>,
    monitor: &mut (dyn Monitor + Send),
) -> Result<FittedModel> {
    match (config.settings().solver, checkpoint.map(|c| c.0)) {
        (SolverKind::Fast, None) => fit_fast(config.settings(), input, None, monitor),
        (SolverKind::Fast, Some(Content::Fast(course))) => {
            fit_fast(config.settings(), input, Some((*course).into_owned()), monitor)
        }
        (SolverKind::Bcd | SolverKind::Lbfgs, None) => fit_descent(config, input, None, monitor),
        (solver, Some(Content::Descent(of))) if of.solver == solver => {
            fit_descent(config, input, Some(*of), monitor)
        }
        _ => Err(NumericalError::OtherCheckpoint.into()),
    }
}

/// A fit that lowers the paper's objective.
fn fit_descent(
    config: &CheckedConfig,
    input: &FitInput<'_>,
    checkpoint: Option<OfDescent<'static>>,
    monitor: &mut (dyn Monitor + Send),
) -> Result<FittedModel> {
    let began = Instant::now();
    let settings = &config.settings().clone().resolved_for_descent(input.train.shape());
    // Where nothing is judged on the way it is made at the end, when there is room.
    let baseline = input.validation.map(|_| Baseline::new(input.train));
    let Prepared { mut problem, state, course, ground, gaps } = match checkpoint {
        None => prepare(settings, input)?,
        Some(checkpoint) => {
            prepare_again(settings, input, checkpoint).ok_or(NumericalError::OtherCheckpoint)?
        }
    };
    let tracker = input.truth.map(|truth| Tracker::new(truth, ground.gamma).with_gaps(gaps));
    let judged = input.validation.zip(baseline.as_ref());
    let solver = settings.solver;
    let mut watch = Watcher { judged, tracker, solver, ground, monitor, began };
    let run = Run {
        method: match settings.solver {
            SolverKind::Lbfgs => Method::Lbfgs,
            _ => Method::Bcd(settings.order),
        },
        iterations: settings.iterations,
        tolerance: settings.tolerance,
        keep: settings.keep,
    };
    let outcome = solver::run(&mut problem, state, course, &run, &mut watch)?;
    let standing = match &mut watch.tracker {
        Some(tracker) => tracker.standing(&problem, &outcome.state)?,
        None => None,
    };
    let findings = Findings { constants: ground.constants, standing };
    Ok(finish(settings, input, baseline, &problem, outcome, findings))
}

fn fit_fast(
    settings: &FitConfig,
    input: &FitInput<'_>,
    course: Option<solver::fast::Course>,
    monitor: &mut (dyn Monitor + Send),
) -> Result<FittedModel> {
    let found = solver::fast::run(settings, input, course, monitor)?;
    let FastFit { factors, offsets, link, fold_in, chosen, iterations, kept, stop } = found;
    let resolved = match &link {
        Link::Known(link) => LinkChoice::Known(link.clone()),
        _ => LinkChoice::Learned,
    };
    let provenance = Provenance {
        config: FitConfig { rank: Some(factors.rank()), link: resolved, ..settings.clone() },
        observed: input.train.len(),
        repeated: input.train.repeated(),
        iterations,
        kept,
        stop,
        radius: settings.project_factors.given(),
        bandwidth: None,
        score_range: (0.0, 0.0),
        train: NO_METRICS,
        validation: None,
        chosen: Some(chosen),
    };
    let mut model = FittedModel {
        factors,
        link,
        offsets: Some(offsets),
        fold_in: Some(fold_in),
        baseline: Baseline::new(input.train),
        provenance,
        constants: None,
        standing: None,
    };
    let scores = input.train.iter().map(|e| model.score(Some(e.row), Some(e.column)));
    model.provenance.score_range = range(scores);
    model.provenance.train = model.evaluate(input.train);
    model.provenance.validation = input.validation.map(|entries| model.evaluate(entries));
    Ok(model)
}

/// Errors that are not known yet.
const NO_METRICS: Metrics = Metrics { rmse: 0.0, mae: 0.0, count: 0 };

/// The smallest and the largest.
fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

struct Prepared<'a> {
    problem: Problem<'a>,
    state: State,
    /// What a checkpoint remembers.
    course: Option<Course>,
    ground: Ground,
    /// What the regret is made of so far.
    gaps: (f64, usize),
}

/// Start, projections, link and step lengths: everything before the first iteration.
fn prepare<'a>(settings: &FitConfig, input: &FitInput<'a>) -> Result<Prepared<'a>> {
    let mut factors = start_factors(settings, input)?;
    let radius = match settings.project_factors {
        ProjectFactors::Off => None,
        ProjectFactors::Auto => Some(factors.radius()),
        ProjectFactors::Radius(radius) => Some(radius),
    };
    // Where the factors are not projected, as far as the projection would let them go.
    let reach = radius.unwrap_or_else(|| factors.radius());
    let incoherence = factors.incoherence();
    if let Some(radius) = radius {
        project_factors(&mut factors, radius);
    }
    let objective = objective(settings);
    let entries = Entries::new(input.train);
    let link = start_link(settings, input, &objective, &entries, &factors, radius)?;
    let bounds = settings.slope_bounds();
    let mut problem =
        Problem::new(entries, objective, radius, bounds, StepLength::SEARCH, StepLength::SEARCH);
    let state = problem.state(factors, link)?;
    let of_start = Spectrum { singular_values: state.factors.balanced()?.1, incoherence };
    let constants = theory_constants(settings, input, &state, reach, &of_start, bounds);
    problem.factor_step = length(settings.factor_step, constants.map(|c| c.factor_step))?;
    problem.link_step = length(settings.link_step, constants.map(|c| c.link_step))?;
    let gamma = input.truth.map(|truth| {
        let half_width = state.link.learned().map_or(1.0, |link| link.space().half_width());
        let usable = bounds.filter(SlopeBounds::suit_the_theory);
        let bounds = usable.unwrap_or_else(|| truth.slopes(half_width));
        let of_truth = Spectrum {
            singular_values: truth.singular_values().to_vec(),
            incoherence: truth.factors().incoherence(),
        };
        let constants = theory_constants(settings, input, &state, reach, &of_truth, Some(bounds));
        constants.map_or(1.0, |c| c.gamma)
    });
    let ground = Ground { radius, constants, gamma: gamma.unwrap_or(1.0) };
    Ok(Prepared { problem, state, course: None, ground, gaps: (0.0, 0) })
}

/// The same at the boundary of a checkpoint; none where it does not fit.
fn prepare_again<'a>(
    settings: &FitConfig,
    input: &FitInput<'a>,
    checkpoint: OfDescent<'static>,
) -> Option<Prepared<'a>> {
    let OfDescent { ground, state, course, pace, gaps, .. } = checkpoint;
    let (entries, bounds) = (Entries::new(input.train), settings.slope_bounds());
    let search = StepLength::SEARCH;
    let mut problem =
        Problem::new(entries, objective(settings), ground.radius, bounds, search, search);
    let state = problem.restore(state, pace)?;
    let course = course.into_owned();
    let fits = course.fits(input.train.shape()) && state.link.is_learned() == is_learned(settings);
    fits.then_some(Prepared { problem, state, course: Some(course), ground, gaps })
}

fn is_learned(settings: &FitConfig) -> bool {
    !matches!(settings.link, LinkChoice::Known(_))
}

fn objective(settings: &FitConfig) -> Objective {
    Objective {
        loss: settings.loss,
        link_penalty: settings.link_penalty,
        balance_penalty: settings.balance_penalty,
    }
}

fn start_factors(settings: &FitConfig, input: &FitInput<'_>) -> Result<Factors> {
    let (train, rank, seed) = (input.train, settings.rank.unwrap_or(1), settings.seed);
    match (input.start, settings.start) {
        (Some(given), _) => init::given_factors(given, train.shape(), rank),
        (None, Start::Spectral) => {
            init::spectral_factors(train, rank, settings.start_rescale, seed)
        }
        (None, Start::Random) => Ok(init::random_factors(train.shape(), rank, seed)),
    }
}

/// The first link, on a domain that covers the start's scores: all that P_C allows, or three
/// times the largest, for the scores of a zero-filled start are small and grow.
fn start_link(
    settings: &FitConfig,
    input: &FitInput<'_>,
    objective: &Objective,
    entries: &Entries<'_>,
    factors: &Factors,
    radius: Option<f64>,
) -> Result<Link> {
    if let LinkChoice::Known(link) = &settings.link {
        return Ok(Link::Known(link.clone()));
    }
    let mut scores = Vec::new();
    let largest = entries.scores(factors, &mut scores);
    // A little more than beta^2, so that rounding does not carry a score over the edge.
    let reach = radius.map_or(3.0 * largest, |beta| beta * beta * (1.0 + 1e-9));
    let half_width = if reach > 0.0 { reach } else { 1.0 };
    if !half_width.is_finite() {
        return Err(NumericalError::BadStart.into());
    }
    let bandwidth = match settings.bandwidth {
        Bandwidth::Auto => half_width / 6.0,
        Bandwidth::Fixed(bandwidth) => bandwidth,
    };
    if let Some(given) = input.start_link {
        if largest <= given.space().half_width() {
            return Ok(Link::Learned(given.clone()));
        }
        let space = LinkSpace::build(given.space().kernel(), half_width)?;
        let weights = space.carry_over(given.space(), given.weights());
        return Ok(Link::Learned(LearnedLink::new(Arc::new(space), weights)));
    }
    let space = LinkSpace::build(Kernel::try_new(settings.kernel, bandwidth)?, half_width)?;
    match settings.start_link {
        StartLink::Zero => Ok(Link::Learned(LearnedLink::zero(Arc::new(space)))),
        StartLink::Identity => {
            let weights = objective.best_link(entries, &scores, &scores, &space, None)?;
            Ok(Link::Learned(LearnedLink::new(Arc::new(space), weights)))
        }
    }
}

/// What the theory presumes known of the scores.
struct Spectrum {
    singular_values: Vec<f64>,
    incoherence: f64,
}

/// The theory's constants; none without a learned link, slope bounds and factors of full rank, or
/// when they overflow.
fn theory_constants(
    settings: &FitConfig,
    input: &FitInput<'_>,
    state: &State,
    reach: f64,
    spectrum: &Spectrum,
    bounds: Option<SlopeBounds>,
) -> Option<Constants> {
    let link = state.link.learned()?;
    let bounds = bounds.filter(SlopeBounds::suit_the_theory)?;
    let (&first, &last) = (spectrum.singular_values.first()?, spectrum.singular_values.last()?);
    let largest_value = input.train.values().iter().fold(0.0f64, |a, v| a.max(v.abs()));
    let shape = input.train.shape();
    let constants = Constants::compute(&Circumstances {
        shape,
        observed: input.train.len(),
        rank: settings.rank.unwrap_or(1),
        singular_values: (first, last),
        incoherence: spectrum.incoherence,
        largest_norm: ((shape.rows + shape.columns) as f64).sqrt() * reach,
        kernel: link.space().kernel(),
        bounds,
        link_penalty: settings.link_penalty,
        balance_penalty: settings.balance_penalty,
        loss: settings.loss,
        largest_value,
        start_objective: state.value.total(),
    });
    Some(constants).filter(|constants| last > 0.0 && constants.is_finite())
}

fn length(rule: StepRule, by_theory: Option<f64>) -> Result<StepLength> {
    match rule {
        StepRule::Fixed(step) => Ok(StepLength::Fixed(step)),
        StepRule::Backtracking => Ok(StepLength::SEARCH),
        StepRule::Theory => by_theory.map(StepLength::Fixed).ok_or_else(|| {
            let second = "a learned link and a start of full rank whose constants do not overflow";
            ConfigError::Needs { first: "the step rule 'theory'", second }.into()
        }),
    }
}

/// Turns states into trace rows for the monitor.
struct Watcher<'a> {
    /// Validation entries, and what is predicted where no factors are known.
    judged: Option<(&'a Observations, &'a Baseline)>,
    tracker: Option<Tracker<'a>>,
    solver: SolverKind,
    ground: Ground,
    monitor: &'a mut (dyn Monitor + Send),
    began: Instant,
}

impl Watch for Watcher<'_> {
    fn see(
        &mut self,
        iteration: usize,
        problem: &Problem<'_>,
        state: &State,
    ) -> Result<(TraceRow, Flow)> {
        let mut row = TraceRow::new(iteration, state.value);
        row.link_norm = state.link.learned().map(LearnedLink::norm);
        let squares = state.evaluated.squares.unwrap_or(f64::NAN);
        row.train_rmse = (squares / state.scores.len() as f64).sqrt();
        row.validation_rmse = self.judged.map(|(entries, baseline)| {
            let errors = metrics(entries, |row, column| {
                predict(&state.factors, &state.link, baseline, Some(row), Some(column))
            });
            errors.rmse
        });
        row.truth = match &mut self.tracker {
            Some(tracker) if self.monitor.compares(iteration) => {
                Some(tracker.row(iteration, problem, state)?)
            }
            _ => None,
        };
        row.seconds = self.began.elapsed().as_secs_f64();
        let flow = self.monitor.iteration(&row);
        Ok((row, flow))
    }

    fn boundary(&mut self, problem: &Problem<'_>, state: &State, course: &Course) {
        let checkpoint = OfDescent {
            solver: self.solver,
            ground: self.ground,
            state: state.stored(),
            course: Cow::Borrowed(course),
            pace: problem.pace(),
            gaps: self.tracker.as_ref().map_or((0.0, 0), Tracker::gaps),
        };
        self.monitor.boundary(&Checkpoint(Content::Descent(Box::new(checkpoint))));
    }
}

/// What the theory says of a fit.
struct Findings {
    constants: Option<Constants>,
    standing: Option<Standing>,
}

fn finish(
    settings: &FitConfig,
    input: &FitInput<'_>,
    baseline: Option<Baseline>,
    problem: &Problem<'_>,
    outcome: Outcome,
    findings: Findings,
) -> FittedModel {
    let Outcome { state, kept, iterations, stop } = outcome;
    let score_range = range(state.scores.iter().copied());
    let provenance = Provenance {
        config: settings.clone(),
        observed: input.train.len(),
        repeated: input.train.repeated(),
        iterations,
        kept,
        stop,
        radius: problem.radius,
        bandwidth: state.link.learned().map(|link| link.space().kernel().bandwidth),
        score_range,
        train: NO_METRICS,
        validation: None,
        chosen: None,
    };
    let Findings { constants, standing } = findings;
    // What was known of every entry is not needed any more, and takes room.
    let State { factors, link, scores, evaluated, .. } = state;
    link.prepare();
    drop((scores, evaluated));
    let baseline = baseline.unwrap_or_else(|| Baseline::new(input.train));
    let (offsets, fold_in) = (None, None);
    let mut model =
        FittedModel { factors, link, offsets, fold_in, baseline, provenance, constants, standing };
    model.provenance.train = model.evaluate(input.train);
    model.provenance.validation = input.validation.map(|entries| model.evaluate(entries));
    model
}
