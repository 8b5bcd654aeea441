//! Tests of a full disk: failures are reported, and no file is torn. Simulated by a process with a file size limit and, if
//! the system allows it, by a small file system that is full.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigHandler, Signal, signal};
use omp_undo::{Call, LeftReason, Undo, UndoError, UndoRequest};

use crate::place::{Place, options};

const WORKER: &str = "OMP_UNDO_TEST_FULL";
/// More than the worker may write, even compressed.
const LARGE: usize = 60_000;
const ROOM: u64 = 8_000;

fn large(seed: u32) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as u8
    };
    (0..LARGE).map(|_| next()).collect()
}

/// Does nothing unless a parent process specifies a command.
#[test]
fn worker() {
    let Ok(asked) = std::env::var(WORKER) else { return };
    let (what, root) = asked.split_once(' ').unwrap();
    let undo = Undo::open(options(Path::new(root))).unwrap();
    match what {
        "fill" => return fill(&undo, Path::new(root)),
        "room" => return with_room(&undo, Path::new(root)),
        _ => {}
    }
    // Otherwise the signal would kill the process instead of returning an error. SAFETY: no handler is run by the signal.
    unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) }.unwrap();
    setrlimit(Resource::RLIMIT_FSIZE, ROOM, ROOM).unwrap();
    match what {
        "look" => {
            undo.begin_turn("x");
            let call = Call { id: "c".into(), tool: "bash".into() };
            assert!(matches!(undo.before_call(call, false), Err(UndoError::Store(_))));
            assert_eq!(undo.after_call("c").unwrap(), []);
            undo.end_turn().unwrap();
        }
        _ => {
            let report = undo.undo(&UndoRequest::default()).unwrap();
            assert!(!report.restored.is_empty(), "{report:?}");
            let left: Vec<String> = report.left.iter().map(|(path, _)| path.to_string()).collect();
            assert_eq!(left, ["kind", "large"], "{report:?}");
            assert!(report.left.iter().all(|(_, why)| matches!(why, LeftReason::Failed(_))), "{report:?}");
        }
    }
}

const FILES: u32 = 3;
const ROUNDS: u32 = 40;

fn round(undo: &Undo, root: &Path, number: u32) -> Result<(), UndoError> {
    undo.begin_turn("x");
    let begun = undo.before_call(Call { id: "c".into(), tool: "bash".into() }, false);
    // The call runs nevertheless.
    fs::write(root.join(format!("workspace/f{}", number % FILES)), large(number)).unwrap();
    let seen = undo.after_call("c");
    begun.and(seen.map(drop)).and(undo.end_turn())
}

/// Continues when the store is full: the error is reported, and files are in the state that the calls or an undo left.
fn fill(undo: &Undo, root: &Path) {
    let mut told = 0;
    for number in 0..ROUNDS {
        match round(undo, root, number) {
            Ok(()) => {}
            Err(UndoError::Store(_)) => told += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(told > 0, "the store never got full");
    for _ in 0..ROUNDS {
        if undo.undo(&UndoRequest::default()).is_err() {
            break;
        }
    }
    for file in 0..FILES {
        let found = fs::read(root.join(format!("workspace/f{file}")));
        let is_whole = found.map_or(true, |found| (0..ROUNDS).any(|number| found == large(number)));
        assert!(is_whole, "f{file} is torn");
    }
}

/// Checks that all referenced data exists and everything works.
fn with_room(undo: &Undo, root: &Path) {
    for change in undo.turns().iter().flat_map(|turn| turn.changes()) {
        for node in [change.before, change.after].into_iter().flatten() {
            if let omp_undo::Node::File { hash, .. } = node {
                undo.content(&hash).unwrap();
            }
        }
    }
    let before = crate::place::state(&root.join("workspace"));
    round(undo, root, 1000).unwrap();
    assert_ne!(crate::place::state(&root.join("workspace")), before);
    let report = undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(report.left, []);
    assert_eq!(crate::place::state(&root.join("workspace")), before);
}

/// Returns `None` if this user may not mount file systems.
fn in_a_small_file_system(place: &Place, kilobytes: u32, command: &str) -> Option<bool> {
    let store = place.root.path().join("store");
    let script = |rest: &str| format!("mount -t tmpfs -o size={kilobytes}k none \"$STORE\" && {{ {rest}; }}");
    let run = |rest: &str| {
        Command::new("unshare")
            .args(["-rm", "sh", "-c", &script(rest), "sh"])
            .arg(std::env::current_exe().unwrap())
            .env("STORE", &store)
            .env("ROOT", place.root.path())
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    run("true").then(|| run(command))
}

#[test]
fn a_full_file_system_is_told_and_harms_neither_files_nor_store() {
    for kilobytes in [16, 40, 96, 200, 400, 900] {
        let place = Place::new();
        let ask = |what: &str| format!("{WORKER}=\"{what} $ROOT\" \"$1\" --exact full::worker");
        let command = format!("{} && mount -o remount,size=64m none \"$STORE\" && {}", ask("fill"), ask("room"));
        match in_a_small_file_system(&place, kilobytes, &command) {
            Some(went_well) => assert!(went_well, "{kilobytes} KiB"),
            None => return,
        }
    }
}

#[track_caller]
fn ask_worker(place: &Place, what: &str) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "full::worker"])
        .env(WORKER, format!("{what} {}", place.root.path().display()))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_look_that_finds_no_room_is_told_and_harms_nothing() {
    let place = Place::new();
    place.write("small", "1");
    fs::write(place.path("large"), large(7)).unwrap();
    let before = place.state();
    ask_worker(&place, "look");
    assert_eq!(place.state(), before);
    assert!(place.undo.turns().is_empty());
    // With space available again, it works as before.
    place.shell("rm large; echo 2 > small");
    place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(place.state(), before);
}

#[test]
fn an_undo_that_finds_no_room_leaves_each_file_old_or_new_and_can_be_repeated() {
    let place = Place::new();
    place.write("small", "1");
    fs::write(place.path("large"), large(7)).unwrap();
    fs::write(place.path("kind"), large(9)).unwrap();
    let before = place.state();
    // One becomes a folder: it must not be removed if the file cannot be restored.
    place.shell("echo 2 > small; echo 2 > large; rm kind; mkdir kind");
    place.undo.end_turn().unwrap();
    ask_worker(&place, "undo");
    assert_eq!((place.read("small").as_str(), place.read("large").as_str()), ("1", "2\n"));
    assert!(place.path("kind").is_dir());
    assert_eq!(fs::read_dir(place.workspace()).unwrap().count(), 3, "nothing half written is left");

    let again = Undo::open(options(place.root.path())).unwrap();
    let report = again.undo(&UndoRequest::default()).unwrap();
    assert_eq!(report.left, []);
    assert_eq!(place.state(), before);
}
