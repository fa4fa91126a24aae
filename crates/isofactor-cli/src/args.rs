//! The command line.

use std::{path::PathBuf, str::FromStr};

use clap::{Parser, Subcommand};
use isofactor::{
    KernelFamily,
    config::{
        Bandwidth, Effects, Keep, LossScale, Monotone, Order, ProjectFactors, Shrinkage,
        SolverKind, StartLink, StepRule,
    },
};
use isofactor_lab::NoiseKind;

use crate::{
    duration::Span,
    model_args::{
        CompareArgs, CompletionsArgs, ExportArgs, ManArgs, RecommendArgs, SimilarArgs, share,
    },
    table_args::TableArgs,
};

/// Factor models seen through an unknown, increasing link: y = phi(u_row . v_column) + noise.
#[derive(Debug, Parser)]
#[command(version, name = "isofactor", args_override_self = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make data, fit them, show what was recovered, write a page to look at.
    Demo(DemoArgs),
    /// Make a panel whose truth is known.
    Generate(GenerateArgs),
    /// Learn factors and link from a file.
    Fit(Box<FitArgs>),
    /// Predict pairs of rows and columns.
    Predict(PredictArgs),
    /// Compare predictions with a file of observed values.
    Evaluate(EvaluateArgs),
    /// Show what a model holds.
    Inspect(InspectArgs),
    /// Run the paper's experiments again and put what they show on one page.
    Reproduce(ReproduceArgs),
    /// The columns with the highest predictions for a row, or the other way round.
    Recommend(RecommendArgs),
    /// The rows nearest to a row, or the columns nearest to a column.
    Similar(SimilarArgs),
    /// Judge several models by the same entries.
    Compare(CompareArgs),
    /// Write factors, link or the completed matrix as a table.
    Export(ExportArgs),
    /// Print what a shell needs to complete commands and options.
    Completions(CompletionsArgs),
    /// Print or write manual pages.
    Man(ManArgs),
    /// Write a page about a model and its data.
    Report(ReportArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: isofactor demo --out look-here")]
pub struct DemoArgs {
    /// Folder for the page, the data and the model.
    #[arg(long, default_value = "isofactor-demo")]
    pub out: PathBuf,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    allow_negative_numbers = true,
    after_help = "\
Example: isofactor generate --rows 100 --columns 100 --rank 3 --observed 5000 --link sigmoid \
--noise 0.1 --seed 1 --out panel.csv --truth truth.csv"
)]
pub struct GenerateArgs {
    /// Rows of the panel.
    #[arg(long, default_value_t = 100)]
    pub rows: usize,
    /// Columns of the panel.
    #[arg(long, default_value_t = 100)]
    pub columns: usize,
    /// Factors per row and column.
    #[arg(long, default_value_t = 3)]
    pub rank: usize,
    /// How many pairs are drawn, with replacement as in the paper; 'all' for every pair.
    #[arg(long, default_value = "5000")]
    pub observed: String,
    /// Draw different pairs only.
    #[arg(long)]
    pub distinct: bool,
    /// The true link: identity, sigmoid, tanh, probit, softplus, exponential, cubic, or a CSV file
    /// of knots (score, value).
    #[arg(long, default_value = "sigmoid")]
    pub link: String,
    /// Standard deviation of the noise.
    #[arg(long, default_value_t = 0.1)]
    pub noise: f64,
    /// Distribution of the noise: gaussian, uniform, rademacher or student.
    #[arg(long, default_value = "gaussian")]
    pub noise_kind: NoiseKind,
    /// Largest over smallest singular value of the scores.
    #[arg(long, default_value_t = 1.0)]
    pub condition: f64,
    /// Root mean square of the scores: larger goes deeper into the link's curves.
    #[arg(long, default_value_t = 1.0)]
    pub spread: f64,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// The file of entries.
    #[arg(long)]
    pub out: PathBuf,
    /// A file for the true factors and link.
    #[arg(long)]
    pub truth: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    allow_negative_numbers = true,
    after_help = "\
Example: isofactor fit ratings.csv --holdout 0.1 --out ratings.isofactor --report page.html
         isofactor fit panel.csv --solver bcd --rank 3 --loss sum --kernel gaussian \
--bandwidth 0.5 --iterations 2000 --trace trace.csv"
)]
pub struct FitArgs {
    /// The data: CSV, TSV, Parquet (also a folder), Arrow, Matrix Market or NumPy, by its ending;
    /// '-' is CSV on standard input.
    pub data: PathBuf,
    /// Options from a TOML file, a key for each option here; the command line wins.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Factors per row and column: a number, or auto (12 with --solver fast, which empties those
    /// it does not need; 5 with bcd and lbfgs).
    #[arg(long, default_value = "auto", value_name = "RANK")]
    pub rank: RankArg,
    /// auto (learned where held-out entries say that it is worth it), learned, identity, sigmoid,
    /// tanh, probit, softplus, exponential, cubic, or a CSV file of knots (score, value).
    #[arg(long, default_value = "auto")]
    pub link: String,
    /// The algorithm: fast, which sets its own penalties; bcd, the paper's Algorithm 1; or lbfgs,
    /// the same objective and constraints in a fraction of the time.
    #[arg(long, default_value = "fast")]
    pub solver: SolverKind,
    /// How many times more precise the prior of the factors is than they look: a number, or auto
    /// (the best on held-out entries). With --solver fast.
    #[arg(long, default_value = "auto", value_name = "FACTOR")]
    pub shrinkage: Shrinkage,
    /// Effects of rows and columns: on, off, or auto (on with fast; bcd and lbfgs have none).
    #[arg(long, default_value = "auto")]
    pub effects: Effects,
    /// How many iterations (sweeps) at most; fast makes 40, or 100 with a link, and stops early.
    #[arg(long, default_value_t = 500)]
    pub iterations: usize,
    /// Hold back this share of every row (0.1 or 10%) and report the error there; with --keep best the iterate
    /// is chosen by the same entries, so the error is a little optimistic.
    #[arg(long, value_name = "SHARE", conflicts_with = "valid", value_parser = share)]
    pub holdout: Option<f64>,
    /// Entries to report the error on, read as the data are.
    #[arg(long, value_name = "FILE")]
    pub valid: Option<PathBuf>,
    /// With validation entries, return the best iterate or the last.
    #[arg(long, default_value = "best")]
    pub keep: Keep,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Threads to use; 0 is one per core. The result does not depend on it.
    #[arg(long, default_value_t = 0)]
    pub threads: usize,

