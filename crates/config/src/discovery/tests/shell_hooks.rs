//! Tests shell hooks: every file that may contain them, and that a repository cannot remove the user's.

use serde_json::json;

use super::*;

const HOOK: &str = r#"{"Stop": [{"hooks": [{"command": "x"}]}]}"#;

fn around() -> String {
    format!(r#"{{"hooks": {HOOK}}}"#)
}

/// Returns the locations of the hooks, in order.
fn places(tree: &Tree, found: &Catalogue) -> Vec<String> {
    found.hooks.iter().map(|hook| tree.named(&hook.source.path)).collect()
}

#[test]
fn hooks_are_found_in_every_file_that_may_hold_them() {
    let around = around();
    let tree = Tree::new(&[
        ("cwd/.omp/hooks.json", HOOK),
        ("cwd/.omp/hooks.yml", "hooks: {Stop: [{hooks: [{command: x}]}]}"),
        ("cwd/.omp/config.yml", "hooks: {Stop: [{hooks: [{command: x}]}]}"),
        ("~/.omp/agent/config.yml", "hooks: {Stop: [{hooks: [{command: x}]}]}"),
        ("~/.omp/agent/hooks.json", &around),
        ("~/.claude/settings.json", &around),
        ("repo/.claude/settings.json", &around),
        ("cwd/.claude/settings.local.json", &around),
        (
            "~/.claude/plugins/cache/t/hooks/hooks.json",
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "${CLAUDE_PLUGIN_ROOT}/x"}]}]}}"#,
        ),
    ]);
    let at = tree.path("~/.claude/plugins/cache/t");
    let registry = json!({"plugins": {"t@m": [{"installPath": at}]}});
    tree.write("~/.claude/plugins/installed_plugins.json", &registry.to_string());
    let found = tree.discover();
    assert_eq!(
        places(&tree, &found),
        [
            "cwd/.omp/hooks.json",
            "cwd/.omp/hooks.yml",
            "cwd/.omp/config.yml",
            "~/.omp/agent/hooks.json",
            "~/.omp/agent/config.yml",
            "~/.claude/settings.json",
            "cwd/.claude/settings.local.json",
            "repo/.claude/settings.json",
            "~/.claude/plugins/cache/t/hooks/hooks.json",
        ]
    );
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    assert_eq!(found.hooks[0].value, json!({"event": "Stop", "hooks": [{"command": "x"}]}));
    assert_eq!(found.hooks[8].value["hooks"][0]["command"], format!("{}/x", at.display()));
    let users = found.hooks.iter().filter(|hook| hook.source.level == Level::User).count();
    assert_eq!(users, 4);
}

#[test]
fn a_repository_cannot_be_rid_of_the_users_hooks() {
    let many = json!({"Stop": vec![json!({"hooks": []}); 1_500]}).to_string();
    let around = around();
    let tree = Tree::new(&[("cwd/.omp/hooks.json", &many), ("~/.claude/settings.json", &around)]);
    let name = format!("hook:Stop:0:{}", tree.path("~/.claude/settings.json").display());
    let off = json!({"disabledProviders": ["claude", "native"], "disabledExtensions": [name]}).to_string();
    tree.write("cwd/.omp/settings.json", &off);
    let mut settings = Settings::default();
    assert!(settings.load_project(&tree.path("cwd/")).is_empty());
    let found = tree.discover_chosen(&settings);
    assert_eq!(places(&tree, &found), ["~/.claude/settings.json"]);
    // The user can disable them.
    let mut settings = Settings::default();
    settings.set_runtime("disabledProviders", json!(["claude", "native"]));
    assert!(tree.discover_chosen(&settings).hooks.is_empty());
    settings = Settings::default();
    settings.set_runtime("disabledExtensions", json!([name]));
    assert!(!places(&tree, &tree.discover_chosen(&settings)).contains(&"~/.claude/settings.json".to_owned()));
}

#[test]
fn what_holds_no_hooks_is_told() {
    for (text, part) in [
        (r#"{"hooks": 3}"#, "`hooks` must be a map of events"),
        (r#"{"hooks": {"Stop": {}}}"#, "not a list"),
        (r#"{"hooks": {"Stop": ["x"]}}"#, "not an object"),
    ] {
        let tree = Tree::new(&[("~/.claude/settings.json", text)]);
        let found = tree.discover();
        assert!(found.hooks.is_empty() && found.warnings.join("\n").contains(part), "{:?}", found.warnings);
    }
}
