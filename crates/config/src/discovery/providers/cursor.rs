//! Cursor: `~/.cursor` and the project's `.cursor`, with rules as `.mdc`.

use super::super::Provider;
use super::super::finder::Finder;
use super::Vendor;

pub(crate) struct Cursor;

impl Vendor for Cursor {
    fn provider(&self) -> Provider {
        Provider::Cursor
    }

    fn find(&self, find: &mut Finder<'_>) {
        let user = find.user(".cursor");
        let project = find.in_project(".cursor");
        for folder in [&user].into_iter().chain(&project) {
            find.rules(&folder.join("rules"), &[".mdc", ".md"]);
            find.commands(&folder.join("commands"), false);
            let path = folder.path.join("settings.json");
            if let Some(value) = find.json(&path, folder.level) {
                find.settings(value, path, folder.level);
            }
        }
        // The project's servers come first: a server that it disables stays disabled.
        for folder in project.iter().chain([&user]) {
            let path = folder.path.join("mcp.json");
            if let Some(config) = find.json(&path, folder.level) {
                find.mcp_servers(config.get("mcpServers"), &path, folder.level);
            }
        }
    }
}
