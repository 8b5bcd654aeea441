//! Git configuration keys that run something, or point git to something that does. If a command has added, changed or
//! removed such a key, only that key is put back, and the rest of the change stays.

mod keys;
mod parse;

use std::ops::Range;

pub(crate) use keys::ConfigFilePlace;
use parse::{ConfigEntry, Header, parse};

/// The verdict on a changed configuration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConfigVerdict {
    /// Keep it as it is.
    Fine,
    /// Replace it by this text, with these keys put back.
    Mended(String, Vec<String>),
    /// Git could not parse it, or would parse it differently: restore the earlier file.
    Hostile,
}

/// Compares the text before a command with the current one. An empty text stands for no file.
pub(crate) fn judge(before: &str, now: &str, place: &ConfigFilePlace<'_>) -> ConfigVerdict {
    let (Some(was), Some(is)) = (parse(before), parse(now)) else {
        return if before == now { ConfigVerdict::Fine } else { ConfigVerdict::Hostile };
    };
    let mut wrong: Vec<String> = Vec::new();
    for entry in was.iter().chain(&is).filter(|entry| keys::runs(entry, place)) {
        let name = entry.name();
        if !wrong.contains(&name) && values(&was, &name) != values(&is, &name) {
            wrong.push(name);
        }
    }
    if wrong.is_empty() {
        return ConfigVerdict::Fine;
    }
    wrong.sort();
    let text = mended(before, &was, now, &is, &wrong);
    // Parsed once more, so that unusual text cannot result in something else.
    let is_mended = parse(&text).is_some_and(|after| {
        wrong.iter().all(|name| values(&after, name) == values(&was, name))
            && after
                .iter()
                .filter(|entry| keys::runs(entry, place))
                .all(|entry| values(&was, &entry.name()).contains(&entry.value.as_str()))
    });
    if is_mended { ConfigVerdict::Mended(text, wrong) } else { ConfigVerdict::Hostile }
}

/// Whether it can be parsed.
pub(crate) fn is_readable(text: &str) -> bool {
    parse(text).is_some()
}

/// All keys with their values, in order, as `git config --list` prints them. `None` if git would report an error.
pub fn settings_in(text: &str) -> Option<Vec<(String, String)>> {
    Some(parse(text)?.into_iter().map(|entry| (entry.name(), entry.value)).collect())
}

fn values<'a>(entries: &'a [ConfigEntry], name: &str) -> Vec<&'a str> {
    entries.iter().filter(|entry| entry.name() == name).map(|entry| entry.value.as_str()).collect()
}

/// Removes the wrong keys and appends their earlier values.
fn mended(before: &str, was: &[ConfigEntry], now: &str, is: &[ConfigEntry], wrong: &[String]) -> String {
    let mut text = String::with_capacity(now.len());
    let mut at = 0;
    for entry in is.iter().filter(|entry| wrong.contains(&entry.name())) {
        let cut = line_of(now, &entry.span);
        text.push_str(&now[at..cut.start]);
        at = cut.end;
    }
    text.push_str(&now[at..]);
    let mut last: Option<&Header> = None;
    for entry in was.iter().filter(|entry| wrong.contains(&entry.name())) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if last != Some(&entry.header) {
            text.push_str(&entry.header.to_string());
            text.push('\n');
        }
        text.push('\t');
        text.push_str(before[entry.span.clone()].trim());
        text.push('\n');
        last = Some(&entry.header);
    }
    text
}

/// The span extended to the whole line, if the entry is alone on it.
fn line_of(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text[..span.start].trim_end_matches([' ', '\t']).len();
    match text[span.end..].strip_prefix('\n') {
        Some(_) if start == 0 || text[..start].ends_with('\n') => start..span.end + 1,
        _ => span.clone(),
    }
}

#[cfg(test)]
mod tests;
