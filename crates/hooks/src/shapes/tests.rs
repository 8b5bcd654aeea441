//! Tests of the conversion to Claude's format and back.

use serde_json::json;

use super::*;

#[track_caller]
fn check(tool: &str, arguments: Value, expect: &[Value]) {
    assert_eq!(told(tool, &arguments, Path::new("/w")), expect, "{tool} {arguments}");
}

#[test]
fn calls_are_told_as_claude_tells_them() {
    check("bash", json!({"command": "ls", "timeout": 2}), &[json!({"command": "ls", "timeout": 2000.0})]);
    check("write", json!({"path": "a/../b", "content": "x"}), &[json!({"file_path": "/w/b", "content": "x"})]);
    check("read", json!({"path": "/etc/x:10-20"}), &[json!({"file_path": "/etc/x"})]);
    check("read", json!({"path": ".env:raw:1-5"}), &[json!({"file_path": "/w/.env"})]);
    check("read", json!({"path": "skill://pdf"}), &[json!({"file_path": "skill://pdf"})]);
    let one = json!({"path": "a", "edits": [{"old_text": "x", "new_text": "y"}]});
    let expect = json!({"file_path": "/w/a", "old_string": "x", "new_string": "y", "replace_all": false});
    check("edit", one, &[expect]);
    let both = json!(["/w/a", "/w/b"]);
    let renamed = json!({"path": "a", "edits": [{"op": "update", "rename": "b"}]});
    let each = |file: &str| json!({"file_path": file, "file_paths": both});
    check("edit", renamed, &[each("/w/a"), each("/w/b")]);
    let lines = json!({"input": "[a#1a2b]\n1:x\n+[not.a.file]\n[\"b\"]\nBOF↓y\n[a#1a2b]\n"});
    check("edit", lines, &[each("/w/a"), each("/w/b")]);
    let patch = json!({"input": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch"});
    check("edit", patch, &[each("/w/a"), each("/w/b")]);
    check("edit", json!({"input": "nothing"}), &[json!({})]);
    let found = json!({"pattern": "x", "-i": false, "path": "src", "paths": ["src", "lib"]});
    check("search", json!({"pattern": "x", "paths": ["src", "lib"]}), &[found]);
    check("find", json!({"paths": ["*.rs"]}), &[json!({"pattern": "*.rs", "paths": ["*.rs"]})]);
    check("mcp__a__b", json!({"x": 1}), &[json!({"x": 1})]);
}

#[track_caller]
fn check_amended(tool: &str, arguments: Value, updated: Value, expect: Result<Value, &str>) {
    let before = told(tool, &arguments, Path::new("/w")).remove(0);
    let changed = amended(tool, &arguments, &before, &updated);
    match expect {
        Ok(expect) => assert_eq!(changed, Ok(expect)),
        Err(part) => assert!(changed.as_ref().is_err_and(|why| why.contains(part)), "{changed:?}"),
    }
}

#[test]
fn what_a_hook_changes_is_changed_in_our_arguments() {
    let bash = || json!({"command": "ls", "timeout": 2});
    check_amended("bash", bash(), json!({"command": "pwd"}), Ok(json!({"command": "pwd", "timeout": 2})));
    check_amended("bash", bash(), json!({"timeout": 500}), Ok(json!({"command": "ls", "timeout": 0.5})));
    check_amended("bash", bash(), json!({"timeout": 2000.0, "description": "x"}), Ok(bash()));
    let write = || json!({"path": "a", "content": "x"});
    let same = json!({"file_path": "/w/a", "content": "y"});
    check_amended("write", write(), same, Ok(json!({"path": "a", "content": "y"})));
    check_amended("write", write(), json!({"file_path": "/b"}), Ok(json!({"path": "/b", "content": "x"})));
    check_amended("write", write(), json!({"mode": 7}), Err("`mode` of `write` cannot be changed"));
    check_amended("write", write(), json!([1]), Err("must be an object"));
    check_amended("write", write(), json!({"omp_input": {"path": "c"}}), Ok(json!({"path": "c"})));
    let edit = json!({"path": "a", "edits": [{"old_text": "x", "new_text": "y"}]});
    let expect = json!({"path": "a", "edits": [{"old_text": "x", "new_text": "z"}]});
    check_amended("edit", edit, json!({"new_string": "z"}), Ok(expect));
    let lines = json!({"input": "[a#1a2b]\n1:x"});
    check_amended("edit", lines.clone(), json!({"new_string": "z"}), Err("contains no such text"));
    check_amended("edit", lines, json!({"file_path": "/w/b"}), Err("cannot be changed"));
    check_amended("mcp__a__b", json!({"x": 1}), json!({"x": 2, "y": 3}), Ok(json!({"x": 2, "y": 3})));
}

#[test]
fn a_matcher_means_a_tool_by_any_of_its_names() {
    for (tool, expect) in [
        ("bash", &["Bash", "bash"][..]),
        ("edit", &["Edit", "MultiEdit", "edit"]),
        ("mcp__a__b", &["mcp__a__b"]),
        ("calc", &["calc"]),
    ] {
        assert_eq!(names(tool), expect);
    }
}
