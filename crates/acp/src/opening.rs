//! Opens, resumes and closes the sessions of a connection.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{McpServer, Meta, NoticeSeverity, SessionId};
use agent_client_protocol::{Client, Error, ErrorCode};
use omp_session::{OpenSession, Wish};
use omp_types::{Editor, EditorFiles, EditorTerminals};
use tokio::task::JoinHandle;

use crate::calls::Calls;
use crate::editor_files::ClientFiles;
use crate::editor_terminals::Terminals;
use crate::live::{Live, lock};
use crate::pump;
use crate::replay::Replay;
use crate::server::{AcpServer, failed, invalid, unknown};
use crate::updates::Updates;

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
        connection: ConnectionTo<Client>,
        told_again: bool,
    ) -> Result<Begun, Error> {
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
        self.begin(wish, &cwd, mcp_servers, connection, told_again).await
    }

    /// Closes a session if it is open here, then moves its file away. A session that another program has open stays.
    pub async fn delete(&self, id: SessionId) -> Result<(), Error> {
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
                deleted.map_err(Error::into_internal_error)?.map_err(failed)
            }
            // The session has no messages yet, so there is no file.
            None if was_open => Ok(()),
            None => Err(unknown(&id)),
        }
    }

    /// Finds the file of a session in a folder, or in any.
    async fn file_in(&self, cwd: Option<PathBuf>, id: &SessionId) -> Result<Option<PathBuf>, Error> {
        let host = self.host.clone();
        let listed = tokio::task::spawn_blocking(move || host.sessions(cwd)).await;
        let listed = listed.map_err(Error::into_internal_error)?.map_err(failed)?;
        Ok(listed.into_iter().find(|listing| listing.id == *id.0).map(|listing| listing.file))
    }

    pub async fn begin(
        &self,
        wish: Wish,
        cwd: &Path,
        mcp_servers: &[McpServer],
        connection: ConnectionTo<Client>,
        told_again: bool,
    ) -> Result<Begun, Error> {
        if !cwd.is_absolute() {
            return Err(invalid(format!("cwd must be an absolute path, not `{}`", cwd.display())));
        }
        if lock(&self.sessions).len() >= MAX_SESSIONS {
            return Err(failed(format!("{MAX_SESSIONS} sessions are open\nhint: close one with session/close")));
        }
        let capabilities = lock(&self.capabilities).clone();
        let files = ClientFiles::offered(&connection, &capabilities, cwd);
        let open_files = files.clone().map(|files| files as Arc<dyn EditorFiles>);
        let terminals = capabilities.terminal.then(|| Arc::new(Terminals::new(connection.clone())));
        let editor = Editor {
            files: open_files.clone(),
            terminals: terminals.clone().map(|terminals| terminals as Arc<dyn EditorTerminals>),
            ..Editor::default()
        };
        let opened = self.host.open_in(editor, wish).await.map_err(|problem| self.not_opened(problem))?;
        let OpenSession { session, actor, header, todos, safeguards, warnings, .. } = opened;
        let updates =
            Updates { id: SessionId::new(header.id.as_str()), connection, capabilities, flow: self.flow.clone() };
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
    fn not_opened(&self, problem: String) -> Error {
        if self.host.models().is_empty() { Error::new(ErrorCode::AUTH_REQUIRED, problem) } else { failed(problem) }
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
    /// Data that the protocol has no field for: the active safeguards.
    pub fn meta(&self) -> Option<Meta> {
        let told = serde_json::to_value(&self.live.safeguards).ok()?;
        Some(Meta::from_iter([(META.to_owned(), told)]))
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
    let name = |server: &McpServer| match server {
        McpServer::Http(server) => server.name.clone(),
        McpServer::Sse(server) => server.name.clone(),
        McpServer::Stdio(server) => server.name.clone(),
        _ => "(unnamed)".to_owned(),
    };
    servers.iter().map(name).collect::<Vec<_>>().join(", ")
}
