//! The events, by the names that Claude Code gives them.

use std::time::Duration;

use omp_session::HookPoint;

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    UserPromptSubmit,
    Stop,
    /// Runs when there are sub-agents.
    SubagentStop,
    SessionStart,
    SessionEnd,
    PreCompact,
    Notification,
}

const ALL: [Event; 10] = [
    Event::PreToolUse,
    Event::PostToolUse,
    Event::PostToolUseFailure,
    Event::UserPromptSubmit,
    Event::Stop,
    Event::SubagentStop,
    Event::SessionStart,
    Event::SessionEnd,
    Event::PreCompact,
    Event::Notification,
];

/// How long a hook may take that a prompt waits for.
const BEFORE_A_PROMPT: Duration = Duration::from_secs(30);
/// How long a hook may take that does not say so itself.
const USUAL: Duration = Duration::from_secs(600);
/// The same for one that the end of the program waits for.
const AT_THE_END: Duration = Duration::from_secs(5);

impl Event {
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|event| event.name() == name)
    }

    pub fn names() -> String {
        ALL.map(Event::name).join(", ")
    }

    pub fn name(self) -> &'static str {
        match self {
            Event::PreToolUse => "PreToolUse",
            Event::PostToolUse => "PostToolUse",
            Event::PostToolUseFailure => "PostToolUseFailure",
            Event::UserPromptSubmit => "UserPromptSubmit",
            Event::Stop => "Stop",
            Event::SubagentStop => "SubagentStop",
            Event::SessionStart => "SessionStart",
            Event::SessionEnd => "SessionEnd",
            Event::PreCompact => "PreCompact",
            Event::Notification => "Notification",
        }
    }

    pub(crate) fn of(point: &HookPoint<'_>) -> Self {
        match point {
            HookPoint::BeforeCall { .. } => Event::PreToolUse,
            HookPoint::AfterCall { output, .. } if output.is_error => Event::PostToolUseFailure,
            HookPoint::AfterCall { .. } => Event::PostToolUse,
            HookPoint::Prompt { .. } => Event::UserPromptSubmit,
            HookPoint::Stop { .. } => Event::Stop,
            HookPoint::Start(_) => Event::SessionStart,
            HookPoint::End { .. } => Event::SessionEnd,
            HookPoint::BeforeCompaction { .. } => Event::PreCompact,
            HookPoint::Notification { .. } => Event::Notification,
        }
    }

    pub(crate) fn usual_timeout(self) -> Duration {
        match self {
            Event::SessionEnd => AT_THE_END,
            Event::UserPromptSubmit => BEFORE_A_PROMPT,
            _ => USUAL,
        }
    }

    pub(crate) fn is_of_tools(self) -> bool {
        matches!(self, Event::PreToolUse | Event::PostToolUse | Event::PostToolUseFailure)
    }

    /// Whether a `matcher` means something; otherwise every hook of the event runs.
    pub(crate) fn is_matched(self) -> bool {
        !matches!(self, Event::UserPromptSubmit | Event::Stop)
    }

    /// Whether what a hook prints is told to the model.
    pub(crate) fn prints_context(self) -> bool {
        matches!(self, Event::UserPromptSubmit | Event::SessionStart)
    }

    /// Whether a hook can keep it from happening, or says something to the model about what has happened.
    pub(crate) fn can_block(self) -> bool {
        !matches!(self, Event::SessionStart | Event::SessionEnd | Event::Notification)
    }
}
