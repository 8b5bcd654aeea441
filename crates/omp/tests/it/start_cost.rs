//! Counts the file system calls before the first request: startup must not need more, however slow the disk is and however
//! many files it has.

use std::path::{Path, PathBuf};

use omp_testkit::{TempWorkspace, Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, Scene, within};

/// Caps the calls on files of the project and the home before the first request. About 105 in an empty home.
const MOST_BEFORE: usize = 150;
/// Caps the calls that build the access map. About 75.
const MOST_FOR_MAP: usize = 120;
/// Caps the folder listings before the first request. About 6, in folders of the user.
const MOST_LISTINGS: usize = 20;
/// Files of the large project, and in the folder beside them.
const FILES: usize = 1_000;

/// Traces threads and children with their names; only the traced calls stop the program.
const STRACE: [&str; 4] = ["-f", "-Y", "-qq", "--seccomp-bpf"];

/// The thread that scans the project until its timeout; nothing waits for it after that.
const LOOK: &str = "omp-look";
const MAP: &str = "omp-map";

/// A call as printed by strace.
struct Call {
    thread: String,
    text: String,
}

impl Call {
    /// `123<omp> statx(AT_FDCWD, "/x", …`
    fn read(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once('<')?;
        let (thread, text) = rest.split_once("> ")?;
        Some(Self { thread: thread.to_owned(), text: text.to_owned() })
    }

    /// Threads of omp have its name as a prefix; programs that it starts have their own.
    fn is_of_start(&self) -> bool {
        (self.thread.starts_with("omp") || self.thread.starts_with("tokio"))
            && self.thread != LOOK
            && self.thread != MAP
    }

    fn is_below(&self, roots: &[PathBuf]) -> bool {
        roots.iter().any(|root| self.text.contains(&format!("\"{}", root.display())))
    }
}

struct Trace {
    before: Vec<Call>,
    all: Vec<Call>,
    roots: [PathBuf; 2],
}

impl Trace {
    /// Traces a run whose requests go to this port.
    async fn of(scene: &Scene, words: &[&str]) -> Self {
        let workspace = &scene.workspace;
        can_trace(workspace).await;
        let file = workspace.tmp().join("trace");
        let strace = Omp::of(Path::new("strace"), workspace)
            .args(STRACE)
            .args(["-s", "4096", "-e", "trace=%file,getdents64,connect", "-o"])
            .args([&file])
            .args([env!("CARGO_BIN_EXE_omp")])
            .args(workspace.args(words));
        within(strace.run()).await.exits(0).prints("Done.\n");
        let text = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&text);
        let calls = || text.lines().filter_map(Call::read);
        let port = scene.server.base_url().rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
        let first = format!("sin_port=htons({port})");
        let before: Vec<Call> = calls().take_while(|call| !call.text.contains(&first)).collect();
        assert!(before.len() < calls().count(), "no request to port {port} was seen:\n{text}");
        let roots = [workspace.project(), workspace.home()].map(|root| root.canonicalize().unwrap());
        Self { before, all: calls().collect(), roots }
    }

    fn asked(&self) -> Vec<&str> {
        let asked = self.before.iter().filter(|call| call.is_of_start() && call.is_below(&self.roots));
        asked.map(|call| call.text.as_str()).collect()
    }

    fn listings(&self) -> usize {
        self.before.iter().filter(|call| call.is_of_start() && call.text.starts_with("getdents64(")).count()
    }

    fn for_map(&self) -> Vec<&str> {
        let asked = self.all.iter().filter(|call| call.thread == MAP && call.is_below(&self.roots));
        asked.map(|call| call.text.as_str()).collect()
    }
}

/// Some containers do not allow tracing.
async fn can_trace(workspace: &TempWorkspace) {
    let attempt = format!("strace {} -o /dev/null true", STRACE.join(" "));
    let ran = Omp::of(Path::new("sh"), workspace).args(["-c", &attempt]).run().await;
    assert!(
        ran.status.success(),
        "strace cannot trace here, so nothing can be counted\nhint: it needs strace 5.15 or newer and ptrace, in a \
         container `--cap-add=SYS_PTRACE`\n{ran}"
    );
}

async fn scene() -> Scene {
    let script = [Turn::call("bash", json!({"command": "true"})), Turn::text("Done.")];
    Scene::new(Wire::Completions, script).await
}

/// Creates a repository with many files, and a folder with many untracked files.
async fn fill(workspace: &TempWorkspace) {
    for number in 0..FILES {
        workspace.write(&format!("src/file{number}.rs"), "fn main() {}\n").unwrap();
    }
    let git = "git init -q . && git add -A && git -c user.name=n -c user.email=n@example.com commit -qm all";
    Omp::of(Path::new("sh"), workspace).args(["-c", git]).run().await.exits(0);
    for number in 0..FILES {
        workspace.write(&format!("entry{number}"), "").unwrap();
    }
}

#[tokio::test]
async fn the_start_asks_little_of_the_disk_however_much_is_on_it() {
    for large in [false, true] {
        let scene = scene().await;
        if large {
            fill(&scene.workspace).await;
        }
        let trace = Trace::of(&scene, &["--yolo", "-p", "go"]).await;
        let asked = trace.asked();
        // Checks that the trace is not empty.
        assert!(asked.len() > 20, "{asked:#?}");
        assert!(asked.len() <= MOST_BEFORE, "large: {large}, {} calls:\n{asked:#?}", asked.len());
        assert!(trace.listings() <= MOST_LISTINGS, "large: {large}, {} listings", trace.listings());
        let for_map = trace.for_map();
        assert!(for_map.len() > 20, "{for_map:#?}");
        assert!(for_map.len() <= MOST_FOR_MAP, "large: {large}, {} calls:\n{for_map:#?}", for_map.len());
    }
}
