//! Tests of the usage of a session, the causes of lost prompt caches, and limits.

use std::sync::Arc;

use omp_session::{
    Account, BreakCause, BudgetLimits, Command, ContextSize, OWN_SOURCE, RunBudget, RunEnd, SessionEvent,
    SessionOptions, Spent, StandardFeatures, Titling,
};
use omp_testkit::{Reply, ScriptedLlm, TokenCounts, Turn, mock_model};
use omp_types::{
    Api, AssistantMessage, Content, ErrorKind, ImageContent, Message, Model, ModelError, Prices, ThinkingLevel, Usage,
    UserMessage,
};
use serde_json::json;

use crate::stage::Stage;

const PRICES: Prices = Prices { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 };

/// An answer whose prompt was partly read from the cache.
fn answer(read: u64, write: u64) -> Turn {
    Turn::text("ok").usage(TokenCounts { input: 10, output: 5, cache_read: read, cache_write: write, reasoning: 0 })
}

fn priced(id: &str) -> Arc<Model> {
    Arc::new(Model { id: id.into(), api: Api::AnthropicMessages, cost: PRICES, ..mock_model() })
}

fn stage<R: Into<Reply>>(replies: impl IntoIterator<Item = R>, adjust: impl FnOnce(&mut SessionOptions)) -> Stage {
    Stage::with(ScriptedLlm::new(replies), |options| {
        options.model = priced("main");
        options.max_turns = 1000;
        adjust(options);
    })
}

/// Sends a command and returns the reported usage.
async fn spent(stage: &mut Stage, command: Command) -> Vec<Spent> {
    stage.send(command).await;
    let mut told = Vec::new();
    stage
        .until_idle(|event| {
            if let SessionEvent::Spent(spent) = event {
                told.push((**spent).clone());
            }
        })
        .await;
    told
}

fn say(text: &str) -> Command {
    Command::Prompt(vec![Content::text(text)].into())
}

fn account(stage: &Stage) -> Arc<Account> {
    stage.session.snapshot().spending.clone()
}

fn causes(stage: &Stage) -> Vec<(&'static str, usize)> {
    account(stage).breaks.iter().map(|(cause, broken)| (cause.as_str(), broken.times)).collect()
}

#[tokio::test]
async fn the_context_is_what_the_provider_counted_or_an_estimate() {
    let counted = Turn::text("two").usage(TokenCounts { input: 40, cache_read: 2, ..TokenCounts::default() });
    let failed = Reply::fail(ModelError::new(ErrorKind::BadRequest, "no"));
    let replies = [Turn::text("one").into(), counted.into(), failed, Turn::text("three").into()];
    let mut stage = Stage::with(ScriptedLlm::new(replies), |_| {});
    assert_eq!(stage.session.context_size(), ContextSize::default());
    stage.prompt(&"word ".repeat(1_000)).await;
    let first = stage.session.context_size();
    assert!(first.is_estimate && first.tokens > 900, "{first:?}");
    for _ in ["counted", "failed"] {
        stage.prompt("go on").await;
        assert_eq!(stage.session.context_size(), ContextSize { tokens: 42, is_estimate: false });
    }
    stage.prompt("go on").await;
    let last = stage.session.context_size();
    assert!(last.is_estimate && last.tokens > first.tokens, "{last:?}");
}

#[tokio::test]
async fn a_message_a_turn_and_the_session_are_counted() {
    let call = answer(0, 5000).and_call("note", json!({}));
    let mut stage = stage([call, answer(5000, 100), answer(5100, 50)], |_| {});
    let first = spent(&mut stage, say("hi")).await;
    let totals: Vec<_> =
        first.iter().map(|it| (it.message.total_tokens, it.turn.total_tokens, it.session.total_tokens)).collect();
    assert_eq!(totals, [(5015, 5015, 5015), (5115, 10130, 10130)]);
    assert_eq!(first[1].estimate.cached, 5010, "all of the first prompt");
    assert_eq!((first[1].cached, first[1].break_cause), (5000, None));
    let second = spent(&mut stage, say("more")).await;
    assert_eq!((second[0].turn.total_tokens, second[0].session.total_tokens), (5165, 15295));
    let account = account(&stage);
    let turns: Vec<_> = account.turns.iter().map(|turn| (turn.number, turn.answers, turn.usage.total_tokens)).collect();
    assert_eq!(turns, [(1, 2, 10130), (2, 1, 5165)]);
    assert!(account.breaks.is_empty(), "{account:?}");
    assert!(account.session.cost.total > 0.0);
    assert_eq!(stage.session.snapshot().usage, account.session);
}

