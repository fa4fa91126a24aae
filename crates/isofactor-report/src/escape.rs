//! Makes foreign text harmless: every label is hostile until it has passed through here.

/// Text for HTML and XML, in element content and in double-quoted attributes alike.
pub(crate) fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if forbidden_in_xml(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A quoted JSON string that cannot end the `<script>` element around it.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // `<` covers `</script>` and `<!--`; the line separators end a line of JavaScript.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{7f}' => push_code(&mut out, c),
            c if c < ' ' => push_code(&mut out, c),
            c if forbidden_in_xml(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn push_code(out: &mut String, c: char) {
    out.push_str(&format!("\\u{:04x}", u32::from(c)));
}

/// XML 1.0 has no way to write these, not even as references.
fn forbidden_in_xml(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_leaves_nothing_that_opens_a_tag_or_closes_an_attribute() {
        assert_eq!(markup(r#"<a b="c">&'"#), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
        assert_eq!(markup("a\u{0}b"), "a\u{fffd}b");
        assert_eq!(markup("naïve 中 Ω"), "naïve 中 Ω");
    }

    #[test]
    fn json_cannot_leave_its_script_element() {
        let out = json_string("</script><!-- \u{2028}\"\\\n&");
        assert_eq!(out, r#""\u003c/script\u003e\u003c!-- \u2028\"\\\u000a\u0026""#);
    }
}
