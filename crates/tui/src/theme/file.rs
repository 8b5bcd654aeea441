//! Theme files: JSON with `name`, `vars`, `colors` and `symbols`.
//!
//! All usable parts are used. A missing or invalid colour is taken from the matching built-in theme and reported, so that a
//! theme written for another version still works.

use std::collections::HashSet;
use std::fmt;

use omp_stdx::display_width;
use omp_stdx::nearest::nearest;
use serde_json::{Map, Value};

use super::symbols::GROUPS;
use super::{Rgb, Spinner, Symbol, SymbolPreset, Symbols, Theme, Token};
use crate::style::Color;

/// Limits the warnings for one file.
const MOST_WARNINGS: usize = 20;
const WIDEST_SYMBOL: usize = 8;
const MOST_FRAMES: usize = 64;
/// Keys of other programs' files that have no meaning here.
const UNUSED: [&str; 2] = ["link", "toolText"];

/// The error for a file that is not a theme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThemeError {
    what: String,
    hint: &'static str,
}

impl fmt::Display for ThemeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}\nhint: {}", self.what, self.hint)
    }
}

impl std::error::Error for ThemeError {}

impl Theme {
    /// Returns the theme of a file, named by the file, and its problems.
    pub fn parse(json: &str, name: &str) -> Result<(Theme, Vec<String>), ThemeError> {
        let value: Value = serde_json::from_str(json.trim_start_matches('\u{feff}')).map_err(|error| ThemeError {
            what: format!("the theme \"{name}\" is not JSON: {error}"),
            hint: "docs/themes.md has a whole example",
        })?;
        let no_colors = || ThemeError {
            what: format!("the theme \"{name}\" has no \"colors\""),
            hint: "a theme is an object with \"name\" and \"colors\"; docs/themes.md has a whole example",
        };
        let colors = value.get("colors").and_then(Value::as_object).ok_or_else(no_colors)?;
        let mut reader =
            ThemeReader { vars: value.get("vars").and_then(Value::as_object), warnings: Vec::new(), more: 0 };
        reader.unknown_parts(&value);
        let colors = reader.colors(colors);
        let symbols = value.get("symbols").map(|symbols| reader.symbols(symbols)).unwrap_or_default();
        let theme = Theme::of_colors(name, |token| colors[token as usize]).with_symbols(symbols);
        Ok((theme, reader.told()))
    }
}

struct ThemeReader<'a> {
    vars: Option<&'a Map<String, Value>>,
    warnings: Vec<String>,
    more: usize,
}

impl ThemeReader<'_> {
    fn warn(&mut self, warning: String) {
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(warning);
        } else {
            self.more += 1;
        }
    }

    fn told(mut self) -> Vec<String> {
        if self.more > 0 {
            self.warnings.push(format!("and {} more", self.more));
        }
        self.warnings
    }

    fn unknown_parts(&mut self, value: &Value) {
        const PARTS: [&str; 6] = ["$schema", "name", "vars", "colors", "symbols", "export"];
        let parts = value.as_object().into_iter().flatten();
        for (part, _) in parts.filter(|(part, _)| !PARTS.contains(&part.as_str())) {
            self.warn(unknown("part", part, nearest(part, &PARTS)));
        }
    }

    fn colors(&mut self, colors: &Map<String, Value>) -> Vec<Color> {
        for name in colors.keys().filter(|name| Token::named(name).is_none() && !UNUSED.contains(&name.as_str())) {
            self.warn(unknown("colour", name, nearest(name, Token::ALL.iter().map(|token| token.name()))));
        }
        let mut found: Vec<Option<Color>> = Vec::with_capacity(Token::ALL.len());
        let mut missing = Vec::new();
        for token in Token::ALL.iter().copied() {
            let color = match colors.get(token.name()) {
                Some(value) => self.color(token.name(), value),
                None => {
                    missing.extend((!Token::DIFF_BANDS.contains(&token)).then_some(token));
                    None
                }
            };
            found.push(color);
        }
        if found[Token::ThinkingMax as usize].is_none() {
            found[Token::ThinkingMax as usize] = found[Token::ThinkingXhigh as usize];
            missing.retain(|token| *token != Token::ThinkingMax);
        }
        let base = suiting(&found);
        if !missing.is_empty() {
            let names: Vec<&str> = missing.iter().map(|token| token.name()).collect();
            self.warn(format!("taken from the theme \"{}\", because not in the file: {}", base.name, names.join(", ")));
        }
        let tokens = Token::ALL.iter().copied();
        found.into_iter().zip(tokens).map(|(color, token)| color.unwrap_or_else(|| base.color(token))).collect()
    }

    fn color(&mut self, name: &str, value: &Value) -> Option<Color> {
        match resolve(value, self.vars, &mut HashSet::new()) {
            Ok(color) => Some(color),
            Err(why) => {
                self.warn(format!("{name}: {why}"));
                None
            }
        }
    }

    fn symbols(&mut self, value: &Value) -> Symbols {
        let preset = value.get("preset").and_then(|preset| {
            let known = preset.as_str().and_then(SymbolPreset::named);
            if known.is_none() {
                self.warn(format!("symbols.preset is {preset}, but can be unicode, nerd or ascii"));
            }
            known
        });
        let mut symbols = Symbols::new(preset.unwrap_or_default());
        for (name, text) in value.get("overrides").and_then(Value::as_object).into_iter().flatten() {
            self.symbol(&mut symbols, name, text);
        }
        if let Some(frames) = value.get("spinnerFrames") {
            self.frames(&mut symbols, frames);
        }
        symbols
    }

    fn symbol(&mut self, symbols: &mut Symbols, name: &str, text: &Value) {
        let known = Symbol::ALL.iter().copied().find(|symbol| symbol.name() == name);
        match (known, text.as_str().and_then(drawable)) {
            (Some(symbol), Some(text)) => symbols.set(symbol, text),
            (Some(_), None) => {
                self.warn(format!("symbols.overrides.{name} is not a text of at most {WIDEST_SYMBOL} columns"));
            }
            (None, _) if name.split_once('.').is_some_and(|(group, _)| GROUPS.contains(&group)) => {}
            (None, _) => {
                let meant = nearest(name, Symbol::ALL.iter().map(|symbol| symbol.name()));
                self.warn(unknown("symbol", name, meant));
            }
        }
    }

    fn frames(&mut self, symbols: &mut Symbols, value: &Value) {
        let both = [(Spinner::Status, "status"), (Spinner::Activity, "activity")];
        let mut any = false;
        for (spinner, name) in both {
            let Some(list) = value.as_array().or_else(|| value.get(name)?.as_array()) else { continue };
            let frames: Option<Vec<String>> = list.iter().map(|frame| drawable(frame.as_str()?)).collect();
            if let Some(frames) = frames.filter(|frames| (1..=MOST_FRAMES).contains(&frames.len())) {
                symbols.set_frames(spinner, frames);
                any = true;
            }
        }
        if !any {
            self.warn("symbols.spinnerFrames is not a list of texts, nor one each for status and activity".to_owned());
        }
    }
}

