//! Lists what omp finds and does not use because the feature is missing: in one line when a conversation starts, and in full
//! in `omp config sources`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use omp_config::{Catalogue, Named, Settings, items_of, repository_root};
use omp_workspace::sqlite::{is_sqlite, stored_texts};
use serde_json::{Value, json};

use crate::folder::FolderSetup;

/// Unused items of one kind.
struct UnusedGroup {
    /// The name of the kind, in singular and plural.
    kind: [&'static str; 2],
    why: &'static str,
    found: Vec<UnusedItem>,
}

struct UnusedItem {
    name: String,
    /// `None` for settings.
    path: Option<PathBuf>,
}

pub struct Unused(Vec<UnusedGroup>);

impl Unused {
    pub fn of(found: &Catalogue, settings: &Settings, agent: &Path, cwd: &Path) -> Self {
        let declared = |items: &[omp_config::Declared]| {
            let found = items.iter().map(|it| UnusedItem { name: it.name.clone(), path: Some(it.source.path.clone()) });
            found.collect::<Vec<_>>()
        };
        let hooks = items_of(found, &repository_root(cwd)).into_iter();
        let hooks = hooks.filter(|item| item.kind == omp_config::ItemKind::UnsupportedHook);
        let tools =
            found.tools.iter().map(|it| UnusedItem { name: it.name.clone(), path: Some(it.source.path.clone()) });
        let agents =
            found.agents.iter().map(|it| UnusedItem { name: it.name.clone(), path: Some(it.source.path.clone()) });
        let groups = vec![
            group(["MCP server", "MCP servers"], "servers are not started yet", declared(&found.mcp_servers)),
            group(["extension", "extensions"], "modules are not run", declared(&found.extension_modules)),
            group(["custom tool", "custom tools"], "modules are not run", tools.collect()),
            group(
                ["hook module", "hook modules"],
                "only hooks of the type `command` run",
                hooks.map(|item| UnusedItem { name: item.name, path: Some(item.path) }).collect(),
            ),
            group(["agent", "agents"], "sub-agents are not supported yet", agents.collect()),
            group(["ssh host", "ssh hosts"], "omp has no ssh tool yet", declared(&found.ssh_hosts)),
            group(["stored credential", "stored credentials"], "accounts are not supported yet", credentials(agent)),
            group(["setting", "settings"], "used by other versions only", unused_settings(settings)),
        ];
        Self(groups.into_iter().filter(|group| !group.found.is_empty()).collect())
    }

    pub fn here(setup: &FolderSetup) -> Self {
        Self::of(setup.catalogue(), &setup.settings, &setup.dirs.agent, &setup.cwd)
    }

    /// Returns one line for the start of a session, or `None` if everything is used.
    pub fn line(&self) -> Option<String> {
        let told = self.0.iter().map(|group| {
            let [one, several] = group.kind;
            format!("{} {}", group.found.len(), if group.found.len() == 1 { one } else { several })
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| format!("found but not used: {} · `omp config sources` lists them", told.join(", ")))
    }

    pub fn text(&self, shown: &dyn Fn(&Path) -> String) -> String {
        let mut text = String::new();
        for group in &self.0 {
            let _ = writeln!(text, "\nnot used: {} ({}): {}", group.kind[1], group.found.len(), group.why);
            for found in &group.found {
                let path = found.path.as_deref().map(|path| format!("  {}", shown(path))).unwrap_or_default();
                let _ = writeln!(text, "  {}{path}", found.name);
            }
        }
        text
    }

    pub fn json(&self) -> Vec<Value> {
        let one = |group: &UnusedGroup, found: &UnusedItem| json!({"kind": group.kind[0], "name": found.name, "path": found.path, "why": group.why});
        self.0.iter().flat_map(|group| group.found.iter().map(move |found| one(group, found))).collect()
    }
}

fn group(kind: [&'static str; 2], why: &'static str, found: Vec<UnusedItem>) -> UnusedGroup {
    UnusedGroup { kind, why, found }
}

/// Returns the provider and kind of stored credentials without reading the secrets. An unreadable database has been reported
/// before.
fn credentials(agent: &Path) -> Vec<UnusedItem> {
    let path = agent.join("agent.db");
    if !is_sqlite(&path) {
        return Vec::new();
    }
    let rows =
        stored_texts(&path, "auth_credentials", ["provider", "credential_type"]).ok().flatten().unwrap_or_default();
    let found =
        |[provider, kind]: [String; 2]| UnusedItem { name: format!("{provider} ({kind})"), path: Some(path.clone()) };
    rows.into_iter().map(found).collect()
}

/// Returns unused settings of the user. Those in a project's files are left out, because they are not the user's to change.
fn unused_settings(settings: &Settings) -> Vec<UnusedItem> {
    let known = crate::folder::settings_list::known();
    let keys = settings.origins().into_iter().filter(|(_, layer)| *layer == omp_config::Layer::Global);
    let unused = keys.filter(|(key, _)| key != "$schema" && matches!(known.find(key), Some(Named::Unused)));
    unused.map(|(key, _)| UnusedItem { name: key, path: None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_and_the_list_names() {
        let found =
            |names: &[&str]| names.iter().map(|name| UnusedItem { name: (*name).to_owned(), path: None }).collect();
        assert_eq!(Unused(Vec::new()).line(), None);
        let unused = Unused(vec![
            group(["MCP server", "MCP servers"], "not yet", found(&["a", "b"])),
            group(["setting", "settings"], "kept", found(&["x.y"])),
        ]);
        let line = unused.line().unwrap();
        assert_eq!(line, "found but not used: 2 MCP servers, 1 setting · `omp config sources` lists them");
        let text = unused.text(&|path| path.display().to_string());
        assert_eq!(text, "\nnot used: MCP servers (2): not yet\n  a\n  b\n\nnot used: settings (1): kept\n  x.y\n");
        assert_eq!(unused.json().len(), 3);
    }
}
