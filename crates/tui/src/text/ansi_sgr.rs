//! Select Graphic Rendition: the numbers of `ESC [ … m` applied to a style.

use crate::style::{Attrs, Color, Style};

/// Parameters are separated by `;`, their parts by `:`. Unknown parameters are ignored.
pub fn apply_sgr(style: Style, parameters: &str) -> Style {
    let mut style = style;
    let mut rest = parameters.split(';');
    while let Some(parameter) = rest.next() {
        let mut parts = parameter.split(':');
        let code = number(parts.next().unwrap_or_default());
        let parts: Vec<Option<u16>> = parts.map(|part| part.parse().ok()).collect();
        match code {
            Some(38 | 48 | 58) => {
                let color = if parts.is_empty() { spread_color(&mut rest) } else { packed_color(&parts) };
                match (code, color) {
                    (Some(38), Some(color)) => style.fg = color,
                    (Some(48), Some(color)) => style.bg = color,
                    _ => {}
                }
            }
            Some(4) if parts.first() == Some(&Some(0)) => style = without(style, Attrs::UNDERLINE),
            Some(code) => style = apply(style, code),
            None => {}
        }
    }
    style
}

fn number(parameter: &str) -> Option<u16> {
    if parameter.is_empty() { Some(0) } else { parameter.parse().ok() }
}

fn apply(style: Style, code: u16) -> Style {
    match code {
        0 => Style::PLAIN,
        1 => style.with(Attrs::BOLD),
        2 => style.with(Attrs::DIM),
        3 => style.with(Attrs::ITALIC),
        4 | 21 => style.with(Attrs::UNDERLINE),
        7 => style.with(Attrs::REVERSE),
        9 => style.with(Attrs::STRIKE),
        22 => without(without(style, Attrs::BOLD), Attrs::DIM),
        23 => without(style, Attrs::ITALIC),
        24 => without(style, Attrs::UNDERLINE),
        27 => without(style, Attrs::REVERSE),
        29 => without(style, Attrs::STRIKE),
        30..=37 => style.fg(Color::Indexed((code - 30) as u8)),
        39 => style.fg(Color::Default),
        40..=47 => style.bg(Color::Indexed((code - 40) as u8)),
        49 => style.bg(Color::Default),
        90..=97 => style.fg(Color::Indexed((code - 90 + 8) as u8)),
        100..=107 => style.bg(Color::Indexed((code - 100 + 8) as u8)),
        _ => style,
    }
}

fn without(style: Style, attrs: Attrs) -> Style {
    let all = [Attrs::BOLD, Attrs::DIM, Attrs::ITALIC, Attrs::UNDERLINE, Attrs::REVERSE, Attrs::STRIKE];
    let kept = all.into_iter().filter(|attr| style.attrs.has(*attr) && *attr != attrs);
    Style { attrs: kept.fold(Attrs::NONE, Attrs::with), ..style }
}

/// Parses `38;5;n` and `38;2;r;g;b`.
fn spread_color<'a>(rest: &mut impl Iterator<Item = &'a str>) -> Option<Color> {
    let mut byte = || rest.next().and_then(number).and_then(|value| u8::try_from(value).ok());
    match byte()? {
        5 => byte().map(Color::Indexed),
        2 => {
            let (red, green, blue) = (byte(), byte(), byte());
            Some(Color::Rgb(red?, green?, blue?))
        }
        _ => None,
    }
}

/// Parses `38:5:n`, `38:2:r:g:b` and `38:2:space:r:g:b`.
fn packed_color(parts: &[Option<u16>]) -> Option<Color> {
    let byte = |at: usize| parts.get(at).copied().flatten().and_then(|value| u8::try_from(value).ok());
    match byte(0)? {
        5 => byte(1).map(Color::Indexed),
        2 if parts.len() >= 5 => Some(Color::Rgb(byte(2)?, byte(3)?, byte(4)?)),
        2 => Some(Color::Rgb(byte(1)?, byte(2)?, byte(3)?)),
        _ => None,
    }
}
