//! Refusals of calls that need approval when no user is attending: the text for the user and the text for the model.

use std::fmt;

use omp_policy::{ApprovalRule, DecidedBy, Policy, RuleOffer, RuleSource, Verdict};

use crate::access::Wishes;

/// Effects of a call that are named in one line.
const MOST_EFFECTS: usize = 3;
const IN_TERMINAL: &str = "start omp in the terminal, where it asks you";

/// A call that needs approval in a session without a user. The model gets the refusal as the result of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub tool: String,
    /// The effects that the call would have had, one per item.
    pub effects: Vec<String>,
    /// A clause: "it needs approval (…)".
    pub why: String,
    /// The flag or the setting that would allow the call.
    pub hint: String,
}

/// Omits the hint, since it may be the same for many calls.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` was not run", self.tool)?;
        if !self.effects.is_empty() {
            let shown = self.effects.iter().take(MOST_EFFECTS).map(String::as_str).collect::<Vec<_>>().join("; ");
            let more = self.effects.len().saturating_sub(MOST_EFFECTS);
            let more = if more > 0 { format!("; {more} more") } else { String::new() };
            write!(f, " ({shown}{more})")?;
        }
        write!(f, ": {}, and nobody can be asked in this mode", self.why)
    }
}

impl Refused {
    pub(crate) fn for_model(&self) -> String {
        let Self { tool, why, hint, .. } = self;
        format!(
            "`{tool}` was not run: {why}, and nobody can be asked in this mode. Do not try to get the same effect in \
             another way; say what you would have done.\nhint: only the user can allow it: {hint}"
        )
    }
}

/// The inputs of a refusal.
pub(crate) struct Asked<'a> {
    pub policy: &'a Policy,
    /// Whether plan mode is on.
    pub plans: bool,
    pub verdict: &'a Verdict,
    pub reason: Option<&'a str>,
    pub wishes: &'a Wishes,
    /// Rules that would cover the call.
    pub offers: &'a [RuleOffer],
}

impl Asked<'_> {
    pub fn refused(&self, tool: &str, effects: &[String]) -> Refused {
        let (tool, effects) = (tool.to_owned(), effects.to_vec());
        Refused { tool, effects, why: self.why(), hint: self.hint() }
    }

    fn why(&self) -> String {
        if !self.wishes.is_empty() {
            return format!("it would {}", self.reason.unwrap_or("leave its bounds"));
        }
        let by = match &self.verdict.by {
            DecidedBy::Mode(_) if self.plans => "plan mode is on".to_owned(),
            DecidedBy::Mode(_) => format!("tools.approvalMode is `{}`", self.policy.mode.as_str()),
            other => other.to_string(),
        };
        match self.reason {
            Some(reason) if matches!(self.verdict.by, DecidedBy::Critical | DecidedBy::Irreversible) => {
                format!("it needs the user's approval ({reason})")
            }
            Some(reason) => format!("it needs the user's approval ({reason}; {by})"),
            None => format!("it needs the user's approval ({by})"),
        }
    }

    /// The hints of the map and of the policy; both are given if both refuse.
    fn hint(&self) -> String {
        let by = match &self.verdict.by {
            DecidedBy::Access { besides } => besides.as_deref(),
            by => Some(by),
        };
        let policy = by.map(|by| self.of_policy(by));
        [self.wishes.settings(), policy].into_iter().flatten().collect::<Vec<_>>().join("; besides, ")
    }

    fn of_policy(&self, by: &DecidedBy) -> String {
        match by {
            DecidedBy::Critical => format!("critical calls always need approval: {IN_TERMINAL}"),
            DecidedBy::Irreversible => match self.rules() {
                Some(rules) => format!("`tools.allow: [{rules}]` in config.yml allows it"),
                None => format!("such calls always need approval: {IN_TERMINAL}"),
            },
            DecidedBy::Mode(_) => self.of_mode(),
            DecidedBy::ToolSetting { .. } => format!("`{by}: allow` in config.yml allows it"),
            DecidedBy::Hook => format!("a hook requires your approval: {IN_TERMINAL}"),
            DecidedBy::Rules(rules) => rules.first().map_or_else(|| IN_TERMINAL.to_owned(), of_rule),
            DecidedBy::PlanMode
            | DecidedBy::Command
            | DecidedBy::Exploration
            | DecidedBy::OwnSecret
            | DecidedBy::Access { .. } => IN_TERMINAL.to_owned(),
        }
    }

    fn of_mode(&self) -> String {
        let flag = if self.plans { "`/plan` leaves plan mode" } else { "`--auto-approve` allows such calls" };
        match self.rules() {
            Some(rules) => format!("{flag}, `tools.allow: [{rules}]` in config.yml this one"),
            None => flag.to_owned(),
        }
    }

    /// The rules that would allow the call, as YAML.
    fn rules(&self) -> Option<String> {
        let rules = &self.offers.first()?.rules;
        let quoted: Vec<String> = rules.iter().map(|rule| format!("'{}'", rule.replace('\'', "''"))).collect();
        Some(quoted.join(", "))
    }
}

