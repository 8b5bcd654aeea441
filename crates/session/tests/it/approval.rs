//! Tests of calls that need approval.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use omp_agent::{Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_policy::{ApprovalMode, Policy, ToolPolicy};
use omp_session::{Answer, Command, RunEnd, SessionEvent};
use omp_testkit::{ScriptedLlm, Turn};
use omp_types::Content;
use omp_view::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::stage::Stage;

/// A tool that only counts how often it ran.
pub struct Note;

static RAN: AtomicUsize = AtomicUsize::new(0);

#[derive(Deserialize, JsonSchema)]
pub struct Params {
    text: String,
}

#[derive(Serialize, Deserialize)]
pub struct Details {}

impl Tool for Note {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "note";
    const PROMPT: &'static str = "Takes a note.";

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(Tier::Write, params)
    }

    async fn run(&self, params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        RAN.fetch_add(1, Ordering::SeqCst);
        Ok(Output::text(format!("noted {}", params.text), Details {}))
    }

    fn render(_params: &Params, _outcome: Outcome<&Details>) -> View {
        View::default()
    }
}

fn script() -> ScriptedLlm {
    ScriptedLlm::new([Turn::call("note", json!({"text": "x"})), Turn::text("done")])
}

fn ask() -> Policy {
    Policy { mode: ApprovalMode::AskAll, ..Policy::default() }
}

#[tokio::test]
async fn without_a_human_a_call_that_needs_approval_is_refused() {
    let mut stage = Stage::with(script(), |options| options.policy = ask());
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let mut refused = Vec::new();
    let (lines, end) = stage
        .until_idle(|event| {
            if let SessionEvent::Refused(told) = event {
                refused.push(told.to_string());
            }
        })
        .await;
    assert_eq!(end, RunEnd::Finished);
    let why = "it needs the user's approval (tools.approvalMode is `ask-all`), and nobody can be asked in this mode";
    assert_eq!(refused, [format!("`note` was not run: {why}")]);
    let refusal = lines.iter().find(|line| line.starts_with("result")).unwrap();
    assert!(refusal.starts_with("result (error): `note` was not run: it needs the user's approval"), "{refusal}");
}

#[tokio::test]
async fn a_denied_tool_is_denied_even_in_yolo() {
    let policy = Policy { tools: [("note".to_owned(), ToolPolicy::Deny)].into(), ..Policy::default() };
    let mut stage = Stage::with(script(), |options| options.policy = policy);
    let (lines, _) = stage.prompt("go").await;
    assert!(lines.iter().any(|line| line.contains("`tools.approval.note` is `deny`")), "{lines:?}");
}

#[tokio::test]
async fn a_human_decides_by_answering_the_question() {
    for (answer, expect) in [
        (Answer::Yes, "result: noted x"),
        (Answer::No, "result (error): The user refused this call."),
        (Answer::Text("use b".into()), "result (error): The user refused this call and said: use b"),
    ] {
        let mut stage = Stage::with(script(), |options| {
            options.policy = ask();
            options.attended = true;
        });
        stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
        let session = stage.session.clone();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        let (lines, _) = stage
            .until_idle(move |event| {
                if let SessionEvent::Question(question) = event {
                    counter.fetch_add(1, Ordering::SeqCst);
                    let (session, id, answer) = (session.clone(), question.id, answer.clone());
                    tokio::spawn(async move { session.send(Command::Answer { id, answer }).await.unwrap() });
                }
            })
            .await;
        assert!(lines.contains(&expect.to_owned()), "{lines:?}");
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn an_abort_ends_the_wait_for_an_answer() {
    let mut stage = Stage::with(script(), |options| {
        options.policy = ask();
        options.attended = true;
    });
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let session = stage.session.clone();
    let (lines, end) = stage
        .until_idle(move |event| {
            if let SessionEvent::Question(_) = event {
                let session = session.clone();
                tokio::spawn(async move { session.send(Command::Abort).await.unwrap() });
            }
        })
        .await;
    assert_eq!(end, RunEnd::Aborted);
    assert!(lines.iter().any(|line| line == "result (error): Aborted by the user."), "{lines:?}");
}
