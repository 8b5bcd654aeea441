//! Plan mode: the model explores and writes a plan, and nothing in the project changes before the user approves it.
//!
//! The instructions are sent with the next prompt and not in the system prompt, so that the cached beginning of the
//! conversation stays the same.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use omp_agent::{Approval, Tier};
use omp_policy::{ApprovalMode, DecidedBy, Policy, Verdict};
use omp_store::ArtifactDir;
use omp_types::{Message, text_of};

use crate::Session;
use crate::features::hidden;

/// The address of the plan.
pub const PLAN_FILE: &str = "local://PLAN.md";
/// The message that approves a plan.
pub const PLAN_APPROVED: &str = include_str!("approved.md");
/// The message that approves a plan that the user has edited; the plan follows it.
pub const PLAN_APPROVED_EDITED: &str = include_str!("approved_edited.md");
/// Caps the part of a plan that is shown.
const LONGEST_PLAN: u64 = 256 << 10;
/// The mode's name in session files.
pub(crate) const PLAN: &str = "plan";
const MESSAGE_TYPE: &str = "plan-mode";
const BEGIN: &str = include_str!("begin.md");
const END: &str = include_str!("end.md");

/// The message for the model when the mode starts or ends.
pub(crate) fn told(on: bool) -> Arc<Message> {
    hidden(MESSAGE_TYPE, if on { BEGIN } else { END }, None)
}

pub(crate) fn is_told(message: &Message) -> bool {
    matches!(message, Message::Custom(custom) if custom.custom_type == MESSAGE_TYPE)
}

/// The message about a change of mode that the model has not been told yet.
pub(crate) fn untold<'a>(
    plans: bool,
    messages: impl DoubleEndedIterator<Item = &'a Arc<Message>>,
) -> Option<Arc<Message>> {
    let last = messages.rev().find(|message| is_told(message));
    let knows = last.is_some_and(|message| text_of(message.content()).trim() == BEGIN.trim());
    (plans != knows).then(|| told(plans))
}

impl Session {
    /// The text of the plan, if one was written.
    pub fn plan(&self) -> Option<String> {
        let mut text = String::new();
        File::open(self.plan_path()?).ok()?.take(LONGEST_PLAN).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// Replaces the text of the plan.
    pub fn keep_plan(&self, text: &str) -> Result<(), String> {
        let path = self.plan_path().ok_or("the plan cannot be saved: this session has no file")?;
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = folder.and_then(|()| std::fs::write(&path, format!("{}\n", text.trim_end())));
        written.map_err(|error| format!("the plan cannot be written to {}: {error}", path.display()))
    }

    fn plan_path(&self) -> Option<PathBuf> {
        let file = self.snapshot().file.clone()?;
        let name = PLAN_FILE.strip_prefix("local://")?;
        Some(ArtifactDir::of_session(&file).path().join("local").join(name))
    }

    /// Writes changes of mode, model and thinking level that wait for the next message, for a copy of the file.
    pub fn write_pending(&self) -> Result<(), String> {
        self.control.recorder().write_pending().map_err(|error| error.to_string())
    }
}

/// The verdict on a call in plan mode.
pub(crate) fn verdict(policy: &Policy, tool: &str, approval: &Approval) -> Verdict {
    match approval.tier {
        Tier::Read => policy.verdict(tool, approval),
        Tier::Write => Verdict::deny(
            format!("plan mode is on, so the project is not changed; the plan goes to {PLAN_FILE}"),
            DecidedBy::PlanMode,
        ),
        Tier::Exec => {
            let careful = Policy { mode: policy.mode.max(ApprovalMode::AskAll), ..policy.clone() };
            careful.verdict(tool, approval)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use omp_policy::{ToolPolicy, VerdictKind};

    #[track_caller]
    fn check(rules: &[(&str, ToolPolicy)], tier: Tier, expect: &str) {
        let tools: BTreeMap<_, _> = rules.iter().map(|(tool, rule)| ((*tool).to_owned(), *rule)).collect();
        let policy = Policy { tools, ..Policy::default() };
        let verdict = match verdict(&policy, "tool", &tier.into()).kind {
            VerdictKind::Run => "run",
            VerdictKind::Ask { .. } => "ask",
            VerdictKind::Deny { .. } => "deny",
        };
        assert_eq!(verdict, expect, "{tier:?}");
    }

    #[test]
    fn only_looking_is_free_while_planning() {
        check(&[], Tier::Read, "run");
        check(&[], Tier::Write, "deny");
        check(&[], Tier::Exec, "ask");
        check(&[("tool", ToolPolicy::Allow)], Tier::Exec, "run");
        check(&[("tool", ToolPolicy::Allow)], Tier::Write, "deny");
        check(&[("tool", ToolPolicy::Deny)], Tier::Read, "deny");
    }
}
