//! Tests that every run ends in exactly one terminal `AgentEnd`: a table of cases, and random combinations.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::{AnyTool, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_compaction::CompactionStrategy;
use omp_policy::{ApprovalMode, Policy};
use omp_session::{
    AgentEvent, Command, HookPoint, HookReply, HookScene, RetryPolicy, RunEnd, SessionEvent, SessionHooks,
    SessionOptions,
};
use omp_testkit::{Gate, Reply, ScriptedLlm, Stop, Turn, mock_model};
use omp_types::{Content, ErrorKind, Model, ModelError};
use omp_view::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::oneshot;

use crate::stage::{Stage, hooked};

const KINDS: [ErrorKind; 8] = [
    ErrorKind::Auth,
    ErrorKind::RateLimit,
    ErrorKind::Overloaded,
    ErrorKind::ContextOverflow,
    ErrorKind::BadRequest,
    ErrorKind::Network,
    ErrorKind::Protocol,
    ErrorKind::Refused,
];
/// Longer than any session here takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A tool that fails in the way its arguments say.
struct Wrong;

#[derive(Deserialize, JsonSchema)]
struct How {
    how: String,
}

#[derive(Serialize, Deserialize)]
struct Nothing {}

impl Tool for Wrong {
    type Params = How;
    type Plan = How;
    type Details = Nothing;
    const NAME: &'static str = "wrong";
    const PROMPT: &'static str = "Goes wrong.";

    fn plan(&self, params: How) -> Planned<How> {
        assert!(params.how != "panic when asked about", "a bug in the question");
        Planned::new(Tier::Read, params)
    }

    async fn run(&self, params: How, cx: &ToolCx) -> Result<Output<Nothing>, ToolError> {
        match params.how.as_str() {
            "panic" => panic!("a bug in the tool"),
            "fatal" => Err(ToolError::Fatal("the disk is gone".to_owned())),
            "reply" => Err(ToolError::reply("no")),
            "never" => {
                cx.progress.text("so far\n");
                std::future::pending().await
            }
            "ask" => {
                let asked = cx.questions.clone().expect("somebody is there");
                let answer = asked.ask("which?".to_owned(), vec!["a".to_owned()]).await;
                Ok(Output::text(format!("{answer:?}"), Nothing {}))
            }
            _ => Ok(Output::text("fine", Nothing {})),
        }
    }

    fn render(_params: &How, _outcome: Outcome<&Nothing>) -> View {
        View::default()
    }
}

fn wrong(how: &str) -> Reply {
    Turn::call("wrong", json!({ "how": how })).into()
}

fn fail(kind: ErrorKind) -> Reply {
    Reply::fail(ModelError::new(kind, "no luck"))
}

fn said(text: &str) -> Reply {
    Turn::text(text).into()
}

fn cut_off() -> Reply {
    Turn::text("half an ans").stop(Stop::Length).into()
}

/// About a thousand tokens.
fn much() -> Reply {
    said(&"word ".repeat(940))
}

/// A window that a few answers fill.
fn small(options: &mut SessionOptions) {
    options.model = Arc::new(Model { context_window: 20_000, max_tokens: 2_000, ..mock_model() });
    options.compaction.settings.limits.keep_recent_tokens = 1_010;
    options.compaction.settings.limits.reserve_tokens = 2_000;
}

/// The starts and ends of runs that were reported.
#[derive(Default, Debug)]
struct Ends {
    open: bool,
    starts: u32,
    terminal: u32,
    problems: Vec<String>,
}

impl Ends {
    fn hear(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Agent(AgentEvent::AgentStart) => {
                self.check(!self.open, "a start within a run");
                self.check(self.terminal == 0, "a start after the terminal end");
                self.open = true;
                self.starts += 1;
            }
            SessionEvent::AgentEnd { is_terminal, .. } => {
                self.check(self.open, "an end without a start");
                self.open = false;
                self.terminal += u32::from(*is_terminal);
            }
            // A handoff document is written between runs.
            SessionEvent::Agent(AgentEvent::MessageStart { message } | AgentEvent::MessageEnd { message })
                if message.role() == "custom" => {}
            SessionEvent::Agent(event) => self.check(self.open, &format!("outside of a run: {event:?}")),
            _ => {}
        }
    }

    fn check(&mut self, holds: bool, problem: &str) {
        if !holds {
            self.problems.push(problem.to_owned());
        }
    }

    #[track_caller]
    fn are_right(&self, what: &str) {
        assert!(self.problems.is_empty() && !self.open && self.terminal == 1 && self.starts > 0, "{what}: {self:?}");
    }
}

/// Runs one prompt and checks how its end was reported.
async fn ends_well(stage: &mut Stage, what: &str) -> RunEnd {
    let mut ends = Ends::default();
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let watched = stage.until_idle(|event| ends.hear(event));
    let (_, end) = tokio::time::timeout(LIMIT, watched).await.unwrap_or_else(|_| panic!("{what}: no end: {ends:?}"));
    ends.are_right(what);
    assert!(!stage.session.snapshot().running, "{what}");
    end
}

