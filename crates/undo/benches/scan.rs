//! Scans an unchanged tree of 20,000 files, compared with `git status`: `cargo bench -p omp-undo --bench scan`.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used, reason = "a bench is its own program")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use omp_undo::{Call, Undo, UndoOptions};

const FILES: usize = 20_000;
const IN_A_FOLDER: usize = 20;
const ROUNDS: usize = 15;

fn main() {
    // `cargo test --all-targets` starts benches too, without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let workspace = root.path().join("workspace");
    generate(&workspace);
    let undo = Undo::open(UndoOptions {
        store: root.path().join("store"),
        workspace: workspace.clone(),
        session: "bench".to_owned(),
        quota: 1 << 30,
        max_file: 16 << 20,
        max_entries: 200_000,
        patience: omp_undo::PATIENCE,
        attributes: Vec::new(),
    })
    .unwrap();
    undo.begin_turn("bench");
    let first = timed(|| undo.before_call(Call { id: "first".into(), tool: "bash".into() }, false).unwrap());
    let before = worked();
    let mut looks: Vec<Duration> = (0..ROUNDS).map(|_| timed(|| drop(undo.preview(&Default::default())))).collect();
    let each = (worked() - before) / ROUNDS as u32;
    git(&workspace, &["init", "-q"]);
    git(&workspace, &["add", "."]);
    git(&workspace, &["-c", "gc.auto=0", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x"]);
    let mut statuses: Vec<Duration> =
        (0..ROUNDS).map(|_| timed(|| git(&workspace, &["status", "--porcelain"]))).collect();
    looks.sort();
    statuses.sort();
    let (look, status) = (looks[ROUNDS / 2], statuses[ROUNDS / 2]);
    println!("{FILES} files: first look {first:.1?}");
    println!("a look at the unchanged tree: median {look:.1?}, best {:.1?}", looks[0]);
    println!("processor time of a look, all threads: {each:.1?}");
    println!("git status: median {status:.1?}; ratio {:.2}", look.as_secs_f64() / status.as_secs_f64());
}

/// Processor time of this process, which is more meaningful than wall-clock time on a busy machine.
#[cfg(unix)]
fn worked() -> Duration {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let spent = |time: nix::sys::time::TimeVal| Duration::new(time.tv_sec() as u64, time.tv_usec() as u32 * 1000);
    spent(usage.user_time()) + spent(usage.system_time())
}

#[cfg(not(unix))]
fn worked() -> Duration {
    Duration::ZERO
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn generate(workspace: &Path) {
    for file in 0..FILES {
        let folder = workspace.join(format!("d{}/e{}", file / IN_A_FOLDER / 20, file / IN_A_FOLDER));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("f{file}.rs")), format!("fn number_{file}() {{}}\n").repeat(40)).unwrap();
    }
    std::fs::write(workspace.join(".gitignore"), "target/\n*.log\n").unwrap();
}

fn git(workspace: &Path, arguments: &[&str]) {
    let status = Command::new("git").args(arguments).current_dir(workspace).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
}
