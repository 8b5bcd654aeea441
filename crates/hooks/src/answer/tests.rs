//! Tests of every exit code and every field, for every event that supports it.

use serde_json::json;

use super::*;

fn ran(code: i32, stdout: &str, stderr: &str) -> HookRun {
    HookRun { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned(), truncated: false }
}

/// One line that summarizes an answer.
fn line(answer: &HookAnswer) -> String {
    let mut parts: Vec<String> = answer.notices.iter().map(|text| format!("notice({text})")).collect();
    parts.extend(answer.context.as_ref().map(|text| format!("context({text})")));
    parts.extend(answer.blocked.as_ref().map(|text| format!("blocked({text})")));
    parts.extend(answer.halted.as_ref().map(|text| format!("halted({text})")));
    parts.extend(answer.permission.as_ref().map(|permission| match permission {
        HookPermission::Allow => "allow".to_owned(),
        HookPermission::Ask { reason } => format!("ask({reason})"),
    }));
    parts.extend(answer.updated.as_ref().map(|value| format!("updated({value})")));
    parts.join(" ")
}

#[track_caller]
fn check(event: HookEvent, ran: &HookRun, expect: &str) {
    assert_eq!(line(&read(event, "H", ran, 60.0)), expect, "{event:?} {ran:?}");
}

#[test]
fn exit_codes() {
    use HookEvent::*;
    for (event, code, stdout, stderr, expect) in [
        (PreToolUse, 0, "", "", ""),
        (PreToolUse, 0, "some words", "", ""),
        (UserPromptSubmit, 0, "some words", "", "context(some words)"),
        (SessionStart, 0, "some words", "", "context(some words)"),
        (PreToolUse, 2, "ignored", "no", "blocked(no)"),
        (PreToolUse, 2, "{\"decision\": \"approve\"}", "no", "blocked(no)"),
        (PostToolUse, 2, "", "fix it", "blocked(fix it)"),
        (Stop, 2, "", "", "blocked(it gave no reason)"),
        (PreCompact, 2, "", "not now", "blocked(not now)"),
        (SessionStart, 2, "", "oh", "notice(H failed with exit code 2: oh)"),
        (Notification, 2, "", "", "notice(H failed with exit code 2)"),
        (PreToolUse, 1, "words", "oh", "notice(H failed with exit code 1: oh)"),
        // JSON counts whatever the exit code is.
        (PreToolUse, 1, "{\"decision\": \"block\", \"reason\": \"no\"}", "oh", "blocked(no)"),
        (PreToolUse, 2, "{\"decision\": \"block\", \"reason\": \"no\"}", "oh", "blocked(no)"),
        (PreToolUse, 2, "{\"systemMessage\": \"mind\"}", "oh", "notice(mind) blocked(oh)"),
        (SessionStart, 1, "{\"systemMessage\": \"mind\"}", "oh", "notice(mind)"),
        // Plain text for the model may begin with a bracket.
        (SessionStart, 0, "{a} or b", "", "context({a} or b)"),
    ] {
        check(event, &ran(code, stdout, stderr), expect);
    }
    for (code, stderr, hint) in [
        (126, "Permission denied", "make the script executable"),
        (127, "not found", "check that the program exists"),
        (1, "x: Read-only file system", "add folders to `containment.writable`"),
    ] {
        let told = line(&read(PreToolUse, "H", &ran(code, "", stderr), 60.0));
        assert!(told.starts_with(&format!("notice(H failed with exit code {code}: ")) && told.contains(hint), "{told}");
    }
    let told = line(&read(PreToolUse, "H", &HookRun::default(), 60.0));
    assert!(told.starts_with("notice(H timed out after 60 s\nhint: "), "{told}");
}

#[test]
fn an_output_may_be_replaced() {
    for (output, expect) in [
        (json!("short"), "short"),
        (json!({"stdout": "one", "stderr": "two", "interrupted": false}), "one\ntwo"),
        (json!({"stdout": ""}), ""),
        (json!({"content": [{"type": "text", "text": "one"}, {"type": "image"}]}), "one"),
        (json!([{"type": "text", "text": "one"}]), "one"),
        (json!({"text": "one"}), "one"),
        (json!({"filePath": "a"}), "{\"filePath\":\"a\"}"),
    ] {
        let said = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}});
        let answer = read(HookEvent::PostToolUse, "H", &ran(0, &said.to_string(), ""), 1.0);
        assert_eq!(answer.output.as_deref(), Some(expect), "{said}");
    }
}

