//! Finds declarations as written: configuration files, hooks, tools. None of them is run.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::catalogue::{Declared, TextFile};
use super::super::files::{EntryKind, Limit};
use super::super::{Kind, Level, items, jsonc};
use super::{Finder, Folder};

/// Large, because Claude stores its whole history beside its servers.
const MAX_CONFIG_BYTES: usize = 8 << 20;

impl Finder<'_> {
    /// Reads a JSON object; comments are allowed.
    pub fn json(&mut self, path: &Path, level: Level) -> Option<Map<String, Value>> {
        self.config(path, level, jsonc::parse)
    }

    /// Reads only some parts of a JSON object, however long the rest of the file is.
    pub fn json_parts(&mut self, path: &Path, level: Level, parts: &[&[&str]]) -> Option<Map<String, Value>> {
        self.config(path, level, |text| jsonc::parse_parts(text, parts))
    }

    pub fn yaml(&mut self, path: &Path, level: Level) -> Option<Map<String, Value>> {
        self.config(path, level, |text| serde_saphyr::from_str(text).map_err(|error| first_line(&error)))
    }

    pub fn toml(&mut self, path: &Path, level: Level) -> Option<Map<String, Value>> {
        self.config(path, level, |text| toml::from_str(text).map_err(|error| first_line(&error)))
    }

    pub fn settings(&mut self, value: Map<String, Value>, path: PathBuf, level: Level) {
        let name = path.display().to_string();
        self.declare(Kind::Settings, name, Value::Object(value), path, level);
    }

    /// Adds each entry of an object as a server.
    pub fn mcp_servers(&mut self, servers: Option<&Value>, path: &Path, level: Level) {
        self.declare_each(Kind::McpServer, servers, path, level);
    }

    pub fn ssh_hosts(&mut self, hosts: Option<&Value>, path: &Path, level: Level) {
        self.declare_each(Kind::SshHost, hosts, path, level);
    }

    /// Adds `hooks/pre/*` and `hooks/post/*`, named after the tool they apply to. The files are not opened.
    pub fn hooks(&mut self, folder: &Folder) {
        for when in ["pre", "post"] {
            for (_, path) in self.named_files(&folder.join(when), &[""]) {
                let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
                let tool = file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned();
                self.hook(when, &tool, path, folder.level);
            }
        }
    }

    pub fn hook(&mut self, when: &str, tool: &str, path: PathBuf, level: Level) {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let value = serde_json::json!({"type": when, "tool": tool, "path": path.display().to_string()});
        self.declare(Kind::Hook, format!("{when}:{tool}:{file}"), value, path, level);
    }

    /// Adds shell hooks in the format of Claude Code, `{"PreToolUse": [{"matcher": …, "hooks": [{"type": "command", …}]}]}`:
    /// one item per entry of an event. Hooks of two files never shadow each other, because a repository must not replace a
    /// guard of the user.
    pub fn shell_hooks(&mut self, hooks: Option<&Value>, path: &Path, level: Level) {
        let events = match hooks {
            None => return,
            Some(Value::Object(events)) => events,
            Some(_) => return self.warn(format!("{}: `hooks` must be a map of events", path.display())),
        };
        for (event, entries) in events {
            let Value::Array(entries) = entries else {
                self.warn(format!("{}: the hooks of `{event}` are ignored: not a list", path.display()));
                continue;
            };
            for (index, entry) in entries.iter().enumerate() {
                let mut value = entry.clone();
                let Value::Object(fields) = &mut value else {
                    self.warn(format!("{}: a hook of `{event}` is ignored: not an object", path.display()));
                    continue;
                };
                fields.insert("event".to_owned(), event.as_str().into());
                let name = format!("{event}:{index}:{}", path.display());
                self.declare(Kind::Hook, name, value, path.to_owned(), level);
            }
        }
    }

    /// Adds tools in separate files. Only descriptions are read, never code.
    pub fn tools(&mut self, folder: &Folder, endings: &[&str]) {
        for (name, path) in self.named_files(folder, endings) {
            let described = path.extension().is_some_and(|ending| ending == "md" || ending == "json");
            let content = if described { self.text(&path, folder.level) } else { None };
            let text = content.map(|content| content.text.clone()).unwrap_or_default();
            self.tool(name, text, path, folder.level);
        }
        for entry in self.files.list(&folder.path, folder.level).iter().filter(|entry| entry.kind == EntryKind::Folder)
        {
            let index = folder.path.join(&entry.name).join("index.ts");
            if self.disk().is_file(&index) {
                self.tool(entry.name.clone(), String::new(), index, folder.level);
            }
        }
    }

    fn tool(&mut self, name: String, text: String, path: PathBuf, level: Level) {
        let source = self.source(path, level);
        if self.admit(Kind::Tool, name.clone(), &source) {
            self.catalogue.tools.push(TextFile { name, text, source });
        }
    }

    fn config(
        &mut self,
        path: &Path,
        level: Level,
        parse: impl Fn(&str) -> Result<Value, String>,
    ) -> Option<Map<String, Value>> {
        let content = self.files.read(path, level, Limit::Whole(MAX_CONFIG_BYTES))?;
        if content.text.trim().is_empty() {
            return None;
        }
        match parse(&content.text) {
            Ok(Value::Object(fields)) => return Some(fields),
            Ok(Value::Null) => {}
            Ok(_) => self.files.warn(format!("{} was not read: it must contain an object", path.display())),
            Err(problem) => self.files.warn(format!("{} was not read: {problem}", path.display())),
        }
        None
    }

    fn declare_each(&mut self, kind: Kind, entries: Option<&Value>, path: &Path, level: Level) {
        let Some(Value::Object(entries)) = entries else { return };
        for (name, value) in entries {
            match value {
                Value::Object(_) if items::is_name(&name.replace('/', ".")) => {
                    self.declare(kind, name.clone(), value.clone(), path.to_owned(), level);
                }
                _ => self.files.warn(format!(
                    "{}: the {} `{name}` is ignored: it is not an object",
                    path.display(),
                    kind.name()
                )),
            }
        }
    }

    pub fn declare(&mut self, kind: Kind, name: String, value: Value, path: PathBuf, level: Level) {
        let source = self.source(path, level);
        if !self.admit(kind, name.clone(), &source) {
            return;
        }
        let list = match kind {
            Kind::ExtensionModule => &mut self.catalogue.extension_modules,
            Kind::Hook => &mut self.catalogue.hooks,
            Kind::SshHost => &mut self.catalogue.ssh_hosts,
            Kind::McpServer => &mut self.catalogue.mcp_servers,
            _ => &mut self.catalogue.settings,
        };
        list.push(Declared { name, value, source });
    }
}

fn first_line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
