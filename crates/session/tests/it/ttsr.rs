//! Tests of stream rules: answers that are stopped, and models that are notified afterwards.

use std::sync::Arc;

use omp_config::{ItemSource, Level, Provider, Rule};
use omp_rules::{ContextMode, InterruptMode, RuleRepeat, RuleSettings, bucket};
use omp_session::{
    AgentEvent, Resumed, RulesFired, RunEnd, SessionEvent, SessionFeature, StandardFeatures, StreamRules,
    TTSR_INJECTION,
};
use omp_store::{BlobStore, LoadedSession};
use omp_testkit::{Reply, ScriptedLlm, Text, Turn};
use omp_types::{ErrorKind, Message, ModelError, Request, text_of};
use serde_json::json;

use crate::stage::Stage;

fn rule(name: &str, condition: &str) -> Rule {
    Rule {
        name: name.into(),
        content: format!("Never say {condition}."),
        description: None,
        globs: Vec::new(),
        always_apply: false,
        condition: vec![condition.into()],
        ast_condition: Vec::new(),
        scope: Vec::new(),
        interrupt_mode: None,
        source: ItemSource { provider: Provider::Native, level: Level::Project, path: format!("{name}.md").into() },
    }
}

fn watching(rules: StreamRules) -> Vec<Arc<dyn SessionFeature>> {
    StandardFeatures { rules, ..StandardFeatures::default() }.list()
}

fn stage<R: Into<Reply>>(rules: &[Rule], settings: RuleSettings, replies: impl IntoIterator<Item = R>) -> Stage {
    let buckets = bucket(rules, &settings);
    assert_eq!(buckets.warnings, Vec::<String>::new());
    let rules = StreamRules { watch: buckets.ttsr, settings, home: None };
    Stage::with(ScriptedLlm::new(replies), |options| options.features = watching(rules))
}

/// Runs a prompt. Returns its lines and the rules that fired, with `!` if the answer was stopped.
async fn prompt(stage: &mut Stage, text: &str) -> (Vec<String>, Vec<String>) {
    stage.send(omp_session::Command::Prompt(vec![omp_types::Content::text(text)].into())).await;
    let mut fired = Vec::new();
    let (lines, end) = stage
        .until_idle(|event| {
            if let SessionEvent::RulesFired(RulesFired { rules, interrupts }) = event {
                let names = rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>().join("+");
                fired.push(format!("{names}{}", if *interrupts { "!" } else { "" }));
            }
        })
        .await;
    assert_eq!(end, RunEnd::Finished);
    (lines, fired)
}

/// The roles of a request, with the text of messages that the user did not write.
fn shape(request: &Request) -> Vec<String> {
    let line = |message: &Arc<Message>| match &**message {
        Message::Custom(custom) => text_of(&custom.content),
        Message::ToolResult(result) => format!("result {}", text_of(&result.content)),
        Message::Assistant(answer) => format!("answer {}", answer.text()),
        other => other.role().to_owned(),
    };
    request.messages.iter().map(line).collect()
}

/// An answer that is streamed word by word.
fn words(text: &str) -> Turn {
    Turn::text(Text::Chunks(text.split_inclusive(' ').map(str::to_owned).collect()))
}

fn note(text: &str) -> Turn {
    Turn::call("note", json!({"text": text}))
}

#[tokio::test]
async fn an_answer_that_breaks_a_rule_is_stopped_and_begins_again() {
    let replies = [words("I think foo is right, and much more after it"), Turn::text("better"), words("foo again")];
    let mut stage = stage(&[rule("r", "foo")], RuleSettings::default(), replies);
    let (lines, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["r!"]);
    assert_eq!(lines[0], "user");
    assert!(lines[1].starts_with("answer Aborted: I think foo") && !lines[1].contains("after it"), "{}", lines[1]);
    assert_eq!(lines[2..], ["custom", "answer Stop: better", "end (terminal: true)"]);
    let sent = shape(&stage.llm.requests()[1]);
    assert_eq!((sent.len(), sent[0].as_str()), (2, "user"), "the partial answer is gone");
    assert!(
        sent[1].starts_with("<system-interrupt reason=\"rule_violation\" rule=\"r\" path=\"r.md\">\n"),
        "{}",
        sent[1]
    );
    assert!(sent[1].ends_with("\n\nNever say foo.\n</system-interrupt>"), "{}", sent[1]);
    assert_eq!(
        stage.entries()[2..],
        [
            "message user",
            "message assistant",
            &format!("custom_message {TTSR_INJECTION}"),
            "ttsr_injection",
            "message assistant"
        ]
    );
    let mut loaded = LoadedSession::open(&stage.file, BlobStore::new(&stage.workspace.agent_dir())).unwrap();
    let context = loaded.context();
    assert_eq!(context.injected_rules, ["r"]);
    assert_eq!(context.messages.len(), 3, "what was taken back is not on the branch");
    assert_eq!(stage.session.messages().len(), 3);
    // A rule that was already delivered does not fire again.
    let (lines, fired) = prompt(&mut stage, "again").await;
    assert_eq!((fired.len(), lines.len()), (0, 3));
    let spent = stage.session.snapshot().spending.clone();
    assert_eq!((spent.taken_back.requests, spent.unexpected_breaks()), (1, 0), "{:?}", spent.breaks);
}

