//! The list is complete: every setting that the sources read is declared, every declared setting is read, and the page lists
//! them all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use omp_types::SettingKind;

use super::*;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns the sources of all crates without their tests, by path.
fn sources() -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            if path.is_dir() && !is_test {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
                found.insert(path, code);
            }
        }
    }
    found
}

/// Returns the string literals that could be a key.
fn literals(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_key = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    code.match_indices('"').filter_map(move |(at, _)| {
        let end = code[at + 1..].find('"')?;
        let text = &code[at + 1..at + 1 + end];
        (text.starts_with(|c: char| c.is_ascii_lowercase()) && is_key(text)).then_some((at, text))
    })
}

/// Returns the keys that code reads: `settings.get("…")` and the like, and every name of the reference with a dot.
fn read_keys(code: &str, reference: &BTreeSet<String>) -> Vec<String> {
    let calls = [".get(", ".user(", ".project(", ".set_runtime("];
    let asks = |before: &str| {
        let Some(open) = before.rfind('.') else { return false };
        let (receiver, call) = before.split_at(open);
        let call = call.replace(['\n', ' '], "");
        let call = call.split("::<").next().unwrap_or_default().trim_end_matches('(').to_owned() + "(";
        receiver.trim_end().ends_with("settings") && calls.contains(&call.as_str())
    };
    let keys = literals(code).filter(|(at, text)| {
        let line_start = code[..*at].rfind([';', '{', '}']).unwrap_or(0);
        (text.contains('.') && reference.contains(*text)) || asks(&code[line_start..*at])
    });
    keys.map(|(_, text)| text.to_owned()).collect()
}

#[test]
fn every_key_that_is_read_is_declared() {
    let known = known();
    let reference: BTreeSet<String> = omp_config::reference_settings().map(|(name, _)| name).collect();
    let mut strays = Vec::new();
    for (path, code) in sources() {
        // The migration names the old keys.
        if path.ends_with("config/src/migrate.rs") {
            continue;
        }
        for key in read_keys(&code, &reference) {
            let is_declared =
                matches!(known.find(&key), Some(omp_config::Named::Setting(_) | omp_config::Named::Entry(_)));
            if !is_declared {
                strays.push(format!("{}: {key}", path.display()));
            }
        }
    }
    assert!(strays.is_empty(), "add these to SETTINGS of their crate:\n{}", strays.join("\n"));
}

/// Finds code that reads a setting with its own default: `settings.get("…").unwrap_or(true)`. The default of a type is fine
/// where no default is declared.
fn own_defaults(code: &str, is_bare: impl Fn(&str) -> bool) -> Vec<String> {
    let brings =
        [".unwrap_or(", ".unwrap_or_else(", ".unwrap_or_default(", ".map_or(", ".map_or_else(", ".is_none_or("];
    let found = code.match_indices("settings").filter_map(|(at, word)| {
        let call = code[at + word.len()..].trim_start();
        let rest = call.strip_prefix(".get").or_else(|| call.strip_prefix(".user"))?;
        let open = rest.find('(').filter(|open| *open == 0 || rest.starts_with("::<"))?;
        let close = closing(rest, open)?;
        let (key, next) = (rest[open + 1..close].trim(), rest[close + 1..].trim_start());
        let own = brings.iter().find(|own| next.starts_with(*own))?;
        let is_fine = *own == ".unwrap_or_default(" && is_bare(key.trim_matches('"'));
        (!is_fine).then(|| format!("{key}{own}"))
    });
    found.collect()
}

/// Returns the index of the bracket that closes the one at `open`.
fn closing(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    code[open..].char_indices().find_map(|(at, char)| {
        depth += i32::from(char == '(') - i32::from(char == ')');
        (depth == 0).then_some(open + at)
    })
}

#[test]
fn a_default_is_written_where_the_setting_is_declared_and_nowhere_else() {
    let known = known();
    let is_bare = |key: &str| known.get(key).is_some_and(|setting| matches!(setting.default, "" | "[]" | "{}"));
    let mut strays = Vec::new();
    // This file inserts the declared defaults.
    let readers = |path: &PathBuf| !path.ends_with("config/src/declared.rs");
    for (path, code) in sources().into_iter().filter(|(path, _)| readers(path)) {
        strays.extend(own_defaults(&code, is_bare).into_iter().map(|stray| format!("{}: {stray}", path.display())));
    }
    assert!(strays.is_empty(), "read these with `settings.of(SETTINGS)`:\n{}", strays.join("\n"));
}

#[test]
fn defaults_of_their_own_are_seen() {
    for (code, strays) in [
        ("setup.settings.get(\"a\").unwrap_or(true)", vec!["\"a\".unwrap_or("]),
        ("settings\n    .user::<Vec<String>>(key)\n    .unwrap_or_default()", vec!["key.unwrap_or_default("]),
        ("settings.user::<Vec<Value>>(level.key()).map_or(x, y)", vec!["level.key().map_or("]),
        ("settings.get(\"bare\").unwrap_or_default()", vec![]),
        ("settings.project(\"a\").unwrap_or_default()", vec![]),
        ("settings.of(SETTINGS).get(\"a\"); let b = c.unwrap_or(1)", vec![]),
        ("settings.get(\"a\")?; settings.user(key).map(f)", vec![]),
    ] {
        assert_eq!(own_defaults(code, |key| key == "bare"), strays, "{code}");
    }
}

