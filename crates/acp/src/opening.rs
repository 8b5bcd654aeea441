//! Opens, resumes and closes the sessions of a connection.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use omp_jsonrpc::RpcError;
use omp_session::{OpenSession, Wish};
use omp_types::{Editor, EditorFiles, EditorTerminals, Model};
use serde_json::{Map, Value};
use tokio::task::JoinHandle;

use crate::calls::Calls;
use crate::client::EditorClient;
use crate::editor_files::ClientFiles;
use crate::editor_terminals::Terminals;
use crate::live::{Live, lock};
use crate::protocol::{AUTH_REQUIRED, McpServer, NoticeSeverity, OpenedSession, SessionId};
use crate::replay::Replay;
use crate::server::{AcpServer, failed, internal, invalid, unknown};
use crate::updates::Updates;
use crate::{options, pump};

/// The key of omp's own data in `_meta`.
const META: &str = "omp";
/// Caps the sessions open at once.
const MAX_SESSIONS: usize = 64;
/// How long a session may take to end.
pub const ENDING: Duration = Duration::from_secs(20);

/// An open session with its tasks.
pub struct Held {
    pub live: Arc<Live>,
    pump: JoinHandle<()>,
    actor: JoinHandle<()>,
}

/// What a client receives when a session has begun or is resumed.
pub struct Begun {
    pub live: Arc<Live>,
    notices: Vec<String>,
}

impl AcpServer {
    /// Resumes a session: the open one, else from its file.
    pub async fn go_on(
        &self,
        id: SessionId,
        cwd: PathBuf,
        mcp_servers: &[McpServer],
        client: EditorClient,
        told_again: bool,
    ) -> Result<Begun, RpcError> {
        if let Ok(live) = self.live(&id) {
            if told_again {
                let mut calls = Calls::new(live.session.clone(), live.cwd.clone());
                tell_again(&live, &mut calls).await;
            }
            return Ok(Begun { live, notices: Vec::new() });
        }
        let file = match self.file_in(Some(cwd.clone()), &id).await? {
            Some(file) => Some(file),
            None => self.file_in(None, &id).await?,
        };
        let wish = Wish::Resume { file: file.ok_or_else(|| unknown(&id))?, cwd: Some(cwd.clone()) };
        self.begin(wish, &cwd, mcp_servers, client, told_again).await
    }

    /// Closes a session if it is open here, then moves its file away. A session that another program has open stays.
    pub async fn delete(&self, id: SessionId) -> Result<(), RpcError> {
        let file = self.file_in(None, &id).await?;
        let held = lock(&self.sessions).remove(&id);
        let was_open = held.is_some();
        if let Some(held) = held {
            held.end().await;
        }
        match file {
            Some(file) => {
                let host = self.host.clone();
                let deleted = tokio::task::spawn_blocking(move || host.delete(&file)).await;
                deleted.map_err(|error| internal(&error))?.map_err(failed)
            }
            // The session has no messages yet, so there is no file.
            None if was_open => Ok(()),
            None => Err(unknown(&id)),
        }
    }

    /// Finds the file of a session in a folder, or in any.
    async fn file_in(&self, cwd: Option<PathBuf>, id: &SessionId) -> Result<Option<PathBuf>, RpcError> {
        let host = self.host.clone();
        let listed = tokio::task::spawn_blocking(move || host.sessions(cwd)).await;
        let listed = listed.map_err(|error| internal(&error))?.map_err(failed)?;
        Ok(listed.into_iter().find(|listing| listing.id == *id.0).map(|listing| listing.file))
    }