#[tokio::test]
async fn what_was_stopped_may_stay() {
    let settings = RuleSettings { context: ContextMode::Keep, ..RuleSettings::default() };
    let mut stage = stage(&[rule("r", "foo")], settings, [Turn::text("so foo it is and on"), Turn::text("better")]);
    let (_, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["r!"]);
    let sent = shape(&stage.llm.requests()[1]);
    assert_eq!(sent.len(), 3);
    assert!(sent[1].starts_with("answer so foo"), "{}", sent[1]);
    assert_eq!(stage.session.snapshot().spending.taken_back.requests, 0);
    assert!(sent[2].starts_with("<system-interrupt"), "{}", sent[2]);
}

#[tokio::test]
async fn calls_that_break_a_rule_do_not_run() {
    let replies = [note("foo "), note("fine"), Turn::text("done")];
    let mut stage = stage(&[rule("r", "foo")], RuleSettings::default(), replies);
    let (lines, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["r!"]);
    let results: Vec<&String> = lines.iter().filter(|line| line.starts_with("result")).collect();
    assert_eq!(results, ["result: noted fine"]);
}

#[tokio::test]
async fn a_rule_that_does_not_interrupt_stands_before_the_result() {
    let settings = RuleSettings { interrupt: InterruptMode::ProseOnly, ..RuleSettings::default() };
    let replies = [note("foo bar "), note("foo"), Turn::text("done")];
    let mut stage = stage(&[rule("r", "foo"), rule("s", "bar")], settings, replies);
    let (_, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["r+s"]);
    let sent = shape(&stage.llm.requests()[1]);
    let result = sent.last().unwrap();
    assert!(
        result.starts_with("result <system-reminder reason=\"rule_violation\" rule=\"r\" path=\"r.md\">"),
        "{result}"
    );
    assert!(result.contains("</system-reminder>\n\n<system-reminder reason=\"rule_violation\" rule=\"s\""), "{result}");
    assert!(result.ends_with("noted foo bar "), "{result}");
    let last = shape(&stage.llm.requests()[2]);
    assert_eq!(last.last().unwrap(), "result noted foo", "told once");
    assert_eq!(stage.entries().iter().filter(|entry| *entry == "ttsr_injection").count(), 1);
}

#[tokio::test]
async fn prose_that_is_not_stopped_is_answered_afterwards() {
    let settings = RuleSettings { interrupt: InterruptMode::Never, ..RuleSettings::default() };
    let replies = [Turn::text("so foo it is"), Turn::text("sorry")];
    let mut stage = stage(&[rule("r", "foo")], settings, replies);
    let (lines, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["r"]);
    assert_eq!(lines, ["user", "answer Stop: so foo it is", "custom", "answer Stop: sorry", "end (terminal: true)"]);
    let sent = shape(&stage.llm.requests()[1]);
    assert!(sent[1] == "answer so foo it is" && sent[2].starts_with("<system-interrupt"), "{sent:?}");
    assert_eq!(
        stage.entries()[3..],
        ["message assistant", "custom_message ttsr-injection", "ttsr_injection", "message assistant"]
    );
}

#[tokio::test]
async fn prose_before_calls_is_answered_with_their_results() {
    let settings = RuleSettings { interrupt: InterruptMode::ToolOnly, ..RuleSettings::default() };
    let talk = Turn::text("so foo it is").and_call("note", json!({"text": "x"}));
    let mut stage = stage(&[rule("r", "foo")], settings, [talk, Turn::text("done")]);
    let (_, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["r"]);
    let sent = shape(&stage.llm.requests()[1]);
    assert!(sent[2] == "result noted x" && sent[3].starts_with("<system-interrupt"), "{sent:?}");
    assert!(stage.entries().contains(&"ttsr_injection".to_owned()));
}

