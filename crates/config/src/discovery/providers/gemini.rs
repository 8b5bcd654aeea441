//! Gemini CLI: `~/.gemini` and the project's `.gemini`. Its commands are TOML.

use super::super::finder::{Finder, Folder};
use super::super::{FileCommand, Provider};
use super::Vendor;

pub(crate) struct Gemini;

impl Vendor for Gemini {
    fn provider(&self) -> Provider {
        Provider::Gemini
    }

    fn find(&self, find: &mut Finder<'_>) {
        let user = find.user(".gemini");
        let project = find.in_project(".gemini");
        for folder in project.iter().chain([&user]) {
            let path = folder.path.join("settings.json");
            if let Some(mut config) = find.json(&path, folder.level) {
                find.mcp_servers(config.shift_remove("mcpServers").as_ref(), &path, folder.level);
                find.settings(config, path, folder.level);
            }
            commands(find, &folder.join("commands"));
            find.agents(&folder.join("agents"));
            find.skills(&folder.join("skills"), false);
            find.system(folder, "system.md");
            find.append_system(folder, "APPEND_SYSTEM.md");
            let scope = folder.path.parent().unwrap_or(&folder.path).to_owned();
            find.context_file(folder.path.join("GEMINI.md"), folder.level, &scope);
        }
    }
}

/// Reads `prompt`, and replaces `{{args}}` by the common `$ARGUMENTS`.
fn commands(find: &mut Finder<'_>, folder: &Folder) {
    for (name, path) in find.deep_files(folder, &[".toml"]) {
        let Some(fields) = find.toml(&path, folder.level) else { continue };
        let text = |key: &str| fields.get(key).and_then(|value| value.as_str());
        let Some(prompt) = text("prompt") else {
            find.warn(format!("{} is ignored: a command needs a `prompt`", path.display()));
            continue;
        };
        let command = FileCommand {
            name,
            description: text("description").map(str::to_owned),
            argument_hint: None,
            template: prompt.replace("{{args}}", "$ARGUMENTS").trim().to_owned(),
            source: find.source(path, folder.level),
        };
        find.command(command);
    }
}
