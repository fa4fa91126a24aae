//! What both benchmarks measure on: uneven made entries, and problems ready to iterate.

use std::sync::Arc;

use isofactor::{
    Entry, EntryList, Factors, Kernel, KernelFamily, KnownLink, Link, Observations, Shape,
    config::LossScale,
    init::random_factors,
    link::{LearnedLink, LinkSpace, SlopeBounds},
    objective::Objective,
    passes::Entries,
    steps::{Problem, State, StepLength},
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// About `count` entries, 100 a row and 1000 a column on average, both uneven: a row has up to
/// five times the mean, and the first columns are met far more often than the last.
pub fn uneven(count: usize, seed: u64) -> Observations {
    let shape = Shape { rows: (count / 100).max(2), columns: (count / 1000).max(2) };
    let mut random = Pcg64::seed_from_u64(seed);
    let mut list = EntryList::default();
    for row in 0..shape.rows {
        let share: f64 = random.random();
        let entries = (500.0 * share.powi(4)).ceil() as usize;
        for _ in 0..entries {
            let place: f64 = random.random();
            let column = (place * place * shape.columns as f64) as usize;
            list.push(Entry { row, column, value: random.random::<f64>() * 4.0 - 2.0 });
        }
    }
    Observations::arrange(shape, list).expect("made entries are sound")
}

/// Small factors, the same for everything that is measured.
pub fn factors(observations: &Observations, rank: usize) -> Factors {
    random_factors(observations.shape(), rank, 1)
}

/// What an iteration is made of.
#[derive(Clone, Copy, PartialEq)]
pub enum Variant {
    /// The identity link.
    Identity,
    /// A learned link.
    Learned,
    /// A learned link, both projections.
    Projected,
}

/// A problem with steps so short that every iteration costs the same, and its state.
pub fn problem(observations: &Observations, rank: usize, variant: Variant) -> (Problem<'_>, State) {
    let factors = factors(observations, rank);
    let entries = Entries::new(observations);
    let largest = entries.scores(&factors, &mut Vec::new());
    let link = match variant {
        Variant::Identity => Link::Known(KnownLink::Identity),
        _ => {
            let kernel = Kernel::try_new(KernelFamily::Gaussian, largest / 2.0);
            let space = LinkSpace::build(kernel.expect("positive"), 3.0 * largest);
            let space = Arc::new(space.expect("a short domain"));
            let weights = space.nearest(|x| x).expect("a smooth function");
            Link::Learned(LearnedLink::new(space, weights))
        }
    };
    let projected = variant == Variant::Projected;
    let radius = projected.then(|| factors.radius());
    let bounds = projected.then_some(SlopeBounds { low: 0.0, high: f64::INFINITY });
    let objective = Objective { loss: LossScale::Sum, link_penalty: 1e-3, balance_penalty: 0.5 };
    let step = StepLength::Fixed(1e-12);
    let mut problem = Problem::new(entries, objective, radius, bounds, step, step);
    let state = problem.state(factors, link).expect("a finite start");
    (problem, state)
}

/// One iteration of Algorithm 1.
pub fn iterate(problem: &mut Problem<'_>, state: &mut State) {
    problem.step_factors(state).expect("a short step");
    problem.step_link(state).expect("a short step");
}
