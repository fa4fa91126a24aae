//! The course of the fit, where it is known.

use isofactor::config::SolverKind;
use isofactor_report::{Axis, Block, Chart, Figure, Section, Series};

use super::fitted::steps;
use crate::{charts::convergence_chart, study::Study};

pub fn section(study: &Study<'_>) -> Section {
    let section = Section::new("Convergence");
    let (p, trace) = (&study.subject.model.provenance, study.subject.trace);
    let (step, steps) = steps(p.config.solver);
    if trace.is_empty() {
        return section.with(Block::Text(format!(
            "A model file does not hold the course of its fit, so there is no chart of it here: it \
             made {} {steps} and kept {step} {}. “isofactor fit --report” draws it.",
            p.iterations, p.kept
        )));
    }
    if trace.len() == 1 {
        let text = "There was nothing to repeat: level and effects are found in one go.";
        return section.with(Block::Text(text.to_owned()));
    }
    let held = trace.iter().any(|row| row.validation_rmse.is_some());
    let judged = if held { " and of the held-out entries" } else { "" };
    let section = section.with(Figure::new(
        format!(
            "Errors of the training entries{judged} after each {step}, and the one that was kept."
        ),
        convergence_chart(trace, p.kept, step),
    ));
    if p.config.solver == SolverKind::Fast {
        return section;
    }
    section.with(Figure::new(
        "The objective after each iteration, and two of its three parts; the third is the penalty \
         of the link. Parts that are zero have no place on a logarithmic axis.",
        objective_chart(study),
    ))
}

fn objective_chart(study: &Study<'_>) -> Chart {
    let trace = study.subject.trace;
    let positive = |pick: fn(&isofactor::TraceRow) -> f64| -> Vec<(f64, f64)> {
        let points = trace.iter().map(|row| (row.iteration as f64, pick(row)));
        points.filter(|p| p.1 > 0.0).collect()
    };
    let lines = [
        ("objective", positive(|row| row.objective)),
        ("data term", positive(|row| row.data_term)),
        ("balance term", positive(|row| row.balance_term)),
    ];
    let chart = Chart::new(Axis::new("Iteration").whole(), Axis::log("Objective"));
    let drawn = lines.into_iter().filter(|(_, points)| !points.is_empty());
    drawn.fold(chart, |chart, (name, points)| chart.with(Series::line(name, points)))
}
