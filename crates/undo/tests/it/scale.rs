//! Tests of workspaces that are too large or too slow to store completely: a call is delayed no longer than allowed, and
//! what is not covered is known before it runs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use omp_undo::{Call, LeftReason, StopFlag, Uncovered, UndoError, UndoRequest};

use crate::place::{Place, sh};
use crate::sequences::{Random, step};

fn call(id: &str) -> Call {
    Call { id: id.to_owned(), tool: "bash".to_owned() }
}

fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    (0..length).map(|_| random.next(256) as u8).collect()
}

/// Returns the reasons for missing coverage, with their counts.
fn left_out(place: &Place) -> Vec<(Uncovered, usize)> {
    place.undo.left_out().iter().map(|one| (one.why, one.count)).collect()
}

#[test]
fn a_huge_file_costs_the_others_nothing() {
    let place = Place::with(|options| options.quota = 64 << 20);
    fs::File::create(place.path("huge")).unwrap().set_len(2 << 30).unwrap();
    place.write("mine", "1");
    for turn in 0..3 {
        place.shell("true");
        place.write("mine", format!("the user's edit {turn}"));
        place.write(&format!("new{turn}"), "the user's");
        let before = fs::read_to_string(place.path("mine")).unwrap();
        place.undo.begin_turn("x");
        place.undo.before_call(call("c"), false).unwrap();
        assert_eq!(left_out(&place), [(Uncovered::TooLarge, 1)]);
        sh(&place.workspace(), "rm -f mine new*");
        place.undo.after_call("c").unwrap();
        assert_eq!(place.undo.undo(&UndoRequest::default()).unwrap().left, []);
        assert_eq!(place.read("mine"), before);
        assert_eq!(place.read(&format!("new{turn}")), "the user's");
    }
}

/// Creates a workspace with zero patience: only the files that are read during the walk are covered.
fn impatient() -> Place {
    let place = Place::with(|options| options.patience = Duration::ZERO);
    for file in 0..40 {
        place.write(&format!("f{file}"), noise(250_000, file));
    }
    place.write("sub/a", "1");
    place
}

#[test]
fn what_waits_is_known_before_the_call_and_told_after_it() {
    let place = impatient();
    let before = place.state();
    place.undo.begin_turn("x");
    place.undo.before_call(call("c"), false).unwrap();
    let waiting = match left_out(&place).as_slice() {
        [(Uncovered::NotYet, waiting), (Uncovered::TooSlow, 1)] => *waiting,
        other => panic!("{other:?}"),
    };
    assert!((1..40).contains(&waiting), "{waiting}");
    let uncovered: BTreeSet<String> = place.undo.uncovered().iter().map(|(path, _)| path.to_string()).collect();
    sh(&place.workspace(), "for f in f*; do echo 2 > $f; done");
    place.undo.after_call("c").unwrap();
    let report = place.undo.undo(&UndoRequest::default()).unwrap();
    let left: BTreeSet<String> = report.left.iter().map(|(path, _)| path.to_string()).collect();
    assert!(
        report
            .left
            .iter()
            .all(|(_, why)| matches!(why, LeftReason::NotKept(why) if why.contains("not copied in time")))
    );
    assert_eq!(left.len(), waiting);
    assert!(left.is_subset(&uncovered));
    let now = place.state();
    for (path, node) in &before {
        let name = String::from_utf8(path.clone()).unwrap();
        assert_eq!(now.get(path) == Some(node), !left.contains(&name), "{name}");
    }
}

#[test]
fn the_background_copies_the_rest_before_during_and_after_a_call() {
    for goes_on_during in [false, true] {
        let place = impatient();
        let before = place.state();
        place.undo.begin_turn("x");
        place.undo.before_call(call("c1"), false).unwrap();
        if goes_on_during {
            // The call has changed some of them: the copy is the earlier content, or there is none.
            sh(&place.workspace(), "echo 2 > f39; echo 2 > f1");
        }
        while place.undo.go_on(&StopFlag::default()).unwrap() {}
        let changes = place.undo.after_call("c1").unwrap();
        assert_eq!(changes.len(), if goes_on_during { 2 } else { 0 });
        assert!(!place.undo.is_unfinished());
        place.undo.before_call(call("c2"), false).unwrap();
        assert_eq!(left_out(&place), [(Uncovered::TooSlow, 1)]);
        sh(&place.workspace(), "rm -f f*");
        place.undo.after_call("c2").unwrap();
        let report = place.undo.undo(&UndoRequest::default()).unwrap();
        let left: BTreeSet<Vec<u8>> = report.left.iter().map(|(path, _)| path.as_bytes().to_vec()).collect();
        assert!(left.len() <= 2 && (goes_on_during || left.is_empty()), "{:?}", report.left);
        let now = place.state();
        for (path, node) in before.iter().filter(|(path, _)| !left.contains(*path)) {
            assert!(now.get(path) == Some(node), "{}", String::from_utf8_lossy(path));
        }
    }
}

#[test]
fn what_the_user_changes_between_calls_is_copied_first() {
    let place = impatient();
    place.shell("true");
    place.write("f7", "the user's edit");
    place.write("f8", "another");
    place.undo.before_call(call("c2"), false).unwrap();
    sh(&place.workspace(), "rm -f f7 f8");
    place.undo.after_call("c2").unwrap();
    assert_eq!(place.undo.undo(&UndoRequest::default()).unwrap().left, []);
    assert_eq!((place.read("f7").as_str(), place.read("f8").as_str()), ("the user's edit", "another"));
}

