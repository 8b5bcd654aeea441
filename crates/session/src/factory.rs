//! Makes further sessions like the current one; a tool holds a factory to start sub-agents.

use std::path::PathBuf;

use futures_util::future::BoxFuture;
use omp_types::ThinkingLevel;

use crate::OpenSession;

/// Makes sessions for one folder. Settings, rules, trust and containment are read once and shared by all of them; each
/// session has its own recorder, model, tools and prompt.
pub trait SessionFactory: Send + Sync {
    /// Makes a session and starts it, unattended. An error is a sentence for the user.
    fn make(&self, wanted: SubSession) -> BoxFuture<'_, Result<OpenSession, String>>;
}

/// Options of a further session. A field that is `None` has the same value as in a session that the user starts in this
/// folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubSession {
    /// A model by name or pattern, as `--model` takes it.
    pub model: Option<String>,
    pub thinking: Option<ThinkingLevel>,
    /// Names of its tools, out of those that the run offers; an empty list means no tools.
    pub tools: Option<Vec<String>>,
    /// Replaces the system prompt.
    pub system_prompt: Option<String>,
    /// Appended to the system prompt.
    pub append_system_prompt: Option<String>,
    /// The folder for its file. Without a folder the session is not saved.
    pub kept_in: Option<PathBuf>,
    /// The parent session, as recorded in the session file.
    pub parent: Option<String>,
}
