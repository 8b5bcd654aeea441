//! Tests that the session file records every decision about a call: questions, refusals, approvals and hook decisions.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::{Approval, Effect, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_policy::{ApprovalMode, Policy, RuleLevel, RuleScope, ToolPolicy};
use omp_session::{
    Answer, Command, HookPermission, HookPoint, HookReply, HookScene, QuestionKind, SessionEvent, SessionHooks,
};
use omp_testkit::{ScriptedLlm, Turn};
use omp_types::{Access, AccessMap, Content};
use omp_view::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::stage::{Stage, hooked};

/// Reports the effects that its arguments name.
#[derive(Default)]
struct Claim {
    planned: Arc<AtomicUsize>,
}

#[derive(Deserialize, JsonSchema)]
struct Params {
    #[serde(default)]
    reads: bool,
    #[serde(default)]
    critical: bool,
    path: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Details {}

impl Tool for Claim {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "claim";
    const PROMPT: &'static str = "Claims.";

    fn plan(&self, params: Params) -> Planned<Params> {
        self.planned.fetch_add(1, Ordering::SeqCst);
        let tier = if params.reads { Tier::Read } else { Tier::Exec };
        let approval = Approval {
            reason: params.critical.then(|| "it is dangerous".to_owned()),
            force_prompt: params.critical,
            effects: params.path.clone().map(Effect::Write).into_iter().collect(),
            ..tier.into()
        };
        Planned::new(approval, params)
    }

    async fn run(&self, params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        Ok(Output::text(format!("claimed {:?}", params.path), Details {}))
    }

    fn render(_params: &Params, _outcome: Outcome<&Details>) -> View {
        View::default()
    }
}

/// Gives this reply before every call.
struct Says(HookReply);

impl SessionHooks for Says {
    fn fire<'a>(&'a self, _: &'a HookScene, point: HookPoint<'a>) -> BoxFuture<'a, HookReply> {
        let reply = if matches!(point, HookPoint::BeforeCall { .. }) { self.0.clone() } else { HookReply::default() };
        async move { reply }.boxed()
    }
}

#[derive(Default)]
struct Case {
    policy: Policy,
    arguments: Value,
    /// `None` for an unattended session.
    answer: Option<fn(Vec<String>) -> Answer>,
    hook: Option<HookReply>,
}

/// The decisions in the file. Those of the policy: verdict, source, answer and whether the call ran. Those of a hook: the
/// decision.
async fn decided(case: Case) -> Vec<String> {
    let llm = ScriptedLlm::new([Turn::call("claim", case.arguments), Turn::text("done")]);
    let attended = case.answer.is_some();
    let mut stage = Stage::with(llm, |options| {
        options.tools = vec![Arc::new(Claim::default())];
        options.policy = case.policy;
        options.attended = attended;
        options.access = Access::new(AccessMap { workspace: "/w".into(), ..AccessMap::default() });
        if let Some(reply) = case.hook {
            options.features = hooked(Arc::new(Says(reply)));
        }
    });
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let session = stage.session.clone();
    stage
        .until_idle(move |event| {
            let (SessionEvent::Question(question), Some(answer)) = (event, case.answer) else { return };
            let QuestionKind::Approve { details, .. } = &question.kind else { return };
            let offered: Vec<String> = details.offers.iter().flat_map(|offer| offer.rules.clone()).collect();
            let (session, id, answer) = (session.clone(), question.id, answer(offered));
            tokio::spawn(async move { session.send(Command::Answer { id, answer }).await.unwrap() });
        })
        .await;
    let text = std::fs::read_to_string(&stage.file).unwrap();
    let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.filter_map(|entry| told(&entry)).collect()
}

fn told(entry: &Value) -> Option<String> {
    let (data, text) = (&entry["data"], |value: &Value| value.as_str().unwrap_or("-").to_owned());
    match entry["customType"].as_str()? {
        "approval_decision" => {
            assert_eq!(data["tool"], "claim");
            assert!(data["callId"].is_string());
            let ran = if data["ran"] == true { "ran" } else { "not run" };
            Some(format!("{} by {}, {}, {ran}", text(&data["verdict"]), text(&data["by"]), text(&data["answer"])))
        }
        "hook_decision" => Some(format!("hook {}", text(&data["decision"]))),
        _ => None,
    }
}

fn ask() -> Policy {
    Policy { mode: ApprovalMode::AskAll, ..Policy::default() }
}

fn rule(rule: ToolPolicy) -> Policy {
    Policy { tools: [("claim".to_owned(), rule)].into(), ..Policy::default() }
}

#[track_caller]
fn check(case: Case, expect: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(runtime.block_on(decided(case)), expect);
}

