//! Tests with handwritten recordings: valid ones, invalid ones, and requests that do not match.

use std::sync::PoisonError;

use futures_util::StreamExt;
use omp_http::HttpConfig;
use omp_types::{Api, AssistantMessage, Env};
use serde_json::{Value, json};

use super::*;
use crate::wire::sample;

const ANSWER: &str = concat!(
    "data: {\"choices\":[{\"delta\":{\"content\":\"N\"}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n",
    "data: [DONE]\n\n"
);

fn head() -> Value {
    json!({"type": "recording", "version": 1, "program": "omp test", "created": "now", "cwd": "/then"})
}

/// Returns the lines of an exchange in which `prompt` was answered with `answer`.
fn exchange(id: u64, prompt: &str, answer: &str) -> Vec<Value> {
    let model = Model { base_url: "http://127.0.0.1:9/v1".into(), ..sample::model(Api::OpenaiCompletions) };
    let request = asking(prompt);
    let body = Encoded::new(&request, &Arc::new(model.clone()), &[]).unwrap().call.body;
    let about = json!({"model": model, "thinking": "low"});
    vec![
        json!({"type": "request", "exchange": id, "at": 1.0, "method": "POST", "url": "http://h", "headers": [],
            "text": String::from_utf8(body).unwrap(), "about": about}),
        json!({"type": "response", "exchange": id, "at": 2.0, "status": 200,
            "headers": [["content-type", "text/event-stream"]]}),
        json!({"type": "chunk", "exchange": id, "at": 3.0, "text": ANSWER.replace('N', answer)}),
        json!({"type": "end", "exchange": id, "at": 4.0}),
    ]
}

fn file(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn asking(prompt: &str) -> Request {
    sample::request(sample::model(Api::AnthropicMessages), vec![sample::user(prompt)])
}

/// A replay of a file with this text, and its warnings.
struct Played {
    replay: Replay,
    warnings: Arc<Mutex<Vec<String>>>,
    _folder: tempfile::TempDir,
}

fn play(text: &str, strict: bool) -> Result<Played, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    std::fs::write(&path, text).unwrap();
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let heard = warnings.clone();
    let options = ReplayOptions {
        cwd: "/now".into(),
        strict,
        timing: ReplayTiming::Instant,
        warn: Arc::new(move |text| heard.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned())),
    };
    let client = Client::new(&Env::default(), HttpConfig::default());
    let replay =
        Replay::open(&path, client, options).map_err(|error| error.to_string().replace(path.to_str().unwrap(), "R"))?;
    Ok(Played { replay, warnings, _folder: folder })
}

impl Played {
    async fn ask(&self, prompt: &str) -> AssistantMessage {
        let mut stream = self.replay.stream(asking(prompt));
        while stream.next().await.is_some() {}
        stream.message().clone()
    }

    fn warned(&self) -> Vec<String> {
        self.warnings.lock().unwrap().clone()
    }
}

fn two() -> Vec<Value> {
    [vec![head()], exchange(1, "first", "one"), exchange(2, "second", "two")].concat()
}

#[tokio::test]
async fn answers_come_in_order_from_the_recorded_model() {
    let played = play(&file(&two()), false).unwrap();
    assert_eq!(played.replay.model().api, Api::OpenaiCompletions);
    assert_eq!(played.replay.thinking(), ThinkingLevel::Low);
    let first = played.ask("first").await;
    assert_eq!((first.text().as_str(), first.api), ("one", Api::OpenaiCompletions));
    assert_eq!(played.ask("second").await.text(), "two");
    assert_eq!(played.warned(), [""; 0]);
    let error = played.ask("third").await.error.unwrap();
    assert!(!error.kind.retryable() && error.message.contains("has no more answers: all 2 were played"), "{error}");
}

#[tokio::test]
async fn requests_that_ran_at_once_find_their_answers() {
    let played = play(&file(&two()), true).unwrap();
    assert_eq!(played.ask("second").await.text(), "two");
    assert_eq!(played.ask("first").await.text(), "one");
}

#[tokio::test]
async fn a_request_that_differs_is_told_or_refused() {
    let played = play(&file(&two()), false).unwrap();
    assert_eq!(played.ask("fist").await.text(), "one");
    insta::assert_snapshot!(played.warned().join("\n"), @"this run differs from the recording in exchange 1: message 1 (user) at `content`: recorded `first`, now `fist`; the recorded answer is used anyway");
    let strict = play(&file(&two()), true).unwrap();
    let error = strict.ask("fist").await.error.unwrap();
    assert!(!error.kind.retryable() && error.message.contains("recorded `first`, now `fist`"), "{error}");
    assert_eq!(strict.ask("first").await.text(), "one");
}

