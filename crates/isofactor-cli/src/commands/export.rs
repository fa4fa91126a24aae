//! `isofactor export`: a model as tables.

use isofactor_io::{Export, export, read_model};

use crate::{
    failure::Failure,
    model_args::{ExportArgs, What},
    paths,
    table_out::TableOut,
};

/// Writes the part of the model that was asked for.
pub fn run(args: &ExportArgs) -> Result<(), Failure> {
    let what = match (args.what, args.long) {
        (What::Completed, true) => Export::CompletedLong,
        (What::Completed, false) => Export::CompletedWide,
        (_, true) => {
            return Err(Failure::Usage("--long needs --what completed".to_owned()));
        }
        (What::Rows, _) => Export::Rows,
        (What::Columns, _) => Export::Columns,
        (What::Link, _) => Export::Link { points: args.points as usize },
    };
    paths::check(&[("the model", Some(&args.model))], &[("--out", args.out.as_ref())])?;
    let out = TableOut::open(args.out.as_deref())?;
    let labelled = read_model(&args.model)?;
    out.write(|out, kind| export(&labelled, what, kind, out))
}
