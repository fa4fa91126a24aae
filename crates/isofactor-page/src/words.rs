//! How numbers and things are put on the page.

use isofactor::{FittedModel, KnownLink, Link, link::SlopeBounds};
use isofactor_report::number;

/// A count: `100,836`.
pub fn count(count: usize) -> String {
    number(count as f64)
}

/// A count with its word in singular or plural.
pub fn counted(how_many: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(how_many), if how_many == 1 { one } else { many })
}

/// Four significant digits, zeros kept, so that a column of errors lines up.
pub fn four(value: f64) -> String {
    let size = value.abs();
    if !(1e-3..1e6).contains(&size) {
        return number(value);
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.decimals$}").replacen('-', "−", 1)
}

/// Two significant digits, for what is only a rough place or size.
pub fn two(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return number(value);
    }
    number(format!("{value:.1e}").parse().unwrap_or(value))
}

/// As many decimals as show a hundredth of `scale`, so that a column of small and large lines up.
pub fn like(value: f64, scale: f64) -> String {
    if !(1e-4..1e6).contains(&scale) {
        return two(value);
    }
    let decimals = (2 - scale.log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    let is_zero = text.trim_matches(['-', '0', '.']).is_empty();
    if is_zero { text.replacen('-', "", 1) } else { text.replacen('-', "−", 1) }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".to_owned();
    }
    let percent = 100.0 * share;
    match percent.abs() {
        size if size >= 99.95 || size == 0.0 => format!("{percent:.0}%"),
        size if size >= 0.1 => format!("{percent:.1}%"),
        _ => format!("{}%", two(percent)),
    }
    .replacen('-', "−", 1)
}

/// The link of a model, as it ends a sentence.
pub fn link(model: &FittedModel) -> String {
    match &model.link {
        Link::Known(KnownLink::Identity) => "no link: values are the scores themselves".to_owned(),
        Link::Known(link) => format!("the known link {link}"),
        Link::Tabulated(_) => "a learned, increasing link".to_owned(),
        Link::Learned(link) => {
            let kernel = link.space().kernel();
            let within = match model.provenance.config.slope_bounds() {
                Some(SlopeBounds::INCREASING) => ", kept increasing".to_owned(),
                Some(b) => {
                    format!(", its slopes kept within {} and {}", number(b.low), number(b.high))
                }
                None => String::new(),
            };
            format!(
                "a learned link ({} kernel, bandwidth {}{within})",
                kernel.family,
                number(kernel.bandwidth)
            )
        }
    }
}

/// Whether the model has no link to speak of.
pub fn is_identity(model: &FittedModel) -> bool {
    matches!(&model.link, Link::Known(KnownLink::Identity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_keep_their_zeros_and_shares_their_sense() {
        assert_eq!(four(0.69), "0.6900");
        assert_eq!(four(-12.3), "−12.30");
        assert_eq!(four(0.0), "0");
        assert_eq!(two(-0.01348), "−0.013");
        assert_eq!(two(5.411), "5.4");
        assert_eq!(like(-2.7, 4.0), "−2.70");
        assert_eq!(like(-0.0001, 4.0), "0.00");
        assert_eq!(like(3.0, 1e9), "3");
        assert_eq!(percent(0.01529), "1.5%");
        assert_eq!(percent(1.0), "100%");
        assert_eq!(percent(f64::NAN), "–");
        assert_eq!(percent(-0.0682), "−6.8%");
        assert_eq!(percent(0.00002), "0.002%");
        assert_eq!(counted(1, "row", "rows"), "1 row");
        assert_eq!(counted(2_000, "row", "rows"), "2,000 rows");
    }
}
