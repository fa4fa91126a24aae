//! The only file that prints: results on standard output, everything else on standard error.

use std::io::{self, Write};

/// A line for the user on standard error. A closed stream is no reason to fail.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// A result on standard output.
pub fn show(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        // `isofactor ... | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
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
}
