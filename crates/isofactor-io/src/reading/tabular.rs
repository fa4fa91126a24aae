//! Long form, wide form and pairs, of any format that is a table.

use isofactor::{Entry, EntryList};

use crate::{
    error::{Error, Place, Result},
    labels::Labels,
    reading::{
        format::TableFormat,
        monitor::Meter,
        places::{Header, LONG, PAIRS, in_long_form, in_wide_form},
    },
};

/// What the records of a table are wanted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An entry a record: row, column, value.
    Long,
    /// A row a record.
    Wide,
    /// A pair of names a record.
    Pairs,
}

/// A format that is a table: named columns, and records one after the other.
///
/// Fields are asked for by their place among those selected. The record is the one that
/// [`Records::advance`] went to.
pub(crate) trait Records {
    /// The names of the columns.
    fn header(&self) -> &Header;
    /// Which columns will be asked for, in this order, and those of them that hold values.
    fn select(&mut self, columns: &[usize]) -> Result<()>;
    /// Goes to the next record; false when there is none.
    fn advance(&mut self) -> Result<bool>;
    /// Where the record is.
    fn place(&self) -> Place;
    /// The number of the name in a field.
    fn label(&self, field: usize, labels: &mut Labels) -> Result<usize>;
    /// The number in a field; none when it is missing.
    fn value(&self, field: usize) -> Result<Option<f64>>;
}

/// Entries of a table in long or wide form.
pub(crate) fn entries<R: Records>(
    records: &mut R,
    format: &TableFormat,
    (rows, columns): (&mut Labels, &mut Labels),
    meter: &mut Meter<'_>,
) -> Result<EntryList> {
    let mut entries = EntryList::default();
    let any = if format.wide {
        wide(records, format, (rows, columns), &mut entries, meter)?
    } else {
        long(records, format, (rows, columns), &mut entries, meter)?
    };
    let path = || records.header().path.clone();
    match (entries.is_empty(), any) {
        (false, _) => Ok(entries),
        (true, false) => Err(Error::HeaderOnly { path: path() }),
        (true, true) => Err(Error::AllMissing { path: path() }),
    }
}

fn long<R: Records>(
    records: &mut R,
    format: &TableFormat,
    (rows, columns): (&mut Labels, &mut Labels),
    entries: &mut EntryList,
    meter: &mut Meter<'_>,
) -> Result<bool> {
    let names = [&format.row, &format.column, &format.value].map(Option::as_deref);
    let places = in_long_form(records.header(), &LONG, &names)?;
    records.select(&places)?;
    let mut any = false;
    while records.advance()? {
        any = true;
        meter.step();
        if let Some(value) = records.value(2)? {
            let (row, column) = (records.label(0, rows)?, records.label(1, columns)?);
            entries.push(Entry { row, column, value });
        }
    }
    Ok(any)
}

/// Rows are named by a column or numbered from 1, columns by the header or numbered from 1.
fn wide<R: Records>(
    records: &mut R,
    format: &TableFormat,
    (rows, columns): (&mut Labels, &mut Labels),
    entries: &mut EntryList,
    meter: &mut Meter<'_>,
) -> Result<bool> {
    let places = in_wide_form(records.header(), format.row.as_deref(), &format.skip)?;
    let names = &records.header().names;
    let numbers: Vec<usize> = places.values.iter().map(|&p| columns.number(&names[p])).collect();
    let named = usize::from(places.row.is_some());
    let selected: Vec<usize> = places.row.into_iter().chain(places.values).collect();
    records.select(&selected)?;
    let mut lines = 0_usize;
    while records.advance()? {
        lines += 1;
        let row = match places.row {
            Some(_) => records.label(0, rows)?,
            None => rows.number(&lines.to_string()),
        };
        for (field, &column) in numbers.iter().enumerate() {
            meter.step();
            if let Some(value) = records.value(named + field)? {
                entries.push(Entry { row, column, value });
            }
        }
    }
    Ok(lines > 0)
}

/// Pairs of names, as numbers of both sides.
pub(crate) fn pairs<R: Records>(
    records: &mut R,
    format: &TableFormat,
    (rows, columns): (&mut Labels, &mut Labels),
    meter: &mut Meter<'_>,
) -> Result<Vec<(u32, u32)>> {
    let names = [&format.row, &format.column].map(Option::as_deref);
    let places = in_long_form(records.header(), &PAIRS, &names)?;
    records.select(&places)?;
    let mut pairs = Vec::new();
    while records.advance()? {
        meter.step();
        let (row, column) = (records.label(0, rows)?, records.label(1, columns)?);
        match (u32::try_from(row), u32::try_from(column)) {
            (Ok(row), Ok(column)) => pairs.push((row, column)),
            _ => return Err(Error::TooManyNames { path: records.header().path.clone() }),
        }
    }
    if pairs.is_empty() {
        return Err(Error::HeaderOnly { path: records.header().path.clone() });
    }
    Ok(pairs)
}
