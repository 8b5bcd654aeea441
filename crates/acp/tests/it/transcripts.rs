//! Golden transcripts: the exact frames that an integrator can rely on.

use omp_policy::ApprovalMode;
use omp_session::BudgetLimits;
use omp_testkit::{Reply, Stop, Turn};
use omp_types::{ErrorKind, ModelError};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn greeting_and_a_new_session() {
    let mut stage = Stage::new(ApprovalMode::Write, [Turn::text("hi")]);
    stage.request(0, "initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})).await;
    stage.until_answer(0).await;
    let cwd = stage.workspace.project();
    let servers = json!([{"name": "files", "command": "/bin/files", "args": [], "env": []}]);
    stage.request(1, "session/new", json!({"cwd": cwd, "mcpServers": servers})).await;
    stage.until_answer(1).await;
    stage.frame().await;
    stage.frame().await;
    insta::assert_snapshot!(stage.transcript());
    stage.end().await;
}

#[tokio::test]
async fn a_client_need_not_wait_for_the_greeting() {
    let mut stage = Stage::new(ApprovalMode::Write, [Turn::text("hi")]);
    let cwd = stage.workspace.project();
    let request = |id: u64, method: &str, params: serde_json::Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    // A request before `initialize` is refused, as the protocol requires.
    stage.raw(&request(1, "session/new", json!({"cwd": cwd, "mcpServers": []}))).await;
    let refused = stage.until_answer(1).await;
    assert!(refused["error"]["data"].to_string().contains("initialization must complete"), "{refused}");
    // So is one after a failed `initialize`, and the connection continues.
    let lines = [
        request(2, "initialize", json!({"protocolVersion": "nonsense"})),
        request(3, "session/new", json!({"cwd": cwd, "mcpServers": []})),
        request(4, "initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})),
        request(5, "authenticate", json!({"methodId": "api-key"})),
        request(6, "session/new", json!({"cwd": cwd, "mcpServers": []})),
        request(7, "session/list", json!({})),
    ];
    stage.raw(&lines.join("\n")).await;
    for (id, goes_well) in [(2, false), (3, false), (4, true)] {
        let answer = stage.frame().await;
        assert_eq!((answer["id"].as_u64(), answer.get("result").is_some()), (Some(id), goes_well), "{answer}");
    }
    // The other requests are handled concurrently.
    let mut left = vec![5, 6, 7];
    while !left.is_empty() {
        let answer = stage.until(|frame| frame.get("id").is_some()).await;
        assert!(answer.get("result").is_some(), "{answer}");
        left.retain(|id| answer["id"] != *id);
    }
    stage.end().await;
}

#[tokio::test]
async fn an_edit_that_is_allowed() {
    let edit = json!({"path": "a.txt", "edits": [{"old_text": "two", "new_text": "2"}]});
    let turns = [Turn::call("edit", edit), Turn::text("Done.").thinking("Well.")];
    let (mut stage, session) = Stage::with_session(ApprovalMode::AskAll, turns).await;
    stage.prompt(2, &session, "change it").await;
    let asked = stage.until(|frame| frame["method"] == "session/request_permission").await;
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "allow"}});
    stage.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome})).await;
    stage.until_answer(2).await;
    let transcript = stage.transcript().replace(&asked["id"].to_string(), "\"question\"");
    // How often a call is shown while it is written depends on timing.
    let is_look =
        |line: &str| line.contains("tool_call_update") && !line.contains("status") && !line.contains("rawInput");
    let transcript = transcript.lines().filter(|line| !is_look(line)).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(transcript);
    assert_eq!(stage.workspace.read("a.txt").unwrap(), "one\n2\nthree\n");
    stage.end().await;
}

#[tokio::test]
async fn what_is_always_allowed_is_asked_once() {
    let run = || Turn::call("bash", json!({"command": "true"}));
    let (mut stage, session) = Stage::with_session(ApprovalMode::Write, [run(), run(), Turn::text("ok")]).await;
    stage.prompt(2, &session, "run it twice").await;
    let asked = stage.until(|frame| frame["method"] == "session/request_permission").await;
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "allow_always"}});
    stage.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome})).await;
    stage.until_answer(2).await;
    assert_eq!(stage.transcript().matches("session/request_permission").count(), 1);
    stage.end().await;
}

