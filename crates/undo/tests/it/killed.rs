//! Tests of processes killed at any moment: no file is torn, and no record refers to missing data.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use omp_undo::{Call, Node, Undo, UndoRequest};

use crate::place::options;

const WORKER: &str = "OMP_UNDO_TEST_WORKER";
const FILES: usize = 12;
const KILLS: u64 = 12;

fn content(round: usize, file: usize) -> String {
    format!("round {round} of file {file}\n").repeat(3000)
}

/// Changes every file, undoes and redoes it.
fn work(root: &Path, rounds: usize) {
    let undo = Undo::open(options(root)).unwrap();
    for round in 0..rounds {
        undo.begin_turn("x");
        undo.before_call(Call { id: "c".into(), tool: "bash".into() }, false).unwrap();
        for file in 0..FILES {
            let place = root.join(format!("workspace/f{file}"));
            // Written atomically, so that only undo itself could leave a torn file.
            fs::write(root.join("aside"), content(round, file)).unwrap();
            fs::rename(root.join("aside"), place).unwrap();
        }
        undo.after_call("c").unwrap();
        undo.undo(&UndoRequest::default()).unwrap();
        undo.redo(false).unwrap();
    }
}

/// Without a parent it does a few rounds; with one it runs until it is killed.
#[test]
fn worker() {
    if let Ok(root) = std::env::var(WORKER) {
        work(Path::new(&root), usize::MAX);
    }
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("workspace")).unwrap();
    work(root.path(), 3);
    check(root.path());
}

#[test]
fn killed_at_any_moment_nothing_is_torn_and_nothing_named_is_missing() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("workspace")).unwrap();
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::worker"])
            .env(WORKER, root.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Kills at varying moments.
        std::thread::sleep(Duration::from_millis(20 + kill * 37 % 290));
        child.kill().unwrap();
        child.wait().unwrap();
        check(root.path());
    }
}

/// After a process was killed during a call, the listed changes are those that the undo reverts.
#[test]
fn what_a_call_that_was_cut_off_changed_is_listed_as_it_is_taken_back() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("workspace/f0");
    fs::create_dir(root.path().join("workspace")).unwrap();
    fs::write(&file, "before").unwrap();
    let cut_off = Undo::open(options(root.path())).unwrap();
    cut_off.begin_turn("cut off");
    cut_off.before_call(Call { id: "c".into(), tool: "bash".into() }, false).unwrap();
    fs::write(&file, "after!").unwrap();
    drop(cut_off);

    let undo = Undo::open(options(root.path())).unwrap();
    undo.catch_up().unwrap();
    let turns = undo.turns();
    assert_eq!(turns.len(), 1);
    assert_eq!((turns[0].label.as_str(), turns[0].changes().len()), ("cut off", 1));
    drop(undo);
    // Later changes of the user do not belong to the call.
    fs::write(root.path().join("workspace/mine"), "mine").unwrap();
    let undo = Undo::open(options(root.path())).unwrap();
    undo.catch_up().unwrap();
    assert_eq!(undo.turns()[0].changes().len(), 1);
    undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "before");
    assert!(root.path().join("workspace/mine").exists());
}

fn check(root: &Path) {
    for entry in fs::read_dir(root.join("workspace")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if let Some(file) = name.strip_prefix('f') {
            let found = fs::read_to_string(&path).unwrap();
            let round: usize = found.split(' ').nth(1).unwrap().parse().unwrap();
            assert!(found == content(round, file.parse().unwrap()), "{name} is torn");
        }
    }
    let undo = Undo::open(options(root)).unwrap();
    for change in undo.turns().iter().flat_map(|turn| turn.changes()) {
        for node in [change.before, change.after].into_iter().flatten() {
            if let Node::File { hash, .. } = node {
                undo.content(&hash).unwrap();
            }
        }
    }
    // The next undo works after any interruption.
    drop(undo.undo(&UndoRequest { force: true, ..UndoRequest::default() }));
    for entry in fs::read_dir(root.join("workspace")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(name.starts_with('f'), "{name} was left behind");
    }
}
