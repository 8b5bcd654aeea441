//! Converts calls to the format of Claude Code's hooks, with its names for tools and arguments, and back.
//!
//! A hook that guards files checks `file_path`. For an edit of several files hooks get one input per file, so that none is
//! missed.

use std::path::Path;

use omp_policy::claude_names;
use serde_json::{Map, Value, json};

/// Maximum files of one call for which hooks get separate inputs.
pub(crate) const MOST_FILES: usize = 32;

/// Every name by which a matcher may refer to a tool; the first is the one that hooks get.
pub(crate) fn names(tool: &str) -> Vec<&str> {
    claude_names(tool).iter().copied().chain([tool]).collect()
}

/// The arguments in Claude's format: one, or one per file.
pub(crate) fn told(tool: &str, arguments: &Value, cwd: &Path) -> Vec<Value> {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    match tool {
        "bash" => {
            let mut told = arguments.clone();
            if let Some(seconds) = arguments.get("timeout").and_then(Value::as_f64) {
                told["timeout"] = json!(seconds * 1000.0);
            }
            vec![told]
        }
        "write" => vec![json!({"file_path": full(text("path"), cwd), "content": arguments.get("content")})],
        "read" => vec![json!({"file_path": full(text("path").map(without_selector), cwd)})],
        "edit" => edits(arguments, cwd),
        "ast_edit" => each(list(arguments, "paths"), cwd, &json!({})),
        "search" => vec![with_paths(
            json!({"pattern": arguments.get("pattern"), "-i": arguments.get("i").unwrap_or(&json!(false))}),
            "path",
            arguments,
        )],
        "find" => vec![with_paths(json!({}), "pattern", arguments)],
        "notebook" => vec![json!({
            "notebook_path": full(text("notebook_path"), cwd),
            "cell_number": arguments.get("cell_index"),
            "new_source": arguments.get("content"),
            "cell_type": arguments.get("cell_type"),
            "edit_mode": match text("action") { Some("edit") => Some("replace"), other => other },
        })],
        _ => vec![arguments.clone()],
    }
}

fn with_paths(mut told: Value, first: &str, arguments: &Value) -> Value {
    let paths = list(arguments, "paths");
    told[first] = json!(paths.first());
    told["paths"] = json!(paths);
    told
}

fn list<'a>(arguments: &'a Value, key: &str) -> Vec<&'a str> {
    arguments.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The files of an edit in any edit mode, and the texts if the arguments contain them.
fn edits(arguments: &Value, cwd: &Path) -> Vec<Value> {
    if let Some(input) = arguments.get("input").and_then(Value::as_str) {
        return each(files_in(input), cwd, &json!({}));
    }
    let entries = arguments.get("edits").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let changes: Vec<Value> = entries
        .iter()
        .filter(|entry| entry.get("old_text").is_some())
        .map(|entry| {
            json!({"old_string": entry["old_text"], "new_string": entry.get("new_text"),
                "replace_all": entry.get("all").unwrap_or(&json!(false))})
        })
        .collect();
    let mut besides = json!({});
    if let [only] = &changes[..] {
        besides = only.clone();
    } else if !changes.is_empty() {
        besides["edits"] = json!(changes);
    }
    let path = arguments.get("path").and_then(Value::as_str);
    let renamed = entries.iter().filter_map(|entry| entry.get("rename").and_then(Value::as_str));
    each(path.into_iter().chain(renamed).collect(), cwd, &besides)
}

/// Finds `[path#TAG]` and `¶path#TAG` of one edit mode, `*** Update File: path` and `*** Move to: path` of another.
fn files_in(input: &str) -> Vec<&str> {
    let named = input.lines().filter_map(|line| {
        let line = line.trim_start_matches('\u{feff}').trim_end();
        if let Some(rest) = line.strip_prefix("*** ") {
            let (kind, path) = rest.split_once(": ")?;
            return matches!(kind, "Add File" | "Update File" | "Delete File" | "Move to").then_some(path.trim());
        }
        let bracketed = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let inner = bracketed.or_else(|| line.strip_prefix('¶').map(|rest| rest.trim_start_matches('¶')))?.trim();
        let path = inner.rsplit_once('#').filter(|(_, tag)| tag.trim().len() == 4).map_or(inner, |(path, _)| path);
        Some(path.trim().trim_matches(['"', '\'', '`']))
    });
    let mut files: Vec<&str> = Vec::new();
    for path in named.filter(|path| !path.is_empty()) {
        if !files.contains(&path) {
            files.push(path);
        }
    }
    files
}

