//! Tests of which rules an answer breaks, and where.

use std::path::PathBuf;

use omp_config::Rule;
use omp_rules::{RuleSettings, StreamListener, ViolationOrigin, Watch, bucket};
use omp_types::{PartialJson, ToolCall};

use crate::{rule, words};

fn watch(rules: Vec<Rule>) -> std::sync::Arc<Watch> {
    let buckets = bucket(&rules, &RuleSettings::default());
    assert_eq!(buckets.warnings, Vec::<String>::new());
    buckets.ttsr
}

/// Returns names and locations of the rules that a call breaks, with arguments arriving letter by letter; `!` if only its
/// end decided it.
fn broken(watch: &Watch, tool: &str, arguments: &str) -> Vec<String> {
    let mut listener = StreamListener::new(PathBuf::from("/tmp/project"));
    let mut call = ToolCall { id: "c1".into(), name: tool.into(), ..ToolCall::default() };
    let mut partial = PartialJson::default();
    let mut found = Vec::new();
    let name = |rule: usize| watch.rule(rule).unwrap().name.clone();
    for letter in arguments.chars() {
        let delta = letter.to_string();
        partial.push(&delta, &mut call.arguments);
        for hit in listener.arguments(watch, 3, &call, &delta) {
            assert_eq!(hit.origin, ViolationOrigin::Tool("c1".into()));
            found.push(name(hit.rule));
        }
    }
    call.arguments = serde_json::from_str(arguments).unwrap();
    found.extend(listener.call_ended(watch, 3, &call).iter().map(|hit| format!("{}!", name(hit.rule))));
    found
}

fn watched(name: &str, condition: &str, scope: &[&str], globs: &[&str]) -> Rule {
    Rule { condition: words(&[condition]), scope: words(scope), globs: words(globs), ..rule(name) }
}

#[test]
fn text_and_thinking_have_their_own_rules() {
    let watch = watch(vec![watched("t", "foo", &["text"], &[]), watched("h", "foo", &["thinking"], &[])]);
    let mut listener = StreamListener::new(PathBuf::new());
    let mut heard = Vec::new();
    for (index, piece) in [(0, "fo"), (1, "f"), (0, "o."), (1, "oo.")] {
        let hits = match index {
            0 => listener.thinking(&watch, index, piece),
            _ => listener.text(&watch, index, piece),
        };
        heard.extend(hits.iter().map(|hit| format!("{} {:?}", watch.rule(hit.rule).unwrap().name, hit.origin)));
    }
    assert_eq!(heard, ["h Thinking", "t Text"]);
    assert!(listener.ended(&watch, 0).is_empty() && listener.ended(&watch, 1).is_empty());
}

#[test]
fn an_answer_that_begins_anew_is_heard_anew() {
    let watch = watch(vec![watched("t", "^foo", &[], &[])]);
    let mut listener = StreamListener::new(PathBuf::new());
    assert!(listener.text(&watch, 0, "fo").is_empty());
    listener.reset();
    assert!(listener.text(&watch, 0, "o!").is_empty());
    listener.reset();
    assert_eq!(listener.text(&watch, 0, "foo!").len(), 1);
    assert!(listener.text(&watch, 0, " foo foo").is_empty(), "once a block");
}

#[test]
fn boundaries_wait_for_what_follows() {
    let watch = watch(vec![watched("b", r"\bfoo\b", &[], &[]), watched("e", r"end$", &[], &[])]);
    let mut listener = StreamListener::new(PathBuf::new());
    assert!(listener.text(&watch, 0, "food foo").is_empty());
    assert_eq!(listener.text(&watch, 0, " ").len(), 1);
    assert!(listener.text(&watch, 0, "end").is_empty());
    assert_eq!(listener.ended(&watch, 0).len(), 1);
}

