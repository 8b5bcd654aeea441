//! Tests of a server that one command has left running, as the next one sees and ends it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use omp_exec::{Containment, Reaper, Shell, ShellSession};
use omp_types::{Access, AccessMap, Env};

use crate::read_all;

struct Stage {
    folder: tempfile::TempDir,
    session: Arc<ShellSession>,
    containment: Containment,
    reaper: Reaper,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let env: Env =
            [("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"), ("SHELL", "/bin/bash")].into_iter().collect();
        let session = Arc::new(ShellSession::new(Shell::choose(&env), &env, at.clone()));
        let map = AccessMap { workspace: at, ..AccessMap::default() };
        Self { folder, session, containment: Containment::new(Access::new(map)), reaper: Reaper::default() }
    }

    fn at(&self) -> &Path {
        self.folder.path()
    }

    async fn run(&self, command: &str) -> String {
        self.run_with(command, &self.containment).await
    }

    async fn run_with(&self, command: &str, containment: &Containment) -> String {
        let (spawn, turn) = self.session.begin(command, &self.session.cwd(), &BTreeMap::new(), true, containment).await;
        let mut child = spawn.start().unwrap();
        let text = read_all(&mut child).await;
        let finished = child.finish().await.unwrap();
        drop(turn);
        if let Some(leftover) = finished.leftover {
            self.reaper.adopt(leftover);
        }
        text
    }

    /// Returns its port and its process id.
    async fn serve(&self) -> (String, String) {
        let script = "import http.server, os\n\
            s = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n\
            open('up', 'w').write('%d %d\\n' % (s.server_port, os.getpid()))\ns.serve_forever()\n";
        std::fs::write(self.at().join("served.py"), script).unwrap();
        let told = self.run("rm -f up; mkfifo up; python3 served.py >log 2>&1 & read line <up; echo $line").await;
        let (port, pid) = told.trim().split_once(' ').unwrap();
        (port.to_owned(), pid.to_owned())
    }
}

fn is_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_none_or(|rest| rest.is_empty() || rest.trim_start().starts_with('Z'))
}

#[tokio::test]
async fn a_later_command_finds_and_ends_it_in_the_usual_ways() {
    let ways = [
        "kill $(lsof -ti:PORT)",
        "fuser -k -TERM PORT/tcp",
        "kill $(ss -ltnp \"sport = :PORT\" | sed -n 's/.*pid=\\([0-9]*\\).*/\\1/p')",
        "kill $(pgrep -f NEEDLE)",
    ];
    for way in ways {
        let stage = Stage::new();
        let (port, pid) = stage.serve().await;
        let look = stage
            .run(&format!("lsof -ti:{port}; fuser {port}/tcp 2>/dev/null; echo; ss -ltnp | grep -c 'pid={pid},'"))
            .await;
        let words: Vec<&str> = look.split_whitespace().collect();
        assert_eq!(words, [pid.as_str(), pid.as_str(), "1"], "{look}");
        // The folder makes the search text unique.
        let needle = stage.at().join("served.py");
        let way = way.replace("PORT", &port).replace("NEEDLE", "served[.]py");
        let way = way.replace("pgrep -f", &format!("pgrep -P {} -f", parent_of(&pid)));
        assert!(needle.exists());
        let told = stage.run(&format!("{way}; echo \"ended $?\"")).await;
        assert!(told.contains("ended 0"), "{way}: {told}");
        crate::eventually(|| is_gone(&pid)).await;
        assert_eq!(stage.run("echo on").await, "on\n");
    }
}

fn parent_of(pid: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().to_owned()
}

/// Later commands cannot inspect a process that was lent more access.
#[tokio::test]
async fn one_that_was_lent_more_is_not_looked_into() {
    let stage = Stage::new();
    let outside = tempfile::tempdir().unwrap();
    let map = AccessMap {
        workspace: stage.at().canonicalize().unwrap(),
        writable: vec![outside.path().canonicalize().unwrap()],
        ..AccessMap::default()
    };
    let lent = Containment::new(Access::new(map));
    let told = stage.run_with("sleep 300 >/dev/null 2>&1 & echo $!", &lent).await;
    let pid = told.trim();
    let file = outside.path().join("x");
    let told = stage
        .run(&format!(
            "echo x > /proc/{pid}/root{} && echo in; readlink /proc/{pid}/fd/1 && echo in; echo end",
            file.display()
        ))
        .await;
    assert!(!told.contains("\nin\n") && told.ends_with("end\n") && !file.exists(), "{told}");
    // They can inspect a process with the same access.
    let told = stage.run("sleep 300 >/dev/null 2>&1 & echo $!").await;
    let told = stage.run(&format!("readlink /proc/{}/fd/1", told.trim())).await;
    assert_eq!(told, "/dev/null\n");
}

/// The other processes are omp, and whatever else the user runs.
#[tokio::test]
async fn signals_stay_among_the_commands() {
    let stage = Stage::new();
    let own = std::process::id();
    let free = stage.run_with("sleep 300 >/dev/null 2>&1 & echo $!", &Containment::of_user()).await;
    let told =
        stage.run(&format!("for pid in {own} {}; do kill -0 $pid && echo reached; done; echo end", free.trim())).await;
    if omp_contain::standing().landlock < 6 {
        return;
    }
    assert!(!told.contains("reached") && told.ends_with("end\n"), "{told}");
}

#[tokio::test]
async fn there_are_no_devices_but_those_that_everybody_needs() {
    let stage = Stage::new();
    let told = stage.run("ls /dev; echo x >/dev/null; head -c 2 /dev/urandom | wc -c; echo y >/dev/stderr; cat <(echo sub); touch /dev/new").await;
    let names: Vec<&str> = told.lines().take_while(|line| *line != "2").collect();
    let known = [
        "console", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom",
        "zero",
    ];
    assert!(names.iter().all(|name| known.contains(name)) && names.contains(&"null"), "{told}");
    assert!(told.contains("\n2\ny\nsub\n") && told.contains("Read-only file system"), "{told}");
    let told = stage
        .run("python3 -c 'import os; m, s = os.openpty(); print(os.ttyname(s)); open(\"/dev/shm/omp-test\", \"w\")'")
        .await;
    assert!(told.starts_with("/dev/pts/"), "{told}");
}
