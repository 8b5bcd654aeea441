//! Tests of scans that end early, and of turns that end during a scan.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::*;

const FOLDERS: [&str; 3] = ["d", "d/e", "many"];

fn opened(root: &Path) -> Undo {
    Undo::open(UndoOptions {
        store: root.join("store"),
        workspace: root.join("workspace"),
        session: "s".to_owned(),
        quota: 1 << 30,
        max_file: 1 << 20,
        max_entries: 100_000,
        patience: PATIENCE,
        attributes: Vec::new(),
    })
    .unwrap()
}

struct Place {
    root: tempfile::TempDir,
    undo: Undo,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let place = Self { undo: opened_in(&root), root };
        for folder in FOLDERS {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        for name in ["top", "d/a", "d/b", "d/e/f", "d/e/g"] {
            place.write(name, "1");
        }
        for number in 0..200 {
            place.write(&format!("many/{number:03}"), "1");
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("workspace").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn before(&self, id: &str) {
        self.undo.before_call(Call { id: id.to_owned(), tool: "bash".to_owned() }, false).unwrap();
    }

    fn destroy(&self) {
        self.write("top", "2");
        self.write("d/a", "2");
        self.write("many/150", "2");
        fs::remove_dir_all(self.path("d/e")).unwrap();
        fs::create_dir(self.path("d/new")).unwrap();
        self.write("d/new/x", "2");
        std::os::unix::fs::symlink("a", self.path("d/link")).unwrap();
    }

    fn is_destroyed(&self) -> bool {
        let read = |name: &str| fs::read_to_string(self.path(name)).ok();
        let is_changed = |name: &&str| read(name).as_deref() == Some("2");
        let changed = ["top", "d/a", "many/150", "d/new/x", "d/link"].iter().filter(|name| is_changed(name)).count();
        let is_gone = !self.path("d/e").exists();
        assert!((changed == 5) == is_gone && (changed == 0) != is_gone, "only some of it");
        if !is_gone {
            let back = ["top", "d/a", "d/e/f", "d/e/g", "many/150"].map(|name| read(name).unwrap());
            assert_eq!(back, ["1"; 5]);
            assert!(!self.path("d/new").exists() && self.path("d/link").symlink_metadata().is_err());
        }
        is_gone
    }
}

fn opened_in(root: &tempfile::TempDir) -> Undo {
    fs::create_dir(root.path().join("workspace")).unwrap();
    opened(root.path())
}

#[test]
fn what_was_covered_comes_back_although_there_is_no_time_to_look_any_more() {
    // In the same turn, in another one, and in another process.
    for later in 0..3 {
        let mut place = Place::new();
        place.undo.begin_turn("x");
        place.before("c1");
        place.destroy();
        assert!(!place.undo.after_call("c1").unwrap().is_empty());
        if later == 2 {
            place.undo = opened(place.root.path());
        }
        place.undo.options.patience = Duration::ZERO;
        if later > 0 {
            place.undo.begin_turn("y");
        }
        place.before("c2");
        let unseen: Vec<String> =
            place.undo.left_out().iter().flat_map(|one| &one.paths).map(RelPath::to_string).collect();
        assert_eq!(unseen, ["d", "many"], "it is told before the call");
        place.write("d/b", "not seen");
        assert_eq!(place.undo.after_call("c2").unwrap(), []);
        place.undo.end_turn().unwrap();
        for _ in 0..2 {
            let report = place.undo.undo(&UndoRequest::default()).unwrap();
            assert_eq!(report.left, []);
            assert!(!place.is_destroyed());
            assert_eq!(place.undo.redo(false).unwrap().left, []);
            assert!(place.is_destroyed());
        }
        // The user's edit is detected as well.
        place.write("d/a", "the user's");
        let report = place.undo.undo(&UndoRequest::default()).unwrap();
        assert_eq!(
            report.left.iter().map(|(path, why)| (path.to_string(), why)).collect::<Vec<_>>(),
            [("d/a".to_owned(), &LeftReason::Changed)]
        );
        assert_eq!(fs::read_to_string(place.path("d/a")).unwrap(), "the user's");
        assert_eq!(fs::read_to_string(place.path("d/b")).unwrap(), "not seen");
        // With enough time everything is covered again, and unseen files do not count as changed.
        place.undo.options.patience = PATIENCE;
        place.undo.begin_turn("z");
        place.before("c3");
        assert_eq!(place.undo.left_out(), []);
        assert_eq!(place.undo.after_call("c3").unwrap(), []);
        let again = opened(place.root.path());
        assert_eq!(again.uncovered(), [], "the index file says the same");
    }
}

#[test]
fn while_other_calls_run_nothing_is_left_out() {
    let mut place = Place::new();
    place.undo.begin_turn("x");
    place.before("c1");
    place.undo.options.patience = Duration::ZERO;
    place.write("d/a", "2");
    place.before("c2");
    assert_eq!(place.undo.left_out(), []);
    place.write("d/e/f", "2");
    place.undo.after_call("c1").unwrap();
    place.undo.after_call("c2").unwrap();
    assert_eq!(place.undo.undo(&UndoRequest::default()).unwrap().left, []);
    assert_eq!(["d/a", "d/e/f"].map(|name| fs::read_to_string(place.path(name)).unwrap()), ["1"; 2]);
}

#[test]
fn a_turn_begins_while_somebody_looks_and_a_late_end_is_not_the_end_of_the_next() {
    let place = Place::new();
    place.undo.begin_turn("x");
    let first = place.undo.turns_begun();
    place.before("c1");
    place.write("top", "2");
    {
        let _looks = place.undo.lock();
        place.undo.begin_turn("y");
        assert!(place.undo.go_on(&StopFlag::default()).unwrap(), "the background does not wait either");
    }
    // The abandoned turn is ended late.
    place.undo.end_turn_of(first).unwrap();
    place.before("c2");
    place.undo.end_turn_of(first).unwrap();
    place.write("d/a", "2");
    assert_eq!(place.undo.after_call("c1").unwrap(), [], "it was seen when the turn was closed");
    assert_eq!(place.undo.after_call("c2").unwrap().len(), 1);
    place.undo.end_turn().unwrap();
    let turns: Vec<(String, usize)> =
        place.undo.turns().into_iter().map(|turn| (turn.label.clone(), turn.changes().len())).collect();
    assert_eq!(turns, [("x".to_owned(), 1), ("y".to_owned(), 1)]);
}

#[test]
fn who_is_not_wanted_any_more_does_not_even_close_the_turn() {
    let place = Place::new();
    place.undo.begin_turn("x");
    place.before("c1");
    place.undo.begin_turn("y");
    let stop = StopFlag::default();
    stop.stop();
    let call = Call { id: "c2".to_owned(), tool: "bash".to_owned() };
    assert!(matches!(place.undo.before_call_unless(call, false, &stop), Err(UndoError::Stopped)));
    assert_eq!(place.undo.lock().turn.as_ref().map(|turn| turn.open.len()), Some(1));
}

/// Returns the files of the store except contents.
fn written(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![root.join("store/turns"), root.join("store/workspaces")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                files.push((entry.clone(), fs::read(&entry).unwrap()));
            }
        }
    }
    files
}

