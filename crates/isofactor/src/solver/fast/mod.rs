//! The default solver: variational sweeps that set their own penalties, an exact monotone link
//! step, every choice made on held-out entries.
//!
//! | file | what |
//! | --- | --- |
//! | `canonical` | an order of rows, columns and entries that a file's own does not change |
//! | `panel` | the entries by row and by column, order-free signatures |
//! | `units` | the posterior of rows or columns given the other side |
//! | `priors` | what the prior of a side learns: precisions, the meaning of presence |
//! | `rotate` | the rotation where priors are likeliest |
//! | `belief` | all of that in sweeps |
//! | `curve` | the increasing link for given, uncertain scores |
//! | `linked` | Gauss-Newton sweeps through a link |
//! | `state` | a belief, with a link or without |
//! | `choose` | sweeps, shrinkage, link or none |
//! | `trials` | what choosing goes by |
//! | `course` | what a fit remembers on its way |
//! | `fold` | new rows and columns from a few entries |
//!
//! Why this and not something else (root mean squared error on held-out tenths of MovieLens-small,
//! rank 12): ridge least squares with effects 0.846; the same with posterior covariances (the
//! prior's precisions learned) 0.8415; with the meaning of presence 0.814. Posterior diagonals
//! instead of full covariances lose 0.003; noise of its own for each row gains on MovieLens and
//! loses more on Jester; the mean of three seeds gains 0.002 for three times the time.

mod belief;
mod canonical;
mod choose;
mod course;
mod curve;
mod fold;
mod linked;
mod panel;
mod priors;
mod rotate;
mod state;
mod trials;
mod units;
mod update;

use std::time::Instant;

use canonical::Canonical;
use choose::{Kind, MOST_LINKED_SWEEPS, MOST_SWEEPS, Plan, choose, go_on, range, unfitted};
use panel::Panel;
use state::{State, Swept};

pub(crate) use course::Course;
pub use fold::{FoldIn, NewUnit, SidePrior};

use super::Stop;
use crate::{
    config::{FitConfig, Keep},
    error::{NumericalError, Result},
    factors::Factors,
    fit::FitInput,
    init,
    link::{KnownLink, Link},
    model::{Chosen, Offsets},
    monitor::{Flow, Hurry, Monitor, TraceRow},
    objective::ObjectiveValue,
    observations::Shape,
};

/// What the solver found.
#[derive(Debug)]
pub(crate) struct FastFit {
    pub factors: Factors,
    pub offsets: Offsets,
    pub link: Link,
    pub fold_in: FoldIn,
    pub chosen: Chosen,
    pub iterations: usize,
    pub kept: usize,
    pub stop: Stop,
}

/// With more entries than this a second copy of them costs too much: their order then changes last
/// digits.
const MOST_COPIED: usize = 20_000_000;

/// Fits the model, from where the course has come. Nothing depends on the order of the entries.
pub(crate) fn run(
    settings: &FitConfig,
    input: &FitInput<'_>,
    course: Option<Course>,
    monitor: &mut (dyn Monitor + Send),
) -> Result<FastFit> {
    if input.train.len() > MOST_COPIED {
        return run_ordered(settings, input, course, monitor);
    }
    let canonical = Canonical::new(input.train);
    let train = canonical.arranged(input.train)?;
    let validation = input.validation.map(|held| canonical.arranged(held)).transpose()?;
    let start = input.start.map(|factors| canonical.factors(factors));
    let start_offsets = input.start_offsets.map(|offsets| canonical.offsets(offsets));
    let ordered = FitInput {
        train: &train,
        validation: validation.as_ref(),
        start: start.as_ref(),
        start_offsets: start_offsets.as_ref(),
        ..*input
    };
    Ok(canonical.back(run_ordered(settings, &ordered, course, monitor)?))
}

