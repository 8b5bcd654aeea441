//! Whole trees die: stubborn children, grandchildren that left, and no zombies after.

use std::time::Duration;

use omp_exec::{Child, Reaper};

use crate::{PATIENCE, eventually, run, shell};

fn exists(pid: u32) -> bool {
    std::fs::exists(format!("/proc/{pid}")).unwrap()
}

/// Gone, or dead and waiting for a parent that is not us.
fn is_dead(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// Starts `script`, which prints the ids of its processes on one line.
async fn start(script: &str) -> (Child, Vec<u32>) {
    let mut child = shell(script).start().unwrap();
    let (mut line, mut buffer) = (String::new(), [0; 256]);
    while !line.ends_with('\n') {
        let read = tokio::time::timeout(PATIENCE, child.read(&mut buffer)).await.unwrap().unwrap();
        assert!(read > 0, "ended early: {line}");
        line.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    let mut pids: Vec<u32> = line.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    pids.push(child.id());
    (child, pids)
}

const DEAF: &str = "trap '' TERM HUP INT; sleep 300 & echo $!; wait; sleep 300";
const ESCAPED: &str = "setsid sh -c 'echo $$; exec sleep 300' & wait; sleep 300";
/// Leaves group, session and parent: only the mark tells.
const ORPHANED: &str = "sh -c 'setsid sh -c \"echo \\$\\$; exec sleep 300\" &'; sleep 300";
/// Leaves the group and drops the mark: only its parent tells.
const UNMARKED: &str = "env -i setsid --wait sh -c 'echo $$; exec sleep 300'; sleep 300";

#[tokio::test]
async fn dropping_kills_everything() {
    for script in [DEAF, ESCAPED, ORPHANED, UNMARKED] {
        let (child, pids) = start(script).await;
        assert!(pids.len() >= 2 && pids.iter().all(|pid| !is_dead(*pid)), "{script}");
        let id = child.id();
        drop(child);
        eventually(|| pids.iter().all(|pid| is_dead(*pid))).await;
        eventually(|| !exists(id)).await;
    }
}

#[tokio::test]
async fn stopping_is_polite_first() {
    let (mut child, _) = start("trap 'echo bye; exit 3' TERM; echo $$; while :; do sleep 0.01; done").await;
    let mut heard = Vec::new();
    child.stop(Duration::from_secs(10), |bytes| heard.extend_from_slice(bytes)).await;
    let heard = String::from_utf8(heard).unwrap();
    assert!(heard.ends_with("bye\n"), "{heard}");
    assert_eq!(child.finish().await.unwrap().exit.code, 3);
}

#[tokio::test]
async fn stopping_kills_the_deaf() {
    let (mut child, pids) = start(DEAF).await;
    child.stop(Duration::from_millis(50), |_| {}).await;
    eventually(|| pids.iter().all(|pid| is_dead(*pid))).await;
    assert_eq!(child.finish().await.unwrap().exit.signal, Some(9));
}

#[tokio::test]
async fn a_dropped_future_kills_too() {
    let (pid_out, pid_in) = tokio::sync::oneshot::channel();
    let task = tokio::spawn(async move {
        let (mut child, pids) = start(DEAF).await;
        pid_out.send(pids).unwrap();
        child.read(&mut [0; 16]).await.unwrap();
    });
    let pids = pid_in.await.unwrap();
    task.abort();
    eventually(|| pids.iter().all(|pid| is_dead(*pid))).await;
}

#[tokio::test]
async fn what_was_kept_ends_with_its_reaper() {
    let (text, finished) = run(shell("sleep 300 >/dev/null 2>&1 & echo $!")).await;
    let pid: u32 = text.trim().parse().unwrap();
    let reaper = Reaper::default();
    reaper.adopt(finished.leftover.expect("sleep is still there"));
    assert!(!is_dead(pid));
    drop(reaper);
    eventually(|| is_dead(pid)).await;
}

#[tokio::test]
async fn children_survive_the_thread_that_asked_for_them() {
    let runtime = tokio::runtime::Handle::current();
    let ask = move || {
        let _guard = runtime.enter();
        shell("read -t 0.2 line < <(sleep 300); echo alive").start().unwrap()
    };
    let mut child = std::thread::spawn(ask).join().unwrap();
    assert_eq!(crate::read_all(&mut child).await, "alive\n");
}
