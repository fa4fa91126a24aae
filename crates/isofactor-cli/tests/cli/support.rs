//! A folder to work in, runs of the program inside it, and what came of them.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A new folder in which the program runs, so that arguments and messages have short names.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder that holds `data.csv`, see [`panel`].
    pub fn with_panel() -> Self {
        let folder = Self::new();
        folder.write("data.csv", panel());
        folder
    }

    /// A folder that holds `data.csv` and `model.isofactor`, fitted to it.
    pub fn with_model() -> Self {
        let folder = Self::with_panel();
        folder.done(&["fit", "data.csv", "--rank", "2", "--iterations", "20", "--out", MODEL]);
        folder
    }

    /// A folder with what the examples of the help texts name: `ratings.csv`, models of them,
    /// entries of a person they do not have, pairs, titles.
    pub fn with_ratings() -> Self {
        let folder = Self::new();
        folder.write("ratings.csv", ratings());
        folder.write("pairs.csv", "row,column\nanna,Brazil\nliam,Heat2\n");
        folder
            .write("new-ratings.csv", "row,column,value\nzoe,Alien,5\nzoe,Dune,4.5\nzoe,Heat,2\n");
        let title = |film: String| format!("{film},\"{film}, the film\"\n");
        let titles: String = thrice(&FILMS).into_iter().map(title).collect();
        folder.write("movies.csv", format!("film,title\n{titles}"));
        let fit = ["fit", "ratings.csv", "--solver", "auto", "--json", "--out"];
        folder.done(&[&fit[..], &["ratings.isofactor"]].concat());
        folder.done(&[&fit[..], &["other.isofactor", "--rank", "1"]].concat());
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub fn table(&self, name: &str) -> Table {
        Table::read(&self.text(name))
    }

    /// Everything in the folder, hidden files too. Folders inside count as empty files.
    pub fn content(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap());
        let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.map(|entry| (name(&entry), fs::read(entry.path()).unwrap_or_default())).collect()
    }

    /// The program with these arguments, about to run here. A fit that names no solver is made by
    /// Algorithm 1, which most of these tests are about; `auto` names the default one.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isofactor"));
        command.current_dir(self.0.path()).stdin(Stdio::null());
        let named = args.iter().position(|arg| *arg == "--solver");
        match (args.first(), named) {
            (Some(&"fit"), None) => command.args(["fit", "--solver", "bcd"]).args(&args[1..]),
            (_, Some(at)) if args.get(at + 1) == Some(&"auto") => {
                command.args(&args[..at]).args(&args[at + 2..])
            }
            _ => command.args(args),
        };
        command
    }

    pub fn run(&self, args: &[&str]) -> Outcome {
        Outcome::new(args, self.command(args).output().unwrap())
    }

    /// Runs with this text on standard input.
    pub fn run_with_input(&self, args: &[&str], input: &str) -> Outcome {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Outcome::new(args, child.wait_with_output().unwrap())
    }

    /// Runs something that must succeed.
    pub fn done(&self, args: &[&str]) -> Outcome {
        self.run(args).succeeded()
    }

    /// Runs something that must be refused: with this exit code, with a sentence that has these
    /// words, with nothing on standard output, and with the folder as it was before.
    pub fn refused(&self, args: &[&str], code: i32, words: &[&str]) {
        let before = self.content();
        let outcome = self.run(args);
        outcome.is_refusal(code, words);
        let after = self.content();
        let names = |content: &BTreeMap<_, _>| content.keys().cloned().collect::<Vec<String>>();
        assert_eq!(names(&after), names(&before), "{outcome:?} left files behind");
        assert!(after == before, "{outcome:?} changed files");
    }
}

/// Where the tests write models.
pub const MODEL: &str = "model.isofactor";

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// For the messages of tests that fail.
    #[expect(dead_code, reason = "read by Debug")]
    pub args: String,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn new(args: &[&str], output: Output) -> Self {
        Self {
            args: args.join(" "),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        self
    }

    pub fn is_refusal(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "no '{word}' in {self:?}");
        }
    }

    /// The one object on standard output.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The same without the seconds, which no two runs share.
    pub fn timeless_json(&self) -> Value {
        let mut json = self.json();
        json.as_object_mut().unwrap().remove("seconds");
        json
    }
}

