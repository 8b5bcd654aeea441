//! Test helper: what is drawn in windows of three sizes, in the dark and the light theme.
//!
//! Rows of the smallest window are followed by their styles: `a2 b10` is two columns of style `a`, ten of style `b`. A list at
//! the end says what the styles are in both themes.

use std::fmt::Write as _;

use omp_stdx::display_width;
use omp_tui::{Attrs, Color, Line, Space, Style, Theme};

const SIZES: [(usize, usize); 3] = [(80, 24), (120, 40), (200, 50)];

/// A style in the dark theme and in the light one.
type Pair = (Style, Style);

/// Draws at every size, in both themes. The text must be the same in both and fit.
pub(crate) fn looks(draw: impl FnMut(&Space<'_>) -> Vec<Line>) -> String {
    looks_at(&SIZES, draw)
}

/// Draws in windows of other sizes; the styles are those of the first one.
pub(crate) fn looks_at(sizes: &[(usize, usize)], mut draw: impl FnMut(&Space<'_>) -> Vec<Line>) -> String {
    let (dark, light) = (Theme::dark(), Theme::light());
    let (mut shown, mut styles) = (String::new(), Vec::new());
    for (width, height) in sizes.iter().copied() {
        let mut rows =
            |theme: &Theme| draw(&Space { width, height, theme, focused: true, keys: &omp_tui::DefaultKeys });
        let (dark, light) = (rows(&dark), rows(&light));
        assert_eq!(dark.len(), light.len(), "as many rows in both themes");
        writeln!(shown, "{width}x{height}").unwrap();
        for (dark, light) in dark.iter().zip(&light) {
            assert_eq!(dark.text(), light.text(), "the same text in both themes");
            assert!(dark.width() <= width, "{:?} is wider than {width}", dark.text());
            let text = dark.text();
            match width == sizes[0].0 {
                true => writeln!(shown, "{}  {}", display_width::pad(&text, width), runs(dark, light, &mut styles)),
                false => writeln!(shown, "{}", text.trim_end()),
            }
            .unwrap();
        }
    }
    for (at, (dark, light)) in styles.iter().enumerate() {
        writeln!(shown, "{} {} | {}", letter(at), in_words(*dark), in_words(*light)).unwrap();
    }
    shown
}

fn runs(dark: &Line, light: &Line, styles: &mut Vec<Pair>) -> String {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (dark, light) in dark.spans.iter().zip(&light.spans) {
        assert_eq!(dark.text, light.text, "the same parts in both themes");
        let columns = display_width::width(&dark.text);
        if columns == 0 {
            continue;
        }
        let style = number((dark.style, light.style), styles);
        match found.last_mut() {
            Some((last, count)) if *last == style => *count += columns,
            _ => found.push((style, columns)),
        }
    }
    let mut told: Vec<String> = found.iter().map(|(style, columns)| format!("{}{columns}", letter(*style))).collect();
    if let (Some(dark), Some(light)) = (dark.fill, light.fill) {
        told.push(format!("{}…", letter(number((dark, light), styles))));
    }
    told.join(" ")
}

fn number(pair: Pair, styles: &mut Vec<Pair>) -> usize {
    styles.iter().position(|known| *known == pair).unwrap_or_else(|| {
        styles.push(pair);
        styles.len() - 1
    })
}

fn letter(at: usize) -> char {
    ('a'..='z').chain('A'..='Z').nth(at).expect("a few styles")
}

fn in_words(style: Style) -> String {
    let color = |color: Color| match color {
        Color::Default => "-".to_owned(),
        Color::Indexed(index) => index.to_string(),
        Color::Rgb(red, green, blue) => format!("{red:02x}{green:02x}{blue:02x}"),
    };
    let mut words = format!("{} on {}", color(style.fg), color(style.bg));
    for (attribute, name) in [
        (Attrs::BOLD, " bold"),
        (Attrs::DIM, " dim"),
        (Attrs::ITALIC, " italic"),
        (Attrs::UNDERLINE, " underline"),
        (Attrs::REVERSE, " reverse"),
        (Attrs::STRIKE, " strike"),
    ] {
        if style.attrs.has(attribute) {
            words.push_str(name);
        }
    }
    words
}
