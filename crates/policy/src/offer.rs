//! The rules that "always" would write: they cover the call and as little else as possible.

use std::collections::BTreeSet;
use std::path::Path;

use omp_agent::{Approval, Effect};
use omp_shell::quoted;
use omp_stdx::sanitize::on_one_line;

use crate::Policy;
use crate::irreversible::irreversible;
use crate::paths::RulePlaces;

/// No rules are offered for a call with more parts than this.
const MOST_RULES: usize = 8;
/// The user should not agree to a rule that is too long to read.
const LONGEST_RULE: usize = 400;

/// Rules that belong together: either all are written, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleOffer {
    pub rules: Vec<String>,
}

impl RuleOffer {
    /// One line of text for the user.
    pub fn text(&self) -> String {
        on_one_line(&self.rules.join(", ")).into_owned()
    }
}

/// The offers, the narrowest first. Empty for calls that have to be checked every time, and for those whose effects are
/// unknown.
pub fn offers(policy: &Policy, tool: &str, approval: &Approval) -> Vec<RuleOffer> {
    if approval.force_prompt {
        return Vec::new();
    }
    if approval.effects.is_empty() {
        return whole_tool(tool);
    }
    let Some(open) = open(policy, tool, approval) else { return Vec::new() };
    let places = policy.rules.places();
    let offer = |width: RuleWidth| {
        let rules: Option<Vec<String>> = open.iter().map(|effect| rule_for(effect, width, places)).collect();
        let mut rules = rules?;
        let mut seen = BTreeSet::new();
        rules.retain(|rule| seen.insert(rule.clone()));
        let readable = rules.len() <= MOST_RULES && rules.iter().all(|rule| rule.len() <= LONGEST_RULE);
        readable.then_some(RuleOffer { rules })
    };
    // Many commands of one kind are too much to read, but the files they write may still be few.
    let narrow = offer(RuleWidth::Exact).or_else(|| offer(RuleWidth::Programs));
    let wide = offer(RuleWidth::ProgramsAndFolders).filter(|wide| narrow.as_ref() != Some(wide));
    narrow.into_iter().chain(wide).collect()
}

/// How much more than the call itself a rule covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RuleWidth {
    Exact,
    /// Everything that begins with the same program and subcommand, on the same files.
    Programs,
    /// In the same folders, too.
    ProgramsAndFolders,
}

/// The effects that rules would have to cover for the call to run; `None` if no rule can.
fn open<'a>(policy: &Policy, tool: &str, approval: &'a Approval) -> Option<Vec<&'a Effect>> {
    let irreversible = irreversible(policy, approval);
    if irreversible.iter().any(|found| found.row.is_warned) {
        return None;
    }
    if !irreversible.is_empty() && policy.mode_lets(approval) {
        return Some(irreversible.into_iter().map(|found| found.effect).collect());
    }
    let meant = policy.rules.meant(&approval.effects);
    let is_open = |effect: &&Effect| {
        !crate::rules::is_free(effect)
            && !policy.rules.covers(tool, effect)
            && !matches!(effect, Effect::Write(path) if meant.contains(path))
    };
    let open: Vec<&Effect> = approval.effects.iter().filter(is_open).collect();
    Some(if open.is_empty() { approval.effects.iter().collect() } else { open })
}

/// `bash` can do anything, so its effects have to be known.
fn whole_tool(tool: &str) -> Vec<RuleOffer> {
    let rule = match tool.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
        Some((server, name)) => format!("mcp({server}/{name})"),
        None if tool == "bash" => return Vec::new(),
        None => tool.to_owned(),
    };
    vec![RuleOffer { rules: vec![rule] }]
}

fn rule_for(effect: &Effect, width: RuleWidth, places: &RulePlaces) -> Option<String> {
    let file = width != RuleWidth::ProgramsAndFolders;
    match effect {
        Effect::Run { words, whole: true } if !words.is_empty() => {
            // A rule has one line, and a message of several lines is unlikely to be sent again.
            let is_one_line = words.iter().all(|word| !word.contains('\n'));
            Some(run_rule(words, width == RuleWidth::Exact && is_one_line))
        }
        Effect::Run { words, whole: false } => pattern_rule(words),
        Effect::Read(path) => Some(format!("read({})", path_rule(path, file, places)?)),
        Effect::Write(path) => Some(format!("write({})", path_rule(path, file, places)?)),
        Effect::Connect { host } => Some(format!("fetch(domain:{host})")),
        Effect::Run { .. } | Effect::Follow { .. } | Effect::Use(_) | Effect::Unknown(_) => None,
    }
}