    /// Write the model here.
    #[arg(long, value_name = "MODEL", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Write a page about the fit here.
    #[arg(long, value_name = "PAGE", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Write one CSV line an iteration here.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,
    /// The truth of made data, for distances to it in the trace.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub truth: Option<PathBuf>,
    /// Print one JSON object and nothing else on standard output.
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    #[command(flatten)]
    pub long: LongArgs,
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub bcd: BcdArgs,
}

/// What a fit that takes long may need.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Long work")]
pub struct LongArgs {
    /// Keep the fit under way in this file, so that it can go on after a crash; the file is removed
    /// when the fit is complete.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// How often to write the checkpoint: 30s, 5m, 1h; 0s is every iteration.
    #[arg(long, default_value = "30s", value_name = "TIME", requires = "checkpoint")]
    pub every: Span,
    /// Go on from the checkpoint, if it is there; the result is that of a fit that never stopped.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Stop at the first iteration after this time and keep the best so far; at most half of it
    /// goes into choosing what to fit.
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<Span>,
}

/// The settings of Algorithm 1.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "The paper's objective (--solver bcd or lbfgs)")]
pub struct BcdArgs {
    /// Data term: sum or mean of squares.
    #[arg(long, default_value = "sum")]
    pub loss: LossScale,
    /// gaussian, matern52, rational-quadratic or inverse-multiquadric.
    #[arg(long, default_value = "gaussian")]
    pub kernel: KernelFamily,
    /// Bandwidth of the kernel, in units of the score; auto is a sixth of its first domain.
    #[arg(long, default_value = "auto")]
    pub bandwidth: Bandwidth,
    /// Weight of the link's squared norm (alpha).
    #[arg(long, default_value = "1e-3")]
    pub link_penalty: f64,
    /// Weight of the imbalance of the factors (lambda).
    #[arg(long, default_value_t = 0.5)]
    pub balance_penalty: f64,
    /// Step of the factors (zeta): a number, theory or backtracking.
    #[arg(long, default_value = "backtracking")]
    pub factor_step: StepRule,
    /// Step of the link (eta): a number, theory or backtracking.
    #[arg(long, default_value = "backtracking")]
    pub link_step: StepRule,
    /// With backtracking, stop when ten iterations lower the objective by less than this share.
    #[arg(long, default_value = "1e-7")]
    pub tolerance: f64,
    /// factors-first (main text) or link-first (appendix B).
    #[arg(long, default_value = "factors-first")]
    pub order: Order,
    /// spectral, random, a CSV file of factors, or an earlier model.
    #[arg(long, default_value = "spectral", value_name = "START")]
    pub start: String,
    /// Divide the matrix of the spectral start by the share observed.
    #[arg(long)]
    pub start_rescale: bool,
    /// zero, or identity: the nearest the space comes to x on the start's scores.
    #[arg(long, default_value = "zero")]
    pub start_link: StartLink,
    /// Longest row of the factors: off, auto (4/3 of the start's longest) or a radius.
    #[arg(long, default_value = "off")]
    pub project_factors: ProjectFactors,
    /// Bounds on the link's slope: LOW,HIGH, as in 0,inf for any increasing link; off for none;
    /// auto is 0,inf with backtracking steps and off with fixed ones.
    #[arg(long, default_value = "auto", allow_hyphen_values = true)]
    pub monotone: Monotone,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: isofactor predict ratings.isofactor pairs.csv --out predicted.csv"
)]
pub struct PredictArgs {
    /// The model.
    pub model: PathBuf,
    /// Pairs: CSV, TSV, Parquet or Arrow with row and column; '-' is CSV on standard input.
    pub pairs: PathBuf,
    /// Entries of rows and columns that the model has not seen (row, column, value): they are
    /// placed by these without fitting anything again.
    #[arg(long, value_name = "FILE")]
    pub with: Option<PathBuf>,
    /// Write here (.csv, .tsv or .parquet) instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: isofactor evaluate ratings.isofactor new-ratings.csv --json")]
pub struct EvaluateArgs {
    /// The model.
    pub model: PathBuf,
    /// Observed values, read as for fit.
    pub data: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: isofactor inspect ratings.isofactor")]
pub struct InspectArgs {
    /// The model.
    pub model: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --data the experiments on made data are run, and the page says what is missing. An
interrupted run goes on where it was when the same command is given again.

Example: isofactor reproduce contraction sample-size --quick --out reproduced")]
pub struct ReproduceArgs {
    /// Which: all, or any of noise-known-link, sample-size, noise-joint, alpha, link-shape, regret,
    /// contraction, movielens, jester, beyond.
    #[arg(default_value = "all", value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,
    /// The folder with movielens-small/ratings.csv and jester-1/jester-data-1.csv.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for the page, and a folder of CSV, JSON and pictures for each experiment.
    #[arg(long, default_value = "reproduced", value_name = "DIR")]
    pub out: PathBuf,
    /// What the comparison with other programs wrote (make bench-peers), for the last experiment.
    #[arg(long, default_value = "target/bench/peers.json", value_name = "FILE")]
    pub peers: PathBuf,
    /// Smaller experiments, for a look: under two minutes.
    #[arg(long)]
    pub quick: bool,
    /// How many fits run at a time; 0 is one per core. The numbers do not depend on it.
    #[arg(long, default_value_t = 0)]
    pub threads: usize,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: isofactor report ratings.isofactor ratings.csv --holdout 0.1 --out page.html"
)]
pub struct ReportArgs {
    /// The model.
    pub model: PathBuf,
    /// The entries it was fitted to, read as for fit; '-' is CSV on standard input.
    pub data: PathBuf,
    /// Entries that it was not fitted to, to judge it by.
    #[arg(long, value_name = "FILE")]
    pub valid: Option<PathBuf>,
    /// The share of every row that the fit held back, as given there: with the same data the same
    /// entries are held back again.
    #[arg(long, value_name = "SHARE", conflicts_with = "valid", value_parser = share)]
    pub holdout: Option<f64>,
    /// Write the page here.
    #[arg(long, value_name = "PAGE", default_value = "page.html")]
    pub out: PathBuf,
    #[command(flatten)]
    pub table: TableArgs,
}

/// A number of factors, or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankArg(pub Option<usize>);

impl FromStr for RankArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(RankArg(None)),
            _ => {
                let rank = text.parse().map_err(|_| "a whole number or auto is needed")?;
                Ok(RankArg(Some(rank)))
            }
        }
    }
}
