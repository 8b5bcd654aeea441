//! Tests that a report replaces its exploration, in the running session and in a resumed one.

use std::sync::Arc;

use omp_agent::AnyTool;
use omp_policy::{ApprovalMode, ToolPolicy};
use omp_session::{AgentEvent, Command, Recorder, RunEnd, SessionEvent};
use omp_store::{BlobStore, Context, LoadedSession};
use omp_testkit::{Call, ScriptedLlm, Turn, mock_model};
use omp_tools::{Checkpoint, Rewind, ToolOptions, Toolbox};
use omp_types::{Content, Message, ThinkingLevel, text_of};
use serde_json::{Value, json};

use crate::approval::Note;
use crate::stage::Stage;

fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![Arc::new(Note), Arc::new(Checkpoint), Arc::new(Rewind)]
}

fn stage(turns: impl IntoIterator<Item = Turn>) -> Stage {
    Stage::with(ScriptedLlm::new(turns), |options| options.tools = tools())
}

fn checkpoint() -> Turn {
    Turn::call("checkpoint", json!({"goal": "find it"}))
}

fn note(text: &str) -> Turn {
    Turn::call("note", json!({"text": text}))
}

fn rewind(report: &str) -> Turn {
    Turn::call("rewind", json!({"report": report}))
}

fn loaded(stage: &Stage) -> Context {
    LoadedSession::open(&stage.file, BlobStore::new(&stage.workspace.agent_dir())).unwrap().context()
}

fn bytes(messages: &[Arc<Message>]) -> Vec<String> {
    messages.iter().map(|message| serde_json::to_string(&**message).unwrap()).collect()
}

/// The message without the time of program messages: the file has the time of writing, not of creation.
fn seen(message: &Message) -> Value {
    let mut value = serde_json::to_value(message).unwrap();
    if let (Message::Custom(_), Some(fields)) = (message, value.as_object_mut()) {
        fields.remove("timestamp");
    }
    value
}

