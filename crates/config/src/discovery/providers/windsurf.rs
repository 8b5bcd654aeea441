//! Windsurf: `~/.codeium/windsurf` and the project's `.windsurf`.

use super::super::Provider;
use super::super::finder::Finder;
use super::Vendor;

pub(crate) struct Windsurf;

impl Vendor for Windsurf {
    fn provider(&self) -> Provider {
        Provider::Windsurf
    }

    fn find(&self, find: &mut Finder<'_>) {
        let user = find.user(".codeium/windsurf");
        let project = find.in_project(".windsurf");
        find.rule(&user.path.join("memories/global_rules.md"), user.level, "global_rules".to_owned());
        for folder in &project {
            find.rules(&folder.join("rules"), &[".md"]);
            find.commands(&folder.join("workflows"), false);
        }
        for folder in project.iter().chain([&user]) {
            let path = folder.path.join("mcp_config.json");
            if let Some(config) = find.json(&path, folder.level) {
                find.mcp_servers(config.get("mcpServers"), &path, folder.level);
            }
        }
    }
}
