//! Claude Code: `~/.claude`, `~/.claude.json` and the project's `.claude`. Its skills come from the whole way up.

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
            let scope = folder.path.parent().unwrap_or(&folder.path).to_owned();
            find.context_file(folder.path.join("CLAUDE.md"), folder.level, &scope);
            settings(find, folder);
        }
        find.system(&user, "SYSTEM.md");
        find.append_system(&user, "APPEND_SYSTEM.md");
        for folder in &project {
            servers(find, folder, &[".mcp.json", "mcp.json"]);
        }
        let home = Folder { path: find.places.home.to_owned(), level: Level::User };
        servers(find, &home, &[".claude.json"]);
        servers(find, &user, &["mcp.json"]);
    }
}

fn settings(find: &mut Finder<'_>, folder: &Folder) {
    for name in ["settings.json", "settings.local.json"] {
        let path = folder.path.join(name);
        if let Some(value) = find.json(&path, folder.level) {
            find.settings(value, path, folder.level);
        }
    }
}

/// The first file that names servers.
fn servers(find: &mut Finder<'_>, folder: &Folder, names: &[&str]) {
    for name in names {
        let path = folder.path.join(name);
        if let Some(config) = find.json(&path, folder.level)
            && let Some(servers) = config.get("mcpServers")
        {
            find.mcp_servers(Some(servers), &path, folder.level);
            return;
        }
    }
}
