//! The number in a field of text, and which fields stand for a missing entry.

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Field {
    /// A finite number.
    Value(f64),
    /// A mark of a missing entry.
    Missing,
    /// NaN, infinite, or too large.
    NotFinite,
    /// Anything else.
    Text,
}

/// Marks of missing entries; numbers among them are compared as numbers, so that 99 covers 99.0.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    texts: Vec<Vec<u8>>,
    numbers: Vec<f64>,
}

impl Marks {
    /// The marks that are named, and in wide form the empty field and `NA`.
    pub fn new(named: &[String], wide: bool, decimal_comma: bool) -> Self {
        let own = if wide { &["", "NA"][..] } else { &[] };
        let texts: Vec<&str> =
            named.iter().map(String::as_str).chain(own.iter().copied()).collect();
        let numbers = texts.iter().filter_map(|t| number(t.as_bytes(), decimal_comma)).collect();
        Self { texts: texts.iter().map(|text| text.as_bytes().to_vec()).collect(), numbers }
    }

    /// Whether a number is a mark.
    pub fn has_number(&self, value: f64) -> bool {
        self.numbers.contains(&value)
    }

    /// Whether a text is a mark.
    pub fn has_text(&self, text: &[u8]) -> bool {
        self.texts.iter().any(|mark| mark == text)
    }

    /// What a field without spaces around it holds.
    pub fn field(&self, text: &[u8], decimal_comma: bool) -> Field {
        if !self.texts.is_empty() && self.has_text(text) {
            return Field::Missing;
        }
        match number(text, decimal_comma) {
            Some(value) if !value.is_finite() => Field::NotFinite,
            Some(value) if self.has_number(value) => Field::Missing,
            Some(value) => Field::Value(value),
            None => Field::Text,
        }
    }
}

/// The number that a text is.
pub(crate) fn number(text: &[u8], decimal_comma: bool) -> Option<f64> {
    if !decimal_comma {
        return std::str::from_utf8(text).ok()?.parse().ok();
    }
    // A point would be a separator of thousands, and 1.234 a thousand times what it looks like.
    if text.contains(&b'.') || text.iter().filter(|&&byte| byte == b',').count() > 1 {
        return None;
    }
    let pointed: Vec<u8> =
        text.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
    std::str::from_utf8(&pointed).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_among_the_marks_are_compared_as_numbers() {
        let marks = Marks::new(&["99".into(), "-".into()], false, false);
        for text in ["99", "99.0", "9.9e1", "-"] {
            assert_eq!(marks.field(text.as_bytes(), false), Field::Missing, "{text}");
        }
        assert_eq!(marks.field(b"98", false), Field::Value(98.0));
        assert_eq!(marks.field(b"", false), Field::Text);
        assert_eq!(marks.field(b"nan", false), Field::NotFinite);
        let marks = Marks::new(&["NaN".into(), "inf".into()], false, false);
        assert_eq!(marks.field(b"NaN", false), Field::Missing);
        assert_eq!(marks.field(b"infinity", false), Field::NotFinite);
    }

    #[test]
    fn a_decimal_comma_is_a_comma_and_no_point() {
        assert_eq!(number(b"3,5", true), Some(3.5));
        assert_eq!(number(b"-1e3", true), Some(-1000.0));
        assert_eq!(number(b"1.234", true), None);
        assert_eq!(number(b"1,2,3", true), None);
        assert_eq!(number(b"3,5", false), None);
    }
}
