//! Tests of declarations and their errors.

use omp_config::{ItemSource, Provider};
use serde_json::json;

use super::*;

fn declared(level: Level, value: Value) -> Declared {
    let source = ItemSource { provider: Provider::Claude, level, path: "/p/.claude/settings.json".into() };
    Declared { name: "x".to_owned(), value, source }
}

#[track_caller]
fn check(value: Value, expect: Result<&[(&str, u64)], &str>) {
    let found = read(&[declared(Level::User, value.clone())]);
    match expect {
        Ok(expect) => {
            let hooks: Vec<_> =
                found.hooks.iter().map(|hook| (hook.command.as_str(), hook.timeout.as_secs())).collect();
            assert_eq!((hooks.as_slice(), found.warnings.len()), (expect, 0), "{value} {:?}", found.warnings);
        }
        Err(part) => {
            assert!(found.hooks.is_empty(), "{value}");
            assert!(found.warnings.len() == 1 && found.warnings[0].contains(part), "{:?}", found.warnings);
        }
    }
}

#[test]
fn entries() {
    let of = |event: &str, hook: Value| json!({"event": event, "hooks": [hook]});
    check(of("PreToolUse", json!({"type": "command", "command": "a"})), Ok(&[("a", 600)]));
    check(of("SessionEnd", json!({"command": "a"})), Ok(&[("a", 5)]));
    check(of("UserPromptSubmit", json!({"command": "a"})), Ok(&[("a", 30)]));
    check(of("PreToolUse", json!({"command": "a", "args": ["b c"], "if": "Bash(x *)"})), Ok(&[("a 'b c'", 600)]));
    check(of("Stop", json!({"command": "a", "timeout": 7})), Ok(&[("a", 7)]));
    check(of("Stop", json!({"command": "a", "timeout": 1e12})), Ok(&[("a", 3600)]));
    check(json!({"event": "Stop", "hooks": []}), Ok(&[]));
    check(json!({"type": "pre", "tool": "bash", "path": "x.ts"}), Ok(&[]));
    check(of("Sotp", json!({"command": "a"})), Err("unknown event"));
    check(of("Stop", json!({"type": "prompt", "prompt": "x"})), Err("not `prompt`"));
    check(of("Stop", json!({"command": " "})), Err("no `command`"));
    check(of("Stop", json!({"command": 3})), Err("no `command`"));
    check(of("Stop", json!({"command": "a\0b"})), Err("cannot be run"));
    check(of("Stop", json!({"command": "a", "args": "b"})), Err("`args` must be a list"));
    check(of("Stop", json!({"command": "a", "args": [1]})), Err("`args` must be a list"));
    check(of("Stop", json!({"command": "a", "if": "Bash"})), Err("for events of tools only"));
    check(of("PreToolUse", json!({"command": "a", "if": 3})), Err("must be a string such as"));
    check(of("Stop", json!({"command": "a", "timeout": 0})), Err("above 0"));
    check(of("Stop", json!({"command": "a", "timeout": "9"})), Err("above 0"));
    check(json!({"event": "Stop"}), Err("a list `hooks`"));
    check(json!({"event": "PreToolUse", "matcher": 3, "hooks": []}), Err("must be a string"));
    check(json!({"event": "PreToolUse", "matcher": "a(", "hooks": []}), Err("cannot be read"));
    check(json!({"event": "Stop", "hooks": vec![json!({"command": "a"}); 101]}), Err("more than 100"));
}

#[test]
fn a_condition_that_cannot_be_read_is_told_and_excludes_nothing() {
    let hook = json!({"event": "PreToolUse", "hooks": [{"command": "a", "if": "Bash("}]});
    let found = read(&[declared(Level::User, hook)]);
    assert_eq!(found.hooks.len(), 1);
    assert!(found.warnings[0].contains("is invalid, so the hook runs for every call"), "{:?}", found.warnings);
}

#[test]
fn a_projects_hooks_belong_to_its_folder() {
    let hook = json!({"event": "Stop", "hooks": [{"command": "a"}]});
    let items = [declared(Level::User, hook.clone()), declared(Level::Project, hook)];
    let found = read(&items);
    let told: Vec<_> = found.hooks.iter().map(|hook| (hook.source.level, hook.project.as_deref())).collect();
    assert_eq!(told, [(Level::User, None), (Level::Project, Some(Path::new("/p")))]);
}
