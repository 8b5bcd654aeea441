//! Tests of hooks that are not commands: where they are called, and the effect of their replies.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_policy::{ApprovalMode, Policy};
use omp_session::{
    Answer, Command, EndReason, HookPermission, HookPoint, HookReply, HookScene, RunEnd, SessionEvent, SessionHooks,
    StandardFeatures, StartSource,
};
use omp_testkit::{Gate, ScriptedLlm, Turn};
use omp_types::Content;
use serde_json::json;
use tokio::sync::Notify;

use crate::stage::{Stage, hooked};

/// Records every point and gives the configured reply.
struct Spy {
    points: Mutex<Vec<String>>,
    news: Notify,
    patience: Duration,
    answer: Box<dyn Fn(&HookPoint<'_>) -> HookReply + Send + Sync>,
}

impl SessionHooks for Spy {
    fn fire<'a>(&'a self, _: &'a HookScene, point: HookPoint<'a>) -> BoxFuture<'a, HookReply> {
        let name = match &point {
            HookPoint::BeforeCall { call } => format!("before {}", call.name),
            HookPoint::AfterCall { tool, .. } => format!("after {tool}"),
            HookPoint::Prompt { text } => format!("prompt {text}"),
            HookPoint::Stop { held, .. } => format!("stop {held}"),
            HookPoint::Start(source) => format!("start {source:?}"),
            HookPoint::End { reason } => format!("end {reason}"),
            HookPoint::BeforeCompaction { by_hand, .. } => format!("compact {by_hand}"),
            HookPoint::Notification { kind, .. } => format!("notify {kind}"),
        };
        self.points.lock().unwrap().push(name);
        self.news.notify_one();
        let reply = (self.answer)(&point);
        async move { reply }.boxed()
    }

    fn patience(&self) -> Duration {
        self.patience
    }
}

