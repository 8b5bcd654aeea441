//! Tests of plan mode: nothing changes, the model is notified, and a resumed session is still in plan mode.

use std::sync::Arc;

use omp_agent::{AnyTool, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_session::{Answer, Command, QuestionKind, RunEnd, SessionEvent};
use omp_store::{BlobStore, LoadedSession};
use omp_testkit::{ScriptedLlm, Turn};
use omp_types::{Content, Message, text_of};
use omp_view::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::approval::Note;
use crate::stage::Stage;

struct Run;

#[derive(Deserialize, JsonSchema)]
struct Params {}

#[derive(Serialize, Deserialize)]
struct Details {}

impl Tool for Run {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "run";
    const PROMPT: &'static str = "Runs.";

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(Tier::Exec, params)
    }

    async fn run(&self, _params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        Ok(Output::text("ran", Details {}))
    }

    fn render(_params: &Params, _outcome: Outcome<&Details>) -> View {
        View::default()
    }
}

fn stage(turns: impl IntoIterator<Item = Turn>) -> Stage {
    Stage::with(ScriptedLlm::new(turns), |options| {
        options.tools = vec![Arc::new(Note) as Arc<dyn AnyTool>, Arc::new(Run)];
        options.attended = true;
    })
}

fn said(stage: &Stage, request: usize) -> Vec<String> {
    let texts = |message: &Arc<Message>| match &**message {
        Message::User(user) => Some(text_of(&user.content)),
        Message::Custom(custom) => Some(text_of(&custom.content).lines().nth(1).unwrap_or_default().to_owned()),
        _ => None,
    };
    stage.llm.requests()[request].messages.iter().filter_map(texts).collect()
}

#[tokio::test]
async fn the_model_is_told_with_the_next_prompt_and_what_changes_is_refused() {
    let mut stage = stage([
        Turn::call("note", json!({"text": "x"})),
        Turn::call("run", json!({})),
        Turn::text("Planned."),
        Turn::call("note", json!({"text": "x"})),
        Turn::text("Done."),
    ]);
    stage.send(Command::SetPlanMode(true)).await;
    stage.session.until(|state| state.plans).await.unwrap();
    stage.send(Command::Prompt(vec![Content::text("plan it")].into())).await;
    let session = stage.session.clone();
    let mut asked = Vec::new();
    let (lines, end) = stage
        .until_idle(|event| {
            if let SessionEvent::Question(question) = event {
                if let QuestionKind::Approve { tool, .. } = &question.kind {
                    asked.push(tool.clone());
                }
                let (session, id) = (session.clone(), question.id);
                tokio::spawn(async move { session.send(Command::Answer { id, answer: Answer::Yes }).await });
            }
        })
        .await;
    assert_eq!(end, RunEnd::Finished);
    assert_eq!(asked, ["run"]);
    assert!(
        lines.iter().any(|line| line.starts_with("result (error): `note` was not run: plan mode is on")),
        "{lines:?}"
    );
    let begin = "Plan mode is on: the user wants a plan before anything changes. Look around as much as you need, ask what you cannot find";
    assert_eq!(said(&stage, 0), [begin, "plan it"]);

    stage.send(Command::SetPlanMode(false)).await;
    let (lines, _) = stage.prompt("do it").await;
    assert!(lines.contains(&"result: noted x".to_owned()), "{lines:?}");
    let end = "Plan mode is off: the project may be changed again.";
    assert_eq!(said(&stage, 3), [begin, "plan it", end, "do it"]);
}

#[tokio::test]
async fn what_was_taken_back_before_it_was_told_is_not_told() {
    let mut stage = stage([Turn::text("Hello.")]);
    stage.send(Command::SetPlanMode(true)).await;
    stage.send(Command::SetPlanMode(true)).await;
    stage.send(Command::SetPlanMode(false)).await;
    stage.prompt("hi").await;
    assert_eq!(said(&stage, 0), ["hi"]);
}

#[tokio::test]
async fn the_file_knows_the_mode_of_each_branch() {
    let mut stage = stage([Turn::text("One."), Turn::text("Two.")]);
    stage.prompt("before").await;
    let before = stage.session.leaf();
    stage.send(Command::SetPlanMode(true)).await;
    stage.prompt("plan").await;
    let mode =
        || LoadedSession::open(&stage.file, BlobStore::new(&stage.workspace.agent_dir())).unwrap().context().mode;
    assert_eq!(mode().as_deref(), Some("plan"));
    assert!(stage.entries().contains(&"mode_change".to_owned()));
    stage.session.go_to(before).await.unwrap();
    assert!(!stage.session.snapshot().plans);
}
