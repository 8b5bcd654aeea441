//! OpenCode: `~/.config/opencode`, the project's `.opencode` and its `opencode.json`.

use serde_json::{Map, Value};

use super::super::finder::{Finder, Folder};
use super::super::{Level, Provider};
use super::Vendor;

pub(crate) struct OpenCode;

impl Vendor for OpenCode {
    fn provider(&self) -> Provider {
        Provider::OpenCode
    }

    fn find(&self, find: &mut Finder<'_>) {
        let user = find.user(".config/opencode");
        let project = find.in_project(".opencode");
        for folder in [&user].into_iter().chain(&project) {
            find.skills(&folder.join("skills"), false);
            for name in ["commands", "command"] {
                find.commands(&folder.join(name), false);
            }
        }
        find.context_file(user.path.join("AGENTS.md"), user.level, &user.path);
        configuration(find, &user);
        for folder in find.project.clone() {
            configuration(find, &Folder { path: folder, level: Level::Project });
        }
    }
}

fn configuration(find: &mut Finder<'_>, folder: &Folder) {
    for name in ["opencode.json", "opencode.jsonc"] {
        let path = folder.path.join(name);
        let Some(mut config) = find.json(&path, folder.level) else { continue };
        if let Some(Value::Object(servers)) = config.shift_remove("mcp") {
            let servers: Map<String, Value> = servers.into_iter().map(|(name, value)| (name, server(value))).collect();
            find.mcp_servers(Some(&Value::Object(servers)), &path, folder.level);
        }
        find.settings(config, path, folder.level);
    }
}

/// Translates OpenCode's server fields to the common ones.
fn server(value: Value) -> Value {
    let Value::Object(mut fields) = value else { return value };
    let kind = match fields.shift_remove("type").as_ref().and_then(Value::as_str) {
        Some("remote") => Some("http"),
        Some("local") => Some("stdio"),
        _ if fields.contains_key("url") => Some("http"),
        _ if fields.contains_key("command") => Some("stdio"),
        _ => None,
    };
    if let Some(Value::Array(words)) = fields.get("command").cloned() {
        let mut words = words.into_iter();
        fields.insert("command".to_owned(), words.next().unwrap_or_default());
        let more = match fields.shift_remove("args") {
            Some(Value::Array(more)) => more,
            _ => Vec::new(),
        };
        fields.insert("args".to_owned(), Value::Array(words.chain(more).collect()));
    }
    if let Some(environment) = fields.shift_remove("environment") {
        fields.insert("env".to_owned(), environment);
    }
    if let Some(kind) = kind {
        fields.insert("type".to_owned(), kind.into());
    }
    Value::Object(fields)
}
