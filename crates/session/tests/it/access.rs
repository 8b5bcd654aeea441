//! Tests of calls that need more access than the session's map allows.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use omp_agent::{Approval, Effect, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError, ToolOutput};
use omp_policy::{RuleLevel, RuleScope};
use omp_session::{Answer, Command, QuestionKind, RuleKeeper, SessionEvent};
use omp_testkit::{ScriptedLlm, Turn};
use omp_types::{Access, AccessMap, Content, Touch};
use omp_view::{View, ViewFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::stage::Stage;

/// Reports whether it could write.
struct Put(Access);

#[derive(Deserialize, JsonSchema)]
struct Params {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Details {}

impl Tool for Put {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "put";
    const PROMPT: &'static str = "Puts it there.";

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(Approval { effects: vec![Effect::Write(params.path.clone())], ..Tier::Write.into() }, params)
    }

    async fn run(&self, params: Params, cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        if params.path.ends_with("slow") {
            cx.progress.update(ToolOutput::default());
            cx.cancel.cancelled().await;
        }
        let may = self.0.map_of(&cx.call_id).allows(Touch::Write, &params.path).is_ok();
        Ok(Output::text(format!("put: {may}"), Details {}))
    }

    fn render(params: &Params, _outcome: Outcome<&Details>) -> View {
        let path = params.path.display().to_string();
        View { command: Some(format!("put {path}")), ..View::default() }.files([ViewFile::new(path)])
    }
}

/// Records the rules and settings it is given.
#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl RuleKeeper for Kept {
    fn keep(&self, level: RuleLevel, rule: &str) -> Result<(), String> {
        self.0.lock().unwrap().push(format!("{} {rule}", level.as_str()));
        Ok(())
    }

    fn keep_here(&self, rule: &str) -> Result<(), String> {
        self.0.lock().unwrap().push(format!("here {rule}"));
        Ok(())
    }

    fn forget(&self, _level: RuleLevel, _rule: &str) -> Result<bool, String> {
        Ok(false)
    }

    fn keep_listed(&self, setting: &'static str, value: &str) -> Result<(), String> {
        self.0.lock().unwrap().push(format!("{setting} {value}"));
        Ok(())
    }
}

struct Ran {
    asked: Vec<String>,
    results: Vec<String>,
    kept: Vec<String>,
    access: Access,
}

/// Runs two calls for the same path in yolo mode.
async fn ran(path: &str, attended: bool, answer: fn(Vec<String>) -> Answer) -> Ran {
    let map = AccessMap { workspace: "/w".into(), hidden: vec!["/users/u/.ssh".into()], ..AccessMap::default() };
    let access = Access::new(map);
    let tool = Put(access.clone());
    let call = || Turn::call("put", json!({"path": path}));
    let kept = Arc::new(Kept::default());
    let mut stage = Stage::with(ScriptedLlm::new([call(), call(), Turn::text("done")]), |options| {
        options.tools = vec![Arc::new(tool)];
        options.attended = attended;
        options.rule_keeper = Some(kept.clone());
        options.access = access.clone();
    });
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let (session, mut asked) = (stage.session.clone(), Vec::new());
    let (lines, _) = stage
        .until_idle(|event| {
            let SessionEvent::Question(question) = event else { return };
            let QuestionKind::Approve { reason, details, .. } = &question.kind else { return };
            assert_eq!(details.command, Some(format!("put {path}")));
            assert_eq!((&details.files, &details.denied), (&vec![path.into()], &vec![Effect::Write(path.into())]));
            let offered: Vec<String> = details.offers.iter().flat_map(|offer| offer.rules.clone()).collect();
            asked.push(format!("{} {offered:?}", reason.as_deref().unwrap_or("-")));
            let (session, id, answer) = (session.clone(), question.id, answer(offered));
            tokio::spawn(async move { session.send(Command::Answer { id, answer }).await.unwrap() });
        })
        .await;
    let results = lines.into_iter().filter(|line| line.starts_with("result")).collect();
    let kept = kept.0.lock().unwrap().clone();
    Ran { asked, results, kept, access }
}

