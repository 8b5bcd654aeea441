//! The pages, and the code in them.

use std::path::{Path, PathBuf};

/// Something in backticks, or a line of a fenced block.
pub struct Mention {
    pub line: usize,
    pub text: String,
    /// A dotted key of a YAML block with settings.
    pub is_yaml_key: bool,
    /// The first cell of a row in a table of parameters.
    pub is_parameter: bool,
}

pub struct Page {
    pub name: String,
    pub text: String,
    pub mentions: Vec<Mention>,
}

pub fn pages() -> Vec<Page> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    files.push(root.join("README.md"));
    files.sort();
    let page = |path: PathBuf| {
        // The index of the pages and the first page share a name.
        let is_first = path.parent().is_some_and(|folder| !folder.ends_with("docs"));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let name = if is_first { format!("../{name}") } else { name };
        let text = std::fs::read_to_string(&path).unwrap();
        let mentions = mentions(&text);
        Page { name, text, mentions }
    };
    files.into_iter().map(page).collect()
}

fn mentions(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut fence: Option<(String, usize, String)> = None;
    let mut skipped = false;
    let mut parameters = false;
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let trimmed = line.trim_start();
        if let Some(info) = trimmed.strip_prefix("```") {
            fence = match fence.take() {
                None => Some((info.trim().to_owned(), number, String::new())),
                Some((kind, start, block)) => {
                    if !skipped {
                        found.extend(of_block(&kind, start, &block));
                    }
                    None
                }
            };
            continue;
        }
        if let Some((_, _, block)) = &mut fence {
            block.push_str(line);
            block.push('\n');
            continue;
        }
        if let Some(heading) = line.strip_prefix("## ") {
            skipped = matches!(heading, "Not there" | "Not read");
        }
        if skipped {
            continue;
        }
        if !trimmed.starts_with('|') {
            parameters = false;
        } else if trimmed.starts_with("| parameter") {
            parameters = true;
        }
        for (index, span) in spans(line).into_iter().enumerate() {
            let is_parameter = parameters && index == 0 && trimmed.starts_with("| `");
            found.push(Mention { line: number, text: span, is_yaml_key: false, is_parameter });
        }
    }
    found
}

/// Returns the texts between backticks; double backticks may contain single ones.
fn spans(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let ticks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let fence = &rest[start..start + ticks];
        let inside = &rest[start + ticks..];
        let Some(end) = inside.find(fence) else { break };
        found.push(inside[..end].trim().replace("\\|", "|"));
        rest = &inside[end + ticks..];
    }
    found
}

fn of_block(kind: &str, start: usize, block: &str) -> Vec<Mention> {
    let mention =
        |line: usize, text: String, is_yaml_key: bool| Mention { line, text, is_yaml_key, is_parameter: false };
    if matches!(kind, "yaml" | "yml") {
        let value: Option<serde_json::Value> = serde_saphyr::from_str(block).ok();
        let keys = value.as_ref().and_then(serde_json::Value::as_object);
        let is_settings = keys.is_some_and(|keys| {
            let of_keys = keys.keys().any(|key| key.starts_with("app."));
            !of_keys && keys.keys().any(|key| super::binary::is_group_of_settings(key))
        });
        let mut found = Vec::new();
        if let Some(value) = value.filter(|_| is_settings) {
            flatten("", &value, &mut found);
        }
        return found.into_iter().map(|key| mention(start, key, true)).collect();
    }
    let lines = block.lines().enumerate().filter_map(|(at, line)| {
        let line = line.trim_start().trim_start_matches("$ ");
        line.starts_with("omp ").then(|| mention(start + at + 1, line.to_owned(), false))
    });
    lines.collect()
}

fn flatten(above: &str, value: &serde_json::Value, found: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let key = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value.is_object() {
            true => flatten(&key, value, found),
            false => found.push(key),
        }
    }
}
