//! A fit that goes on from a checkpoint is the fit that never stopped.

use isofactor::{
    Checkpoint, Entry, FitConfig, FitInput, FittedModel, Flow, Hurry, KnownLink, Link, Monitor,
    Observations, Shape, Stop, TraceRow, TrialRow, Truth,
    config::{
        Keep, LinkChoice, Monotone, Order, ProjectFactors, Shrinkage, SolverKind, StartLink,
        StepRule,
    },
    fit,
    link::SlopeBounds,
    resume,
    select::hold_out,
};

use crate::sample::noise;

const SHAPE: Shape = Shape { rows: 24, columns: 16 };

/// About rank 2, bent by a steep sigmoid, with a little noise.
fn panel() -> Observations {
    let (u, v) = (noise(1, 2 * SHAPE.rows), noise(2, 2 * SHAPE.columns));
    let (chance, error) = (noise(3, 400), noise(4, 400));
    let entries: Vec<Entry> = (0..SHAPE.rows * SHAPE.columns)
        .map(|k| (k / SHAPE.columns, k % SHAPE.columns, chance[k], error[k]))
        .filter(|(_, _, chance, _)| *chance < 0.7)
        .map(|(row, column, _, error)| {
            let score = u[2 * row] * v[2 * column] + u[2 * row + 1] * v[2 * column + 1];
            Entry { row, column, value: (1.0 + (-6.0 * score).exp()).recip() + 0.02 * error }
        })
        .collect();
    Observations::try_new(SHAPE, &entries).unwrap()
}

/// Keeps everything it is told, and answers as it is asked to at one boundary.
#[derive(Default)]
struct Recorder {
    rows: Vec<TraceRow>,
    trials: Vec<TrialRow>,
    checkpoints: Vec<Vec<u8>>,
    /// The rows known at each checkpoint.
    known: Vec<usize>,
    answer: Option<(usize, Flow)>,
    hurry_at: Option<usize>,
    hurry: Hurry,
    told: usize,
}

impl Recorder {
    fn answering(at: usize, flow: Flow) -> Self {
        Self { answer: Some((at, flow)), ..Self::default() }
    }

    fn flow(&mut self) -> Flow {
        self.told += 1;
        match self.answer {
            Some((at, flow)) if self.told > at => flow,
            _ => Flow::Continue,
        }
    }
}

impl Monitor for Recorder {
    fn iteration(&mut self, row: &TraceRow) -> Flow {
        self.rows.push(TraceRow { seconds: 0.0, ..*row });
        self.flow()
    }

    fn trial(&mut self, row: &TrialRow) -> Flow {
        assert!(row.number <= row.most);
        self.trials.push(row.clone());
        self.flow()
    }

    fn boundary(&mut self, checkpoint: &Checkpoint<'_>) {
        self.checkpoints.push(postcard::to_allocvec(checkpoint).unwrap());
        self.known.push(self.rows.len());
        if self.hurry_at.is_some_and(|at| self.told == at + 1) {
            self.hurry.raise();
        }
    }

    fn hurry(&self) -> Hurry {
        self.hurry.clone()
    }
}

/// Everything about a model, bit for bit: the debug form of a number is the number.
fn whole(model: &FittedModel) -> String {
    let link = match &model.link {
        Link::Learned(link) => {
            let space = link.space();
            format!("{:?} {:?} {:?}", space.half_width(), space.centres(), link.weights())
        }
        other => format!("{other:?}"),
    };
    let FittedModel {
        factors, offsets, fold_in, baseline, provenance, constants, standing, ..
    } = model;
    format!(
        "{link} {factors:?} {offsets:?} {fold_in:?} {baseline:?} {provenance:?} {constants:?} {standing:?}"
    )
}

fn read(bytes: &[u8]) -> Checkpoint<'static> {
    postcard::from_bytes(bytes).unwrap()
}

/// The law, at every boundary of a fit; returns how many there are. From each boundary the next
/// one is reached in the same bytes, and from the last one the end: so the end is, from all.
fn resumed_is_uninterrupted(config: &FitConfig, input: &FitInput<'_>) -> usize {
    let mut all = Recorder::default();
    let uninterrupted = whole(&fit(config, input, &mut all).unwrap());
    for (here, next) in all.checkpoints.iter().zip(&all.checkpoints[1..]) {
        let mut cut = Recorder::answering(0, Flow::Cancel);
        resume(config, input, Some(read(here)), &mut cut).unwrap();
        assert!(cut.checkpoints.last() == Some(next), "{config:?}");
    }
    for at in [0, all.checkpoints.len() / 2, all.checkpoints.len() - 1] {
        let mut rest = Recorder::default();
        let here = read(&all.checkpoints[at]);
        let resumed = resume(config, input, Some(here), &mut rest).unwrap();
        assert!(whole(&resumed) == uninterrupted, "{config:?}");
        assert_eq!(format!("{:?}", &all.rows[all.known[at]..]), format!("{:?}", rest.rows));
    }
    all.checkpoints.len()
}

