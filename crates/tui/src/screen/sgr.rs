//! Writes style changes in as few bytes as possible.

use std::io::Write as _;

use super::profile::ColorDepth;
use crate::style::{Attrs, Color, Style};

const CODES: [(Attrs, u8); 6] = [
    (Attrs::BOLD, 1),
    (Attrs::DIM, 2),
    (Attrs::ITALIC, 3),
    (Attrs::UNDERLINE, 4),
    (Attrs::REVERSE, 7),
    (Attrs::STRIKE, 9),
];

/// Writes the change from one style to another.
pub fn change(from: Style, to: Style, depth: ColorDepth, out: &mut Vec<u8>) {
    let (from, to) = (fitted(from, depth), fitted(to, depth));
    if from == to {
        return;
    }
    if to == Style::PLAIN {
        out.extend_from_slice(b"\x1b[m");
        return;
    }
    // Attributes can only be removed by a full reset.
    let lost = CODES.iter().any(|(attr, _)| from.attrs.has(*attr) && !to.attrs.has(*attr));
    let from = if lost { Style::PLAIN } else { from };
    let mut codes = Codes { out, any: false };
    if lost {
        codes.put(format_args!("0"));
    }
    for (attr, code) in CODES {
        if to.attrs.has(attr) && !from.attrs.has(attr) {
            codes.put(format_args!("{code}"));
        }
    }
    if to.fg != from.fg {
        codes.color(to.fg, 30);
    }
    if to.bg != from.bg {
        codes.color(to.bg, 40);
    }
    if codes.any {
        out.push(b'm');
    }
}

struct Codes<'a> {
    out: &'a mut Vec<u8>,
    any: bool,
}

impl Codes<'_> {
    fn put(&mut self, code: std::fmt::Arguments<'_>) {
        let lead: &[u8] = if self.any { b";" } else { b"\x1b[" };
        self.out.extend_from_slice(lead);
        // Writing to memory cannot fail.
        let _ = self.out.write_fmt(code);
        self.any = true;
    }

    fn color(&mut self, color: Color, base: u8) {
        match color {
            Color::Default => self.put(format_args!("{}", base + 9)),
            Color::Indexed(index @ 0..=7) => self.put(format_args!("{}", base + index)),
            Color::Indexed(index @ 8..=15) => self.put(format_args!("{}", base + 52 + index)),
            Color::Indexed(index) => self.put(format_args!("{};5;{index}", base + 8)),
            Color::Rgb(red, green, blue) => self.put(format_args!("{};2;{red};{green};{blue}", base + 8)),
        }
    }
}

fn fitted(style: Style, depth: ColorDepth) -> Style {
    Style { fg: at_depth(style.fg, depth), bg: at_depth(style.bg, depth), ..style }
}

/// Returns the nearest colour that the terminal supports.
fn at_depth(color: Color, depth: ColorDepth) -> Color {
    match (color, depth) {
        (_, ColorDepth::None) => Color::Default,
        (Color::Rgb(red, green, blue), ColorDepth::Ansi256) => Color::Indexed(nearest_256(red, green, blue)),
        (Color::Rgb(red, green, blue), ColorDepth::Ansi16) => Color::Indexed(nearest_16(red, green, blue)),
        (Color::Indexed(index @ 16..), ColorDepth::Ansi16) => {
            let (red, green, blue) = palette(index);
            Color::Indexed(nearest_16(red, green, blue))
        }
        _ => color,
    }
}

fn nearest_256(red: u8, green: u8, blue: u8) -> u8 {
    let cube = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        _ => (value - 35) / 40,
    };
    let in_cube = 16 + 36 * cube(red) + 6 * cube(green) + cube(blue);
    let mean = (u16::from(red) + u16::from(green) + u16::from(blue)) / 3;
    let grey = 232 + (mean.saturating_sub(3) / 10).min(23) as u8;
    let far = |index: u8| distance(palette(index), (red, green, blue));
    if far(grey) < far(in_cube) { grey } else { in_cube }
}

fn nearest_16(red: u8, green: u8, blue: u8) -> u8 {
    (0..16).min_by_key(|index| distance(palette(*index), (red, green, blue))).unwrap_or(7)
}

fn palette(index: u8) -> (u8, u8, u8) {
    const BASIC: [(u8, u8, u8); 16] = [
        (0, 0, 0),
        (205, 0, 0),
        (0, 205, 0),
        (205, 205, 0),
        (0, 0, 238),
        (205, 0, 205),
        (0, 205, 205),
        (229, 229, 229),
        (127, 127, 127),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 0),
        (92, 92, 255),
        (255, 0, 255),
        (0, 255, 255),
        (255, 255, 255),
    ];
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..=15 => BASIC[usize::from(index)],
        16..=231 => {
            let at = index - 16;
            (level(at / 36), level(at / 6 % 6), level(at % 6))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    // Weighted, because eyes are most sensitive to green and least to blue.
    3 * square(a.0, b.0) + 6 * square(a.1, b.1) + square(a.2, b.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: Style, to: Style, depth: ColorDepth, expect: &str) {
        let mut out = Vec::new();
        change(from, to, depth, &mut out);
        assert_eq!(String::from_utf8(out).unwrap().replace('\u{1b}', "ESC"), expect);
    }

    #[test]
    fn changes_are_as_short_as_they_can_be() {
        let red = Style::PLAIN.fg(Color::Indexed(1));
        check(Style::PLAIN, Style::PLAIN, ColorDepth::True, "");
        check(red, Style::PLAIN, ColorDepth::True, "ESC[m");
        check(Style::PLAIN, red.bold(), ColorDepth::True, "ESC[1;31m");
        check(red, red.bold(), ColorDepth::True, "ESC[1m");
        check(red.bold(), red, ColorDepth::True, "ESC[0;31m");
        check(red, Style::PLAIN.bg(Color::Indexed(9)), ColorDepth::True, "ESC[39;101m");
        check(red, Style::PLAIN.fg(Color::Indexed(200)), ColorDepth::True, "ESC[38;5;200m");
        check(Style::PLAIN, Style::PLAIN.fg(Color::Rgb(1, 2, 3)), ColorDepth::True, "ESC[38;2;1;2;3m");
    }

    #[test]
    fn colors_fit_the_terminal() {
        let orange = Style::PLAIN.fg(Color::Rgb(255, 135, 0));
        check(Style::PLAIN, orange, ColorDepth::Ansi256, "ESC[38;5;208m");
        check(Style::PLAIN, Style::PLAIN.fg(Color::Rgb(250, 10, 10)), ColorDepth::Ansi16, "ESC[91m");
        check(Style::PLAIN, Style::PLAIN.fg(Color::Rgb(118, 118, 118)), ColorDepth::Ansi256, "ESC[38;5;243m");
        check(Style::PLAIN, Style::PLAIN.bg(Color::Indexed(196)), ColorDepth::Ansi16, "ESC[101m");
        check(Style::PLAIN, orange.bold(), ColorDepth::None, "ESC[1m");
    }
}
