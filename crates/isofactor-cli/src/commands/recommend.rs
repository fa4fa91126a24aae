//! `isofactor recommend`: the best of the other side for rows or columns.

use std::io;

use isofactor::{Excluded, FittedModel, Recommended, Side, Whom};
use isofactor_io::{Cell, Field, LabelledModel, Labels, TableWriter, read_model};
use serde::Serialize;

use crate::{
    failure::Failure,
    given::Given,
    model_args::RecommendArgs,
    names::{Titles, labels, one_of, unknown},
    new_units::NewUnits,
    paths,
    table_out::TableOut,
    text::say,
};

/// Finds out to whom, and recommends.
pub fn run(args: &RecommendArgs) -> Result<(), Failure> {
    paths::check(
        &[
            ("the model", Some(&args.model)),
            ("the file of --known", args.known.as_ref()),
            ("the file of --new", args.new.as_ref()),
            ("the file of --names", args.names.as_ref()),
        ],
        &[("--out", args.out.as_ref())],
    )?;
    let request = Request::new(args)?;
    let out = TableOut::open(args.out.as_deref())?;
    let known = read_model(&args.model)?;
    let format = args.table.format();
    let new = match &args.new {
        Some(path) => NewUnits::read("--new", path, &format, &known)?,
        None => NewUnits::default(),
    };
    let excluded = match &args.known {
        Some(path) => excluded(&Given::read(path, &format)?, &known, request.side),
        None => Excluded::default(),
    };
    let titles = args.names.as_deref().map(Titles::read).transpose()?;
    let shown = Shown {
        side: request.side,
        units: labels(&known, request.side),
        others: labels(&known, request.side.other()),
        titles: titles.as_ref(),
    };
    if request.all {
        if args.known.is_none() {
            say_unfiltered();
        }
        let all = known.model.recommend_all(request.side, &excluded, args.top, args.threads)?;
        let all = all.map(|(unit, best)| (shown.units.name(unit), best));
        return if args.json { shown.json(all) } else { shown.stream(out, all) };
    }
    let names = match request.names.is_empty() {
        false => request.names,
        true => new.of(request.side).names.names().map(str::to_owned).collect(),
    };
    if let Some(path) = args.new.as_ref().filter(|_| names.is_empty()) {
        let (path, one) = (path.display(), one_of(request.side));
        return Err(Failure::Data(format!(
            "{path}: every {one} there is known to the model already"
        )));
    }
    let answers = answers(&known, request.side, &names, &new, &excluded, args)?;
    let answers = names.iter().map(String::as_str).zip(answers);
    if args.json { shown.json(answers) } else { shown.short(out, answers) }
}

/// To whom something is to be recommended.
struct Request {
    side: Side,
    names: Vec<String>,
    all: bool,
}

impl Request {
    fn new(args: &RecommendArgs) -> Result<Self, Failure> {
        let (names, all) = (args.row.clone(), args.all.is_some());
        if let Some(side) = args.all {
            return Ok(Self { side, names, all });
        }
        if !args.column.is_empty() {
            return Ok(Self { side: Side::Columns, names: args.column.clone(), all });
        }
        if names.is_empty() && args.new.is_none() {
            let sentence = "say to whom: --row NAME, --column NAME, --all, or --new FILE";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        Ok(Self { side: Side::Rows, names, all })
    }
}

/// The entries of a file that the model knows both ends of.
fn excluded(given: &Given, known: &LabelledModel, side: Side) -> Excluded {
    let numbers = given.numbers(known);
    let pairs = given.seen(&numbers).filter_map(move |(row, column, _)| match side {
        Side::Rows => Some((row?, column?)),
        Side::Columns => Some((column?, row?)),
    });
    if pairs.clone().next().is_none() {
        say("no entry of --known has a row and a column that the model knows: nothing is left out");
    }
    Excluded::new(known.model.count(side), pairs)
}

fn answers(
    known: &LabelledModel,
    side: Side,
    names: &[String],
    new: &NewUnits,
    excluded: &Excluded,
    args: &RecommendArgs,
) -> Result<Vec<Vec<Recommended>>, Failure> {
    let model: &FittedModel = &known.model;
    let mut unfiltered = false;
    let answer = |name: &String| {
        let own = labels(known, side);
        if let Some(unit) = own.find(name) {
            unfiltered |= args.known.is_none();
            return Ok(model.recommend(side, Whom::Known(unit), excluded.of(unit), args.top));
        }
        match new.of(side).find(name) {
            Some((unit, others)) => Ok(model.recommend(side, Whom::New(unit), &others, args.top)),
            None => Err(unknown(own, side, name)),
        }
    };
    let answers: Result<Vec<_>, Failure> = names.iter().map(answer).collect();
    let answers = answers?;
    if unfiltered {
        say_unfiltered();
    }
    Ok(answers)
}

fn say_unfiltered() {
    say("entries that are known already are not left out: name their file with --known");
}

/// How answers are shown.
struct Shown<'a> {
    side: Side,
    units: &'a Labels,
    others: &'a Labels,
    titles: Option<&'a Titles>,
}

