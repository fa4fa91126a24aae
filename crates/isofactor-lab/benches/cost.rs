//! How an iteration of Algorithm 1 grows with entries, rank and threads:
//!
//! ```text
//! cargo bench --bench cost -- [--data FOLDER] [--sizes 1e5,1e6] [--ranks 10,16]
//!                             [--threads 1,2] [--out FOLDER] [--rounds 9]
//! cargo bench --bench cost -- --memory 5e7 [--program FILE] [--out FOLDER]
//! ```
//!
//! Paths begin at the root of the repository, wherever cargo runs a benchmark. The second line
//! measures the peak of the program's memory instead.
//!
//! Everything that is compared is measured in turn, round after round, so that whatever else the
//! machine does falls on all alike; the figures are the least over all rounds, for it only adds to
//! them. Beside each stands the machine's own limit: a pass that only gathers and multiplies.

// A benchmark is for those who change the code: it stops where it cannot go on, and prints.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod memory;
mod setup;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use isofactor::{Observations, Shape};
use isofactor_io::{Labels, Source, TableFormat, read_entries};
use isofactor_report::{Axis, Chart, Series};
use serde_json::{Value, json};
use setup::{Variant, factors, iterate, problem, uneven};

/// The same as the program's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Options {
    data: Option<PathBuf>,
    sizes: Vec<usize>,
    ranks: Vec<usize>,
    threads: Vec<usize>,
    rounds: usize,
    out: PathBuf,
    memory: Option<usize>,
    program: PathBuf,
}

/// What was measured of one data set at one rank with so many threads, in seconds.
struct Measured {
    data: String,
    shape: Shape,
    entries: usize,
    rank: usize,
    threads: usize,
    gather: f64,
    identity: f64,
    learned: f64,
    projected: f64,
}

impl Measured {
    fn per_entry(&self, seconds: f64) -> f64 {
        1e9 * seconds / self.entries as f64
    }

    fn to_json(&self) -> Value {
        json!({
            "data": self.data,
            "rows": self.shape.rows,
            "columns": self.shape.columns,
            "entries": self.entries,
            "rank": self.rank,
            "threads": self.threads,
            "seconds": {
                "gather": self.gather,
                "identity": self.identity,
                "learned": self.learned,
                "projected": self.projected,
            },
            "identity_over_gather": self.identity / self.gather,
            "learned_over_identity": self.learned / self.identity,
            "projected_over_identity": self.projected / self.identity,
        })
    }
}

fn main() {
    let options = options();
    if let Some(count) = options.memory {
        let found = memory::measure(count, &options.program, &options.out);
        write(&options.out.join("memory.json"), &json_text(&found));
        return;
    }
    let mut measured = Vec::new();
    println!(
        "{:<16} {:>11} {:>4} {:>7} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9}",
        "data",
        "entries",
        "rank",
        "threads",
        "gather ns",
        "ident. ns",
        "learned ns",
        "proj. ns",
        "id/gath",
        "learn/id",
        "proj/id",
    );
    for (name, make) in data_sets(&options) {
        let observations = make();
        for &rank in &options.ranks {
            for &threads in &options.threads {
                let one = measure(&name, &observations, rank, threads, options.rounds);
                print(&one);
                measured.push(one);
            }
        }
    }
    print_threads(&measured);
    save(&options, &measured);
}

type Make = Box<dyn FnOnce() -> Observations>;

fn data_sets(options: &Options) -> Vec<(String, Make)> {
    let mut sets: Vec<(String, Make)> = Vec::new();
    if let Some(folder) = &options.data {
        let ratings = folder.join("movielens-small/ratings.csv");
        sets.push(("movielens".into(), Box::new(move || long(&ratings))));
        let jester = folder.join("jester-1");
        sets.push(("jester".into(), Box::new(move || wide(&jester))));
    }
    for &size in &options.sizes {
        sets.push((format!("made {size}"), Box::new(move || uneven(size, 1))));
    }
    sets
}

