//! `isofactor similar`: the nearest rows to a row, the nearest columns to a column.

use isofactor::{Side, Similarity, similar::Similar};
use isofactor_io::{Cell, Field, Labels, read_model};
use serde::Serialize;
use serde_json::json;

use crate::{
    failure::Failure,
    model_args::SimilarArgs,
    names::{Titles, find, labels, one_of},
    paths,
    table_out::TableOut,
    text::{say, show},
};

/// One similar unit in JSON.
#[derive(Serialize)]
struct OneJson<'a> {
    name: &'a str,
    similarity: f64,
    distance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
}

/// Compares, and shows the nearest.
pub fn run(args: &SimilarArgs) -> Result<(), Failure> {
    paths::check(
        &[("the model", Some(&args.model)), ("the file of --names", args.names.as_ref())],
        &[("--out", args.out.as_ref())],
    )?;
    let out = TableOut::open(args.out.as_deref())?;
    let known = read_model(&args.model)?;
    let (side, names) = match args.column.is_empty() {
        true => (Side::Rows, &args.row),
        false => (Side::Columns, &args.column),
    };
    let own = labels(&known, side);
    let titles = args.names.as_deref().map(Titles::read).transpose()?;
    let number = |name: &String| find(own, side, titles.as_ref(), name);
    let units: Vec<usize> = names.iter().map(number).collect::<Result<_, _>>()?;
    let similarity = Similarity::new(&known.model, side)?;
    for &unit in units.iter().filter(|&&unit| similarity.length(unit) == 0.0) {
        let (one, name) = (one_of(side), own.name(unit));
        say(&format!("{one} '{name}' is just the average one, and so similar to none"));
    }
    let nearest: Vec<Vec<Similar>> =
        units.iter().map(|&unit| similarity.nearest(unit, args.top)).collect();
    let answers = names.iter().map(String::as_str).zip(nearest);
    if args.json {
        return Ok(show(&as_json(side, own, titles.as_ref(), answers).to_string())?);
    }
    let mut lines = Vec::new();
    for (name, nearest) in answers {
        for (rank, similar) in nearest.iter().enumerate() {
            let other = own.name(similar.unit);
            let mut line = vec![
                Cell::Text(name),
                Cell::Whole(rank + 1),
                Cell::Text(other),
                Cell::Number(similar.similarity),
                Cell::Number(similar.distance),
            ];
            line.extend(titles.as_ref().map(|titles| Cell::Text(titles.of(other))));
            lines.push(line);
        }
    }
    let mut fields = vec![
        Field::text(one_of(side)),
        Field::whole("rank"),
        Field::text("similar"),
        Field::number("similarity"),
        Field::number("distance"),
    ];
    fields.extend(titles.as_ref().map(|_| Field::text("title")));
    out.write_short(&fields, &lines)
}

/// `{"rows":[{"row":...,"similar":[{"name","similarity","distance"},...]},...]}`
fn as_json<'a>(
    side: Side,
    own: &Labels,
    titles: Option<&Titles>,
    answers: impl Iterator<Item = (&'a str, Vec<Similar>)>,
) -> serde_json::Value {
    let one = one_of(side);
    let answers: Vec<serde_json::Value> = answers
        .map(|(name, nearest)| {
            let similar: Vec<OneJson<'_>> = nearest
                .iter()
                .map(|similar| {
                    let name = own.name(similar.unit);
                    let (similarity, distance) = (similar.similarity, similar.distance);
                    OneJson { name, similarity, distance, title: titles.map(|t| t.of(name)) }
                })
                .collect();
            json!({ one: name, "similar": similar })
        })
        .collect();
    let many = format!("{one}s");
    json!({ many: answers })
}
