//! Plan mode: the model explores and writes a plan, and nothing in the project changes before the user approves it.
//!
//! The instructions are sent with the next prompt and not in the system prompt, so that the cached beginning of the
//! conversation stays the same.

use std::sync::Arc;

use omp_agent::{Approval, Tier};
use omp_policy::{ApprovalMode, Policy, Verdict};
use omp_types::Message;

use crate::features::hidden;

/// The address of the plan.
pub const PLAN_FILE: &str = "local://PLAN.md";
/// The message that approves a plan.
pub const PLAN_APPROVED: &str = include_str!("approved.md");
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

/// The verdict on a call in plan mode.
pub(crate) fn verdict(policy: &Policy, tool: &str, approval: &Approval) -> Verdict {
    match approval.tier {
        Tier::Read => policy.verdict(tool, approval),
        Tier::Write => Verdict::deny(
            format!("plan mode is on, so nothing of the project changes; the plan goes to {PLAN_FILE}"),
            "plan mode",
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
