//! Rules that the user edited in an approval question: checks that they parse and apply to the call in question.

use omp_agent::{Approval, Effect};

use crate::irreversible::irreversible;
use crate::rule::{RuleLevel, RuleSource};
use crate::{ApprovalRules, Policy};

/// A call, and the rules in force while the user is asked about it.
#[derive(Clone, Debug)]
pub struct EditedRules {
    rules: ApprovalRules,
    tool: String,
    effects: Vec<Effect>,
}

impl EditedRules {
    /// The rules have to cover what the user is asked about.
    pub fn of(policy: &Policy, tool: &str, approval: &Approval) -> Self {
        let asked: Vec<Effect> = match irreversible(policy, approval) {
            found if !found.is_empty() && policy.mode_lets(approval) => {
                found.into_iter().map(|found| found.effect.clone()).collect()
            }
            _ => approval.effects.clone(),
        };
        Self::new(&policy.rules, tool, &asked)
    }

    pub fn new(rules: &ApprovalRules, tool: &str, effects: &[Effect]) -> Self {
        Self { rules: rules.clone(), tool: tool.to_owned(), effects: effects.to_vec() }
    }

    /// Whether the lines cover the whole call as allow rules, or apply to it as deny rules.
    pub fn check(&self, lines: &[String]) -> Result<(), String> {
        let (mut allowing, mut denying) = (self.rules.clone(), ApprovalRules::new(self.rules.places().clone()));
        for line in lines {
            for (level, rules) in [(RuleLevel::Allow, &mut allowing), (RuleLevel::Deny, &mut denying)] {
                let added = rules.add(level, RuleSource::User, line);
                added.map_err(|problem| format!("`{line}` is not a valid rule: {problem}"))?;
            }
        }
        let covers = allowing.covered(&self.tool, &self.effects).is_some() && self.is_needed(&allowing);
        match covers && denying.speaks(RuleLevel::Deny, &self.tool, &self.effects).is_some() {
            true => Ok(()),
            false => Err("this does not cover the call\nhint: the rules must cover every line above".to_owned()),
        }
    }

    /// Whether the edited rules add anything: rules that are already there would change nothing.
    fn is_needed(&self, with: &ApprovalRules) -> bool {
        with.iter().count() > self.rules.iter().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::RulePlaces;

    #[test]
    fn what_does_not_cover_the_call_or_cannot_be_read_is_refused() {
        let run = |text: &str| Effect::Run { words: text.split(' ').map(str::to_owned).collect(), whole: true };
        let mut rules = ApprovalRules::new(RulePlaces { workspace: "/w/app".into(), ..RulePlaces::default() });
        rules.add(RuleLevel::Allow, RuleSource::User, "bash(cd *)").unwrap();
        let effects = vec![run("cd src"), run("git push origin main"), Effect::Write("/w/app/log".into())];
        let edited = EditedRules::new(&rules, "bash", &effects);
        for (lines, expect) in [
            (&["bash(git push origin *)", "write(log)"] as &[&str], Ok(())),
            (&["bash(git *)", "write(**)"], Ok(())),
            (&["bash"], Ok(())),
            (&["bash(git push origin *)"], Err("this does not cover the call")),
            (&["bash(git pull *)", "write(log)"], Err("this does not cover the call")),
            (&["bash(cd *)"], Err("this does not cover the call")),
            (&[], Err("this does not cover the call")),
            (&["bash(git", "write(log)"], Err("`bash(git` is not a valid rule: the parenthesis is not closed")),
            (&["git push"], Err("`git push` is not a valid rule: it does not start with a tool name")),
        ] {
            let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            let first = |problem: String| problem.lines().next().unwrap_or_default().to_owned();
            let told = edited.check(&lines).map_err(first);
            assert_eq!(told, expect.map_err(str::to_owned), "{lines:?}");
        }
    }
}
