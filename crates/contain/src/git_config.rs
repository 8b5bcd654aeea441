//! The keys in a configuration of git's that run something, or lead git to something that does. When a command has added,
//! changed or removed one of them, exactly these are put back, and the rest of its change stays.

mod keys;
mod parse;

use std::ops::Range;

pub(crate) use keys::ConfigFilePlace;
use parse::{ConfigEntry, Header, parse};

/// What a changed configuration is to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConfigVerdict {
    /// As it is now.
    Fine,
    /// This text. With the keys that were put back.
    Mended(String, Vec<String>),
    /// Git could not read it, or reads it in another way than this does: as it was before.
    Hostile,
}

/// Compares what was before a command with what is there now. An empty text stands for none.
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
    // Read once more, so that no odd text comes out as something else.
    let is_mended = parse(&text).is_some_and(|after| {
        wrong.iter().all(|name| values(&after, name) == values(&was, name))
            && after
                .iter()
                .filter(|entry| keys::runs(entry, place))
                .all(|entry| values(&was, &entry.name()).contains(&entry.value.as_str()))
    });
    if is_mended { ConfigVerdict::Mended(text, wrong) } else { ConfigVerdict::Hostile }
}

/// Whether it can be read at all.
pub(crate) fn is_readable(text: &str) -> bool {
    parse(text).is_some()
}

/// All keys with their values, in order, as `git config --list` prints them. `None` where git would complain.
pub fn settings_in(text: &str) -> Option<Vec<(String, String)>> {
    Some(parse(text)?.into_iter().map(|entry| (entry.name(), entry.value)).collect())
}

fn values<'a>(entries: &'a [ConfigEntry], name: &str) -> Vec<&'a str> {
    entries.iter().filter(|entry| entry.name() == name).map(|entry| entry.value.as_str()).collect()
}

/// Without the keys that are wrong, and with those of before at the end.
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

/// With the blanks around it, where it has the line for itself.
fn line_of(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text[..span.start].trim_end_matches([' ', '\t']).len();
    match text[span.end..].strip_prefix('\n') {
        Some(_) if start == 0 || text[..start].ends_with('\n') => start..span.end + 1,
        _ => span.clone(),
    }
}

#[cfg(test)]
mod tests;
