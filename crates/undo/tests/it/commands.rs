//! A thousand random sequences of shell commands over several turns: undone at once, one by one, or by path, and redone.

use std::fmt::Write as _;
use std::fs;

use omp_undo::{RelPath, UndoReport, UndoRequest};

use crate::place::{Place, State, sh, state};
use crate::sequences::Random;

/// Number of sequences in each of four tests, which run in parallel.
const SEQUENCES: u64 = 250;
/// Number of sequences per workspace; each starts with the result of the previous one.
const IN_ONE_PLACE: u64 = 10;
const NAMES: [&str; 7] = ["a", "b.rs", "'c d'", "sub", "deep", ".env", "'ü\nx'"];
/// With each of these modes a folder can be scanned, even by users other than root.
const MODES: [&str; 6] = ["a-w", "u+w", "755", "700", "a+x", "go-rwx"];

/// `P` and `Q` are paths, `N` is a number, `M` a mode. No command leaves the folder around the workspace.
const COMMANDS: [&str; 30] = [
    "echo N > P",
    "echo N > P",
    "echo N > P",
    "echo N >> P",
    "echo N | while read x; do echo $x > P; done",
    "[ -f P ] && printf x >> P",
    "[ -d P ] && echo N > P/a",
    "printf 'one\\nN\\n' >> P",
    "mkdir -p P && echo N > P/a",
    "mkdir -p P/deep/empty",
    "rm -f P",
    "rm -rf P",
    "rmdir P",
    "mv P Q",
    "mv -f P Q",
    "cp -a P Q",
    "cp -r P Q",
    "chmod M P",
    "chmod -R M P",
    "ln -s Q P",
    "ln -sfn ../outside P",
    "ln -f P Q",
    "sed -i s/N/x/ P",
    "truncate -s N P",
    ": > P",
    "touch -d 2001-01-01 P",
    "find . -type f -name 'a*' -exec sh -c 'echo N >> \"$1\"' _ {} \\;",
    "tar cf all.tar P; rm -rf P; tar xf all.tar",
    "dd if=/dev/urandom of=P bs=N count=1",
    "for f in *; do [ -f \"$f\" ] && cp \"$f\" Q; done",
];

/// Takes as long as a dozen of the others.
const PYTHON: &str = "python3 -c 'import os; os.makedirs(\"sub/deep\", exist_ok=True); \
    open(\"sub/deep/py\", \"wb\").write(bytes(range(256)))'";

fn script(random: &mut Random) -> String {
    let mut script = String::new();
    for _ in 0..=random.next(3) {
        if random.next(100) == 0 {
            script += PYTHON;
            script.push('\n');
        }
        for part in COMMANDS[random.next(COMMANDS.len())].split_inclusive(['P', 'Q', 'N', 'M']) {
            let (before, placeholder) = part.split_at(part.len() - 1);
            script += before;
            match placeholder {
                "P" | "Q" => script += &path(random),
                "M" => script += MODES[random.next(MODES.len())],
                // Writing to a string cannot fail.
                "N" => drop(write!(script, "{}", 1 + random.next(3000))),
                other => script += other,
            }
        }
        script.push('\n');
    }
    script
}

fn path(random: &mut Random) -> String {
    let depth = [1, 1, 1, 2, 2, 3][random.next(6)];
    let names: Vec<&str> = (0..depth).map(|_| NAMES[random.next(NAMES.len())]).collect();
    names.join("/")
}

#[test]
fn any_commands_are_taken_back_and_done_again_byte_for_byte() {
    check(0x00c0_ffee_0001);
}

#[test]
fn so_are_those_of_another_250() {
    check(0x7eaf_00d5_eed5);
}

#[test]
fn and_those_of_another_250() {
    check(0x0dd5_0dd5_0dd5);
}

#[test]
fn and_those_of_the_last_250() {
    check(0xfeed_f00d_1234_5678);
}

fn check(seed: u64) {
    let mut random = Random(seed);
    let (mut sequences, mut changed) = (0, 0);
    while sequences < SEQUENCES {
        let place = Place::new();
        let outside = place.root.path().join("outside");
        fs::create_dir_all(&outside).unwrap();
        for name in ["a", ".env", "c d", "sub/a", "sub/deep/a", "deep/b.rs"] {
            place.write(name, format!("{name}\n"));
        }
        for _ in 0..IN_ONE_PLACE {
            changed += check_one(&place, &mut random);
            sequences += 1;
        }
    }
    // Ensures that the test checks something.
    assert!(changed > SEQUENCES, "only {changed} turns changed something");
}