#[tokio::test]
async fn the_rules_own_mode_wins() {
    let gentle = Rule { interrupt_mode: Some("never".into()), ..rule("gentle", "foo") };
    let strict = Rule { interrupt_mode: Some("always".into()), ..rule("strict", "bar") };
    let settings = RuleSettings { interrupt: InterruptMode::Never, ..RuleSettings::default() };
    let mut stage = stage(&[gentle, strict], settings, [words("foo, then bar, then"), words("better")]);
    let (_, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["gentle", "strict!"]);
    let sent = shape(&stage.llm.requests()[1]);
    assert!(sent[1].contains("rule=\"gentle\"") && sent[1].contains("rule=\"strict\""), "all that waited: {sent:?}");
}

#[tokio::test]
async fn thinking_is_watched_where_a_rule_says_so() {
    let rule = Rule { scope: vec!["thinking".into()], ..rule("r", "foo") };
    let thoughts = Turn::text("foo is fine here").thinking("hm foo hm");
    let mut stage = stage(&[rule], RuleSettings::default(), [thoughts, Turn::text("better")]);
    let (lines, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["r!"]);
    assert_eq!(lines[1], "answer Aborted: ");
}

#[tokio::test]
async fn after_a_gap_a_rule_fires_again() {
    let settings = RuleSettings { repeat: RuleRepeat::AfterGap(3), ..RuleSettings::default() };
    let bad = || Turn::text("foo and on and on");
    let good = || Turn::text("good");
    // The rule is delivered at the end of turn 1; turns 3 and 4 start less than three turns later, turn 5 does not.
    let replies = [bad(), good(), bad(), bad(), bad(), good()];
    let mut stage = stage(&[rule("r", "foo")], settings, replies);
    for (said, expect) in [("1", &["r!"][..]), ("3", &[]), ("4", &[]), ("5", &["r!"])] {
        let (_, fired) = prompt(&mut stage, said).await;
        assert_eq!(fired, expect, "prompt {said}");
    }
}

#[tokio::test]
async fn a_model_that_does_not_listen_is_let_go() {
    let settings = RuleSettings { repeat: RuleRepeat::AfterGap(1), ..RuleSettings::default() };
    let bad = || Turn::text("foo for ever");
    let replies = [bad(), note("a"), bad(), note("b"), bad(), note("c"), bad(), Turn::text("good")];
    let mut stage = stage(&[rule("r", "foo")], settings, replies);
    let (_, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["r!", "r!", "r!", "r"]);
}

#[tokio::test]
async fn a_session_that_goes_on_knows_what_it_told() {
    let again = |told: Vec<String>| {
        let buckets = bucket(&[rule("r", "foo")], &RuleSettings::default());
        let rules = StreamRules { watch: buckets.ttsr, ..StreamRules::default() };
        Stage::with(ScriptedLlm::new([Turn::text("foo again and on"), Turn::text("b")]), |options| {
            options.features = watching(rules);
            options.resumed = Resumed { injected_rules: told, ..Resumed::default() };
        })
    };
    assert_eq!(prompt(&mut again(vec!["r".into()]), "hi").await.1, [""; 0]);
    assert_eq!(prompt(&mut again(vec!["other".into()]), "hi").await.1, ["r!"]);
}

#[tokio::test]
async fn another_branch_knows_only_its_own() {
    let replies =
        [Turn::text("first"), Turn::text("foo and on"), Turn::text("b"), Turn::text("foo and on"), Turn::text("c")];
    let mut stage = stage(&[rule("r", "foo")], RuleSettings::default(), replies);
    prompt(&mut stage, "1").await;
    let before = stage.session.leaf();
    assert_eq!(prompt(&mut stage, "2").await.1, ["r!"]);
    stage.session.go_to(before).await.unwrap();
    assert_eq!(prompt(&mut stage, "3").await.1, ["r!"]);
}

#[tokio::test]
async fn the_news_come_before_the_end_of_the_answer() {
    let mut stage = stage(&[rule("r", "foo")], RuleSettings::default(), [note("foo x"), Turn::text("b")]);
    stage.send(omp_session::Command::Prompt(vec![omp_types::Content::text("hi")].into())).await;
    let mut order = Vec::new();
    stage
        .until_idle(|event| match event {
            SessionEvent::RulesFired(fired) => {
                order.push("fired");
                assert_eq!(
                    fired.wire_rules(),
                    json!([{"name": "r", "path": "r.md", "content": "Never say foo.", "condition": ["foo"],
                        "_source": {"provider": "native", "providerName": "OMP", "path": "r.md", "level": "project"}}])
                );
            }
            SessionEvent::Agent(AgentEvent::MessageEnd { message }) if message.as_assistant().is_some() => {
                order.push("end")
            }
            _ => {}
        })
        .await;
    assert_eq!(order, ["fired", "end", "end"]);
}

