//! Plugins that the user installed with Claude Code, located by `~/.claude/plugins/installed_plugins.json`.
//!
//! The user chose them, so they count as the user's, even if installed for a single project.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use super::super::finder::{Finder, Folder};
use super::super::{Level, Provider};
use super::Vendor;

pub(crate) struct ClaudePlugins;

const MAX_PLUGINS: usize = 200;
const TOOL_ENDINGS: &[&str] = &[".ts", ".js", ".sh", ".bash", ".py"];
/// Placeholders that a plugin uses for its own folder.
const ROOT_NAMES: &[&str] = &["${CLAUDE_PLUGIN_ROOT}", "${OMP_PLUGIN_ROOT}"];

impl Vendor for ClaudePlugins {
    fn provider(&self) -> Provider {
        Provider::ClaudePlugins
    }

    fn find(&self, find: &mut Finder<'_>) {
        for plugin in installed(find) {
            let manifest = find.json(&plugin.folder.path.join(".claude-plugin/plugin.json"), Level::User);
            let manifest = manifest.unwrap_or_default();
            skills(find, &plugin, &manifest);
            commands(find, &plugin, &manifest);
            find.agents(&plugin.folder.join("agents"));
            find.hooks(&plugin.folder.join("hooks"));
            hooks(find, &plugin);
            find.tools(&plugin.folder.join("tools"), TOOL_ENDINGS);
            servers(find, &plugin, &manifest);
        }
    }
}

struct Plugin {
    /// The name without the marketplace.
    name: String,
    folder: Folder,
}

/// Reads `{"plugins": {"name@marketplace": [{"installPath": …}]}}`, without disabled plugins.
fn installed(find: &mut Finder<'_>) -> Vec<Plugin> {
    let path = find.places.home.join(".claude/plugins/installed_plugins.json");
    let Some(registry) = find.json(&path, Level::User) else { return Vec::new() };
    let Some(Value::Object(entries)) = registry.get("plugins") else {
        find.warn(format!("{} was not read: it must contain `plugins`", path.display()));
        return Vec::new();
    };
    let switches = find.json(&find.places.home.join(".claude/settings.json"), Level::User).unwrap_or_default();
    let mut plugins: Vec<Plugin> = Vec::new();
    for (id, installs) in entries {
        let Some((name, _)) = id.rsplit_once('@').filter(|(name, _)| !name.is_empty()) else {
            find.warn(format!("{}: the plugin `{id}` is ignored: its name lacks the marketplace", path.display()));
            continue;
        };
        let is_off = switches.get("enabledPlugins").and_then(|on| on.get(id)) == Some(&Value::Bool(false));
        for install in installs.as_array().into_iter().flatten().filter(|_| !is_off) {
            match install.get("installPath").and_then(Value::as_str).map(Path::new).filter(|at| at.is_absolute()) {
                Some(_) if !is_for_here(find, install) => {}
                Some(folder) => {
                    let folder = Folder { path: folder.to_owned(), level: Level::User };
                    plugins.push(Plugin { name: name.to_owned(), folder });
                }
                None => find.warn(format!(
                    "{}: the plugin `{id}` is ignored: it has no absolute `installPath`",
                    path.display()
                )),
            }
        }
    }
    if plugins.len() > MAX_PLUGINS {
        find.warn(format!("{}: only {MAX_PLUGINS} plugins are read", path.display()));
        plugins.truncate(MAX_PLUGINS);
    }
    plugins
}

/// Whether the plugin is enabled, and installed for every project or for this one.
fn is_for_here(find: &Finder<'_>, install: &Value) -> bool {
    if install.get("enabled") == Some(&Value::Bool(false)) {
        return false;
    }
    let scope = install.get("scope").and_then(Value::as_str).unwrap_or("user");
    match install.get("projectPath").and_then(Value::as_str).map(Path::new) {
        Some(project) if scope != "user" => {
            let real = project.canonicalize().unwrap_or_else(|_| project.to_owned());
            find.project.iter().any(|folder| folder == project || *folder == real)
        }
        _ => scope != "local",
    }
}

/// Adds `skills/*`, and the skills that the manifest names.
fn skills(find: &mut Finder<'_>, plugin: &Plugin, manifest: &Map<String, Value>) {
    let mut folders = vec![plugin.folder.join("skills")];
    for folder in named(find, plugin, manifest, &["skills"]) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    for folder in folders {
        find.skills_in_or_at(&folder);
    }
}

