//! Colours for light and dark, in the hues of Okabe and Ito, which the colour-blind can tell apart.

/// Series colours before they repeat. Dashes and markers go round at another pace.
pub(crate) const SERIES_COLOURS: usize = 6;

struct Palette {
    paper: &'static str,
    ink: &'static str,
    muted: &'static str,
    rule: &'static str,
    grid: &'static str,
    shade: &'static str,
    series: [&'static str; SERIES_COLOURS],
}

/// Darker than the published hues where those are too faint on white.
const LIGHT: Palette = Palette {
    paper: "#ffffff",
    ink: "#1b1e23",
    muted: "#59616b",
    rule: "#c3c9d0",
    grid: "#e6e9ed",
    shade: "#dde2e8",
    series: ["#0068a6", "#c24a00", "#00795a", "#a8437f", "#7a6000", "#3b4048"],
};

/// The same hues, lighter.
const DARK: Palette = Palette {
    paper: "#14171b",
    ink: "#e7e9ec",
    muted: "#a4acb6",
    rule: "#4a525c",
    grid: "#2a3037",
    shade: "#323a44",
    series: ["#56b4e9", "#f58a4b", "#34c79b", "#e69ac8", "#e3c34d", "#ccd2d9"],
};

impl Palette {
    fn entries(&self) -> Vec<(String, &'static str)> {
        let named = [
            ("paper", self.paper),
            ("ink", self.ink),
            ("muted", self.muted),
            ("rule", self.rule),
            ("grid", self.grid),
            ("shade", self.shade),
        ];
        let series = self.series.iter().enumerate().map(|(i, &c)| (format!("c{i}"), c));
        named.into_iter().map(|(name, c)| (name.to_string(), c)).chain(series).collect()
    }

    fn variables(&self) -> String {
        self.entries().iter().map(|(name, colour)| format!("--{name}:{colour};")).collect()
    }
}

/// Custom properties for both modes, and a class for each colour. Paper is always light.
pub(crate) fn page_style() -> String {
    let classes: String =
        LIGHT.entries().iter().map(|(n, _)| format!(".{n}{{color:var(--{n})}}")).collect();
    format!(
        ":root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n{classes}\n",
        LIGHT.variables(),
        DARK.variables(),
    )
}

/// A class for each colour, written out: many SVG readers know no custom properties.
pub(crate) fn standalone_style() -> String {
    LIGHT.entries().iter().map(|(n, colour)| format!(".{n}{{color:{colour}}}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(colour: &str) -> f64 {
        let channel = |i: usize| {
            let c = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap()) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        (a / b).max(b / a)
    }

    #[test]
    fn text_and_series_stand_out_in_both_modes() {
        for palette in [LIGHT, DARK] {
            assert!(contrast(palette.ink, palette.paper) >= 12.0);
            assert!(contrast(palette.muted, palette.paper) >= 4.5);
            for colour in palette.series {
                assert!(contrast(colour, palette.paper) >= 4.5, "{colour} on paper");
                assert!(contrast(colour, palette.shade) >= 3.0, "{colour} on a density");
            }
        }
    }
}