/// Returns the number of turns with changes.
fn check_one(place: &Place, random: &mut Random) -> u64 {
    let mut told = format!("seed {:#x}\n", random.0);
    let mut states = vec![place.state()];
    for _ in 0..=random.next(3) {
        place.undo.begin_turn("a prompt");
        for call in 0..=usize::from(random.next(4) == 0) {
            let script = script(random);
            told += &format!("--- turn {}, call {call}\n{script}", states.len());
            place.call(&format!("c{call}"), |workspace| sh(workspace, &script));
        }
        let now = place.state();
        if states.last() != Some(&now) {
            states.push(now);
        }
    }
    place.undo.end_turn().unwrap();
    let turns = states.len() - 1;
    if turns == 0 {
        return 0;
    }
    let outside = state(&place.root.path().join("outside"));
    match random.next(3) {
        0 => at_once(place, &states, &told),
        1 => one_by_one(place, &states, &told),
        _ => by_path(place, &states, random, &told),
    }
    assert_eq!(state(&place.root.path().join("outside")), outside, "{told}");
    turns as u64
}

fn at_once(place: &Place, states: &[State], told: &str) {
    let turns = states.len() - 1;
    whole(&place.undo.undo(&UndoRequest { turns, ..UndoRequest::default() }).unwrap(), told);
    same(place, &states[0], "undo of all", told);
    whole(&place.undo.redo(false).unwrap(), told);
    same(place, &states[turns], "redo of all", told);
}

fn one_by_one(place: &Place, states: &[State], told: &str) {
    for expect in states.iter().rev().skip(1) {
        whole(&place.undo.undo(&UndoRequest::default()).unwrap(), told);
        same(place, expect, "undo", told);
    }
    for expect in &states[1..] {
        whole(&place.undo.redo(false).unwrap(), told);
        same(place, expect, "redo", told);
    }
}

/// Undoes one path of the last turn, with everything below it; then the rest of the turn.
fn by_path(place: &Place, states: &[State], random: &mut Random, told: &str) {
    let [.., before, after] = states else { return };
    let changes = place.undo.turns().pop().unwrap().changes();
    let path = changes[random.next(changes.len())].path.clone();
    let told = format!("{told}--- /undo {path}\n");
    let report = place.undo.undo(&UndoRequest { path: Some(path.clone()), ..UndoRequest::default() }).unwrap();
    // A path whose folder was replaced by a file cannot be restored alone, and nothing else may change.
    if report.left.is_empty() {
        same(place, &mixed(before, after, &path), "undo of a path", &told);
    }
    if !report.restored.is_empty() {
        place.undo.redo(false).unwrap();
        same(place, after, "redo of a path", &told);
        place.undo.undo(&UndoRequest { path: Some(path), ..UndoRequest::default() }).unwrap();
    }
    // Unless the path was the whole turn.
    if place.undo.turns().pop().is_some_and(|turn| !turn.undone) {
        whole(&place.undo.undo(&UndoRequest::default()).unwrap(), &told);
    }
    same(place, before, "undo of the rest", &told);
}

/// Returns the earlier state of the path, with the folders it needs, and the current state of everything else.
fn mixed(before: &State, after: &State, path: &RelPath) -> State {
    let is_in = |other: &[u8], folder: &[u8]| {
        other.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    let mut state = after.clone();
    state.retain(|other, _| !is_in(other, path.as_bytes()));
    for (other, node) in before {
        if is_in(other, path.as_bytes()) || (is_in(path.as_bytes(), other) && !after.contains_key(other)) {
            state.insert(other.clone(), node.clone());
        }
    }
    state
}

#[track_caller]
fn whole(report: &UndoReport, told: &str) {
    assert_eq!(report.left, [], "{told}");
}

#[track_caller]
fn same(place: &Place, expect: &State, what: &str, told: &str) {
    let now = place.state();
    let keys = now.keys().chain(expect.keys());
    let differ: Vec<String> = keys
        .filter(|path| now.get(*path) != expect.get(*path))
        .map(|path| {
            let short = |node: Option<&String>| node.map(|node| node.chars().take(60).collect::<String>());
            let (now, expect) = (short(now.get(path)), short(expect.get(path)));
            format!("{}: {now:?}, not {expect:?}", String::from_utf8_lossy(path))
        })
        .collect();
    assert!(differ.is_empty(), "{what}: {differ:#?}\n{told}");
}
