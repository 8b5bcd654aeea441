//! Codex: `~/.codex` and the project's `.codex`; servers and settings are in `config.toml`.

use serde_json::{Map, Value, json};

use super::super::Provider;
use super::super::finder::{Finder, Folder};
use super::Vendor;

pub(crate) struct Codex;

impl Vendor for Codex {
    fn provider(&self) -> Provider {
        Provider::Codex
    }

    fn find(&self, find: &mut Finder<'_>) {
        let user = find.user(".codex");
        let project = find.in_project(".codex");
        for folder in [&user].into_iter().chain(&project) {
            find.skills(&folder.join("skills"), false);
            find.commands(&folder.join("commands"), false);
            find.prompts(&folder.join("prompts"), &[".md"]);
            find.agents(&folder.join("agents"));
            find.tools(&folder.join("tools"), &[".ts", ".js"]);
            find.extension_modules(&folder.join("extensions"));
            hooks(find, &folder.join("hooks"));
        }
        find.context_file(user.path.join("AGENTS.md"), user.level, &user.path);
        find.system(&user, "SYSTEM.md");
        find.append_system(&user, "APPEND_SYSTEM.md");
        // The project's servers come first: a server that it disables stays disabled.
        for folder in project.iter().chain([&user]) {
            let path = folder.path.join("config.toml");
            let Some(mut config) = find.toml(&path, folder.level) else { continue };
            if let Some(Value::Object(servers)) = config.shift_remove("mcp_servers") {
                let servers: Map<String, Value> =
                    servers.into_iter().map(|(name, value)| (name, server(value))).collect();
                find.mcp_servers(Some(&Value::Object(servers)), &path, folder.level);
            }
            find.settings(config, path, folder.level);
        }
    }
}

/// Reads only `pre-<tool>` and `post-<tool>`; other files there are Codex's own programs.
fn hooks(find: &mut Finder<'_>, folder: &Folder) {
    for (name, path) in find.named_files(folder, &[".ts", ".js"]) {
        if let Some((when @ ("pre" | "post"), tool)) = name.split_once('-') {
            find.hook(when, tool, path, folder.level);
        }
    }
}

/// Translates Codex's server fields to the common ones.
fn server(value: Value) -> Value {
    let Value::Object(mut fields) = value else { return value };
    if let Some(headers) = fields.shift_remove("http_headers") {
        fields.insert("headers".to_owned(), headers);
    }
    if let Some(seconds) = fields.shift_remove("tool_timeout_sec").as_ref().and_then(Value::as_f64) {
        fields.insert("timeout".to_owned(), json!((seconds * 1000.0) as u64));
    }
    Value::Object(fields)
}
