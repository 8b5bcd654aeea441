//! Runs commands in the terminals of clients that offer them.
//!
//! A terminal belongs to the tool call that it was opened for, and is always released: dropping the handle releases it, and
//! a terminal that arrives after its caller has gone is dropped at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, EnvVariable, KillTerminalRequest, ReleaseTerminalRequest, SessionId, TerminalExitStatus,
    TerminalId, TerminalOutputRequest, WaitForTerminalExitRequest,
};
use agent_client_protocol::{Client, Error};
use omp_types::{EditorCommand, EditorExit, EditorFuture, EditorOutput, EditorTerminal, EditorTerminals};
use tokio::sync::oneshot;

use crate::live::lock;

/// The terminals of one session.
pub struct Terminals {
    connection: ConnectionTo<Client>,
    /// Set when the session begins, which is before any tool runs.
    session: OnceLock<SessionId>,
    /// The terminal of each running call, by the model's id of the call.
    shown: Mutex<HashMap<String, TerminalId>>,
}

impl Terminals {
    pub fn new(connection: ConnectionTo<Client>) -> Self {
        Self { connection, session: OnceLock::new(), shown: Mutex::default() }
    }

    pub fn belong_to(&self, session: SessionId) {
        // A session begins once.
        let _ = self.session.set(session);
    }

    /// Returns the terminal that a call runs in.
    pub fn of_call(&self, call: &str) -> Option<TerminalId> {
        lock(&self.shown).get(call).cloned()
    }

    /// Removes and returns the terminal of a call that has ended.
    pub fn forget(&self, call: &str) -> Option<TerminalId> {
        lock(&self.shown).remove(call)
    }
}

impl EditorTerminals for Terminals {
    fn start<'a>(
        &'a self,
        call: &'a str,
        command: EditorCommand,
    ) -> EditorFuture<'a, Result<Arc<dyn EditorTerminal>, String>> {
        Box::pin(async move {
            let session = self.session.get().ok_or("the session has not begun")?.clone();
            let env = command.env.into_iter().map(|(name, value)| EnvVariable::new(name, value));
            let request = CreateTerminalRequest::new(session.clone(), command.program)
                .args(command.args)
                .env(env.collect::<Vec<_>>())
                .cwd(command.cwd)
                .output_byte_limit(command.max_output);
            let connection = self.connection.clone();
            let (sender, opened) = oneshot::channel();
            // A separate task, because the caller may be dropped and the terminal must still be released.
            tokio::spawn(async move {
                let created = connection.send_request(request).block_task().await;
                let terminal = created.map(|created| Terminal::new(connection, session, created.terminal_id));
                // A terminal without a receiver is dropped here.
                drop(sender.send(terminal));
            });
            let terminal = opened.await.map_err(|_| "the connection is closed".to_owned())?.map_err(said)?;
            lock(&self.shown).insert(call.to_owned(), terminal.id.clone());
            Ok(Arc::new(terminal) as Arc<dyn EditorTerminal>)
        })
    }
}

struct Terminal {
    connection: ConnectionTo<Client>,
    session: SessionId,
    id: TerminalId,
    /// Whether the command has ended.
    ended: AtomicBool,
}

impl Terminal {
    fn new(connection: ConnectionTo<Client>, session: SessionId, id: TerminalId) -> Self {
        Self { connection, session, id, ended: AtomicBool::new(false) }
    }
}

impl EditorTerminal for Terminal {
    fn output(&self) -> EditorFuture<'_, Result<EditorOutput, String>> {
        let request = TerminalOutputRequest::new(self.session.clone(), self.id.clone());
        Box::pin(async move {
            let told = self.connection.send_request(request).block_task().await.map_err(said)?;
            let exit = told.exit_status.map(exit_of);
            Ok(EditorOutput { text: told.output, truncated: told.truncated, exit })
        })
    }

    fn exit(&self) -> EditorFuture<'_, Result<EditorExit, String>> {
        let request = WaitForTerminalExitRequest::new(self.session.clone(), self.id.clone());
        Box::pin(async move {
            let told = self.connection.send_request(request).block_task().await.map_err(said)?;
            self.ended.store(true, Ordering::Relaxed);
            Ok(exit_of(told.exit_status))
        })
    }

    fn kill(&self) -> EditorFuture<'_, Result<(), String>> {
        let request = KillTerminalRequest::new(self.session.clone(), self.id.clone());
        Box::pin(async move {
            self.connection.send_request(request).block_task().await.map_err(said)?;
            self.ended.store(true, Ordering::Relaxed);
            Ok(())
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A client that has disconnected keeps no terminals.
        if !self.ended.load(Ordering::Relaxed) {
            self.connection.send_request(KillTerminalRequest::new(self.session.clone(), self.id.clone())).detach();
        }

        self.connection.send_request(ReleaseTerminalRequest::new(self.session.clone(), self.id.clone())).detach();
    }
}

fn exit_of(status: TerminalExitStatus) -> EditorExit {
    EditorExit { code: status.exit_code.map(u32::cast_signed), signal: status.signal }
}

fn said(error: Error) -> String {
    error.message
}
