//! The shell command line of a hook: its command, with its arguments if they are separate.
//!
//! The trust prompt and the hook runner use the same line, so that nothing runs that was not shown.

use serde_json::Value;

/// Folder placeholders in words that no shell expands.
const FOLDERS: &[&str] =
    &["${CLAUDE_PROJECT_DIR}", "${CLAUDE_PLUGIN_ROOT}", "${OMP_PROJECT_DIR}", "${OMP_PLUGIN_ROOT}"];

/// Returns `None` without a command, or if an argument is not a text.
pub fn hook_line(hook: &Value) -> Option<String> {
    let command = hook.get("command")?.as_str()?;
    let args = match hook.get("args") {
        None | Some(Value::Null) => return Some(command.to_owned()),
        Some(args) => args.as_array()?,
    };
    let mut words = vec![literal(command)];
    for arg in args {
        words.push(literal(arg.as_str()?));
    }
    Some(words.join(" "))
}

/// Quotes the word, except for folder placeholders, which the shell expands.
fn literal(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut line = String::new();
    let mut rest = word;
    while let Some((at, folder)) = first_folder(rest) {
        line.push_str(&quoted(&rest[..at]));
        line.push_str(&format!("\"{folder}\""));
        rest = &rest[at + folder.len()..];
    }
    line.push_str(&quoted(rest));
    if line.is_empty() { "''".to_owned() } else { line }
}

fn first_folder(text: &str) -> Option<(usize, &'static str)> {
    FOLDERS.iter().filter_map(|folder| Some((text.find(folder)?, *folder))).min()
}

fn quoted(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_kept_and_arguments_are_words() {
        for (hook, line) in [
            (json!({"command": "jq . | tee x"}), Some("jq . | tee x")),
            (json!({"command": "node", "args": ["a.js", "--fix"]}), Some("node a.js --fix")),
            (json!({"command": "node", "args": []}), Some("node")),
            (
                json!({"command": "my tool", "args": ["a b", "it's", "", "$HOME", "~"]}),
                Some(r"'my tool' 'a b' 'it'\''s' '' '$HOME' '~'"),
            ),
            (
                json!({"command": "python3", "args": ["${CLAUDE_PROJECT_DIR}/x y.py", "a=${CLAUDE_PLUGIN_ROOT}"]}),
                Some(r#"python3 "${CLAUDE_PROJECT_DIR}"'/x y.py' 'a='"${CLAUDE_PLUGIN_ROOT}""#),
            ),
            (json!({"command": "node", "args": "a.js"}), None),
            (json!({"command": "node", "args": [1]}), None),
            (json!({"args": ["x"]}), None),
            (json!({"command": 7}), None),
        ] {
            assert_eq!(hook_line(&hook).as_deref(), line, "{hook}");
        }
    }
}