const OUTSIDE: &str = r#"write to /srv/x (outside the workspace) ["write to /srv/x"]"#;

#[tokio::test]
async fn once_is_for_one_call_and_is_taken_back() {
    let ran = ran("/srv/x", true, |_| Answer::Yes).await;
    assert_eq!(ran.asked, [OUTSIDE, OUTSIDE]);
    assert_eq!(ran.results, ["result: put: true", "result: put: true"]);
    assert!(ran.kept.is_empty() && ran.access.check(Touch::Write, Path::new("/srv/x")).is_err());
}

#[tokio::test]
async fn always_is_kept_and_asks_no_more() {
    let ran =
        ran("/srv/x", true, |rules| Answer::Always { level: RuleLevel::Allow, rules, scope: RuleScope::User }).await;
    assert_eq!((ran.asked, ran.kept), (vec![OUTSIDE.to_owned()], vec!["containment.writable /srv/x".to_owned()]));
    assert_eq!(ran.results, ["result: put: true", "result: put: true"]);
    let now = |path: &str| ran.access.check(Touch::Write, Path::new(path)).is_ok();
    assert!(now("/srv/x") && !now("/srv/y"));
}

#[tokio::test]
async fn never_is_a_rule_and_no_is_no() {
    let denied =
        ran("/srv/x", true, |rules| Answer::Always { level: RuleLevel::Deny, rules, scope: RuleScope::User }).await;
    assert_eq!((denied.asked.len(), denied.kept), (1, vec!["deny write(/srv/x)".to_owned()]));
    assert!(denied.results[1].contains("the user rule `write(/srv/x)` denies it"), "{:?}", denied.results);
    let refused = ran("/srv/x", true, |_| Answer::No).await;
    assert_eq!(refused.results, ["result (error): The user refused this call."; 2]);
}

#[tokio::test]
async fn credentials_are_never_opened_for_always() {
    let hidden = ran("/users/u/.ssh/id", true, |_| Answer::Yes).await;
    let question = "write to /users/u/.ssh/id (hidden from the model) []";
    assert_eq!(hidden.asked, [question, question]);
    assert_eq!(hidden.results, ["result: put: true", "result: put: true"]);
    assert!(hidden.access.check(Touch::Read, Path::new("/users/u/.ssh/id")).is_err());
}

#[tokio::test]
async fn where_nobody_is_it_is_refused_with_a_way_out() {
    let ran = ran("/srv/x", false, |_| Answer::No).await;
    assert!(ran.asked.is_empty());
    let told = &ran.results[0];
    assert!(told.contains("`put` was not run: it would write to /srv/x (outside the workspace)"), "{told}");
    let hint = "hint: only the user can allow it: `containment.writable: [/srv/x]` in config.yml allows it";
    assert!(told.contains(hint) && !told.contains("is asked"), "{told}");
}

#[tokio::test]
async fn what_was_lent_ends_with_an_abort() {
    let access = Access::new(AccessMap { workspace: "/w".into(), ..AccessMap::default() });
    let tool = Put(access.clone());
    let mut stage = Stage::with(ScriptedLlm::new([Turn::call("put", json!({"path": "/srv/slow"}))]), |options| {
        options.tools = vec![Arc::new(tool)];
        options.attended = true;
        options.access = access.clone();
    });
    stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
    let session = stage.session.clone();
    let mut lent = false;
    let watched = access.clone();
    stage
        .until_idle(|event| {
            let command = match event {
                SessionEvent::Question(question) => Command::Answer { id: question.id, answer: Answer::Yes },
                SessionEvent::Agent(omp_session::AgentEvent::ToolUpdate { call_id, .. }) => {
                    lent = watched.map_of(call_id).allows(Touch::Write, Path::new("/srv/slow")).is_ok();
                    Command::Abort
                }
                _ => return,
            };
            let session = session.clone();
            tokio::spawn(async move { session.send(command).await.unwrap() });
        })
        .await;
    assert!(lent && access.check(Touch::Write, Path::new("/srv/slow")).is_err());
}
