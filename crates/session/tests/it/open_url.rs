//! Tests of a tool that has the user open an address in a browser.

use std::sync::Arc;

use omp_session::{Answer, Command, QuestionKind, SessionEvent};
use omp_testkit::{ScriptedLlm, Turn};
use omp_types::Content;
use serde_json::json;

use crate::stage::Stage;
use address_tool::AddressTool;

/// The crate with this tool depends on the session, so its source file is included here.
#[path = "../../../session-testkit/src/address_tool.rs"]
mod address_tool;

/// Returns the result of the tool, and the addresses that the user was asked to open.
async fn log_in(url: &str, attended: bool, answer: Answer) -> (String, Vec<String>) {
    let script = ScriptedLlm::new([Turn::call("visit", json!({"url": url})), Turn::text("done")]);
    let mut stage = Stage::with(script, |options| {
        options.tools = vec![Arc::new(AddressTool)];
        options.attended = attended;
    });
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let session = stage.session.clone();
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = asked.clone();
    let (lines, _) = stage
        .until_idle(move |event| {
            if let SessionEvent::Question(question) = event {
                let QuestionKind::OpenUrl { url, reason } = &question.kind else { panic!("{question:?}") };
                heard.lock().unwrap().push(format!("{reason}: {url}"));
                let (session, id, answer) = (session.clone(), question.id, answer.clone());
                tokio::spawn(async move { session.send(Command::Answer { id, answer }).await.unwrap() });
            }
        })
        .await;
    let result = lines.iter().find(|line| line.starts_with("result")).cloned().unwrap_or_default();
    let asked = asked.lock().unwrap().clone();
    (result, asked)
}

#[tokio::test]
async fn the_user_says_whether_it_was_opened() {
    let asked = vec!["You have to log in.: https://example.com/a?b=c".to_owned()];
    for (answer, result) in [
        (Answer::Yes, "result: Ok(true)"),
        (Answer::No, "result: Ok(false)"),
        (Answer::Text("later".to_owned()), "result: Ok(false)"),
    ] {
        assert_eq!(log_in("https://example.com/a?b=c", true, answer).await, (result.to_owned(), asked.clone()));
    }
}

#[tokio::test]
async fn what_is_no_plain_address_is_never_asked_about() {
    for url in ["file:///etc/passwd", "javascript:alert(1)", "https://good.com@evil.com", "https://x/\u{1b}[2J"] {
        let (result, asked) = log_in(url, true, Answer::Yes).await;
        assert!(result.contains("this link is not opened"), "{url:?}: {result}");
        assert!(asked.is_empty(), "{asked:?}");
    }
}

#[tokio::test]
async fn without_anybody_the_tool_knows_it() {
    let told = log_in("https://example.com", false, Answer::Yes).await;
    assert_eq!(told, ("result: nobody is there".to_owned(), Vec::new()));
}

#[tokio::test]
async fn a_session_can_ask_for_it_between_calls() {
    let mut stage = Stage::with(ScriptedLlm::new([Turn::text("never")]), |options| options.attended = true);
    let session = stage.session.clone();
    let asked = tokio::spawn(async move { session.open_url("https://example.com/login", "Log in.").await });
    let question = loop {
        match stage.events.recv().await.unwrap() {
            SessionEvent::Question(question) => break question,
            _ => continue,
        }
    };
    let QuestionKind::OpenUrl { url, reason } = &question.kind else { panic!("{question:?}") };
    assert_eq!((url.as_str(), reason.as_str()), ("https://example.com/login", "Log in."));
    stage.send(Command::Answer { id: question.id, answer: Answer::Yes }).await;
    assert_eq!(asked.await.unwrap(), Ok(true));
    assert!(stage.session.open_url("file:///etc/passwd", "Log in.").await.is_err());
    let alone = Stage::new([Turn::text("never")]);
    assert!(alone.session.open_url("https://example.com/login", "Log in.").await.is_err());
}
