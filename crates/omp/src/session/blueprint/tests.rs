//! Sub-sessions created from the blueprint of a running session.

use std::path::{Path, PathBuf};

use omp_agent::{AnyTool, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_session::view::{Status, View};
use omp_session::{Command, Prompt, SessionEvent, SessionHost};
use omp_testkit::{MockProvider, Script, Server, TempWorkspace, Turn, Wire};
use omp_types::text_of;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::session::host::Host;

/// A workspace with a provider that answers from a script.
struct Stage {
    workspace: TempWorkspace,
    server: Server,
}

impl Stage {
    async fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let server = Server::start(Script::new(turns)).await.unwrap();
        let workspace = TempWorkspace::new(&[("AGENTS.md", "The project speaks.")]).unwrap();
        workspace.write_provider(&MockProvider::new(&server.base_url(), Wire::Completions.api())).unwrap();
        workspace.write_config_yml("containment:\n  mode: workspace-write\n").unwrap();
        Self { workspace, server }
    }

    fn args(&self) -> RunArgs {
        let mut args = RunArgs { cwd: Some(self.workspace.project()), ..RunArgs::default() };
        args.model.model = Some("mock/mock-model".to_owned());
        args.tools.auto_approve = true;
        args
    }

    async fn open(&self, args: RunArgs) -> OpenSession {
        let setup = FolderSetup::new(&args, &self.workspace.env_snapshot()).unwrap();
        Host::new(args, &setup, false).open(Wish::New { cwd: None, parent: None }).await.unwrap()
    }

    fn request(&self, index: usize) -> Value {
        self.server.model_requests()[index].json().unwrap()
    }
}

/// Sends a prompt, waits for the end of the run, and returns the messages of the session.
async fn ask(opened: &OpenSession, text: &str) -> Vec<Arc<Message>> {
    let mut events = opened.session.events();
    opened.session.send(Command::Prompt(Prompt::text(text))).await.unwrap();
    while !matches!(events.recv().await.unwrap(), SessionEvent::Idle { .. }) {}
    opened.session.messages().to_vec()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    found.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect()
}

fn tool_names(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_second_session_has_its_own_file_model_tools_and_prompt_and_the_same_containment() {
    let stage = Stage::new([
        Turn::text("first answer"),
        Turn::call("write", json!({"path": "~/outside.txt", "content": "no"}))
            .and_call("write", json!({"path": "inside.txt", "content": "yes"})),
        Turn::text("helper answer"),
        Turn::text("second answer"),
    ])
    .await;
    let parent = stage.open(stage.args()).await;
    ask(&parent, "begin").await;
    let parent_file = parent.session.snapshot().file.clone().unwrap();
    let kept_in = stage.workspace.path("helpers");
    let wanted = SubSession {
        thinking: Some(ThinkingLevel::Low),
        tools: Some(vec!["write".to_owned()]),
        system_prompt: Some("You are the helper.".to_owned()),
        kept_in: Some(kept_in.clone()),
        parent: Some(parent_file.display().to_string()),
        ..SubSession::default()
    };
    let helper = parent.factory.clone().unwrap().make(wanted).await.unwrap();
    let said = ask(&helper, "help").await;

    assert_eq!(helper.safeguards, parent.safeguards, "the same containment");
    let results: Vec<(bool, String)> = said
        .iter()
        .filter_map(|message| match &**message {
            Message::ToolResult(result) => Some((result.is_error, text_of(&result.content))),
            _ => None,
        })
        .collect();
    assert_eq!(results.iter().map(|(failed, _)| *failed).collect::<Vec<_>>(), [true, false], "{results:?}");
    assert!(
        !stage.workspace.home().join("outside.txt").exists() && stage.workspace.read("inside.txt").unwrap() == "yes"
    );

    let (first, second) = (stage.request(0), stage.request(1));
    assert!(tool_names(&first).len() > 1 && tool_names(&second) == ["write"]);
    let system = second["messages"][0].to_string();
    assert!(system.contains("You are the helper.") && !first["messages"][0].to_string().contains("the helper"));
    assert!(system.contains("The project speaks."), "the folder was read for both: {system}");
    assert_eq!(
        (helper.session.snapshot().thinking, parent.session.snapshot().thinking),
        (ThinkingLevel::Low, ThinkingLevel::High)
    );

    let [file] = &files_in(&kept_in)[..] else { panic!("{:?}", files_in(&kept_in)) };
    assert_eq!(helper.session.snapshot().file.as_ref(), Some(file));
    let told = std::fs::read_to_string(file).unwrap();
    assert!(told.contains("helper answer") && told.lines().nth(1).unwrap().contains("parentSession"), "{told}");
    assert_eq!(
        stage.workspace.session_files().unwrap(),
        std::slice::from_ref(&parent_file),
        "the folder's own list is left alone"
    );

    let said = ask(&parent, "go on").await;
    assert_eq!(said.len(), 4, "the first session knows nothing of the second: {said:?}");
    assert!(!std::fs::read_to_string(parent_file).unwrap().contains("helper answer"));
}

#[tokio::test]
async fn a_further_session_is_kept_nowhere_unless_it_is_asked_for() {
    let stage = Stage::new([Turn::text("unheard")]).await;
    let parent = stage.open(stage.args()).await;
    let helper = parent.factory.unwrap().make(SubSession::default()).await.unwrap();
    ask(&helper, "help").await;
    assert_eq!(helper.session.snapshot().file, None);
    assert!(stage.workspace.session_files().unwrap().is_empty());
}

#[tokio::test]
async fn a_further_session_gets_no_tool_that_the_run_does_not_offer() {
    let stage = Stage::new([]).await;
    let mut args = stage.args();
    args.tools.tools = vec!["read".to_owned()];
    let factory = stage.open(args).await.factory.unwrap();
    let with = |names: &[&str]| SubSession {
        tools: Some(names.iter().map(|name| (*name).to_owned()).collect()),
        ..SubSession::default()
    };
    let refused = factory.make(with(&["read", "bash"])).await.err().unwrap();
    assert!(refused.contains("the tool `bash` is not offered in this run\nhint:"), "{refused}");
    let names =
        |opened: &OpenSession| opened.session.tools().specs().iter().map(|spec| spec.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&factory.make(with(&["read"])).await.unwrap()), ["read"]);
    assert!(names(&factory.make(with(&[])).await.unwrap()).is_empty());
    let mut args = stage.args();
    args.tools.no_tools = true;
    let factory = stage.open(args).await.factory.unwrap();
    assert!(names(&factory.make(with(&["read"])).await.unwrap()).is_empty());
}

