//! Snapshots what the model sees before the first answer, for each preset, and counts its tokens. It is taken from the
//! request that a real session sends.

use std::sync::Arc;

use omp_agent::Tool;
use omp_config::{ContextFile, Level};
use omp_session::{
    Command, Environment, FolderTree, GitState, NamedText, Opening, PromptListItem, PromptParts, Recorder, Replacement,
    Session, SessionEvent, SessionOptions, SystemPrompt,
};
use omp_testkit::{ScriptedLlm, Turn, mock_model};
use omp_tools::{Bash, Find, HashlineEdit, Read, Search, ToolOptions, Toolbox, Write};
use omp_types::{CommandScreen, CommandScreens, Content, Editor, Model, Request, ScreenFuture, ToolSpec, text_of};

/// The token limit for the default prompt with all its tools.
const MAX_TOKENS: usize = 6000;
/// The token limit with only the essential tools.
const MAX_BASIC_TOKENS: usize = 4000;
/// The token limit for the text that small models get.
const MAX_SHORT_TOKENS: usize = 400;
const BASIC: [&str; 6] = [Read::NAME, Search::NAME, Find::NAME, HashlineEdit::NAME, Write::NAME, Bash::NAME];

struct Preset {
    parts: PromptParts,
    opening: Opening,
    window: u64,
    plans: bool,
    /// Commands can have a terminal.
    screen: bool,
}

impl Default for Preset {
    fn default() -> Self {
        let environment = Environment {
            cwd: "/project".into(),
            os: "linux".into(),
            shell: Some("bash".into()),
            began: Some("2026-01-31".into()),
        };
        let parts = PromptParts { environment, ..PromptParts::default() };
        Self { parts, opening: Opening::default(), window: 200_000, plans: false, screen: false }
    }
}

struct NoScreen;

impl CommandScreens for NoScreen {
    fn open<'a>(&'a self, _: &'a str) -> ScreenFuture<'a, Box<dyn CommandScreen>> {
        Box::pin(std::future::pending())
    }
}

/// Returns the first request of a session.
async fn first_request(preset: Preset) -> Request {
    let llm = Arc::new(ScriptedLlm::new([Turn::text("Done.")]));
    let model = Arc::new(Model { context_window: preset.window, ..mock_model() });
    let screens = preset.screen.then(|| Arc::new(NoScreen) as Arc<dyn CommandScreens>);
    let toolbox = Toolbox {
        options: ToolOptions::default(),
        editor: Editor { screens, ..Editor::default() },
        ..Toolbox::uncontained("/project".into(), "/home/user".into(), model.clone())
    };
    let opening = preset.opening;
    let recorder = Recorder::nowhere("/project".as_ref());
    let (session, actor) = Session::open(SessionOptions {
        tools: toolbox.tools(),
        system: SystemPrompt::new(&preset.parts).unwrap(),
        max_turns: 1,
        look_around: Some(Arc::new(move || opening.clone())),
        ..SessionOptions::new(llm.clone(), model, recorder)
    });
    if preset.plans {
        session.send(Command::SetPlanMode(true)).await.unwrap();
    }
    let mut events = session.events();
    session.send(Command::Prompt(vec![Content::text("Hello.")].into())).await.unwrap();
    while !matches!(events.recv().await.unwrap(), SessionEvent::Idle { .. }) {}
    drop((session, events));
    actor.await.unwrap();
    llm.requests().remove(0)
}

/// Formats the system prompt, the first message and the names of the tools.
fn shown(request: &Request) -> String {
    let messages = request.messages.iter().map(|it| format!("\n=== {} ===\n{}\n", it.role(), text_of(it.content())));
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    format!("{}{}\n=== tools ===\n{}\n", request.system, messages.collect::<String>(), tools.join(" "))
}

fn with_tools(request: &Request, offered: &dyn Fn(&str) -> bool) -> String {
    let offered = |tool: &&ToolSpec| offered(&tool.name);
    let specs = request
        .tools
        .iter()
        .filter(offered)
        .map(|spec| format!("\n=== {} ===\n{}\n{:#}\n", spec.name, spec.description, spec.parameters));
    format!("{}{}", request.system, specs.collect::<String>())
}