#[tokio::test]
async fn exchanges_may_be_interleaved_and_lists_of_models_lie_between() {
    let (one, two) = (exchange(1, "first", "one"), exchange(2, "second", "two"));
    let listing = json!({"type": "request", "exchange": 3, "at": 0.0, "method": "GET", "url": "u", "headers": []});
    let mut lines = vec![head(), listing, json!({"type": "end", "exchange": 3, "at": 0.0})];
    for pair in one.into_iter().zip(two) {
        lines.extend([pair.0, pair.1, json!({"type": "later invention"})]);
    }
    let played = play(&file(&lines), true).unwrap();
    assert_eq!(played.ask("first").await.text(), "one");
    assert_eq!(played.ask("second").await.text(), "two");
}

#[tokio::test]
async fn what_ended_early_ends_early_again() {
    let cut = |keep: usize, end: Option<Value>| {
        let mut lines = vec![head()];
        lines.extend(exchange(1, "first", "one").into_iter().take(keep));
        lines.extend(end);
        file(&lines)
    };
    let error = |kind: &str| json!({"type": "error", "exchange": 1, "at": 5.0, "kind": kind, "message": "it broke"});
    for (text, words, retryable) in [
        (cut(1, Some(error("connect"))), "it broke", true),
        (cut(2, Some(error("timeout-idle"))), "it broke", true),
        (cut(1, Some(error("tls"))), "it broke", false),
        (cut(1, Some(json!({"type": "dropped", "exchange": 1, "at": 5.0}))), "it was aborted", false),
        (cut(2, Some(json!({"type": "dropped", "exchange": 1, "at": 5.0}))), "it was aborted", false),
        (cut(1, None), "was cut off", false),
        (cut(2, None), "was cut off", false),
    ] {
        let failure = play(&text, true).unwrap().ask("first").await.error.unwrap();
        assert!(failure.message.contains(words), "{failure}");
        assert_eq!(failure.kind.retryable(), retryable, "{failure}");
    }
}

#[tokio::test]
async fn a_recording_without_its_end_plays_as_far_as_it_goes() {
    let text = file(&two());
    let played = play(&text[..text.len() - 60], false).unwrap();
    assert!(played.replay.remark().unwrap().contains("is incomplete; it is played up to its end"));
    assert_eq!(played.ask("first").await.text(), "one");
    let whole = play(&text, false).unwrap();
    assert_eq!(whole.replay.remark(), None);
}

#[track_caller]
fn check_refused(text: &str, expect: &str) {
    let error = play(text, false).err().unwrap();
    assert!(error.contains(expect) && error.contains("\nhint: "), "{error}");
}

#[test]
fn files_that_cannot_be_played_say_why() {
    let header = file(&[head()]);
    check_refused("", "the recording R is empty");
    check_refused("what?\n", "R is not an omp recording");
    check_refused("{\"type\":\"session\",\"version\":3}\n", "to continue a session, use `--resume");
    check_refused(
        &header.replace("\"version\":1", "\"version\":2"),
        "R has version 2 (made by omp test); this omp plays version 1",
    );
    check_refused(&header, "contains no model request");
    check_refused(&format!("{header}{{broken\n{header}"), "line 2 of the recording R is broken: ");
    let mut lines = two();
    lines[1]["about"] = json!({"model": 1});
    check_refused(&file(&lines), "line 2 of the recording R is broken: invalid type");
    let options =
        || ReplayOptions { cwd: "/".into(), strict: false, timing: ReplayTiming::Instant, warn: Arc::new(|_| {}) };
    for (path, words) in [("/nowhere/r.jsonl", "No such file"), ("/", "not a regular file")] {
        let client = Client::new(&Env::default(), HttpConfig::default());
        let error = Replay::open(Path::new(path), client, options()).err().unwrap().to_string();
        assert!(error.contains(words) && error.contains("\nhint: "), "{error}");
    }
}

#[tokio::test]
async fn with_real_timing_the_pauses_are_played() {
    let mut lines = vec![head()];
    lines.extend(exchange(1, "first", "one"));
    lines[3]["at"] = json!(121.0);
    let Played { replay, .. } = play(&file(&lines), true).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    std::fs::write(&path, file(&lines)).unwrap();
    let options = ReplayOptions { timing: ReplayTiming::Real, ..replay.options };
    let replay = Replay::open(&path, Client::new(&Env::default(), HttpConfig::default()), options).unwrap();
    let began = tokio::time::Instant::now();
    let mut stream = replay.stream(asking("first"));
    while stream.next().await.is_some() {}
    assert_eq!(stream.message().text(), "one");
    assert!(began.elapsed().as_millis() >= 120);
}
