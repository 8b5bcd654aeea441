//! Tests with shell scripts as servers: how they die, and how they are ended.

use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::kill;
use nix::unistd::Pid;
use omp_exec::{ChildEnv, Containment, Spawn, SpawnError};
use omp_jsonrpc::{Death, Error, Polite, Protocol, ServerProcess, ShutdownLimits};
use serde_json::{Value, json};

use crate::{PATIENCE, eventually, soon};

const SHORT: Duration = Duration::from_millis(50);

fn spawn(script: &str) -> Spawn {
    let env = ChildEnv::default().set("PATH", "/usr/local/bin:/usr/bin:/bin");
    Spawn::new("sh", env, &Containment::of_user()).args(["-c", script])
}

fn start(script: &str) -> ServerProcess {
    ServerProcess::start("the server", spawn(script), Protocol::mcp(), Arc::new(())).unwrap()
}

/// Returns whether the process is gone or a zombie.
pub fn is_dead(pid: u32) -> bool {
    let pid = Pid::from_raw(pid.try_into().unwrap());
    if kill(pid, None).is_err() {
        return true;
    }
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// Returns the numbers that the script writes to stderr, once there are enough.
async fn told(child: &ServerProcess, many: usize) -> Vec<u32> {
    let numbers = || -> Vec<u32> { child.stderr_tail().split_whitespace().map(|pid| pid.parse().unwrap()).collect() };
    eventually(|| child.stderr_tail().ends_with('\n') && numbers().len() == many).await;
    numbers()
}

#[tokio::test]
async fn a_server_answers_over_its_standard_streams() {
    let child = start("echo Welcome; read -r line; echo '{\"id\":1,\"result\":\"hi\"}'; read -r line");
    assert_eq!(soon(child.peer().request("m", Value::Null)).await.unwrap(), "hi");
    assert_eq!(child.peer().oddities().noise, ["Welcome"]);
    let death = soon(child.shutdown(Polite::default(), ShutdownLimits::default())).await;
    assert!(!death.was_stopped, "{death}");
}

#[tokio::test]
async fn a_contained_server_answers_too() {
    let folder = tempfile::tempdir().unwrap();
    let map = omp_types::AccessMap { workspace: folder.path().canonicalize().unwrap(), ..Default::default() };
    let contained = Containment::new(omp_types::Access::new(map));
    let spawn = spawn("read -r line; echo '{\"id\":1,\"result\":\"hi\"}'; read -r line").contained(&contained);
    let child = ServerProcess::start("the server", spawn.cwd(folder.path()), Protocol::mcp(), Arc::new(())).unwrap();
    assert_eq!(soon(child.peer().request("m", Value::Null)).await.unwrap(), "hi");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    let spawn = Spawn::new("no-such-server", ChildEnv::default(), &Containment::of_user());
    let missing = ServerProcess::start("the server", spawn, Protocol::mcp(), Arc::new(())).err().unwrap();
    assert!(matches!(missing, SpawnError::NotFound { .. }));
}

/// Returns the error of a request whose server dies meanwhile.
async fn dies(script: &str) -> (String, Death) {
    let child = start(script);
    let error = soon(child.peer().request("m", Value::Null)).await.unwrap_err();
    let later = soon(child.peer().request("m", Value::Null)).await.unwrap_err();
    assert_eq!(error.to_string(), later.to_string());
    (error.to_string(), soon(child.died()).await)
}

#[tokio::test]
async fn requests_fail_with_the_exit_and_the_end_of_stderr() {
    let (error, death) = dies("read -r line; echo first >&2; echo 'no such module' >&2; exit 3").await;
    let hint = "hint: its stderr may say why; check how it is installed and started";
    assert_eq!(
        error,
        format!(
            "`m` failed: the server ended with exit code 3\nthe end of its stderr:\n  first\n  no such module\n{hint}"
        )
    );
    assert_eq!((death.exit.unwrap().code, death.was_stopped), (3, false));
    let (error, _) = dies("read -r line; kill -9 $$").await;
    assert!(error.contains("the server was killed by signal 9\nhint: it wrote nothing"), "{error}");
    // A background process holds both pipes open.
    let (error, _) = dies("sleep 300 & read -r line; echo bye >&2; exit 4").await;
    assert!(error.contains("exit code 4\nthe end of its stderr:\n  bye\n"), "{error}");
}

/// The server never reads, so the writing side also notices the death.
#[tokio::test]
async fn a_server_that_dies_before_it_reads_is_explained_too() {
    let child = start("exec <&-; echo 'cannot start' >&2; exit 1");
    let large = json!("x".repeat(1 << 20));
    let error = soon(child.peer().request("m", large)).await.unwrap_err().to_string();
    assert!(error.contains("ended with exit code 1\nthe end of its stderr:\n  cannot start"), "{error}");
}

#[tokio::test]
async fn a_server_without_output_is_of_no_use_and_ended() {
    let child = start("exec >&-; echo $$ >&2; while :; do sleep 0.02; done");
    let pids = told(&child, 1).await;
    let error = soon(child.peer().request("m", Value::Null)).await.unwrap_err();
    assert!(matches!(error, Error::Ended { .. }), "{error}");
    let death = soon(child.died()).await;
    assert!(death.was_stopped && is_dead(pids[0]));
}

/// The connection is closed, so the server is unusable.
#[tokio::test]
async fn a_server_that_does_not_speak_the_protocol_is_ended() {
    let script = spawn("echo $$ >&2; echo Ready to serve; while :; do sleep 0.02; done");
    let child = ServerProcess::start("the server", script, Protocol::lsp(), Arc::new(())).unwrap();
    let pids = told(&child, 1).await;
    let error = soon(child.peer().request("m", Value::Null)).await.unwrap_err().to_string();
    assert!(error.contains("`Ready to serve` is not a message header\nhint: "), "{error}");
    let death = soon(child.died()).await;
    assert!(death.was_stopped && is_dead(pids[0]));
}

fn limits(polite: Duration, end_of_input: Duration, terminate: Duration) -> ShutdownLimits {
    ShutdownLimits { polite, end_of_input, terminate }
}

/// Each step ends the server that reacts to it; the limits of later steps are not reached.
#[tokio::test]
async fn each_step_of_a_shutdown_ends_who_listens_to_it() {
    let words = Polite {
        request: Some(("shutdown".to_owned(), Value::Null)),
        notification: Some(("exit".to_owned(), Value::Null)),
    };
    let polite = "read -r line; echo '{\"id\":1,\"result\":null}'; read -r line; case $line in *exit*) exit 5;; esac";
    let until_end = "while read -r line; do :; done; exit 6";
    let until_asked = "trap 'exit 7' TERM; echo $$ >&2; while :; do sleep 0.02; done";
    let deaf = "trap '' TERM; echo $$ >&2; while :; do sleep 0.02; done";
    for (script, limits, code, was_stopped, is_told) in [
        (polite, limits(PATIENCE, PATIENCE, PATIENCE), 5, false, false),
        (until_end, limits(SHORT, PATIENCE, PATIENCE), 6, false, false),
        (until_asked, limits(SHORT, SHORT, PATIENCE), 7, true, true),
        (deaf, limits(SHORT, SHORT, Duration::from_secs(1)), 137, true, true),
    ] {
        let child = start(script);
        if is_told {
            told(&child, 1).await;
        }
        let id = child.id();
        let death = soon(child.shutdown(words.clone(), limits)).await;
        assert_eq!((death.exit.unwrap().code, death.was_stopped), (code, was_stopped), "{script}");
        eventually(|| is_dead(id)).await;
    }
}

#[tokio::test]
async fn what_a_server_has_started_ends_with_it() {
    let script = "sleep 300 & echo $! >&2; setsid sleep 300 & echo $! >&2; while read -r line; do :; done";
    let child = start(script);
    let pids = told(&child, 2).await;
    assert!(pids.iter().all(|pid| !is_dead(*pid)));
    let death = soon(child.shutdown(Polite::default(), ShutdownLimits::default())).await;
    assert!(!death.was_stopped, "{death}");
    eventually(|| pids.iter().all(|pid| is_dead(*pid))).await;
}

#[tokio::test]
async fn a_server_that_is_dropped_is_killed_with_all_it_started() {
    let child = start("trap '' TERM; sleep 300 & echo $! $$ >&2; while :; do sleep 1; done");
    let pids = told(&child, 2).await;
    let (peer, died) = (child.peer().clone(), child.died());
    let asked = tokio::spawn(async move { peer.request("m", Value::Null).await });
    tokio::task::yield_now().await;
    drop(child);
    eventually(|| pids.iter().all(|pid| is_dead(*pid))).await;
    let error = soon(asked).await.unwrap().unwrap_err().to_string();
    assert!(error.contains("the connection was closed on this side"), "{error}");
    assert!(soon(died).await.was_stopped);
}

#[tokio::test]
async fn stderr_has_a_cap_and_never_blocks_the_server() {
    let child = start(
        "i=0; while [ $i -lt 20000 ]; do echo \"complaint $i\" >&2; i=$((i+1)); done; read -r line; echo '{\"id\":1,\"result\":1}'; read -r line",
    );
    assert_eq!(soon(child.peer().request("m", Value::Null)).await.unwrap(), 1);
    eventually(|| child.stderr_tail().ends_with("complaint 19999\n")).await;
    let tail = child.stderr_tail();
    assert!(tail.len() <= 64 << 10 && tail.starts_with("complaint "));
}

/// The server writes endlessly and nobody reads: shutdown works nevertheless.
#[tokio::test]
async fn a_server_that_floods_its_output_can_be_ended() {
    let child = start("while :; do echo '{\"method\":\"more\"}'; done");
    let death = soon(child.shutdown(Polite::default(), limits(SHORT, SHORT, SHORT))).await;
    assert!(death.was_stopped);
}
