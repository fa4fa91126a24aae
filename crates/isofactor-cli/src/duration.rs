//! Durations as a user writes them: 30s, 5m, 1.5h.

use std::{fmt, str::FromStr, time::Duration};

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

/// Units and their seconds, the longest first.
const UNITS: [(&str, f64); 4] = [("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a number with a unit is needed, such as 30s, 5m or 1.5h".to_owned();
        let (unit, seconds) =
            UNITS.iter().find(|(unit, _)| text.ends_with(unit)).ok_or_else(wrong)?;
        let number: f64 = text.strip_suffix(unit).unwrap_or(text).parse().map_err(|_| wrong())?;
        Duration::try_from_secs_f64(number * seconds).map(Span).map_err(|_| wrong())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64();
        let whole = |(_, unit): &&(&str, f64)| seconds >= *unit && (seconds / unit).fract() == 0.0;
        let (unit, size) = UNITS.iter().find(whole).unwrap_or(&("s", 1.0));
        write!(f, "{}{unit}", seconds / size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_shown() {
        for (text, seconds) in [("30s", 30.0), ("5m", 300.0), ("1.5h", 5400.0), ("0s", 0.0)] {
            assert_eq!(text.parse::<Span>().unwrap().0.as_secs_f64(), seconds);
        }
        for text in ["30s", "5m", "90m", "2d", "0s", "0.25s"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        for text in ["", "s", "30", "-1s", "5 minutes", "infs", "NaNm", "1e300d", "5mm"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
