//! Changes one entry of block mappings, line by line.

use std::ops::Range;

use serde_json::{Map, Value};

use super::scalar::{key_of, value_and_comment, written, written_key};

/// The reason why the text cannot be changed.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The whole file is `{…}`.
    Flow,
    /// An entry on the path has an anchor, an alias or a tag.
    Special(String),
    /// An entry on the path contains something without keys.
    NoSettings(String),
}

/// Returns the text with the value at the path, new or replaced.
pub fn set(text: &str, path: &[&str], value: &Value) -> Result<String, Refusal> {
    let mut page = Page::new(text)?;
    let mut group = page.whole();
    for (depth, name) in path.iter().enumerate() {
        let rest = &path[depth + 1..];
        let Some(entry) = page.find(&group, name) else {
            page.add(&group, &path[depth..], value);
            return Ok(page.text());
        };
        if rest.is_empty() {
            page.replace(&entry, &written(value))?;
            return Ok(page.text());
        }
        match page.inside(&entry)? {
            Inside::Group(inner) => group = inner,
            Inside::Nothing => {
                page.put(&entry, "");
                let step = " ".repeat(group.step);
                let inner = Group { indent: format!("{}{step}", group.indent), ..Group::below(entry.line, group.step) };
                page.add(&inner, rest, value);
                return Ok(page.text());
            }
            Inside::Flow(mut flow) => {
                set_in(&mut flow, rest, value);
                page.put(&entry, &flow.to_string());
                return Ok(page.text());
            }
        }
    }
    Ok(page.text())
}

/// Returns the text without the entry at the path. A group without other entries becomes `{}`, so that its comments stay.
pub fn remove(text: &str, path: &[&str]) -> Result<String, Refusal> {
    let mut page = Page::new(text)?;
    let mut group = page.whole();
    let mut around: Option<Entry> = None;
    for (depth, name) in path.iter().enumerate() {
        let Some(entry) = page.find(&group, name) else { return Ok(page.text()) };
        let rest = &path[depth + 1..];
        if rest.is_empty() {
            let alone = page.entries(&group).len() == 1;
            page.lines.drain(entry.line..entry.end);
            if let Some(around) = around.filter(|_| alone) {
                let gone = entry.end - entry.line;
                page.put(&Entry { end: around.end - gone, ..around }, "{}");
            }
            return Ok(page.text());
        }
        match page.inside(&entry)? {
            Inside::Group(inner) => (group, around) = (inner, Some(entry)),
            Inside::Nothing => return Ok(page.text()),
            Inside::Flow(mut flow) => {
                if remove_in(&mut flow, rest) {
                    page.put(&entry, &flow.to_string());
                }
                return Ok(page.text());
            }
        }
    }
    Ok(page.text())
}

/// Returns the text with another item at the end of the block list at the path, or `None` if there is no such list.
pub fn push_item(text: &str, path: &[&str], item: &str) -> Result<Option<String>, Refusal> {
    let mut page = Page::new(text)?;
    let Some(entry) = page.list(path)? else { return Ok(None) };
    let items = page.items(&entry);
    let (indent, at) = match items.last() {
        Some(last) => (page.indent_of(*last).to_owned(), entry.end),
        None => (format!("{}{}", page.indent_of(entry.line), " ".repeat(page.whole().step)), entry.line + 1),
    };
    if items.is_empty() {
        page.put(&entry, "");
    }
    if let Some(before) = at.checked_sub(1).map(|before| &mut page.lines[before])
        && !before.ends_with('\n')
    {
        before.push_str(page.line_break);
    }
    page.lines.insert(at, format!("{indent}- {}{}", written(&Value::from(item)), page.line_break));
    Ok(Some(page.text()))
}

/// Returns the text without this item of the block list at the path, or `None` if there is no such list.
pub fn remove_item(text: &str, path: &[&str], item: &str) -> Result<Option<String>, Refusal> {
    let mut page = Page::new(text)?;
    let Some(entry) = page.list(path)? else { return Ok(None) };
    let items = page.items(&entry);
    let is_it = |at: &usize| page.item(*at).as_deref() == Some(item);
    let gone: Vec<usize> = items.iter().copied().filter(is_it).collect();
    if !gone.is_empty() && gone.len() == items.len() {
        page.put(&Entry { end: entry.line + 1, ..entry }, "[]");
    }
    gone.iter().rev().for_each(|at| drop(page.lines.remove(*at)));
    Ok(Some(page.text()))
}

fn set_in(flow: &mut Value, path: &[&str], value: &Value) {
    let Some((name, rest)) = path.split_first() else {
        *flow = value.clone();
        return;
    };
    if !flow.is_object() {
        *flow = Value::Object(Map::new());
    }
    set_in(&mut flow[*name], rest, value);
}

