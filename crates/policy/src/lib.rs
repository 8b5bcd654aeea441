//! Decides whether a call may run, from the tool's own tier, the user's mode, the user's rule for that tool, and the rules
//! on what the call does.
//!
//! A repository's settings can only tighten: they apply if they are stricter than the user's own choice.

mod decided_by;
mod edited;
mod harmless;
mod irreversible;
mod offer;
mod paths;
mod rule;
mod rules;
mod settings;
mod tool_names;

use std::collections::BTreeMap;

use omp_agent::{Approval, Tier};
use omp_config::Settings;
use serde::Deserialize;
use serde::de::IntoDeserializer;

pub use decided_by::DecidedBy;
pub use edited::EditedRules;
pub use offer::{RuleOffer, offers};
pub use paths::RulePlaces;
pub use rule::{ApprovalRule, RuleLevel, RuleScope, RuleSource};
pub use rules::{ApprovalRules, RuleProblem};
pub use settings::POLICY_SETTINGS;
pub use tool_names::{claude_names, listed_tool};

use rules::Ruling;

/// What runs without asking the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// Everything except what cannot be undone.
    #[default]
    #[serde(alias = "yolo")]
    Auto,
    /// Reading and writing, not executing. A mode of earlier versions that files may still name.
    Write,
    /// Reading, and what only changes build folders.
    AskWrites,
    /// Reading only.
    #[serde(alias = "always-ask")]
    AskAll,
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
    pub rules: ApprovalRules,
}

/// The decision about one call, and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub kind: VerdictKind,
    pub by: DecidedBy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictKind {
    Run,
    Ask { reason: Option<String> },
    Deny { reason: String },
}

impl VerdictKind {
    pub fn as_str(&self) -> &'static str {
        match self {
            VerdictKind::Run => "run",
            VerdictKind::Ask { .. } => "ask",
            VerdictKind::Deny { .. } => "deny",
        }
    }
}

impl Verdict {
    pub fn run(by: DecidedBy) -> Self {
        Self { kind: VerdictKind::Run, by }
    }

    pub fn ask(reason: Option<String>, by: DecidedBy) -> Self {
        Self { kind: VerdictKind::Ask { reason }, by }
    }

    pub fn deny(reason: String, by: DecidedBy) -> Self {
        Self { kind: VerdictKind::Deny { reason }, by }
    }
}

impl Policy {
    /// Reads mode and tool policies. Rules about effects need folders: see [`ApprovalRules::from_settings`].
    pub fn from_settings(settings: &Settings) -> Self {
        let user_mode: ApprovalMode = settings.of(POLICY_SETTINGS).user("tools.approvalMode");
        let project_mode = settings.project("tools.approvalMode").unwrap_or(user_mode);
        let mut tools = rules(settings.user("tools.approval"));
        for (tool, rule) in rules(settings.project("tools.approval")) {
            let strictest = tools.get(&tool).copied().unwrap_or(ToolPolicy::Allow).max(rule);
            if strictest > ToolPolicy::Allow {
                tools.insert(tool, strictest);
            }
        }
        Self { mode: user_mode.max(project_mode), tools, ..Self::default() }
    }

    /// Checks in this order: what is denied, what has to be asked, what cannot be undone, what is allowed, the mode.
    pub fn verdict(&self, tool: &str, approval: &Approval) -> Verdict {
        let own = self.tools.get(tool);
        let setting = DecidedBy::ToolSetting { tool: tool.to_owned() };
        if own == Some(&ToolPolicy::Deny) {
            return Verdict::deny(format!("the setting `{setting}` is `deny`"), setting);
        }
        let ruling = self.rules.ruling(tool, &approval.effects);
        if let Ruling::Deny(rule) = ruling {
            let why = format!("the {} rule `{}` denies it", rule.source.as_str(), rule.text);
            return Verdict::deny(why, DecidedBy::rule(rule));
        }
        if own == Some(&ToolPolicy::Prompt) {
            return Verdict::ask(approval.reason.clone(), setting);
        }
        match ruling {
            Ruling::Ask(rule) => return Verdict::ask(approval.reason.clone(), DecidedBy::rule(rule)),
            Ruling::Unclear(rule) => {
                let unclear = format!("it is unclear whether the rule `{} {}` applies", rule.level.as_str(), rule.text);
                return Verdict::ask(Some(approval.reason.clone().unwrap_or(unclear)), DecidedBy::rule(rule));
            }
            _ => {}
        }
        if approval.force_prompt {
            return Verdict::ask(approval.reason.clone(), DecidedBy::Critical);
        }
        if let Some(found) = irreversible::irreversible(self, approval).first() {
            return Verdict::ask(Some(found.reason()), DecidedBy::Irreversible);
        }
        match (own, ruling) {
            (Some(ToolPolicy::Allow), _) => Verdict::run(setting),
            (_, Ruling::Allow(rules)) => Verdict::run(DecidedBy::Rules(rules.into_iter().cloned().collect())),
            _ if self.mode_lets(approval) => Verdict::run(DecidedBy::Mode(self.mode)),
            _ => Verdict::ask(approval.reason.clone(), DecidedBy::Mode(self.mode)),
        }
    }

