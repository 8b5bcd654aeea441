//! Creates sessions with a scripted model and real tools in a temporary folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_compaction::{BranchSummaries, CompactionLimits, CompactionOptions, CompactionSettings};
use omp_policy::{ApprovalMode, Policy};
use omp_session::{
    Command, OpenSession, Recorder, Resumed, Session, SessionHost, SessionListing, ShellRun, SlashCommand, SlashReply,
    TitleSource, UserShell, Wish,
};
use omp_session_testkit::{AddressTool, ScriptedSession};
use omp_store::{
    BlobStore, CopiedSession, CopyError, CopyTo, LoadedSession, NewSession, SessionInfo, SessionWriter, SessionsDir,
};
use omp_testkit::{ScriptedLlm, mock_model};
use omp_tools::{TodoList, Toolbox};
use omp_types::{Content, Editor, Message, Model, ThinkingLevel};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub struct TestHost {
    pub llm: Arc<ScriptedLlm>,
    pub cwd: PathBuf,
    /// The folder that stores the sessions.
    pub store: Option<PathBuf>,
    pub mode: ApprovalMode,
    pub retry: Duration,
    pub history: Vec<Message>,
    /// Whether abandoned branches are summarized.
    pub sums_up_branches: bool,
}

impl TestHost {
    fn sessions_dir(&self) -> Result<SessionsDir, String> {
        let store = self.store.as_ref().ok_or("nothing is recorded here")?;
        Ok(SessionsDir::flat(store.join("sessions")))
    }

    fn loaded(&self, file: &Path) -> Result<LoadedSession, String> {
        let store = self.store.as_ref().ok_or("nothing is recorded here")?;
        LoadedSession::open(file, BlobStore::new(store)).map_err(|error| error.to_string())
    }

    fn copy(
        &self,
        file: &Path,
        copy: impl FnOnce(&LoadedSession, CopyTo<'_>) -> Result<CopiedSession, CopyError>,
    ) -> Result<PathBuf, String> {
        let folder = self.sessions_dir()?.session_dir_for(&self.cwd);
        let to = CopyTo { folder: &folder, cwd: &self.cwd, now: SystemTime::now() };
        copy(&self.loaded(file)?, to).map(|copied| copied.path).map_err(|error| error.to_string())
    }

    fn resume(&self, file: &Path) -> Result<OpenSession, String> {
        let mut loaded = self.loaded(file)?;
        let context = loaded.context();
        let (writer, _) = loaded.into_writer().map_err(|error| error.to_string())?;
        Ok(self.start(Recorder::to_file(writer), Resumed { mode: context.mode, ..context.messages.into() }))
    }

    /// Keeps so few tokens that a short conversation can be compacted.
    fn upkeep(&self) -> CompactionSettings {
        let usual = CompactionSettings::default();
        let limits = CompactionLimits { keep_recent_tokens: 1, ..usual.limits };
        let branches = BranchSummaries { always: self.sums_up_branches, ..usual.branches };
        CompactionSettings { branches, limits, ..usual }
    }

    fn begin(&self) -> Recorder {
        let Some(store) = &self.store else { return Recorder::nowhere(&self.cwd) };
        let new = NewSession { cwd: &self.cwd, now: SystemTime::now(), parent_session: None };
        let folder = SessionsDir::flat(store.join("sessions")).session_dir_for(&self.cwd);
        Recorder::to_file(SessionWriter::create(&folder, BlobStore::new(store), new))
    }

    fn start(&self, recorder: Recorder, resumed: Resumed) -> OpenSession {
        let model = Arc::new(Model { reasoning: true, ..mock_model() });
        let env = [("PI_EDIT_VARIANT", "replace"), ("PATH", "/usr/bin:/bin")].into_iter().collect();
        let alone = Toolbox::uncontained(self.cwd.clone(), self.cwd.clone(), model.clone());
        let todos = Board(alone.todo.clone());
        let mut tools = Toolbox { env, attended: true, ..alone }.tools();
        tools.push(Arc::new(AddressTool));
        let session = ScriptedSession {
            model,
            thinking: ThinkingLevel::High,
            tools,
            recorder,
            resumed,
            policy: Policy { mode: self.mode, ..Policy::default() },
            retry_delay: self.retry,
            max_turns: 5,
            commands: vec![Arc::new(Echo), Arc::new(Earlier), Arc::new(Plan)],
            todos: Some(Arc::new(todos)),
            compaction: CompactionOptions { settings: self.upkeep(), ..CompactionOptions::default() },
            ..ScriptedSession::new(&self.llm, &self.cwd)
        };
        OpenSession { python: Some(Arc::new(TestShell)), ..session.open(Arc::new(TestShell)) }
    }
}

impl SessionHost for TestHost {
    fn open_in(&self, _: Editor, wish: Wish) -> BoxFuture<'_, Result<OpenSession, String>> {
        async move {
            match wish {
                Wish::New { .. } => Ok(self.start(self.begin(), Resumed::default())),
                Wish::Resume { .. } if self.store.is_none() => {
                    Ok(self.start(self.begin(), self.history.clone().into()))
                }
                Wish::Resume { file, .. } => self.resume(&file),
                Wish::Fork { file, .. } => self.resume(&self.copy(&file, LoadedSession::fork)?),
                other => Err(format!("{other:?} is not played here")),
            }
        }
        .boxed()
    }

