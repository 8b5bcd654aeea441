//! Claude Code: `~/.claude`, `~/.claude.json` and the project's `.claude`. Skills are read at every level up to the root.

use serde_json::Value;

use super::super::finder::{Finder, Folder};
use super::super::{Level, Provider};
use super::Vendor;

pub(crate) struct Claude;

const TOOL_ENDINGS: &[&str] = &[".ts", ".js", ".sh", ".bash", ".py"];

impl Vendor for Claude {
    fn provider(&self) -> Provider {
        Provider::Claude
    }

    fn find(&self, find: &mut Finder<'_>) {
        let user = find.user(".claude");
        let project = find.in_project(".claude");
        for folder in [&user].into_iter().chain(&project) {
            find.skills(&folder.join("skills"), false);
            find.commands(&folder.join("commands"), true);
            find.agents(&folder.join("agents"));
            find.hooks(&folder.join("hooks"));
            find.tools(&folder.join("tools"), TOOL_ENDINGS);
            find.extension_modules(&folder.join("extensions"));
            let scope = folder.path.parent().unwrap_or(&folder.path).to_owned();
            find.context_file(folder.path.join("CLAUDE.md"), folder.level, &scope);
            settings(find, folder);
        }
        find.system(&user, "SYSTEM.md");
        find.append_system(&user, "APPEND_SYSTEM.md");
        let (for_all, for_here) = own_servers(find);
        let path = find.places.home.join(".claude.json");
        for_here.iter().for_each(|servers| find.mcp_servers(Some(servers), &path, Level::User));
        for folder in &project {
            servers(find, folder, &[".mcp.json", "mcp.json"]);
        }
        find.mcp_servers(for_all.as_ref(), &path, Level::User);
        servers(find, &user, &["mcp.json"]);
    }
}

/// Returns the servers of `~/.claude.json`: those for every project, and those for this one, nearest folder first.
fn own_servers(find: &mut Finder<'_>) -> (Option<Value>, Vec<Value>) {
    let folders: Vec<String> = find.project.iter().map(|folder| folder.display().to_string()).collect();
    let parts: Vec<[&str; 3]> = folders.iter().map(|folder| ["projects", folder.as_str(), "mcpServers"]).collect();
    let mut wanted: Vec<&[&str]> = parts.iter().map(|part| &part[..]).collect();
    wanted.push(&["mcpServers"]);
    let path = find.places.home.join(".claude.json");
    let Some(mut config) = find.json_parts(&path, Level::User, &wanted) else { return (None, Vec::new()) };
    let projects = config.shift_remove("projects").unwrap_or_default();
    let for_here = folders.iter().filter_map(|folder| projects.get(folder)?.get("mcpServers").cloned()).collect();
    (config.shift_remove("mcpServers"), for_here)
}

fn settings(find: &mut Finder<'_>, folder: &Folder) {
    for name in ["settings.json", "settings.local.json"] {
        let path = folder.path.join(name);
        if let Some(value) = find.json(&path, folder.level) {
            find.shell_hooks(value.get("hooks"), &path, folder.level);
            find.settings(value, path, folder.level);
        }
    }
}

/// Reads the first file that names servers.
fn servers(find: &mut Finder<'_>, folder: &Folder, names: &[&str]) {
    for name in names {
        let path = folder.path.join(name);
        let config = find.json_parts(&path, folder.level, &[&["mcpServers"]]);
        if let Some(servers) = config.and_then(|mut config| config.shift_remove("mcpServers")) {
            find.mcp_servers(Some(&servers), &path, folder.level);
            return;
        }
    }
}