#[test]
fn the_scan_sees_what_it_should() {
    let reference: BTreeSet<String> = ["a.b".to_owned(), "plain".to_owned()].into();
    for (code, keys) in [
        ("let x = self.settings.get(\"one\");", vec!["one"]),
        ("settings\n  .get::<Option<String>>(\"two.three\")", vec!["two.three"]),
        ("setup.settings.user(\"four\").or(settings.project(\"five\"))", vec!["four", "five"]),
        ("set(get, \"a.b\", &mut x)", vec!["a.b"]),
        ("map.get(\"other\"); \"plain\"", vec![]),
    ] {
        assert_eq!(read_keys(code, &reference), keys, "{code}");
    }
}

#[test]
fn every_setting_is_declared_once_with_a_default_of_its_kind_and_is_read() {
    let sources = sources();
    let mut seen = BTreeSet::new();
    let mut unread = Vec::new();
    for setting in settings() {
        assert!(seen.insert(setting.key), "{} is declared twice", setting.key);
        let default = setting.default_value();
        assert_eq!(default.is_null(), setting.default.is_empty(), "{}", setting.key);
        assert!(default.is_null() || setting.check(&default).is_ok(), "{}: {default}", setting.key);
        assert!(!setting.title.is_empty() && setting.about.ends_with('.'), "{}", setting.key);
        let quoted = format!("\"{}\"", setting.key);
        let times: usize = sources.values().map(|code| code.matches(&quoted).count()).sum();
        let in_map = settings().iter().any(|map| {
            map.kind.is_map() && setting.key.starts_with(&format!("{}.", map.key)) && setting.kind == SettingKind::Text
        });
        if times < 2 && !in_map {
            unread.push(setting.key);
        }
    }
    assert!(unread.is_empty(), "declared, and nothing reads them: {unread:?}");
}

#[test]
fn the_page_tells_of_every_setting() {
    let page = std::fs::read_to_string(crates().parent().unwrap().join("docs/settings.md")).unwrap();
    let (_, rest) = page.split_once(crate::cli::config::PAGE_BEGIN).expect("the page has lost its mark");
    let (table, _) = rest.split_once(crate::cli::config::PAGE_END).expect("the page has lost its mark");
    let wanted = crate::cli::config::markdown(&settings());
    assert!(table.trim() == wanted.trim(), "docs/settings.md is not up to date\nhint: cargo run -p xtask -- docs");
}

/// Returns the effective value if the user's file and the project's differ.
#[track_caller]
fn effective(key: &str, users: &str, projects: &str) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let (own, theirs) = (folder.path().join("own.yml"), folder.path().join(".omp/config.yml"));
    std::fs::create_dir(folder.path().join(".omp")).unwrap();
    let line = |value: &str| if value.is_empty() { String::new() } else { format!("{key}: {value}\n") };
    std::fs::write(&own, line(users)).unwrap();
    std::fs::write(&theirs, line(projects)).unwrap();
    let mut settings = omp_config::Settings::new(known());
    settings.load_global(&own).unwrap();
    assert!(settings.load_project(folder.path()).is_empty());
    settings.get::<serde_json::Value>(key).unwrap_or_default()
}

#[test]
fn a_project_loosens_nothing() {
    for (key, users, projects, expect) in [
        // A project cannot disable the user's rules.
        ("ttsr.enabled", "", "false", ""),
        ("ttsr.interruptMode", "", "never", ""),
        ("ttsr.contextMode", "", "keep", ""),
        ("ttsr.repeatMode", "after-gap", "once", "\"after-gap\""),
        ("ttsr.repeatGap", "5", "1000", "5"),
        ("ttsr.builtinRules", "", "false", ""),
        // Settings that protect the user's files and machine from the model.
        ("edit.blockAutoGenerated", "", "false", ""),
        ("edit.fuzzyThreshold", "", "0", ""),
        ("edit.fuzzyMatch", "false", "true", "false"),
        ("bashInterceptor.enabled", "true", "false", "true"),
        ("bashInterceptor.patterns", "", "[]", ""),
        ("bash.maxProcesses", "", "100000", ""),
        ("bash.maxMemory", "", "1000000", ""),
        ("bash.maxFileSize", "", "0", ""),
        ("bash.startFilesTimeout", "", "120", ""),
        ("bash.enabled", "false", "true", "false"),
        ("bash.autoBackground.enabled", "false", "true", "false"),
        ("shellPath", "", "./evil", ""),
        ("async.maxJobs", "", "1000", ""),
        ("ask.timeout", "", "1", ""),
        ("images.blockImages", "true", "false", "true"),
        ("skills.customDirectories", "", "[/etc]", ""),
        // Settings that decide where the user's prompts and code are sent, and what that costs.
        ("compaction.remoteEndpoint", "", "https://evil.example", ""),
        ("compaction.remoteEnabled", "false", "true", "false"),
        ("compaction.idleEnabled", "", "true", ""),
        ("contextPromotion.enabled", "false", "true", "false"),
        ("disabledProviders", "[a]", "[]", "[\"a\"]"),
        ("enabledModels", "", "[evil/*]", ""),
        ("modelProviderOrder", "", "[evil]", ""),
        ("modelRoles.default", "", "evil/model", ""),
        ("serviceTier", "", "priority", ""),
    ] {
        let expect = if expect.is_empty() { serde_json::Value::Null } else { serde_json::from_str(expect).unwrap() };
        assert_eq!(effective(key, users, projects), expect, "{key}: {users} and {projects}");
    }
}

#[test]
fn a_project_may_tighten_and_say_what_it_likes() {
    for (key, users, projects) in [
        ("bash.enabled", "true", "false"),
        ("edit.fuzzyMatch", "true", "false"),
        ("compaction.remoteEnabled", "true", "false"),
        ("read.defaultLimit", "10", "20"),
        ("defaultThinkingLevel", "low", "high"),
    ] {
        let wanted: serde_json::Value = omp_config::parse_value(projects).unwrap();
        assert_eq!(effective(key, users, projects), wanted, "{key}");
    }
}
