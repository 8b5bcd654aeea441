//! The supported programs, one file each, and their order.

mod agents;
mod claude;
mod claude_plugins;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod mcp_json;
mod native;
mod opencode;
mod plain_files;
mod vscode;
mod windsurf;

use super::Provider;
use super::finder::Finder;
pub(crate) use plain_files::NAMES as CONTEXT_FILE_NAMES;

/// The locations of one program.
pub(crate) trait Vendor: Sync {
    fn provider(&self) -> Provider;
    fn find(&self, find: &mut Finder<'_>);
}

/// All programs with their priority: the higher one wins, and the first among equals.
pub(crate) const VENDORS: &[(u32, &dyn Vendor)] = &[
    (100, &native::Native),
    (80, &claude::Claude),
    (70, &claude_plugins::ClaudePlugins),
    (70, &agents::Agents),
    (70, &codex::Codex),
    (60, &gemini::Gemini),
    (55, &opencode::OpenCode),
    (50, &cursor::Cursor),
    (50, &windsurf::Windsurf),
    (40, &cline::Cline),
    (35, &plain_files::PlainFiles),
    (30, &copilot::Copilot),
    (20, &vscode::VsCode),
    (5, &mcp_json::McpJson),
];
