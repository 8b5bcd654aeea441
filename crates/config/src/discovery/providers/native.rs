//! omp's own folders: `.omp` in the project, `~/.omp/agent` of the user. The project's come first.

use serde_json::{Map, Value};

use super::super::finder::{Finder, Folder};
use super::super::{Level, Provider};
use super::Vendor;

pub(crate) struct Native;

const TOOL_ENDINGS: &[&str] = &[".json", ".md", ".ts", ".js", ".sh", ".bash", ".py"];

impl Vendor for Native {
    fn provider(&self) -> Provider {
        Provider::Native
    }

    fn find(&self, find: &mut Finder<'_>) {
        let agent = Folder { path: find.places.agent.to_owned(), level: Level::User };
        let mut folders = find.in_project(".omp");
        folders.push(agent.clone());
        // An empty folder is ignored, so it does not count as the nearest one.
        folders.retain(|folder| find.holds_something(folder));
        for folder in &folders {
            find.skills(&folder.join("skills"), true);
            find.rules(&folder.join("rules"), &[".md", ".mdc"]);
            find.commands(&folder.join("commands"), false);
            find.prompts(&folder.join("prompts"), &[".md"]);
            find.instructions(&folder.join("instructions"), &[".md"], false);
            find.agents(&folder.join("agents"));
            find.hooks(&folder.join("hooks"));
            find.tools(&folder.join("tools"), TOOL_ENDINGS);
            find.extension_modules(&folder.join("extensions"));
            configuration(find, folder);
        }
        prompt_files(find, &folders);
    }
}

/// Reads the nearest `.omp` of the project and the user's; the project's wins.
fn prompt_files(find: &mut Finder<'_>, folders: &[Folder]) {
    let nearest = folders.iter().find(|folder| folder.level == Level::Project);
    let user = folders.iter().find(|folder| folder.level == Level::User);
    for folder in nearest.into_iter().chain(user) {
        find.system(folder, "SYSTEM.md");
        find.append_system(folder, "APPEND_SYSTEM.md");
        // A repository must not instruct a model without the user seeing it.
        if folder.level == Level::User {
            find.title_system(folder, "TITLE_SYSTEM.md");
        }
        let name = if folder.level == Level::Project { "RULES@project" } else { "RULES" };
        find.rule(&folder.path.join("RULES.md"), folder.level, name.to_owned());
        let scope = folder.path.parent().unwrap_or(&folder.path).to_owned();
        find.context_file(folder.path.join("AGENTS.md"), folder.level, &scope);
    }
}

fn configuration(find: &mut Finder<'_>, folder: &Folder) {
    for name in ["mcp.json", ".mcp.json"] {
        let path = folder.path.join(name);
        if let Some(config) = find.json(&path, folder.level) {
            find.mcp_servers(config.get("mcpServers"), &path, folder.level);
        }
    }
    let path = folder.path.join("ssh.json");
    if let Some(config) = find.json(&path, folder.level) {
        find.ssh_hosts(config.get("hosts"), &path, folder.level);
    }
    let path = folder.path.join("hooks.json");
    if let Some(config) = find.json(&path, folder.level) {
        find.shell_hooks(Some(&within_hooks(config)), &path, folder.level);
    }
    let path = folder.path.join("hooks.yml");
    if let Some(config) = find.yaml(&path, folder.level) {
        find.shell_hooks(Some(&within_hooks(config)), &path, folder.level);
    }
    // The settings loader reports problems of these files.
    find.quietly(|find| {
        let path = folder.path.join("settings.json");
        if let Some(config) = find.json(&path, folder.level) {
            find.shell_hooks(config.get("hooks"), &path, folder.level);
            find.settings(config, path, folder.level);
        }
        let path = folder.path.join("config.yml");
        if let Some(config) = find.yaml(&path, folder.level) {
            find.shell_hooks(config.get("hooks"), &path, folder.level);
            find.settings(config, path, folder.level);
        }
    });
}

/// Accepts events with or without an enclosing `hooks`.
fn within_hooks(mut config: Map<String, Value>) -> Value {
    config.shift_remove("hooks").unwrap_or(Value::Object(config))
}