#[tokio::test]
async fn a_question_of_the_model() {
    let question = json!({"questions": [{"id": "q", "question": "Which one?", "options": [
        {"label": "left", "description": "to the west"}, {"label": "right"}]}]});
    let (mut stage, session) =
        Stage::with_session(ApprovalMode::Auto, [Turn::call("ask", question), Turn::text("ok")]).await;
    stage.prompt(2, &session, "go").await;
    let asked = stage.until(|frame| frame["method"] == "session/request_permission").await;
    let names: Vec<_> = asked["params"]["options"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(json!(names), json!(["left", "right", "None of these"]));
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "choice-1"}});
    stage.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome})).await;
    stage.until_answer(2).await;
    let said = format!("{:?}", stage.llm.requests()[1].messages.last());
    assert!(said.contains("right"), "{said}");
    stage.end().await;
}

#[tokio::test]
async fn an_address_is_shown_and_opened_by_the_user() {
    let url = "https://example.com/login?a=b";
    for (option, result) in [("allow", "Ok(true)"), ("reject", "Ok(false)")] {
        let turns = [Turn::call("visit", json!({"url": url})), Turn::text("ok")];
        let (mut stage, session) = Stage::with_session(ApprovalMode::Auto, turns).await;
        stage.prompt(2, &session, "go").await;
        let asked = stage.until(|frame| frame["method"] == "session/request_permission").await;
        let call = &asked["params"]["toolCall"];
        assert_eq!(call["title"], format!("Open {url}"));
        let told: Vec<_> = call["content"].as_array().unwrap().iter().map(|it| it["content"]["text"].clone()).collect();
        assert_eq!(json!(told), json!(["You have to log in.", url]));
        let options = asked["params"]["options"].as_array().unwrap().iter().map(|it| it["name"].clone());
        assert_eq!(json!(options.collect::<Vec<_>>()), json!(["I have opened it", "Cancel"]));
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        stage.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome})).await;
        stage.until_answer(2).await;
        let said = format!("{:?}", stage.llm.requests()[1].messages.last());
        assert!(said.contains(result), "{said}");
        stage.end().await;
    }
}

#[tokio::test]
async fn a_question_as_a_form() {
    let question = json!({"questions": [{"id": "q", "question": "Which ones?", "multi": true, "options": [
        {"label": "left"}, {"label": "right"}]}]});
    let turns = [Turn::call("ask", question), Turn::text("ok")];
    let client = json!({"elicitation": {"form": {}}});
    let (mut stage, session) = Stage::with_client(client, ApprovalMode::Auto, turns).await;
    stage.prompt(2, &session, "go").await;
    let asked = stage.asked("elicitation/create").await;
    assert_eq!((&asked["params"]["sessionId"], &asked["params"]["message"]), (&json!(session), &json!("Which ones?")));
    let content = json!({"choice": ["right"], "other": "and up"});
    stage.answer(&asked, json!({"action": "accept", "content": content})).await;
    stage.until_answer(2).await;
    let said = format!("{:?}", stage.llm.requests()[1].messages.last());
    assert!(said.contains("User selected: right\\nUser provided custom input: and up"), "{said}");
    stage.end().await;
}

#[track_caller]
fn ends_with(reply: impl Into<Reply>, expect: serde_json::Value) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (mut stage, session) = Stage::with_session(ApprovalMode::Auto, [reply.into()]).await;
        stage.prompt(2, &session, "hi").await;
        let answer = stage.until_answer(2).await;
        let got = answer["result"].get("stopReason").cloned();
        assert_eq!(got.unwrap_or_else(|| answer["error"]["code"].clone()), expect);
        stage.end().await;
    });
}

#[test]
fn every_end_has_its_reason() {
    let failed = |kind| ModelError::new(kind, "no");
    ends_with(Turn::text("hi"), json!("end_turn"));
    ends_with(Turn::text("hi").stop(Stop::Length), json!("max_tokens"));
    ends_with(failed(ErrorKind::Refused), json!("refusal"));
    ends_with(failed(ErrorKind::Auth), json!(-32000));
    ends_with(failed(ErrorKind::BadRequest), json!(-32603));
}

#[tokio::test]
async fn too_many_turns_are_a_reason_of_their_own() {
    let look = || Turn::call("read", json!({"path": "a.txt"}));
    let (mut stage, session) = Stage::with_session(ApprovalMode::Auto, [look(), look(), look(), look()]).await;
    stage.prompt(2, &session, "look").await;
    assert_eq!(stage.until_answer(2).await["result"]["stopReason"], "max_turn_requests");
    stage.end().await;
}

