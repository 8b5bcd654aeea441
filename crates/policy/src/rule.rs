//! One rule: `bash(git push *)`, `write(src/**)`, `mcp(server/tool)`, or the name of a tool for all its calls.

use std::fmt;

use omp_agent::Effect;
use omp_shell::{CommandPattern, Forbids, ShellWord};
use omp_types::AccessMap;

use crate::paths::{PathPattern, RulePlaces};
use crate::tool_names::{PatternKind, tools_in_rule};

/// Longer text is not a rule.
const LONGEST: usize = 4096;

/// The level of a rule, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleLevel {
    Allow,
    Ask,
    Deny,
}

impl RuleLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            RuleLevel::Allow => "allow",
            RuleLevel::Ask => "ask",
            RuleLevel::Deny => "deny",
        }
    }

    /// The setting that lists such rules.
    pub fn key(self) -> &'static str {
        match self {
            RuleLevel::Allow => "tools.allow",
            RuleLevel::Ask => "tools.ask",
            RuleLevel::Deny => "tools.deny",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSource {
    User,
    /// A file of the project.
    Project,
    /// The user's, for this project only.
    UserHere,
    /// Added in this session and not stored.
    Session,
}

/// How long a rule lasts that the user adds in answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleScope {
    /// Until the session is closed.
    Session,
    /// In this project, stored in the user's folder.
    Project,
    /// Everywhere, stored in the user's settings.
    User,
}

impl RuleSource {
    pub fn as_str(self) -> &'static str {
        match self {
            RuleSource::User => "user",
            RuleSource::Project => "project",
            RuleSource::UserHere => "user, for this project",
            RuleSource::Session => "this session",
        }
    }
}

#[derive(Clone, Debug)]
pub struct ApprovalRule {
    pub level: RuleLevel,
    pub source: RuleSource,
    /// The text as written.
    pub text: String,
    subject: Subject,
}

/// Rules are equal if their text is.
impl PartialEq for ApprovalRule {
    fn eq(&self, other: &Self) -> bool {
        (self.level, self.source, &self.text) == (other.level, other.source, &other.text)
    }
}

impl Eq for ApprovalRule {}

impl fmt::Display for ApprovalRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.level.as_str(), self.text, self.source.as_str())
    }
}

#[derive(Clone, Debug)]
enum Subject {
    /// All calls of these tools.
    Tools(Vec<String>),
    /// All calls of tools whose names have this prefix.
    ToolsFrom(String),
    Run(CommandPattern),
    Read(PathPattern),
    Write(PathPattern),
    /// In lower case; `*.` matches all subdomains.
    Host(String),
}

impl ApprovalRule {
    pub fn parse(level: RuleLevel, source: RuleSource, text: &str, places: &RulePlaces) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(format!("it has more than {LONGEST} bytes"));
        }
        Ok(Self { level, source, text: text.to_owned(), subject: subject(text, places)? })
    }

    /// Whether this allow rule covers one effect of a call.
    pub(crate) fn allows(&self, tool: &str, effect: &Effect) -> bool {
        match (&self.subject, effect) {
            (Subject::Run(pattern), Effect::Run { words, whole }) => pattern.allows(&told(words, *whole)),
            (Subject::Read(pattern), Effect::Read(path)) | (Subject::Write(pattern), Effect::Write(path)) => {
                pattern.allows(path)
            }
            (Subject::Host(host), Effect::Connect { host: to }) => is_host(host, to, false),
            _ => self.names(tool),
        }
    }

    /// Whether this ask or deny rule applies to a call with this effect.
    pub(crate) fn forbids(&self, effect: &Effect) -> Forbids {
        let sure = |yes: bool| if yes { Forbids::Yes } else { Forbids::No };
        match (&self.subject, effect) {
            (Subject::Run(pattern), Effect::Run { words, whole }) => pattern.forbids(&told(words, *whole)),
            (Subject::Run(_) | Subject::Write(_), Effect::Unknown(_)) => Forbids::Perhaps,
            (Subject::Read(pattern), Effect::Read(path)) => sure(pattern.forbids(path)),
            (Subject::Write(pattern), Effect::Write(path)) if pattern.forbids(path) => Forbids::Yes,
            // Removing, moving or unpacking into a folder affects its content.
            (Subject::Write(pattern), Effect::Write(path)) if pattern.is_below(path) => Forbids::Perhaps,
            (Subject::Host(host), Effect::Connect { host: to }) => sure(is_host(host, to, true)),
            _ => Forbids::No,
        }
    }

    /// Whether the rule is about writing files that the map already protects from every contained command.
    pub(crate) fn is_out_of_reach(&self, map: &AccessMap) -> bool {
        matches!(&self.subject, Subject::Write(pattern) if pattern.is_out_of_reach(map))
    }

    /// Whether the rule applies to a call with these effects, or may: effects that are only known at run time are not
    /// excluded.
    pub fn may_concern(&self, tool: &str, effects: &[Effect]) -> bool {
        self.names(tool) || effects.iter().any(|effect| self.forbids(effect) != Forbids::No)
    }

    /// Whether this allow rule covers the command and names its program.
    pub(crate) fn names_command(&self, effect: &Effect) -> bool {
        let Effect::Run { words, whole } = effect else { return false };
        matches!(&self.subject, Subject::Run(pattern) if pattern.names_program() && pattern.allows(&told(words, *whole)))
    }

    /// Whether the rule applies to all calls of the tool.
    pub(crate) fn names(&self, tool: &str) -> bool {
        match &self.subject {
            Subject::Tools(tools) => tools.iter().any(|named| named == tool),
            Subject::ToolsFrom(beginning) => tool.starts_with(beginning),
            _ => false,
        }
    }
}

