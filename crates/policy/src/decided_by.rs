//! What decided about a call. It is displayed as in the log of decisions.

use std::fmt;

use crate::{ApprovalMode, ApprovalRule};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// The setting `tools.approval.…` of this tool.
    ToolSetting {
        tool: String,
    },
    Rules(Vec<ApprovalRule>),
    Mode(ApprovalMode),
    /// The call is critical.
    Critical,
    /// The call cannot be undone.
    Irreversible,
    PlanMode,
    Hook,
    /// The slash command that is running.
    Command,
    /// An exploration of the session.
    Exploration,
    /// The call receives a credential of omp itself.
    OwnSecret,
    /// The access map, and what else asks about the call.
    Access {
        besides: Option<Box<DecidedBy>>,
    },
}

impl DecidedBy {
    pub fn rule(rule: &ApprovalRule) -> Self {
        Self::Rules(vec![rule.clone()])
    }
}

impl fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToolSetting { tool } => write!(f, "tools.approval.{tool}"),
            Self::Rules(rules) => {
                let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
                f.write_str(&rules.join(", "))
            }
            Self::Mode(mode) => write!(f, "tools.approvalMode {}", mode.as_str()),
            Self::Critical => f.write_str("critical"),
            Self::Irreversible => f.write_str("cannot be undone"),
            Self::PlanMode => f.write_str("plan mode"),
            Self::Hook => f.write_str("a hook"),
            Self::Command => f.write_str("the running command"),
            Self::Exploration => f.write_str("exploration"),
            Self::OwnSecret => f.write_str("one of omp's own secrets"),
            Self::Access { besides: None } => f.write_str("containment"),
            Self::Access { besides: Some(other) } => write!(f, "containment; {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RuleLevel, RulePlaces, RuleSource};

    #[test]
    fn the_log_names_what_decided() {
        let rule =
            |text| ApprovalRule::parse(RuleLevel::Allow, RuleSource::User, text, &RulePlaces::default()).unwrap();
        for (by, expect) in [
            (DecidedBy::ToolSetting { tool: "bash".to_owned() }, "tools.approval.bash"),
            (DecidedBy::Rules(vec![rule("read"), rule("bash(ls)")]), "allow read (user), allow bash(ls) (user)"),
            (DecidedBy::Mode(ApprovalMode::AskAll), "tools.approvalMode ask-all"),
            (DecidedBy::Access { besides: Some(Box::new(DecidedBy::Irreversible)) }, "containment; cannot be undone"),
            (DecidedBy::Access { besides: None }, "containment"),
        ] {
            assert_eq!(by.to_string(), expect);
        }
    }
}
