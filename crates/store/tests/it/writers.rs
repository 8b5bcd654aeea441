//! Two writers compete for one session, 100 times: only one gets access, the other learns the holder, and no entry is lost.

use std::collections::HashSet;

use crate::Place;
use crate::texts;
use crate::writer_process::{Task, Told, session_in};

const RUNS: u64 = 100;
const ENTRIES: u32 = 5;

#[test]
fn two_writers_never_mix() {
    let mut busy = 0;
    for run in 0..RUNS {
        busy += compete(run);
    }
    assert!(busy > 0, "the two never met");
}

/// Returns how often one writer was refused because of the other.
fn compete(run: u64) -> usize {
    let place = Place::new();
    place.writer().append(&crate::user("start")).unwrap();
    let task = |seed| Task { folder: place.path(), seed, entries: ENTRIES, reopen: run.is_multiple_of(2), shell: None };
    let (first, second) = (task(run * 2 + 1), task(run * 2 + 2));
    let mut writing = [first.start(), second.start()];
    let processes: Vec<String> = writing.iter().map(|writing| writing.child.id().to_string()).collect();
    let told: Vec<Told> = writing.iter_mut().flat_map(|writing| writing.rest()).collect();
    for one in &mut writing {
        assert!(one.child.wait().unwrap().success());
    }
    let mut session = place.open(&session_in(place.path()).unwrap());
    let context = session.context();
    let said = texts(&context);
    assert!(session.report().is_empty(), "{}", session.report());
    let saved: HashSet<_> =
        context.entry_ids.iter().map(|id| id.as_str()).zip(said.iter().map(String::as_str)).collect();
    let mut entries = 0;
    let mut busy = 0;
    for told in &told {
        match told {
            Told::Entry { id, text } => {
                entries += 1;
                let found = saved.iter().any(|(saved, said)| saved == id && said.split(' ').next() == Some(text));
                assert!(found, "{id} {text} is lost");
            }
            // Between acquiring the lock and writing its ID, the holder is unknown.
            Told::Busy(pid) => {
                busy += 1;
                assert!(pid == "changed" || pid == "0" || processes.contains(pid), "{pid} is none of {processes:?}");
            }
            Told::Refused(why) => panic!("refused for no reason: {why}"),
        }
    }
    assert_eq!(entries, 2 * ENTRIES as usize, "each wrote all of its entries in the end");
    assert_eq!(context.entry_ids.len(), entries + 1, "nothing was written twice");
    busy
}
