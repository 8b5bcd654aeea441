//! Turns declarations into hooks that can be run, with a sentence about each that cannot.

use std::path::{Path, PathBuf};
use std::time::Duration;

use omp_config::{Declared, ItemSource, Level, Provider, hook_line};
use serde_json::Value;

use crate::condition;
use crate::event::HookEvent;
use crate::matcher::HookMatcher;

/// Maximum commands of one entry.
const MOST_COMMANDS: usize = 100;
const LONGEST_COMMAND: usize = 64 << 10;
/// Maximum time limit in seconds.
const LONGEST_TIMEOUT: f64 = 3600.0;

/// A command for an event.
#[derive(Clone, Debug)]
pub struct Hook {
    pub event: HookEvent,
    /// The text as written.
    pub matcher: String,
    pub(crate) matches: HookMatcher,
    pub command: String,
    pub timeout: Duration,
    /// A rule that narrows the matcher: `Bash(git *)`.
    pub(crate) condition: Option<String>,
    /// The session does not wait for it, and it decides nothing.
    pub in_background: bool,
    /// Where it is declared.
    pub source: ItemSource,
    /// The value of `$CLAUDE_PROJECT_DIR`; `None` means the working folder.
    pub(crate) project: Option<PathBuf>,
    /// The value of `$CLAUDE_PLUGIN_ROOT`, if the hook comes from a plugin.
    pub(crate) plugin: Option<PathBuf>,
}

/// The declared hooks, in order.
#[derive(Clone, Debug, Default)]
pub struct ReadHooks {
    pub hooks: Vec<Hook>,
    /// Sentences for the user about declarations that were left out.
    pub warnings: Vec<String>,
}

/// Items that are not shell hooks, such as modules for an extension system, are ignored here.
pub fn read(declared: &[Declared]) -> ReadHooks {
    let mut found = ReadHooks::default();
    for item in declared {
        let Some(event) = item.value.get("event").and_then(Value::as_str) else { continue };
        if let Err(problem) = entry(item, event, &mut found) {
            found.warnings.push(left_out(&item.source.path, event, &problem));
        }
    }
    found
}

fn left_out(path: &Path, event: &str, problem: &str) -> String {
    format!("{}: a hook of `{event}` is ignored: {problem}", path.display())
}

fn entry(item: &Declared, event: &str, found: &mut ReadHooks) -> Result<(), String> {
    let path = &item.source.path;
    let event =
        HookEvent::named(event).ok_or_else(|| format!("unknown event\nhint: the events are {}", HookEvent::names()))?;
    let matcher = match item.value.get("matcher") {
        None | Some(Value::Null) => "",
        Some(Value::String(matcher)) => matcher,
        Some(_) => return Err("its `matcher` must be a string".to_owned()),
    };
    let matches = if event.is_matched() { HookMatcher::parse(matcher)? } else { HookMatcher::All };
    let Some(Value::Array(commands)) = item.value.get("hooks") else {
        return Err("it must contain a list `hooks`".to_owned());
    };
    if commands.len() > MOST_COMMANDS {
        return Err(format!("it has more than {MOST_COMMANDS} commands"));
    }
    for command in commands {
        let hook = Hook {
            event,
            matcher: matcher.to_owned(),
            matches: matches.clone(),
            command: String::new(),
            timeout: event.usual_timeout(),
            condition: None,
            in_background: ["async", "asyncRewake"].iter().any(|key| command.get(key) == Some(&Value::Bool(true))),
            source: item.source.clone(),
            project: project_of(item),
            plugin: plugin_of(item),
        };
        match one(command, hook) {
            Ok(hook) => {
                let unread = hook.condition.as_deref().and_then(condition::problem);
                found.warnings.extend(unread.map(|why| unread_condition(path, event, &why)));
                found.hooks.push(hook);
            }
            Err(problem) => found.warnings.push(left_out(path, event.name(), &problem)),
        }
    }
    Ok(())
}

fn unread_condition(path: &Path, event: HookEvent, why: &str) -> String {
    let (path, event) = (path.display(), event.name());
    format!("{path}: the `if` of a hook of `{event}` is invalid, so the hook runs for every call: {why}")
}

/// Reads the command, the time limit and the condition.
fn one(command: &Value, hook: Hook) -> Result<Hook, String> {
    match command.get("type").and_then(Value::as_str) {
        None | Some("command") => {}
        Some(other) => return Err(format!("omp runs hooks of the type `command`, not `{other}`")),
    }
    let line = match hook_line(command) {
        Some(line) => line,
        None if command.get("command").is_some_and(Value::is_string) => {
            return Err("its `args` must be a list of strings".to_owned());
        }
        None => String::new(),
    };
    if line.trim().is_empty() {
        return Err("it has no `command`".to_owned());
    }
    if line.len() > LONGEST_COMMAND || line.contains('\0') {
        return Err("its `command` cannot be run".to_owned());
    }
    let timeout = match command.get("timeout") {
        None | Some(Value::Null) => hook.timeout,
        Some(seconds) => match seconds.as_f64() {
            Some(seconds) if seconds > 0.0 => Duration::from_secs_f64(seconds.min(LONGEST_TIMEOUT)),
            _ => return Err("its `timeout` must be a number of seconds above 0".to_owned()),
        },
    };
    let condition = match command.get("if") {
        None | Some(Value::Null) => None,
        Some(Value::String(_)) if !hook.event.is_of_tools() => {
            return Err("its `if` is for events of tools only".to_owned());
        }
        Some(Value::String(rule)) => Some(rule.clone()),
        Some(_) => return Err("its `if` must be a string such as `Bash(git *)`".to_owned()),
    };
    Ok(Hook { command: line, timeout, condition, ..hook })
}

/// For hooks of a project this is the folder that declares them, even if omp was started in a subfolder.
fn project_of(item: &Declared) -> Option<PathBuf> {
    let folder = item.source.path.parent()?.parent()?;
    (item.source.level == Level::Project).then(|| folder.to_owned())
}

/// `<plugin>/hooks/hooks.json`
fn plugin_of(item: &Declared) -> Option<PathBuf> {
    let folder = item.source.path.parent()?.parent()?;
    (item.source.provider == Provider::ClaudePlugins).then(|| folder.to_owned())
}

#[cfg(test)]
mod tests;
