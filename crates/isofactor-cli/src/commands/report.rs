//! `isofactor report`: a page about a model and its data.

use std::path::Path;

use isofactor::{EntryList, Observations, select::hold_out};
use isofactor_io::{LabelledModel, TableFormat, Target, read_model};
use isofactor_page::{Subject, fit_page};

use super::fit::name_of;
use crate::{args::ReportArgs, failure::Failure, paths, reading, text::say};

/// Reads the model and the entries, and writes the page.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    let standard_input = Path::new("-");
    if args.data == standard_input && args.valid.as_deref() == Some(standard_input) {
        let sentence = "only one of the data and --valid can be standard input";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    paths::check(
        &[
            ("the model", Some(&args.model)),
            ("the data", Some(&args.data)),
            ("the file of --valid", args.valid.as_ref()),
        ],
        &[("--out", Some(&args.out))],
    )?;
    let target = Target::new(&args.out)?;
    let known = read_model(&args.model)?;
    let format = args.table.format();
    let (train, unknown) = entries(&args.data, &format, &known)?;
    let (shape, arrange) = (known.model.shape(), Observations::arrange);
    let (train, held_out, unknown) = match (args.holdout, &args.valid) {
        (Some(share), _) => {
            let seed = known.model.provenance.config.seed;
            let (train, held) = hold_out(shape, train, share, seed)?;
            (train, Some(held), unknown)
        }
        (None, Some(path)) => {
            let (held, of_held) = entries(path, &format, &known)?;
            (arrange(shape, train)?, Some(arrange(shape, held)?), unknown + of_held)
        }
        (None, None) => (arrange(shape, train)?, None, unknown),
    };
    let LabelledModel { model, rows, columns } = &known;
    let name = name_of(&args.data);
    let subject = Subject {
        held_out: held_out.as_ref(),
        name: name.as_deref(),
        unknown,
        ..Subject::new(model, rows, columns, &train)
    };
    let html = fit_page(&subject).to_html();
    target.write(|out| out.write_all(html.as_bytes()))?;
    say(&format!("wrote {}", args.out.display()));
    Ok(())
}

/// The entries of a file in the numbers of the model, and how many are of rows or columns that it
/// does not know.
fn entries(
    path: &Path,
    format: &TableFormat,
    known: &LabelledModel,
) -> Result<(EntryList, usize), Failure> {
    // Names that the model knows keep their numbers; others get higher ones.
    let (mut rows, mut columns) = (known.rows.clone(), known.columns.clone());
    let all = reading::entries(path, format, &mut rows, &mut columns)?;
    let count = all.len();
    let shape = known.model.shape();
    let usable: EntryList =
        all.iter().filter(|e| e.row < shape.rows && e.column < shape.columns).collect();
    if usable.is_empty() {
        let path = path.display();
        return Err(Failure::Data(format!(
            "{path}: the model knows no row and column of any entry; was it fitted to other data?"
        )));
    }
    let unknown = count - usable.len();
    Ok((usable, unknown))
}