#[test]
fn of_the_policy_and_of_whoever_is_asked() {
    let call = || json!({});
    let yes: fn(Vec<String>) -> Answer = |_| Answer::Yes;
    let no: fn(Vec<String>) -> Answer = |_| Answer::No;
    let words: fn(Vec<String>) -> Answer = |_| Answer::Text("use b".into());
    for (policy, arguments, answer, expect) in [
        (Policy::default(), call(), None, "run by tools.approvalMode auto, -, ran"),
        (ask(), call(), None, "ask by tools.approvalMode ask-all, nobody to ask, not run"),
        (ask(), call(), Some(yes), "ask by tools.approvalMode ask-all, yes, ran"),
        (ask(), call(), Some(no), "ask by tools.approvalMode ask-all, no, not run"),
        (ask(), call(), Some(words), "ask by tools.approvalMode ask-all, no: use b, not run"),
        (rule(ToolPolicy::Deny), call(), None, "deny by tools.approval.claim, -, not run"),
        (rule(ToolPolicy::Prompt), call(), Some(yes), "ask by tools.approval.claim, yes, ran"),
        (rule(ToolPolicy::Allow), call(), None, "run by tools.approval.claim, -, ran"),
        (rule(ToolPolicy::Allow), json!({"reads": true}), None, "run by tools.approval.claim, -, ran"),
        (Policy::default(), json!({"critical": true}), Some(yes), "ask by critical, yes, ran"),
        (Policy::default(), json!({"critical": true}), None, "ask by critical, nobody to ask, not run"),
    ] {
        check(Case { policy, arguments, answer, hook: None }, &[expect]);
    }
    // Every mode allows reading, so no decision is recorded.
    check(Case { policy: ask(), arguments: json!({"reads": true}), ..Case::default() }, &[]);
}

#[test]
fn of_containment_once_and_always() {
    let outside = || json!({"path": "/srv/x"});
    let once: fn(Vec<String>) -> Answer = |_| Answer::Yes;
    let always: fn(Vec<String>) -> Answer =
        |rules| Answer::Always { level: RuleLevel::Allow, rules, scope: RuleScope::User };
    for (answer, expect) in [
        (Some(once), "ask by containment, yes, ran"),
        (Some(always), "ask by containment, always allow: write to /srv/x, ran"),
        (None, "ask by containment, nobody to ask, not run"),
    ] {
        check(Case { arguments: outside(), answer, ..Case::default() }, &[expect]);
    }
}

#[test]
fn of_hooks() {
    let none = HookReply::default;
    let look = || Some(HookPermission::Ask { reason: "look".into() });
    let run = "run by tools.approvalMode auto, -, ran";
    for (policy, hook, expect) in [
        (Policy::default(), HookReply { blocked: Some("no".into()), ..none() }, &["hook blocked"][..]),
        (Policy::default(), HookReply { halted: Some("enough".into()), ..none() }, &["hook stopped"]),
        (Policy::default(), HookReply { amended: Some(json!({"path": "/w/a"})), ..none() }, &["hook amended", run]),
        (Policy::default(), HookReply { amended: Some(json!({"reads": 7})), ..none() }, &["hook refused"]),
        (Policy::default(), HookReply { permission: look(), ..none() }, &["ask by a hook, nobody to ask, not run"]),
        (ask(), HookReply { permission: Some(HookPermission::Allow), ..none() }, &["run by a hook, -, ran"]),
        // The amended call is checked again: by the map, by the rules, and for being critical.
        (
            Policy::default(),
            HookReply { amended: Some(json!({"path": "/srv/x"})), ..none() },
            &["hook amended", "ask by containment, nobody to ask, not run"],
        ),
        (
            Policy::default(),
            HookReply { amended: Some(json!({"critical": true})), permission: Some(HookPermission::Allow), ..none() },
            &["hook amended", "ask by critical, nobody to ask, not run"],
        ),
    ] {
        check(Case { policy, arguments: json!({}), answer: None, hook: Some(hook) }, expect);
    }
}

#[tokio::test]
async fn an_amended_call_is_planned_once_judged_and_run_as_amended() {
    let amended = HookReply { amended: Some(json!({"path": "/w/amended"})), ..HookReply::default() };
    let claim = Claim::default();
    let planned = claim.planned.clone();
    let llm = ScriptedLlm::new([Turn::call("claim", json!({"path": "/srv/typed"})), Turn::text("done")]);
    let mut stage = Stage::with(llm, |options| {
        options.tools = vec![Arc::new(claim)];
        options.access = Access::new(AccessMap { workspace: "/w".into(), ..AccessMap::default() });
        options.features = hooked(Arc::new(Says(amended)));
    });
    let (lines, _) = stage.prompt("go").await;
    assert!(lines.iter().any(|line| line == "result: claimed Some(\"/w/amended\")"), "{lines:?}");
    let decided = stage.session.decisions().pop().unwrap();
    assert_eq!((decided.effects, decided.ran), (vec!["writes: /w/amended".to_owned()], true));
    assert_eq!(planned.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_mode_that_the_user_chooses_is_noted() {
    let mut stage = Stage::new([Turn::text("one"), Turn::text("two")]);
    stage.prompt("go").await;
    for mode in [ApprovalMode::AskAll, ApprovalMode::AskAll] {
        stage.send(Command::SetApprovalMode(mode)).await;
    }
    stage.prompt("go on").await;
    let noted = stage.entries().iter().filter(|entry| *entry == "custom approval_mode_change").count();
    assert_eq!(noted, 1, "{:?}", stage.entries());
}
