//! The default solver, from the outside.

use crate::support::Folder;

/// A panel of 60 rows and 40 columns, two thirds observed: a curve of one product, with a little
/// noise. Names and lines are in the order of `turn`; values are `scale y + shift`.
fn panel(turn: usize, scale: f64, shift: f64, curve: fn(f64) -> f64) -> String {
    // From -1 to 1, with no pattern that a few factors could follow.
    let number = |i: usize, j: usize| {
        let mixed = (i as u64 * 7919 + j as u64 * 104_729 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as i64 as f64 / 2f64.powi(63)
    };
    let mut lines: Vec<String> = Vec::new();
    for row in 0..60 {
        for column in (0..40).filter(|column| (row * 7 + column * 5) % 3 != 0) {
            let score = 2.0 * number(row, 0) * number(0, column + 1) + number(row, 3);
            let value = curve(score) + 0.02 * number(row * 41 + column, 5);
            lines.push(format!("r{row},c{column},{}\n", scale * value + shift));
        }
    }
    let by = turn % lines.len();
    lines.rotate_left(by);
    format!("row,column,value\n{}", lines.concat())
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-4.0 * x).exp())
}

const FIT: [&str; 5] = ["fit", "data.csv", "--solver", "auto", "--json"];

fn rmse(json: &serde_json::Value, of: &str) -> f64 {
    json[of]["rmse"].as_f64().unwrap()
}

#[test]
fn what_was_chosen_is_in_the_output_with_its_evidence() {
    let folder = Folder::new();
    folder.write("data.csv", panel(0, 1.0, 0.0, sigmoid));
    let json = folder.done(&FIT).json();
    assert_eq!(json["solver"], "fast");
    assert_eq!(json["link"], "learned");
    let chosen = &json["chosen"];
    assert!(chosen["judged_by"].as_u64().unwrap() > 50);
    let trials = chosen["trials"].as_array().unwrap();
    let error = |what: &str| {
        let trial = trials.iter().find(|trial| trial["what"].as_str().unwrap().contains(what));
        trial.unwrap()["rmse"].as_f64().unwrap()
    };
    assert!(error("learned link") < 0.7 * error("factors"), "{chosen}");
    assert!(error("factors") < error("level"), "{chosen}");
}

#[test]
fn factors_keep_to_a_radius_that_is_given() {
    let folder = Folder::new();
    folder.write("data.csv", panel(0, 1.0, 0.0, sigmoid));
    let error = |options: &[&str]| {
        let json = folder.done(&[&FIT[..], &["--rank", "2"], options].concat()).json();
        json["train"]["rmse"].as_f64().unwrap()
    };
    let radius = 0.4;
    for link in ["identity", "learned"] {
        let free = error(&["--link", link]);
        assert_eq!(error(&["--link", link, "--project-factors", "1e9"]), free);
        let held = error(&["--link", link, "--project-factors", "0.4", "--out", "held.iso"]);
        assert!(held > free, "{link}: {held} {free}");
        let mut longest = 0.0f64;
        for side in ["rows", "columns"] {
            folder.done(&["export", "held.iso", "--what", side, "--out", "side.csv"]);
            let table = folder.table("side.csv");
            let factors = [table.numbers("factor_1"), table.numbers("factor_2")];
            let lengths = factors[0].iter().zip(&factors[1]).map(|(a, b)| a.hypot(*b));
            longest = lengths.fold(longest, f64::max);
        }
        assert!(longest <= radius * (1.0 + 1e-12) && longest > 0.99 * radius, "{link}: {longest}");
    }
    let auto = [&FIT[..], &["--project-factors", "auto"]].concat();
    folder.refused(&auto, 2, &["project-factors auto", "'bcd'"]);
}

#[test]
fn a_straight_truth_is_left_straight() {
    let folder = Folder::new();
    folder.write("data.csv", panel(0, 1.0, 0.0, |x| x));
    assert_eq!(folder.done(&FIT).json()["link"], "identity");
}

#[test]
fn units_change_nothing_but_the_units() {
    for curve in [sigmoid, |x: f64| x] {
        let folder = Folder::new();
        folder.write("data.csv", panel(0, 1.0, 0.0, curve));
        let plain = folder.done(&FIT).json();
        folder.write("data.csv", panel(0, 1000.0, 5.0, curve));
        let scaled = folder.done(&FIT).json();
        assert_eq!(plain["link"], scaled["link"]);
        assert_eq!(plain["iterations"], scaled["iterations"]);
        let ratio = rmse(&scaled, "train") / rmse(&plain, "train");
        assert!((ratio - 1000.0).abs() < 1e-3, "{ratio}");
    }
}

#[test]
fn the_order_of_the_lines_changes_nothing() {
    let folder = Folder::new();
    let pairs = "row,column\nr3,c0\nr59,c39\nr7,c20\n";
    folder.write("pairs.csv", pairs);
    let predicted = |turn: usize| {
        folder.write("data.csv", panel(turn, 1.0, 0.0, sigmoid));
        folder.done(&[&FIT[..], &["--out", "m.isofactor"]].concat());
        folder.done(&["predict", "m.isofactor", "pairs.csv", "--out", "out.csv"]);
        folder.table("out.csv").numbers("prediction")
    };
    let first = predicted(0);
    assert_eq!(first, predicted(517));
    assert_eq!(first, predicted(1234));
}

#[test]
fn a_model_goes_on_with_more_data() {
    let folder = Folder::new();
    let all = panel(0, 1.0, 0.0, |x| x);
    let lines: Vec<&str> = all.lines().collect();
    folder.write("data.csv", lines[..1200].join("\n"));
    folder.done(&[&FIT[..], &["--out", "m.isofactor"]].concat());
    folder.write("data.csv", &all);
    let on = folder.done(&[&FIT[..], &["--start", "m.isofactor"]].concat()).json();
    let anew = folder.done(&FIT).json();
    assert_eq!(on["observed"], 1600);
    assert!(rmse(&on, "train") < 1.2 * rmse(&anew, "train"), "{on} {anew}");
}

