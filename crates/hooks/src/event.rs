//! The events, by the names that Claude Code gives them.

use std::time::Duration;

use omp_session::HookPoint;

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
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

const ALL: [HookEvent; 10] = [
    HookEvent::PreToolUse,
    HookEvent::PostToolUse,
    HookEvent::PostToolUseFailure,
    HookEvent::UserPromptSubmit,
    HookEvent::Stop,
    HookEvent::SubagentStop,
    HookEvent::SessionStart,
    HookEvent::SessionEnd,
    HookEvent::PreCompact,
    HookEvent::Notification,
];

/// How long a hook may take that a prompt waits for.
const BEFORE_A_PROMPT: Duration = Duration::from_secs(30);
/// How long a hook may take that does not say so itself.
const USUAL: Duration = Duration::from_secs(600);
/// The same for one that the end of the program waits for.
const AT_THE_END: Duration = Duration::from_secs(5);

impl HookEvent {
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|event| event.name() == name)
    }

    pub fn names() -> String {
        ALL.map(HookEvent::name).join(", ")
    }

    pub fn name(self) -> &'static str {
        match self {
            HookEvent::PreToolUse => "PreToolUse",
            HookEvent::PostToolUse => "PostToolUse",
            HookEvent::PostToolUseFailure => "PostToolUseFailure",
            HookEvent::UserPromptSubmit => "UserPromptSubmit",
            HookEvent::Stop => "Stop",
            HookEvent::SubagentStop => "SubagentStop",
            HookEvent::SessionStart => "SessionStart",
            HookEvent::SessionEnd => "SessionEnd",
            HookEvent::PreCompact => "PreCompact",
            HookEvent::Notification => "Notification",
        }
    }

    pub(crate) fn of(point: &HookPoint<'_>) -> Self {
        match point {
            HookPoint::BeforeCall { .. } => HookEvent::PreToolUse,
            HookPoint::AfterCall { output, .. } if output.is_error => HookEvent::PostToolUseFailure,
            HookPoint::AfterCall { .. } => HookEvent::PostToolUse,
            HookPoint::Prompt { .. } => HookEvent::UserPromptSubmit,
            HookPoint::Stop { .. } => HookEvent::Stop,
            HookPoint::Start(_) => HookEvent::SessionStart,
            HookPoint::End { .. } => HookEvent::SessionEnd,
            HookPoint::BeforeCompaction { .. } => HookEvent::PreCompact,
            HookPoint::Notification { .. } => HookEvent::Notification,
        }
    }

    pub(crate) fn usual_timeout(self) -> Duration {
        match self {
            HookEvent::SessionEnd => AT_THE_END,
            HookEvent::UserPromptSubmit => BEFORE_A_PROMPT,
            _ => USUAL,
        }
    }

    pub(crate) fn is_of_tools(self) -> bool {
        matches!(self, HookEvent::PreToolUse | HookEvent::PostToolUse | HookEvent::PostToolUseFailure)
    }

    /// Whether a `matcher` means something; otherwise every hook of the event runs.
    pub(crate) fn is_matched(self) -> bool {
        !matches!(self, HookEvent::UserPromptSubmit | HookEvent::Stop)
    }

    /// Whether what a hook prints is told to the model.
    pub(crate) fn prints_context(self) -> bool {
        matches!(self, HookEvent::UserPromptSubmit | HookEvent::SessionStart)
    }

    /// Whether a hook can keep it from happening, or says something to the model about what has happened.
    pub(crate) fn can_block(self) -> bool {
        !matches!(self, HookEvent::SessionStart | HookEvent::SessionEnd | HookEvent::Notification)
    }
}
