//! What a call has read, changed and shown: stated by its tool, used by compaction.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::ToolCall;

/// What a tool states about one of its calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallFacts {
    pub files: TouchedFiles,
    pub shown: ShownContent,
    /// Whether the result contains instructions for the model, which stay in the conversation.
    pub has_instructions: bool,
}

/// The files of a call, as the model names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedFiles {
    pub read: Vec<String>,
    pub modified: Vec<String>,
}

impl TouchedFiles {
    pub fn read(path: Option<&str>) -> Self {
        Self { read: path.into_iter().map(str::to_owned).collect(), modified: Vec::new() }
    }

    pub fn modified<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        Self { read: Vec::new(), modified: paths.into_iter().map(str::to_owned).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.modified.is_empty()
    }
}

impl From<TouchedFiles> for CallFacts {
    fn from(files: TouchedFiles) -> Self {
        Self { files, ..Self::default() }
    }
}

/// How much of the content of the file that it read a result shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShownContent {
    #[default]
    Nothing,
    /// Less than another call with the same arguments may have shown.
    Outline,
    Part,
    All,
}

/// Knows calls of some tools.
pub trait CallFactSource: Send + Sync {
    /// `details` are those of the call's result. `None` if the tool is unknown here.
    fn facts(&self, call: &ToolCall, details: Option<&Value>) -> Option<CallFacts>;
}

/// The first source that knows a call answers.
#[derive(Clone, Default)]
pub struct CallFactSources(pub Vec<Arc<dyn CallFactSource>>);

impl CallFactSources {
    pub fn of(&self, call: &ToolCall, details: Option<&Value>) -> CallFacts {
        self.0.iter().find_map(|source| source.facts(call, details)).unwrap_or_default()
    }
}

impl fmt::Debug for CallFactSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallFactSources(…)")
    }
}
