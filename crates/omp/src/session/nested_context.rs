//! Sends the model a folder's own `AGENTS.md` (`CLAUDE.md`, …) when a tool first accesses that folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use omp_agent::ToolOutcome;
use omp_config::nested_context_files;
use omp_session::{FeatureMessage, SessionCx, SessionFeature};
use omp_types::{Content, Message};
use serde_json::Value;

const MESSAGE_TYPE: &str = "nested-context";
/// Marks every path that was sent, so that a resumed session can find them.
const MARK: &str = "has instructions of its own, from ";
/// Caps the number of such files that a session sends.
const MAX_FILES: usize = 24;
/// Caps the number of paths taken from one call.
const MAX_PATHS: usize = 16;
/// Fields of arguments and details that hold paths.
const PATH_FIELDS: &[&str] = &["path", "paths", "file", "files", "file_path", "filePath"];

pub struct NestedContext {
    cwd: PathBuf,
    told: Mutex<HashSet<PathBuf>>,
}

impl NestedContext {
    /// Files that are already in the history are not sent again.
    pub fn new(cwd: PathBuf, history: &[Message]) -> Self {
        let mut told = HashSet::new();
        for message in history {
            if let Message::Custom(custom) = message
                && custom.custom_type == MESSAGE_TYPE
            {
                let texts = custom.content.iter().filter_map(Content::as_text);
                told.extend(texts.flat_map(marked).map(|path| cwd.join(path)));
            }
        }
        Self { cwd, told: Mutex::new(told) }
    }
}

impl SessionFeature for NestedContext {
    fn after_call<'a>(
        &'a self,
        _cx: &'a SessionCx,
        outcome: &'a mut ToolOutcome,
    ) -> BoxFuture<'a, Option<FeatureMessage>> {
        ready(self.touched_by(outcome)).boxed()
    }
}

impl NestedContext {
    fn touched_by(&self, outcome: &ToolOutcome) -> Option<FeatureMessage> {
        if outcome.output.is_error {
            return None;
        }
        let mut paths = Vec::new();
        gather(&outcome.arguments, &mut paths);
        if let Some(details) = &outcome.output.details {
            gather(details, &mut paths);
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut said = Vec::new();
        for path in paths.iter().take(MAX_PATHS) {
            for file in nested_context_files(&self.cwd, &self.cwd.join(path)) {
                if told.len() < MAX_FILES && told.insert(file.path.clone()) {
                    said.push(instructions(&self.cwd, &file.path, &file.text));
                }
            }
        }
        let text = said.join("\n\n");
        (!said.is_empty()).then(|| FeatureMessage::new(MESSAGE_TYPE, text))
    }
}

fn instructions(cwd: &Path, path: &Path, text: &str) -> String {
    let path = path.strip_prefix(cwd).unwrap_or(path);
    let folder = path.components().next_back().map_or(path, |_| path.parent().unwrap_or(path));
    let folder = match folder.file_name().and_then(|name| name.to_str()) {
        Some(".omp" | ".claude") => folder.parent().unwrap_or(folder),
        _ => folder,
    };
    format!("The folder {} {MARK}{}:\n\n{}", folder.display(), path.display(), text.trim())
}

fn marked(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| line.starts_with("The folder "));
    lines.filter_map(|line| line.split_once(MARK)?.1.strip_suffix(':'))
}

/// Collects the paths that a call names, one level deep.
fn gather(value: &Value, paths: &mut Vec<String>) {
    for (_, value) in value.as_object().into_iter().flatten().filter(|(key, _)| PATH_FIELDS.contains(&key.as_str())) {
        match value {
            Value::String(path) => paths.push(path.clone()),
            Value::Array(values) => paths.extend(
                values
                    .iter()
                    .filter_map(|value| value.as_str().or_else(|| value.get("path")?.as_str()).map(str::to_owned)),
            ),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use omp_agent::ToolOutput;
    use omp_types::{CustomMessage, now_ms};
    use serde_json::json;

    use super::*;

    fn called(arguments: Value, details: Option<Value>) -> ToolOutcome {
        let output = ToolOutput { details, ..ToolOutput::default() };
        ToolOutcome { call_id: "1".to_owned(), name: "read".to_owned(), arguments: Arc::new(arguments), output }
    }

    fn scene() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().canonicalize().unwrap();
        for name in ["api/AGENTS.md", "web/.claude/CLAUDE.md", "api/x.rs"] {
            fs::create_dir_all(cwd.join(name).parent().unwrap()).unwrap();
            fs::write(cwd.join(name), format!("text of {name}")).unwrap();
        }
        (dir, cwd)
    }

    #[test]
    fn a_folder_is_told_of_once_whichever_way_it_is_named() {
        let (_dir, cwd) = scene();
        let nested = NestedContext::new(cwd.clone(), &[]);
        let said = nested.touched_by(&called(json!({"path": "api/x.rs:1-20"}), None)).unwrap();
        assert_eq!(
            said.text,
            "The folder api has instructions of its own, from api/AGENTS.md:\n\ntext of api/AGENTS.md"
        );
        assert!(nested.touched_by(&called(json!({"path": cwd.join("api/x.rs")}), None)).is_none());
        let touched = called(json!({"input": "…"}), Some(json!({"files": [{"path": "web/a.ts"}, 3]})));
        assert!(nested.touched_by(&touched).unwrap().text.starts_with("The folder web has instructions"));
        assert!(nested.touched_by(&called(json!({"paths": ["api", "/etc/passwd", "../x"]}), None)).is_none());
    }

    #[test]
    fn a_resumed_session_is_not_told_again() {
        let (_dir, cwd) = scene();
        let said = NestedContext::new(cwd.clone(), &[]).touched_by(&called(json!({"path": "web"}), None)).unwrap();
        let history = [Message::Custom(CustomMessage {
            custom_type: said.custom_type,
            content: vec![Content::text(said.text)],
            display: false,
            details: None,
            timestamp: now_ms(),
        })];
        let nested = NestedContext::new(cwd, &history);
        assert!(nested.touched_by(&called(json!({"path": "web/a.ts"}), None)).is_none());
        assert!(nested.touched_by(&called(json!({"path": "api"}), None)).is_some());
    }
}
