//! Runs commands in the terminals of clients that offer them.
//!
//! A terminal belongs to the tool call that it was opened for, and is always released: dropping the handle releases it, and
//! a terminal that arrives after its caller has gone is dropped at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use omp_jsonrpc::RpcError;
use omp_types::{EditorCommand, EditorExit, EditorFuture, EditorOutput, EditorTerminal, EditorTerminals};
use serde::de::IgnoredAny;
use tokio::sync::oneshot;

use crate::client::EditorClient;
use crate::live::lock;
use crate::protocol::{
    CreateTerminalRequest, CreatedTerminal, EnvVariable, SessionId, TerminalExitStatus, TerminalOutput, TerminalRequest,
};

const KILL: &str = "terminal/kill";

/// The terminals of one session.
pub struct Terminals {
    client: EditorClient,
    /// Set when the session begins, which is before any tool runs.
    session: OnceLock<SessionId>,
    /// The terminal of each running call, by the model's id of the call.
    shown: Mutex<HashMap<String, String>>,
}

impl Terminals {
    pub fn new(client: EditorClient) -> Self {
        Self { client, session: OnceLock::new(), shown: Mutex::default() }
    }

    pub fn belong_to(&self, session: SessionId) {
        // A session begins once.
        let _ = self.session.set(session);
    }

    /// Returns the terminal that a call runs in.
    pub fn of_call(&self, call: &str) -> Option<String> {
        lock(&self.shown).get(call).cloned()
    }

    /// Removes and returns the terminal of a call that has ended.
    pub fn forget(&self, call: &str) -> Option<String> {
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
            let session = self.session.get().ok_or("the session has not started")?.clone();
            let env = command.env.into_iter().map(|(name, value)| EnvVariable { name, value });
            let request = CreateTerminalRequest {
                session_id: session.clone(),
                command: command.program,
                args: command.args,
                env: env.collect(),
                cwd: command.cwd,
                output_byte_limit: command.max_output,
            };
            let client = self.client.clone();
            let (sender, opened) = oneshot::channel();
            // A separate task, because the caller may be dropped and the terminal must still be released.
            tokio::spawn(async move {
                let created = client.ask::<CreatedTerminal>("terminal/create", request).await;
                let terminal = created.map(|created| {
                    let about = TerminalRequest { session_id: session, terminal_id: created.terminal_id };
                    Terminal { client, about, ended: AtomicBool::new(false) }
                });
                // A terminal without a receiver is dropped here.
                drop(sender.send(terminal));
            });
            let terminal = opened.await.map_err(|_| "the connection is closed".to_owned())?.map_err(said)?;
            lock(&self.shown).insert(call.to_owned(), terminal.about.terminal_id.clone());
            Ok(Arc::new(terminal) as Arc<dyn EditorTerminal>)
        })
    }
}

struct Terminal {
    client: EditorClient,
    /// Names the terminal in requests.
    about: TerminalRequest,
    /// Whether the command has ended.
    ended: AtomicBool,
}

impl EditorTerminal for Terminal {
    fn output(&self) -> EditorFuture<'_, Result<EditorOutput, String>> {
        Box::pin(async move {
            let told: TerminalOutput = self.client.ask("terminal/output", &self.about).await.map_err(said)?;
            let exit = told.exit_status.map(exit_of);
            Ok(EditorOutput { text: told.output, truncated: told.truncated, exit })
        })
    }

    fn exit(&self) -> EditorFuture<'_, Result<EditorExit, String>> {
        Box::pin(async move {
            let told = self.client.ask::<Option<TerminalExitStatus>>("terminal/wait_for_exit", &self.about);
            let told = told.await.map_err(said)?;
            self.ended.store(true, Ordering::Relaxed);
            Ok(exit_of(told.unwrap_or_default()))
        })
    }

    fn kill(&self) -> EditorFuture<'_, Result<(), String>> {
        Box::pin(async move {
            self.client.ask::<IgnoredAny>(KILL, &self.about).await.map_err(said)?;
            self.ended.store(true, Ordering::Relaxed);
            Ok(())
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A client that has disconnected keeps no terminals.
        if !self.ended.load(Ordering::Relaxed) {
            self.client.post(KILL, &self.about);
        }
        self.client.post("terminal/release", &self.about);
    }
}

fn exit_of(status: TerminalExitStatus) -> EditorExit {
    EditorExit { code: status.exit_code.map(u32::cast_signed), signal: status.signal }
}

fn said(error: RpcError) -> String {
    error.message
}