/// A tool that asks a sub-session. It needs nothing but the factory.
struct Delegate {
    factory: Arc<dyn SessionFactory>,
}

#[derive(Deserialize, JsonSchema)]
struct DelegateParams {
    /// What to do.
    task: String,
}

impl Tool for Delegate {
    type Params = DelegateParams;
    type Plan = DelegateParams;
    type Details = ();
    const NAME: &'static str = "delegate";
    const PROMPT: &'static str = "Has another agent do a task.";

    fn plan(&self, params: DelegateParams) -> Planned<DelegateParams> {
        Planned::new(Tier::Read, params)
    }

    async fn run(&self, params: DelegateParams, _: &ToolCx) -> Result<Output<()>, ToolError> {
        let wanted = SubSession { tools: Some(vec!["read".to_owned()]), ..SubSession::default() };
        let helper = self.factory.make(wanted).await.map_err(ToolError::reply)?;
        let answer = ask(&helper, &params.task).await.last().and_then(|message| Some(message.as_assistant()?.text()));
        Ok(Output::text(answer.unwrap_or_default(), ()))
    }

    fn render(params: &DelegateParams, _: Outcome<&()>) -> View {
        View::new(&params.task, Status::Done)
    }
}

#[tokio::test]
async fn a_tool_can_hold_the_factory() {
    let script = [
        Turn::call("delegate", json!({"task": "count the files"})),
        Turn::text("There is one file."),
        Turn::text("done"),
    ];
    let stage = Stage::new(script).await;
    let parent = stage.open(stage.args()).await;
    let tool: Arc<dyn AnyTool> = Arc::new(Delegate { factory: parent.factory.clone().unwrap() });
    parent.session.send(Command::SetTools { source: "agents".to_owned(), tools: vec![tool] }).await.unwrap();
    let said = ask(&parent, "begin").await;
    let Message::ToolResult(result) = &*said[2] else { panic!("{said:?}") };
    assert_eq!((result.is_error, text_of(&result.content).as_str()), (false, "There is one file."));
    assert_eq!(tool_names(&stage.request(1)), ["read"], "the request of the sub-session");
}
