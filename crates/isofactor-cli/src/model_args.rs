//! The command line of the commands that use a model.

use std::path::PathBuf;

use clap_complete::Shell;
use isofactor::Side;

use crate::table_args::{EntryArgs, TableArgs};

#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("whom").multiple(false),
    after_help = "\
Predictions are what 'predict' says; equal ones are in the order of their scores. The model does \
not hold the entries it learned from: name their file with --known to leave them out. On a \
terminal the answer is a table, elsewhere CSV.

Example: isofactor recommend ratings.isofactor --row anna --known ratings.csv
         isofactor recommend ratings.isofactor --all --known ratings.csv --top 5 --out best.parquet
         isofactor recommend ratings.isofactor --new new-ratings.csv --names movies.csv --json"
)]
pub struct RecommendArgs {
    /// The model.
    pub model: PathBuf,
    /// The row to recommend columns to; may be given several times.
    #[arg(long, value_name = "NAME", group = "whom", allow_hyphen_values = true)]
    pub row: Vec<String>,
    /// The column to recommend rows to; may be given several times.
    #[arg(long, value_name = "NAME", group = "whom", allow_hyphen_values = true)]
    pub column: Vec<String>,
    /// Recommend to all rows, or to all columns.
    #[arg(long, value_name = "SIDE", group = "whom", num_args = 0..=1, default_missing_value = "rows", value_parser = side)]
    pub all: Option<Side>,
    /// How many to recommend.
    #[arg(long, default_value_t = 10)]
    pub top: usize,
    /// Entries that are known already, read as for fit: they are not recommended.
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,
    /// Entries of rows that the model has not seen (of columns, with --column): they are placed
    /// by these, and these are not recommended. Without --row, all of them.
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    pub new: Option<PathBuf>,
    /// A table with a name and a text to show beside it, as 'movieId,title'.
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
    /// Write here (.csv, .tsv or .parquet) instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "out")]
    pub json: bool,
    /// Threads to use; 0 is one per core. The result does not depend on it.
    #[arg(long, default_value_t = 0)]
    pub threads: usize,
    #[command(flatten)]
    pub table: EntryArgs,
}

#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("whom").multiple(false).required(true),
    after_help = "\
Rows are compared by their scores with all columns, less what a row scores everywhere and what all \
rows share. The similarity is the cosine of two such lines of scores, from -1 to 1, the distance \
the root mean square of their difference. Both are the same for every model that has these scores, \
however its factors are turned or stretched. Columns are compared the same way.

Example: isofactor similar ratings.isofactor --column Alien --top 3
         isofactor similar ratings.isofactor --row anna --json"
)]
pub struct SimilarArgs {
    /// The model.
    pub model: PathBuf,
    /// The row to compare with all others; may be given several times.
    #[arg(long, value_name = "NAME", group = "whom", allow_hyphen_values = true)]
    pub row: Vec<String>,
    /// The column to compare with all others; may be given several times.
    #[arg(long, value_name = "NAME", group = "whom", allow_hyphen_values = true)]
    pub column: Vec<String>,
    /// How many to show.
    #[arg(long, default_value_t = 10)]
    pub top: usize,
    /// A table with a name and a text to show beside it, as 'movieId,title'; --row and --column
    /// may then be such a text.
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
    /// Write here (.csv, .tsv or .parquet) instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "out")]
    pub json: bool,
}

/// What of a model is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// Name, effect and factors of every row.
    Rows,
    /// Name, effect and factors of every column.
    Columns,
    /// Score, value and slope of the link.
    Link,
    /// The prediction for every pair.
    Completed,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The completed matrix holds predictions everywhere, also where values were observed. It is written \
row by row and never held as a whole.

Example: isofactor export ratings.isofactor --what columns --out columns.csv
         isofactor export ratings.isofactor --what link
         isofactor export ratings.isofactor --what completed --long --out completed.parquet")]
pub struct ExportArgs {
    /// The model.
    pub model: PathBuf,
    /// What to write.
    #[arg(long)]
    pub what: What,
    /// Write here (.csv, .tsv or .parquet) instead of CSV on standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The completed matrix as row, column, prediction, a line each.
    #[arg(long)]
    pub long: bool,
    /// At how many scores the link is written.
    #[arg(long, default_value_t = 201, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub points: u32,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The difference is that of the RMSE to the best model on the same entries. Its standard error counts \
rows as independent, for entries of a row err together; a difference of less than two of them may \
be chance.

Example: isofactor compare ratings.isofactor other.isofactor --data new-ratings.csv")]
pub struct CompareArgs {
    /// The models.
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// Observed values, read as for fit.
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
For bash, put the text where it is read at every start:
  isofactor completions bash > ~/.local/share/bash-completion/completions/isofactor

Example: isofactor completions bash")]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: Shell,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example: isofactor man fit
         isofactor man --out man-pages")]
pub struct ManArgs {
    /// The command whose page is printed; that of the program by default.
    #[arg(conflicts_with = "out")]
    pub command: Option<String>,
    /// Write the pages of all commands to this folder instead.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

fn side(text: &str) -> Result<Side, String> {
    match text {
        "rows" => Ok(Side::Rows),
        "columns" => Ok(Side::Columns),
        _ => Err("use rows or columns".to_owned()),
    }
}

/// A share, as 0.1 or 10%.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let share: f64 = number.parse().map_err(|_| "a share is needed, as 0.1 or 10%")?;
    Ok(share / unit)
}