/// The words of a command as the shell parser has them; unknown words are recognized by their spelling.
pub(crate) fn told(words: &[String], whole: bool) -> Vec<ShellWord> {
    let is_open = |word: &str| word.is_empty() || word.contains(['$', '`', '*', '?', '[', '{', '~', '(', '\u{2026}']);
    let word = |word: &String| if !whole && is_open(word) { ShellWord::unknown(word) } else { ShellWord::known(word) };
    // For an unknown command nothing is excluded.
    let nothing = words.is_empty().then(|| ShellWord::unknown("\u{2026}"));
    words.iter().map(word).chain(nothing).collect()
}

fn subject(text: &str, places: &RulePlaces) -> Result<Subject, String> {
    let Some((name, rest)) = text.split_once('(') else { return Ok(whole_tool(check_name(text)?)) };
    let inside = rest.strip_suffix(')').ok_or("the parenthesis is not closed")?.trim();
    let name = check_name(name.trim())?;
    if inside.is_empty() {
        return Err(format!("the parentheses are empty\nhint: write `{name}` to match all calls of the tool"));
    }
    match PatternKind::of(name) {
        Some(PatternKind::Command) => CommandPattern::parse(inside).map(Subject::Run),
        Some(PatternKind::ReadPath) => PathPattern::parse(inside, places).map(Subject::Read),
        Some(PatternKind::WrittenPath) => PathPattern::parse(inside, places).map(Subject::Write),
        Some(PatternKind::Host) => host(inside),
        Some(PatternKind::Server) => Ok(server(inside)),
        None => Err(format!(
            "`{name}` takes no pattern\nhint: use bash(…), read(…), write(…), edit(…), fetch(domain:…), mcp(server/tool), or `{name}` for all calls of the tool"
        )),
    }
}

fn check_name(name: &str) -> Result<&str, String> {
    let fine = |char: char| char.is_ascii_alphanumeric() || "_-.:*".contains(char);
    match !name.is_empty() && name.chars().all(fine) {
        true => Ok(name),
        false => Err("it does not start with a tool name\nhint: write it as `bash(git push *)`".to_owned()),
    }
}

/// Maps tool names of other agents to ours.
fn whole_tool(name: &str) -> Subject {
    if let Some(server) = name.strip_prefix("mcp__")
        && (!server.contains("__") || server.ends_with("__*"))
    {
        return Subject::ToolsFrom(format!("mcp__{}__", server.trim_end_matches("__*")));
    }
    Subject::Tools(tools_in_rule(name))
}

/// `server/tool`, `server/*` or `server`.
fn server(inside: &str) -> Subject {
    match inside.split_once('/') {
        None | Some((_, "*")) => Subject::ToolsFrom(format!("mcp__{}__", inside.split('/').next().unwrap_or(inside))),
        Some((server, tool)) => Subject::Tools(vec![format!("mcp__{server}__{tool}")]),
    }
}

fn host(inside: &str) -> Result<Subject, String> {
    let host = inside.strip_prefix("domain:").unwrap_or(inside).trim().trim_end_matches('.').to_ascii_lowercase();
    let bare = host.strip_prefix("*.").unwrap_or(&host);
    match !bare.is_empty() && bare.chars().all(|char| char.is_alphanumeric() || "-._:[]".contains(char)) {
        true => Ok(Subject::Host(host)),
        false => Err("it has no host\nhint: write it as `fetch(domain:example.com)`".to_owned()),
    }
}

/// `wide`: subdomains of the host count too.
fn is_host(rule: &str, host: &str, wide: bool) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    match rule.strip_prefix("*.") {
        Some(parent) => is_below(&host, parent) || (wide && host == parent),
        None => host == rule || (wide && is_below(&host, rule)),
    }
}

fn is_below(host: &str, parent: &str) -> bool {
    host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.') && rest.len() > 1)
}