/// For a command with file patterns such as `src/*.rs`: everything that begins with its program and subcommand, as its words
/// are not known before it runs.
fn pattern_rule(words: &[String]) -> Option<String> {
    let told = crate::rule::told(words, false);
    let rule = told.first().filter(|program| program.known).map(|_| run_rule(words, false))?;
    let pattern = omp_shell::CommandPattern::parse(rule.strip_prefix("bash(")?.strip_suffix(')')?).ok()?;
    pattern.allows(&told).then_some(rule)
}

/// The exact command, or everything that begins with its program and subcommand.
fn run_rule(words: &[String], narrow: bool) -> String {
    let subcommand = words.get(1).is_some_and(|word| is_subcommand(word));
    let taken = if narrow { words.len() } else { 1 + usize::from(subcommand) };
    let said: Vec<String> = words.iter().take(taken).map(|word| quoted(word)).collect();
    // Interpreters run whatever their arguments say, so a rule on the program alone would be meaningless.
    let means_nothing = taken == 1 && runs_anything(&words[0]);
    match narrow {
        true => format!("bash({})", said.join(" ")),
        false if means_nothing => run_rule(words, true),
        false => format!("bash({} *)", said.join(" ")),
    }
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-')
}

fn runs_anything(program: &str) -> bool {
    const PROGRAMS: [&str; 60] = [
        "sh",
        "bash",
        "zsh",
        "fish",
        "dash",
        "ash",
        "ksh",
        "mksh",
        "csh",
        "tcsh",
        "pwsh",
        "env",
        "sudo",
        "doas",
        "su",
        "xargs",
        "find",
        "fd",
        "timeout",
        "nohup",
        "nice",
        "ionice",
        "stdbuf",
        "setsid",
        "time",
        "watch",
        "script",
        "flock",
        "strace",
        "chroot",
        "unshare",
        "busybox",
        "toybox",
        "python",
        "python3",
        "pypy",
        "node",
        "nodejs",
        "deno",
        "bun",
        "perl",
        "ruby",
        "php",
        "lua",
        "julia",
        "Rscript",
        "osascript",
        "ssh",
        "eval",
        "exec",
        "command",
        "builtin",
        "awk",
        "npx",
        "bunx",
        "uvx",
        "docker",
        "podman",
        "rm",
        "dd",
    ];
    PROGRAMS.contains(&program.rsplit('/').next().unwrap_or(program))
}

/// The file itself, or its folder.
fn path_rule(path: &Path, narrow: bool, places: &RulePlaces) -> Option<String> {
    let named = if narrow { path } else { path.parent()? };
    let text = match (named.strip_prefix(&places.workspace), &places.home) {
        (Ok(inside), _) => inside.to_str()?.to_owned(),
        (Err(_), Some(home)) if named.starts_with(home) => format!("~/{}", named.strip_prefix(home).ok()?.to_str()?),
        (Err(_), _) => named.to_str()?.to_owned(),
    };
    let text = globset::escape(&text);
    Some(match (narrow, text.as_str()) {
        (true, _) => text,
        (false, "") => "**".to_owned(),
        (false, _) => format!("{}/**", text.trim_end_matches('/')),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use omp_agent::Tier;

    use super::*;
    use crate::{ApprovalMode, ApprovalRules};

    #[track_caller]
    fn check(effects: Vec<Effect>, expect: &[&str]) {
        let places = RulePlaces { workspace: "/w".into(), ..RulePlaces::default() };
        let policy =
            Policy { mode: ApprovalMode::AskAll, tools: BTreeMap::default(), rules: ApprovalRules::new(places) };
        let approval = Approval { effects, ..Approval::from(Tier::Exec) };
        let offered: Vec<String> = offers(&policy, "bash", &approval).iter().map(RuleOffer::text).collect();
        assert_eq!(offered, expect);
    }

    fn echo(times: usize) -> Vec<Effect> {
        let line = |at| Effect::Run { words: vec!["echo".into(), "step".into(), format!("{at}")], whole: true };
        (1..=times).map(line).chain([Effect::Write("/w/steps.log".into())]).collect()
    }

    #[test]
    fn many_commands_are_allowed_by_their_program_on_the_same_files() {
        check(echo(1), &["bash(echo step 1), write(steps.log)", "bash(echo step *), write(**)"]);
        check(echo(9), &["bash(echo step *), write(steps.log)", "bash(echo step *), write(**)"]);
    }

    #[test]
    fn a_text_of_several_lines_is_in_no_rule() {
        let commit = ["git", "commit", "-m", "Fix the parser\n\nIt lost comments."].map(str::to_owned).to_vec();
        let commit = Effect::Run { words: commit, whole: true };
        let cat = Effect::Run { words: vec!["cat".into()], whole: true };
        check(vec![commit, cat], &["bash(git commit *), bash(cat)", "bash(git commit *), bash(cat *)"]);
    }
}
