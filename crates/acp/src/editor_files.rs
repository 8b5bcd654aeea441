//! The client's files: texts with unsaved changes, and saving through the client.
//!
//! Only files in the folder that the client opened are read through it; other files are read from and written to disk. The
//! calls block, so they must run on blocking threads; other threads serve the connection.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use omp_jsonrpc::RpcError;
use omp_types::EditorFiles;
use serde::de::IgnoredAny;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::client::EditorClient;
use crate::protocol::{ClientCapabilities, FileRequest, FileSystemCapabilities, ReadText, SessionId};

/// Timeout for an answer of the client. After it a file is read from disk, and a write counts as refused.
const PATIENCE: Duration = Duration::from_secs(15);

pub struct ClientFiles {
    client: EditorClient,
    offered: FileSystemCapabilities,
    /// The folder under the name that the client uses.
    given: PathBuf,
    /// The canonical path of the folder, which the session uses.
    real: PathBuf,
    runtime: Handle,
    begun: OnceLock<(SessionId, CancellationToken)>,
}

impl ClientFiles {
    /// Returns `None` for a client that offers no files.
    pub fn offered(client: &EditorClient, capabilities: &ClientCapabilities, cwd: &Path) -> Option<Arc<Self>> {
        let offered = capabilities.fs.clone();
        if !offered.read_text_file && !offered.write_text_file {
            return None;
        }
        Some(Arc::new(Self {
            client: client.clone(),
            offered,
            real: cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned()),
            given: cwd.to_owned(),
            runtime: Handle::current(),
            begun: OnceLock::new(),
        }))
    }

    /// Enables requests for files until the session is closed.
    pub fn begin(&self, id: SessionId, closed: CancellationToken) {
        // A session begins once.
        let _ = self.begun.set((id, closed));
    }

    fn named(&self, path: &Path) -> Option<PathBuf> {
        named_by_client(&self.given, &self.real, path)
    }
}

impl EditorFiles for ClientFiles {
    fn read(&self, path: &Path) -> Option<String> {
        let (id, closed) = self.begun.get().filter(|_| self.offered.read_text_file)?;
        let request = FileRequest { session_id: id.clone(), path: self.named(path)?, content: None };
        let client = self.client.clone();
        let reply = async move { client.ask::<ReadText>("fs/read_text_file", request).await };
        // If the client cannot read the file, it has no newer version than the disk.
        Some(wait(&self.runtime, PATIENCE, closed, reply)?.ok()?.content)
    }

    fn write(&self, path: &Path, text: &str) -> Option<Result<(), String>> {
        let (id, closed) = self.begun.get().filter(|_| self.offered.write_text_file)?;
        let request = FileRequest { session_id: id.clone(), path: self.named(path)?, content: Some(text.to_owned()) };
        let client = self.client.clone();
        let reply = async move { client.ask::<IgnoredAny>("fs/write_text_file", request).await };
        Some(match wait(&self.runtime, PATIENCE, closed, reply) {
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) => Err(error.message),
            None => Err("it does not answer\nhint: check the editor, then read the file again".to_owned()),
        })
    }
}

/// Returns `None` if there is no answer in time. A task of the runtime waits for the answer, this thread for the task.
fn wait<T: Send + 'static>(
    runtime: &Handle,
    patience: Duration,
    closed: &CancellationToken,
    reply: impl Future<Output = Result<T, RpcError>> + Send + 'static,
) -> Option<Result<T, RpcError>> {
    let (sender, answer) = mpsc::channel();
    let closed = closed.clone();
    runtime.spawn(async move {
        let reply = tokio::select! {
            reply = reply => Some(reply),
            () = closed.cancelled() => None,
            () = tokio::time::sleep(patience) => None,
        };
        // The caller may have timed out just before.
        let _ = sender.send(reply);
    });
    // Longer than the timeout of the task, in case the runtime is shutting down or very busy.
    answer.recv_timeout(patience.saturating_mul(2)).ok().flatten()
}

/// Returns the client's name of a file, if it is in the folder that the client opened.
fn named_by_client(given: &Path, real: &Path, path: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(real).or_else(|_| path.strip_prefix(given)).ok()?;
    Some(given.join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_waits_for_ever() {
        let runtime = Handle::current();
        let ask = move |patience, closed: CancellationToken, answers: bool| {
            let runtime = runtime.clone();
            let reply = async move { if answers { Ok(7) } else { std::future::pending().await } };
            tokio::task::spawn_blocking(move || wait(&runtime, patience, &closed, reply))
        };
        let open = CancellationToken::new();
        assert!(matches!(ask(PATIENCE, open.clone(), true).await, Ok(Some(Ok(7)))));
        assert!(matches!(ask(Duration::from_millis(20), open.clone(), false).await, Ok(None)));
        let waiting = ask(Duration::from_secs(3600), open.clone(), false);
        open.cancel();
        assert!(matches!(waiting.await, Ok(None)));
    }

    #[track_caller]
    fn check(path: &str, expect: Option<&str>) {
        let named = named_by_client(Path::new("/link/project"), Path::new("/real/project"), Path::new(path));
        assert_eq!(named.as_deref(), expect.map(Path::new));
    }

    #[test]
    fn files_are_named_as_the_client_does() {
        check("/real/project/src/a", Some("/link/project/src/a"));
        check("/link/project/a", Some("/link/project/a"));
        check("/real/projects/a", None);
        check("/real/a", None);
        check("/etc/passwd", None);
    }
}