#[tokio::test]
async fn the_estimate_names_the_parts_and_follows_what_the_provider_counts() {
    let mut stage = stage([answer(0, 90), answer(100, 0)], |options| {
        options.resumed = vec![Message::User(UserMessage::text("before ".repeat(10)))].into();
    });
    let first = &spent(&mut stage, say("hi there")).await[0];
    let parts = first.estimate;
    assert!(parts.system > 0 && parts.tools > 0 && parts.user > 10, "{parts:?}");
    assert_eq!((parts.assistant, parts.tool_results, parts.cached), (0, 0, 0));
    let second = &spent(&mut stage, say("hi there")).await[0];
    assert_eq!(second.estimate.cached, 100, "what the provider counted, not what was estimated");
    let factor = 100.0 / parts.total() as f64;
    let expect = (parts.system as f64 * factor).round() as u64;
    assert_eq!(second.estimate.system, expect, "{parts:?} {:?}", second.estimate);
}

#[tokio::test]
async fn two_hundred_turns_lose_nothing() {
    let replies = (0..200u64).map(|number| match number {
        199 => answer(5000, 10),
        _ => answer(5000, 10).and_call("note", json!({"n": number})),
    });
    let mut stage = stage(replies.collect::<Vec<_>>(), |_| {});
    let told = spent(&mut stage, say("a lot")).await;
    assert_eq!(told.len(), 200);
    assert_eq!(causes(&stage), []);
    let requests = stage.llm.requests();
    for pair in requests.windows(2) {
        let written = |request: &omp_types::Request| {
            serde_json::to_string(&request.messages.iter().map(|it| &**it).collect::<Vec<_>>()).unwrap()
        };
        let (before, after) = (written(&pair[0]), written(&pair[1]));
        assert!(after.starts_with(before.trim_end_matches(']')));
    }
}

#[tokio::test]
async fn another_model_is_named_once_and_coming_back_loses_nothing() {
    let mut stage = stage([answer(0, 6000), answer(0, 6000), answer(6000, 10), answer(6000, 10)], |_| {});
    spent(&mut stage, say("one")).await;
    stage.send(Command::SetModel(priced("other"))).await;
    let broken = spent(&mut stage, say("two")).await[0].break_cause.unwrap();
    assert_eq!((broken.cause, broken.tokens), (BreakCause::ModelSwitch, 6010));
    assert!(broken.cause.is_deliberate() && (broken.cost - 6010.0 * 3.45 / 1e6).abs() < 1e-9, "{broken:?}");
    assert!(broken.to_string().starts_with("prompt cache miss (expected): the model changed;"), "{broken}");
    stage.send(Command::SetModel(priced("main"))).await;
    assert_eq!(spent(&mut stage, say("three")).await[0].break_cause, None);
    stage.send(Command::SetModel(priced("other"))).await;
    assert_eq!(spent(&mut stage, say("four")).await[0].break_cause, None);
    assert_eq!(causes(&stage), [("model_switch", 1)]);
}

#[tokio::test]
async fn other_tools_and_other_thinking_are_named() {
    let mut stage = stage([answer(0, 6000), answer(0, 6000), answer(6000, 0), answer(6000, 0)], |_| {});
    spent(&mut stage, say("one")).await;
    stage.send(Command::SetTools { source: OWN_SOURCE.to_owned(), tools: Vec::new() }).await;
    let tools = spent(&mut stage, say("two")).await[0].break_cause.unwrap();
    assert_eq!((tools.cause, tools.tokens), (BreakCause::ToolSet, 6010));
    stage.send(Command::SetThinking(ThinkingLevel::High)).await;
    let thinking = spent(&mut stage, say("three")).await[0].clone();
    let broken = thinking.break_cause.unwrap();
    assert_eq!(broken.cause, BreakCause::Thinking);
    assert!(broken.tokens < 6010 && thinking.estimate.cached > 0, "the system prompt stays: {thinking:?}");
    spent(&mut stage, say("four")).await;
    assert_eq!(causes(&stage), [("tool_set", 1), ("thinking", 1)]);
    assert_eq!(account(&stage).unexpected_breaks(), 0);
}

