//! `omp config sources`: lists what was found in this folder and for this user, what was shadowed, and what is disabled.

use std::fmt::Write;
use std::path::Path;

use omp_config::{Catalogue, ItemSource, Level, Shadowed};
use serde_json::{Value, json};

use crate::folder::unused::Unused;

/// One item that discovery found.
struct FoundItem<'a> {
    kind: &'static str,
    name: String,
    /// `None` for context files and their imports, whose path shows the provider.
    provider: Option<&'static str>,
    level: Level,
    path: &'a Path,
}

/// Lists the items as text; paths below the home folder are shortened.
pub fn text(found: &Catalogue, unused: &Unused, home: &Path) -> String {
    let shown = |path: &Path| match path.strip_prefix(home) {
        Ok(below) => format!("~/{}", below.display()),
        Err(_) => path.display().to_string(),
    };
    let items = items(found);
    let mut out = String::new();
    let mut kind = "";
    for item in &items {
        if item.kind != kind {
            kind = item.kind;
            let gap = if out.is_empty() { "" } else { "\n" };
            let count = items.iter().filter(|other| other.kind == kind).count();
            let _ = writeln!(out, "{gap}{kind} ({count})");
        }
        let who = item.provider.map(|provider| format!("{provider}, ")).unwrap_or_default();
        let _ = writeln!(out, "  {}  [{who}{}]  {}", item.name, level(item.level), shown(item.path));
    }
    for (title, lost) in [("shadowed", &found.shadowed), ("switched off", &found.switched_off)] {
        if lost.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{title} ({})", lost.len());
        for item in lost {
            let by = if title == "shadowed" { format!(" by {}", shown(&item.by.path)) } else { String::new() };
            let _ = writeln!(out, "  {} {}  {}{by}", item.kind, lost_name(item, &shown), shown(&item.source.path));
        }
    }
    out.push_str(&unused.text(&shown));
    if out.is_empty() {
        out.push_str("nothing found here\n");
    }
    out
}

/// Lists the items as JSON.
pub fn json(found: &Catalogue, unused: &Unused) -> Value {
    let won = items(found).into_iter().map(|item| {
        json!({
            "kind": item.kind, "name": item.name, "provider": item.provider, "level": level(item.level),
            "path": item.path,
        })
    });
    let won: Vec<Value> = won.collect();
    let lost = |items: &[Shadowed], with_winner: bool| -> Vec<Value> {
        let items = items.iter().map(|item| {
            let mut value = source_json(&item.source);
            value["kind"] = item.kind.into();
            value["name"] = item.name.clone().into();
            if with_winner {
                value["by"] = source_json(&item.by);
            }
            value
        });
        items.collect()
    };
    json!({
        "items": won,
        "shadowed": lost(&found.shadowed, true),
        "switchedOff": lost(&found.switched_off, false),
        "unused": unused.json(),
        "warnings": found.warnings,
    })
}

fn items(found: &Catalogue) -> Vec<FoundItem<'_>> {
    let mut items = Vec::new();
    items.extend(found.context_files.iter().map(|file| FoundItem {
        kind: "context file",
        name: file.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        provider: None,
        level: file.level,
        path: &file.path,
    }));
    items.extend(found.imports.iter().map(|import| {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let told = format!("{} in {}", name(&import.path), name(&import.by));
        FoundItem { kind: "import", name: told, provider: None, level: import.level, path: &import.path }
    }));
    let parts = [&found.system, &found.append_system, &found.title_system];
    items.extend(parts.into_iter().flatten().map(|file| item("system prompt", &file.name, &file.source)));
    items.extend(found.rules.iter().map(|one| item("rule", &one.name, &one.source)));
    items.extend(found.skills.iter().map(|one| item("skill", &one.name, &one.source)));
    items.extend(found.commands.iter().map(|one| item("command", &one.name, &one.source)));
    items.extend(found.prompts.iter().map(|one| item("prompt", &one.name, &one.source)));
    items.extend(found.instructions.iter().map(|one| item("instruction", &one.name, &one.source)));
    items.extend(found.agents.iter().map(|one| item("agent", &one.name, &one.source)));
    items.extend(found.hooks.iter().map(|one| item("hook", &one.name, &one.source)));
    items.extend(found.tools.iter().map(|one| item("tool", &one.name, &one.source)));
    items.extend(found.extension_modules.iter().map(|one| item("extension module", &one.name, &one.source)));
    items.extend(found.ssh_hosts.iter().map(|one| item("ssh host", &one.name, &one.source)));
    items.extend(found.mcp_servers.iter().map(|one| item("mcp server", &one.name, &one.source)));
    items.extend(found.settings.iter().map(|one| {
        let name = one.source.path.file_name().unwrap_or_default().to_string_lossy();
        item("settings", &name, &one.source)
    }));
    items
}

fn item<'a>(kind: &'static str, name: &str, source: &'a ItemSource) -> FoundItem<'a> {
    let provider = Some(source.provider.id());
    FoundItem { kind, name: name.to_owned(), provider, level: source.level, path: &source.path }
}

/// Names a shadowed context file by its folder and any other item by its name.
fn lost_name(item: &Shadowed, shown: &dyn Fn(&Path) -> String) -> String {
    match item.kind {
        "context file" if item.source.level == Level::User => "of the user".to_owned(),
        "context file" => format!("of {}", shown(Path::new(&item.name))),
        _ => item.name.clone(),
    }
}

fn source_json(source: &ItemSource) -> Value {
    json!({"provider": source.provider.id(), "level": level(source.level), "path": source.path})
}

fn level(level: Level) -> &'static str {
    match level {
        Level::User => "user",
        Level::Project => "project",
    }
}
