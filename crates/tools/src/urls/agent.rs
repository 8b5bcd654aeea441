//! `agent://Anna`: the output of a sub-agent, stored as `Anna.md` beside the session.

use std::sync::Arc;

use omp_workspace::ResolvedPath;

use super::{Resource, UrlContent, joined};
use crate::artifacts::Artifacts;

pub struct AgentResource(pub Arc<dyn Artifacts>);

impl Resource for AgentResource {
    fn scheme(&self) -> &'static str {
        "agent"
    }

    fn read(&self, id: &str) -> Result<UrlContent, String> {
        if !is_plain_name(id) {
            return Err(format!("agent:// ID must be a plain name, got: {id}"));
        }
        let folder = self.0.folder().ok_or("No session - agent outputs unavailable")?;
        if !folder.is_dir() {
            return Err("No artifacts directory found".to_owned());
        }
        let absolute = folder.join(format!("{id}.md"));
        // Links are rejected because they could lead anywhere; the outputs themselves are regular files.
        if std::fs::symlink_metadata(&absolute).is_ok_and(|metadata| metadata.is_file()) {
            let path = ResolvedPath { absolute, display: format!("agent://{id}") };
            return Ok(UrlContent::File { path, editable: false });
        }
        let names = self.list()?;
        let available = if names.is_empty() { "none".to_owned() } else { joined(&names) };
        Err(format!("Not found: {id}\nAvailable: {available}"))
    }

    fn list(&self) -> Result<Vec<String>, String> {
        let Some(folder) = self.0.folder() else { return Ok(Vec::new()) };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".md").map(str::to_owned));
        let mut names: Vec<String> = names.collect();
        names.sort();
        Ok(names)
    }

    fn path_is_json(&self) -> bool {
        true
    }
}

/// Rejects ids that could name a file in another folder, on any system.
fn is_plain_name(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('.') && !id.contains(['/', '\\', ':', '\0'])
}
