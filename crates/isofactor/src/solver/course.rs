//! The course of a fit that lowers the paper's objective, whatever its iterations do: when it ends
//! and which iterate is kept.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Stop, bcd, lbfgs};
use crate::{
    config::{Keep, Order},
    error::Result,
    factors::Factors,
    link::Link,
    monitor::{Flow, TraceRow},
    observations::Shape,
    steps::{Problem, State},
};

/// What an iteration does.
#[derive(Debug, Clone, Copy)]
pub enum Method {
    /// A step of each block.
    Bcd(Order),
    /// A quasi-Newton step of the factors with the best link.
    Lbfgs,
}

/// How long to run and what to return.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// What an iteration does.
    pub method: Method,
    /// How many iterations at most.
    pub iterations: usize,
    /// With steps that are searched for: the share of the objective below which ten iterations are too little.
    pub tolerance: f64,
    /// The iterate to return when validation errors are known.
    pub keep: Keep,
}

/// Where a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// The iterate to keep.
    pub state: State,
    /// Which iteration it is from.
    pub kept: usize,
    /// How many iterations were made.
    pub iterations: usize,
    /// Why it ended.
    pub stop: Stop,
}

/// What a run remembers beside its state; with the state, all that is needed to go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Course {
    /// Iterations made.
    iterations: usize,
    /// The iterate with the smallest validation error, if that is the one to keep.
    best: Option<Held>,
    /// The last objectives, the oldest first.
    recent: VecDeque<f64>,
    /// The objective of the start, or of predicting zero.
    scale: f64,
}

/// An iterate that was good.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Held {
    error: f64,
    iteration: usize,
    factors: Factors,
    link: Link,
}

/// Sees every iterate; its answer may end the run.
pub trait Watch {
    /// The trace of this iterate, and whether to go on.
    fn see(
        &mut self,
        iteration: usize,
        problem: &Problem<'_>,
        state: &State,
    ) -> Result<(TraceRow, Flow)>;

    /// Nothing is half done: the run can go on from here at any time.
    fn boundary(&mut self, problem: &Problem<'_>, state: &State, course: &Course);
}

/// An objective this many times that of the start, or of predicting zero, will not come back.
const HOPELESS: f64 = 1e6;
/// How many iterations must together lower the objective by more than the tolerance.
const PATIENCE: usize = 10;

/// Runs from `state`: a start, whose factors are already projected, or the state of a checkpoint,
/// which has a course.
pub fn run(
    problem: &mut Problem<'_>,
    mut state: State,
    course: Option<Course>,
    run: &Run,
    watch: &mut dyn Watch,
) -> Result<Outcome> {
    let (mut course, mut flow) = match course {
        Some(course) => (course, Flow::Continue),
        None => Course::begin(problem, &state, run.keep, watch)?,
    };
    let stop = loop {
        watch.boundary(problem, &state, &course);
        if let Some(stop) = Stop::asked(flow) {
            break stop;
        }
        if course.iterations >= run.iterations {
            break Stop::IterationLimit;
        }
        course.iterations += 1;
        problem.begin_iteration(course.iterations);
        let moved = match run.method {
            Method::Bcd(order) => bcd::iterate(problem, &mut state, order)?,
            Method::Lbfgs => lbfgs::iterate(problem, &mut state, course.iterations)?,
        };
        let objective = state.value.total();
        if objective > HOPELESS * course.scale {
            return Err(problem.diverged(objective).into());
        }
        flow = course.see(problem, &state, run.keep, watch)?;
        if !moved || course.settled(problem, &state, run) {
            break Stop::Converged;
        }
    };
    let Course { iterations, best, .. } = course;
    let mut kept = iterations;
    if let Some(Held { iteration, factors, link, .. }) = best {
        state = problem.state(factors, link)?;
        kept = iteration;
    }
    problem.bring_inside(&mut state)?;
    Ok(Outcome { state, kept, iterations, stop })
}

impl Course {
    /// At the start, which is shown first.
    fn begin(
        problem: &Problem<'_>,
        state: &State,
        keep: Keep,
        watch: &mut dyn Watch,
    ) -> Result<(Self, Flow)> {
        let objective = state.value.total();
        let mut course = Self {
            iterations: 0,
            best: None,
            recent: VecDeque::from([objective]),
            scale: objective.max(problem.objective.of_zero(&problem.entries)),
        };
        let flow = course.see(problem, state, keep, watch)?;
        Ok((course, flow))
    }

    /// Whether the last iterations hardly lowered the objective. Fixed steps are the user's to end.
    fn settled(&mut self, problem: &Problem<'_>, state: &State, run: &Run) -> bool {
        let objective = state.value.total();
        self.recent.push_back(objective);
        if self.recent.len() <= PATIENCE {
            return false;
        }
        let before = self.recent.pop_front().unwrap_or(objective);
        let searching = match run.method {
            Method::Bcd(_) => bcd::is_searching(problem, state),
            Method::Lbfgs => true,
        };
        searching && (0.0..=run.tolerance * objective.abs()).contains(&(before - objective))
    }

    pub(crate) fn iterations(&self) -> usize {
        self.iterations
    }

    /// Whether it can be that of a fit of this shape.
    pub(crate) fn fits(&self, shape: Shape) -> bool {
        let best = self.best.as_ref();
        best.is_none_or(|b| b.factors.shape() == shape && !matches!(b.link, Link::Tabulated(_)))
    }

    /// Shows the iterate, and holds it if it is the best one yet and the best one is to be kept.
    fn see(
        &mut self,
        problem: &Problem<'_>,
        state: &State,
        keep: Keep,
        watch: &mut dyn Watch,
    ) -> Result<Flow> {
        let (row, flow) = watch.see(self.iterations, problem, state)?;
        let Some(error) = row.validation_rmse.filter(|_| keep == Keep::Best) else {
            return Ok(flow);
        };
        if problem.is_inside(state) && self.best.as_ref().is_none_or(|best| error < best.error) {
            let (factors, link) = (state.factors.clone(), state.link.clone());
            self.best = Some(Held { error, iteration: self.iterations, factors, link });
        }
        Ok(flow)
    }
}
