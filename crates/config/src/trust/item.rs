//! One item of a folder that would run, with a fingerprint of its current content.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::item_files::Fingerprint;
use crate::discovery::{Catalogue, Declared, FileCommand, ItemSource, Level};
use crate::hook_line::hook_line;

/// Limits the lines shown of one item.
const MOST_LINES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    Hook,
    /// A module, or a hook of an unsupported type.
    UnsupportedHook,
    McpServer,
    /// A command file with `` !`line` ``.
    Command,
    Tool,
    Extension,
    /// A language server, a formatter or an interpreter in the folder.
    Program,
    /// A list of texts that the model must not see.
    Secrets,
    /// A rule that replaces a rule of the user or of omp.
    Rule,
}

impl ItemKind {
    /// The name shown to users.
    pub fn name(self) -> &'static str {
        match self {
            ItemKind::Hook => "hook",
            ItemKind::UnsupportedHook => "hook module",
            ItemKind::McpServer => "MCP server",
            ItemKind::Command => "command",
            ItemKind::Tool => "tool",
            ItemKind::Extension => "extension",
            ItemKind::Program => "program",
            ItemKind::Secrets => "secrets",
            ItemKind::Rule => "rule",
        }
    }

    /// Whether omp runs or uses it. An item that is only listed needs no trust.
    pub fn is_used(self) -> bool {
        match self {
            ItemKind::Hook | ItemKind::Command | ItemKind::Program | ItemKind::Secrets | ItemKind::Rule => true,
            ItemKind::UnsupportedHook | ItemKind::McpServer | ItemKind::Tool | ItemKind::Extension => false,
        }
    }
}

/// Created again right before its use, so that a changed item is a different one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub kind: ItemKind,
    pub name: String,
    /// The file that declares it.
    pub path: PathBuf,
    pub level: Level,
    /// What would run, as written.
    pub runs: Vec<String>,
    id: String,
    /// `None` for an item that is too large to hash, which is never trusted.
    hash: Option<String>,
}

impl Item {
    /// Creates the item of a hook command in the format of Claude Code. `root` is the folder in question.
    pub fn hook(source: &ItemSource, event: &str, matcher: &str, command: &str, root: &Path) -> Self {
        let name = format!("{event} {matcher}").trim_end().to_owned();
        let print = Fingerprint::new("hook", source, root).text(event).text(matcher).text(command).named_in(command);
        // A hook declared twice runs twice, so the command line is part of the id.
        let id = format!("{event}/{matcher}/{command}");
        Self::made(ItemKind::Hook, (name, &id), source, vec![command.to_owned()], print)
    }

    pub fn mcp_server(server: &Declared, root: &Path) -> Self {
        let print = Fingerprint::new("mcp", &server.source, root).value(&server.value);
        let parts = (server.name.clone(), server.name.as_str());
        Self::made(ItemKind::McpServer, parts, &server.source, server_lines(&server.value), print)
    }

    /// Returns `None` if the template runs nothing.
    pub fn command(command: &FileCommand, root: &Path) -> Option<Self> {
        let runs = run_lines(&command.template);
        let start = Fingerprint::new("command", &command.source, root);
        let print = runs.iter().fold(start, |print, line| print.text(line).named_in(line));
        // One file may have two names.
        let parts = (format!("/{}", command.name), "");
        (!runs.is_empty()).then(|| Self::made(ItemKind::Command, parts, &command.source, runs, print))
    }

    /// Creates the item of a file that is run or loaded as a whole, including the other files in its own folder.
    pub fn file(kind: ItemKind, name: &str, source: &ItemSource, root: &Path) -> Self {
        let print = Fingerprint::new(kind.name(), source, root).text(name).file_or_folder(&source.path);
        let runs = vec![below(&source.path, root).display().to_string()];
        Self::made(kind, (name.to_owned(), name), source, runs, print)
    }

    /// Creates the item of something that takes effect without running: a list of secrets, a rule that replaces the user's.
    /// The file is not quoted; `does` describes the effect.
    pub fn of_effect(kind: ItemKind, name: &str, source: &ItemSource, root: &Path, does: Vec<String>) -> Self {
        Self { runs: does, ..Self::file(kind, name, source, root) }
    }