fn tools(options: &mut SessionOptions) {
    options.tools.push(Arc::new(Wrong) as Arc<dyn AnyTool>);
}

#[tokio::test]
async fn a_short_session_ends_in_every_way() {
    let mut rows: Vec<(String, Vec<Reply>)> = vec![
        ("text".into(), vec![said("done")]),
        ("length".into(), vec![cut_off()]),
        ("length in a call".into(), vec![Turn::call("wrong", json!({"how": ""})).stop(Stop::Length).into(), said("x")]),
        ("refusal".into(), vec![Turn::text("no").stop(Stop::Refusal).into()]),
        ("nothing at all".into(), vec![Turn::default().into()]),
        ("no reply left".into(), vec![]),
        ("turn limit".into(), (0..20).map(|_| wrong("")).collect()),
        ("unknown tool".into(), vec![Turn::call("nothing", json!({})).into(), said("done")]),
    ];
    for how in ["panic", "panic when asked about", "fatal", "reply"] {
        rows.push((how.to_owned(), vec![wrong(how), said("done")]));
    }
    for kind in KINDS {
        rows.push((format!("{kind:?} once"), vec![fail(kind), said("done")]));
        rows.push((format!("{kind:?} always"), (0..9).map(|_| fail(kind)).collect()));
        rows.push((format!("{kind:?} after a call"), vec![wrong(""), fail(kind), cut_off()]));
    }
    for (what, replies) in rows {
        for strategy in [
            CompactionStrategy::ContextFull,
            CompactionStrategy::Off,
            CompactionStrategy::Shake,
            CompactionStrategy::Handoff,
        ] {
            let mut stage = Stage::with(ScriptedLlm::new(replies.clone()), |options| {
                tools(options);
                options.compaction.settings.strategy = strategy;
            });
            ends_well(&mut stage, &format!("{what} with {strategy:?}")).await;
        }
    }
}

#[tokio::test]
async fn nothing_to_compact_is_told_at_once_and_not_tried() {
    for reply in [cut_off(), fail(ErrorKind::ContextOverflow)] {
        let mut stage = Stage::new([reply]);
        let (lines, _) = stage.prompt("go").await;
        let ends: Vec<_> = lines.iter().filter(|line| line.starts_with("end")).collect();
        assert_eq!(ends, ["end (terminal: true)"], "{lines:?}");
        assert_eq!(stage.llm.requests().len(), 1);
    }
}

#[tokio::test]
async fn what_a_compaction_comes_to_ends_the_run_all_the_same() {
    let overflow = || fail(ErrorKind::ContextOverflow);
    for (what, replies) in [
        ("it helps", vec![overflow(), said("SUMMARY"), said("short"), said("done")]),
        ("it helps for a while", vec![overflow(), said("SUMMARY"), said("short"), overflow(), overflow()]),
        ("it fails", vec![overflow(), fail(ErrorKind::Auth), fail(ErrorKind::Auth)]),
        ("it says nothing", vec![overflow(), Turn::default().into(), Turn::default().into()]),
        ("a cut off answer", vec![cut_off(), said("SUMMARY"), said("short"), cut_off(), cut_off()]),
        ("a cut off answer, and it fails", vec![cut_off(), fail(ErrorKind::Auth)]),
    ] {
        let mut stage = Stage::with(ScriptedLlm::new([vec![much(), much(), much()], replies].concat()), small);
        for _ in 0..3 {
            ends_well(&mut stage, "before").await;
        }
        ends_well(&mut stage, what).await;
    }
}

/// Hooks that stop everything they are asked about.
struct Stopping(&'static str);

impl SessionHooks for Stopping {
    fn fire<'a>(&'a self, _: &'a HookScene, point: HookPoint<'a>) -> BoxFuture<'a, HookReply> {
        let stops = match point {
            HookPoint::Prompt { .. } => self.0 == "prompt",
            HookPoint::BeforeCall { .. } => self.0 == "call",
            HookPoint::AfterCall { .. } => self.0 == "result",
            HookPoint::BeforeCompaction { .. } => self.0 == "compaction",
            _ => false,
        };
        let halted = stops.then(|| "enough".to_owned());
        async move { HookReply { halted, ..HookReply::default() } }.boxed()
    }

    fn patience(&self) -> Duration {
        LIMIT
    }
}

#[tokio::test]
async fn hooks_that_stop_the_work_end_the_run() {
    for point in ["prompt", "call", "result", "compaction"] {
        let replies = [vec![much(), much(), wrong("")], vec![fail(ErrorKind::ContextOverflow), said("done")]].concat();
        let mut stage = Stage::with(ScriptedLlm::new(replies), |options| {
            small(options);
            tools(options);
            options.features = hooked(Arc::new(Stopping(point)));
        });
        for _ in 0..3 {
            ends_well(&mut stage, point).await;
        }
    }
}