fn with_and_without_validation(config: &FitConfig) -> usize {
    let panel = panel();
    let (train, held) = hold_out(panel.shape(), panel.iter().collect(), 0.15, 1).unwrap();
    let input = FitInput { threads: 1, ..FitInput::new(&train) };
    let judged = FitInput { validation: Some(&held), ..input };
    resumed_is_uninterrupted(config, &input) + resumed_is_uninterrupted(config, &judged)
}

#[test]
fn a_fit_that_chooses_goes_on_from_every_boundary() {
    let boundaries = with_and_without_validation(&FitConfig::default());
    assert!(boundaries > 100, "{boundaries}");
}

#[test]
fn a_fit_without_choices_goes_on_from_every_boundary() {
    for link in [KnownLink::Identity, KnownLink::Sigmoid] {
        let link = LinkChoice::Known(link);
        let shrinkage = Shrinkage::Fixed(1.0);
        let config = FitConfig { rank: Some(2), link, shrinkage, ..FitConfig::default() };
        assert!(with_and_without_validation(&config) > 20);
    }
    let (link, keep) = (LinkChoice::Learned, Keep::Last);
    let config = FitConfig { rank: Some(2), link, keep, ..FitConfig::default() };
    assert!(with_and_without_validation(&config) > 20);
}

#[test]
fn algorithm_1_goes_on_from_every_boundary() {
    let plain = FitConfig { rank: Some(2), iterations: 12, ..FitConfig::bcd() };
    let known = LinkChoice::Known(KnownLink::Sigmoid);
    let fixed = StepRule::Fixed(1e-3);
    let bounds = Monotone::Within(SlopeBounds { low: 0.01, high: 2.0 });
    let configs = [
        plain.clone(),
        FitConfig { link: known, ..plain.clone() },
        FitConfig { factor_step: fixed, link_step: fixed, ..plain.clone() },
        FitConfig {
            order: Order::LinkFirst,
            project_factors: ProjectFactors::Auto,
            monotone: bounds,
            start_link: StartLink::Identity,
            ..plain.clone()
        },
        FitConfig { keep: Keep::Last, ..plain },
    ];
    for config in configs {
        assert!(with_and_without_validation(&config) > 10);
    }
}

#[test]
fn quasi_newton_steps_go_on_from_every_boundary() {
    let solver = SolverKind::Lbfgs;
    let plain = FitConfig { rank: Some(2), iterations: 40, solver, ..FitConfig::bcd() };
    let known = LinkChoice::Known(KnownLink::Sigmoid);
    let configs = [
        plain.clone(),
        FitConfig { link: known, ..plain.clone() },
        FitConfig { project_factors: ProjectFactors::Auto, ..plain },
    ];
    for config in configs {
        assert!(with_and_without_validation(&config) > 50);
    }
}

#[test]
fn distances_to_the_truth_go_on_too() {
    let z = isofactor::init::random_factors(SHAPE, 2, 5);
    let truth = Truth::new(&z, KnownLink::Tanh).unwrap();
    let train = Observations::complete(SHAPE, |i, t| z.score(i, t).tanh()).unwrap();
    let config = FitConfig { rank: Some(2), iterations: 12, ..FitConfig::bcd() };
    let input = FitInput { truth: Some(&truth), ..FitInput::new(&train) };
    assert!(resumed_is_uninterrupted(&config, &input) > 10);
}

fn all_solvers() -> [FitConfig; 3] {
    let bcd = FitConfig { rank: Some(2), iterations: 12, ..FitConfig::bcd() };
    let lbfgs = FitConfig { iterations: 30, solver: SolverKind::Lbfgs, ..bcd.clone() };
    [FitConfig::default(), bcd, lbfgs]
}