#[tokio::test]
async fn what_was_stopped_in_a_call_stays_without_the_call() {
    let settings = RuleSettings { context: ContextMode::Keep, ..RuleSettings::default() };
    let talk = Turn::text("let me see").and_call("note", json!({"text": "foo x"}));
    let mut stage = stage(&[rule("r", "foo")], settings, [talk, Turn::text("better")]);
    let (lines, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["r!"]);
    assert!(!lines.iter().any(|line| line.starts_with("result")), "{lines:?}");
    let sent = shape(&stage.llm.requests()[1]);
    assert_eq!((sent.len(), sent[1].as_str()), (3, "answer let me see"));
    assert!(sent[2].starts_with("<system-interrupt"), "{}", sent[2]);
}

/// This also holds if the rule matches both calls of an answer, or two rules match one call.
#[tokio::test]
async fn each_rule_is_told_with_one_of_the_calls() {
    let settings = RuleSettings { interrupt: InterruptMode::Never, ..RuleSettings::default() };
    let both = note("foo one").and_call("note", json!({"text": "foo bar two"}));
    let mut stage = stage(&[rule("r", "foo"), rule("s", "bar")], settings, [both, Turn::text("done")]);
    let (_, fired) = prompt(&mut stage, "hi").await;
    assert_eq!(fired, ["r", "s"]);
    let sent = shape(&stage.llm.requests()[1]);
    let results: Vec<&String> = sent.iter().filter(|line| line.starts_with("result")).collect();
    let told = |result: &str, name: &str| result.matches(&format!("rule=\"{name}\"")).count();
    let told = |name: &str| results.iter().map(|result| told(result, name)).collect::<Vec<_>>();
    assert_eq!((told("r"), told("s")), (vec![1, 0], vec![0, 1]), "{results:?}");
    assert!(results[0].ends_with("noted foo one") && results[1].ends_with("noted foo bar two"), "{results:?}");
}

/// A rule broken by a failed answer is not delivered and does not count as delivered.
#[tokio::test]
async fn an_answer_that_fails_is_not_answered() {
    let settings = RuleSettings { interrupt: InterruptMode::Never, ..RuleSettings::default() };
    for bad in [words("foo and on "), note("foo and on")] {
        let error = ModelError::new(ErrorKind::Overloaded, "overloaded");
        let failing = Reply::Fail { partial: bad, error };
        let again = note("foo again");
        let replies = [failing, Turn::text("fine").into(), again.into(), Turn::text("done").into()];
        let mut stage = stage(&[rule("r", "foo")], settings.clone(), replies);
        prompt(&mut stage, "hi").await;
        assert_eq!(stage.llm.requests().len(), 2, "the failed answer and its repetition");
        assert!(!stage.entries().iter().any(|entry| entry.contains("ttsr")), "{:?}", stage.entries());
        assert_eq!(prompt(&mut stage, "again").await.1, ["r"]);
        let sent = shape(&stage.llm.requests()[3]);
        assert!(sent.last().unwrap().starts_with("result <system-reminder"), "{sent:?}");
    }
}

/// The message to the model says correctly whether its answer was stopped.
#[tokio::test]
async fn what_the_model_is_told_says_whether_it_was_stopped() {
    for (interrupt, expect) in [(InterruptMode::Always, true), (InterruptMode::Never, false)] {
        let settings = RuleSettings { interrupt, ..RuleSettings::default() };
        let mut stage = stage(&[rule("r", "foo")], settings, [Turn::text("so foo it is"), Turn::text("sorry")]);
        prompt(&mut stage, "hi").await;
        let sent = shape(&stage.llm.requests()[1]);
        let told = sent.last().unwrap();
        assert_eq!(told.contains("was stopped by omp"), expect, "{told}");
        assert_eq!(told.contains("it was not stopped"), !expect, "{told}");
    }
}

#[tokio::test]
async fn a_call_that_breaks_a_rule_in_two_files_is_told_once() {
    let settings = RuleSettings { interrupt: InterruptMode::Never, ..RuleSettings::default() };
    let input = "[a.txt#11]\n1:bar foo\n[b.txt#22]\n1:foo\n[c.txt#33]\n1:bar\n";
    let edit = Turn::call("edit", json!({"input": input}));
    let mut stage = stage(&[rule("r", "foo"), rule("s", "bar")], settings, [edit, Turn::text("done")]);
    prompt(&mut stage, "hi").await;
    let sent = shape(&stage.llm.requests()[1]);
    let result = sent.last().unwrap();
    assert_eq!(result.matches("rule=\"r\"").count(), 1, "{result}");
    assert_eq!(result.matches("rule=\"s\"").count(), 1, "{result}");
}