fn remove_in(flow: &mut Value, path: &[&str]) -> bool {
    let Value::Object(fields) = flow else { return false };
    match path {
        [] => false,
        [last] => fields.shift_remove(*last).is_some(),
        [name, rest @ ..] => fields.get_mut(*name).is_some_and(|inner| remove_in(inner, rest)),
    }
}

/// The lines of the file, each with its line break.
struct Page {
    lines: Vec<String>,
    line_break: &'static str,
}

/// A mapping: its line range and indentation.
#[derive(Clone, Debug)]
struct Group {
    lines: Range<usize>,
    indent: String,
    /// Spaces per level in this file.
    step: usize,
}

impl Group {
    /// An empty mapping after a line.
    fn below(line: usize, step: usize) -> Self {
        Self { lines: line + 1..line + 1, indent: String::new(), step }
    }
}

/// A key with everything that belongs to it.
#[derive(Clone, Debug)]
struct Entry {
    name: String,
    line: usize,
    /// The line after the last line of its value.
    end: usize,
    /// The offset of the value after the colon.
    value_at: usize,
}

/// The content of an entry on the path.
enum Inside {
    Group(Group),
    Nothing,
    Flow(Value),
}

impl Page {
    fn new(text: &str) -> Result<Self, Refusal> {
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let page = Self { lines, line_break };
        let first = (0..page.lines.len()).find(|at| page.has_content(*at));
        match first.is_some_and(|at| page.lines[at].trim_start().starts_with(['{', '['])) {
            true => Err(Refusal::Flow),
            false => Ok(page),
        }
    }

    fn text(self) -> String {
        self.lines.concat()
    }

    fn bare(&self, at: usize) -> &str {
        self.lines[at].trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r'])
    }

    fn indent_of(&self, at: usize) -> &str {
        let line = self.bare(at);
        &line[..line.len() - line.trim_start_matches(' ').len()]
    }

    /// Whether the line is neither blank, a comment nor a document marker.
    fn has_content(&self, at: usize) -> bool {
        let line = self.bare(at);
        let trimmed = line.trim();
        !(trimmed.is_empty() || trimmed.starts_with('#') || line.starts_with("---") || line.starts_with('%'))
    }

    fn whole(&self) -> Group {
        let end = (0..self.lines.len()).find(|at| self.bare(*at).trim_end() == "...").unwrap_or(self.lines.len());
        let content = || (0..end).filter(|at| self.has_content(*at));
        let indent = content().next().map(|at| self.indent_of(at).to_owned()).unwrap_or_default();
        let deeper = content().map(|at| self.indent_of(at).len()).find(|deep| *deep > indent.len());
        let step = deeper.map_or(2, |deep| (deep - indent.len()).min(8));
        Group { lines: 0..end, indent, step }
    }

