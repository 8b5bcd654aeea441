//! VS Code: the servers of the project's `.vscode/mcp.json`.

use super::super::Provider;
use super::super::finder::Finder;
use super::Vendor;

pub(crate) struct VsCode;

impl Vendor for VsCode {
    fn provider(&self) -> Provider {
        Provider::VsCode
    }

    fn find(&self, find: &mut Finder<'_>) {
        for folder in find.in_project(".vscode") {
            let path = folder.path.join("mcp.json");
            let Some(config) = find.json(&path, folder.level) else { continue };
            let nested = config.get("mcp").and_then(|mcp| mcp.get("servers"));
            find.mcp_servers(nested.or(config.get("servers")), &path, folder.level);
        }
    }
}
