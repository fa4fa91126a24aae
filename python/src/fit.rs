//! A fit in a thread of its own, so that the calling one can listen for Ctrl-C and call back.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use isofactor::{
    Error, FitConfig, FitInput, Flow, Hurry, Monitor, NumericalError, Observations, Shape,
    TraceRow, TrialRow, select::hold_out,
};
use isofactor_io::{GivenStart, LabelledModel};
use pyo3::{exceptions::PyRuntimeError, prelude::*, types::PyDict};

use crate::{
    data::Data,
    errors::{bad_input, of_core, of_panic},
    model::{Fitted, Model},
    settings,
    state::trace_dict,
};

/// How often the calling thread looks for signals.
const TICK: Duration = Duration::from_millis(50);
/// How long an interrupted fit may take to end by itself before it is left to end alone.
const GRACE: Duration = Duration::from_millis(400);

/// Fits a model to data, which are used up. With `start` it goes on from an earlier model.
#[pyfunction]
#[pyo3(signature = (data, settings, holdout=None, threads=0, callback=None, start=None))]
pub fn fit(
    py: Python<'_>,
    data: &Bound<'_, Data>,
    settings: &Bound<'_, PyDict>,
    holdout: Option<f64>,
    threads: usize,
    callback: Option<Bound<'_, PyAny>>,
    start: Option<&Model>,
) -> PyResult<Model> {
    let config = settings::read(settings)?;
    let data = std::mem::take(&mut *data.borrow_mut());
    if holdout.is_some() && data.validation.is_some() {
        return Err(bad_input("give either holdout or validation entries, not both"));
    }
    if let Some(start) = start {
        start.check_shares_a_name(&data)?;
    }
    let start = start.map(Model::shared);
    let work = Work { config, data, holdout, threads, start };
    let (messages, inbox) = channel();
    let (answers, heard) = channel();
    let hurry = Hurry::new();
    let watch = Watch {
        rows: Vec::new(),
        hurry: hurry.clone(),
        asked: callback.is_some().then(|| (messages.clone(), heard)),
    };
    let worker = thread::Builder::new().name("isofactor".to_owned());
    worker
        .spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| work.run(watch)));
            let outcome = match outcome {
                Ok(fitted) => fitted.map_err(of_core),
                Err(panic) => Err(of_panic(panic.as_ref())),
            };
            // Nobody listens any more after an interrupt.
            let _ = messages.send(Message::Done(Box::new(outcome)));
        })
        .map_err(|_| of_core(NumericalError::NoThreads.into()))?;
    let mut desk = Desk { inbox, answers, hurry };
    desk.attend(py, callback.as_ref()).map(Model::new)
}

enum Message {
    Row(TraceRow),
    Done(Box<PyResult<Fitted>>),
}

/// The calling thread while the fit runs elsewhere.
struct Desk {
    inbox: Receiver<Message>,
    answers: Sender<Flow>,
    hurry: Hurry,
}

impl Desk {
    fn attend(&mut self, py: Python<'_>, callback: Option<&Bound<'_, PyAny>>) -> PyResult<Fitted> {
        loop {
            let inbox = &mut self.inbox;
            let answer = match py.detach(move || inbox.recv_timeout(TICK)) {
                Ok(Message::Done(outcome)) => return *outcome,
                Ok(Message::Row(row)) => ask(py, callback, &row).map(Some),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    Err(PyRuntimeError::new_err("the fit ended without an answer"))
                }
            };
            match answer.and_then(|flow| py.check_signals().map(|()| flow)) {
                Ok(None) => {}
                // A fit that has ended needs no answer.
                Ok(Some(flow)) => _ = self.answers.send(flow),
                Err(error) => {
                    self.dismiss(py);
                    return Err(error);
                }
            }
        }
    }

    /// Asks the fit to end and waits a little. It holds nothing of Python's, so that one in the
    /// middle of a long step can be left to end alone.
    fn dismiss(&mut self, py: Python<'_>) {
        self.hurry.raise();
        let _ = self.answers.send(Flow::Cancel);
        let (inbox, began) = (&mut self.inbox, Instant::now());
        py.detach(move || {
            while let Some(left) = GRACE.checked_sub(began.elapsed()) {
                match inbox.recv_timeout(left) {
                    Ok(Message::Row(_)) => {}
                    _ => break,
                }
            }
        });
    }
}

/// A callback that returns something true puts an end to the fit.
fn ask(py: Python<'_>, callback: Option<&Bound<'_, PyAny>>, row: &TraceRow) -> PyResult<Flow> {
    let Some(callback) = callback else { return Ok(Flow::Continue) };
    let stop = callback.call1((trace_dict(py, row)?,))?.is_truthy()?;
    Ok(if stop { Flow::Cancel } else { Flow::Continue })
}

/// The fit's side: remembers the trace, and asks whether to go on where someone wants to be asked.
struct Watch {
    rows: Vec<TraceRow>,
    hurry: Hurry,
    asked: Option<(Sender<Message>, Receiver<Flow>)>,
}

impl Monitor for Watch {
    fn iteration(&mut self, row: &TraceRow) -> Flow {
        self.rows.push(*row);
        if self.hurry.is_raised() {
            return Flow::Cancel;
        }
        let Some((messages, answers)) = &self.asked else { return Flow::Continue };
        let told = messages.send(Message::Row(*row)).is_ok();
        told.then(|| answers.recv().ok()).flatten().unwrap_or(Flow::Cancel)
    }

    fn trial(&mut self, _: &TrialRow) -> Flow {
        if self.hurry.is_raised() { Flow::Cancel } else { Flow::Continue }
    }

    fn hurry(&self) -> Hurry {
        self.hurry.clone()
    }
}

/// All that a fit needs; nothing of it is Python's.
struct Work {
    config: FitConfig,
    data: Data,
    holdout: Option<f64>,
    threads: usize,
    start: Option<Arc<Fitted>>,
}

impl Work {
    fn run(self, mut watch: Watch) -> Result<Fitted, Error> {
        let Work { mut config, data, holdout, threads, start } = self;
        let Data { rows, columns, train, validation } = data;
        let shape = Shape { rows: rows.len(), columns: columns.len() };
        train.check_can_be_fitted(shape)?;
        let (train, validation) = match holdout {
            Some(share) => {
                let (train, held) = hold_out(shape, train, share, config.seed)?;
                (train, Some(held))
            }
            None => {
                let arrange = |list| Observations::arrange(shape, list);
                (arrange(train)?, validation.map(arrange).transpose()?)
            }
        };
        let start = start.map(|earlier| GivenStart::from_model(&earlier.labelled, &rows, &columns));
        if let Some(start) = &start {
            start.settle(&mut config);
        }
        let mut input =
            FitInput { validation: validation.as_ref(), threads, ..FitInput::new(&train) };
        if let Some(start) = &start {
            input = start.begin(input);
        }
        let began = Instant::now();
        let model = isofactor::fit(&config, &input, &mut watch)?;
        let seconds = began.elapsed().as_secs_f64();
        let labelled = LabelledModel { model, rows, columns };
        Ok(Fitted { labelled, train: Some(train), validation, trace: watch.rows, seconds })
    }
}