fn unknown(what: &str, name: &str, meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("unknown {what} \"{name}\"; did you mean \"{meant}\"?"),
        None => format!("unknown {what} \"{name}\""),
    }
}

/// Returns the built-in theme for the kind of background that these colours were made for.
fn suiting(found: &[Option<Color>]) -> Theme {
    let grounds = Token::ALL.iter().filter(|token| token.name().ends_with("Bg"));
    let known: Vec<Rgb> = grounds.filter_map(|token| Rgb::of(found[*token as usize]?)).collect();
    let light = known.iter().filter(|color| color.is_light()).count();
    if light * 2 > known.len() { Theme::light() } else { Theme::dark() }
}

fn resolve<'a>(
    value: &'a Value,
    vars: Option<&'a Map<String, Value>>,
    seen: &mut HashSet<&'a str>,
) -> Result<Color, String> {
    if let Some(number) = value.as_number() {
        let index = number.as_u64().and_then(|index| u8::try_from(index).ok());
        return index.map(Color::Indexed).ok_or_else(|| format!("{number} is not a colour of the palette (0 to 255)"));
    }
    let Some(text) = value.as_str() else {
        return Err(format!("{value} is not a colour: #rrggbb, 0 to 255, the name of a variable, or \"\""));
    };
    if text.is_empty() {
        return Ok(Color::Default);
    }
    if let Some(digits) = text.strip_prefix('#') {
        return hex(digits).ok_or_else(|| format!("\"{text}\" is not a colour: it is written #rrggbb"));
    }
    if !seen.insert(text) {
        return Err(format!("the variable \"{text}\" refers to itself"));
    }
    match vars.and_then(|vars| vars.get(text)) {
        Some(value) => resolve(value, vars, seen),
        None => Err(unknown("variable", text, nearest(text, vars.into_iter().flat_map(Map::keys)))),
    }
}

/// Parses `rgb` and `rrggbb`, and drops an alpha value, which terminals do not support.
fn hex(digits: &str) -> Option<Color> {
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let channel = |shift: u32| (value >> shift) as u8;
    let short = |shift: u32| (channel(shift) & 0xf) * 0x11;
    match digits.len() {
        3 => Some(Color::Rgb(short(8), short(4), short(0))),
        6 => Some(Color::Rgb(channel(16), channel(8), channel(0))),
        8 => Some(Color::Rgb(channel(24), channel(16), channel(8))),
        _ => None,
    }
}

fn drawable(text: &str) -> Option<String> {
    let fits = !text.chars().any(char::is_control) && display_width::width(text) <= WIDEST_SYMBOL;
    fits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
