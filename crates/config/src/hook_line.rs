//! The line that a shell runs for a hook: its command, with its arguments where it names them apart.
//!
//! Whoever asks for trust and whoever runs the hook read the same line, so that nothing runs that was not shown.

use serde_json::Value;

/// What stands for a folder in a word that no shell reads.
const FOLDERS: &[&str] =
    &["${CLAUDE_PROJECT_DIR}", "${CLAUDE_PLUGIN_ROOT}", "${OMP_PROJECT_DIR}", "${OMP_PLUGIN_ROOT}"];

/// `None` for what names no command, or arguments that are no texts.
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

/// The word as it stands, but for the folders, which the shell fills in.
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