/// A row left out of the fit is predicted nearly as well from a few of its entries as if it had
/// been there, and far better than by its name alone.
#[test]
fn new_rows_are_placed_by_a_few_entries() {
    let folder = Folder::new();
    let all = panel(0, 1.0, 0.0, |x| x);
    let (of_row, others): (Vec<&str>, Vec<&str>) =
        all.lines().skip(1).partition(|line| line.starts_with("r11,"));
    folder.write("data.csv", format!("row,column,value\n{}\n", others.join("\n")));
    folder.done(&[&FIT[..], &["--out", "m.isofactor"]].concat());
    let (seen, unseen) = of_row.split_at(of_row.len() / 2);
    folder.write("new.csv", format!("row,column,value\n{}\n", seen.join("\n")));
    folder.write("pairs.csv", format!("row,column,value\n{}\n", unseen.join("\n")));
    let error = |extra: &[&str]| {
        let args = ["predict", "m.isofactor", "pairs.csv", "--out", "out.csv"];
        folder.done(&[&args[..], extra].concat());
        let predicted = folder.table("out.csv").numbers("prediction");
        let truth = folder.table("pairs.csv").numbers("value");
        let squares = predicted.iter().zip(&truth).map(|(a, b)| (a - b).powi(2));
        (squares.sum::<f64>() / truth.len() as f64).sqrt()
    };
    let (placed, by_name) = (error(&["--with", "new.csv"]), error(&[]));
    assert!(placed < 0.15, "{placed}");
    assert!(placed < 0.3 * by_name, "{placed} {by_name}");
}

#[test]
fn settings_of_algorithm_1_are_refused() {
    let folder = Folder::with_panel();
    let args = [&FIT[..], &["--kernel", "matern52"]].concat();
    folder.refused(&args, 2, &["kernel", "needs the solver 'bcd'"]);
    folder.refused(&["fit", "data.csv", "--shrinkage", "2"], 2, &["shrinkage", "'fast'"]);
}

#[test]
fn the_papers_objective_has_a_faster_solver() {
    let folder = Folder::with_panel();
    let objective = |solver: &str, iterations: &str| {
        let args = ["fit", "data.csv", "--rank", "2", "--tolerance", "0", "--trace", "trace.csv"];
        let options = ["--solver", solver, "--iterations", iterations, "--json"];
        let json = folder.done(&[&args[..], &options].concat()).json();
        assert_eq!(json["solver"], solver);
        *folder.table("trace.csv").numbers("objective").last().unwrap()
    };
    let (slow, sooner) = (objective("bcd", "600"), objective("lbfgs", "60"));
    assert!(sooner <= 1.01 * slow, "{sooner} {slow}");
    let lbfgs = ["fit", "data.csv", "--solver", "lbfgs"];
    for (option, value) in [
        ("factor-step", "1e-3"),
        ("link-step", "theory"),
        ("order", "link-first"),
        ("start-link", "identity"),
    ] {
        let flag = format!("--{option}");
        let args = [&lbfgs[..], &[flag.as_str(), value]].concat();
        folder.refused(&args, 2, &[option, "needs the solver 'bcd'"]);
    }
    let args = [&lbfgs[..], &["--effects", "on"]].concat();
    folder.refused(&args, 2, &["effects", "'fast'"]);
}

/// Data that hold little or nothing: the answer is finite and no worse than the mean.
#[test]
fn poor_data_are_answered_by_what_they_hold() {
    let header = "row,column,value\n";
    let single: String = (0..40).map(|i| format!("r{i},c{},{}\n", i % 7, i % 5)).collect();
    let equal: String = (0..60).map(|i| format!("r{},c{},{}\n", i / 6, i % 6, i / 30)).collect();
    let outlier: String = (0..90)
        .map(|i| (i, if i == 40 { 1e9 } else { ((i * 37) % 11) as f64 }))
        .map(|(i, value)| format!("r{},c{},{value}\n", i / 9, i % 9))
        .collect();
    let sparse: String = (0..300)
        .map(|i| format!("r{},c{},{}\n", (i * 7919) % 1733, (i * 104_729) % 1741, i % 3))
        .collect();
    let tiny = "a,x,1\na,y,2\nb,x,3\n".to_owned();
    for (name, lines) in [
        ("single", single),
        ("equal", equal),
        ("outlier", outlier),
        ("sparse", sparse),
        ("tiny", tiny),
    ] {
        let folder = Folder::new();
        folder.write("data.csv", format!("{header}{lines}"));
        for extra in [&[][..], &["--link", "learned"], &["--rank", "2"]] {
            let json = folder.done(&[&FIT[..], extra].concat()).json();
            let values: Vec<f64> = folder.table("data.csv").numbers("value");
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let spread =
                values.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / values.len() as f64;
            let error = rmse(&json, "train");
            assert!(
                error.is_finite() && error <= 1.0001 * spread.sqrt(),
                "{name} {extra:?}: {json}"
            );
        }
    }
}

#[test]
fn threads_change_no_byte() {
    let folder = Folder::new();
    folder.write("data.csv", panel(0, 1.0, 0.0, sigmoid));
    let bytes = |threads: &str| {
        folder.done(&[&FIT[..], &["--threads", threads, "--out", "m.isofactor"]].concat());
        folder.bytes("m.isofactor")
    };
    assert!(bytes("1") == bytes("3"));
}
