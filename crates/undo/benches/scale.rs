//! Measures undo in a large repository: `cargo bench -p omp-undo --bench scale [-- FOLDER]`.
//!
//! Without a folder, one with 300,000 files is created, which takes minutes. In a given folder only one file is changed, and
//! restored afterwards.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used, reason = "a bench is its own program")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use omp_undo::{Call, StopFlag, Undo, UndoOptions, UndoRequest};

const FILES: usize = 300_000;
const IN_A_FOLDER: usize = 100;

fn main() {
    // `cargo test --all-targets` starts benches too, without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let given = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).map(PathBuf::from);
    let workspace = given.unwrap_or_else(|| generated(&root.path().join("workspace"))).canonicalize().unwrap();
    if workspace.join(".git").exists() {
        println!("with git:");
        measure(&workspace, &root.path().join("with git"));
        // Kept next to it, so that it can be found if the bench is interrupted.
        let mut hidden = workspace.clone().into_os_string();
        hidden.push(".git-aside");
        let hidden = PathBuf::from(hidden);
        std::fs::rename(workspace.join(".git"), &hidden).unwrap();
        println!("without git:");
        measure(&workspace, &root.path().join("without git"));
        std::fs::rename(hidden, workspace.join(".git")).unwrap();
    } else {
        measure(&workspace, &root.path().join("store"));
    }
}

fn opened(workspace: &Path, store: &Path) -> Undo {
    Undo::open(UndoOptions {
        store: store.to_owned(),
        workspace: workspace.to_owned(),
        session: "bench".to_owned(),
        quota: 2 << 30,
        max_file: 16 << 20,
        max_entries: 600_000,
        patience: omp_undo::PATIENCE,
        attributes: Vec::new(),
    })
    .unwrap()
}

fn measure(workspace: &Path, store: &Path) {
    let undo = opened(workspace, store);
    let call = |id: &str| Call { id: id.to_owned(), tool: "bash".to_owned() };
    undo.begin_turn("x");
    println!("  first look, before the first command: {}", timed(|| undo.before_call(call("a"), false).unwrap()));
    println!("  entries: {}, {}, peak memory {}", undo.entries(), disk(&undo, store), peak());
    for one in undo.left_out() {
        println!("  not covered: {} ({})", one.count, one.why.as_str());
    }
    println!("  look after it: {}", timed(|| drop(undo.after_call("a").unwrap())));
    let rest = timed(|| while undo.go_on(&StopFlag::default()).unwrap() {});
    println!("  copied in the background: {rest}; {}", disk(&undo, store));
    let file = first_file(workspace);
    let before = std::fs::read(&file).unwrap();
    for (what, undo) in [("a later command", undo), ("the first of another process", opened(workspace, store))] {
        undo.begin_turn("y");
        let look = timed(|| undo.before_call(call("b"), false).unwrap());
        for one in undo.left_out() {
            println!("  not covered: {} ({})", one.count, one.why.as_str());
        }
        std::fs::write(&file, "changed").unwrap();
        let after = timed(|| drop(undo.after_call("b").unwrap()));
        println!("  {what}, which changes one file: {look} before, {after} after, peak memory {}", peak());
        let mut is_back = false;
        let back =
            timed(|| is_back = undo.undo(&UndoRequest::default()).is_ok_and(|report| report.restored.len() == 1));
        println!("  undo of it: {back}, {}", if is_back { "the file is back" } else { "NOT COVERED" });
        std::fs::write(&file, &before).unwrap();
    }
}

/// Disk usage of the store, and the part that the quota counts.
fn disk(undo: &Undo, store: &Path) -> String {
    let counted = undo.collect().unwrap().bytes_before;
    let index: u64 = std::fs::read_dir(store.join("workspaces")).unwrap().map(|it| blocks(&it.unwrap().path())).sum();
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    format!(
        "disk used {:.1} MB, the quota counts {:.1} MB, {:.1} MB of it say how files looked",
        megabytes(used(store)),
        megabytes(counted),
        megabytes(index)
    )
}

fn first_file(folder: &Path) -> PathBuf {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.retain(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'));
    entries.sort();
    let first = entries.remove(0);
    if first.is_dir() { first_file(&first) } else { first }
}

/// Wall-clock time, and processor time of the process.
fn timed(work: impl FnOnce()) -> String {
    let (begun, before) = (Instant::now(), worked().0);
    work();
    format!("{:.2?} ({:.2?} of processor)", begun.elapsed(), worked().0 - before)
}

fn peak() -> String {
    format!("{} MB", worked().1 / 1000)
}

/// Processor time of all threads, and peak memory in kB.
#[cfg(unix)]
fn worked() -> (Duration, i64) {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let spent = |time: nix::sys::time::TimeVal| Duration::new(time.tv_sec() as u64, time.tv_usec() as u32 * 1000);
    (spent(usage.user_time()) + spent(usage.system_time()), usage.max_rss())
}

#[cfg(not(unix))]
fn worked() -> (Duration, i64) {
    (Duration::ZERO, 0)
}

fn used(folder: &Path) -> u64 {
    let one = |path: &Path| if path.is_dir() { used(path) } else { blocks(path) };
    std::fs::read_dir(folder).unwrap().map(|entry| one(&entry.unwrap().path())).sum()
}

#[cfg(unix)]
fn blocks(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(&path.metadata().unwrap()) * 512
}

#[cfg(not(unix))]
fn blocks(path: &Path) -> u64 {
    path.metadata().unwrap().len()
}

fn generated(workspace: &Path) -> PathBuf {
    for file in 0..FILES {
        let folder = workspace.join(format!("d{}/e{}", file / IN_A_FOLDER / 50, file / IN_A_FOLDER));
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!("fn number_{file}() {{}}\n").repeat(20 + file % 30);
        std::fs::write(folder.join(format!("f{file}.rs")), text).unwrap();
    }
    git(workspace, &["init", "-q"]);
    // Writes directly into a pack.
    git(workspace, &["-c", "core.bigFileThreshold=1", "add", "."]);
    git(workspace, &["-c", "gc.auto=0", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x"]);
    workspace.to_owned()
}

fn git(workspace: &Path, arguments: &[&str]) {
    let status = Command::new("git").args(arguments).current_dir(workspace).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
}