#[test]
fn answers_in_json() {
    use HookEvent::*;
    for (event, said, expect) in [
        (PreToolUse, json!({}), ""),
        (PreToolUse, json!({"continue": true, "suppressOutput": true}), ""),
        (Stop, json!({"continue": false, "stopReason": "late"}), "halted(late)"),
        (PostToolUse, json!({"continue": false}), "halted(it gave no reason)"),
        (PreToolUse, json!({"systemMessage": "mind"}), "notice(mind)"),
        (PreToolUse, json!({"decision": "block", "reason": "no"}), "blocked(no)"),
        (PreToolUse, json!({"decision": "approve"}), "allow"),
        (PreToolUse, json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}), "blocked(no)"),
        (Stop, json!({"decision": "block", "reason": "more"}), "blocked(more)"),
        (Stop, json!({"decision": "approve"}), ""),
        (PreToolUse, json!({"hookSpecificOutput": {"permissionDecision": "allow"}}), "allow"),
        (
            PreToolUse,
            json!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}),
            "blocked(no)",
        ),
        (
            PreToolUse,
            json!({"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "hm"}}),
            "ask(H asks: hm)",
        ),
        (
            PreToolUse,
            json!({"hookSpecificOutput": {"updatedInput": {"command": "ls"}, "additionalContext": "seen"}}),
            "context(seen) updated({\"command\":\"ls\"})",
        ),
        (UserPromptSubmit, json!({"hookSpecificOutput": {"additionalContext": "seen"}}), "context(seen)"),
        (
            PreToolUse,
            json!({"decision": "approve", "hookSpecificOutput": {"permissionDecision": "ask"}}),
            "ask(H asks: it gave no reason)",
        ),
    ] {
        check(event, &ran(0, &said.to_string(), ""), expect);
    }
}

#[test]
fn a_guard_that_is_not_understood_makes_the_user_be_asked() {
    for (stdout, why) in [
        ("{\"decision\": ", "its output is not JSON: EOF while parsing a value at line 1 column 13"),
        ("{\"decision\": \"denny\"}", "unknown decision `denny`"),
        ("{\"hookSpecificOutput\": {\"permissionDecision\": true}}", "its `permissionDecision` is not a string"),
        ("{\"decision\": 7}", "its `decision` is not a string"),
        ("{\"hookSpecificOutput\": 7}", "its `hookSpecificOutput` is not an object"),
        ("{\"continue\": \"false\"}", "its `continue` is neither true nor false"),
        ("{\"hookSpecificOutput\": {\"hookEventName\": \"Stop\"}}", "its answer is for another event"),
    ] {
        let told = format!("H gave an invalid answer: {why}");
        let hint = "\nhint: print one JSON object and nothing else, see docs/hooks.md";
        check(HookEvent::PreToolUse, &ran(0, stdout, ""), &format!("notice({told}{hint}) ask({told})"));
        let other = if stdout.contains("Stop") { HookEvent::PostToolUse } else { HookEvent::Stop };
        check(other, &ran(0, stdout, ""), &format!("notice({told}{hint})"));
    }
    let huge = HookRun { truncated: true, ..ran(0, "{", "") };
    let told = "H gave an invalid answer: it printed more than 1024 KiB";
    let answer = read(HookEvent::PreToolUse, "H", &huge, 60.0);
    assert_eq!(answer.permission, Some(HookPermission::Ask { reason: told.to_owned() }));
}

#[test]
fn what_is_told_the_model_is_bounded() {
    let answer = read(HookEvent::UserPromptSubmit, "H", &ran(0, &"ä".repeat(MOST_OUTPUT / 2), ""), 1.0);
    assert!(answer.context.unwrap().chars().count() < LONGEST_CONTEXT + 10);
    let answer = read(HookEvent::PreToolUse, "H", &ran(2, "", &"ä".repeat(50_000)), 1.0);
    assert!(answer.blocked.unwrap().chars().count() < LONGEST_CONTEXT + 10);
}

#[test]
fn deny_counts_more_than_ask_and_ask_more_than_allow() {
    let allow = || HookAnswer { permission: Some(HookPermission::Allow), ..HookAnswer::default() };
    let ask = || HookAnswer { permission: Some(HookPermission::Ask { reason: "r".into() }), ..HookAnswer::default() };
    let deny = |why: &str| HookAnswer { blocked: Some(why.into()), ..HookAnswer::default() };
    for (answers, permission, blocked) in [
        (vec![], None, None),
        (vec![allow(), HookAnswer::default()], Some(HookPermission::Allow), None),
        (vec![allow(), ask()], Some(HookPermission::Ask { reason: "r".into() }), None),
        (vec![ask(), allow()], Some(HookPermission::Ask { reason: "r".into() }), None),
        (vec![allow(), deny("a"), deny("b"), deny("a")], Some(HookPermission::Allow), Some("a\nb")),
    ] {
        let (reply, _) = together(answers);
        assert_eq!((reply.permission, reply.blocked.as_deref()), (permission, blocked));
    }
}
