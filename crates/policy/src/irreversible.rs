//! Calls whose effects cannot be undone: they need approval in every mode, unless the user's own rules name the command.

use omp_agent::{Approval, Effect};
use omp_shell::IrreversibleRow;

use crate::Policy;
use crate::rule::told;

/// A command of a call that cannot be undone.
pub(crate) struct IrreversibleEffect<'a> {
    pub effect: &'a Effect,
    pub row: &'static IrreversibleRow,
}

impl IrreversibleEffect<'_> {
    pub fn reason(&self) -> String {
        let warning = if self.row.is_warned { "warning: it" } else { "it" };
        format!("{warning} {}, which cannot be undone", self.row.effect)
    }
}

/// The commands of a call that cannot be undone and that no rule of the user allows, those with a warning first.
pub(crate) fn irreversible<'a>(policy: &Policy, approval: &'a Approval) -> Vec<IrreversibleEffect<'a>> {
    let found = approval.effects.iter().filter_map(|effect| {
        let Effect::Run { words, whole } = effect else { return None };
        let row = omp_shell::irreversible(&told(words, *whole))?;
        Some(IrreversibleEffect { effect, row })
    });
    let mut open: Vec<_> =
        found.filter(|found| found.row.is_warned || !policy.rules.names_command(found.effect)).collect();
    open.sort_by_key(|found| !found.row.is_warned);
    open
}

#[cfg(test)]
mod tests {
    use omp_agent::Tier;

    use super::*;
    use crate::{ApprovalMode, RuleLevel, RuleSource, ToolPolicy, VerdictKind};

    const PAGE: &str = include_str!("../../../docs/approval.md");
    const MODES: [ApprovalMode; 4] =
        [ApprovalMode::Auto, ApprovalMode::Write, ApprovalMode::AskWrites, ApprovalMode::AskAll];

    fn approval(script: &str) -> Approval {
        let commands = omp_shell::read(script).commands;
        let run = |command: &omp_shell::ShellCommand| Effect::Run {
            words: command.words.iter().map(|word| word.text.clone()).collect(),
            whole: command.is_whole(),
        };
        Approval { effects: commands.iter().map(run).collect(), ..Tier::Exec.into() }
    }

    fn asks(policy: &Policy, script: &str) -> bool {
        matches!(policy.verdict("bash", &approval(script)).kind, VerdictKind::Ask { .. })
    }

    fn quoted(cell: &str) -> Vec<&str> {
        cell.split('`').skip(1).step_by(2).collect()
    }

    /// Every command that a row of the page names: one with each program, verb and word, and its trials.
    fn commands(line: &str) -> (Vec<String>, Vec<String>) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let [programs, verbs, with, _, trials] = cells.as_slice() else { panic!("{line}") };
        let verbs = match verbs.trim() {
            "everything" => vec![""],
            "all but reading" => vec!["x delete y"],
            _ => quoted(verbs),
        };
        let with = if quoted(with).is_empty() { vec![""] } else { quoted(with) };
        let (mut asking, mut trying) = (Vec::new(), Vec::new());
        for program in quoted(programs) {
            for verb in &verbs {
                for word in &with {
                    let command = format!("{program} {verb} {} x", word.replace("REF", "main"));
                    trying.extend(quoted(trials).iter().map(|trial| format!("{command} {trial}")));
                    asking.push(command);
                }
            }
        }
        (asking, trying)
    }

    #[test]
    fn every_row_of_the_page_asks_in_every_mode() {
        let start = PAGE.find("| Program | Command |").expect("the table of docs/approval.md");
        let lines: Vec<&str> = PAGE[start..].lines().skip(2).take_while(|line| line.starts_with('|')).collect();
        assert!(lines.len() > 40, "{}", lines.len());
        for line in lines {
            let (asking, trying) = commands(line);
            assert!(!asking.is_empty(), "{line}");
            for mode in MODES {
                let policy = Policy { mode, ..Policy::default() };
                asking.iter().for_each(|script| assert!(asks(&policy, script), "{mode:?}: {script}"));
            }
            trying.iter().for_each(|script| assert!(!asks(&Policy::default(), script), "{script}"));
        }
    }

    #[test]
    fn a_rule_that_names_the_command_answers_unless_there_is_a_warning() {
        for (rule, script, expect) in [
            ("bash(git push *)", "git push origin main", false),
            ("bash(git push *)", "cargo test && git push", false),
            ("bash(git *)", "git push", false),
            ("bash(git push origin *)", "git push other", true),
            ("bash(git push *)", "git push --force", true),
            ("bash(git push *)", "git push origin :old", true),
            ("bash(git push *)", "git push && npm publish", true),
            ("bash(git push *)", "git push $X", true),
            ("bash", "git push", true),
            ("bash(*)", "git push", true),
        ] {
            let mut policy = Policy::default();
            policy.rules.add(RuleLevel::Allow, RuleSource::User, rule).unwrap();
            assert_eq!(asks(&policy, script), expect, "{rule}: {script}");
        }
        let tools = [("bash".to_owned(), ToolPolicy::Allow)].into();
        assert!(asks(&Policy { tools, ..Policy::default() }, "git push"), "the tool is allowed, not the push");
    }
}
