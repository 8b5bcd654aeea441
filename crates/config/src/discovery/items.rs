//! Converts the text of a file to a rule, a skill, a command or an agent. Shared by all programs: they differ in the
//! locations of files, hardly in their content.

use std::path::Path;

use serde_json::Value;

use super::catalogue::{AgentFile, FileCommand, Rule, Skill, Source};
use super::front_matter::Document;

const MAX_NAME_CHARS: usize = 128;

/// Builds a rule named by its file.
pub(crate) fn rule(name: String, document: &Document, source: Source) -> Rule {
    let (condition, scope) = condition_and_scope(document);
    Rule {
        name,
        content: document.body.clone(),
        description: document.text("description").map(str::to_owned),
        globs: document.texts("globs").iter().flat_map(|globs| split_list(globs)).collect(),
        always_apply: document.is_true("alwaysApply"),
        condition,
        ast_condition: document.texts("astCondition"),
        scope,
        interrupt_mode: document.text("interruptMode").map(str::to_owned),
        source,
    }
}

/// Converts a Copilot instruction with its files (`applyTo`) to an equivalent rule.
pub(crate) fn instruction(name: String, document: &Document, source: Source) -> Rule {
    let mut rule = rule(name, document, source);
    let files: Vec<String> = document.texts("applyTo").iter().flat_map(|globs| split_list(globs)).collect();
    if files.iter().any(|glob| ["*", "**", "**/*"].contains(&glob.as_str())) {
        rule.always_apply = true;
    } else if !files.is_empty() {
        rule.globs = files;
    }
    rule
}

/// Returns `None` if the file disables itself.
pub(crate) fn skill(folder: &Path, document: &Document, source: Source) -> Option<Skill> {
    if document.fields.get("enabled") == Some(&Value::Bool(false)) {
        return None;
    }
    let folder_name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = document.text("name").filter(|name| is_name(name)).unwrap_or(folder_name);
    Some(Skill {
        name: name.to_owned(),
        description: document.text("description").unwrap_or_default().to_owned(),
        folder: folder.to_owned(),
        hidden: document.is_true("hide") || document.is_true("disableModelInvocation"),
        source,
    })
}

pub(crate) fn command(name: String, document: &Document, source: Source) -> FileCommand {
    FileCommand {
        name,
        description: document.text("description").map(str::to_owned),
        argument_hint: argument_hint(document),
        template: document.body.clone(),
        source,
    }
}

/// Returns `None` without a name and a description, which every program requires.
pub(crate) fn agent(document: &Document, source: Source) -> Option<AgentFile> {
    let name = document.text("name").filter(|name| is_name(name))?.to_owned();
    let description = document.text("description")?.to_owned();
    let mut options = document.fields.clone();
    options.shift_remove("name");
    options.shift_remove("description");
    Some(AgentFile { name, description, prompt: document.body.clone(), options: Value::Object(options), source })
}

/// Whether a name can be shown, typed and used in a URL.
pub(crate) fn is_name(name: &str) -> bool {
    !name.trim().is_empty()
        && name.chars().count() <= MAX_NAME_CHARS
        && !name.chars().any(|c| c.is_control() || c == '/' || c == '\\')
}

/// YAML reads `[pr-number]` as a list, but it is meant as a hint.
fn argument_hint(document: &Document) -> Option<String> {
    match document.fields.get("argumentHint")? {
        Value::Array(values) => {
            let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            (!words.is_empty()).then(|| format!("[{}]", words.join(", ")))
        }
        _ => document.text("argumentHint").map(str::to_owned),
    }
}

/// A condition that is clearly a file glob (`*.rs`) means "anything written to such files".
fn condition_and_scope(document: &Document) -> (Vec<String>, Vec<String>) {
    let written = ["condition", "ttsr_trigger", "ttsrTrigger"].map(|key| document.texts(key));
    let written = written.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
    let (files, mut condition): (Vec<_>, Vec<_>) = written.into_iter().partition(|token| is_file_glob(token));
    let mut scope: Vec<String> =
        document.texts("scope").iter().flat_map(|tokens| split_list(tokens)).map(|token| unquoted(&token)).collect();
    for glob in &files {
        scope.extend(["edit", "write"].map(|tool| format!("tool:{tool}({glob})")));
    }
    if condition.is_empty() && !files.is_empty() {
        condition.push(".*".to_owned());
    }
    let mut unique = Vec::new();
    for token in scope.into_iter().filter(|token| !token.is_empty()) {
        if !unique.contains(&token) {
            unique.push(token);
        }
    }
    (condition, unique)
}

fn is_file_glob(token: &str) -> bool {
    let regex_only = token.contains(['\\', '^', '$', '+', '|', '(', ')']);
    let wild = token.contains(['?', '*', '[', ']', '{', '}']);
    let extension =
        token.strip_prefix("*.").is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace));
    !regex_only && wild && (token.contains('/') || extension)
}

/// Splits at commas outside brackets and quotes.
pub(crate) fn split_list(text: &str) -> Vec<String> {
    if !text.contains(',') {
        return [text.trim()].into_iter().filter(|text| !text.is_empty()).map(str::to_owned).collect();
    }
    let mut parts = vec![String::new()];
    let mut depth = 0usize;
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn unquoted(token: &str) -> String {
    let inner = ['"', '\''].iter().find_map(|quote| token.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.unwrap_or(token).trim().to_owned()
}
