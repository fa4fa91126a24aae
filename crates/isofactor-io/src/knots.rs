//! A piecewise-linear link from a file of points.

use isofactor::Knots;

use crate::{
    entries::{Source, Table},
    error::{Error, Result},
};

/// Reads the knots of a link: the first two columns are score and value, both increasing.
pub fn read_knots(source: &Source) -> Result<Knots> {
    let mut table = Table::open(source)?;
    let x = table.place(None, 0, 2, "score and value")?;
    if table.header.iter().take(2).all(|field| field.parse::<f64>().is_ok()) {
        table.header_is_data();
    }
    let mut points = Vec::new();
    while let Some(record) = table.next()? {
        let number = |place: usize| table.value(&record[place], &[]);
        if let (Some(score), Some(value)) = (number(x)?, number(x + 1)?) {
            points.push((score, value));
        }
    }
    Knots::try_new(points).map_err(|source| Error::Content { path: table.path.clone(), source })
}