impl Spy {
    fn new(answer: impl Fn(&HookPoint<'_>) -> HookReply + Send + Sync + 'static) -> Self {
        Self {
            points: Mutex::default(),
            news: Notify::new(),
            patience: Duration::from_secs(3600),
            answer: Box::new(answer),
        }
    }

    fn count(&self, name: &str) -> usize {
        self.points.lock().unwrap().iter().filter(|point| *point == name).count()
    }
}

fn stage(
    turns: impl IntoIterator<Item = Turn>,
    policy: Policy,
    answer: impl Fn(&HookPoint<'_>) -> HookReply + Send + Sync + 'static,
) -> (Stage, Arc<Spy>) {
    stage_of(ScriptedLlm::new(turns), policy, answer)
}

fn stage_of(
    llm: ScriptedLlm,
    policy: Policy,
    answer: impl Fn(&HookPoint<'_>) -> HookReply + Send + Sync + 'static,
) -> (Stage, Arc<Spy>) {
    let spy = Arc::new(Spy::new(answer));
    let stage = Stage::with(llm, |options| {
        options.policy = policy;
        options.features = hooked(spy.clone());
    });
    (stage, spy)
}

fn note() -> Turn {
    Turn::call("note", json!({"text": "x"}))
}

#[tokio::test]
async fn every_point_is_told_in_its_order() {
    let (mut stage, spy) = stage([note(), Turn::text("done")], Policy::default(), |_| HookReply::default());
    let (_, end) = stage.prompt("go").await;
    assert_eq!(end, RunEnd::Finished);
    let Stage { session, mut events, .. } = stage;
    drop(session);
    while events.recv().await.is_some() {}
    let expect = ["start Startup", "prompt go", "before note", "after note", "stop false", "end other"];
    assert_eq!(*spy.points.lock().unwrap(), expect);
}

#[tokio::test]
async fn all_sets_are_heard_and_the_strictest_word_counts() {
    let ask = || HookPermission::Ask { reason: "sure?".to_owned() };
    // An "allow" of one set does not override the question of another, in either order.
    for permissions in [[HookPermission::Allow, ask()], [ask(), HookPermission::Allow]] {
        let sets: Vec<Arc<Spy>> = permissions
            .into_iter()
            .enumerate()
            .map(|(number, permission)| {
                Arc::new(Spy::new(move |point| match point {
                    HookPoint::Prompt { .. } => {
                        HookReply { context: vec![format!("set {number}")], ..HookReply::default() }
                    }
                    _ => HookReply { permission: Some(permission.clone()), ..HookReply::default() },
                }))
            })
            .collect();
        let hooks = sets.iter().map(|set| set.clone() as Arc<dyn SessionHooks>).collect();
        let mut stage = Stage::with(ScriptedLlm::new([note(), Turn::text("done")]), |options| {
            options.features = StandardFeatures { hooks, ..StandardFeatures::default() }.list();
        });
        let (lines, _) = stage.prompt("go").await;
        assert!(lines.iter().any(|line| line.contains("`note` was not run")), "{lines:?}");
        let told = format!("{:?}", stage.llm.requests()[0].messages);
        assert!(told.contains("set 0") && told.contains("set 1"), "{told}");
        assert!(sets.iter().all(|set| set.count("before note") == 1));
    }
}

#[tokio::test]
async fn a_call_that_is_refused_has_no_afterwards() {
    let (mut stage, spy) = stage([note(), Turn::text("done")], Policy::default(), |point| HookReply {
        blocked: matches!(point, HookPoint::BeforeCall { .. }).then(|| "no".to_owned()),
        ..HookReply::default()
    });
    let (lines, _) = stage.prompt("go").await;
    assert!(lines.iter().any(|line| line.contains("a hook of the user refused it: no")), "{lines:?}");
    assert!(!spy.points.lock().unwrap().contains(&"after note".to_owned()));
    assert!(stage.entries().contains(&"custom hook_decision".to_owned()), "{:?}", stage.entries());
}

#[tokio::test]
async fn allow_overrules_the_mode_alone() {
    use omp_policy::ToolPolicy::{Deny, Prompt};
    let ask = || Policy { mode: ApprovalMode::AskAll, ..Policy::default() };
    let rule = |rule| Policy { tools: [("note".to_owned(), rule)].into(), ..ask() };
    for (policy, expect) in [
        (ask(), "result: noted x"),
        (rule(Prompt), "result (error): `note` was not run: it needs the user's approval"),
        (rule(Deny), "result (error): `note` was not run: the setting"),
    ] {
        let (mut stage, _) = stage([note(), Turn::text("done")], policy, |_| HookReply {
            permission: Some(HookPermission::Allow),
            ..HookReply::default()
        });
        let (lines, _) = stage.prompt("go").await;
        assert!(lines.iter().any(|line| line.starts_with(expect)), "{expect}: {lines:?}");
    }
}

#[tokio::test]
async fn context_of_a_call_comes_with_its_result_and_changes_are_noted() {
    let (mut stage, _) = stage([note(), Turn::text("done")], Policy::default(), |point| match point {
        HookPoint::BeforeCall { .. } => HookReply {
            context: vec!["mind the gap".to_owned()],
            amended: Some(json!({"text": "y"})),
            ..HookReply::default()
        },
        _ => HookReply::default(),
    });
    let (lines, _) = stage.prompt("go").await;
    let result = lines.iter().find(|line| line.starts_with("result")).unwrap();
    assert!(result.contains("noted y") && result.contains("mind the gap"), "{result}");
    let text = std::fs::read_to_string(&stage.file).unwrap();
    assert!(text.contains(r#""decision":"amended""#) && text.contains(r#"{"text":"y"}"#), "{text}");
}

#[tokio::test]
async fn messages_that_come_during_a_run_are_judged_too() {
    let gate = Gate::new();
    let llm = ScriptedLlm::new([note(), Turn::text("one"), Turn::text("two")]).gated(&gate);
    let (mut stage, spy) = stage_of(llm, Policy::default(), |point| HookReply {
        blocked: matches!(point, HookPoint::Prompt { text: "bad" }).then(|| "bad word".to_owned()),
        ..HookReply::default()
    });
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    gate.blocked().await;
    stage.send(Command::FollowUp(vec![Content::text("bad")].into())).await;
    stage.send(Command::FollowUp(vec![Content::text("good")].into())).await;
    stage.session.until(|now| now.queued == 2).await.unwrap();
    gate.open();
    let mut notices = Vec::new();
    let (lines, end) = stage
        .until_idle(|event| {
            if let SessionEvent::Notice { text, .. } = event {
                notices.push(text.clone());
            }
        })
        .await;
    assert_eq!(end, RunEnd::Finished);
    assert!(notices.iter().any(|text| text.contains("bad word")), "{notices:?} {lines:?}");
    let points = spy.points.lock().unwrap().clone();
    assert!(points.contains(&"prompt bad".to_owned()), "{points:?}");
    let kept = std::fs::read_to_string(&stage.file).unwrap();
    assert!(!kept.contains("\"bad\"") && kept.contains("\"good\""), "{kept}");
    assert_eq!(stage.llm.requests().len(), 3, "{lines:?}");
}

#[tokio::test]
async fn a_compaction_can_be_refused() {
    let (mut stage, spy) = stage([Turn::text("done")], Policy::default(), |point| HookReply {
        blocked: matches!(point, HookPoint::BeforeCompaction { .. }).then(|| "not now".to_owned()),
        ..HookReply::default()
    });
    stage.prompt("go").await;
    let told = stage.session.compact(None).await.unwrap_err();
    assert!(told.contains("a hook refused it: not now"), "{told}");
    assert!(spy.points.lock().unwrap().contains(&"compact true".to_owned()));
}

#[tokio::test]
async fn a_user_who_says_nothing_is_waited_for_once_a_prompt() {
    let spy = Arc::new(Spy { patience: Duration::from_millis(1), ..Spy::new(|_| HookReply::default()) });
    for attended in [false, true] {
        let mut stage = Stage::with(ScriptedLlm::new([Turn::text("one"), Turn::text("two")]), |options| {
            options.attended = attended;
            options.features = hooked(spy.clone());
        });
        for prompt in 1..=2 {
            stage.prompt("go").await;
            while attended && spy.count("notify idle_prompt") < prompt {
                spy.news.notified().await;
            }
        }
        let Stage { session, mut events, .. } = stage;
        session.ends_by(EndReason::Exit);
        drop(session);
        while events.recv().await.is_some() {}
        assert_eq!(spy.count("notify idle_prompt"), if attended { 2 } else { 0 });
    }
    assert_eq!(spy.count("end prompt_input_exit"), 2);
}

#[tokio::test]
async fn a_question_of_a_tool_is_told() {
    let question = json!({"id": "color", "question": "Which?", "options": [{"label": "red"}, {"label": "blue"}]});
    let script = ScriptedLlm::new([Turn::call("ask", json!({"questions": [question]})), Turn::text("done")]);
    let spy = Arc::new(Spy::new(|_| HookReply::default()));
    let mut stage = Stage::with(script, |options| {
        options.tools = vec![Arc::new(omp_tools::Ask { timeout: None })];
        options.attended = true;
        options.features = hooked(spy.clone());
    });
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let session = stage.session.clone();
    stage
        .until_idle(|event| {
            let SessionEvent::Question(question) = event else { return };
            let (session, id) = (session.clone(), question.id);
            tokio::spawn(async move { session.send(Command::Answer { id, answer: Answer::Text("red".into()) }).await });
        })
        .await;
    assert_eq!(spy.count("notify elicitation_dialog"), 1);
}

#[tokio::test]
async fn an_output_is_replaced_and_noted() {
    let (mut stage, _) = stage([note(), Turn::text("done")], Policy::default(), |point| HookReply {
        output: matches!(point, HookPoint::AfterCall { .. }).then(|| "[removed]".to_owned()),
        context: vec!["mind the gap".to_owned()],
        ..HookReply::default()
    });
    let (lines, _) = stage.prompt("go").await;
    let result = lines.iter().find(|line| line.starts_with("result")).unwrap();
    assert!(result.contains("[removed]") && result.contains("mind the gap"), "{result}");
    assert!(!result.contains("noted"), "{result}");
    let text = std::fs::read_to_string(&stage.file).unwrap();
    assert!(text.contains(r#""decision":"output replaced""#) && !text.contains("noted x"), "{text}");
}

#[tokio::test]
async fn what_a_hook_tells_a_model_that_stops_is_answered() {
    let turns = [Turn::text("done"), Turn::text("seen")];
    let (mut stage, spy) = stage(turns, Policy::default(), |point| HookReply {
        context: match point {
            HookPoint::Stop { held: false, .. } => vec!["the tests fail".to_owned()],
            _ => Vec::new(),
        },
        ..HookReply::default()
    });
    let (lines, _) = stage.prompt("go").await;
    assert!(lines.iter().any(|line| line.contains("seen")), "{lines:?}");
    let stops =
        spy.points.lock().unwrap().iter().filter(|point| point.starts_with("stop")).cloned().collect::<Vec<_>>();
    assert_eq!(stops, ["stop false", "stop true"]);
}

/// Delays the start of a session.
#[derive(Default)]
struct Slow {
    go: Notify,
    is_done: std::sync::atomic::AtomicBool,
}

impl SessionHooks for Slow {
    fn fire<'a>(&'a self, _: &'a HookScene, point: HookPoint<'a>) -> BoxFuture<'a, HookReply> {
        async move {
            if matches!(point, HookPoint::Start(_)) {
                self.go.notified().await;
                self.is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            }
            HookReply::default()
        }
        .boxed()
    }
}

#[tokio::test]
async fn a_compaction_waits_for_the_hooks_of_the_start() {
    let slow = Arc::new(Slow::default());
    let stage = Stage::with(ScriptedLlm::new([Turn::text("done")]), |options| {
        options.features = hooked(slow.clone());
        options.begun = StartSource::Resume;
    });
    let released = async {
        // Commands are handled in order, so this one shows that the compaction was heard of.
        stage.send(Command::SetAutoRetry(false)).await;
        stage.session.until(|now| !now.auto_retry).await.unwrap();
        slow.go.notify_one();
    };
    let (compacted, ()) = tokio::join!(stage.session.compact(None), released);
    assert!(compacted.is_err(), "there is nothing to compact");
    assert!(slow.is_done.load(std::sync::atomic::Ordering::Relaxed), "the hooks were ended");
}