    fn models(&self) -> Vec<Arc<Model>> {
        let thinking = Model { reasoning: true, ..mock_model() };
        let plain = Model { id: "plain-model".to_owned(), name: "Plain".to_owned(), ..mock_model() };
        vec![Arc::new(thinking), Arc::new(plain)]
    }

    fn export(&self, _: &Session, _: Option<PathBuf>) -> Result<PathBuf, String> {
        Err("nothing is exported here".to_owned())
    }

    fn sessions(&self, _: Option<PathBuf>) -> Result<Vec<SessionListing>, String> {
        if self.store.is_none() {
            return Ok(Vec::new());
        }
        let found = self.sessions_dir()?.list_all().map_err(|error| error.to_string())?;
        let listing = |info: SessionInfo| SessionListing {
            id: info.id,
            file: info.path,
            title: info.title,
            cwd: info.cwd.into(),
            modified: info.modified,
            first_message: info.first_message,
        };
        Ok(found.into_iter().map(listing).collect())
    }

    fn delete(&self, file: &Path) -> Result<(), String> {
        self.sessions_dir()?.trash(file).map(drop).map_err(|error| error.to_string())
    }

    fn rename(&self, file: &Path, title: &str) -> Result<(), String> {
        if title == "refused" {
            return Err("this title is refused".to_owned());
        }
        let (mut writer, _) = self.loaded(file)?.into_writer().map_err(|error| error.to_string())?;
        writer.set_title(title, TitleSource::User).map(drop).map_err(|error| error.to_string())
    }
}

struct Echo;

impl SlashCommand for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn description(&self) -> &str {
        "Says it again"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[words]")
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            Ok(match arguments.strip_prefix("copy ") {
                Some(copied) => SlashReply::Copy(copied.to_owned()),
                None => SlashReply::Text(format!("it says {arguments}")),
            })
        }
        .boxed()
    }
}

/// Resumes the conversation that the stage was given.
struct Earlier;

impl SlashCommand for Earlier {
    fn name(&self) -> &str {
        "earlier"
    }

    fn description(&self) -> &str {
        "Goes on with an earlier session"
    }

    fn switches_session(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, _: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async { Ok(SlashReply::Switch(Wish::Resume { file: "earlier.jsonl".into(), cwd: None })) }.boxed()
    }
}

/// Toggles plan mode.
struct Plan;

impl SlashCommand for Plan {
    fn name(&self) -> &str {
        "plan"
    }

    fn description(&self) -> &str {
        "Switches plan mode"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[go]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let on = arguments.is_empty() && !session.snapshot().plans;
            session.send(Command::SetPlanMode(on)).await.map_err(|closed| closed.to_string())?;
            session.until(|state| state.plans == on).await.map_err(|closed| closed.to_string())?;
            Ok(match arguments {
                "go" => SlashReply::Prompt(vec![Content::text("carry it out")].into()),
                _ => SlashReply::Text(format!("plan mode is {}", if on { "on" } else { "off" })),
            })
        }
        .boxed()
    }
}

/// The task list of the tools, for front ends.
struct Board(TodoList);

impl omp_session::TodoBoard for Board {
    fn phases(&self) -> Vec<omp_types::TaskPhase> {
        self.0.phases()
    }

    fn set_phases(&self, _: Value) -> Result<(), String> {
        Err("not here".to_owned())
    }
}

/// Prints the command; `wait` runs until it is aborted.
struct TestShell;

impl UserShell for TestShell {
    fn run<'a>(
        &'a self,
        command: &'a str,
        progress: &'a (dyn Fn(&str) + Send + Sync),
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<ShellRun, String>> {
        async move {
            let output = format!("ran {command}\n");
            progress(&output);
            if command == "wait" {
                cancel.cancelled().await;
                return Ok(ShellRun { output, cancelled: true, ..ShellRun::default() });
            }
            Ok(ShellRun { output, exit_code: Some(0), ..ShellRun::default() })
        }
        .boxed()
    }
}
