//! Factors as CSV: the truth of made data, or a start of the user's own.
//!
//! ```text
//! kind,label,1,2,...      the numbers of the factors
//! row,anna,0.3,-1.2
//! column,x,0.1,0.4
//! link,sigmoid,,          the link, if it is known; or, for a piecewise one,
//! knot,,-1,0.2            its points (score, value)
//! ```

use isofactor::{Factors, Knots, KnownLink};

use crate::{
    error::{Error, Result},
    given_start::{arranged, known},
    labels::Labels,
    reading::{
        entries::open_text_table,
        format::{HeaderRule, TableFormat},
        source::Source,
        tabular::{Form, Records},
    },
    write::Target,
};

/// Factors with the names of what they belong to.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorFile {
    /// Names of the rows.
    pub rows: Labels,
    /// Names of the columns.
    pub columns: Labels,
    /// Their factors.
    pub factors: Factors,
    /// The link, if the file names one.
    pub link: Option<KnownLink>,
}

impl FactorFile {
    /// How many of other names are in the file.
    pub fn known(&self, rows: &Labels, columns: &Labels) -> usize {
        known((&self.rows, &self.columns), (rows, columns))
    }

    /// The factors for other names in another order; names that are not in the file get zeros.
    pub fn arranged(&self, rows: &Labels, columns: &Labels) -> Factors {
        arranged(&self.factors, (&self.rows, &self.columns), (rows, columns))
    }
}

/// Reads factors.
pub fn read_factors(source: &Source) -> Result<FactorFile> {
    let format = TableFormat { header: HeaderRule::Yes, ..TableFormat::default() };
    let mut table = open_text_table(source, &format, Form::Long)?;
    table.needs(3, "kind, label and at least one factor")?;
    let (mut rows, mut columns) = (Labels::default(), Labels::default());
    let (mut row_factors, mut column_factors) = (Vec::new(), Vec::new());
    let (mut name, mut knots) = (None, Vec::new());
    let mut rank = None;
    while table.advance()? {
        let mut numbers = Vec::new();
        for field in 2..table.width() {
            if table.text(field)?.is_empty() {
                break;
            }
            numbers.extend(table.value(field)?);
        }
        let label = table.text(1)?;
        let (labels, factors) = match table.text(0)? {
            "row" => (&mut rows, &mut row_factors),
            "column" => (&mut columns, &mut column_factors),
            "link" => {
                name = Some(label.to_owned());
                continue;
            }
            "knot" if numbers.len() == 2 => {
                knots.push((numbers[0], numbers[1]));
                continue;
            }
            _ => return Err(table.wrong("the kind must be row, column, link or knot")),
        };
        if numbers.is_empty() || *rank.get_or_insert(numbers.len()) != numbers.len() {
            return Err(table.wrong("every row and column must have the same number of factors"));
        }
        if labels.find(label).is_some() {
            return Err(table.wrong("the label occurs twice"));
        }
        labels.number(label);
        factors.extend(numbers);
    }
    let path = source.name();
    let rank = rank.ok_or(Error::HeaderOnly { path: path.clone() })?;
    let factors = Factors::from_vecs(rank, row_factors, column_factors)
        .ok_or(Error::HeaderOnly { path: path.clone() })?;
    let content = |source: isofactor::Error| Error::Content { path: path.clone(), source };
    let link = match name.as_deref() {
        None => None,
        Some("piecewise") => Some(KnownLink::Piecewise(Knots::try_new(knots).map_err(content)?)),
        Some(name) => Some(name.parse().map_err(|e: isofactor::ConfigError| content(e.into()))?),
    };
    Ok(FactorFile { rows, columns, factors, link })
}

/// Writes factors; names are numbers from 1 unless labels are given.
pub fn write_factors(
    target: Target,
    factors: &Factors,
    link: Option<&KnownLink>,
    labels: Option<(&Labels, &Labels)>,
) -> Result<()> {
    let rank = factors.rank();
    let width = rank.max(2);
    target.write(|out| {
        let mut csv = csv::Writer::from_writer(out);
        let header = ["kind".to_owned(), "label".to_owned()].into_iter();
        csv.write_record(header.chain((1..=width).map(|j| j.to_string())))?;
        let mut line = |kind: &str, label: String, numbers: &[f64]| {
            let blanks = (numbers.len()..width).map(|_| String::new());
            let fields = numbers.iter().map(f64::to_string).chain(blanks);
            csv.write_record([kind.to_owned(), label].into_iter().chain(fields))
        };
        let label = |labels: Option<&Labels>, i: usize| {
            labels.map_or_else(|| (i + 1).to_string(), |labels| labels.name(i).to_owned())
        };
        for (i, numbers) in factors.each_row().enumerate() {
            line("row", label(labels.map(|l| l.0), i), numbers)?;
        }
        for (i, numbers) in factors.each_column().enumerate() {
            line("column", label(labels.map(|l| l.1), i), numbers)?;
        }
        if let Some(link) = link {
            line("link", link.to_string(), &[])?;
            if let KnownLink::Piecewise(knots) = link {
                for &(x, y) in knots.points() {
                    line("knot", String::new(), &[x, y])?;
                }
            }
        }
        csv.flush()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.csv");
        let knots = Knots::try_new(vec![(-1.0, 0.0), (0.0, 0.1), (2.0, 5.0)]).unwrap();
        for rank in [1, 3] {
            let rows = (0..4 * rank).map(|k| (k as f64).sin()).collect();
            let columns = (0..3 * rank).map(|k| (k as f64).cos() / 3.0).collect();
            let factors = Factors::from_vecs(rank, rows, columns).unwrap();
            for link in [KnownLink::Tanh, KnownLink::Piecewise(knots.clone())] {
                let target = Target::new(&path).unwrap();
                write_factors(target, &factors, Some(&link), None).unwrap();
                let read = read_factors(&Source::new(&path)).unwrap();
                assert_eq!(read.factors, factors);
                assert_eq!(read.link, Some(link));
                assert_eq!(read.rows.name(3), "4");
            }
        }
    }

    #[test]
    fn factors_follow_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("start.csv");
        std::fs::write(&path, "kind,label,1\nrow,a,1\nrow,b,2\ncolumn,x,3\n").unwrap();
        let file = read_factors(&Source::new(&path)).unwrap();
        let names = |list: &[&str]| {
            Labels::from_names(list.iter().map(|s| s.to_string()).collect()).unwrap()
        };
        let arranged = file.arranged(&names(&["b", "new", "a"]), &names(&["x"]));
        assert_eq!(arranged.rows(), [2.0, 0.0, 1.0]);
        std::fs::write(&path, "kind,label,1\nrow,a,1\nrow,a,2\n").unwrap();
        assert!(read_factors(&Source::new(&path)).unwrap_err().to_string().contains("line 3"));
    }
}