#[test]
fn whoever_is_killed_while_the_end_of_a_call_is_written_down_loses_nothing() {
    // Nothing is written, only the turn is, or both are.
    for done in 0..3 {
        let mut place = Place::new();
        place.undo.begin_turn("x");
        place.before("c0");
        place.write("d/b", "2");
        place.undo.after_call("c0").unwrap();
        place.before("c1");
        place.destroy();
        let before = written(place.root.path());
        place.undo.after_call("c1").unwrap();
        drop(std::mem::replace(&mut place.undo, opened(&place.root.path().join("elsewhere"))));
        for (file, content) in before {
            let is_turn = file.extension().is_some();
            if done == 0 || (done == 1 && !is_turn) {
                fs::write(file, content).unwrap();
            }
        }
        place.undo = opened(place.root.path());
        assert_eq!(place.undo.undo(&UndoRequest::default()).unwrap().left, [], "{done}");
        assert!(!place.is_destroyed());
        assert_eq!(fs::read_to_string(place.path("d/b")).unwrap(), "1");
    }
}

#[expect(clippy::disallowed_methods, reason = "a program that omp itself never starts")]
fn git(folder: &Path, arguments: &[&str]) {
    let user = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
    let done = std::process::Command::new("git")
        .args(user)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn git_is_asked_about_what_there_was_no_time_for_at_first() {
    let mut place = Place::new();
    let old = fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_001));
    for name in ["d/a", "d/b", "d/e/f"] {
        fs::File::options().write(true).open(place.path(name)).unwrap().set_times(old).unwrap();
    }
    for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "x"], &["repack", "-adq"]] {
        git(&place.path(""), arguments);
    }
    // An index is trusted only if it is newer than the files in it.
    let soon = fs::FileTimes::new().set_modified(std::time::SystemTime::now() + Duration::from_secs(10));
    fs::File::options().write(true).open(place.path(".git/index")).unwrap().set_times(soon).unwrap();
    let is_of_git = |place: &Place, name: &str| {
        let state = place.undo.lock();
        let record = state.tree.as_ref().unwrap().get(&RelPath::of(Path::new(name)).unwrap());
        record.is_some_and(|record| record.node.digest().is_some_and(|digest| digest.as_git().is_some()))
    };
    place.undo.options.patience = Duration::ZERO;
    place.undo.begin_turn("x");
    place.before("c1");
    assert!(!is_of_git(&place, "d/a") && place.undo.left_out().iter().any(|one| one.why == Uncovered::TooSlow));
    place.undo.after_call("c1").unwrap();
    place.undo.options.patience = PATIENCE;
    place.undo.begin_turn("y");
    place.before("c2");
    for name in ["d/a", "d/b", "d/e/f"] {
        assert!(is_of_git(&place, name), "{name}");
    }
    place.destroy();
    place.undo.after_call("c2").unwrap();
    assert_eq!(place.undo.undo(&UndoRequest::default()).unwrap().left, []);
    assert!(!place.is_destroyed());
}
