//! Tests of compaction: on request, at the threshold, after an overflow, when idle.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_compaction::{
    BeforeSummary, BranchNote, Compacting, CompactionPlan, CompactionReason, CompactionStrategy, IdleCompaction,
    RemoteSummary, ShakeMode,
};
use omp_session::{Command, Prepared, Prompt, RunEnd, SessionEvent, SessionFeature, SessionOptions};
use omp_testkit::{Reply, ScriptedLlm, Stop, TokenCounts, Turn, mock_model};
use omp_types::{
    Api, AssistantMessage, Content, ErrorKind, ImageContent, Message, Model, ModelError, ToolCall, ToolResultMessage,
    UserMessage, text_of,
};
use serde_json::{Value, json};

use crate::stage::Stage;

/// About a thousand tokens.
fn much(what: &str) -> String {
    format!("{what} {}", "word ".repeat(940))
}

/// A window of 20,000 tokens; compaction keeps the last turn.
fn small(options: &mut SessionOptions) {
    options.model = Arc::new(Model { context_window: 20_000, max_tokens: 2_000, ..mock_model() });
    options.compaction.settings.limits.keep_recent_tokens = 1_010;
    options.compaction.settings.limits.reserve_tokens = 2_000;
}

fn overflow() -> Reply {
    Reply::fail(ModelError::new(ErrorKind::ContextOverflow, "too long"))
}

fn turns(replies: impl IntoIterator<Item = Reply>) -> ScriptedLlm {
    ScriptedLlm::new(replies)
}

fn said(text: &str) -> Reply {
    Turn::text(text).into()
}

/// Runs this many prompts with long answers.
async fn talk(stage: &mut Stage, prompts: usize) {
    for number in 0..prompts {
        let (_, end) = stage.prompt(&format!("prompt {number}")).await;
        assert_eq!(end, RunEnd::Finished);
    }
}

fn answers(count: usize) -> Vec<Reply> {
    (0..count).map(|number| said(&much(&format!("answer {number}")))).collect()
}

fn last_entry(stage: &Stage, kind: &str) -> Value {
    let text = std::fs::read_to_string(&stage.file).unwrap();
    let mut entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.rfind(|entry| entry["type"] == kind).unwrap_or(Value::Null)
}

/// The messages of a request, a short line each.
fn told(stage: &Stage, request: usize) -> Vec<String> {
    let messages = stage.llm.requests()[request].messages.clone();
    let short = |message: &Arc<Message>| text_of(message.content()).chars().take(24).collect::<String>();
    messages.iter().map(|message| format!("{}: {}", message.role(), short(message).replace('\n', " "))).collect()
}