#[tokio::test]
async fn a_question_that_nobody_answers_ends_with_the_abort() {
    for (policy, how) in [(ApprovalMode::Auto, "ask"), (ApprovalMode::AskAll, ""), (ApprovalMode::Auto, "never")] {
        let mut stage = Stage::with(ScriptedLlm::new([wrong(how), said("done")]), |options| {
            tools(options);
            options.tools.push(Arc::new(crate::approval::Note));
            options.attended = true;
            options.policy = Policy { mode: policy, ..Policy::default() };
        });
        let mut ends = Ends::default();
        stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
        let session = stage.session.clone();
        let (lines, end) = stage
            .until_idle(|event| {
                ends.hear(event);
                let waits =
                    matches!(event, SessionEvent::Question(_) | SessionEvent::Agent(AgentEvent::ToolUpdate { .. }));
                if waits {
                    let session = session.clone();
                    tokio::spawn(async move { session.send(Command::Abort).await.unwrap() });
                }
            })
            .await;
        ends.are_right(how);
        if how == "never" {
            let kept = "result (error): so far\n\nAborted by the user; the output above is what there was until then.";
            assert!(lines.iter().any(|line| line == kept), "{lines:?}");
            assert_eq!(end, RunEnd::Aborted);
        }
    }
}

#[tokio::test]
async fn a_wait_for_a_retry_that_is_given_up_ends_the_run() {
    let patient =
        RetryPolicy { base_delay: Duration::from_secs(3600), max_delay: Duration::MAX, ..RetryPolicy::default() };
    for command in [|| Command::Abort, || Command::AbortRetry] {
        let llm = ScriptedLlm::new([fail(ErrorKind::Overloaded)]);
        let mut stage = Stage::with(llm, |options| options.retry = patient);
        let mut ends = Ends::default();
        stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
        let session = stage.session.clone();
        stage
            .until_idle(|event| {
                ends.hear(event);
                if matches!(event, SessionEvent::RetryStart { .. }) {
                    let session = session.clone();
                    tokio::spawn(async move { session.send(command()).await.unwrap() });
                }
            })
            .await;
        ends.are_right("given up");
    }
}

/// A small random generator with a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

fn random_reply(dice: &mut Dice) -> Reply {
    match dice.roll(9) {
        0 | 1 => much(),
        2 => said("short"),
        3 => cut_off(),
        4 => wrong(["", "panic", "fatal", "reply", "panic when asked about"][dice.roll(5)]),
        5 => Turn::default().into(),
        6 => fail(ErrorKind::ContextOverflow),
        _ => fail(KINDS[dice.roll(KINDS.len())]),
    }
}

/// Random answers and settings, and random times of an abort, a steering message or a requested compaction.
#[tokio::test]
async fn random_runs_end_exactly_once() {
    for seed in 1..=120 {
        let mut dice = Dice(seed);
        let replies: Vec<Reply> = (0..40).map(|_| random_reply(&mut dice)).collect();
        let strategies = [
            CompactionStrategy::ContextFull,
            CompactionStrategy::ContextFull,
            CompactionStrategy::Shake,
            CompactionStrategy::Handoff,
            CompactionStrategy::Off,
        ];
        let strategy = strategies[dice.roll(strategies.len())];
        let gate = Gate::new();
        gate.open();
        let mut stage = Stage::with(ScriptedLlm::new(replies).gated(&gate), |options| {
            small(options);
            tools(options);
            options.compaction.settings.strategy = strategy;
        });
        for number in 0..6 {
            let what = format!("seed {seed}, prompt {number}, {strategy:?}");
            let (moment, command) = (dice.roll(40), dice.roll(4));
            let (mut ends, mut count, mut sent) = (Ends::default(), 0, None);
            stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
            let session = stage.session.clone();
            let watched = stage.until_idle(|event| {
                ends.hear(event);
                count += 1;
                if count == moment {
                    let command = match command {
                        0 => Command::Abort,
                        1 => Command::AbortRetry,
                        2 => Command::Steer(vec![Content::text("turn left")].into()),
                        _ => return,
                    };
                    // The channel has room, since nothing else is sent meanwhile.
                    let session = session.clone();
                    sent = Some(tokio::spawn(async move { session.send(command).await.unwrap() }));
                }
            });
            let done = tokio::time::timeout(LIMIT, watched).await;
            assert!(done.is_ok(), "{what}: no end: {ends:?}");
            ends.are_right(&what);
            if let Some(sent) = sent {
                sent.await.unwrap();
            }
            // A steering message that came too late is a prompt of its own.
            let (reply, mut settled) = oneshot::channel();
            stage.send(Command::Settle(reply)).await;
            loop {
                let mut ends = Ends::default();
                let late = stage.until_idle(|event| ends.hear(event));
                let is_settled = tokio::select! {
                    biased;
                    ended = tokio::time::timeout(LIMIT, late) => ended.map(|_| false),
                    _ = &mut settled => Ok(true),
                };
                if is_settled.unwrap_or_else(|_| panic!("{what}: no late end")) {
                    break;
                }
                ends.are_right(&what);
            }
        }
    }
}
