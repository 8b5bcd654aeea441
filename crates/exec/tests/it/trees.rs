//! Tests that whole trees die: stubborn children, grandchildren that left the group, and no zombies afterwards.

use std::path::Path;
use std::time::Duration;

use omp_exec::{Child, Reaper};

use crate::{PATIENCE, eventually, run, shell};

fn exists(pid: u32) -> bool {
    std::fs::exists(format!("/proc/{pid}")).unwrap()
}

/// Gone, or a zombie of another parent.
fn is_dead(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// Starts `script`, which prints the ids of its processes on one line.
async fn start(script: &str) -> (Child, Vec<u32>) {
    hear(shell(script).start().unwrap()).await
}

async fn hear(mut child: Child) -> (Child, Vec<u32>) {
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
/// Leaves group, session and parent, so that only the mark identifies it.
const ORPHANED: &str = "sh -c 'setsid sh -c \"echo \\$\\$; exec sleep 300\" &'; sleep 300";
/// Leaves the group and drops the mark, so that only its parent identifies it.
const UNMARKED: &str = "env -i setsid --wait sh -c 'echo $$; exec sleep 300'; sleep 300";

/// Leaves group, session, parent and mark, as a daemon with an empty environment does.
const DAEMON: &str = "env -i setsid sh -c 'setsid sh -c \"echo \\$\\$; exec sleep 300\" & exit 0'; sleep 300";

#[tokio::test]
async fn dropping_kills_everything() {
    for script in [DEAF, ESCAPED, ORPHANED, UNMARKED, DAEMON] {
        let (child, pids) = start(script).await;
        assert!(pids.len() >= 2 && pids.iter().all(|pid| !is_dead(*pid)), "{script}");
        let id = child.id();
        drop(child);
        eventually(|| pids.iter().all(|pid| is_dead(*pid))).await;
        eventually(|| !exists(id)).await;
    }
}

/// Shells that continue as soon as an older one closes a pipe.
const EAGER: &str = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    mkfifo hold$i; sleep 300 > hold$i &
    setsid sh -c \"exec < hold$i; echo \\$\\$ $! >> begun; read line; echo late >> late\" &
done
while [ \"$(cat begun 2>/dev/null | wc -l)\" -lt 12 ]; do :; done
tr '\\n' ' ' < begun; echo; wait; echo late >> late";

#[tokio::test]
async fn what_is_killed_does_not_go_on_first() {
    for _ in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let (child, pids) = hear(shell(EAGER).cwd(folder.path()).start().unwrap()).await;
        assert_eq!(pids.len(), 25);
        drop(child);
        eventually(|| pids.iter().all(|pid| is_dead(*pid))).await;
        assert!(!folder.path().join("late").exists());
    }
}

#[tokio::test]
async fn what_loses_its_owner_does_not_go_on_first() {
    for _ in 0..4 {
        let folder = kill_an_owner_of(EAGER, false).await;
        assert!(!folder.path().join("late").exists());
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
async fn waiting_keeps_the_child_and_what_it_left_behind() {
    let (mut child, pids) = start("sleep 300 & echo $!; exit 4").await;
    assert_eq!(child.wait().await.unwrap().code, 4);
    assert_eq!(child.wait().await.unwrap().code, 4);
    assert!(!is_dead(pids[0]));
    drop(child);
    eventually(|| is_dead(pids[0])).await;
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

/// This test has two roles: if it finds a script it is the owner of a tree, else it kills such an owner.
#[tokio::test]
async fn a_killed_owner_takes_its_tree_along() {
    if let Ok(script) = std::fs::read_to_string("owned-script") {
        let spawn = shell(&script);
        let contained = std::fs::exists("contained").unwrap();
        let spawn = if contained { spawn.contained(&crate::contain::workspace(Path::new("."))) } else { spawn };
        let (child, pids) = hear(spawn.start().unwrap()).await;
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        std::fs::write("pids.part", pids.join(" ")).unwrap();
        std::fs::rename("pids.part", "pids").unwrap();
        child.finish().await.unwrap();
    } else {
        for script in [DEAF, ESCAPED, ORPHANED, UNMARKED, UNMARKED_CHILD, DAEMON] {
            kill_an_owner_of(script, false).await;
            kill_an_owner_of(script, true).await;
        }
    }
}

/// Runs several at a time, each hiding in another way. The binary's own tests kill it 200 times.
#[tokio::test]
async fn no_contained_tree_ever_outlives_its_owner() {
    let scripts = [DEAF, ESCAPED, ORPHANED, UNMARKED, UNMARKED_CHILD, DAEMON];
    for _ in 0..8 {
        let mut killed = tokio::task::JoinSet::new();
        scripts.iter().for_each(|script| drop(killed.spawn(kill_an_owner_of(script, true))));
        while let Some(done) = killed.join_next().await {
            done.unwrap();
        }
    }
}

/// Its command has exited, and it has left everything that it could.
#[tokio::test]
async fn a_contained_daemon_is_kept_and_ends_with_its_reaper() {
    let folder = tempfile::tempdir().unwrap();
    // The shell waits for its output, not for its exit.
    let script =
        "mkfifo up; env -i setsid sh -c 'echo $$; echo >up; exec sleep 300 >/dev/null 2>&1' & read word <up; true";
    let spawn = shell(script).contained(&crate::contain::workspace(folder.path())).cwd(folder.path());
    let (text, finished) = run(spawn).await;
    let pid: u32 = text.trim().parse().unwrap();
    let reaper = Reaper::default();
    reaper.adopt(finished.leftover.expect("it is found"));
    assert!(!is_dead(pid));
    drop(reaper);
    eventually(|| is_dead(pid)).await;
}

/// Leaves the group and drops the mark below the shell itself.
const UNMARKED_CHILD: &str = "env -i setsid sh -c 'echo $$; exec sleep 300' & wait; sleep 300";

/// Returns the folder that it ran in.
async fn kill_an_owner_of(script: &str, contained: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    if contained {
        std::fs::write(folder.path().join("contained"), "").unwrap();
    }
    std::fs::write(folder.path().join("owned-script"), script).unwrap();
    let this_test = ["--exact", "trees::a_killed_owner_takes_its_tree_along"];
    let owner = omp_exec::Spawn::new(
        std::env::current_exe().unwrap(),
        omp_exec::ChildEnv::default(),
        &omp_exec::Containment::of_user(),
    )
    .args(this_test)
    .cwd(folder.path())
    .start()
    .unwrap();
    let mut pids = String::new();
    eventually(|| std::fs::read_to_string(folder.path().join("pids")).map(|text| pids = text).is_ok()).await;
    let pids: Vec<u32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();
    assert!(pids.len() >= 2 && pids.iter().all(|pid| !is_dead(*pid)), "{script}");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(owner.id() as i32), nix::sys::signal::Signal::SIGKILL).unwrap();
    eventually(|| pids.iter().all(|pid| is_dead(*pid))).await;
    folder
}

/// Doubles nine times, as far as the test allows.
const BOMB: &str = "f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep 300; }; f 9";

#[tokio::test]
async fn a_fork_bomb_is_put_out() {
    for script in [BOMB.to_owned(), format!("({BOMB}) >/dev/null 2>&1 & sleep 300"), format!("({BOMB}) & exit 0")] {
        let limits = omp_exec::ProcessLimits { tree_processes: Some(100), ..omp_exec::ProcessLimits::default() };
        let mut child = shell(&script).limits(limits).start().unwrap();
        let group = child.id();
        crate::read_all(&mut child).await;
        let reaper = Reaper::default();
        if let Some(leftover) = child.finish().await.unwrap().leftover {
            reaper.adopt(leftover);
        }
        eventually(|| group_is_empty(group)).await;
    }
}

fn group_is_empty(group: u32) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let mut groups = stats.filter_map(|stat| {
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        (*fields.first()? != "Z").then(|| fields.get(2).and_then(|group| group.parse::<u32>().ok())).flatten()
    });
    !groups.any(|found| found == group)
}

#[tokio::test]
async fn a_tree_takes_no_more_memory_than_its_own_limit() {
    let limits = omp_exec::ProcessLimits { tree_memory: Some(200 << 20), ..omp_exec::ProcessLimits::default() };
    // The limit is exceeded by both together, by neither alone.
    let two = "for i in 1 2; do python3 -c 'x = bytearray(150 << 20); import time; time.sleep(300)' & done; wait";
    let (_, finished) = run(shell(two).limits(limits)).await;
    assert_eq!(finished.overran, Some(omp_exec::Overrun::Memory));
    // Memory shared since a fork counts once, and reserved memory not at all.
    let shared = "import os, mmap, time\nx = bytearray(120 << 20)\ny = mmap.mmap(-1, 4 << 30)\n\
        for i in range(3):\n    if not os.fork():\n        time.sleep(1)\n        os._exit(0)\n\
        for i in range(3): os.wait()\nprint('done')";
    let (said, finished) = run(shell(&format!("python3 -c \"{shared}\"")).limits(limits)).await;
    assert_eq!((said.as_str(), finished.overran), ("done\n", None));
}

#[tokio::test]
async fn files_have_a_largest_size() {
    let folder = tempfile::tempdir().unwrap();
    let limits = omp_exec::ProcessLimits { file_bytes: Some(1 << 20), ..omp_exec::ProcessLimits::default() };
    let (_, finished) = run(shell("exec head -c 3000000 /dev/zero > big").cwd(folder.path()).limits(limits)).await;
    assert_eq!(finished.exit.signal, Some(25));
    assert_eq!(std::fs::metadata(folder.path().join("big")).unwrap().len(), 1 << 20);
    // An existing limit is not raised.
    let inner = omp_exec::ProcessLimits { file_bytes: Some(u64::MAX), ..omp_exec::ProcessLimits::default() };
    assert_eq!(run(shell("echo fine").limits(inner)).await.0, "fine\n");
}
