//! The only file that prints: results on standard output, everything else on standard error.

use std::io::{self, Write};

use anstyle::{AnsiColor, Effects, Style};

/// A line for the user on standard error. A closed stream is no reason to fail.
pub fn say(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// A result on standard output. Colours are left out where it is no terminal, or where the user
/// wants none (`NO_COLOR`).
pub fn show(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        // `isofactor ... | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// In heavy letters.
pub fn strong(text: &str) -> String {
    let style = Style::new().effects(Effects::BOLD);
    format!("{style}{text}{style:#}")
}

/// What went wrong begins with this.
pub fn alarm(text: &str) -> String {
    let style = Style::new().fg_color(Some(AnsiColor::Red.into())).effects(Effects::BOLD);
    format!("{style}{text}{style:#}")
}

/// A text from a file, without the characters that would move the cursor of a terminal.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Columns side by side: numbers to the right, texts to the left.
pub fn aligned(header: Vec<String>, lines: Vec<Vec<String>>) -> String {
    let width = |text: &String| text.chars().count();
    let columns = header.len();
    let widest = |column: usize| {
        let cells = lines.iter().map(|line| &line[column]).chain([&header[column]]);
        cells.map(width).max().unwrap_or(0)
    };
    let number = |text: &String| text.is_empty() || text == "-" || text.parse::<f64>().is_ok();
    let numeric: Vec<bool> =
        (0..columns).map(|column| lines.iter().all(|line| number(&line[column]))).collect();
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let written = |line: &Vec<String>| {
        let cells: Vec<String> = (0..columns)
            .map(|column| {
                let room = " ".repeat(widths[column] - width(&line[column]));
                let cell = &line[column];
                if numeric[column] { format!("{room}{cell}") } else { format!("{cell}{room}") }
            })
            .collect();
        format!("  {}", cells.join("  ").trim_end())
    };
    let mut text = vec![strong(&written(&header))];
    text.extend(lines.iter().map(written));
    text.join("\n")
}

/// `100836` as `100,836`.
pub fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number in about four significant digits.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e5).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.3e}")
    }
}

/// Seconds in words.
pub fn seconds(seconds: f64) -> String {
    if seconds < 0.1 {
        format!("{:.0} ms", 1000.0 * seconds)
    } else if seconds < 100.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{:.1} min", seconds / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(thousands(100_836), "100,836");
        assert_eq!(thousands(610), "610");
        assert_eq!(short(0.84213), "0.8421");
        assert_eq!(short(3.52109), "3.521");
        assert_eq!(short(-0.0), "0");
        assert_eq!(short(1.5e-7), "1.500e-7");
        assert_eq!(seconds(0.031), "31 ms");
        assert_eq!(seconds(12.34), "12.3 s");
    }

    #[test]
    fn tables_are_aligned_by_what_they_hold() {
        let text = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
        let table =
            aligned(text(&["name", "x"]), vec![text(&["a", "10.5"]), text(&["bcdef", "2"])]);
        let plain = anstream::adapter::strip_str(&table).to_string();
        assert_eq!(plain, "  name      x\n  a      10.5\n  bcdef     2");
    }

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
    }
}