#[tokio::test]
async fn the_default_prompt_is_as_reviewed() {
    let request = first_request(Preset::default()).await;
    insta::assert_snapshot!("default_prompt", with_tools(&request, &|_| true));
}

#[tokio::test]
async fn the_default_prompt_is_small() {
    let request = first_request(Preset::default()).await;
    assert!(tokens(&with_tools(&request, &|_| true)) <= MAX_TOKENS);
    assert!(tokens(&with_tools(&request, &|name| BASIC.contains(&name))) <= MAX_BASIC_TOKENS);
}

#[tokio::test]
async fn a_terminal_adds_one_parameter() {
    let bare = first_request(Preset::default()).await;
    let request = first_request(Preset { screen: true, ..Preset::default() }).await;
    assert_eq!(request.system, bare.system);
    let changed: Vec<_> =
        request.tools.iter().zip(bare.tools.iter()).filter(|(with, without)| with != without).collect();
    let [(with, without)] = changed[..] else { panic!("{changed:?}") };
    let mut parameters = with.parameters.clone();
    insta::assert_snapshot!("terminal_parameter", parameters["properties"]["pty"]);
    parameters["properties"].as_object_mut().unwrap().remove("pty");
    assert_eq!((with.name.as_str(), &parameters), (Bash::NAME, &without.parameters));
    assert!(tokens(&with_tools(&request, &|_| true)) <= MAX_TOKENS);
}

#[tokio::test]
async fn a_small_model_is_told_little() {
    let request = first_request(Preset { window: 16_384, ..Preset::default() }).await;
    assert!(tokens(&request.system) <= MAX_SHORT_TOKENS, "{}", tokens(&request.system));
    insta::assert_snapshot!("small_model", shown(&request));
}

#[tokio::test]
async fn a_session_that_only_plans() {
    let request = first_request(Preset { plans: true, ..Preset::default() }).await;
    assert_eq!(request.system, first_request(Preset::default()).await.system, "the beginning stays");
    insta::assert_snapshot!("planning", shown(&request));
}

#[tokio::test]
async fn a_project_with_notes_rules_and_skills() {
    let usual = Preset::default();
    let listed = |name: &str, description: &str, globs: &[&str]| PromptListItem {
        name: name.into(),
        description: description.into(),
        globs: globs.iter().map(|glob| (*glob).to_owned()).collect(),
    };
    let notes = |path: &str, level, text: &str| ContextFile { path: path.into(), level, text: text.into() };
    let parts = PromptParts {
        append: Some("Answer in French.".into()),
        context_files: vec![
            notes("/home/user/.omp/agent/AGENTS.md", Level::User, "Prefer small commits.\n"),
            notes("/project/AGENTS.md", Level::Project, "Run `make check` before you finish.\n"),
        ],
        always: vec![NamedText { name: "no-unwrap".into(), text: "Handle every error.".into() }],
        rulebook: vec![listed("sql", "How queries are written", &["*.sql", "db/**"])],
        skills: vec![listed("pdf", "Fill in and read PDF forms", &[]), listed("release", "Cut a release", &[])],
        ..usual.parts
    };
    let opening = Opening {
        git: Some(GitState { head: "main".into(), changed: Some(2) }),
        tree: Some(FolderTree { lines: vec!["src/".into(), "  main.rs".into(), "Cargo.toml".into()], cut: true }),
    };
    insta::assert_snapshot!("notes_rules_skills", shown(&first_request(Preset { parts, opening, ..usual }).await));
}

#[tokio::test]
async fn a_prompt_of_the_users_own_and_one_of_the_repository() {
    for (keep_boundaries, name) in [(false, "own_system_prompt"), (true, "system_prompt_of_the_repository")] {
        let usual = Preset::default();
        let replace =
            Some(Replacement { text: "You are a pirate. {{cwd}} is left as it is.\n".into(), keep_boundaries });
        let parts = PromptParts { replace, ..usual.parts };
        insta::assert_snapshot!(name, shown(&first_request(Preset { parts, ..usual }).await));
    }
}

fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base().unwrap().encode_ordinary(text).len()
}
