//! Saves one setting in the user's file and keeps everything else byte for byte.
//!
//! The file is edited by lines, not rewritten: comments, order, quoting and unknown keys belong to the user. The result is
//! parsed and compared with the expected settings before it is written, so a file in an unsupported style is refused rather
//! than damaged.

mod background;
mod block;
mod list;
pub(crate) mod lock;
mod scalar;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

pub use background::Saver;
use block::Refusal;
pub use list::ListChange;

/// Number of attempts, because another process may write the file at the same time.
const ATTEMPTS: usize = 3;

#[derive(Debug, thiserror::Error)]
#[error("cannot save `{key}` in {}: {problem}\nhint: {hint}; the file was not changed", path.display())]
pub struct SaveError {
    pub path: PathBuf,
    pub key: String,
    pub problem: String,
    pub hint: &'static str,
}

/// Sets a dotted key in a settings file, or removes it if the value is null. Creates the file if needed.
pub fn save_setting(path: &Path, key: &str, value: &Value) -> Result<(), SaveError> {
    save_watched(path, key, value, &mut || {})
}

/// Adds one item to a list in a settings file, or removes it; the lines of the others stay. Returns `false` if nothing
/// changed.
pub fn change_list(path: &Path, key: &str, change: ListChange<'_>) -> Result<bool, SaveError> {
    let mut differs = false;
    save_text(path, key, &mut || {}, &mut |old| {
        let new = list::changed(old, key, change)?;
        differs = new != old;
        Ok(new)
    })?;
    Ok(differs)
}

/// Calls `before_write` when the new text is ready.
fn save_watched(path: &Path, key: &str, value: &Value, before_write: &mut dyn FnMut()) -> Result<(), SaveError> {
    save_text(path, key, before_write, &mut |old| changed(old, key, value))
}

fn save_text(
    path: &Path,
    key: &str,
    before_write: &mut dyn FnMut(),
    change: &mut dyn FnMut(&str) -> Result<String, Problem>,
) -> Result<(), SaveError> {
    let failed = |(problem, hint): (String, &'static str)| SaveError {
        path: path.to_owned(),
        key: key.to_owned(),
        problem,
        hint,
    };
    // A link stays a link: its target is written.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let _alone = lock::take(&target);
    for _ in 0..ATTEMPTS {
        let old = read(&target).map_err(failed)?;
        let new = change(old.as_deref().unwrap_or_default()).map_err(failed)?;
        if old.as_deref().unwrap_or_default() == new {
            return Ok(());
        }
        before_write();
        if read(&target).map_err(failed)? == old {
            let hint = "check that the folder exists and is writable";
            return write(&target, &new).map_err(|error| failed((error.to_string(), hint)));
        }
    }
    Err(failed(("another program keeps changing it".to_owned(), "try again")))
}

/// Checks a change without making it.
fn can_save(path: &Path, key: &str, value: &Value) -> Result<(), SaveError> {
    let old = read(path).and_then(|old| changed(old.as_deref().unwrap_or_default(), key, value));
    old.map(drop).map_err(|(problem, hint)| SaveError { path: path.to_owned(), key: key.to_owned(), problem, hint })
}

/// Parses a value from a command line: YAML, as in the file.
pub fn parse_value(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::String(text.to_owned()));
    }
    serde_saphyr::from_str(text).map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
}

/// Formats a whole file of these settings.
pub(crate) fn page(settings: &Value) -> Result<String, String> {
    let mut text = String::new();
    write_group(settings, 0, &mut text);
    match parse(&text) {
        Ok(read) if read == *settings || settings.is_null() => Ok(text),
        _ => Err("it contains something that is not a setting".to_owned()),
    }
}

fn write_group(settings: &Value, indent: usize, text: &mut String) {
    for (name, value) in settings.as_object().into_iter().flatten() {
        let name = scalar::written_key(name);
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                text.push_str(&format!("{:indent$}{name}:\n", ""));
                write_group(value, indent + 2, text);
            }
            value => text.push_str(&format!("{:indent$}{name}: {}\n", "", scalar::written(value))),
        }
    }
}

/// A problem and its solution.
type Problem = (String, &'static str);

const FIX_THE_FILE: &str = "fix the file or move it away";

fn read(path: &Path) -> Result<Option<String>, Problem> {
    crate::settings::read_plain_file(path).map_err(|problem| (problem, FIX_THE_FILE))
}

/// Writes a temporary file and renames it, so that no reader sees a partial file. A new file is readable only by the user.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(metadata) = std::fs::metadata(path) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Returns the text with the changed setting, verified by parsing it.
fn changed(text: &str, key: &str, value: &Value) -> Result<String, Problem> {
    let old = parse(text).map_err(|problem| (problem, FIX_THE_FILE))?;
    let flat = old.get(key).is_some();
    let path: Vec<&str> = if flat { vec![key] } else { key.split('.').collect() };
    if path.iter().any(|part| part.is_empty()) {
        return Err((format!("`{key}` is not a valid setting name"), "use a name such as `retry.maxRetries`"));
    }
    let new = match value {
        Value::Null => block::remove(text, &path),
        value => block::set(text, &path, value),
    };
    let new = new.map_err(explain)?;
    let by_hand = "change it in an editor";
    let wanted = expected(old, &path, value);
    match parse(&new) {
        Ok(read) if read == wanted => Ok(new),
        _ => Err(("omp cannot change a file of this format safely".to_owned(), by_hand)),
    }
}

fn explain(refusal: Refusal) -> Problem {
    match refusal {
        Refusal::Flow => (
            "its settings are written in braces".to_owned(),
            "write them as `name: value` lines, or change it in an editor",
        ),
        Refusal::Special(name) => {
            (format!("`{name}` has an anchor, an alias or a tag, which a change could break"), "change it in an editor")
        }
        Refusal::NoSettings(name) => {
            (format!("`{name}` has a value, so it cannot contain settings"), "remove that value from the file first")
        }
    }
}

fn parse(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_saphyr::from_str(text).map_err(|error| error.to_string())? {
        Value::Null => Ok(Value::Object(Map::new())),
        value @ Value::Object(_) => Ok(value),
        _ => Err("the file must contain `name: value` lines".to_owned()),
    }
}

/// Returns the expected settings. A group that loses its last setting stays, empty.
fn expected(mut settings: Value, path: &[&str], value: &Value) -> Value {
    let Some((last, groups)) = path.split_last() else { return settings };
    let mut group = &mut settings;
    for name in groups {
        if value.is_null() && group.get(name).is_none_or(|inner| !inner.is_object()) {
            return settings;
        }
        if !group[*name].is_object() {
            group[*name] = Value::Object(Map::new());
        }
        group = &mut group[*name];
    }
    if let Value::Object(fields) = group {
        match value {
            Value::Null => drop(fields.shift_remove(*last)),
            value => drop(fields.insert((*last).to_owned(), value.clone())),
        }
    }
    settings
}

#[cfg(test)]
mod tests;