    pub async fn begin(
        &self,
        wish: Wish,
        cwd: &Path,
        mcp_servers: &[McpServer],
        client: EditorClient,
        told_again: bool,
    ) -> Result<Begun, RpcError> {
        if !cwd.is_absolute() {
            return Err(invalid(format!("cwd must be an absolute path, not `{}`", cwd.display())));
        }
        if lock(&self.sessions).len() >= MAX_SESSIONS {
            return Err(failed(format!("{MAX_SESSIONS} sessions are open\nhint: close one with session/close")));
        }
        let capabilities = lock(&self.capabilities).clone();
        let files = ClientFiles::offered(&client, &capabilities, cwd);
        let open_files = files.clone().map(|files| files as Arc<dyn EditorFiles>);
        let terminals = capabilities.terminal.then(|| Arc::new(Terminals::new(client.clone())));
        let editor = Editor {
            files: open_files.clone(),
            terminals: terminals.clone().map(|terminals| terminals as Arc<dyn EditorTerminals>),
            ..Editor::default()
        };
        let opened = self.host.open_in(editor, wish).await.map_err(|problem| self.not_opened(problem))?;
        let OpenSession { session, actor, header, todos, safeguards, warnings, .. } = opened;
        let updates = Updates { id: SessionId::new(header.id.as_str()), client, capabilities };
        if let Some(terminals) = &terminals {
            terminals.belong_to(updates.id.clone());
        }
        let events = session.events();
        let cwd = PathBuf::from(&header.cwd);
        let mut calls = Calls::new(session.clone(), cwd.clone()).with_files(open_files).with_terminals(terminals);
        let live = Arc::new(Live::new(session, cwd, updates, todos, safeguards));
        files.iter().for_each(|files| files.begin(live.updates.id.clone(), live.closed.clone()));
        if told_again {
            tell_again(&live, &mut calls).await;
        }
        let pump = tokio::spawn(pump::run(live.clone(), events, calls));
        let held = Held { live: live.clone(), pump, actor };
        lock(&self.sessions).insert(live.updates.id.clone(), held);
        let mut notices = warnings;
        if !mcp_servers.is_empty() {
            notices.push(format!("MCP servers are not used yet: {}", names(mcp_servers)));
        }
        Ok(Begun { live, notices })
    }

    /// If a key is missing, the error asks the client to authenticate.
    fn not_opened(&self, problem: String) -> RpcError {
        if self.host.models().is_empty() { RpcError::new(AUTH_REQUIRED, problem) } else { failed(problem) }
    }
}

impl Held {
    pub async fn end(self) {
        let Self { live, pump, actor } = self;
        live.close().await;
        // A failed pump has nothing more to send; a session that does not end is abandoned.
        let _ = pump.await;
        drop(live);
        let _ = tokio::time::timeout(ENDING, actor).await;
    }
}

impl Begun {
    /// Describes the session to the client. `id` is told for a new session.
    pub fn opened(&self, id: Option<SessionId>, models: &[Arc<Model>]) -> OpenedSession {
        let chosen = lock(&self.live.chosen).clone();
        OpenedSession {
            session_id: id,
            modes: options::modes(&chosen),
            config_options: options::options(&chosen, models),
            meta: self.meta(),
        }
    }

    /// Data that the protocol has no field for: the active safeguards.
    fn meta(&self) -> Option<Map<String, Value>> {
        let told = serde_json::to_value(&self.live.safeguards).ok()?;
        Some(Map::from_iter([(META.to_owned(), told)]))
    }

    /// Sends the updates that follow the response, once the client knows the session.
    pub async fn tell(self) {
        self.live.tell_commands().await;
        self.live.tell_plan().await;
        for notice in self.notices {
            self.live.updates.notice(NoticeSeverity::Warning, &notice).await;
        }
    }
}

async fn tell_again(live: &Live, calls: &mut Calls) {
    let (mut pages, mut replay) = (live.session.transcript(), Replay::default());
    while let Some(page) = pages.recv().await {
        for message in page {
            for update in replay.take(&message, calls) {
                live.updates.send(update).await;
            }
        }
    }
    for update in replay.rest(calls) {
        live.updates.send(update).await;
    }
}

fn names(servers: &[McpServer]) -> String {
    servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>().join(", ")
}