/// One recommendation in JSON.
#[derive(Serialize)]
struct OneJson<'a> {
    name: &'a str,
    prediction: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
}

impl<'a> Shown<'a> {
    fn fields(&self) -> Vec<Field> {
        let (one, other) = (one_of(self.side), one_of(self.side.other()));
        let mut fields = vec![
            Field::text(one),
            Field::whole("rank"),
            Field::text(other),
            Field::number("prediction"),
        ];
        fields.extend(self.titles.map(|_| Field::text("title")));
        fields
    }

    fn line<'b>(&'b self, name: &'b str, rank: usize, best: &Recommended) -> Vec<Cell<'b>> {
        let other = self.others.name(best.unit);
        let mut line = vec![
            Cell::Text(name),
            Cell::Whole(rank + 1),
            Cell::Text(other),
            Cell::Number(best.prediction),
        ];
        line.extend(self.titles.map(|titles| Cell::Text(titles.of(other))));
        line
    }

    /// A few answers.
    fn short<'b>(
        &'b self,
        out: TableOut,
        answers: impl Iterator<Item = (&'b str, Vec<Recommended>)>,
    ) -> Result<(), Failure> {
        let lines: Vec<Vec<Cell<'_>>> = answers
            .flat_map(|(name, best)| {
                let lines = best.iter().enumerate().map(|(rank, best)| self.line(name, rank, best));
                lines.collect::<Vec<_>>()
            })
            .collect();
        out.write_short(&self.fields(), &lines)
    }

    /// As many answers as there are.
    fn stream<'b>(
        &'b self,
        out: TableOut,
        answers: impl Iterator<Item = (&'b str, Vec<Recommended>)>,
    ) -> Result<(), Failure> {
        out.write(|out, kind| {
            let mut table = TableWriter::new(out, kind, self.fields())?;
            for (name, best) in answers {
                for (rank, best) in best.iter().enumerate() {
                    table.line(self.line(name, rank, best))?;
                }
            }
            table.finish()
        })
    }

    /// One object, written as the answers come: `{"rows":[{"row":...,"recommended":[...]},...]}`.
    fn json<'b>(
        &'b self,
        answers: impl Iterator<Item = (&'b str, Vec<Recommended>)>,
    ) -> Result<(), Failure> {
        let one = one_of(self.side);
        TableOut::Stream.write(|out, _| {
            write!(out, "{{\"{one}s\":[")?;
            for (number, (name, best)) in answers.enumerate() {
                if number > 0 {
                    out.write_all(b",")?;
                }
                let best: Vec<OneJson<'_>> = best.iter().map(|best| self.one(best)).collect();
                write!(out, "{{\"{one}\":{},\"recommended\":", json_text(name)?)?;
                serde_json::to_writer(&mut *out, &best)?;
                out.write_all(b"}")?;
            }
            out.write_all(b"]}\n")
        })
    }

    fn one(&self, best: &Recommended) -> OneJson<'_> {
        let name = self.others.name(best.unit);
        let title = self.titles.map(|titles| titles.of(name));
        OneJson { name, prediction: best.prediction, title }
    }
}

fn json_text(text: &str) -> io::Result<String> {
    Ok(serde_json::to_string(text)?)
}
