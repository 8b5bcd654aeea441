//! What is known about the calls of a session, for compaction: a tool states it, or the plan of the call did.

use std::collections::VecDeque;
use std::path::Path;

use omp_agent::{Effect, PlannedCall, ToolSet};
use omp_secrets::Veil;
use omp_types::{CallFactSource, CallFacts, ToolCall, TouchedFiles};
use serde_json::Value;

/// Calls that are remembered; the oldest is dropped.
const MOST_CALLS: usize = 1_000;

/// The files of calls whose tools state nothing about them, from the effects of their plans. They are not in the session's
/// file.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallFiles(VecDeque<(String, TouchedFiles)>);

impl CallFiles {
    /// Remembers what an approved call reads and writes.
    pub fn note(&mut self, planned: &PlannedCall<'_>, tools: &ToolSet, workspace: &Path, veil: &Veil) {
        let call = planned.call();
        let is_stated = tools.find(&call.name).is_some_and(|(tool, _)| tool.facts(&call.arguments, None).is_some());
        let files = touched(&planned.approval().effects, workspace, veil);
        if is_stated || files.is_empty() {
            return;
        }
        if self.0.len() >= MOST_CALLS {
            self.0.pop_front();
        }
        self.0.push_back((call.id.clone(), files));
    }

    fn of(&self, call_id: &str) -> Option<CallFacts> {
        let (_, files) = self.0.iter().rev().find(|(known, _)| known == call_id)?;
        Some(files.clone().into())
    }
}

/// Paths in the workspace are relative to it, as the model names them, and secrets are hidden.
fn touched(effects: &[Effect], workspace: &Path, veil: &Veil) -> TouchedFiles {
    let named = |path: &Path| {
        let mut name = path.strip_prefix(workspace).unwrap_or(path).display().to_string();
        veil.hide_text(&mut name);
        name
    };
    let mut files = TouchedFiles::default();
    for effect in effects {
        match effect {
            Effect::Read(path) => files.read.push(named(path)),
            Effect::Write(path) => files.modified.push(named(path)),
            _ => {}
        }
    }
    files
}

/// The tools of a session and the files of their calls, at one moment.
pub(crate) struct SessionCalls {
    pub tools: ToolSet,
    pub files: CallFiles,
}

impl CallFactSource for SessionCalls {
    fn facts(&self, call: &ToolCall, details: Option<&Value>) -> Option<CallFacts> {
        let stated = self.tools.find(&call.name).and_then(|(tool, _)| tool.facts(&call.arguments, details));
        stated.or_else(|| self.files.of(&call.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effects_name_files_as_the_model_does() {
        let effects = [
            Effect::Read("/w/src/a.rs".into()),
            Effect::Write("/w/b.rs".into()),
            Effect::Write("/etc/hosts".into()),
            Effect::Unknown("the rest".to_owned()),
        ];
        let files = touched(&effects, Path::new("/w"), &Veil::default());
        assert_eq!(files.read, ["src/a.rs"]);
        assert_eq!(files.modified, ["b.rs", "/etc/hosts"]);
    }

    #[test]
    fn the_newest_call_with_an_id_counts_and_others_are_unknown() {
        let noted = |path: &str| ("1".to_owned(), TouchedFiles::modified([path]));
        let calls = SessionCalls {
            tools: ToolSet::default(),
            files: CallFiles(VecDeque::from([noted("a.rs"), noted("b.rs")])),
        };
        let call = |id: &str| ToolCall { id: id.to_owned(), name: "paint".to_owned(), ..ToolCall::default() };
        assert_eq!(calls.facts(&call("1"), None), Some(TouchedFiles::modified(["b.rs"]).into()));
        assert_eq!(calls.facts(&call("2"), None), None);
    }
}