fn each(paths: Vec<&str>, cwd: &Path, besides: &Value) -> Vec<Value> {
    if paths.is_empty() {
        return vec![besides.clone()];
    }
    let all: Vec<String> = paths.iter().map(|path| full(Some(path), cwd).unwrap_or_default()).collect();
    let one = |path: &String| {
        let mut told = besides.clone();
        told["file_path"] = json!(path);
        if all.len() > 1 {
            told["file_paths"] = json!(all);
        }
        told
    };
    all.iter().map(one).collect()
}

/// The absolute path, as in Claude Code; addresses are not changed.
fn full(path: Option<&str>, cwd: &Path) -> Option<String> {
    let path = path?;
    if path.contains("://") {
        return Some(path.to_owned());
    }
    let joined = cwd.join(path);
    // Removes `./` and resolves `..`.
    let mut plain = std::path::PathBuf::new();
    for part in joined.components() {
        match part {
            std::path::Component::ParentDir => drop(plain.pop()),
            std::path::Component::CurDir => {}
            part => plain.push(part),
        }
    }
    Some(plain.display().to_string())
}

/// Removes a selector: `a.txt:10-20` is a part of `a.txt`.
fn without_selector(path: &str) -> &str {
    let is_selector = |text: &str| {
        text == "raw"
            || (!text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || matches!(c, 'L' | '-' | '+' | ',')))
    };
    let mut path = path;
    while let Some((before, selector)) = path.rsplit_once(':')
        && is_selector(selector)
        && !before.is_empty()
    {
        path = before;
    }
    path
}

/// Applies a hook's changes in Claude's format to our arguments.
pub(crate) fn amended(tool: &str, arguments: &Value, told: &Value, updated: &Value) -> Result<Value, String> {
    let Value::Object(updated) = updated else { return Err("`updatedInput` must be an object".to_owned()) };
    if let Some(own) = updated.get("omp_input") {
        return Ok(own.clone());
    }
    let mut changed = arguments.as_object().cloned().unwrap_or_default();
    for (key, value) in updated.iter().filter(|(key, value)| told.get(key.as_str()) != Some(value)) {
        put(tool, &mut changed, key, value)?;
    }
    Ok(Value::Object(changed))
}

fn put(tool: &str, arguments: &mut Map<String, Value>, key: &str, value: &Value) -> Result<(), String> {
    let (key, value) = match (tool, key) {
        ("bash", "timeout") => ("timeout", json!(value.as_f64().map(|ms| ms / 1000.0))),
        // Describes the purpose of a call; our tools have no such argument.
        ("bash", "description") => return Ok(()),
        ("bash", "run_in_background") => ("async", value.clone()),
        ("write" | "read", "file_path") => ("path", value.clone()),
        ("search", "path") | ("find", "pattern") => ("paths", json!([value])),
        ("search", "-i") => ("i", value.clone()),
        ("notebook", "new_source") => ("content", value.clone()),
        ("notebook", "cell_number") => ("cell_index", value.clone()),
        ("edit", "file_path") if arguments.contains_key("path") => ("path", value.clone()),
        ("edit", "old_string" | "new_string" | "replace_all") => return put_in_edit(arguments, key, value),
        ("edit" | "ast_edit" | "write" | "read" | "search" | "find" | "notebook", key)
            if !arguments.contains_key(key) =>
        {
            return Err(format!(
                "`{key}` of `{tool}` cannot be changed by a hook; `omp_input` contains omp's own arguments"
            ));
        }
        (_, key) => (key, value.clone()),
    };
    arguments.insert(key.to_owned(), value);
    Ok(())
}

fn put_in_edit(arguments: &mut Map<String, Value>, key: &str, value: &Value) -> Result<(), String> {
    let own = match key {
        "old_string" => "old_text",
        "new_string" => "new_text",
        _ => "all",
    };
    match arguments.get_mut("edits").and_then(Value::as_array_mut).map(Vec::as_mut_slice) {
        Some([Value::Object(only)]) if only.contains_key("old_text") => {
            only.insert(own.to_owned(), value.clone());
            Ok(())
        }
        _ => Err(format!("`{key}` of `edit` cannot be changed by a hook: this edit contains no such text")),
    }
}

#[cfg(test)]
mod tests;