    fn made(
        kind: ItemKind,
        (name, id): (String, &str),
        source: &ItemSource,
        runs: Vec<String>,
        print: Fingerprint,
    ) -> Self {
        let (root, hash) = print.finish();
        let id = format!("{}:{}:{id}", kind.name(), below(&source.path, &root).display());
        Self { kind, name, path: source.path.clone(), level: source.level, runs, id, hash }
    }

    /// The id of the item, which is stable as long as it stays at the same path.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }

    /// Whether it was too large to hash.
    pub fn is_too_large(&self) -> bool {
        self.hash.is_none()
    }
}

/// Returns all items of the project that would run. The user's items do not belong to the folder.
pub fn items_of(catalogue: &Catalogue, root: &Path) -> Vec<Item> {
    let of_project = |source: &ItemSource| source.level == Level::Project;
    let mut items = Vec::new();
    for hook in catalogue.hooks.iter().filter(|hook| of_project(&hook.source)) {
        items.extend(hook_items(hook, root));
    }
    let servers = catalogue.mcp_servers.iter().filter(|server| of_project(&server.source));
    items.extend(servers.map(|server| Item::mcp_server(server, root)));
    let commands = catalogue.commands.iter().chain(&catalogue.prompts).filter(|command| of_project(&command.source));
    items.extend(commands.filter_map(|command| Item::command(command, root)));
    for tool in catalogue.tools.iter().filter(|tool| of_project(&tool.source)) {
        items.push(Item::file(ItemKind::Tool, &tool.name, &tool.source, root));
    }
    for module in catalogue.extension_modules.iter().filter(|module| of_project(&module.source)) {
        items.push(Item::file(ItemKind::Extension, &module.name, &module.source, root));
    }
    let mut seen = HashSet::new();
    items.retain(|item| seen.insert(item.id.clone()));
    items
}

/// Returns the lines that a template would run: each `` !`line` `` outside fenced code. A line missed here is not run.
pub fn run_lines(template: &str) -> Vec<String> {
    let mut in_fence = false;
    let mut found = Vec::new();
    for line in template.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            in_fence = !in_fence;
            continue;
        }
        let mut rest = if in_fence { "" } else { line };
        while let Some((_, after)) = rest.split_once("!`") {
            let Some((run, after)) = after.split_once('`') else { break };
            if !run.trim().is_empty() {
                found.push(run.trim().to_owned());
            }
            rest = after;
        }
    }
    found
}

/// Returns the commands of one entry of an event, or a file that is run as a whole. Anything else in place of a command
/// counts as one, so that it is shown.
fn hook_items(hook: &Declared, root: &Path) -> Vec<Item> {
    let text = |key: &str| hook.value.get(key).and_then(Value::as_str);
    let Some(event) = text("event") else {
        return vec![Item::file(ItemKind::UnsupportedHook, &hook.name, &hook.source, root)];
    };
    let matcher = text("matcher").unwrap_or_default();
    let commands = hook.value.get("hooks").and_then(Value::as_array).into_iter().flatten();
    let line = |command: &Value| hook_line(command).unwrap_or_else(|| command.to_string());
    let made = |command: &Value| {
        let item = Item::hook(&hook.source, event, matcher, &line(command), root);
        match command.get("type").and_then(Value::as_str) {
            None | Some("command") => item,
            Some(_) => Item { kind: ItemKind::UnsupportedHook, ..item },
        }
    };
    commands.map(made).collect()
}

/// Returns the command with its arguments and variables, or the address with its headers.
fn server_lines(server: &Value) -> Vec<String> {
    let text = |key: &str| server.get(key).and_then(Value::as_str);
    let mut lines = Vec::new();
    if let Some(command) = text("command") {
        let args = server.get("args").and_then(Value::as_array).into_iter().flatten();
        let args = args.map(|arg| arg.as_str().map_or_else(|| arg.to_string(), str::to_owned));
        lines.push(std::iter::once(command.to_owned()).chain(args).collect::<Vec<_>>().join(" "));
    }
    lines.extend(text("url").map(str::to_owned));
    for key in ["env", "headers", "cwd", "headersHelper"] {
        match server.get(key) {
            Some(Value::Object(fields)) => {
                let line = |(name, value): (&String, &Value)| {
                    format!("{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                };
                lines.extend(fields.iter().map(line));
            }
            Some(value) => lines.push(format!("{key}: {value}")),
            None => {}
        }
    }
    lines.truncate(MOST_LINES);
    lines
}

fn below<'a>(path: &'a Path, root: &Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}
