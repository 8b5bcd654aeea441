//! Tests with real servers over stdio: the MCP reference server, a language server, a debug adapter.

mod dap;
mod lsp;
mod mcp;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use omp_exec::{ChildEnv, Containment, Spawn};
use omp_jsonrpc::{Handler, HandlerFuture, Peer, ServerProcess};
use serde_json::Value;

use crate::child::is_dead;
use crate::{eventually, soon};

/// Returns where `scripts/test` keeps a server.
#[expect(clippy::disallowed_methods, reason = "the servers live in the user's cache")]
fn installed(server: &str, file: &str) -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let path = cache.expect("neither XDG_CACHE_HOME nor HOME is set").join("omp-tests").join(server).join(file);
    assert!(path.is_file(), "{} is missing\nhint: scripts/test installs it", path.display());
    path
}

/// Returns the command with the environment that every server needs, in `folder`.
fn program(program: &Path, folder: &Path) -> Spawn {
    let home = folder.display().to_string();
    let env = ChildEnv::default().set("PATH", "/usr/local/bin:/usr/bin:/bin").set("HOME", home);
    Spawn::new(program, env, &Containment::of_user()).cwd(folder)
}

/// A handler with canned responses that records all notifications.
#[derive(Clone)]
struct Client {
    answer: fn(&str, &Value) -> Option<Value>,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
    told: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Client {
    fn new(answer: fn(&str, &Value) -> Option<Value>) -> Self {
        Self { answer, asked: Arc::default(), told: Arc::default() }
    }

    fn was_asked(&self, method: &str) -> bool {
        self.asked.lock().unwrap().iter().any(|(asked, _)| asked == method)
    }

    /// Returns the parameters of the first matching notification of this name.
    async fn told(&self, method: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let find = || {
            let told = self.told.lock().unwrap();
            told.iter().find(|(told, params)| told == method && fits(params)).map(|(_, params)| params.clone())
        };
        eventually(|| find().is_some()).await;
        find().unwrap()
    }
}

impl Handler for Client {
    fn request(&self, _peer: &Peer, method: &str, params: Value) -> Option<HandlerFuture> {
        let answer = (self.answer)(method, &params);
        self.asked.lock().unwrap().push((method.to_owned(), params));
        let answer = answer?;
        Some(Box::pin(async { Ok(answer) }))
    }

    fn notification(&self, _peer: &Peer, method: &str, params: Value) -> BoxFuture<'static, ()> {
        self.told.lock().unwrap().push((method.to_owned(), params));
        Box::pin(std::future::ready(()))
    }
}

/// Kills the server during a request and returns its error.
async fn killed_meanwhile(
    child: &ServerProcess,
    asked: tokio::task::JoinHandle<Result<Value, omp_jsonrpc::Error>>,
) -> String {
    let id = child.id();
    kill(Pid::from_raw(id.try_into().unwrap()), Signal::SIGKILL).unwrap();
    let error = soon(asked).await.unwrap().unwrap_err().to_string();
    assert_eq!(soon(child.died()).await.exit.unwrap().signal, Some(9));
    eventually(|| is_dead(id)).await;
    error
}

/// Returns whether no process of the group is left.
fn group_is_gone(group: u32) -> bool {
    nix::sys::signal::killpg(Pid::from_raw(group.try_into().unwrap()), None).is_err() || is_dead(group)
}