#[tokio::test]
async fn thinking_is_no_break_where_the_provider_does_not_care() {
    let mut stage = stage([answer(0, 0), answer(6000, 0)], |options| {
        options.model = Arc::new(Model { api: Api::OpenaiResponses, ..(*priced("main")).clone() });
    });
    spent(&mut stage, say("one")).await;
    stage.send(Command::SetThinking(ThinkingLevel::High)).await;
    spent(&mut stage, say("two")).await;
    assert_eq!(causes(&stage), []);
}

#[tokio::test]
async fn going_on_from_another_place_is_named() {
    let mut stage = stage([answer(0, 6000), answer(6000, 10), answer(5900, 10)], |_| {});
    spent(&mut stage, say("one")).await;
    let leaf = stage.session.leaf();
    spent(&mut stage, say("two")).await;
    stage.session.go_to(leaf).await.unwrap();
    let broken = spent(&mut stage, say("another two")).await[0].break_cause.unwrap();
    assert_eq!(broken.cause, BreakCause::Moved);
    assert_eq!(causes(&stage), [("moved", 1)]);
}

#[tokio::test]
async fn what_a_provider_refuses_later_is_named() {
    let image = |data: &str| Content::Image(ImageContent { data: data.into(), mime_type: "image/png".into() });
    let refuse = || {
        Reply::fail(ModelError {
            status: Some(400),
            ..ModelError::new(ErrorKind::BadRequest, "Could not process image")
        })
    };
    let mut stage = stage([answer(0, 6000).into(), refuse(), Reply::from(answer(6000, 10))], |_| {});
    spent(&mut stage, Command::Prompt(vec![Content::text("look"), image(crate::quarantine::GREEN)].into())).await;
    spent(&mut stage, say("and now?")).await;
    assert_eq!(causes(&stage), [("quarantine", 1)]);
}

#[tokio::test]
async fn a_provider_that_forgets_is_told_of_with_its_price() {
    let mut stage = stage([answer(0, 6000), answer(6000, 10), answer(0, 6030), answer(6030, 10)], |_| {});
    for text in ["one", "two"] {
        assert_eq!(spent(&mut stage, say(text)).await[0].break_cause, None);
    }
    let broken = spent(&mut stage, say("three")).await[0].break_cause.unwrap();
    assert_eq!((broken.cause, broken.tokens), (BreakCause::Eviction, 6020));
    assert!(broken.cause.is_unexpected() && broken.cost > 0.02, "{broken:?}");
    assert!(broken.to_string().contains("(unexpected): the provider no longer had it; about 6,020 tokens"), "{broken}");
    spent(&mut stage, say("four")).await;
    assert_eq!((causes(&stage), account(&stage).unexpected_breaks()), (vec![("eviction", 1)], 1));
}

#[tokio::test]
async fn a_failed_answer_is_no_break_and_its_retry_is_none_either() {
    let fail = Reply::fail(ModelError::new(ErrorKind::Overloaded, "busy"));
    let mut stage = stage([answer(0, 6000).into(), fail, Reply::from(answer(6000, 10))], |_| {});
    spent(&mut stage, say("one")).await;
    let told = spent(&mut stage, say("two")).await;
    assert_eq!(told.len(), 2, "the failure and the answer");
    assert_eq!(causes(&stage), []);
}