    /// Whether the mode alone lets the call run.
    fn mode_lets(&self, approval: &Approval) -> bool {
        let is_harmless = || match self.mode {
            ApprovalMode::Auto | ApprovalMode::Write => false,
            ApprovalMode::AskAll => harmless::only_looks(approval),
            ApprovalMode::AskWrites => {
                harmless::only_looks(approval) || harmless::only_builds_in(&self.rules.places().workspace, approval)
            }
        };
        approval.tier <= self.mode.highest_free_tier() || is_harmless()
    }
}

impl ApprovalMode {
    fn highest_free_tier(self) -> Tier {
        match self {
            ApprovalMode::Auto => Tier::Exec,
            ApprovalMode::Write => Tier::Write,
            ApprovalMode::AskWrites | ApprovalMode::AskAll => Tier::Read,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            ApprovalMode::Auto => "auto",
            ApprovalMode::Write => "write",
            ApprovalMode::AskWrites => "ask-writes",
            ApprovalMode::AskAll => "ask-all",
        }
    }

    /// Returns the mode with this name, which may be one of an earlier version.
    pub fn named(name: &str) -> Option<Self> {
        Self::deserialize(name.into_deserializer()).map_err(|_: serde::de::value::Error| ()).ok()
    }

    /// The mode that follows when the user cycles through them, from the least to the most questions.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            ApprovalMode::Auto => ApprovalMode::AskWrites,
            ApprovalMode::Write | ApprovalMode::AskWrites => ApprovalMode::AskAll,
            ApprovalMode::AskAll => ApprovalMode::Auto,
        }
    }
}

/// Values that are not rules are ignored, as in the reference implementation.
fn rules(value: Option<BTreeMap<String, serde_json::Value>>) -> BTreeMap<String, ToolPolicy> {
    let entries = value.into_iter().flatten();
    entries.filter_map(|(tool, rule)| Some((tool, serde_json::from_value(rule).ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy(mode: ApprovalMode, rules: &[(&str, ToolPolicy)]) -> Policy {
        let tools = rules.iter().map(|(tool, rule)| ((*tool).to_owned(), *rule)).collect();
        Policy { mode, tools, ..Policy::default() }
    }

    #[track_caller]
    fn check(policy: &Policy, tool: &str, tier: Tier, force_prompt: bool, expect: &str) {
        let approval = Approval { force_prompt, ..tier.into() };
        assert_eq!(word(&policy.verdict(tool, &approval)), expect);
    }

    fn word(verdict: &Verdict) -> &'static str {
        match verdict.kind {
            VerdictKind::Run => "run",
            VerdictKind::Ask { .. } => "ask",
            VerdictKind::Deny { .. } => "deny",
        }
    }

    #[test]
    fn critical_calls_need_a_yes_even_in_yolo() {
        let yolo = policy(ApprovalMode::Auto, &[("python", ToolPolicy::Allow)]);
        check(&yolo, "bash", Tier::Exec, true, "ask");
        check(&yolo, "python", Tier::Exec, true, "ask");
        check(&yolo, "bash", Tier::Exec, false, "run");
    }

    #[test]
    fn modes_free_the_tiers_below_them() {
        use ApprovalMode::{AskAll, Auto, Write};
        use Tier::{Exec, Read};
        for (mode, tier, expect) in [
            (Auto, Exec, "run"),
            (Write, Exec, "ask"),
            (Write, Tier::Write, "run"),
            (AskAll, Tier::Write, "ask"),
            (AskAll, Read, "run"),
        ] {
            check(&policy(mode, &[]), "tool", tier, false, expect);
        }
    }

    #[test]
    fn a_rule_for_the_tool_holds_in_every_mode() {
        use ToolPolicy::{Allow, Deny, Prompt};
        let yolo = policy(ApprovalMode::Auto, &[("bash", Deny), ("write", Prompt)]);
        check(&yolo, "bash", Tier::Exec, false, "deny");
        check(&yolo, "write", Tier::Write, false, "ask");
        let ask = policy(ApprovalMode::AskAll, &[("bash", Allow)]);
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
        assert_eq!(merged.mode, ApprovalMode::AskAll);
        let rules: Vec<_> = merged.tools.iter().map(|(tool, rule)| (tool.as_str(), *rule)).collect();
        assert_eq!(rules, [("bash", ToolPolicy::Prompt), ("read", ToolPolicy::Deny)]);
    }
}
