//! The user's key bindings: `keybindings.yml`, `.yaml` or `.json` in the agent folder.
//!
//! Each entry is the name of an action with a key, a list of keys, or nothing, which unbinds it. Invalid entries are
//! reported and the others apply; if the file cannot be read at all, the defaults apply.

use std::io::{self, Read as _};
use std::path::Path;

use omp_stdx::nearest::nearest;
use omp_stdx::plain_file;
use omp_tui::Key;
use serde_json::Value;

use super::table::{self, RESERVED, ROWS};
use super::{Keymap, row_named};

/// The first existing file is used.
const FILES: [&str; 3] = ["keybindings.yml", "keybindings.yaml", "keybindings.json"];
const LARGEST_FILE: u64 = 64 * 1024;
const MOST_KEYS: usize = 16;
const MOST_PROBLEMS: usize = 20;

/// The bindings of a file: a row of the table and its keys.
type Bindings = Vec<(usize, Vec<Key>)>;

impl Keymap {
    /// Loads the files of the folders, with warnings. Later folders override earlier ones: that of a profile comes after its
    /// base.
    pub fn load(folders: &[&Path]) -> (Self, Vec<String>) {
        let mut bindings = Bindings::new();
        let mut problems = Vec::new();
        for folder in folders {
            let Some((file, text)) = FILES.iter().find_map(|name| Some((name, read(&folder.join(name))?))) else {
                continue;
            };
            let mut told = Vec::new();
            let read = text.and_then(|text| read_bindings(&text, &mut told));
            read.map_or_else(|why| told.push(why), |more| merge(&mut bindings, more));
            problems.extend(told.into_iter().map(|problem| format!("{file}: {problem}")));
        }
        let keymap = Keymap::with(&bindings, &mut problems);
        (keymap, capped(problems))
    }

    /// Parses the text of one file, YAML or JSON with comments.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let bindings = read_bindings(text, &mut problems).unwrap_or_else(|why| {
            problems.push(why);
            Bindings::new()
        });
        let keymap = Keymap::with(&bindings, &mut problems);
        (keymap, capped(problems))
    }

    fn with(bindings: &Bindings, problems: &mut Vec<String>) -> Self {
        let mut keymap = Keymap::defaults();
        for (row, keys) in bindings {
            keymap.keys[*row].clone_from(keys);
        }
        for (row, keys) in bindings {
            keys.iter().for_each(|key| keymap.make_room(*row, *key, bindings, problems));
        }
        keymap
    }

    /// The user's bindings override the defaults; two bindings of one key are reported.
    fn make_room(&mut self, row: usize, key: Key, bindings: &Bindings, problems: &mut Vec<String>) {
        for other in (0..ROWS.len()).filter(|other| *other != row && ROWS[row].area.meets(ROWS[*other].area)) {
            let share_by_default = [row, other].iter().all(|row| self.defaults[*row].contains(&key));
            if !self.keys[other].contains(&key) || share_by_default {
                continue;
            }
            let (mine, theirs) = (ROWS[row].name, ROWS[other].name);
            if bindings.iter().any(|(bound, _)| *bound == other) {
                if row < other {
                    problems.push(format!("{key} is bound to both {mine} and {theirs}; {mine} wins"));
                }
                continue;
            }
            self.keys[other].retain(|one| *one != key);
            if self.keys[other].is_empty() {
                problems.push(format!("{theirs} has no key left, because {key} is bound to {mine}"));
            }
        }
    }
}

fn capped(mut problems: Vec<String>) -> Vec<String> {
    let more = problems.len().saturating_sub(MOST_PROBLEMS);
    problems.truncate(MOST_PROBLEMS);
    if more > 0 {
        problems.push(format!("and {more} more"));
    }
    problems
}

fn merge(bindings: &mut Bindings, more: Bindings) {
    for (row, keys) in more {
        bindings.retain(|(bound, _)| *bound != row);
        bindings.push((row, keys));
    }
}

/// Returns `None` if the file does not exist.
fn read(path: &Path) -> Option<Result<String, String>> {
    let mut text = String::new();
    let file = match plain_file::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        opened => opened,
    };
    Some(match file.and_then(|(file, _)| file.take(LARGEST_FILE + 1).read_to_string(&mut text)) {
        Err(error) => Err(format!("cannot be read: {error}")),
        Ok(size) if size as u64 > LARGEST_FILE => Err(format!("is larger than {} KiB", LARGEST_FILE / 1024)),
        Ok(_) => Ok(text),
    })
}

fn read_bindings(text: &str, problems: &mut Vec<String>) -> Result<Bindings, String> {
    let mut bindings = Bindings::new();
    let entries = match value_of(text)? {
        Value::Null => return Ok(bindings),
        Value::Object(entries) => entries,
        _ => {
            return Err(
                "is not a map of actions to keys\nhint: write lines like \"app.tools.expand: ctrl+o\"".to_owned()
            );
        }
    };
    for (name, value) in &entries {
        match table::current_name(name).and_then(row_named) {
            Some(row) => merge(&mut bindings, vec![(row, keys_of(name, value, problems))]),
            None if RESERVED.contains(&name.as_str()) => {}
            None => problems.push(unknown_action(name)),
        }
    }
    Ok(bindings)
}

fn unknown_action(name: &str) -> String {
    match nearest(name, ROWS.iter().map(|row| row.name)) {
        Some(meant) => format!("unknown action {name}\nhint: did you mean {meant}?"),
        None => format!("unknown action {name}\nhint: /hotkeys lists the actions"),
    }
}

fn keys_of(name: &str, value: &Value, problems: &mut Vec<String>) -> Vec<Key> {
    let names: Vec<&Value> = match value {
        Value::Null => vec![],
        Value::String(key) if key.trim().is_empty() => vec![],
        Value::Array(keys) => keys.iter().collect(),
        one => vec![one],
    };
    if names.len() > MOST_KEYS {
        problems.push(format!("{name} has more than {MOST_KEYS} keys; only the first {MOST_KEYS} are used"));
    }
    let mut keys: Vec<Key> = Vec::new();
    for value in names.into_iter().take(MOST_KEYS) {
        // YAML parses a single digit as a number.
        let key = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match Key::parse(&key) {
            Ok(key) if keys.contains(&key) => {}
            Ok(key) => keys.push(key),
            Err(error) => problems.push(format!("{name}: {error}")),
        }
    }
    if let Some(key) = keys.iter().find(|key| key.typed().is_some()) {
        problems.push(format!(
            "{name}: binding {key} would make it impossible to type\nhint: add ctrl or alt, as in alt+{key}"
        ));
    }
    keys
}

fn value_of(text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}');
    let plain = without_comments(text);
    if plain.trim_start().starts_with('{')
        && let Ok(value) = serde_json::from_str(&plain)
    {
        return Ok(value);
    }
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_saphyr::from_str(text).map_err(|error| {
        let first = error.to_string().lines().next().unwrap_or_default().to_owned();
        format!("is neither YAML nor JSON: {first}\nhint: write lines like \"app.tools.expand: ctrl+o\"")
    })
}

/// Removes `//` and `/* */` comments and trailing commas from JSON.
fn without_comments(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(char) = rest.chars().next() {
        let skipped = match char {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            ',' if rest[1..].trim_start().starts_with(['}', ']']) => 1,
            _ => 0,
        };
        let kept = match char {
            _ if skipped > 0 => 0,
            '"' => string_length(rest),
            other => other.len_utf8(),
        };
        plain.push_str(&rest[..kept]);
        rest = &rest[kept + skipped..];
    }
    plain
}

/// Returns the length in bytes of the string literal at the start, including quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
