//! Tests of the built-in rules: what they stop, and what they must let pass.

use std::path::PathBuf;

use omp_rules::{RuleSettings, StreamListener, bucket, builtin_rules};
use omp_types::ToolCall;
use serde_json::{Value, json};

fn broken(tool: &str, arguments: Value) -> Vec<String> {
    let buckets = bucket(&builtin_rules(), &RuleSettings::default());
    assert_eq!((buckets.warnings.len(), buckets.rulebook.len(), buckets.always.len()), (0, 0, 0));
    let Value::Object(arguments) = arguments else { panic!("no arguments") };
    let delta = Value::Object(arguments.clone()).to_string();
    let call = ToolCall { id: "1".into(), name: tool.into(), arguments, ..ToolCall::default() };
    let mut listener = StreamListener::new(PathBuf::from("/tmp/project"));
    let mut hits = listener.arguments(&buckets.ttsr, 0, &call, &delta);
    hits.extend(listener.call_ended(&buckets.ttsr, 0, &call));
    hits.iter().map(|hit| buckets.ttsr.rule(hit.rule).unwrap().name.clone()).collect()
}

#[test]
fn what_is_stopped() {
    for (path, content, rule) in [
        ("a.rs", "fn a() {\n    // ... rest of the code unchanged\n}", "no-elided-code"),
        ("a.py", "def a():\n    # … existing code here\n", "no-elided-code"),
        ("a.ts", "// ... existing imports ...\nfoo()", "no-elided-code"),
        ("a.html", "<!-- the rest of the file remains unchanged -->", "no-elided-code"),
        ("a.js", "/* rest of file stays the same */", "no-elided-code"),
        ("a.rs", "fn a() -> u32 {\n    todo!()\n}", "no-unfinished-rust"),
        ("a.rs", "fn a() -> u32 { unimplemented!(\"later\") }", "no-unfinished-rust"),
        ("a.go", "x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n", "no-conflict-markers"),
    ] {
        assert_eq!(broken("write", json!({"path": path, "content": content})), [rule], "{content}");
    }
    for command in ["git commit -m x --no-verify", "git -c a=b push origin main --no-verify"] {
        assert_eq!(broken("bash", json!({"command": command})), ["no-skipped-checks"], "{command}");
    }
}

#[test]
fn what_passes() {
    for (path, content) in [
        ("a.rs", "// The rest of the line is a comment.\nlet rest = &text[..];"),
        ("a.rs", "// ... and so on\nlet x = [1, 2];"),
        ("a.rs", "/// Panics like `todo!()` would.\nlet s = \"todo!()\";"),
        ("a.rs", "// TODO: faster"),
        ("a.py", "def a(): ...\n# existing code is kept in git"),
        ("README.md", "```\n// ... existing code\n```\n\nTitle\n=======\n"),
        ("a.rst", "<<<<<<< a\nx\n=======\n"),
        ("a.sh", "cat <<EOF\n=======\nEOF\n"),
    ] {
        assert_eq!(broken("write", json!({"path": path, "content": content})), [""; 0], "{content}");
    }
    for command in
        ["git commit -m x", "npm publish --no-verify", "git log; tool --no-verify", "git commit -m x && y --no-verify"]
    {
        assert_eq!(broken("bash", json!({"command": command})), [""; 0], "{command}");
    }
    assert_eq!(broken("bash", json!({"command": "sed -n '/todo!()/p' a.rs"})), [""; 0]);
}
