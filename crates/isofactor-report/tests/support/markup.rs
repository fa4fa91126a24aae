//! Just enough of a parser to hold markup to its rules.

const VOID: [&str; 3] = ["meta", "link", "br"];

/// Says what is wrong, unless every tag is closed in order and no stray `<`, `>` or `&` is left.
pub fn check(text: &str) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start])?;
        rest = &rest[start + 1..];
        let end = end_of_tag(rest)?;
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if tag == "!doctype html" {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            match open.pop() {
                Some(last) if last == name => continue,
                last => return Err(format!("</{name}> closes {last:?}")),
            }
        }
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        if name.is_empty() {
            return Err(format!("not a tag: <{tag}>"));
        }
        if matches!(name.as_str(), "script" | "style") {
            let close = format!("</{name}>");
            let end = rest.find(&close).ok_or(format!("no {close}"))?;
            rest = &rest[end + close.len()..];
        } else if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    check_text(rest)?;
    if open.is_empty() { Ok(()) } else { Err(format!("left open: {open:?}")) }
}

/// Every value of an attribute, wherever it stands.
pub fn attributes<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!(" {name}=\"");
    text.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// The `>` that ends a tag, passing over quoted values.
fn end_of_tag(rest: &str) -> Result<usize, String> {
    let mut quoted = false;
    for (i, c) in rest.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '<' => return Err(format!("`<` inside a tag: {}", &rest[..i])),
            '>' if !quoted => return Ok(i),
            _ => {}
        }
    }
    Err("a tag without an end".into())
}

fn check_text(text: &str) -> Result<(), String> {
    if text.contains('>') {
        return Err(format!("a stray `>`: {text}"));
    }
    for rest in text.split('&').skip(1) {
        let name = rest.split(';').next().unwrap_or_default();
        if !matches!(name, "amp" | "lt" | "gt" | "quot" | "#39") {
            return Err(format!("a stray `&`: {text}"));
        }
    }
    Ok(())
}
