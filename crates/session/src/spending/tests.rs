//! Tests of the comparison of requests and of the causes it names, without a session.

use std::time::Duration;

use omp_types::{Api, CacheRetention, Content, CustomMessage, Model, Prices, ThinkingLevel, UserMessage};
use serde_json::Value;

use super::*;

fn model(api: Api) -> Arc<Model> {
    Arc::new(Model {
        id: "m".into(),
        name: "M".into(),
        api,
        provider: "p".into(),
        base_url: String::new(),
        reasoning: true,
        input: Vec::new(),
        cost: Prices { input: 2.0, output: 8.0, cache_read: 0.5, cache_write: 0.0 },
        context_window: 100_000,
        max_tokens: 1000,
        headers: Default::default(),
        thinking: None,
        compat: Value::Null,
        context_promotion_target: None,
    })
}

fn asked(api: Api) -> RequestParts {
    RequestParts {
        model: model(api),
        system: "be good".into(),
        tools: Arc::new([]),
        thinking: ThinkingLevel::Off,
        cache: CacheRetention::Short,
        forced: false,
    }
}

fn transcript(texts: &[&str]) -> Transcript {
    let mut transcript = Transcript::new();
    for text in texts {
        transcript.push_input(Arc::new(Message::User(UserMessage { timestamp: 7, ..UserMessage::text(*text) })));
    }
    transcript
}

fn answer(read: u64, input: u64) -> AssistantMessage {
    let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
    answer.content = vec![Content::text("ok")];
    answer.usage = Usage { input, cache_read: read, output: 1, ..Usage::default() };
    answer.usage = answer.usage.priced(&model(Api::Demo).cost);
    answer
}

/// Sends two requests, the second one later, and checks the reported break.
fn check(
    first: &RequestParts,
    second: &RequestParts,
    texts: (&[&str], &[&str]),
    later: u64,
    expect: Option<BreakCause>,
) {
    let mut spending = Spending::default();
    let now = Instant::now();
    spending.before(first, &transcript(texts.0), now).unwrap();
    spending.answered(&answer(1, 9000)).unwrap();
    spending.before(second, &transcript(texts.1), now + Duration::from_secs(later)).unwrap();
    let spent = spending.answered(&answer(9001, 10)).unwrap();
    assert_eq!(spent.break_cause.map(|broken| broken.cause), expect, "{texts:?} {later}");
}

#[test]
fn what_goes_on_is_no_break_and_what_does_not_is() {
    let it = asked(Api::AnthropicMessages);
    let row = |texts: (&[&str], &[&str]), expect| check(&it, &it, texts, 1, expect);
    row((&["a", "b"], &["a", "b", "c"]), None);
    row((&["a", "b"], &["a", "b"]), None);
    row((&["a", "b"], &["a", "x", "c"]), Some(BreakCause::Unknown));
    row((&["a", "b"], &["a"]), Some(BreakCause::Unknown));
}

#[test]
fn a_pause_is_measured_by_what_the_provider_promises() {
    let texts: (&[&str], &[&str]) = (&["a"], &["a", "b"]);
    for (api, cache, seconds) in [
        (Api::AnthropicMessages, CacheRetention::Short, 300),
        (Api::AnthropicMessages, CacheRetention::Long, 3600),
        (Api::OpenaiResponses, CacheRetention::Short, 600),
        (Api::OpenaiResponses, CacheRetention::Long, 86_400),
        (Api::GoogleGenerativeAi, CacheRetention::Long, 300),
    ] {
        let it = RequestParts { cache, ..asked(api) };
        check(&it, &it, texts, seconds, None);
        check(&it, &it, texts, seconds + 1, Some(BreakCause::Expired));
    }
}

#[test]
fn what_stands_before_the_conversation() {
    let it = asked(Api::AnthropicMessages);
    let texts: (&[&str], &[&str]) = (&["a"], &["a", "b"]);
    let same = RequestParts { system: "be good".into(), ..it.clone() };
    check(&it, &same, texts, 1, None);
    check(&it, &RequestParts { system: "be bad".into(), ..it.clone() }, texts, 1, Some(BreakCause::SystemPrompt));
    check(&it, &RequestParts { thinking: ThinkingLevel::Low, ..it.clone() }, texts, 1, Some(BreakCause::Thinking));
    check(&it, &RequestParts { forced: true, ..it.clone() }, texts, 1, Some(BreakCause::ForcedTool));
    let other = asked(Api::OpenaiCompletions);
    check(&other, &RequestParts { forced: true, thinking: ThinkingLevel::Low, ..other.clone() }, texts, 1, None);
}

#[test]
fn who_changes_the_conversation_on_purpose_names_the_cause() {
    for cause in [BreakCause::Compaction, BreakCause::Pruning, BreakCause::RuleDiscard, BreakCause::Rewind] {
        let (mut spending, it, now) = (Spending::default(), asked(Api::OpenaiResponses), Instant::now());
        spending.before(&it, &transcript(&["a", "b"]), now).unwrap();
        spending.answered(&answer(0, 9000)).unwrap();
        spending.expect(cause);
        spending.before(&it, &transcript(&["a", "short"]), now).unwrap();
        let broken = spending.answered(&answer(0, 5000)).unwrap().break_cause.unwrap();
        assert_eq!(broken.cause, cause);
        // An announced cause applies once.
        spending.before(&it, &transcript(&["x"]), now).unwrap();
        let next = spending.answered(&answer(0, 5000)).unwrap().break_cause.unwrap();
        assert_eq!(next.cause, BreakCause::Unknown);
        let broken = spending.account().breaks[&cause];
        assert_eq!(broken.times, 1);
        assert!(broken.tokens > 0 && broken.cost > 0.0, "{broken:?}");
    }
}

