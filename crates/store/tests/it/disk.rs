//! 200 runs on a disk that becomes full: acknowledged entries are present, nothing is half written, and the session can be
//! continued when there is room again.

use crate::Place;
use crate::texts;
use crate::writer_process::{Random, Task, Told, session_in};

const RUNS: u64 = 200;
/// A file system of limited size in kilobytes that only this process sees; its content is copied out at the end.
const SMALL_FILE_SYSTEM: &str = "unshare -rm sh -c 'mount -t tmpfs -o size=SIZEk none \"$OMP_STORE_TEST_FOLDER\" && { \
    cp -r \"$KEPT/.\" \"$OMP_STORE_TEST_FOLDER\"; \"$@\"; cp -r \"$OMP_STORE_TEST_FOLDER/.\" \"$KEPT\"; }' sh \"$@\"";
/// Limits file size to a number of 512- or 1,024-byte blocks, which fails in the middle of a line like a full disk.
const SMALL_FILES: &str = "trap '' XFSZ; ulimit -f SIZE; exec \"$@\"";

#[test]
fn a_full_disk_costs_nothing_that_was_acknowledged() {
    let real = file_systems_can_be_made();
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || (0..RUNS).filter(|run| run % 2 == half).for_each(|run| fill(run, real && run % 4 < 2)));
        }
    });
}

/// Ordinary users may not be allowed to mount; then all runs use the file size limit.
fn file_systems_can_be_made() -> bool {
    let place = Place::new();
    std::fs::create_dir_all(place.path().join("kept")).unwrap();
    let script = small_file_system(&place, 400);
    let mut writing =
        Task { folder: &place.path().join("disk"), seed: 1, entries: 1, reopen: false, shell: Some(&script) }
            .start_in(&place);
    !writing.rest().is_empty()
}

fn small_file_system(place: &Place, kilobytes: u64) -> String {
    let kept = place.path().join("kept");
    format!("KEPT='{}'; export KEPT; {}", kept.display(), SMALL_FILE_SYSTEM.replace("SIZE", &kilobytes.to_string()))
}

impl Task<'_> {
    fn start_in(&self, place: &Place) -> crate::writer_process::Writing {
        for folder in ["disk", "kept"] {
            std::fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        self.start()
    }
}

fn fill(run: u64, real: bool) {
    let place = Place::new();
    let mut random = Random(run + 1);
    let size = 20 + random.below(120);
    let script = if real { small_file_system(&place, size) } else { SMALL_FILES.replace("SIZE", &size.to_string()) };
    let disk = place.path().join("disk");
    let task = Task { folder: &disk, seed: run + 1, entries: 5_000, reopen: false, shell: Some(&script) };
    let mut told = task.start_in(&place).rest();
    assert!(told.iter().any(|told| *told == Told::Refused("full".into())), "the disk never got full: {told:?}");
    let folder = if real { place.path().join("kept") } else { disk.clone() };
    if session_in(&folder).is_none() {
        assert!(!told.iter().any(|told| matches!(told, Told::Entry { .. })), "told, but there is no file");
        return;
    }
    // With room again, the session is continued.
    let more = Task { folder: &folder, seed: 1_000 + run, entries: 3, reopen: false, shell: None };
    told.extend(more.start().rest());
    let mut session =
        omp_store::LoadedSession::open(&session_in(&folder).unwrap(), omp_store::BlobStore::new(&folder)).unwrap();
    let context = session.context();
    let said = texts(&context);
    assert!(session.report().is_empty(), "run {run}: {}", session.report());
    let entries: Vec<_> = told
        .iter()
        .filter_map(|told| if let Told::Entry { id, text } = told { Some((id, text)) } else { None })
        .collect();
    let saved: Vec<_> = context.entry_ids.iter().zip(&said).collect();
    assert_eq!(entries.len(), saved.len(), "run {run}: as many entries as were told");
    for ((id, text), (saved, said)) in entries.iter().zip(saved) {
        assert!(saved.as_str() == *id && said.split(' ').next() == Some(text.as_str()), "run {run}: {id} {text}");
    }
    assert!(entries.iter().filter(|(_, text)| text.starts_with(&format!("{}/", 1_000 + run))).count() == 3);
}
