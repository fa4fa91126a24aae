//! How much room a piece of text takes. No font is at hand, so widths are guessed on the wide side.

/// The width of a text in units of the drawing.
pub(super) fn width(text: &str, font: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | 't' | 'f' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' => 0.34,
            'm' | 'w' | 'M' | 'W' | '−' | '×' => 0.95,
            'A'..='Z' => 0.74,
            '⁰'..='⁹' | '⁻' | '¹' | '²' | '³' => 0.42,
            c if u32::from(c) >= 0x2e80 => 1.05,
            _ => 0.64,
        })
        .sum();
    ems * font
}

/// Lines of a label; more would push the plot off a phone.
const MOST_LINES: usize = 3;
/// More characters than any label has room for: the rest need not be measured.
const MOST_CHARACTERS: usize = 600;

/// The text in at most three lines no wider than `room`; what does not fit ends in an ellipsis.
pub(super) fn wrap(text: &str, room: f64, font: f64) -> Vec<String> {
    let text: String = text.chars().take(MOST_CHARACTERS).collect();
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match (longer, lines.last_mut()) {
            (Some(longer), Some(line)) if width(&longer, font) <= room => *line = longer,
            _ => lines.push(word.to_string()),
        }
    }
    let more = lines.len() > MOST_LINES;
    lines.truncate(MOST_LINES);
    let last = lines.len().saturating_sub(1);
    for (i, line) in lines.iter_mut().enumerate() {
        if width(line, font) > room || (more && i == last) {
            while width(line, font) > room - font && line.pop().is_some() {}
            line.push('…');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_fits_three_lines_is_kept_whole() {
        let label = "Time since the beginning of the experiment, in hours of local time";
        let lines = wrap(label, 300.0, 13.0);
        assert!(lines.len() > 1 && lines.len() <= 3);
        assert_eq!(lines.join(" "), label);
    }

    #[test]
    fn no_line_is_wider_than_its_room() {
        let endless = "w".repeat(100_000);
        for label in ["one two three four five six seven", &endless, "", "   ", "a bb ccc"] {
            for room in [20.0, 60.0, 300.0] {
                let lines = wrap(label, room, 13.0);
                assert!(lines.len() <= 3);
                assert!(lines.iter().all(|line| width(line, 13.0) <= room), "{lines:?}");
            }
        }
        assert!(wrap(&endless, 60.0, 13.0)[0].ends_with('…'));
    }
}
