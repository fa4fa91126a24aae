//! How a number is written: plain while it is short, powers of ten only when needed.

/// A value for people: about four significant digits, thousands grouped, `1.23×10⁻⁵` only for the
/// very large and the very small.
///
/// ```
/// use isofactor_report::number;
/// assert_eq!(number(0.84213), "0.8421");
/// assert_eq!(number(100_836.0), "100,836");
/// assert_eq!(number(-0.0000125), "−1.25×10⁻⁵");
/// ```
#[must_use]
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "not a number".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞".into() } else { "−∞".into() };
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e9).contains(&size) {
        let text = format!("{value:.2e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        return format!(
            "{}×{}",
            plain_minus(mantissa),
            power_of_ten(exponent.parse().unwrap_or(0))
        );
    }
    let decimals = (3 - magnitude(size)).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    plain_minus(&group(text))
}

/// Labels for the ticks of one axis: enough digits to tell neighbours apart, alike for all.
pub(crate) fn tick_labels(ticks: &[f64]) -> Vec<String> {
    let largest = ticks.iter().fold(0.0_f64, |a, t| a.max(t.abs()));
    let step = ticks.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    if !step.is_finite() || largest == 0.0 {
        return ticks.iter().map(|&t| number(t)).collect();
    }
    // A step of 0.2 that came out as 0.19999 must still count as tenths.
    let step_exponent = magnitude(step * (1.0 + 1e-6));
    let exponent = magnitude(largest);
    let digits = (exponent - step_exponent).max(0) as usize;
    let short_mantissa = digits <= 3;
    if (largest >= 1e6 && short_mantissa) || !(1e-3..1e15).contains(&largest) {
        return ticks.iter().map(|&t| scientific(t, exponent, digits)).collect();
    }
    let decimals = (-step_exponent).max(0) as usize;
    let grouped = largest >= 1e4;
    ticks
        .iter()
        .map(|&t| {
            let text = format!("{:.decimals$}", if t == 0.0 { 0.0 } else { t });
            plain_minus(&if grouped { group(&text) } else { text })
        })
        .collect()
}

/// Labels for whole powers of ten: `0.01`, `1`, `100` while short, `10⁻⁸` otherwise.
pub(crate) fn decade_labels(exponents: &[i32]) -> Vec<String> {
    let short = exponents.iter().all(|e| (-3..=4).contains(e));
    exponents
        .iter()
        .map(|&e| match e {
            0.. if short => group(&format!("1{}", "0".repeat(e as usize))),
            _ if short => format!("0.{}1", "0".repeat((-e - 1) as usize)),
            _ => power_of_ten(e),
        })
        .collect()
}

/// A number for a machine (JSON): seven significant digits, never hundreds of zeros.
pub(crate) fn machine(value: f64) -> String {
    let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(0.0);
    if rounded == 0.0 || (1e-4..1e9).contains(&rounded.abs()) {
        format!("{}", rounded + 0.0)
    } else {
        format!("{rounded:e}")
    }
}

/// The exponent `k` of `10^k <= size < 10^(k+1)`, for a positive finite size.
pub(crate) fn magnitude(size: f64) -> i32 {
    let text = format!("{size:e}");
    text.split_once('e').and_then(|(_, k)| k.parse().ok()).unwrap_or(0)
}

fn scientific(value: f64, exponent: i32, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    // Shifting the decimal point in text keeps the digits exact where a division would not.
    let own = magnitude(value.abs());
    let text = format!("{value:.*e}", (digits as i32 + own - exponent).max(0) as usize);
    let mantissa: f64 =
        text.split_once('e').and_then(|(m, _)| m.parse().ok()).unwrap_or(value.signum());
    let mantissa = mantissa * 10f64.powi(own - exponent);
    format!("{}×{}", plain_minus(&format!("{mantissa:.digits$}")), power_of_ten(exponent))
}

fn power_of_ten(exponent: i32) -> String {
    let mut out = String::from("10");
    for c in exponent.to_string().chars() {
        out.push(match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4' => '⁴',
            '5' => '⁵',
            '6' => '⁶',
            '7' => '⁷',
            '8' => '⁸',
            '9' => '⁹',
            _ => '⁰',
        });
    }
    out
}

/// `-1234567.5` becomes `-1,234,567.5`.
pub(crate) fn group(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.find('.').map_or((rest, ""), |dot| rest.split_at(dot));
    let mut out = String::from(sign);
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + fraction
}

fn plain_minus(text: &str) -> String {
    text.replacen('-', "−", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_stay_plain() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (0.25, "0.25"),
            (2.0, "2"),
            (123.456, "123.5"),
            (9_999.6, "10,000"),
            (1_234_567.0, "1,234,567"),
            (-3.5, "−3.5"),
            (1e12, "1×10¹²"),
            (f64::NAN, "not a number"),
            (f64::NEG_INFINITY, "−∞"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn tick_labels_share_their_decimals() {
        assert_eq!(tick_labels(&[-0.5, 0.0, 0.5, 1.0]), ["−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(tick_labels(&[0.0, 5_000.0, 10_000.0]), ["0", "5,000", "10,000"]);
        assert_eq!(tick_labels(&[0.0, 1e-5, 2e-5]), ["0", "1×10⁻⁵", "2×10⁻⁵"]);
        assert_eq!(tick_labels(&[5e6, 1e7, 1.5e7]), ["0.5×10⁷", "1.0×10⁷", "1.5×10⁷"]);
        assert_eq!(decade_labels(&[-2, 0, 2]), ["0.01", "1", "100"]);
        assert_eq!(decade_labels(&[-6, -3, 0]), ["10⁻⁶", "10⁻³", "10⁰"]);
    }

    #[test]
    fn machine_numbers_read_back() {
        for value in [0.0, -0.0, 1.5, -2e-7, 1e300, -1e-300, 123_456.7] {
            let back: f64 = machine(value).parse().unwrap();
            assert!((back - value).abs() <= 1e-6 * value.abs(), "{value} became {back}");
        }
    }
}