#[tokio::test]
async fn titles_and_side_questions_count_and_stay_out_of_the_conversation() {
    let titling = Some(Titling::new(priced("small"), None));
    let mut stage = stage([answer(0, 100), answer(7, 0), answer(50, 0), answer(110, 0)], |options| {
        options.features = StandardFeatures { titling, ..StandardFeatures::default() }.list();
    });
    spent(&mut stage, say("hi")).await;
    stage.session.until(|snapshot| snapshot.title.is_some()).await.unwrap();
    stage.session.ask_aside("what is this?").await.unwrap();
    let account = account(&stage);
    let beside: Vec<_> = account.beside.iter().map(|(kind, it)| (*kind, it.requests, it.usage.total_tokens)).collect();
    assert_eq!(beside, [("side question", 1, 65), ("title", 1, 22)]);
    assert_eq!(account.session.total_tokens, 115 + 22 + 65);
    assert_eq!(account.models.len(), 2);
    assert_eq!(stage.session.messages().len(), 2);
    spent(&mut stage, say("on")).await;
    assert_eq!(causes(&stage), [], "what is asked beside is no break");
}

#[tokio::test]
async fn a_resumed_session_goes_on_counting() {
    let mut earlier = AssistantMessage::empty(Api::Demo, "p", "m");
    earlier.content = vec![Content::text("hello")];
    earlier.usage = Usage { input: 40, output: 2, total_tokens: 42, ..Usage::default() };
    let history = vec![Message::User(UserMessage::text("hi")), Message::Assistant(earlier)];
    let mut stage = stage([answer(0, 10)], |options| options.resumed = history.into());
    assert_eq!(account(&stage).session.total_tokens, 42);
    let told = spent(&mut stage, say("on")).await;
    assert_eq!((told[0].session.total_tokens, told[0].turn.total_tokens), (67, 25));
    assert_eq!(stage.session.snapshot().usage.total_tokens, 25, "this process alone");
}

#[tokio::test]
async fn a_session_over_budget_stops_before_the_request_and_goes_on_when_it_may() {
    let looping = || answer(0, 400).and_call("note", json!({}));
    let limits = BudgetLimits { max_tokens: Some(1000), max_cost: None };
    let mut stage = stage([looping(), looping(), answer(800, 10)], |options| {
        options.budget.session = limits;
    });
    let (lines, end) = stage.prompt("go").await;
    let RunEnd::OverBudget(reason) = end else { panic!("{end:?}") };
    assert!(reason.starts_with("token budget of this session reached: 830 of 1,000 tokens used"), "{reason}");
    assert!(reason.contains("\nhint: the session is saved; raise the limit with `/budget cost 5`"), "{reason}");
    assert_eq!(stage.llm.requests().len(), 2);
    assert_eq!(lines.last().unwrap(), "end (terminal: true)");
    stage.session.set_limits(BudgetLimits::default());
    stage.send(Command::Retry).await;
    let (_, end) = stage.until_idle(|_| {}).await;
    assert_eq!((end, stage.llm.requests().len()), (RunEnd::Finished, 3));
}

#[tokio::test]
async fn the_cost_of_a_run_is_shared_by_its_sessions() {
    let budget = Arc::new(RunBudget::new(BudgetLimits { max_tokens: None, max_cost: Some(0.02) }));
    let within = |options: &mut SessionOptions| options.budget.run = budget.clone();
    let mut first = stage([answer(0, 6000)], within);
    assert_eq!(first.prompt("one").await.1, RunEnd::Finished);
    let mut second = stage([answer(0, 6000)], within);
    let (_, end) = second.prompt("two").await;
    let RunEnd::OverBudget(reason) = end else { panic!("{end:?}") };
    assert!(reason.starts_with("cost budget of this run reached: $0.0226 of $0.0200 used"), "{reason}");
    assert!(second.llm.requests().is_empty(), "never asked");
    let refused = second.session.ask_aside("how?").await.unwrap_err();
    assert!(refused.starts_with("cost budget of this run reached"), "{refused}");
}

#[tokio::test]
async fn a_request_that_cannot_fit_is_never_made() {
    let limits = BudgetLimits { max_tokens: Some(500), max_cost: None };
    let mut stage = stage([answer(0, 10)], |options| options.budget.session = limits);
    let (_, end) = stage.prompt(&"many words ".repeat(1000)).await;
    let RunEnd::OverBudget(reason) = end else { panic!("{end:?}") };
    assert!(reason.contains("0 of 500 tokens used, and the next request needs about 2,1"), "{reason}");
    assert!(stage.llm.requests().is_empty());
}
