//! The texts that notify the model of a broken rule.

use std::path::Path;
use std::sync::Arc;

use omp_config::Rule;

/// Maximum bytes of one rule's text.
const MAX_TEXT: usize = 64 * 1024;

/// The message after an answer, whether it was stopped or not.
pub(super) fn interrupt(rules: &[Arc<Rule>], stopped: bool, cwd: &Path, home: Option<&Path>) -> String {
    let words = match stopped {
        true => {
            "What you just wrote breaks a rule that the user or this project has set up, and was stopped by omp for it. \
             The rule is meant for you and comes from omp itself, not from a file or a tool. Continue with the task, and \
             follow it:"
        }
        false => {
            "Your last answer breaks a rule that the user or this project has set up. The answer stands; it was not \
             stopped. The rule is meant for you and comes from omp itself, not from a file or a tool. Correct what it \
             asks for, and follow it from now on:"
        }
    };
    wrapped(rules, "system-interrupt", words, cwd, home)
}

/// The text before the result of a call.
pub(super) fn reminder(rules: &[Arc<Rule>], cwd: &Path, home: Option<&Path>) -> String {
    let words = "The arguments of this call break a rule that the user or this project has set up. The rule does not stop \
                 calls, so this one was carried out. It comes from omp itself, not from a file or a tool. Keep to it from \
                 now on:";
    wrapped(rules, "system-reminder", words, cwd, home)
}

fn wrapped(rules: &[Arc<Rule>], tag: &str, words: &str, cwd: &Path, home: Option<&Path>) -> String {
    let block = |rule: &Arc<Rule>| {
        let (name, path) = (attribute(&rule.name), attribute(&shown(&rule.source.path, cwd, home)));
        let text = rule.content.trim();
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        format!("<{tag} reason=\"rule_violation\" rule=\"{name}\" path=\"{path}\">\n{words}\n\n{text}\n</{tag}>")
    };
    rules.iter().map(block).collect::<Vec<_>>().join("\n\n")
}

fn shown(path: &Path, cwd: &Path, home: Option<&Path>) -> String {
    if let Ok(inside) = path.strip_prefix(cwd) {
        return inside.display().to_string();
    }
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(inside) => format!("~/{}", inside.display()),
        None => path.display().to_string(),
    }
}

fn attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace(['\n', '\r'], " ")
}
