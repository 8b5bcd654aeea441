//! Formats rows as text with visible styles, for snapshots.

use std::collections::HashMap;

use crate::line::{Line, Span};
use crate::style::{Attrs, Color, Style};
use crate::theme::{Theme, Token};

/// Returns a theme in which every token has a distinct colour.
pub fn theme() -> Theme {
    Theme::new("marks", 77, |token| Color::Rgb(1, 2, token as u8))
}

/// Returns one row per line. A styled span is `{marks|text}`: attributes as letters (b dim `d` i u r s), colours as the
/// token's name or the colour, `@` before a link's address.
pub fn marked(lines: &[Line]) -> String {
    let names: HashMap<u8, &str> = Token::ALL.iter().map(|token| (*token as u8, token.name())).collect();
    lines.iter().map(|line| line.spans.iter().map(|span| mark(span, &names)).collect::<String>() + "\n").collect()
}

/// Returns only the text, one row per line.
pub fn plain(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text() + "\n").collect()
}

fn mark(span: &Span, names: &HashMap<u8, &str>) -> String {
    let mut marks = vec![];
    let Style { fg, bg, attrs } = span.style;
    let letters = [
        (Attrs::BOLD, 'b'),
        (Attrs::DIM, 'd'),
        (Attrs::ITALIC, 'i'),
        (Attrs::UNDERLINE, 'u'),
        (Attrs::REVERSE, 'r'),
        (Attrs::STRIKE, 's'),
    ];
    let set: String = letters.iter().filter(|(attr, _)| attrs.has(*attr)).map(|(_, letter)| *letter).collect();
    marks.extend((!set.is_empty()).then_some(set));
    marks.extend(color(fg, names));
    marks.extend(color(bg, names).map(|color| format!("on {color}")));
    marks.extend(span.link.as_ref().map(|link| format!("@{link}")));
    if marks.is_empty() { span.text.to_string() } else { format!("{{{}|{}}}", marks.join(" "), span.text) }
}

fn color(color: Color, names: &HashMap<u8, &str>) -> Option<String> {
    match color {
        Color::Default => None,
        Color::Indexed(index) => Some(index.to_string()),
        Color::Rgb(1, 2, token) => names.get(&token).map(|name| (*name).to_owned()),
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}
