//! Who makes further sessions out of what one was made of: what a tool holds to begin a sub-agent.

use std::path::PathBuf;

use futures_util::future::BoxFuture;
use omp_types::ThinkingLevel;

use crate::OpenSession;

/// Makes sessions of one folder. Its settings, rules, trust and containment were read once and are the same for all of
/// them; recorder, model, tools and prompt are each session's own.
pub trait SessionFactory: Send + Sync {
    /// Makes a session and starts it. Nobody is asked anything in it. A problem is a sentence for the user.
    fn make(&self, wanted: SubSession) -> BoxFuture<'_, Result<OpenSession, String>>;
}

/// What a further session is to be like. What is `None` is as in a session that is begun by hand in this folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubSession {
    /// A model by name or pattern, as `--model` takes it.
    pub model: Option<String>,
    pub thinking: Option<ThinkingLevel>,
    /// The names of its tools, of those that the run offers; an empty list is none.
    pub tools: Option<Vec<String>>,
    /// Stands in place of the system prompt.
    pub system_prompt: Option<String>,
    /// Stands at the end of the system prompt.
    pub append_system_prompt: Option<String>,
    /// Where its file is written. Without a folder it is kept nowhere.
    pub kept_in: Option<PathBuf>,
    /// The session it belongs to, as its file names it.
    pub parent: Option<String>,
}