fn long(path: &Path) -> Observations {
    let (mut rows, mut columns) = (Labels::default(), Labels::default());
    let entries =
        read_entries(&Source::new(path), &TableFormat::default(), &mut rows, &mut columns)
            .unwrap_or_else(|error| panic!("{error}"));
    let shape = Shape { rows: rows.len(), columns: columns.len() };
    Observations::arrange(shape, entries).unwrap_or_else(|error| panic!("{error}"))
}

/// Jester's tables: a count, then one number per joke, 99 where there is none.
fn wide(folder: &Path) -> Observations {
    let mut list = isofactor::EntryList::default();
    let (mut row, mut most) = (0, 0);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "csv"))
        .collect();
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
        for line in text.lines() {
            let numbers = line.split(',').skip(1).map(|cell| cell.trim().parse::<f64>());
            for (column, value) in numbers.enumerate() {
                most = most.max(column + 1);
                if let Ok(value) = value
                    && value != 99.0
                {
                    list.push(isofactor::Entry { row, column, value });
                }
            }
            row += 1;
        }
    }
    let shape = Shape { rows: row, columns: most };
    Observations::arrange(shape, list).unwrap_or_else(|error| panic!("{error}"))
}

fn measure(
    name: &str,
    observations: &Observations,
    rank: usize,
    threads: usize,
    rounds: usize,
) -> Measured {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let z = factors(observations, rank);
        let entries = isofactor::passes::Entries::new(observations);
        let mut iterations: Vec<_> = [Variant::Identity, Variant::Learned, Variant::Projected]
            .map(|variant| problem(observations, rank, variant))
            .into();
        // Short passes are repeated: the first after another kind finds the caches full of that.
        let repeats = (2_000_000 / observations.len()).clamp(1, 50);
        let mut seconds = [f64::INFINITY; 4];
        for _ in 0..=rounds {
            let mut clock = |which: usize, work: &mut dyn FnMut()| {
                for _ in 0..repeats {
                    let began = Instant::now();
                    work();
                    seconds[which] = seconds[which].min(began.elapsed().as_secs_f64());
                }
            };
            clock(0, &mut || assert!(entries.gather(&z).is_finite()));
            for (which, (problem, state)) in iterations.iter_mut().enumerate() {
                clock(which + 1, &mut || iterate(problem, state));
            }
        }
        Measured {
            data: name.to_owned(),
            shape: observations.shape(),
            entries: observations.len(),
            rank,
            threads,
            gather: seconds[0],
            identity: seconds[1],
            learned: seconds[2],
            projected: seconds[3],
        }
    })
}

fn print(m: &Measured) {
    println!(
        "{:<16} {:>11} {:>4} {:>7} {:>10.2} {:>10.2} {:>10.2} {:>10.2} {:>9.2} {:>9.2} {:>9.2}",
        m.data,
        m.entries,
        m.rank,
        m.threads,
        m.per_entry(m.gather),
        m.per_entry(m.identity),
        m.per_entry(m.learned),
        m.per_entry(m.projected),
        m.identity / m.gather,
        m.learned / m.identity,
        m.projected / m.identity,
    );
}

/// How much faster more threads are than one.
fn print_threads(measured: &[Measured]) {
    let alone: BTreeMap<(&str, usize), &Measured> = (measured.iter())
        .filter(|m| m.threads == 1)
        .map(|m| ((m.data.as_str(), m.rank), m))
        .collect();
    for m in measured.iter().filter(|m| m.threads > 1) {
        if let Some(one) = alone.get(&(m.data.as_str(), m.rank)) {
            println!(
                "{} threads, {}, rank {}: identity {:.2} times as fast as one, learned {:.2}",
                m.threads,
                m.data,
                m.rank,
                one.identity / m.identity,
                one.learned / m.learned,
            );
        }
    }
}

