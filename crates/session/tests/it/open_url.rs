//! A tool that has the user open an address in a browser.

use std::borrow::Cow;
use std::sync::Arc;

use omp_agent::{AnyPlan, AnyTool, Concurrency, Outcome, Tier, ToolCx, ToolOutput, plan_of};
use omp_session::{Answer, Command, QuestionKind, SessionEvent};
use omp_testkit::{ScriptedLlm, Turn};
use omp_types::Content;
use omp_view::View;
use serde_json::{Value, json};

use crate::stage::Stage;

struct Login;

impl AnyTool for Login {
    fn name(&self) -> Cow<'_, str> {
        "login".into()
    }

    fn description(&self) -> Cow<'_, str> {
        "Logs in".into()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object"})
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Shared
    }

    fn plan(&self, arguments: Arc<Value>) -> Result<Box<dyn AnyPlan + '_>, String> {
        let run = async move |cx: ToolCx| {
            let url = arguments["url"].as_str().unwrap_or_default().to_owned();
            let text = match &cx.questions {
                None => "nobody is there".to_owned(),
                Some(questions) => format!("{:?}", questions.open_url(url, "It needs an account".to_owned()).await),
            };
            Ok(ToolOutput { content: vec![Content::text(text)], ..ToolOutput::default() })
        };
        Ok(plan_of(Tier::Read, move |cx| Box::pin(async move { run(cx).await })))
    }

    fn render(&self, _: &Value, _: Outcome<&Value>) -> View {
        View::default()
    }
}

/// The result of the tool, and the addresses that were asked about.
async fn log_in(url: &str, attended: bool, answer: Answer) -> (String, Vec<String>) {
    let script = ScriptedLlm::new([Turn::call("login", json!({"url": url})), Turn::text("done")]);
    let mut stage = Stage::with(script, |options| {
        options.tools = vec![Arc::new(Login)];
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
    let asked = vec!["It needs an account: https://example.com/a?b=c".to_owned()];
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
        assert!(result.contains("this address is not opened"), "{url:?}: {result}");
        assert!(asked.is_empty(), "{asked:?}");
    }
}

#[tokio::test]
async fn without_anybody_the_tool_knows_it() {
    let told = log_in("https://example.com", false, Answer::Yes).await;
    assert_eq!(told, ("result: nobody is there".to_owned(), Vec::new()));
}