fn roles(messages: &[Arc<Message>]) -> String {
    messages.iter().map(|message| message.role().to_owned()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn the_report_takes_the_place_of_the_exploration() {
    let begin = checkpoint().and_call("note", json!({"text": "beside"}));
    let turns = [note("before"), begin, note("deep"), note("deeper"), rewind("It is in a.rs:3."), Turn::text("done")];
    let mut stage = stage(turns);
    let file = stage.file.clone();
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let mut states = Vec::new();
    let (_, end) = stage
        .until_idle(|event| {
            if matches!(event, SessionEvent::Agent(AgentEvent::TurnEnd { .. })) {
                states.push(std::fs::read_to_string(&file).unwrap());
            }
        })
        .await;
    assert_eq!(end, RunEnd::Finished);

    let requests = stage.llm.requests();
    let (at_checkpoint, after_rewind) = (&requests[2].messages, &requests[5].messages);
    assert_eq!(bytes(&after_rewind[..at_checkpoint.len()]), bytes(at_checkpoint), "the prefix is the same to the byte");
    assert_eq!(roles(after_rewind), "user assistant toolResult assistant toolResult toolResult custom");
    let Message::Custom(report) = &**after_rewind.last().unwrap() else { panic!("no report") };
    insta::assert_snapshot!(text_of(&report.content), @r"
    The exploration that began at the checkpoint is over and its steps are no longer shown. Do not repeat it and do not call `rewind` again; go on from its report:

    It is in a.rs:3.
    ");
    assert_eq!(stage.session.snapshot().message_count, after_rewind.len() + 1);

    let text = std::fs::read_to_string(&stage.file).unwrap();
    assert_eq!(states.len(), 6);
    assert!(states.iter().all(|state| text.starts_with(state)), "the file only grows");
    assert!(text.contains("deeper"), "what was left stays in the file");

    let history = loaded(&stage).messages;
    let mut resumed = Stage::with(ScriptedLlm::new([rewind("again"), Turn::text("more")]), |options| {
        options.tools = tools();
        options.resumed = history.into();
    });
    let (lines, _) = resumed.prompt("and?").await;
    assert!(lines.iter().any(|line| line.starts_with("result (error): No active checkpoint.")), "{lines:?}");
    let again = &resumed.llm.requests()[0].messages;
    let expect: Vec<_> = after_rewind.iter().map(|message| seen(message)).collect();
    assert_eq!(again[..expect.len()].iter().map(|message| seen(message)).collect::<Vec<_>>(), expect);
    assert_eq!(roles(&again[expect.len()..]), "assistant user");
}

#[tokio::test]
async fn calls_out_of_turn_are_answered_with_what_is_wrong() {
    let turns = [
        rewind("too early"),
        checkpoint().and_call("checkpoint", json!({"goal": "twice"})),
        checkpoint(),
        rewind("  "),
        rewind("found").and_call("rewind", json!({"report": "twice"})).and_call("note", json!({"text": "late"})),
        rewind("too late"),
        checkpoint(),
        rewind("second"),
        Turn::text("done"),
    ];
    let mut stage = stage(turns);
    let (lines, end) = stage.prompt("go").await;
    assert_eq!(end, RunEnd::Finished);
    let results: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("result")).collect();
    let starts: Vec<_> =
        results.iter().map(|line| line.split('.').next().unwrap().trim_start_matches([' ', ':'])).collect();
    assert_eq!(
        starts,
        [
            "(error): No active checkpoint",
            "Checkpoint created",
            "(error): Checkpoint already active",
            "(error): Checkpoint already active",
            "(error): Report cannot be empty",
            "The report replaces the exploration",
            "(error): No active checkpoint",
            "noted late",
            "(error): No active checkpoint",
            "Checkpoint created",
            "The report replaces the exploration",
        ]
    );
    let last = stage.llm.requests().pop().unwrap().messages;
    assert_eq!(
        roles(&last),
        "user assistant toolResult assistant toolResult toolResult custom assistant toolResult assistant toolResult custom"
    );
}

#[tokio::test]
async fn checkpoint_and_rewind_in_one_answer_leave_a_valid_conversation() {
    let turn = checkpoint().and_call("note", json!({"text": "x"})).and_call("rewind", json!({"report": "quick"}));
    let mut stage = stage([turn, Turn::text("done")]);
    stage.prompt("go").await;
    assert_eq!(roles(&stage.llm.requests()[1].messages), "user assistant toolResult toolResult toolResult custom");
    assert_eq!(loaded(&stage).messages.len(), 7);
}

#[tokio::test]
async fn a_call_with_the_id_of_the_checkpoint_is_not_taken_for_it() {
    let same = |name: &str, arguments: Value| Turn::default().with_call(Call::new(name, arguments).id("same"));
    let turns = [
        same("checkpoint", json!({"goal": "g"})),
        same("note", json!({"text": "x"})),
        same("checkpoint", json!({"goal": "refused"})),
        rewind("r"),
        Turn::text("done"),
    ];
    let mut stage = stage(turns);
    stage.prompt("go").await;
    assert_eq!(roles(&stage.llm.requests()[4].messages), "user assistant toolResult custom");
}

#[tokio::test]
async fn who_would_stop_in_the_middle_is_reminded_a_few_times() {
    let mut listens = stage([checkpoint(), Turn::text("bye"), rewind("found"), Turn::text("done")]);
    let (_, end) = listens.prompt("go").await;
    assert_eq!(end, RunEnd::Finished);
    let requests = listens.llm.requests();
    assert_eq!(roles(&requests[2].messages), "user assistant toolResult assistant custom");
    assert_eq!(roles(&requests[3].messages), "user assistant toolResult custom");

    let mut deaf = stage(std::iter::once(checkpoint()).chain(["1", "2", "3", "4"].map(Turn::text)));
    let (_, end) = deaf.prompt("go").await;
    assert_eq!((end, deaf.llm.requests().len()), (RunEnd::Finished, 5));
}

#[tokio::test]
async fn an_exploration_may_go_on_over_several_prompts() {
    let answers = ["1", "2", "3", "4"].map(Turn::text);
    let turns = std::iter::once(checkpoint()).chain(answers).chain([rewind("found"), Turn::text("done")]);
    let mut stage = stage(turns);
    stage.prompt("go").await;
    let mut other = mock_model();
    other.id = "other".into();
    stage.send(Command::SetModel(Arc::new(other))).await;
    stage.send(Command::SetThinking(ThinkingLevel::Low)).await;
    stage.send(Command::Prompt(vec![Content::text("well?")].into())).await;
    let mut told = Vec::new();
    stage
        .until_idle(|event| {
            if let SessionEvent::AgentEnd { messages, .. } = event {
                told.clone_from(messages);
            }
        })
        .await;
    assert_eq!(roles(&told), "custom assistant", "the end tells what the run left in the conversation");
    let context = loaded(&stage);
    assert_eq!(context.messages.len(), 5);
    assert_eq!(context.model.as_deref(), Some("mock/other"), "a choice made in the exploration holds");
    assert_eq!(context.thinking_level.as_deref(), Some("low"));
}

#[tokio::test]
async fn an_abort_forgets_the_checkpoint() {
    let turns = [checkpoint(), note("x"), rewind("r"), checkpoint(), rewind("second"), Turn::text("done")];
    let mut stage = Stage::with(ScriptedLlm::new(turns), |options| {
        options.tools = tools();
        options.policy.mode = ApprovalMode::Write;
        options.policy.tools.insert("note".into(), ToolPolicy::Prompt);
        options.attended = true;
    });
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let session = stage.session.clone();
    let (_, end) = stage
        .until_idle(|event| {
            if matches!(event, SessionEvent::Question(_)) {
                let session = session.clone();
                tokio::spawn(async move { session.send(Command::Abort).await.unwrap() });
            }
        })
        .await;
    assert_eq!(end, RunEnd::Aborted);
    let (lines, _) = stage.prompt("and now?").await;
    let results: Vec<_> = lines.iter().filter(|line| line.starts_with("result")).collect();
    assert!(results[0].starts_with("result (error): No active checkpoint."), "{results:?}");
    assert!(results[1].starts_with("result: Checkpoint created."), "{results:?}");
}

#[tokio::test]
async fn what_is_not_saved_rewinds_as_well() {
    let turns = [checkpoint(), note("x"), rewind("r"), Turn::text("done")];
    let mut stage = Stage::with(ScriptedLlm::new(turns), |options| {
        options.tools = tools();
        options.recorder = Recorder::nowhere(std::path::Path::new("."));
    });
    stage.prompt("go").await;
    assert_eq!(roles(&stage.llm.requests()[3].messages), "user assistant toolResult custom");
    assert!(!stage.file.exists());
}

#[test]
fn both_tools_are_offered_together_and_only_when_wanted() {
    let offered = |setting: Value| {
        let get = |key: &str| (key == "checkpoint.enabled").then(|| setting.clone());
        let options = ToolOptions::read(&get);
        let alone = Toolbox::uncontained("/project".into(), "/home/user".into(), Arc::new(mock_model()));
        let toolbox = Toolbox { options, ..alone };
        let names: Vec<_> = toolbox.tools().iter().map(|tool| tool.name().into_owned()).collect();
        ["checkpoint", "rewind"].map(|name| names.iter().any(|offered| offered == name))
    };
    assert_eq!(offered(json!(true)), [true, true]);
    assert_eq!(offered(json!(false)), [false, false]);
    assert_eq!(offered(Value::Null), [false, false]);
}