#[test]
fn a_look_that_is_stopped_leaves_nothing_behind() {
    let place = Place::new();
    for file in 0..500 {
        place.write(&format!("d{}/f{file}", file % 20), format!("{file}"));
    }
    let before = place.state();
    let stop = StopFlag::default();
    stop.stop();
    place.undo.begin_turn("x");
    assert!(matches!(place.undo.before_call_unless(call("c"), false, &stop), Err(UndoError::Stopped)));
    place.undo.end_turn().unwrap();
    assert!(place.undo.turns().is_empty());
    place.shell("rm -rf *");
    assert_eq!(place.undo.undo(&UndoRequest::default()).unwrap().left, []);
    assert_eq!(place.state(), before);
    // The same in the middle of a turn.
    place.shell("echo 1 > a");
    assert!(matches!(place.undo.before_call_unless(call("d"), false, &stop), Err(UndoError::Stopped)));
    place.undo.end_turn().unwrap();
    place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(place.state(), before);
}

#[test]
fn a_folder_with_too_many_entries_costs_the_others_nothing() {
    let place = Place::with(|options| options.max_entries = 1000);
    for file in 0..3000 {
        fs::create_dir_all(place.path("many")).unwrap();
        fs::write(place.path("many").join(format!("f{file}")), "x").unwrap();
    }
    for folder in ["a", "z"] {
        place.write(&format!("{folder}/src"), "1");
    }
    place.undo.begin_turn("x");
    place.undo.before_call(call("c"), false).unwrap();
    assert_eq!(left_out(&place), [(Uncovered::Rest, 1)]);
    let uncovered = place.undo.uncovered();
    assert_eq!(uncovered[0].0.to_string(), "many");
    sh(&place.workspace(), "rm -rf a z; cd many && rm -f f1* && echo 2 > f2");
    place.undo.after_call("c").unwrap();
    let report = place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(report.left, []);
    assert_eq!((place.read("a/src").as_str(), place.read("z/src").as_str()), ("1", "1"));
    // Without a change none is reported, in this session and in the next.
    for _ in 0..3 {
        assert_eq!(place.shell("true"), []);
    }
    let again = omp_undo::Undo::open(crate::place::options(place.root.path())).unwrap();
    again.begin_turn("y");
    again.before_call(call("c"), false).unwrap();
    assert_eq!(again.after_call("c").unwrap(), []);
}

#[test]
fn small_files_take_little_of_the_disk_and_what_they_take_is_counted() {
    let place = Place::with(|options| options.quota = 4 << 20);
    for file in 0..4000 {
        place.write(&format!("d{}/f{file}", file % 50), noise(100, file));
    }
    place.shell("true");
    fn used(folder: &Path) -> u64 {
        let one = |path: &Path| if path.is_dir() { used(path) } else { path.metadata().unwrap().blocks() * 512 };
        fs::read_dir(folder).unwrap().map(|entry| one(&entry.unwrap().path())).sum()
    }
    let contents = used(&place.root.path().join("store/packs"));
    assert!(contents < 1 << 20, "{contents} bytes for 400,000");
    let before = place.state();
    for round in 0..30_u64 {
        place.turn(|workspace| fs::write(workspace.join("a"), noise(300_000, round)).unwrap());
        place.undo.end_turn().unwrap();
        place.undo.collect().unwrap();
    }
    let all = used(&place.root.path().join("store"));
    assert!(all <= 4 << 20, "{all}");
    // The current files are still covered.
    place.shell("rm -rf d*");
    assert_eq!(place.undo.undo(&UndoRequest::default()).unwrap().left, []);
    let now = place.state();
    assert!(before.iter().all(|(path, node)| now.get(path) == Some(node)));
}

/// With zero patience and background work at random moments, everything that is not restored was reported before.
#[test]
fn in_any_sequence_what_does_not_come_back_was_told_before() {
    let mut random = Random(0xabad_cafe_d00d);
    for round in 0..60 {
        let patience = Duration::from_micros([0, 0, 300, 5000][random.next(4)]);
        let place = Place::with(|options| options.patience = patience);
        fs::create_dir_all(place.root.path().join("outside/deep")).unwrap();
        for file in 0..random.next(120) {
            place.write(&format!("d{}/e{}/f{file}", file % 3, file % 5), noise(random.next(4000), file as u64));
        }
        for _ in 0..random.next(12) {
            step(&mut random, &place.workspace());
        }
        let before = place.state();
        place.undo.begin_turn("x");
        let mut told: Vec<Vec<u8>> = Vec::new();
        for number in 0..=random.next(3) {
            place.undo.before_call(call(&format!("c{number}")), false).unwrap();
            told.extend(place.undo.uncovered().iter().map(|(path, _)| path.as_bytes().to_vec()));
            if random.next(2) == 0 {
                place.undo.go_on(&StopFlag::default()).unwrap();
            }
            for _ in 0..=random.next(6) {
                step(&mut random, &place.workspace());
            }
            if random.next(2) == 0 {
                place.undo.go_on(&StopFlag::default()).unwrap();
            }
            place.undo.after_call(&format!("c{number}")).unwrap();
        }
        let left = match place.undo.undo(&UndoRequest::default()) {
            Ok(report) => report.left,
            Err(UndoError::NothingToUndo) => Vec::new(),
            Err(error) => panic!("{error}"),
        };
        let now = place.state();
        for path in before.keys().chain(now.keys()).filter(|path| before.get(*path) != now.get(*path)) {
            let is_in = |folder: &[u8]| {
                folder.is_empty()
                    || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
            };
            let is_told =
                told.iter().any(|folder| is_in(folder)) || left.iter().any(|(path, _)| is_in(path.as_bytes()));
            assert!(is_told, "round {round}: {} {left:?}", String::from_utf8_lossy(path));
        }
    }
}
