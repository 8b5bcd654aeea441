//! `/permissions`: lists the approval rules and the decisions of this session, adds and removes rules.

use std::fmt::Write as _;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_policy::{ApprovalRule, RuleLevel, RuleSource};
use omp_session::{CommandChoice, CommandScreen, Decided, Session, SlashCommand, SlashReply};
use omp_stdx::sanitize::strip_control;

/// Caps the decisions listed.
const NEWEST: usize = 30;
/// Caps the effects listed for a decision.
const MOST_EFFECTS: usize = 10;
const LONGEST_EFFECT: usize = 200;
const USAGE: &str = "hint: usage: /permissions [allow|ask|deny <rule> | remove <number or rule> | decisions]";
const EXAMPLE: &str = "hint: for example: /permissions allow bash(git status *)";
const LEVELS: [RuleLevel; 3] = [RuleLevel::Allow, RuleLevel::Ask, RuleLevel::Deny];

pub struct PermissionsCommand;

impl SlashCommand for PermissionsCommand {
    fn name(&self) -> &str {
        "permissions"
    }

    fn description(&self) -> &str {
        "List, add or remove approval rules"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[allow|ask|deny <rule> | remove <number or rule> | decisions]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
            let text = match (word, rest.trim()) {
                ("", _) => return Ok(menu(session)),
                ("decisions", "") => listed(session),
                ("remove", "") => return Err(format!("no rule given\n{USAGE}")),
                ("remove", which) => removed(session, which)?,
                (word, rule) => {
                    let level = LEVELS.into_iter().find(|level| level.as_str() == word);
                    let level = level.ok_or_else(|| format!("unknown argument `{word}`\n{USAGE}"))?;
                    if rule.is_empty() {
                        return Err(format!("no rule given\n{USAGE}\n{EXAMPLE}"));
                    }
                    session.add_rule(level, rule)?;
                    format!("{} {rule}: saved in your config.yml; applies from the next call.", level.as_str())
                }
            };
            Ok(SlashReply::Text(text))
        }
        .boxed()
    }
}

/// The terminal lists the rules with their sources. A chosen rule is removed only after the line is submitted.
fn menu(session: &Session) -> SlashReply {
    let item = |label: String, facts: String, line: String, is_begun| CommandChoice { label, facts, line, is_begun };
    let mut items = Vec::new();
    for level in LEVELS {
        let word = level.as_str();
        let facts = match level {
            RuleLevel::Allow => "run without asking",
            RuleLevel::Ask => "always ask first",
            RuleLevel::Deny => "never run",
        };
        let line = format!("/permissions {word} ");
        items.push(item(format!("Add a rule: {word} …"), facts.to_owned(), line, true));
    }
    for rule in session.rules() {
        let named = format!("{} {}", rule.level.as_str(), rule.text);
        let line = format!("/permissions remove {named}");
        items.push(item(format!("Remove: {named}"), from(rule.source).to_owned(), line, true));
    }
    let decisions = session.decisions().len();
    if decisions > 0 {
        let label = "Show the decisions of this session".to_owned();
        items.push(item(label, format!("{decisions}"), "/permissions decisions".to_owned(), false));
    }
    let title = format!("Approval rules · mode {}", session.snapshot().approval_mode.as_str());
    SlashReply::Screen { text: listed(session), screen: CommandScreen::Menu { title, items } }
}

/// Where a rule comes from, for the menu.
fn from(source: RuleSource) -> &'static str {
    match source {
        RuleSource::User => "your config.yml",
        RuleSource::Project => "the project's config.yml",
        RuleSource::UserHere => "yours, for this project",
        RuleSource::Session => "this session",
    }
}

fn listed(session: &Session) -> String {
    let mut text = format!("Approval mode: {}\n", session.snapshot().approval_mode.as_str());
    let _ = writeln!(text, "Containment: {}", session.access().mode().as_str());
    let rules = session.rules();
    if rules.is_empty() {
        text.push_str("No rules. Add one with: /permissions allow bash(git status *)\n");
    }
    for (at, rule) in rules.iter().enumerate() {
        let _ = writeln!(text, "{}. {rule}", at + 1);
    }
    let decisions = session.decisions();
    if !decisions.is_empty() {
        text.push_str("Decisions in this session, newest last:\n");
    }
    let skipped = decisions.len().saturating_sub(NEWEST);
    for decided in decisions.iter().skip(skipped) {
        let _ = writeln!(text, "- {}", told(decided));
    }
    text.trim_end().to_owned()
}

fn told(decided: &Decided) -> String {
    let ran = if decided.ran { "allowed" } else { "refused" };
    let what = match effects(decided) {
        told if told.is_empty() => told,
        told => format!(" ({told})"),
    };
    let answer = decided.answer.as_deref().map(|answer| format!(", answer: {answer}")).unwrap_or_default();
    let line = format!("{}{what}: {ran}, by {}{answer}", decided.tool, decided.by);
    strip_control(&line).replace('\n', " ")
}

/// Lists the effects of a call, up to a limit.
fn effects(decided: &Decided) -> String {
    let cut = |effect: &String| match effect.char_indices().nth(LONGEST_EFFECT) {
        Some((at, _)) => format!("{}…", &effect[..at]),
        None => effect.clone(),
    };
    let mut told: Vec<String> = decided.effects.iter().take(MOST_EFFECTS).map(cut).collect();
    if decided.effects.len() > MOST_EFFECTS {
        told.push(format!("{} more", decided.effects.len() - MOST_EFFECTS));
    }
    told.join("; ")
}

fn removed(session: &Session, which: &str) -> Result<String, String> {
    let rules = session.rules();
    let numbered = which.parse::<usize>().ok().and_then(|number| rules.get(number.wrapping_sub(1)));
    let is_meant =
        |rule: &&ApprovalRule| rule.text == which || format!("{} {}", rule.level.as_str(), rule.text) == which;
    let rule = numbered.or_else(|| rules.iter().find(is_meant));
    let rule = rule.ok_or_else(|| format!("no such rule: `{which}`\nhint: /permissions lists the rules"))?;
    session.remove_rule(rule.level, &rule.text)?;
    Ok(format!("Removed: {} {}", rule.level.as_str(), rule.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_names_all_that_the_call_does_up_to_a_bound() {
        let decided = |effects: Vec<String>| Decided {
            call_id: "c".to_owned(),
            tool: "bash".to_owned(),
            effects,
            verdict: "run",
            by: "yolo".to_owned(),
            answer: None,
            ran: true,
        };
        assert_eq!(told(&decided(Vec::new())), "bash: allowed, by yolo");
        let two = vec!["runs: echo x".to_owned(), "writes: b.txt".to_owned()];
        assert_eq!(told(&decided(two)), "bash (runs: echo x; writes: b.txt): allowed, by yolo");
        let many: Vec<String> = (0..13).map(|at| format!("writes: {at}{}", "x".repeat(300))).collect();
        let line = told(&decided(many));
        assert!(line.ends_with("x…; 3 more): allowed, by yolo") && line.len() < 2500, "{line}");
    }
}
