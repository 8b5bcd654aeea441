//! A session with a scripted model, for the tests of front ends. Separate from `testkit`, so that a change of the session
//! does not rebuild the tests of lower crates.

mod address_tool;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use omp_agent::AnyTool;
use omp_compaction::CompactionOptions;
use omp_policy::Policy;
use omp_session::{
    OpenSession, Recorder, Resumed, RetryPolicy, Safeguards, Session, SessionOptions, SlashCommand, TodoBoard,
    UserShell,
};
use omp_testkit::{ScriptedLlm, mock_model};
use omp_types::{Model, ThinkingLevel};

pub use address_tool::AddressTool;

/// The session properties that a front end's test sets; all others are fixed.
pub struct ScriptedSession {
    pub llm: Arc<ScriptedLlm>,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub tools: Vec<Arc<dyn AnyTool>>,
    pub recorder: Recorder,
    pub resumed: Resumed,
    pub policy: Policy,
    /// The delay before the first retry.
    pub retry_delay: Duration,
    pub max_turns: u32,
    pub commands: Vec<Arc<dyn SlashCommand>>,
    pub todos: Option<Arc<dyn TodoBoard>>,
    pub compaction: CompactionOptions,
}

impl ScriptedSession {
    /// Creates a session without tools, commands or storage.
    pub fn new(llm: &Arc<ScriptedLlm>, cwd: &Path) -> Self {
        Self {
            llm: llm.clone(),
            model: Arc::new(mock_model()),
            thinking: ThinkingLevel::Off,
            tools: Vec::new(),
            recorder: Recorder::nowhere(cwd),
            resumed: Resumed::default(),
            policy: Policy::default(),
            retry_delay: Duration::from_millis(1),
            max_turns: 10,
            commands: Vec::new(),
            todos: None,
            compaction: CompactionOptions::default(),
        }
    }

    pub fn open(self, shell: Arc<dyn UserShell>) -> OpenSession {
        let header = self.recorder.header().clone();
        let (session, actor) = Session::open(SessionOptions {
            thinking: self.thinking,
            tools: self.tools,
            commands: self.commands,
            system: "You help.".into(),
            resumed: self.resumed,
            policy: self.policy,
            retry: RetryPolicy { base_delay: self.retry_delay, ..RetryPolicy::default() },
            max_turns: self.max_turns,
            attended: true,
            compaction: self.compaction,
            ..SessionOptions::new(self.llm, self.model, self.recorder)
        });
        let todos = self.todos;
        let (safeguards, warnings) = (Safeguards::default(), Vec::new());
        OpenSession { session, actor, header, shell, python: None, todos, safeguards, factory: None, warnings }
    }
}