/// Comma separated text without quotes.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub header: Vec<String>,
    pub lines: Vec<Vec<String>>,
}

impl Table {
    pub fn read(text: &str) -> Self {
        let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines().map(fields);
        let header = lines.next().unwrap();
        let lines: Vec<_> = lines.collect();
        assert!(lines.iter().all(|line| line.len() == header.len()), "{text}");
        Self { header, lines }
    }

    fn place(&self, name: &str) -> usize {
        self.header.iter().position(|h| h == name).unwrap_or_else(|| panic!("no column {name}"))
    }

    pub fn column(&self, name: &str) -> Vec<String> {
        let place = self.place(name);
        self.lines.iter().map(|line| line[place].clone()).collect()
    }

    pub fn numbers(&self, name: &str) -> Vec<f64> {
        let number = |field: &String| field.parse().unwrap_or_else(|e| panic!("{field}: {e}"));
        self.column(name).iter().map(number).collect()
    }

    pub fn without(mut self, name: &str) -> Self {
        let place = self.place(name);
        self.header.remove(place);
        for line in &mut self.lines {
            line.remove(place);
        }
        self
    }
}

/// A complete panel of 8 rows and 6 columns and about rank 2, bent by tanh.
pub fn panel() -> String {
    let mut text = "row,column,value\n".to_owned();
    for i in 0..8 {
        for t in 0..6 {
            let (a, b) = (f64::from(i) - 3.5, f64::from(t) - 2.5);
            let score = a * b / 6.0 + 0.3 * (1.3 * a).sin() * (0.9 * b).cos();
            text += &format!("r{i},c{t},{}\n", score.tanh());
        }
    }
    text
}

const PEOPLE: [&str; 12] = [
    "anna", "bert", "cleo", "dora", "emil", "fred", "gina", "hugo", "ines", "jack", "kate", "liam",
];
const FILMS: [&str; 8] =
    ["Alien", "Brazil", "Casablanca", "Dune", "Eraserhead", "Fargo", "Gattaca", "Heat"];

/// The names, and as many again with a 2, a 3 behind them.
fn thrice(names: &[&str]) -> Vec<String> {
    let again = ["", "2", "3"].into_iter();
    again.flat_map(|mark| names.iter().map(move |name| format!("{name}{mark}"))).collect()
}

/// What 36 people think of 24 films: two thirds of all pairs, in half stars.
pub fn ratings() -> String {
    let mut text = "person,film,stars\n".to_owned();
    for (i, person) in thrice(&PEOPLE).iter().enumerate() {
        for (t, film) in thrice(&FILMS).iter().enumerate().filter(|(t, _)| (i + 2 * t) % 3 != 0) {
            let (a, b) = (i as f64 / 12.0 - 1.4, t as f64 / 7.0 - 1.6);
            let stars = 3.2 + 0.5 * (a + 0.3).sin() + 0.4 * b.cos() + 0.9 * a * b;
            text += &format!("{person},{film},{}\n", (2.0 * stars.clamp(0.5, 5.0)).round() / 2.0);
        }
    }
    text
}

/// What 150 persons answered to 20 items, right or wrong: seven tenths of all pairs, with chances of
/// one ability a person and one difficulty an item.
pub fn answers() -> String {
    let mut state = 1_u64;
    // Random enough for answers: a linear congruential generator of 64 bits.
    let mut uniform = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut text = "person,item,right\n".to_owned();
    for person in 1..=150 {
        let ability = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        for item in 1..=20 {
            let difficulty = f64::from(item - 1) * 3.0 / 19.0 - 1.5;
            let chance = 1.0 / (1.0 + (-1.7 * (ability - difficulty)).exp());
            let (right, seen) = (u8::from(uniform() < chance), uniform() < 0.7);
            if seen {
                text += &format!("p{person},q{item},{right}\n");
            }
        }
    }
    text
}

pub fn assert_near(got: f64, expected: f64, relative: f64) {
    let error = (got - expected).abs();
    assert!(error <= relative * expected.abs(), "{got} is not {expected}");
}

/// A fit that would write every kind of file.
pub const WRITING_FIT: [&str; 13] = [
    "fit",
    "data.csv",
    "--rank",
    "2",
    "--iterations",
    "3",
    "--json",
    "--out",
    MODEL,
    "--trace",
    "trace.csv",
    "--report",
    "page.html",
];
