//! Project settings that are never applied, trusted or not: they are reported, so that the user does not miss them.

use std::path::PathBuf;

use serde_json::Value;

use crate::discovery::{Catalogue, Level};

/// Setting names of any program that start a process, redirect data or loosen a rule.
const NAMES: &[&str] = &[
    "env",
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "statusLine",
    "fileSuggestion",
    "permissions",
    "sandbox",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "additionalDirectories",
    "extraKnownMarketplaces",
    "enabledPlugins",
    // Codex
    "notify",
    "model_provider",
    "model_providers",
    "openai_base_url",
    "chatgpt_base_url",
    "approval_policy",
    "sandbox_mode",
    "shell_environment_policy",
    // OpenCode, Gemini
    "provider",
    "permission",
    "plugin",
    "formatter",
    "lsp",
    "selectedAuthType",
    "toolDiscoveryCommand",
    "toolCallCommand",
    "autoAccept",
    // omp
    "extensions",
    "shellPath",
    "baseUrl",
    "providers",
    "modelRoles",
];
const MOST: usize = 200;
const LONGEST: usize = 300;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverTaken {
    pub path: PathBuf,
    pub name: String,
    /// The value as written, shortened.
    pub value: String,
}

pub fn never_taken(catalogue: &Catalogue) -> Vec<NeverTaken> {
    let of_project = catalogue.settings.iter().filter(|settings| settings.source.level == Level::Project);
    let settings = of_project.flat_map(|settings| {
        let named = NAMES.iter().filter_map(|name| Some((*name, settings.value.get(name)?)));
        named.map(|(name, value)| taken(settings.source.path.clone(), name, value))
    });
    let hosts = catalogue.ssh_hosts.iter().filter(|host| host.source.level == Level::Project);
    let hosts = hosts.map(|host| taken(host.source.path.clone(), &format!("ssh host {}", host.name), &host.value));
    settings.chain(hosts).take(MOST).collect()
}

fn taken(path: PathBuf, name: &str, value: &Value) -> NeverTaken {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let value = match value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value,
    };
    NeverTaken { path, name: name.to_owned(), value }
}
