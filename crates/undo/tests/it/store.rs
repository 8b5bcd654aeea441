//! Tests of the store: private, bounded, and reporting what it has lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use omp_undo::{LeftReason, UndoRequest};

use crate::place::Place;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn stored(place: &Place) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&place.root.path().join("store"), &mut found);
    found
}

/// Returns the position of these bytes in a file.
fn at(file: &Path, bytes: &[u8]) -> Option<usize> {
    fs::read(file).unwrap().windows(bytes.len()).position(|window| window == bytes)
}

/// Returns unique data that cannot be compressed.
fn noise(seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as u8
    };
    (0..9000).map(|_| next()).collect()
}

#[test]
fn only_the_user_can_read_it() {
    let place = Place::new();
    place.write("a", "secret");
    place.shell("echo 2 > a");
    let found = stored(&place);
    assert!(found.len() >= 4, "{found:?}");
    for file in found {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
        assert_eq!(file.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700, "{file:?}");
    }
}

#[test]
fn damaged_content_is_told_and_never_written_back() {
    let place = Place::new();
    place.write("a", "original");
    place.write("b", "other");
    place.shell("echo 2 > a; echo 2 > b");
    let original = stored(&place).into_iter().find(|file| at(file, b"\0original").is_some()).unwrap();
    let (start, mut bytes) = (at(&original, b"\0original").unwrap(), fs::read(&original).unwrap());
    bytes[start..start + 9].copy_from_slice(b"\0damaged!");
    fs::write(original, bytes).unwrap();
    let report = place.undo.undo(&UndoRequest::default()).unwrap();
    assert!(
        matches!(report.left.as_slice(), [(path, LeftReason::NotKept(_))] if path.to_string() == "a"),
        "{report:?}"
    );
    assert_eq!((place.read("a").as_str(), place.read("b").as_str()), ("2\n", "other"));
}

#[test]
fn lost_content_is_told_by_its_file_which_stays_as_it_is() {
    let place = Place::new();
    for name in ["a", "b"] {
        place.write(name, format!("original {name}"));
    }
    // Large enough for a separate file.
    let large = (0..10).flat_map(noise).collect::<Vec<u8>>();
    place.write("c", &large);
    place.shell("echo 2 > a; rm b; echo 2 > c");
    fs::remove_dir_all(place.root.path().join("store/packs")).unwrap();
    for force in [false, true] {
        let report = place.undo.undo(&UndoRequest { force, ..UndoRequest::default() });
        let left = report.map(|report| report.left).unwrap_or_default();
        let told: Vec<String> = left.iter().map(|(path, why)| format!("{path}: {why}")).collect();
        if !force {
            assert_eq!(told.len(), 2, "{told:?}");
            assert!(told[0].starts_with("a: not stored: its content is no longer stored"), "{told:?}");
            assert!(told[1].starts_with("b: not stored"), "{told:?}");
        }
        assert_eq!((place.read("a").as_str(), fs::read(place.path("c")).unwrap()), ("2\n", large.clone()));
        assert!(!place.path("b").exists());
    }
}

#[test]
fn a_damaged_index_costs_time_and_nothing_else() {
    let place = Place::new();
    place.write("a", "1");
    place.shell("echo 2 > a");
    for index in fs::read_dir(place.root.path().join("store/workspaces")).unwrap() {
        fs::write(index.unwrap().path(), b"ompundo1 and then nothing of the kind").unwrap();
    }
    let again = omp_undo::Undo::open(crate::place::options(place.root.path())).unwrap();
    again.undo(&UndoRequest::default()).unwrap();
    assert_eq!(place.read("a"), "1");
}

#[test]
fn the_oldest_turns_give_way_to_the_quota() {
    let place = Place::with(|options| options.quota = 200_000);
    for turn in 0..40_u32 {
        place.turn(|workspace| fs::write(workspace.join("a"), noise(turn)).unwrap());
    }
    place.undo.begin_turn("x");
    let collected = place.undo.collect().unwrap();
    assert!(collected.bytes_before > 200_000 && collected.bytes_after <= 200_000, "{collected:?}");
    assert!(collected.turns_forgotten > 0);
    let left = place.undo.turns().len();
    assert!(left > 0 && left < 40, "{left}");
    let report = place.undo.undo(&UndoRequest { turns: left, ..UndoRequest::default() }).unwrap();
    assert_eq!(report.left, []);
}

#[test]
fn the_turn_being_made_is_never_evicted() {
    let place = Place::with(|options| options.quota = 20_000);
    place.write("a", vec![7; 5]);
    place.undo.begin_turn("x");
    for call in 0..9_u32 {
        place.call(&format!("c{call}"), |workspace| fs::write(workspace.join("a"), noise(call)).unwrap());
        place.undo.collect().unwrap();
    }
    place.undo.undo(&UndoRequest::default()).unwrap();
    assert_eq!(fs::read(place.path("a")).unwrap(), vec![7; 5]);
}
