//! Every exit code and every field, for every event that knows it.

use serde_json::json;

use super::*;

fn ran(code: i32, stdout: &str, stderr: &str) -> Ran {
    Ran { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned(), truncated: false }
}

/// What an answer comes to, in a line.
fn line(answer: &Answer) -> String {
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
fn check(event: Event, ran: &Ran, expect: &str) {
    assert_eq!(line(&read(event, "H", ran, 60.0)), expect, "{event:?} {ran:?}");
}

#[test]
fn exit_codes() {
    use Event::*;
    for (event, code, stdout, stderr, expect) in [
        (PreToolUse, 0, "", "", ""),
        (PreToolUse, 0, "some words", "", ""),
        (UserPromptSubmit, 0, "some words", "", "context(some words)"),
        (SessionStart, 0, "some words", "", "context(some words)"),
        (PreToolUse, 2, "ignored", "no", "blocked(no)"),
        (PreToolUse, 2, "{\"decision\": \"approve\"}", "no", "blocked(no)"),
        (PostToolUse, 2, "", "mend it", "blocked(mend it)"),
        (Stop, 2, "", "", "blocked(it gave no reason)"),
        (PreCompact, 2, "", "not now", "blocked(not now)"),
        (SessionStart, 2, "", "oh", "notice(H failed with exit code 2: oh)"),
        (Notification, 2, "", "", "notice(H failed with exit code 2)"),
        (PreToolUse, 1, "{\"decision\": \"block\"}", "oh", "notice(H failed with exit code 1: oh)"),
        (UserPromptSubmit, 127, "x", "not found", "notice(H failed with exit code 127: not found)"),
    ] {
        check(event, &ran(code, stdout, stderr), expect);
    }
    check(PreToolUse, &Ran::default(), "notice(H was stopped: it took longer than 60 s)");
}

#[test]
fn answers_in_json() {
    use Event::*;
    for (event, said, expect) in [
        (PreToolUse, json!({}), ""),
        (PreToolUse, json!({"continue": true, "suppressOutput": true}), ""),
        (Stop, json!({"continue": false, "stopReason": "late"}), "halted(late)"),
        (PostToolUse, json!({"continue": false}), "halted(it gave no reason)"),
        (PreToolUse, json!({"systemMessage": "mind"}), "notice(mind)"),
        (PreToolUse, json!({"decision": "block", "reason": "no"}), "blocked(no)"),
        (PreToolUse, json!({"decision": "approve"}), "allow"),
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
        ("{\"decision\": ", "what it printed is no JSON: EOF while parsing a value at line 1 column 13"),
        ("{\"decision\": \"denny\"}", "there is no decision `denny`"),
        ("{\"hookSpecificOutput\": {\"permissionDecision\": true}}", "its `permissionDecision` is no word"),
        ("{\"hookSpecificOutput\": {\"hookEventName\": \"Stop\"}}", "its answer is for another event"),
    ] {
        let told = format!("H was not understood: {why}");
        check(Event::PreToolUse, &ran(0, stdout, ""), &format!("notice({told}) ask({told})"));
        let other = if stdout.contains("Stop") { Event::PostToolUse } else { Event::Stop };
        check(other, &ran(0, stdout, ""), &format!("notice({told})"));
    }
    let huge = Ran { truncated: true, ..ran(0, "{", "") };
    let told = "H was not understood: it printed more than 1024 KiB";
    check(Event::PreToolUse, &huge, &format!("notice({told}) ask({told})"));
}

#[test]
fn what_is_told_the_model_is_bounded() {
    let answer = read(Event::UserPromptSubmit, "H", &ran(0, &"ä".repeat(MOST_OUTPUT / 2), ""), 1.0);
    assert!(answer.context.unwrap().chars().count() < LONGEST_CONTEXT + 10);
    let answer = read(Event::PreToolUse, "H", &ran(2, "", &"ä".repeat(50_000)), 1.0);
    assert!(answer.blocked.unwrap().chars().count() < LONGEST_CONTEXT + 10);
}

#[test]
fn deny_counts_more_than_ask_and_ask_more_than_allow() {
    let allow = || Answer { permission: Some(HookPermission::Allow), ..Answer::default() };
    let ask = || Answer { permission: Some(HookPermission::Ask { reason: "r".into() }), ..Answer::default() };
    let deny = |why: &str| Answer { blocked: Some(why.into()), ..Answer::default() };
    for (answers, permission, blocked) in [
        (vec![], None, None),
        (vec![allow(), Answer::default()], Some(HookPermission::Allow), None),
        (vec![allow(), ask()], Some(HookPermission::Ask { reason: "r".into() }), None),
        (vec![ask(), allow()], Some(HookPermission::Ask { reason: "r".into() }), None),
        (vec![allow(), deny("a"), deny("b"), deny("a")], Some(HookPermission::Allow), Some("a\nb")),
    ] {
        let (reply, _) = together(answers);
        assert_eq!((reply.permission, reply.blocked.as_deref()), (permission, blocked));
    }
}
