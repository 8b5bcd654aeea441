//! Tests of turns, calls and changes of the user in between.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use omp_undo::{By, Call, LeftReason, RelPath, Undo, UndoError, UndoRequest};

use crate::place::{Place, options, sh};

fn rel(text: &str) -> RelPath {
    RelPath::of(Path::new(text)).unwrap()
}

fn names(changes: &[omp_undo::TreeChange]) -> Vec<String> {
    changes.iter().map(|change| change.path.to_string()).collect()
}

#[test]
fn a_removed_folder_comes_back_whole() {
    let place = Place::new();
    place.write("src/main.rs", "fn main() {}");
    place.write("src/deep/data.bin", [0, 255, 1, 254]);
    fs::create_dir(place.path("src/empty")).unwrap();
    symlink("main.rs", place.path("src/link")).unwrap();
    fs::set_permissions(place.path("src/main.rs"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(place.path("src/deep"), fs::Permissions::from_mode(0o555)).unwrap();
    let before = place.state();
    let changes = place.shell("chmod -R u+w src; rm -rf src");
    assert_eq!(names(&changes), ["src", "src/deep", "src/deep/data.bin", "src/empty", "src/link", "src/main.rs"]);
    assert!(!place.path("src").exists());
    place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(place.state(), before);
    place.undo.redo(false).unwrap();
    assert!(!place.path("src").exists());
    assert!(matches!(place.undo.redo(false), Err(UndoError::NothingToRedo)));
}

#[test]
fn what_the_user_changed_since_is_kept() {
    let place = Place::new();
    place.write("mine", "1");
    place.write("theirs", "1");
    place.shell("echo 2 > mine; echo 2 > theirs");
    place.write("mine", "the user's");
    let report = place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(report.left, [(rel("mine"), LeftReason::Changed)]);
    assert_eq!((place.read("mine").as_str(), place.read("theirs").as_str()), ("the user's", "1"));
}

#[test]
fn the_user_may_insist_and_take_that_back_too() {
    let place = Place::new();
    place.write("mine", "1");
    place.shell("echo 2 > mine");
    place.write("mine", "the user's");
    place.undo.undo(&UndoRequest { force: true, ..UndoRequest::default() }).unwrap();
    assert_eq!(place.read("mine"), "1");
    place.undo.redo(false).unwrap();
    assert_eq!(place.read("mine"), "the user's");
}

#[test]
fn changes_between_calls_are_not_the_calls() {
    let place = Place::new();
    place.write("a", "1");
    place.undo.begin_turn("x");
    place.call("c1", |workspace| sh(workspace, "echo 2 > a"));
    place.write("user", "meanwhile");
    place.call("c2", |workspace| sh(workspace, "echo 3 > b"));
    let turn = place.undo.turns().pop().unwrap();
    assert_eq!(names(&turn.changes()), ["a", "b"]);
    assert_eq!(names(&turn.changes_of("c1")), ["a"]);
    assert_eq!(names(&turn.changes_of("c2")), ["b"]);
    assert_eq!(turn.steps[1].by, By::Others);
    place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!((place.read("a").as_str(), place.read("user").as_str()), ("1", "meanwhile"));
    assert!(!place.path("b").exists());
}

#[test]
fn a_file_that_the_user_changed_between_two_calls_is_left() {
    let place = Place::new();
    place.write("a", "1");
    place.undo.begin_turn("x");
    place.call("c1", |workspace| sh(workspace, "echo 2 > a"));
    place.write("a", "the user's");
    place.call("c2", |workspace| sh(workspace, "echo 3 >> a"));
    let report = place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(report.left, [(rel("a"), LeftReason::Changed)]);
    assert_eq!(place.read("a"), "the user's3\n");
}

#[test]
fn what_a_command_in_the_background_does_belongs_to_the_turn() {
    let place = Place::new();
    place.undo.begin_turn("x");
    place.call("c1", |_| {});
    place.write("log", "from the background");
    place.undo.before_call(Call { id: "c2".into(), tool: "bash".into() }, true).unwrap();
    place.undo.after_call("c2").unwrap();
    place.undo.undo(&UndoRequest::default()).unwrap();
    assert!(!place.path("log").exists());
}

#[test]
fn several_turns_and_single_paths() {
    let place = Place::new();
    place.shell("echo 1 > a; echo 1 > b");
    place.shell("echo 2 > a");
    place.shell("echo 3 > a; echo 3 > c");
    place.undo.undo(&UndoRequest { path: Some(rel("a")), ..UndoRequest::default() }).unwrap();
    assert_eq!((place.read("a").as_str(), place.read("c").as_str()), ("2\n", "3\n"));
    place.undo.redo(false).unwrap();
    assert_eq!(place.read("a"), "3\n");
    let report = place.undo.undo(&UndoRequest { turns: 2, ..UndoRequest::default() }).unwrap();
    assert_eq!((report.turns, place.read("a").as_str()), (2, "1\n"));
    assert!(!place.path("c").exists());
    let refused = place.undo.undo(&UndoRequest { turns: 2, ..UndoRequest::default() }).unwrap_err();
    assert!(matches!(refused, UndoError::NotSoMany(1, 2)));
    assert!(refused.to_string().starts_with("1 turn can be undone, not 2\nhint: "), "{refused}");
    place.undo.undo(&UndoRequest::default()).unwrap();
    assert!(!place.path("a").exists());
    assert!(matches!(place.undo.undo(&UndoRequest::default()), Err(UndoError::NothingToUndo)));
    place.undo.redo(false).unwrap();
    place.undo.redo(false).unwrap();
    assert_eq!(place.read("a"), "3\n");
}

#[test]
fn another_process_goes_on_where_this_one_ended() {
    let place = Place::new();
    place.write("a", "1");
    place.shell("echo 2 > a");
    let again = Undo::open(options(place.root.path())).unwrap();
    again.undo(&UndoRequest::default()).unwrap();
    assert_eq!(place.read("a"), "1");
    let once_more = Undo::open(options(place.root.path())).unwrap();
    once_more.redo(false).unwrap();
    assert_eq!(place.read("a"), "2\n");
}

#[test]
fn a_call_that_never_ended_is_taken_back_as_well() {
    let place = Place::new();
    place.write("src/a", "1");
    place.undo.begin_turn("x");
    place.undo.before_call(Call { id: "c".into(), tool: "bash".into() }, false).unwrap();
    sh(&place.workspace(), "rm -rf src");
    // As after a `kill -9`.
    let again = Undo::open(options(place.root.path())).unwrap();
    again.undo(&UndoRequest::default()).unwrap();
    assert_eq!(place.read("src/a"), "1");
    // As after an abort.
    again.begin_turn("y");
    again.before_call(Call { id: "d".into(), tool: "bash".into() }, false).unwrap();
    sh(&place.workspace(), "rm -rf src");
    again.end_turn().unwrap();
    again.undo(&UndoRequest::default()).unwrap();
    assert_eq!(place.read("src/a"), "1");
}

#[test]
fn what_is_not_covered_is_listed_and_left_alone() {
    let place = Place::with(|options| options.max_file = 1000);
    place.write(".gitignore", "target/\n.env\n");
    place.write("target/out", "built");
    place.write(".env", "KEY=1");
    place.write(".git/HEAD", "ref: x");
    place.write("large", "x".repeat(2000));
    sh(&place.workspace(), "mkfifo pipe");
    place.shell("rm -rf target large; echo 2 > .env; echo y > .git/HEAD");
    let report = place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(place.read(".env"), "KEY=1");
    assert_eq!(place.read(".git/HEAD"), "y\n");
    let left: Vec<String> = report.left.iter().map(|(path, why)| format!("{path}: {why}")).collect();
    assert_eq!(left, ["large: not stored: larger than undo.maxFileMb", "target: not stored: ignored by .gitignore"]);
    let uncovered: Vec<String> = place.undo.uncovered().iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(uncovered, [".git", "pipe"]);
}

#[test]
fn a_store_in_the_workspace_does_not_keep_itself() {
    let place = Place::with(|options| options.store = options.workspace.join("agent/undo"));
    place.write("a", "1");
    let changes = place.shell("echo 2 > a");
    assert_eq!(names(&changes), ["a"]);
    place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(place.read("a"), "1");
}

#[test]
fn rules_that_a_turn_writes_hide_nothing_of_it() {
    let place = Place::new();
    place.write("src/a", "1");
    place.write("target/out", "built");
    place.write(".gitignore", "target\n");
    let before = place.state();
    place.undo.begin_turn("x");
    place.call("c1", |workspace| sh(workspace, "echo '*' > .gitignore"));
    place.call("c2", |workspace| sh(workspace, "echo 2 > src/a"));
    place.call("c3", |workspace| sh(workspace, "rm .gitignore"));
    place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(place.state(), before);
}

#[test]
fn a_file_written_again_at_once_with_the_same_size_is_noticed() {
    let place = Place::new();
    place.write("a", "0000");
    for round in 0..50 {
        let changes = place.shell(&format!("printf %04d {} > a", round + 1));
        assert_eq!(names(&changes), ["a"], "round {round}");
    }
}

#[test]
fn a_single_path_comes_with_the_folders_it_was_in() {
    let place = Place::new();
    place.write("src/deep/a", "1");
    place.write("src/deep/b", "1");
    fs::set_permissions(place.path("src"), fs::Permissions::from_mode(0o750)).unwrap();
    place.shell("rm -rf src");
    place.undo.undo(&UndoRequest { path: Some(rel("src/deep/a")), ..UndoRequest::default() }).unwrap();
    assert_eq!(place.read("src/deep/a"), "1");
    assert!(!place.path("src/deep/b").exists());
    assert_eq!(fs::metadata(place.path("src")).unwrap().permissions().mode() & 0o777, 0o750);
    place.undo.redo(false).unwrap();
    assert!(!place.path("src").exists());
}

#[test]
fn a_path_goes_back_turn_by_turn() {
    let place = Place::new();
    place.shell("echo 1 > a; echo 1 > b");
    place.shell("echo 2 > a; echo 2 > b");
    place.shell("echo 3 > a; echo 3 > b");
    let back = || place.undo.undo(&UndoRequest { path: Some(rel("a")), ..UndoRequest::default() }).unwrap();
    for expect in ["2\n", "1\n"] {
        back();
        assert_eq!((place.read("a").as_str(), place.read("b").as_str()), (expect, "3\n"));
    }
    back();
    assert!(!place.path("a").exists());
    let path = || Some(rel("a"));
    assert!(matches!(
        place.undo.undo(&UndoRequest { path: path(), ..UndoRequest::default() }),
        Err(UndoError::NothingToUndo)
    ));
    for expect in ["1\n", "2\n", "3\n"] {
        place.undo.redo(false).unwrap();
        assert_eq!(place.read("a"), expect);
    }
}

#[test]
fn a_yes_to_changed_files_takes_no_others() {
    let place = Place::with(|options| options.max_file = 1000);
    place.write("mine", "1");
    let report = {
        place.shell("echo 2 > mine; head -c 2000 /dev/zero > large");
        place.write("mine", "the user's");
        place.undo.undo(&UndoRequest::default()).unwrap()
    };
    let left: Vec<String> = report.left.iter().map(|(path, why)| format!("{path}: {why}")).collect();
    assert_eq!(left, ["large: kept: larger than undo.maxFileMb", "mine: changed since"]);
    let again = UndoRequest { ids: report.ids, force: true, spares_lost: true, ..UndoRequest::default() };
    place.undo.undo(&again).unwrap();
    assert_eq!(place.read("mine"), "1");
    assert!(place.path("large").exists());
    // Repeating the same undo finds nothing to do, whatever was changed since.
    place.write("mine", "the user's again");
    assert_eq!(place.undo.undo(&again).map(|report| report.restored).unwrap_or_default(), []);
    assert_eq!(place.read("mine"), "the user's again");
}

#[test]
fn another_session_knows_what_is_not_covered() {
    let place = Place::new();
    place.write(".gitignore", "target/\n");
    place.write("target/out", "built");
    place.shell("echo 1 > a");
    let again = Undo::open(options(place.root.path())).unwrap();
    let uncovered: Vec<String> =
        again.uncovered().iter().map(|(path, why)| format!("{path}: {}", why.as_str())).collect();
    assert_eq!(uncovered, ["target: ignored by .gitignore"]);
}

#[test]
fn a_workspace_beyond_the_quota_is_told_and_never_taken_for_changed() {
    let place = Place::with(|options| options.quota = 200_000);
    let numbered = |file: usize| (0..5000_usize).map(move |at| (at.wrapping_mul(file + 7) >> 3) as u8);
    for file in 0..60 {
        place.write(&format!("d{}/f{file}", file % 9), numbered(file).collect::<Vec<u8>>());
    }
    let before = place.state();
    for round in 0..30 {
        place.undo.begin_turn("x");
        for call in 0..3 {
            let changes = place.call(&format!("c{call}"), |_| {});
            assert_eq!(names(&changes), Vec::<String>::new(), "round {round}");
        }
    }
    assert!(place.undo.left_out().iter().any(|one| one.why == omp_undo::Uncovered::OverBudget));
    // Covered files are restored; the others are reported, and nothing else is changed.
    place.shell("for f in d*/*; do echo 2 > $f; done");
    let report = place.undo.undo(&UndoRequest::default()).unwrap();
    let now = place.state();
    let is_left = |path: &[u8]| report.left.iter().any(|(left, _)| left.as_bytes() == path);
    for (path, node) in &before {
        let covered = now.get(path) == Some(node);
        let told = is_left(path) || place.undo.uncovered().iter().any(|(other, _)| other.as_bytes() == path.as_slice());
        assert!(covered || told, "{}", String::from_utf8_lossy(path));
    }
    assert!(!report.restored.is_empty());
}
