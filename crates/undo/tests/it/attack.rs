//! Tests that nothing is written outside the workspace, whatever is swapped concurrently.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use omp_undo::UndoRequest;

use crate::place::{Place, state};

#[test]
fn a_link_in_the_way_is_not_followed() {
    let place = Place::new();
    let outside = place.root.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a"), "theirs").unwrap();
    place.write("src/a", "1");
    place.shell("echo 2 > src/a");
    fs::remove_dir_all(place.path("src")).unwrap();
    symlink(&outside, place.path("src")).unwrap();
    for force in [false, true] {
        let wanted = UndoRequest { force, ..UndoRequest::default() };
        let report = place.undo.undo(&wanted);
        assert!(report.map_or(true, |report| !report.left.is_empty()));
        assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "theirs");
    }
}

#[test]
fn a_folder_swapped_for_a_link_during_an_undo_leads_nowhere() {
    let place = Place::new();
    let outside = place.root.path().join("outside");
    let aside = place.root.path().join("aside");
    fs::create_dir(&outside).unwrap();
    for file in 0..40 {
        fs::write(outside.join(format!("f{file}")), "theirs").unwrap();
        place.write(&format!("src/f{file}"), "1");
    }
    let untouched = state(&outside);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let source = place.path("src");
            while !stop.load(Ordering::Relaxed) {
                if fs::rename(&source, &aside).is_ok() {
                    drop(symlink(&outside, &source));
                    std::thread::yield_now();
                    drop(fs::remove_file(&source));
                    drop(fs::rename(&aside, &source));
                }
            }
        });
        for _ in 0..20 {
            // The results do not matter while the folder is swapped: only the outside is checked.
            place.undo.begin_turn("x");
            let call = omp_undo::Call { id: "c".into(), tool: "bash".into() };
            if place.undo.before_call(call, false).is_ok() {
                for file in 0..40 {
                    let inside = aside.join(format!("f{file}"));
                    drop(fs::OpenOptions::new().write(true).truncate(true).open(inside));
                }
                drop(place.undo.after_call("c"));
                drop(place.undo.undo(&UndoRequest { force: true, ..UndoRequest::default() }));
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(state(&outside), untouched);
}
