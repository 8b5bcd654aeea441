//! May a call run? The tool's own tier, the user's mode, the user's rule for that tool.
//!
//! A repository's settings can only tighten: what they ask for is taken when it is stricter than the user's own choice.

use std::collections::BTreeMap;

use omp_agent::{Approval, Tier};
use omp_config::Settings;
use serde::Deserialize;

/// What runs without a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// Everything.
    #[default]
    Yolo,
    /// Reading and writing, not executing.
    Write,
    /// Reading only.
    AlwaysAsk,
}

/// The user's rule for one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolPolicy {
    Allow,
    Prompt,
    Deny,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub mode: ApprovalMode,
    pub tools: BTreeMap<String, ToolPolicy>,
}

/// What to do with one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Run,
    Ask { reason: Option<String> },
    Deny { reason: String },
}

impl Policy {
    pub fn from_settings(settings: &Settings) -> Self {
        let user_mode: ApprovalMode = settings.user("tools.approvalMode").unwrap_or_default();
        let project_mode = settings.project("tools.approvalMode").unwrap_or_default();
        let mut tools = rules(settings.user("tools.approval"));
        for (tool, rule) in rules(settings.project("tools.approval")) {
            let strictest = tools.get(&tool).copied().unwrap_or(ToolPolicy::Allow).max(rule);
            if strictest > ToolPolicy::Allow {
                tools.insert(tool, strictest);
            }
        }
        Self { mode: user_mode.max(project_mode), tools }
    }

    pub(crate) fn verdict(&self, tool: &str, approval: &Approval) -> Verdict {
        match self.tools.get(tool) {
            Some(ToolPolicy::Deny) => {
                Verdict::Deny { reason: format!("the setting `tools.approval.{tool}` is `deny`") }
            }
            Some(ToolPolicy::Prompt) => Verdict::Ask { reason: approval.reason.clone() },
            _ if self.mode == ApprovalMode::Yolo => Verdict::Run,
            _ if approval.force_prompt => Verdict::Ask { reason: approval.reason.clone() },
            Some(ToolPolicy::Allow) => Verdict::Run,
            None if approval.tier <= self.mode.highest_free_tier() => Verdict::Run,
            None => Verdict::Ask { reason: approval.reason.clone() },
        }
    }
}

impl ApprovalMode {
    fn highest_free_tier(self) -> Tier {
        match self {
            ApprovalMode::Yolo => Tier::Exec,
            ApprovalMode::Write => Tier::Write,
            ApprovalMode::AlwaysAsk => Tier::Read,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            ApprovalMode::Yolo => "yolo",
            ApprovalMode::Write => "write",
            ApprovalMode::AlwaysAsk => "always-ask",
        }
    }
}

/// Values that are no rule are ignored, as the reference does.
fn rules(value: Option<BTreeMap<String, serde_json::Value>>) -> BTreeMap<String, ToolPolicy> {
    let entries = value.into_iter().flatten();
    entries.filter_map(|(tool, rule)| Some((tool, serde_json::from_value(rule).ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy(mode: ApprovalMode, rules: &[(&str, ToolPolicy)]) -> Policy {
        Policy { mode, tools: rules.iter().map(|(tool, rule)| ((*tool).to_owned(), *rule)).collect() }
    }

    #[track_caller]
    fn check(policy: &Policy, tool: &str, tier: Tier, force_prompt: bool, expect: &str) {
        let approval = Approval { force_prompt, ..tier.into() };
        let verdict = match policy.verdict(tool, &approval) {
            Verdict::Run => "run",
            Verdict::Ask { .. } => "ask",
            Verdict::Deny { .. } => "deny",
        };
        assert_eq!(verdict, expect);
    }

    #[test]
    fn modes_free_the_tiers_below_them() {
        use ApprovalMode::{AlwaysAsk, Write, Yolo};
        use Tier::{Exec, Read};
        for (mode, tier, expect) in [
            (Yolo, Exec, "run"),
            (Write, Exec, "ask"),
            (Write, Tier::Write, "run"),
            (AlwaysAsk, Tier::Write, "ask"),
            (AlwaysAsk, Read, "run"),
        ] {
            check(&policy(mode, &[]), "tool", tier, false, expect);
        }
    }

    #[test]
    fn a_rule_for_the_tool_holds_in_every_mode() {
        use ToolPolicy::{Allow, Deny, Prompt};
        let yolo = policy(ApprovalMode::Yolo, &[("bash", Deny), ("write", Prompt)]);
        check(&yolo, "bash", Tier::Exec, false, "deny");
        check(&yolo, "write", Tier::Write, false, "ask");
        let ask = policy(ApprovalMode::AlwaysAsk, &[("bash", Allow)]);
        check(&ask, "bash", Tier::Exec, false, "run");
        check(&ask, "bash", Tier::Exec, true, "ask");
    }

    #[test]
    fn a_project_can_only_tighten() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".omp")).unwrap();
        let project = "tools: {approvalMode: yolo, approval: {bash: allow, read: deny, write: nonsense}}\n";
        std::fs::write(dir.path().join(".omp/config.yml"), project).unwrap();
        let mut settings = Settings::default();
        settings.set_runtime("tools", json!({"approvalMode": "always-ask", "approval": {"bash": "prompt"}}));
        assert!(settings.load_project(dir.path()).is_empty());
        let merged = Policy::from_settings(&settings);
        assert_eq!(merged.mode, ApprovalMode::AlwaysAsk);
        let rules: Vec<_> = merged.tools.iter().map(|(tool, rule)| (tool.as_str(), *rule)).collect();
        assert_eq!(rules, [("bash", ToolPolicy::Prompt), ("read", ToolPolicy::Deny)]);
    }
}