fn save(options: &Options, measured: &[Measured]) {
    fs::create_dir_all(&options.out).unwrap_or_else(|error| panic!("{error}"));
    let all: Vec<Value> = measured.iter().map(Measured::to_json).collect();
    write(&options.out.join("cost.json"), &json_text(&all));
    let most = options.threads.iter().copied().max().unwrap_or(1);
    let rank = options.ranks.first().copied().unwrap_or(10);
    let made: Vec<&Measured> = (measured.iter())
        .filter(|m| m.data.starts_with("made") && m.threads == most && m.rank == rank)
        .collect();
    write(&options.out.join("cost.svg"), &chart(&made, rank, most).to_svg());
    write(&options.out.join("cost.md"), &table(measured));
    println!("wrote cost.json, cost.md and cost.svg to {}", options.out.display());
}

/// The table of docs/cost.md, in nanoseconds per entry; a data set is named once.
fn table(measured: &[Measured]) -> String {
    let mut text = String::from(
        "| | entries | rank | threads | gather | identity | learned | both projections |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut last = "";
    for m in measured {
        let name = match m.data.as_str() {
            data if data == last => String::from("| "),
            "movielens" => format!("MovieLens-small | {}", m.entries),
            "jester" => format!("Jester-1 | {}", m.entries),
            _ => format!("made | {}", m.entries),
        };
        last = &m.data;
        let [gather, identity, learned, projected] =
            [m.gather, m.identity, m.learned, m.projected].map(|s| m.per_entry(s));
        text += &format!(
            "| {name} | {} | {} | {gather:.1} | {identity:.1} | {learned:.1} | {projected:.1} |\n",
            m.rank, m.threads
        );
    }
    text
}

/// Time per entry against the number of entries: level lines are what one hopes for.
fn chart(made: &[&Measured], rank: usize, threads: usize) -> Chart {
    let series = |name: &str, seconds: fn(&Measured) -> f64| {
        let points = made.iter().map(|m| (m.entries as f64, m.per_entry(seconds(m))));
        Series::line(name, points.collect())
    };
    let highest = made.iter().map(|m| m.per_entry(m.projected.max(m.learned))).fold(0.0, f64::max);
    let threads = if threads == 1 { "1 thread".into() } else { format!("{threads} threads") };
    Chart::new(
        Axis::log("observed entries"),
        Axis::new(format!("nanoseconds per entry and iteration, rank {rank}, {threads}"))
            .range(0.0, 1.1 * highest),
    )
    .with(series("learned link, both projections", |m| m.projected))
    .with(series("learned link", |m| m.learned))
    .with(series("identity link", |m| m.identity))
    .with(series("gather and multiply", |m| m.gather).dashed())
}

fn json_text(values: &[Value]) -> String {
    serde_json::to_string_pretty(values).expect("numbers") + "\n"
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Cargo runs a benchmark in the folder of its package, which is not where it was asked for.
fn from_root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn options() -> Options {
    let mut options = Options {
        data: None,
        sizes: vec![100_000, 1_000_000, 10_000_000],
        ranks: vec![10, 16],
        threads: vec![1, 2],
        rounds: 9,
        out: from_root("target/bench"),
        memory: None,
        program: from_root("target/release/isofactor"),
    };
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("{name} needs a value"));
        let numbers = || -> Vec<usize> {
            let parse = |text: &str| text.parse::<f64>().map(|number| number as usize);
            value
                .split(',')
                .map(|text| parse(text).unwrap_or_else(|e| panic!("{name}: {e}")))
                .collect()
        };
        match name.as_str() {
            "--data" => options.data = Some(from_root(&value)),
            "--sizes" => options.sizes = numbers(),
            "--ranks" => options.ranks = numbers(),
            "--threads" => options.threads = numbers(),
            "--rounds" => options.rounds = numbers()[0],
            "--out" => options.out = from_root(&value),
            "--memory" => options.memory = Some(numbers()[0]),
            "--program" => options.program = from_root(&value),
            _ => panic!("{name} is unknown; the top of cost.rs lists what there is"),
        }
    }
    options
}
