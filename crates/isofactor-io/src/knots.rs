//! A piecewise-linear link from a file of points.

use isofactor::Knots;

use crate::{
    error::{Error, Result},
    reading::{
        entries::open_text_table,
        format::TableFormat,
        source::Source,
        tabular::{Form, Records},
    },
};

/// Reads the knots of a link: the first two columns are score and value, both increasing.
pub fn read_knots(source: &Source) -> Result<Knots> {
    // Wide form has the rule for headers that is wanted: a line of numbers is none.
    let mut table = open_text_table(source, &TableFormat::default(), Form::Wide)?;
    table.needs(2, "score and value")?;
    let mut points = Vec::new();
    while table.advance()? {
        match (table.value(0)?, table.value(1)?) {
            (Some(score), Some(value)) => points.push((score, value)),
            _ => return Err(table.wrong("a knot needs a score and a value")),
        }
    }
    Knots::try_new(points).map_err(|error| Error::Content { path: source.name(), source: error })
}