#[tokio::test]
async fn by_hand_the_older_part_becomes_a_summary_and_the_rest_stays() {
    let replies = [answers(6), vec![said("SUMMARY"), said("short one"), said("after")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    talk(&mut stage, 6).await;
    let compacted = stage.session.compact(Some("keep the names".to_owned())).await.unwrap();
    assert!(compacted.summary.contains("SUMMARY") && compacted.short_summary.as_deref() == Some("short one"));
    assert!(compacted.survived.tokens_after < compacted.tokens_before, "{compacted:?}");
    assert!(compacted.told().contains("10 messages summarized, 2 kept"), "{}", compacted.told());
    let entry = last_entry(&stage, "compaction");
    assert_eq!(entry["firstKeptEntryId"], compacted.first_kept_entry_id.as_str());
    let asked = text_of(stage.llm.requests()[6].messages[0].content());
    assert!(asked.contains("<conversation>") && asked.contains("keep the names"), "{asked}");

    stage.prompt("go on").await;
    let told = told(&stage, 8);
    assert!(told[0].starts_with("custom: The conversation up to"), "{told:?}");
    assert_eq!(told[told.len() - 1], "user: go on");
    assert!(told.len() <= 6 && told.iter().any(|line| line.starts_with("assistant: answer 5")), "{told:?}");
}

#[tokio::test]
async fn a_command_outlives_a_compaction_as_it_was_typed() {
    let replies = [answers(6), vec![said("SUMMARY"), said("short one"), said("after")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    let prepared = Prepared {
        typed: "/review src".to_owned(),
        blocks: 1,
        path: "review.md".to_owned(),
        model: None,
        limit: None,
        question: None,
    };
    let prompt = Prompt { prepared: Some(Arc::new(prepared)), ..Prompt::text("Review src by fifty rules.") };
    stage.send(Command::Prompt(prompt)).await;
    stage.until_idle(|_| {}).await;
    talk(&mut stage, 5).await;
    stage.session.compact(None).await.unwrap();
    stage.prompt("go on").await;
    let summary = text_of(stage.llm.requests()[8].messages[0].content());
    assert!(summary.contains("[1] /review src\n(a command; what it stands for: `read` history://"), "{summary}");
    assert!(!summary.contains("fifty rules") && summary.contains("[2] prompt 0"), "{summary}");
}

#[tokio::test]
async fn a_second_compaction_carries_the_first_summary_on() {
    let replies =
        [answers(6), vec![said("FIRST"), said("one")], answers(4), vec![said("SECOND"), said("two"), said("after")]];
    let mut stage = Stage::with(turns(replies.concat()), small);
    talk(&mut stage, 6).await;
    stage.session.compact(None).await.unwrap();
    talk(&mut stage, 4).await;
    stage.session.compact(None).await.unwrap();
    let asked = text_of(stage.llm.requests()[12].messages[0].content());
    assert!(asked.contains("<previous-summary>\nFIRST"), "{asked}");
    stage.prompt("go on").await;
    let told = told(&stage, 14);
    assert_eq!(told.iter().filter(|line| line.starts_with("custom")).count(), 1, "{told:?}");
}

#[tokio::test]
async fn what_is_short_is_left_alone_and_says_so() {
    let mut stage = Stage::with(turns([said("hello")]), small);
    assert_eq!(stage.session.compact(None).await.unwrap_err(), "Nothing to compact (session too small)");
    stage.prompt("hi").await;
    assert_eq!(stage.session.compact(None).await.unwrap_err(), "Nothing to compact (session too small)");
    assert_eq!(stage.llm.requests().len(), 1);
}

#[tokio::test]
async fn a_summary_that_is_as_long_as_what_it_replaces_is_not_kept() {
    let replies = [answers(6), vec![said(&much("S").repeat(9)), said("short")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    talk(&mut stage, 6).await;
    let refused = stage.session.compact(None).await.unwrap_err();
    assert!(refused.starts_with("Not compacted: the summary has about"), "{refused}");
    assert_eq!(last_entry(&stage, "compaction"), Value::Null);
}

#[tokio::test]
async fn a_failing_summarizer_leaves_everything_as_it_was() {
    let fail = || Reply::fail(ModelError::new(ErrorKind::Auth, "no key"));
    let replies = [answers(6), vec![fail(), said("after")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    talk(&mut stage, 6).await;
    assert_eq!(stage.session.compact(None).await.unwrap_err(), "no key");
    let (_, end) = stage.prompt("go on").await;
    assert_eq!(end, RunEnd::Finished);
    assert_eq!(told(&stage, 7).len(), 13);
}

#[tokio::test]
async fn a_passing_failure_of_the_summarizer_is_tried_again() {
    let busy = Reply::fail(ModelError::new(ErrorKind::Overloaded, "busy"));
    let replies = [answers(6), vec![busy, said("SUMMARY"), said("short")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    talk(&mut stage, 6).await;
    assert!(stage.session.compact(None).await.unwrap().summary.contains("SUMMARY"));
}

#[tokio::test]
async fn an_overflow_is_recovered_from_and_the_prompt_tried_again() {
    let replies =
        [answers(6), vec![overflow(), said("SUMMARY"), said("PREFIX"), said("short"), said("made it")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    talk(&mut stage, 6).await;
    stage.send(Command::Prompt(vec![Content::text("go on")].into())).await;
    let mut seen = Vec::new();
    let (lines, end) = stage
        .until_idle(|event| match event {
            SessionEvent::CompactionStart { reason, .. } => seen.push(format!("start {}", reason.as_str())),
            SessionEvent::CompactionEnd { will_retry, error, .. } => seen.push(format!("end {will_retry} {error:?}")),
            _ => {}
        })
        .await;
    assert_eq!(end, RunEnd::Finished);
    assert_eq!(seen, ["start overflow", "end true None"]);
    assert_eq!(lines.last().unwrap(), "end (terminal: true)");
    // The cut goes through the turn before.
    let told = told(&stage, 10);
    assert_eq!(told.last().unwrap(), "user: go on");
}

#[tokio::test]
async fn an_overflow_that_cannot_be_helped_is_told() {
    let mut stage = Stage::with(turns([overflow()]), small);
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let mut errors = Vec::new();
    let (_, end) = stage
        .until_idle(|event| {
            if let SessionEvent::CompactionEnd { error, .. } = event {
                errors.extend(error.clone());
            }
        })
        .await;
    assert!(matches!(end, RunEnd::Failed(_)));
    assert_eq!(errors, ["Context overflow recovery failed: Nothing to compact (session too small)"]);
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_asked_for_again_in_a_shorter_conversation() {
    let cut: Reply = Turn::text("half an ans").stop(Stop::Length).into();
    let replies =
        [answers(6), vec![cut, said("SUMMARY"), said("PREFIX"), said("short"), said("whole answer")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    talk(&mut stage, 6).await;
    let (_, end) = stage.prompt("go on").await;
    assert_eq!(end, RunEnd::Finished);
    let told = told(&stage, 10);
    assert!(!told.iter().any(|line| line.contains("half an ans")), "{told:?}");
    assert_eq!(told.last().unwrap(), "user: go on");
}

#[tokio::test]
async fn a_cut_off_answer_in_a_short_conversation_stands() {
    let cut: Reply = Turn::text("half an ans").stop(Stop::Length).into();
    let mut stage = Stage::with(turns([cut, said("next")]), small);
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let mut compactions = 0;
    let count = |event: &SessionEvent| {
        let is_one = matches!(event, SessionEvent::CompactionStart { .. } | SessionEvent::CompactionEnd { .. });
        compactions += usize::from(is_one);
    };
    let (_, end) = stage.until_idle(count).await;
    assert_eq!((end, compactions), (RunEnd::Finished, 0));
    stage.prompt("go on").await;
    assert_eq!(told(&stage, 1), ["user: go", "assistant: half an ans", "user: go on"]);
}

#[tokio::test]
async fn the_threshold_compacts_after_an_answer() {
    let full = Turn::text(much("last")).usage(TokenCounts { input: 18_000, output: 900, ..TokenCounts::default() });
    let replies =
        [answers(5), vec![full.into(), said("SUMMARY"), said("PREFIX"), said("short"), said("after")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    talk(&mut stage, 5).await;
    stage.send(Command::Prompt(vec![Content::text("fill")].into())).await;
    let mut reasons = Vec::new();
    let (lines, end) = stage
        .until_idle(|event| {
            if let SessionEvent::CompactionEnd { reason, result: Some(_), .. } = event {
                reasons.push(*reason);
            }
        })
        .await;
    assert_eq!((end, reasons), (RunEnd::Finished, vec![CompactionReason::Threshold]));
    assert_eq!(lines.last().unwrap(), "end (terminal: true)");
    stage.prompt("go on").await;
    // The provider counts more than the estimate, so less is kept: the cut goes through the last turn.
    assert!(told(&stage, 9)[0].starts_with("custom: The conversation"));
}

#[tokio::test]
async fn the_threshold_compacts_between_the_requests_of_one_prompt() {
    let call = |tokens: u64| {
        let turn = Turn::call("note", serde_json::json!({"text": much("note")}));
        Reply::from(turn.usage(TokenCounts { input: tokens, output: 900, ..TokenCounts::default() }))
    };
    let replies =
        [answers(5), vec![call(17_000), said("SUMMARY"), said("PREFIX"), said("short"), said("done")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    talk(&mut stage, 5).await;
    let (_, end) = stage.prompt("work").await;
    assert_eq!(end, RunEnd::Finished);
    let told = told(&stage, stage.llm.requests().len() - 1);
    assert!(told[0].starts_with("custom: The conversation up to"), "{told:?}");
    assert!(told.last().unwrap().starts_with("custom: The conversation was jus"), "{told:?}");
    assert!(told.iter().any(|line| line.starts_with("toolResult")), "{told:?}");
}

#[tokio::test]
async fn what_is_switched_off_does_not_happen() {
    let full = Turn::text(much("last")).usage(TokenCounts { input: 19_000, output: 900, ..TokenCounts::default() });
    let replies = [answers(5), vec![full.into(), overflow()]].concat();
    let mut stage = Stage::with(turns(replies), |options| {
        small(options);
        options.compaction.settings.enabled = false;
    });
    talk(&mut stage, 6).await;
    let (_, end) = stage.prompt("again").await;
    assert!(matches!(end, RunEnd::Failed(_)));
    assert_eq!(stage.llm.requests().len(), 7);
}

#[tokio::test]
async fn an_overflow_goes_to_the_larger_model_that_is_named() {
    let large = Model { id: "large".into(), context_window: 90_000, ..mock_model() };
    let mut stage = Stage::with(turns([overflow(), said("made it")]), |options| {
        small(options);
        let mut model = (*options.model).clone();
        model.context_promotion_target = Some("large".to_owned());
        options.model = Arc::new(model);
        options.compaction.models = Some(Arc::new(move || vec![Arc::new(large.clone())]));
    });
    let (_, end) = stage.prompt("go").await;
    assert_eq!(end, RunEnd::Finished);
    assert_eq!(stage.llm.requests()[1].model.id, "large");
    assert_eq!(stage.session.snapshot().model.id, "large");
}

#[tokio::test]
async fn the_summary_can_be_corrected() {
    let replies = [answers(6), vec![said("WRONG"), said("short"), said("after")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    assert!(stage.session.edit_summary("x".to_owned()).await.unwrap_err().contains("has not been compacted"));
    talk(&mut stage, 6).await;
    stage.session.compact(None).await.unwrap();
    assert!(stage.session.summary().unwrap().contains("WRONG"));
    assert!(stage.session.edit_summary(" ".to_owned()).await.unwrap_err().contains("empty"));
    stage.session.edit_summary("RIGHT".to_owned()).await.unwrap();
    assert_eq!(stage.session.summary().as_deref(), Some("RIGHT"));
    stage.prompt("go on").await;
    let first = text_of(stage.llm.requests()[8].messages[0].content());
    assert!(first.contains("RIGHT") && !first.contains("WRONG"), "{first}");
    assert!(stage.llm.requests()[8].messages.len() > 3);
}

#[tokio::test]
async fn a_session_that_is_not_recorded_is_compacted_in_memory() {
    let replies = [answers(6), vec![said("SUMMARY"), said("short"), said("after")]].concat();
    let mut stage = Stage::with(turns(replies), |options| {
        small(options);
        options.recorder = omp_session::Recorder::nowhere(std::path::Path::new("."));
    });
    talk(&mut stage, 6).await;
    let compacted = stage.session.compact(None).await.unwrap();
    assert_eq!((compacted.survived.entry, compacted.survived.evicted), (None, None));
    stage.prompt("go on").await;
    assert!(told(&stage, 8).len() <= 6);
}

#[tokio::test]
async fn compacting_by_hand_aborts_what_runs() {
    let gate = omp_testkit::Gate::new();
    let replies = [said(&much("endless")), said("SUMMARY"), said("short")];
    let mut stage = Stage::with(turns(replies).gated(&gate), |options| {
        small(options);
        options.recorder = omp_session::Recorder::nowhere(std::path::Path::new("."));
        let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
        answer.content = vec![Content::text(much("earlier"))];
        let turn = || [Message::User(UserMessage::text("hi")), Message::Assistant(answer.clone())];
        options.resumed = (0..6).flat_map(|_| turn()).collect::<Vec<_>>().into();
    });
    stage.send(Command::Prompt(vec![Content::text("work")].into())).await;
    stage.llm.until_requests(1).await;
    let session = stage.session.clone();
    let compacting = tokio::spawn(async move { session.compact(None).await });
    let (_, end) = stage.until_idle(|_| {}).await;
    assert_eq!(end, RunEnd::Aborted);
    gate.open();
    assert!(compacting.await.unwrap().unwrap().summary.contains("SUMMARY"));
}

#[tokio::test]
async fn with_nothing_to_compact_the_work_goes_on() {
    for strategy in [CompactionStrategy::ContextFull, CompactionStrategy::Shake] {
        let gate = omp_testkit::Gate::new();
        let mut stage = Stage::with(turns([said("done")]).gated(&gate), |options| {
            small(options);
            options.compaction.settings.strategy = strategy;
        });
        stage.send(Command::Prompt(vec![Content::text("work")].into())).await;
        stage.llm.until_requests(1).await;
        assert_eq!(stage.session.compact(None).await.unwrap_err(), "Nothing to compact (session too small)");
        gate.open();
        let (_, end) = stage.until_idle(|_| {}).await;
        assert_eq!(end, RunEnd::Finished, "{strategy:?}");
    }
}

/// A conversation with a long result and a picture, long ago.
fn heavy() -> Vec<Message> {
    let call = ToolCall { id: "1".into(), name: "read".into(), ..ToolCall::default() };
    let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
    answer.content = vec![Content::ToolCall(call.clone())];
    let mut result = ToolResultMessage::error(&call, much("result"));
    result.is_error = false;
    let mut last = AssistantMessage::empty(Api::Demo, "p", "m");
    last.content = vec![Content::text(much("answer"))];
    let picture = Content::Image(ImageContent { data: "aGk=".into(), mime_type: "image/png".into() });
    let question = UserMessage { content: vec![Content::text("look"), picture], ..UserMessage::text("") };
    vec![Message::User(question), Message::Assistant(answer), Message::ToolResult(result), Message::Assistant(last)]
}

#[tokio::test]
async fn shaking_leaves_out_old_results_or_pictures() {
    for (mode, has_picture, is_short) in [(ShakeMode::Elide, true, true), (ShakeMode::Images, false, false)] {
        let mut stage = Stage::with(turns([said("done")]), |options| {
            small(options);
            options.resumed = heavy().into();
        });
        let saved = stage.session.shake(mode).await.unwrap();
        assert!(saved > 500, "{mode:?}: {saved}");
        assert_eq!(stage.session.shake(mode).await.unwrap_err(), "Nothing to shake.", "{mode:?}");
        stage.prompt("go on").await;
        let sent = format!("{:?}", stage.llm.requests()[0].messages);
        assert_eq!(sent.contains("image/png"), has_picture, "{mode:?}");
        assert_eq!(sent.contains("characters left out"), is_short, "{mode:?}");
        assert_eq!(last_entry(&stage, "custom")["customType"], "blanked", "{mode:?}: a resumed session sends the same");
    }
}

#[tokio::test]
async fn nothing_is_shaken_while_a_model_answers() {
    let gate = omp_testkit::Gate::new();
    let mut stage = Stage::with(turns([said("done")]).gated(&gate), small);
    stage.send(Command::Prompt(vec![Content::text("work")].into())).await;
    stage.llm.until_requests(1).await;
    let refused = stage.session.shake(ShakeMode::Elide).await.unwrap_err();
    assert_eq!(refused, "Cannot shake while a response is in progress");
    gate.open();
    assert_eq!(stage.until_idle(|_| {}).await.1, RunEnd::Finished);
}

async fn ended(stage: &mut Stage) -> (CompactionReason, Option<String>, Vec<String>) {
    let mut notices = Vec::new();
    loop {
        match stage.events.recv().await.unwrap() {
            SessionEvent::Notice { text, .. } => notices.push(text),
            SessionEvent::CompactionEnd { reason, result, error, .. } => {
                return (reason, result.map(|result| result.summary).or(error), notices);
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn an_idle_session_is_compacted_when_that_is_wished() {
    let replies = [answers(6), vec![said("SUMMARY"), said("short"), said("after")]].concat();
    let mut stage = Stage::with(turns(replies), |options| {
        small(options);
        let timeout = std::time::Duration::from_millis(5);
        options.compaction.settings.idle = Some(IdleCompaction { threshold_tokens: 5_500, timeout });
    });
    talk(&mut stage, 6).await;
    let (reason, summary, _) = ended(&mut stage).await;
    assert_eq!(reason, CompactionReason::Idle);
    assert!(summary.unwrap().contains("SUMMARY"));
    let (_, end) = stage.prompt("go on").await;
    assert_eq!((end, told(&stage, 8).last().unwrap().as_str()), (RunEnd::Finished, "user: go on"));
}

#[tokio::test]
async fn a_strategy_that_is_not_there_yet_says_so_and_writes_a_summary() {
    let replies = [answers(6), vec![said("SUMMARY"), said("short")]].concat();
    let mut stage = Stage::with(turns(replies), |options| {
        small(options);
        options.compaction.settings.strategy = CompactionStrategy::Snapcompact;
    });
    talk(&mut stage, 6).await;
    let session = stage.session.clone();
    let compacting = tokio::spawn(async move { session.compact(None).await });
    let (_, _, notices) = ended(&mut stage).await;
    assert!(notices[0].contains("snapcompact"), "{notices:?}");
    assert!(compacting.await.unwrap().unwrap().summary.contains("SUMMARY"));
}

#[tokio::test]
async fn a_handoff_begins_anew_with_a_document() {
    let replies = [answers(2), vec![said("DOCUMENT"), said("after")]].concat();
    let mut stage = Stage::with(turns(replies), small);
    assert_eq!(stage.session.handoff(None).await.unwrap_err(), "Nothing to hand off (no messages yet)");
    talk(&mut stage, 2).await;
    assert_eq!(stage.session.handoff(Some("the tests".to_owned())).await.unwrap(), "DOCUMENT");
    let asked = stage.llm.requests()[2].clone();
    assert_eq!((asked.system.as_ref(), asked.messages.len()), ("system", 5), "the usual prefix, and one message");
    assert!(text_of(asked.messages[4].content()).ends_with("kept in mind: the tests"));
    stage.prompt("go on").await;
    assert_eq!(told(&stage, 3), ["custom: DOCUMENT", "user: go on"]);
    let entries = stage.entries();
    assert!(entries.windows(2).any(|pair| pair == ["reset_boundary", "custom_message handoff"]), "{entries:?}");
}

#[tokio::test]
async fn the_strategy_handoff_is_used_at_the_threshold_and_falls_back_to_a_summary() {
    let full = || {
        let turn = Turn::text(much("last")).usage(TokenCounts { input: 18_000, output: 900, ..TokenCounts::default() });
        Reply::from(turn)
    };
    let by_handoff = |options: &mut SessionOptions| {
        small(options);
        options.compaction.settings.strategy = CompactionStrategy::Handoff;
    };
    let replies = [answers(5), vec![full(), said("DOCUMENT"), said("after")]].concat();
    let mut stage = Stage::with(turns(replies), by_handoff);
    talk(&mut stage, 6).await;
    stage.prompt("go on").await;
    assert_eq!(told(&stage, 7), ["custom: DOCUMENT", "user: go on"]);

    let replies = [answers(5), vec![full(), said(" "), said("SUMMARY"), said("short"), said("after")]].concat();
    let mut stage = Stage::with(turns(replies), by_handoff);
    talk(&mut stage, 6).await;
    assert!(stage.session.summary().unwrap().contains("SUMMARY"));
}

struct Remote(Result<&'static str, &'static str>);

impl RemoteSummary for Remote {
    fn summarize<'a>(&'a self, system: &'a str, prompt: &'a str) -> BoxFuture<'a, Result<String, String>> {
        assert!(system.contains("summarize") && prompt.contains("<conversation>"));
        let answer = self.0.map(str::to_owned).map_err(str::to_owned);
        Box::pin(async move { answer })
    }
}

#[tokio::test]
async fn a_remote_endpoint_goes_before_the_model_which_stands_in_for_it() {
    for (answer, replies, expect) in [
        (Ok("REMOTE"), vec![], "REMOTE"),
        (Err("it is gone"), vec![said("LOCAL"), said("short")], "LOCAL"),
        (Ok(" "), vec![said("LOCAL"), said("short")], "LOCAL"),
    ] {
        let mut stage = Stage::with(turns([answers(6), replies].concat()), |options| {
            small(options);
            options.compaction.remote = Some(Arc::new(Remote(answer)));
        });
        talk(&mut stage, 6).await;
        assert!(stage.session.compact(None).await.unwrap().summary.contains(expect));
    }
}

struct Hook(BeforeSummary);

impl SessionFeature for Hook {
    fn before_summary(&self, plan: &CompactionPlan<'_>) -> BeforeSummary {
        assert!(plan.reason == CompactionReason::Manual && !plan.messages.is_empty() && plan.tokens_before > 0);
        self.0.clone()
    }

    fn compacting(&self, _: &CompactionPlan<'_>) -> Compacting {
        Compacting { prompt: None, context: vec!["HOOKED".to_owned()], preserve_data: Some(json!({"mine": 1})) }
    }
}

#[tokio::test]
async fn hooks_cancel_a_compaction_write_it_or_add_to_it() {
    let own = BeforeSummary::Summary { summary: "OWN".to_owned(), details: None };
    for (hook, expect) in [(BeforeSummary::Cancel, "cancelled"), (own, "OWN"), (BeforeSummary::Go, "SUMMARY")] {
        let replies = [answers(6), vec![said("SUMMARY"), said("short")]].concat();
        let mut stage = Stage::with(turns(replies), |options| {
            small(options);
            options.features.push(Arc::new(Hook(hook)));
        });
        talk(&mut stage, 6).await;
        let done = stage.session.compact(None).await.map(|compacted| compacted.summary);
        let text = done.unwrap_or_else(|why| why);
        assert!(text.contains(expect), "{text}");
        let entry = last_entry(&stage, "compaction");
        match expect {
            "OWN" => assert_eq!(entry["fromExtension"], true),
            "SUMMARY" => {
                assert_eq!(entry["preserveData"]["mine"], 1);
                let asked = text_of(stage.llm.requests()[6].messages[0].content());
                assert!(asked.contains("<additional-context>\nHOOKED"), "{asked}");
            }
            _ => assert_eq!(entry, Value::Null),
        }
    }
}

#[tokio::test]
async fn a_branch_that_is_left_is_summed_up_where_the_session_goes_on() {
    let mut stage = Stage::new([said("one"), said("two"), said("TRIED"), said("after")]);
    stage.prompt("a").await;
    let here = stage.session.leaf();
    stage.prompt("b").await;
    stage.session.go_to_with(here, BranchNote::Summary(Some("Only facts.".to_owned()))).await.unwrap();
    let asked = text_of(stage.llm.requests()[2].messages[0].content());
    assert!(asked.ends_with("Only facts.") && asked.contains("two") && !asked.contains("one"), "{asked}");
    stage.prompt("c").await;
    let told = told(&stage, 3);
    assert_eq!((told.len(), told[0].as_str(), told[3].as_str()), (4, "user: a", "user: c"), "{told:?}");
    let summary = last_entry(&stage, "branch_summary")["summary"].as_str().unwrap().to_owned();
    assert!(summary.contains("TRIED"), "{summary}");
}

#[tokio::test]
async fn where_it_is_wished_every_branch_that_is_left_is_summed_up() {
    let fail = || Reply::fail(ModelError::new(ErrorKind::Auth, "no key"));
    for (third, entry) in [(said("TRIED"), true), (fail(), false)] {
        let mut stage = Stage::with(ScriptedLlm::new([said("one"), said("two"), third]), |options| {
            options.compaction.settings.branches.always = true;
        });
        stage.prompt("a").await;
        let here = stage.session.leaf();
        stage.prompt("b").await;
        stage.session.go_to(here).await.unwrap();
        assert_eq!(last_entry(&stage, "branch_summary").is_object(), entry);
        assert_eq!(stage.llm.requests().len(), 3);
    }
}

#[tokio::test]
async fn a_branch_summary_that_fails_leaves_the_session_where_it_is() {
    let fail = Reply::fail(ModelError::new(ErrorKind::Auth, "no key"));
    let mut stage = Stage::new([said("one"), said("two"), fail]);
    stage.prompt("a").await;
    let here = stage.session.leaf();
    stage.prompt("b").await;
    let stays = stage.session.leaf();
    let error = stage.session.go_to_with(here, BranchNote::Summary(None)).await.unwrap_err();
    assert_eq!((error.to_string().as_str(), stage.session.leaf()), ("no key", stays));
}