fn of_rule(rule: &ApprovalRule) -> String {
    match rule.source {
        RuleSource::Project => format!("remove that rule from the project's .omp/config.yml, or {IN_TERMINAL}"),
        RuleSource::User | RuleSource::UserHere | RuleSource::Session => {
            let rule = format!("{} {}", rule.level.as_str(), rule.text);
            format!("remove that rule with `/permissions remove {rule}`, or {IN_TERMINAL}")
        }
    }
}

#[cfg(test)]
mod tests {
    use omp_agent::Effect;
    use omp_policy::{ApprovalMode, RuleLevel, RulePlaces};
    use omp_types::{Access, AccessMap};

    use super::*;

    #[track_caller]
    fn check(policy: &Policy, verdict: Verdict, effects: &[Effect], expect: &str) {
        let map = AccessMap { workspace: "/w".into(), ..AccessMap::default() };
        let wishes = Wishes::of(Access::new(map), effects);
        let verdict = wishes.verdict(verdict);
        let omp_policy::VerdictKind::Ask { reason } = &verdict.kind else { panic!("{verdict:?}") };
        let offers = [RuleOffer { rules: vec!["bash(echo 'a b')".to_owned()] }];
        let asked = Asked {
            policy,
            plans: false,
            verdict: &verdict,
            reason: reason.as_deref(),
            wishes: &wishes,
            offers: &offers,
        };
        let refused = asked.refused("bash", &["runs: x".to_owned()]);
        assert_eq!(format!("{refused}\nhint: {}", refused.hint), expect);
        assert!(refused.for_model().ends_with(&refused.hint), "{}", refused.for_model());
        assert!(!refused.for_model().contains("is asked"), "{}", refused.for_model());
    }

    #[test]
    fn a_refusal_names_the_reason_and_what_allows_it() {
        let mode = |mode| Policy { mode, ..Policy::default() };
        let (write, ask) = (mode(ApprovalMode::Write), mode(ApprovalMode::AskAll));
        let by = |by: DecidedBy| Verdict::ask(None, by);
        let rule = |source| {
            let rule = ApprovalRule::parse(RuleLevel::Ask, source, "bash(x *)", &RulePlaces::default()).unwrap();
            DecidedBy::rule(&rule)
        };
        check(
            &write,
            by(DecidedBy::Mode(ApprovalMode::Write)),
            &[],
            "`bash` was not run (runs: x): it needs the user's approval (tools.approvalMode is `write`), and nobody can be \
             asked in this mode\nhint: `--auto-approve` allows such calls, `tools.allow: ['bash(echo ''a b'')']` in \
             config.yml this one",
        );
        check(
            &ask,
            Verdict::ask(Some("it is new".to_owned()), DecidedBy::Mode(ApprovalMode::AskAll)),
            &[],
            "`bash` was not run (runs: x): it needs the user's approval (it is new; tools.approvalMode is `ask-all`), and \
             nobody can be asked in this mode\nhint: `--auto-approve` allows such calls, `tools.allow: ['bash(echo \
             ''a b'')']` in config.yml this one",
        );
        let start = "`bash` was not run (runs: x): it needs the user's approval";
        let end = "and nobody can be asked in this mode\nhint:";
        let yolo = Policy::default();
        for (said, hint) in [
            (DecidedBy::Critical, "critical calls always need approval: start omp in the terminal, where it asks you"),
            (DecidedBy::Irreversible, "`tools.allow: ['bash(echo ''a b'')']` in config.yml allows it"),
            (
                DecidedBy::ToolSetting { tool: "bash".to_owned() },
                "`tools.approval.bash: allow` in config.yml allows it",
            ),
            (DecidedBy::Hook, "a hook requires your approval: start omp in the terminal, where it asks you"),
            (
                rule(RuleSource::User),
                "remove that rule with `/permissions remove ask bash(x *)`, or start omp in the terminal, where it asks you",
            ),
            (
                rule(RuleSource::Project),
                "remove that rule from the project's .omp/config.yml, or start omp in the terminal, where it asks you",
            ),
            (DecidedBy::OwnSecret, "start omp in the terminal, where it asks you"),
        ] {
            check(&yolo, by(said.clone()), &[], &format!("{start} ({said}), {end} {hint}"));
        }
        let outside = [Effect::Write("/srv/x".into()), Effect::Write("/srv/y".into())];
        let would = "it would write to /srv/x (outside the workspace), write to /srv/y (outside the workspace)";
        let allow = "`containment.writable: [/srv/x, /srv/y]` in config.yml allows it";
        check(
            &yolo,
            Verdict::run(DecidedBy::Mode(ApprovalMode::Auto)),
            &outside,
            &format!("`bash` was not run (runs: x): {would}, {end} {allow}"),
        );
        check(
            &yolo,
            by(DecidedBy::Critical),
            &outside,
            &format!(
                "`bash` was not run (runs: x): {would}, {end} {allow}; besides, critical calls always need approval: start \
                 omp in the terminal, where it asks you"
            ),
        );
    }

    #[test]
    fn a_long_list_of_effects_is_cut() {
        let effects = (1..6).map(|n| format!("runs: {n}")).collect();
        let refused = Refused { tool: "bash".into(), effects, why: "it must not".into(), hint: String::new() };
        let expect =
            "`bash` was not run (runs: 1; runs: 2; runs: 3; 2 more): it must not, and nobody can be asked in this mode";
        assert_eq!(refused.to_string(), expect);
    }
}