/// Adds `/plugin:command` from `commands/*.md`, or from the paths that the manifest names instead.
fn commands(find: &mut Finder<'_>, plugin: &Plugin, manifest: &Map<String, Value>) {
    let mut places = named(find, plugin, manifest, &["commands", "slash-commands"]);
    if places.is_empty() {
        places.push(plugin.folder.join("commands"));
    }
    for place in places {
        find.prefixed_commands(&place, &plugin.name);
    }
}

/// Reads `hooks/hooks.json`, which may refer to the plugin's own folder.
fn hooks(find: &mut Finder<'_>, plugin: &Plugin) {
    let path = plugin.folder.path.join("hooks/hooks.json");
    let Some(config) = find.json(&path, Level::User) else { return };
    let Some(mut hooks) = config.get("hooks").cloned() else { return };
    put_root(&mut hooks, &plugin.folder.path.display().to_string());
    find.shell_hooks(Some(&hooks), &path, Level::User);
}

/// Returns the paths of the first of these fields that has any, limited to paths inside the plugin.
fn named(find: &mut Finder<'_>, plugin: &Plugin, manifest: &Map<String, Value>, keys: &[&str]) -> Vec<Folder> {
    let paths = keys.iter().map(|key| texts(manifest.get(*key))).find(|paths| !paths.is_empty()).unwrap_or_default();
    let places = paths.iter().filter_map(|path| inside(find, plugin, path));
    places.map(|path| Folder { path, level: Level::User }).collect()
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let texts = match value {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    texts.into_iter().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

fn inside(find: &mut Finder<'_>, plugin: &Plugin, path: &str) -> Option<PathBuf> {
    let stays = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if Path::new(path).components().all(stays) {
        // Without `./`, so that a folder has a single name.
        return Some(plugin.folder.path.join(path).components().collect());
    }
    find.warn(format!("the plugin `{}` names `{path}`, which is outside the plugin; it is ignored", plugin.name));
    None
}

/// Reads `mcpServers` of a manifest, inline or in the named file, else `.mcp.json`. Servers are named `plugin:server`.
fn servers(find: &mut Finder<'_>, plugin: &Plugin, claude: &Map<String, Value>) {
    let own = plugin.folder.path.join(".omp-plugin/plugin.json");
    let manifests = [
        (own.clone(), find.json(&own, Level::User).unwrap_or_default()),
        (plugin.folder.path.join(".claude-plugin/plugin.json"), claude.clone()),
    ];
    let declared = manifests.iter().find_map(|(path, manifest)| Some((path, manifest.get("mcpServers")?)));
    let (path, servers) = match declared {
        Some((path, Value::Object(servers))) => (path.clone(), servers.clone()),
        Some((_, Value::String(file))) => {
            let Some(path) = inside(find, plugin, file.trim()) else { return };
            let Some(config) = find.json(&path, Level::User) else {
                return find.warn(format!("the plugin `{}`: no servers in {}", plugin.name, path.display()));
            };
            (path, config)
        }
        _ => {
            let path = plugin.folder.path.join(".mcp.json");
            let Some(config) = find.json(&path, Level::User) else { return };
            (path, config)
        }
    };
    let base = if path.ends_with("plugin.json") { &plugin.folder.path } else { path.parent().unwrap_or(&path) };
    // With or without an enclosing `mcpServers`.
    let servers = match servers.get("mcpServers") {
        Some(Value::Object(inner)) => inner.clone(),
        Some(_) => return,
        None => servers,
    };
    let named =
        servers.into_iter().map(|(name, value)| (format!("{}:{name}", plugin.name), rooted(value, plugin, base)));
    find.mcp_servers(Some(&Value::Object(named.collect())), &path, Level::User);
}

/// Makes the server's own paths absolute, because it may be started from any folder.
fn rooted(mut server: Value, plugin: &Plugin, base: &Path) -> Value {
    put_root(&mut server, &plugin.folder.path.display().to_string());
    for key in ["command", "cwd"] {
        if let Some(Value::String(path)) = server.get_mut(key)
            && (path.starts_with("./") || path.starts_with("../") || (key == "cwd" && Path::new(path).is_relative()))
        {
            *path = base.join(path.strip_prefix("./").unwrap_or(path)).display().to_string();
        }
    }
    server
}

fn put_root(value: &mut Value, root: &str) {
    match value {
        Value::String(text) => {
            for name in ROOT_NAMES.iter().filter(|_| text.contains("_PLUGIN_ROOT}")).collect::<Vec<_>>() {
                *text = text.replace(name, root);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| put_root(value, root)),
        Value::Object(fields) => fields.values_mut().for_each(|value| put_root(value, root)),
        _ => {}
    }
}