fn run_ordered(
    settings: &FitConfig,
    input: &FitInput<'_>,
    course: Option<Course>,
    monitor: &mut (dyn Monitor + Send),
) -> Result<FastFit> {
    let (began, range) = (Instant::now(), range(input.train));
    let mut panel = Panel::new(input.train, monitor.hurry());
    let mut run = Run { settings, input, panel: &panel, range, monitor, began };
    if let Some((plan, course, flow)) = run.begin(course.unwrap_or_default())? {
        return run.sweeps(plan, course, flow);
    }
    panel.hurry = Hurry::default();
    Run { settings, input, panel: &panel, range, monitor, began }.cancelled()
}

struct Run<'a> {
    settings: &'a FitConfig,
    input: &'a FitInput<'a>,
    panel: &'a Panel<'a>,
    range: (f64, f64),
    monitor: &'a mut (dyn Monitor + Send),
    began: Instant,
}

impl Run<'_> {
    /// To the first boundary of the fit, or to the one where the course left it; none when it was
    /// cancelled on the way.
    fn begin(&mut self, mut course: Course) -> Result<Option<(Plan, Course, Flow)>> {
        if let Some(plan) = course.plan.clone() {
            let fits = course.state.is_some() && course.fits(self.input.train.shape());
            let fits = fits.then_some((plan, course, Flow::Continue));
            return Ok(Some(fits.ok_or(NumericalError::OtherCheckpoint)?));
        }
        let Some(mut plan) = self.plan(&mut course)? else { return Ok(None) };
        let state = match State::begin(self.panel, plan.prior, &plan.kind, self.start()) {
            Some(state) => state,
            // Scores without any spread have no link.
            None => {
                plan.kind = Kind::Effects;
                self.effects_only(&plan)?
            }
        };
        if self.panel.hurry.is_raised() {
            return Ok(None);
        }
        let flow = self.see(0, &state).1;
        (course.plan, course.state) = (Some(plan.clone()), Some(state));
        Ok(Some((plan, course, flow)))
    }

    fn plan(&mut self, course: &mut Course) -> Result<Option<Plan>> {
        let (settings, panel) = (self.settings, self.panel);
        let Some(factors) = self.input.start else {
            return choose(settings, panel, course, self.monitor);
        };
        let rank = settings.rank.unwrap_or(factors.rank());
        init::given_factors(factors, self.input.train.shape(), rank)?;
        Ok(Some(go_on(settings, panel, rank)))
    }

    fn start(&self) -> Option<(&Factors, Option<&Offsets>)> {
        self.input.start.map(|factors| (factors, self.input.start_offsets))
    }

    /// Sweeps until there is nothing to gain: on the validation entries if there are any, else as
    /// often as was best on the entries held back for choosing.
    fn sweeps(&mut self, plan: Plan, mut course: Course, mut flow: Flow) -> Result<FastFit> {
        let settings = self.settings;
        let most = match plan.kind {
            Kind::Level | Kind::Effects => 0,
            Kind::Factors => MOST_SWEEPS,
            Kind::Linked { .. } => MOST_LINKED_SWEEPS,
        };
        let most = most.min(settings.iterations);
        let watched = self.input.validation.is_some() && settings.keep == Keep::Best;
        let mut patience = course.patience(&plan, self.input.train.len());
        let stop = loop {
            self.monitor.boundary(&course.checkpoint());
            if let Some(stop) = Stop::asked(flow) {
                break stop;
            }
            if most == 0 {
                break Stop::Converged;
            }
            if !watched && course.sweeps >= plan.sweeps.min(most) {
                break if course.sweeps < settings.iterations {
                    Stop::ChosenNumber
                } else {
                    Stop::IterationLimit
                };
            }
            if course.sweeps >= most {
                break Stop::IterationLimit;
            }
            let state = course.state.as_mut().ok_or(NumericalError::BadStart)?;
            match state.sweep(self.panel, course.sweeps) {
                Swept::Whole if state.is_finite() => course.sweeps += 1,
                Swept::Abandoned => break Stop::Cancelled,
                Swept::Whole | Swept::Failed => {
                    // Values so extreme that sums of them overflow: what is simpler still holds.
                    *state = self.effects_only(&plan)?;
                    break Stop::Converged;
                }
            }
            let error;
            (error, flow) = self.see(course.sweeps, state);
            if let Some(error) = error.filter(|_| watched) {
                course.errors.push(error);
                let spent = patience.spent(course.sweeps, error);
                if patience.at == course.sweeps {
                    match &mut course.best {
                        Some((at, held)) => {
                            *at = course.sweeps;
                            held.clone_from(state);
                        }
                        None => course.best = Some((course.sweeps, state.clone())),
                    }
                }
                if spent {
                    break Stop::EarlyStop;
                }
            }
        };
        let Course { state, sweeps, best, .. } = course;
        let held = best.or(state.map(|state| (sweeps, state)));
        let held = held.filter(|(_, state)| state.is_finite());
        let (kept, state) = held.ok_or(NumericalError::BadStart)?;
        Ok(self.finish(plan, state, sweeps, kept, stop))
    }

    /// What there is before anything is fitted: the start, or effects alone.
    fn cancelled(&mut self) -> Result<FastFit> {
        let plan = unfitted(self.settings, self.panel, self.input.start);
        let state = State::begin(self.panel, plan.prior, &plan.kind, self.start());
        let state = state.filter(State::is_finite).ok_or(NumericalError::BadStart)?;
        self.see(0, &state);
        Ok(self.finish(plan, state, 0, 0, Stop::Cancelled))
    }

    fn effects_only(&self, plan: &Plan) -> Result<State> {
        let state = State::begin(self.panel, plan.prior, &Kind::Effects, None);
        Ok(state.ok_or(NumericalError::BadStart)?)
    }

    /// Tells the monitor; returns the validation error.
    fn see(&mut self, iteration: usize, state: &State) -> (Option<f64>, Flow) {
        let (train, validation) = (self.input.train, self.input.validation);
        let squares = state.squares(train, self.range);
        let value = ObjectiveValue { data: squares, ..ObjectiveValue::default() };
        let mut row = TraceRow::new(iteration, value);
        row.train_rmse = (squares / train.len() as f64).sqrt();
        row.validation_rmse = validation
            .map(|entries| (state.squares(entries, self.range) / entries.len() as f64).sqrt());
        row.seconds = self.began.elapsed().as_secs_f64();
        (row.validation_rmse, self.monitor.iteration(&row))
    }

    fn finish(
        &self,
        plan: Plan,
        state: State,
        iterations: usize,
        kept: usize,
        stop: Stop,
    ) -> FastFit {
        let link = match &state {
            State::Straight(_) => Link::Known(KnownLink::Identity),
            State::Linked(linked) => match &plan.kind {
                Kind::Linked { given: Some(link), .. } => Link::Known(link.clone()),
                _ => Link::Tabulated(linked.link.clone()),
            },
        };
        let belief = state.belief();
        let Shape { rows, columns } = self.input.train.shape();
        let rank = belief.prior.rank;
        let mut factors = Factors::zeros(Shape { rows, columns }, rank);
        for (row, z) in factors.each_row_mut().enumerate() {
            z.copy_from_slice(&belief.rows.of(row)[..rank]);
        }
        for (column, z) in factors.each_column_mut().enumerate() {
            z.copy_from_slice(&belief.columns.of(column)[..rank]);
        }
        let effects = |units: &units::Units| (0..units.len()).map(|i| units.of(i)[rank]).collect();
        let offsets = Offsets {
            level: belief.level,
            rows: effects(&belief.rows),
            columns: effects(&belief.columns),
            range: self.range,
        };
        let fold_in = FoldIn::new(belief);
        FastFit { factors, offsets, link, fold_in, chosen: plan.chosen, iterations, kept, stop }
    }
}