#[test]
fn a_request_that_was_cut_off_may_be_missing_in_the_cache() {
    for (takes_back, cause) in [(true, BreakCause::RuleDiscard), (false, BreakCause::Eviction)] {
        let (mut spending, it, now) = (Spending::default(), asked(Api::OpenaiResponses), Instant::now());
        spending.before(&it, &transcript(&["a", "b"]), now).unwrap();
        spending.answered(&answer(1, 9000)).unwrap();
        if takes_back {
            spending.taken_back(Some(&answer(1, 9000)));
        }
        spending.before(&it, &transcript(&["a", "b", "the rule"]), now).unwrap();
        let broken = spending.answered(&answer(0, 9010)).unwrap().break_cause.unwrap();
        assert_eq!((broken.cause, broken.cause.is_deliberate()), (cause, takes_back));
        let lost = spending.account().taken_back;
        assert_eq!((lost.requests, lost.usage.input), if takes_back { (1, 9000) } else { (0, 0) });
    }
}

#[test]
fn what_is_not_asked_yet_is_compared_all_the_same() {
    let (mut spending, it, now) = (Spending::default(), asked(Api::OpenaiResponses), Instant::now());
    let expected = |spending: &mut Spending, asked: &RequestParts, texts: &[&str], later: u64| {
        spending.expected_cached(asked, &transcript(texts).for_model(), now + Duration::from_secs(later))
    };
    assert_eq!(expected(&mut spending, &it, &["a"], 0), 0);
    spending.before(&it, &transcript(&["a"]), now).unwrap();
    spending.answered(&answer(0, 9000)).unwrap();
    assert_eq!(expected(&mut spending, &it, &["a", "b"], 1), 9000);
    assert_eq!(expected(&mut spending, &it, &["a", "b"], 601), 0);
    let other = RequestParts { model: Arc::new(Model { id: "other".into(), ..(*it.model).clone() }), ..it.clone() };
    assert_eq!(expected(&mut spending, &other, &["a", "b"], 1), 0);
    assert!((1..9000).contains(&expected(&mut spending, &it, &["x"], 1)));
    // Reading the expected cache changes nothing.
    spending.before(&it, &transcript(&["a", "b"]), now).unwrap();
    assert_eq!(spending.answered(&answer(9000, 10)).unwrap().break_cause, None);
}

#[test]
fn a_summary_says_itself_that_there_was_a_compaction() {
    let summary = |kind: &str| {
        let mut transcript = Transcript::new();
        transcript.push_input(Arc::new(Message::Custom(CustomMessage {
            custom_type: kind.into(),
            content: vec![Content::text("so far")],
            display: false,
            details: None,
            timestamp: 0,
        })));
        transcript
    };
    for (kind, cause) in [
        ("compactionSummary", BreakCause::Compaction),
        ("branchSummary", BreakCause::Moved),
        ("rewind-report", BreakCause::Rewind),
        ("note", BreakCause::Unknown),
    ] {
        let (mut spending, it, now) = (Spending::default(), asked(Api::Demo), Instant::now());
        spending.before(&it, &transcript(&["a"]), now).unwrap();
        spending.answered(&answer(0, 9000)).unwrap();
        spending.before(&it, &summary(kind), now).unwrap();
        assert_eq!(spending.answered(&answer(0, 100)).unwrap().break_cause.unwrap().cause, cause, "{kind}");
    }
}

#[test]
fn a_provider_without_a_cache_forgets_nothing() {
    let (mut spending, it, now) = (Spending::default(), asked(Api::OpenaiCompletions), Instant::now());
    for texts in [&["a"][..], &["a", "b"], &["a", "b", "c"]] {
        spending.before(&it, &transcript(texts), now).unwrap();
        assert_eq!(spending.answered(&answer(0, 9000)).unwrap().break_cause, None);
    }
    assert_eq!(spending.account().breaks.len(), 0);
}

#[test]
fn what_is_remembered_has_an_end() {
    let (mut spending, now) = (Spending::default(), Instant::now());
    for number in 0..MOST_TURNS + 10 {
        spending.begin_turn();
        let mut it = asked(Api::Demo);
        it.model = Arc::new(Model { id: number.to_string(), ..(*it.model).clone() });
        spending.before(&it, &transcript(&["a"]), now).unwrap();
        spending.answered(&answer(0, 10)).unwrap();
    }
    let account = spending.account();
    assert_eq!((spending.sent.len(), account.turns.len()), (MOST_MODELS, MOST_TURNS));
    assert_eq!(account.turns.back().unwrap().number, MOST_TURNS + 10);
}

#[test]
fn a_turn_in_a_line() {
    let mut usage = Usage { input: 1500, output: 940, cache_read: 8500, ..Usage::default() };
    assert_eq!(cost_line(&usage), "10.0k in (85% cached), 940 out");
    usage.cost.total = 0.01234;
    usage.cache_read = 250_000;
    assert_eq!(cost_line(&usage), "251k in (99% cached), 940 out, $0.0123");
    assert_eq!(cost_line(&Usage::default()), "0 in, 0 out");
}
