//! Files that belong to no program: `mcp.json` and `.mcp.json` with servers, `ssh.json` and `.ssh.json` with hosts.

use super::super::finder::Finder;
use super::super::{Level, Provider};
use super::Vendor;

pub(crate) struct McpJson;

impl Vendor for McpJson {
    fn provider(&self) -> Provider {
        Provider::McpJson
    }

    fn find(&self, find: &mut Finder<'_>) {
        for folder in find.project.clone() {
            for name in ["mcp.json", ".mcp.json"] {
                let path = folder.join(name);
                if let Some(config) = find.json(&path, Level::Project) {
                    find.mcp_servers(config.get("mcpServers"), &path, Level::Project);
                }
            }
            for name in ["ssh.json", ".ssh.json"] {
                let path = folder.join(name);
                if let Some(config) = find.json(&path, Level::Project) {
                    find.ssh_hosts(config.get("hosts"), &path, Level::Project);
                }
            }
        }
    }
}