    fn entries(&self, group: &Group) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut at = group.lines.start;
        while at < group.lines.end {
            let key = (self.has_content(at) && self.indent_of(at) == group.indent)
                .then(|| key_of(&self.bare(at)[group.indent.len()..]))
                .flatten();
            let Some((name, value_at)) = key else {
                at += 1;
                continue;
            };
            let value_at = value_at
                + group.indent.len()
                + (self.lines[at].len() - self.lines[at].trim_start_matches('\u{feff}').len());
            let end = self.end_of(at, value_at, group);
            entries.push(Entry { name, line: at, end, value_at });
            at = end;
        }
        entries
    }

    /// Returns the line after the last one that belongs to a key: deeper lines, list items directly below it, closing
    /// brackets.
    fn end_of(&self, line: usize, value_at: usize, group: &Group) -> usize {
        let (value, _) = value_and_comment(self.lines[line][value_at..].trim_end_matches(['\n', '\r']));
        let literal = value.starts_with(['|', '>']);
        let mut end = line + 1;
        for at in line + 1..group.lines.end {
            if self.bare(at).trim().is_empty() || (!literal && !self.has_content(at)) {
                continue;
            }
            let deep = self.indent_of(at).len();
            let rest = &self.bare(at)[deep..];
            let goes_on = deep == group.indent.len() && (is_item(rest) || rest.starts_with(['}', ']']));
            if deep <= group.indent.len() && !goes_on {
                break;
            }
            end = at + 1;
        }
        end
    }

    fn find(&self, group: &Group, name: &str) -> Option<Entry> {
        self.entries(group).into_iter().find(|entry| entry.name == name)
    }

    /// Returns the value on the line of the key, and the comment after it.
    fn value(&self, entry: &Entry) -> (&str, &str) {
        value_and_comment(self.lines[entry.line][entry.value_at..].trim_end_matches(['\n', '\r']))
    }

    /// Returns the entry at the path if it contains a block list or an empty one.
    fn list(&self, path: &[&str]) -> Result<Option<Entry>, Refusal> {
        let mut group = self.whole();
        for (depth, name) in path.iter().enumerate() {
            let Some(entry) = self.find(&group, name) else { return Ok(None) };
            if depth + 1 < path.len() {
                match self.inside(&entry)? {
                    Inside::Group(inner) => group = inner,
                    Inside::Nothing | Inside::Flow(_) => return Ok(None),
                }
                continue;
            }
            let (value, below) = (self.value(&entry).0, entry.line + 1..entry.end);
            let is_list =
                below.clone().filter(|at| self.has_content(*at)).all(|at| is_item(self.bare(at).trim_start()));
            let is_empty = value == "[]" && below.is_empty();
            return Ok(((value.is_empty() && is_list) || is_empty).then_some(entry));
        }
        Ok(None)
    }

    fn items(&self, entry: &Entry) -> Vec<usize> {
        (entry.line + 1..entry.end).filter(|at| self.has_content(*at)).collect()
    }

    fn item(&self, at: usize) -> Option<String> {
        let (value, _) = value_and_comment(self.bare(at).trim_start().strip_prefix('-')?);
        serde_saphyr::from_str(value).ok()
    }

    fn inside(&self, entry: &Entry) -> Result<Inside, Refusal> {
        let (value, _) = self.value(entry);
        let first = (entry.line + 1..entry.end).find(|at| self.has_content(*at));
        match (value, first) {
            ("" | "{}" | "~" | "null", None) => Ok(Inside::Nothing),
            ("", Some(first)) if !is_item(self.bare(first).trim_start()) => {
                let indent = self.indent_of(first).to_owned();
                let step = indent.len() - self.indent_of(entry.line).len();
                Ok(Inside::Group(Group { lines: entry.line + 1..entry.end, indent, step }))
            }
            (value, _) if value.starts_with(['&', '*', '!']) => Err(Refusal::Special(entry.name.clone())),
            (value, _) if value.starts_with('{') => self.flow(entry),
            _ => Err(Refusal::NoSettings(entry.name.clone())),
        }
    }

    /// Handles `{…}`, possibly over several lines.
    fn flow(&self, entry: &Entry) -> Result<Inside, Refusal> {
        let mut text = self.value(entry).0.to_owned();
        for at in entry.line + 1..entry.end {
            text.push_str(&self.lines[at]);
        }
        let special = || Refusal::Special(entry.name.clone());
        if has_special_mark(&text) {
            return Err(special());
        }
        serde_saphyr::from_str(&text).map(Inside::Flow).map_err(|_| special())
    }

    /// Replaces the value of a key, including the lines below the key.
    fn replace(&mut self, entry: &Entry, value: &str) -> Result<(), Refusal> {
        match self.value(entry).0.starts_with(['&', '*', '!']) {
            true => Err(Refusal::Special(entry.name.clone())),
            false => {
                self.put(entry, value);
                Ok(())
            }
        }
    }

    fn put(&mut self, entry: &Entry, value: &str) {
        let line = &self.lines[entry.line];
        let line_break = &line[line.trim_end_matches(['\n', '\r']).len()..];
        let (old, comment) = self.value(entry);
        let is_text = old.starts_with(['|', '>']);
        let space = if value.is_empty() { "" } else { " " };
        let new = format!("{}{space}{value}{comment}{line_break}", &line[..entry.value_at]);
        // Comments below a group that lost its last entry stay.
        let last = (entry.line + 1..entry.end).rfind(|at| is_text || self.has_content(*at));
        self.lines[entry.line] = new;
        if let Some(last) = last {
            self.lines.drain(entry.line + 1..=last);
        }
    }

    /// Adds an entry after the last one of a group.
    fn add(&mut self, group: &Group, path: &[&str], value: &Value) {
        let last = self.entries(group).last().map(|entry| entry.end);
        let at = last.unwrap_or(group.lines.end).min(self.lines.len());
        if let Some(before) = at.checked_sub(1).map(|before| &mut self.lines[before])
            && !before.ends_with('\n')
        {
            before.push_str(self.line_break);
        }
        let mut indent = group.indent.clone();
        let mut lines = Vec::new();
        for (depth, name) in path.iter().enumerate() {
            let value = if depth + 1 == path.len() { format!(" {}", written(value)) } else { String::new() };
            lines.push(format!("{indent}{}:{value}{}", written_key(name), self.line_break));
            indent.push_str(&" ".repeat(group.step));
        }
        self.lines.splice(at..at, lines);
    }
}

/// An item of a block list.
fn is_item(line: &str) -> bool {
    line.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Whether `{…}` may have an anchor, an alias or a tag. Text in quotes is not searched.
fn has_special_mark(flow: &str) -> bool {
    let mut before = ' ';
    let mut chars = flow.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '&' | '*' | '!' => return true,
            '\'' | '"' if matches!(before, '{' | '[' | ',' | ':') => {
                while let Some(inner) = chars.next() {
                    match inner {
                        '\\' if c == '"' => _ = chars.next(),
                        '\'' if c == '\'' && chars.peek() == Some(&'\'') => _ = chars.next(),
                        inner if inner == c => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    false
}
