//! `kill -9` at any moment: no acknowledged entry is missing, no earlier byte except the title changes, and the session can
//! be continued. `crates/omp/tests/it/kill.rs` tests the whole program; together they are 1,000 runs.

use std::path::Path;
use std::time::Duration;

use crate::Place;
use crate::texts;
use crate::writer_process::{Random, Task, Told, session_in};

const SESSIONS: u64 = 40;
const KILLS_A_SESSION: u64 = 19;
/// Number of concurrent sessions.
const SIDE_BY_SIDE: u64 = 4;
/// Length of the title line, which is written in place.
const TITLE_LINE: usize = 256;

#[test]
fn killed_at_any_moment_a_writer_loses_nothing_it_told_of() {
    std::thread::scope(|scope| {
        for lane in 0..SIDE_BY_SIDE {
            scope.spawn(move || (1..=SESSIONS).filter(|seed| seed % SIDE_BY_SIDE == lane).for_each(survive));
        }
    });
}

fn survive(seed: u64) {
    let place = Place::new();
    let mut random = Random(seed * 7919);
    let mut before: Vec<u8> = Vec::new();
    let mut told: Vec<(String, String)> = Vec::new();
    for round in 0..KILLS_A_SESSION {
        let task =
            Task { folder: place.path(), seed: seed * 1000 + round, entries: 10_000, reopen: false, shell: None };
        let new = write_and_kill(&task, &mut random);
        let Some(file) = session_in(place.path()) else {
            assert!(new.is_empty(), "told of entries, but there is no file");
            continue;
        };
        before = check_bytes(&file, &before, &new);
        told.extend(new);
    }
    check_whole(&place, &told);
}

fn write_and_kill(task: &Task<'_>, random: &mut Random) -> Vec<(String, String)> {
    let mut writing = task.start();
    let mut told = Vec::new();
    for _ in 0..random.below(25) {
        told.extend(writing.next());
    }
    std::thread::sleep(Duration::from_micros(random.below(1500)));
    writing.child.kill().unwrap();
    told.extend(writing.rest());
    writing.child.wait().unwrap();
    let entries = told.into_iter().map(|told| match told {
        Told::Entry { id, text } => (id, text),
        other => panic!("a writer alone was refused: {other:?}"),
    });
    entries.collect()
}

/// Checks that all complete lines still exist, and every acknowledged new entry.
fn check_bytes(file: &Path, before: &[u8], told: &[(String, String)]) -> Vec<u8> {
    let now = std::fs::read(file).unwrap();
    let whole = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let from = TITLE_LINE.min(whole);
    assert_eq!(now.get(from..whole), Some(&before[from..whole]), "an earlier line changed");
    for (id, text) in told {
        let found = memchr::memmem::find(&now[whole..], format!("\"id\":\"{id}\"").as_bytes()).is_some();
        assert!(found, "told of {text}, but it is not in the file");
    }
    now
}

/// Checks that every acknowledged entry is in the conversation, in order.
fn check_whole(place: &Place, told: &[(String, String)]) {
    let mut session = place.open(&session_in(place.path()).unwrap());
    let context = session.context();
    let said = texts(&context);
    let mut saved = context.entry_ids.iter().zip(&said);
    for (id, text) in told {
        let found = saved.any(|(saved, said)| saved.as_str() == id && said.split(' ').next() == Some(text.as_str()));
        assert!(found, "{id} {text} was told, but is missing or out of order");
    }
    assert!(told.len() > 20, "only {} entries were told", told.len());
    assert!(session.report().problems.len() <= 1, "{}", session.report());
}