#[test]
fn stopped_at_any_boundary_it_returns_a_sound_model_and_can_go_on() {
    let panel = panel();
    let (train, held) = hold_out(panel.shape(), panel.iter().collect(), 0.15, 1).unwrap();
    let input = FitInput { validation: Some(&held), ..FitInput::new(&train) };
    for config in all_solvers() {
        let mut all = Recorder::default();
        let uninterrupted = fit(&config, &input, &mut all).unwrap();
        let last = all.checkpoints.len() - 1;
        for at in (0..last).step_by(1 + last / 12) {
            for (flow, stop) in
                [(Flow::Cancel, Stop::Cancelled), (Flow::TimeLimit, Stop::TimeLimit)]
            {
                let mut stopped = Recorder::answering(at, flow);
                let model = fit(&config, &input, &mut stopped).unwrap();
                assert_eq!(model.provenance.stop, stop);
                let (low, high) = (-10.0, 10.0);
                let predictions = train.iter().map(|e| model.predict(Some(e.row), Some(e.column)));
                assert!(predictions.into_iter().all(|y| (low..high).contains(&y)));
                // The best iterate so far, by the entries that judge.
                let errors = stopped.rows.iter().filter_map(|row| row.validation_rmse);
                let least = errors.fold(f64::INFINITY, f64::min);
                let kept = model.provenance.validation.unwrap().rmse;
                assert!(model.provenance.iterations == 0 || kept <= least + 1e-12);
                if flow == Flow::TimeLimit && stopped.trials.len() == at + 1 {
                    // Time that ends while it chooses ends choosing.
                    continue;
                }
                let last = read(stopped.checkpoints.last().unwrap());
                let resumed = resume(&config, &input, Some(last), &mut Recorder::default());
                assert!(whole(&resumed.unwrap()) == whole(&uninterrupted));
            }
        }
    }
}

#[test]
fn choosing_that_is_settled_early_is_followed_by_a_fit() {
    let train = panel();
    let input = FitInput::new(&train);
    for at in [0, 3, 10, 30] {
        let mut settled = Recorder::answering(at, Flow::Settle);
        let model = fit(&FitConfig::default(), &input, &mut settled).unwrap();
        assert_eq!(settled.trials.len(), at + 1);
        assert!(model.provenance.iterations > 0);
        assert!(model.provenance.train.rmse < 0.2, "{:?}", model.provenance.train);
    }
}

#[test]
fn an_abandoned_sweep_leaves_the_predictions_of_the_one_before() {
    let train = panel();
    let input = FitInput::new(&train);
    for link in [KnownLink::Identity, KnownLink::Sigmoid] {
        let (link, shrinkage) = (LinkChoice::Known(link), Shrinkage::Fixed(1.0));
        let config = FitConfig { rank: Some(2), link, shrinkage, ..FitConfig::default() };
        for at in 0..8 {
            let mut cancelled = Recorder::answering(at, Flow::Cancel);
            let before = fit(&config, &input, &mut cancelled).unwrap();
            let hurry = Hurry::new();
            let mut hurried = Recorder { hurry, hurry_at: Some(at), ..Recorder::default() };
            let after = fit(&config, &input, &mut hurried).unwrap();
            assert_eq!(after.provenance.stop, Stop::Cancelled);
            assert_eq!(after.provenance.iterations, at);
            for e in train.iter() {
                let pair = (Some(e.row), Some(e.column));
                assert_eq!(before.predict(pair.0, pair.1), after.predict(pair.0, pair.1));
            }
            assert_eq!(hurried.checkpoints, cancelled.checkpoints);
        }
    }
}

#[test]
fn a_checkpoint_of_another_solver_shape_or_link_is_refused() {
    let train = panel();
    let input = FitInput::new(&train);
    let smaller =
        Observations::complete(Shape { rows: 9, columns: 9 }, |i, t| ((i * 7 + t * 3) % 5) as f64);
    let smaller = smaller.unwrap();
    let other = FitInput::new(&smaller);
    for config in all_solvers() {
        let mut all = Recorder::default();
        fit(&config, &input, &mut all).unwrap();
        let solver = match config.solver {
            SolverKind::Fast => SolverKind::Bcd,
            SolverKind::Bcd => SolverKind::Lbfgs,
            SolverKind::Lbfgs => SolverKind::Fast,
        };
        for bytes in [&all.checkpoints[3], all.checkpoints.last().unwrap()] {
            let swapped = FitConfig { solver, rank: Some(2), ..config.clone() };
            let refused = resume(&swapped, &input, Some(read(bytes)), &mut Recorder::default());
            assert!(refused.unwrap_err().to_string().contains("checkpoint does not fit"));
        }
        let last = all.checkpoints.last().unwrap();
        let refused = resume(&config, &other, Some(read(last)), &mut Recorder::default());
        assert!(refused.unwrap_err().to_string().contains("checkpoint does not fit"));
    }
}
