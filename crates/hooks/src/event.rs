//! The hook events, named as in Claude Code.

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
    /// Used once there are sub-agents.
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

/// The time limit of a hook that a prompt waits for.
const BEFORE_A_PROMPT: Duration = Duration::from_secs(30);
/// The default time limit of a hook.
const USUAL: Duration = Duration::from_secs(600);
/// The default time limit of a hook that delays the end of the program.
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

    /// Whether a `matcher` has a meaning; otherwise every hook of the event runs.
    pub(crate) fn is_matched(self) -> bool {
        !matches!(self, HookEvent::UserPromptSubmit | HookEvent::Stop)
    }

    /// Whether the output of a hook is sent to the model.
    pub(crate) fn prints_context(self) -> bool {
        matches!(self, HookEvent::UserPromptSubmit | HookEvent::SessionStart)
    }

    /// Whether a hook can block the event, or can send the model a message about it.
    pub(crate) fn can_block(self) -> bool {
        !matches!(self, HookEvent::SessionStart | HookEvent::SessionEnd | HookEvent::Notification)
    }
}