#[test]
fn calls_are_heard_by_tool_and_file() {
    let any = || watched("any", "secret", &[], &[]);
    let rust = || watched("rust", "secret", &["tool:edit(*.rs)", "tool:write(*.rs)"], &[]);
    let gated = || watched("gated", "secret", &[], &["src/**"]);
    let rules = watch(vec![any(), rust(), gated()]);
    for (tool, arguments, expect) in [
        ("bash", r#"{"command":"echo secret "}"#, &["any"][..]),
        ("read", r#"{"path":"src/secret x"}"#, &["any", "gated"]),
        ("write", r#"{"path":"a.rs","content":"secret x"}"#, &["any", "rust"]),
        ("write", r#"{"path":"/tmp/project/src/a.ts","content":"secret x"}"#, &["any", "gated"]),
        ("write", r#"{"content":"secret x","path":"src/a.rs"}"#, &["any", "rust!", "gated!"]),
        ("write", r#"{"path":"secret","content":"x"}"#, &[]),
        ("edit", r#"{"path":"a.rs","edits":[{"old_text":"secret","new_text":"open"}]}"#, &[]),
        ("edit", r#"{"path":"a.rs","edits":[{"old_text":"x","new_text":"a secret"}]}"#, &["any!", "rust!"]),
        ("edit", r#"{"input":"[a.ts#11]\n1:secret\n[src/b.rs#22]\n1:secret"}"#, &["any", "any!", "rust!", "gated!"]),
        ("edit", r#"{"input":"*** Begin Patch\n*** Add File: a.rs\n+secret\n*** End Patch"}"#, &["any", "rust"]),
    ] {
        assert_eq!(broken(&rules, tool, arguments), expect, "{tool} {arguments}");
    }
}

#[test]
fn structure_is_seen_in_what_is_written() {
    let rules = watch(vec![
        Rule { ast_condition: words(&["if ($X) clearTimeout($X)"]), ..rule("guard") },
        Rule { ast_condition: words(&["$A.unwrap()"]), globs: words(&["*.rs"]), ..rule("unwrap") },
        Rule { ast_condition: words(&["eval($A)"]), condition: words(&["evil"]), ..rule("mixed") },
    ]);
    for (tool, arguments, expect) in [
        ("write", r#"{"path":"a.js","content":"if (t) clearTimeout(t)"}"#, &["guard!"][..]),
        ("write", r#"{"path":"a.js","content":"if (t) clearTimeout(u)"}"#, &[]),
        ("write", r#"{"path":"a.txt","content":"if (t) clearTimeout(t)"}"#, &[]),
        ("bash", r#"{"command":"if (t) clearTimeout(t)","path":"a.js"}"#, &[]),
        ("write", r#"{"path":"a.rs","content":"fn f() { g().unwrap(); }"}"#, &["unwrap!"]),
        ("write", r#"{"path":"a.rs","content":"fn f() { \"g().unwrap()\"; }"}"#, &[]),
        ("edit", r#"{"input":"[a.js#11]\n3:  eval(text);\n"}"#, &["mixed!"]),
        ("bash", r#"{"command":"evil "}"#, &["mixed"]),
        ("write", r#"{"path":"a.js","content":"evil(); eval(x)"}"#, &["mixed"]),
    ] {
        assert_eq!(broken(&rules, tool, arguments), expect, "{tool} {arguments}");
    }
}

#[test]
fn more_blocks_than_anyone_sends_are_not_a_problem() {
    let watch = watch(vec![watched("t", "foo", &[], &[])]);
    let mut listener = StreamListener::new(PathBuf::new());
    let hits: usize = (0..100).map(|index| listener.text(&watch, index, "foo ").len()).sum();
    assert_eq!(hits, 16);
    listener.reset();
    assert_eq!(listener.text(&watch, 0, "foo ").len(), 1);
}

/// A rule that waits for the location is checked when the location changes, not with every chunk.
#[test]
fn a_place_that_is_told_late_counts() {
    let rules = watch(vec![watched("gated", "secret", &[], &["src/**"]), watched("tool", "secret", &["grep"], &[])]);
    for (arguments, expect) in [
        (r#"{"pattern":"secret x","path":"src/a"}"#, &["tool", "gated"][..]),
        (r#"{"pattern":"secret x","paths":["lib/a","src/b"]}"#, &["tool", "gated"]),
        (r#"{"pattern":"secret x","path":"lib/a"}"#, &["tool"]),
    ] {
        let told = broken(&rules, "grep", arguments);
        let told: Vec<&str> = told.iter().map(|name| name.trim_end_matches('!')).collect();
        assert_eq!(told, expect, "{arguments}");
    }
    // Some providers send the tool's name after the first arguments.
    let mut listener = StreamListener::new(PathBuf::new());
    let mut call = ToolCall { id: "c1".into(), ..ToolCall::default() };
    assert!(listener.arguments(&rules, 0, &call, "secret ").is_empty());
    call.name = "grep".into();
    assert_eq!(listener.arguments(&rules, 0, &call, "x").len(), 1);
}

/// One parse serves the patterns of all rules.
#[test]
fn many_code_patterns_are_found_in_one_text() {
    let named = |at: usize| Rule { ast_condition: words(&[&format!("call{at}($A)")]), ..rule(&at.to_string()) };
    let rules = watch((0..200).map(named).collect());
    let calls: String = (0..200).step_by(2).map(|at| format!("call{at}(x); ")).collect();
    let arguments = serde_json::json!({"path": "a.js", "content": calls}).to_string();
    assert_eq!(broken(&rules, "write", &arguments).len(), 100);
}
