//! What undo costs in a large repository: `cargo bench -p omp-undo --bench scale [-- FOLDER]`.
//!
//! Without a folder one with 300,000 files is made, which takes minutes. A folder that is given is only changed by one file,
//! which is put back.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used, reason = "a bench is its own program")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use omp_undo::{Call, Options, Stop, Undo, Wanted};

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
    for round in ["with git", "without git"] {
        let hidden = workspace.join(".git-aside");
        if round == "without git" {
            std::fs::rename(workspace.join(".git"), &hidden).unwrap();
        }
        let store = root.path().join(round);
        println!("{round}:");
        measure(&workspace, &store);
        if hidden.exists() {
            std::fs::rename(hidden, workspace.join(".git")).unwrap();
        }
    }
}

fn measure(workspace: &Path, store: &Path) {
    let undo = Undo::open(Options {
        store: store.to_owned(),
        workspace: workspace.to_owned(),
        session: "bench".to_owned(),
        quota: 2 << 30,
        max_file: 16 << 20,
        max_entries: 600_000,
        patience: omp_undo::PATIENCE,
        attributes: Vec::new(),
    })
    .unwrap();
    let call = |id: &str| Call { id: id.to_owned(), tool: "bash".to_owned() };
    undo.begin_turn("x");
    println!("  first look, before the first command: {:.2?}", timed(|| undo.before_call(call("a"), false).unwrap()));
    println!("  entries: {}, disk used: {:.1} MB", undo.entries(), used(store) as f64 / 1e6);
    for one in undo.left_out() {
        println!("  not covered: {} ({})", one.count, one.why.as_str());
    }
    println!("  look after it: {:.2?}", timed(|| drop(undo.after_call("a").unwrap())));
    let rest = timed(|| while undo.go_on(&Stop::default()).unwrap() {});
    println!("  copied in the background: {rest:.2?}, disk used: {:.1} MB", used(store) as f64 / 1e6);
    let file = first_file(workspace);
    let before = std::fs::read(&file).unwrap();
    undo.begin_turn("y");
    let look = timed(|| undo.before_call(call("b"), false).unwrap());
    std::fs::write(&file, "changed").unwrap();
    let after = timed(|| drop(undo.after_call("b").unwrap()));
    println!("  a later command that changes one file: {look:.2?} before, {after:.2?} after");
    let mut is_back = false;
    let back = timed(|| is_back = undo.undo(&Wanted::default()).is_ok_and(|report| report.restored.len() == 1));
    println!("  undo of it: {back:.2?}, {}", if is_back { "the file is back" } else { "NOT COVERED" });
    std::fs::write(&file, before).unwrap();
}

fn first_file(folder: &Path) -> PathBuf {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.retain(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'));
    entries.sort();
    let first = entries.remove(0);
    if first.is_dir() { first_file(&first) } else { first }
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
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
    // Straight into a pack.
    git(workspace, &["-c", "core.bigFileThreshold=1", "add", "."]);
    git(workspace, &["-c", "gc.auto=0", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x"]);
    workspace.to_owned()
}

fn git(workspace: &Path, arguments: &[&str]) {
    let status = Command::new("git").args(arguments).current_dir(workspace).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
}