#[tokio::test]
async fn a_cancel_stops_the_running_prompt_and_those_that_wait() {
    let slow = Turn::call("bash", json!({"command": "sleep 60"}));
    let (mut stage, session) = Stage::with_session(ApprovalMode::Auto, [slow, Turn::text("never")]).await;
    stage.prompt(2, &session, "first").await;
    stage.prompt(3, &session, "second").await;
    stage.until(|frame| frame["params"]["update"]["status"] == "in_progress").await;
    stage.send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})).await;
    let mut reasons = Vec::new();
    while reasons.len() < 2 {
        let answer = stage.until(|frame| frame["result"]["stopReason"].is_string()).await;
        reasons.push(answer["result"]["stopReason"].clone());
    }
    assert_eq!(json!(reasons), json!(["cancelled", "cancelled"]));
    assert_eq!(stage.llm.requests().len(), 1);
    stage.end().await;
}

/// Answers that together exceed what is kept.
fn long_talk() -> Vec<Reply> {
    (0..6).map(|_| Turn::text("word ".repeat(5_000)).into()).collect()
}

#[tokio::test]
async fn a_compaction_is_a_notice_and_so_is_one_that_fails() {
    let overflow = || Reply::fail(ModelError::new(ErrorKind::ContextOverflow, "too long"));
    let summaries = (0..4).map(|_| Reply::from(Turn::text("SUMMARY")));
    let replies: Vec<Reply> = long_talk().into_iter().chain([overflow()]).chain(summaries).collect();
    for (replies, prompts, expect) in [
        (replies, 7, "The conversation was compacted: about "),
        (vec![overflow()], 1, "Context overflow recovery failed: Nothing to compact (session too small)"),
    ] {
        let capabilities = json!({"session": {"notices": {}}});
        let (mut stage, session) = Stage::with_client(capabilities, ApprovalMode::Auto, replies).await;
        for id in 2..prompts + 1 {
            stage.prompt(id, &session, "go").await;
            stage.until_answer(id).await;
        }
        stage.prompt(prompts + 1, &session, "overflow").await;
        let notice = stage.until(|frame| frame["params"]["update"]["sessionUpdate"] == "notice").await;
        assert!(notice.to_string().contains(expect), "{notice}");
        stage.until_answer(prompts + 1).await;
        stage.end().await;
    }
}

#[tokio::test]
async fn nonsense_is_answered_and_forgotten() {
    let (mut stage, session) = Stage::with_session(ApprovalMode::Auto, [Turn::text("hi")]).await;
    for line in ["nonsense", "[]", "{\"jsonrpc\":\"2.0\"}"] {
        stage.raw(line).await;
        stage.frame().await;
    }
    for (method, params) in [
        ("session/prompt", json!({"sessionId": "nobody", "prompt": [{"type": "text", "text": "hi"}]})),
        ("session/prompt", json!({"sessionId": session, "prompt": []})),
        ("session/prompt", json!({"sessionId": session})),
        ("session/load", json!({"sessionId": "nobody", "cwd": "/", "mcpServers": []})),
        ("session/new", json!({"cwd": "relative", "mcpServers": []})),
        ("session/set_mode", json!({"sessionId": session, "modeId": "brave"})),
        ("session/set_config_option", json!({"sessionId": session, "configId": "colour", "value": "red"})),
        ("session/set_config_option", json!({"sessionId": session, "configId": "model", "value": "nobody/none"})),
        ("session/close", json!({"sessionId": "nobody"})),
        ("session/delete", json!({"sessionId": "nobody"})),
        ("session/list", json!({"cursor": "x"})),
        ("session/dance", json!({})),
    ] {
        stage.request(9, method, params).await;
        let answer = stage.until_answer(9).await;
        assert!(answer["error"]["code"].is_i64(), "{method}: {answer}");
    }
    insta::assert_snapshot!(stage.transcript());
    stage.prompt(10, &session, "hi").await;
    assert_eq!(stage.until_answer(10).await["result"]["stopReason"], "end_turn");
    stage.end().await;
}

#[tokio::test]
async fn the_end_of_the_input_ends_what_runs() {
    let slow = Turn::call("bash", json!({"command": "sleep 60"}));
    let (mut stage, session) = Stage::with_session(ApprovalMode::Auto, [slow]).await;
    stage.prompt(2, &session, "wait").await;
    stage.until(|frame| frame["params"]["update"]["status"] == "in_progress").await;
    stage.end().await;
}

#[tokio::test]
async fn a_budget_that_is_used_up_is_told() {
    let limits = BudgetLimits { max_tokens: Some(1), ..BudgetLimits::default() };
    let mut stage = Stage::within(limits, ApprovalMode::Auto, [Turn::text("never said")]);
    let session = stage.greet(json!({})).await;
    stage.prompt(2, &session, "hello").await;
    let answer = stage.until_answer(2).await;
    assert_eq!(answer["result"]["stopReason"], "max_turn_requests");
    let told = stage.transcript();
    assert!(told.contains("token budget of this session reached") && !told.contains("never said"), "{told}");
    stage.end().await;
}
