//! A thousand random sequences of file operations.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::{geteuid, mkfifo};
use omp_undo::{LeftReason, UndoReport, UndoRequest};

use crate::place::{Place, State, sh, state};

/// Number of sequences in each of four tests, which run in parallel.
const SEQUENCES: u64 = 250;
/// Number of sequences per workspace; each starts with the result of the previous one.
const IN_ONE_PLACE: u64 = 10;
const NAMES: [&[u8]; 8] = [b"a", b"b.rs", b"c d", b"sub", b"deep", b".env", b"not\xfftext", b"line\nbreak"];

/// Commands that models typically run.
const SCRIPTS: [&str; 10] = [
    "rm -rf sub a; mkdir -p sub/deep && echo x > sub/deep/a",
    "for f in *; do [ -f \"$f\" ] && cp \"$f\" copy; done",
    "mv a b.rs; ln -sf ../outside/deep/a deep",
    "find . -name 'b*' -type f -exec sh -c 'echo more >> \"$1\"' _ {} \\;",
    "find . -type f -exec sed -i 's/x/y/g' {} +",
    "tar cf all.tar a b.rs sub deep; rm -rf a b.rs; tar xf all.tar",
    "chmod -R u+w . && rm -rf ./* && mkfifo a && printf 'one\\ntwo\\n' > b.rs",
    "cp -a sub deep; rm -rf sub; mv deep sub; chmod -R a-w sub",
    "ln -f b.rs sub/b.rs; truncate -s 7 b.rs; touch -d '2001-01-01' b.rs",
    "git init -q . && echo x > .git/x; rm -rf .git",
];

/// A small deterministic generator, so that a failure can be reproduced by its seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    fn path(&mut self, root: &Path) -> PathBuf {
        let mut path = root.to_owned();
        for _ in 0..=self.next(3) {
            path.push(OsStr::from_bytes(NAMES[self.next(NAMES.len())]));
        }
        path
    }

    fn content(&mut self) -> Vec<u8> {
        let length = [0, 3, 300, 5000][self.next(4)];
        let seed = self.next(251) as u8;
        (0..length).map(|at: usize| seed.wrapping_mul(at as u8 | 1)).collect()
    }
}

/// Writes, also through links, as programs do; never waits for the reader of a pipe.
fn write(path: &Path, content: &[u8], append: bool) {
    let mut options = fs::OpenOptions::new();
    options.write(true).append(append).create(!append).truncate(!append).custom_flags(OFlag::O_NONBLOCK.bits());
    if let Ok(mut file) = options.open(path) {
        file.write_all(content).unwrap();
    }
}

/// Performs a random operation, which may fail, as in reality. Links lead no further than the folder around the workspace,
/// because other steps write through them, as root if the tests run as root.
pub fn step(random: &mut Random, root: &Path) {
    let path = random.path(root);
    match random.next(18) {
        0..=2 => {
            drop(path.parent().map(fs::create_dir_all));
            write(&path, &random.content(), false);
        }
        3 => write(&path, &random.content(), true),
        4 => drop(fs::remove_file(&path)),
        5 => drop(fs::remove_dir_all(&path)),
        6 => drop(fs::rename(&path, random.path(root))),
        7 => {
            let mode = [0o600, 0o644, 0o755, 0o700, 0o444, 0o555][random.next(6)];
            // Only root can scan a folder without access permission.
            let mode = if path.is_dir() && !geteuid().is_root() { mode | 0o500 } else { mode };
            if !path.is_symlink() {
                drop(fs::set_permissions(&path, fs::Permissions::from_mode(mode)));
            }
        }
        8 => drop(symlink(random.path(Path::new("..")), &path)),
        9 => drop(fs::create_dir_all(&path)),
        10 => drop(fs::remove_dir(&path)),
        11 => drop(fs::hard_link(&path, random.path(root))),
        12 | 13 => {
            // A node of another kind replaces it.
            drop(fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)));
            match random.next(5) {
                0 => write(&path, &random.content(), false),
                1 => drop(fs::create_dir_all(path.join("deep/sub"))),
                2 => drop(symlink("b.rs", &path)),
                3 => drop(symlink(random.path(Path::new("../outside")), &path)),
                _ => drop(mkfifo(&path, Mode::S_IRWXU)),
            }
        }
        // A link to a folder outside: what other steps write through it is not part of the workspace.
        14 => drop(symlink(root.parent().unwrap().join("outside"), &path)),
        15 => {
            // Hard links of one file, one of which is written.
            let other = random.path(root);
            if fs::hard_link(&path, &other).is_ok() && path.is_file() && !path.is_symlink() {
                write(&other, &random.content(), false);
            }
        }
        16 => {
            // A read-only folder with content.
            if fs::create_dir_all(&path).is_ok() && !path.is_symlink() {
                write(&path.join("a"), &random.content(), false);
                drop(fs::set_permissions(&path, fs::Permissions::from_mode(0o555)));
            }
        }
        _ => {
            // Running programs takes more time than everything else.
            if random.next(4) == 0 {
                sh(root, SCRIPTS[random.next(SCRIPTS.len())]);
            }
        }
    }
}

#[test]
fn any_sequence_is_taken_back_and_done_again_byte_for_byte() {
    check(0x5eed_cafe);
}

#[test]
fn so_are_another_250() {
    check(0xdead_beef_0001);
}

#[test]
fn and_another_250() {
    check(0x1234_5678_9abc);
}

#[test]
fn and_the_last_250() {
    check(0x0f0f_1e1e_2d2d_3c3c);
}

fn check(seed: u64) {
    let mut random = Random(seed);
    for _ in 0..SEQUENCES / IN_ONE_PLACE {
        let place = Place::new();
        let outside = place.root.path().join("outside");
        fs::create_dir_all(outside.join("deep")).unwrap();
        fs::write(outside.join("deep/a"), "not of the workspace").unwrap();
        for _ in 0..IN_ONE_PLACE {
            check_one(&place, &mut random);
        }
    }
}

fn check_one(place: &Place, random: &mut Random) {
    let seed = random.0;
    place.undo.begin_turn("a prompt");
    for _ in 0..random.next(6) {
        step(random, &place.workspace());
    }
    let before = place.state();
    for call in 0..=random.next(3) {
        place.call(&format!("c{call}"), |workspace| {
            for _ in 0..=random.next(6) {
                step(random, workspace);
            }
        });
    }
    let after = place.state();
    if before == after {
        return;
    }
    let outside = place.root.path().join("outside");
    let untouched = state(&outside);
    let report = place.undo.undo(&UndoRequest::default()).unwrap();
    check_state(&report, &place.state(), &before, &format!("undo, seed {seed:#x}"));
    if report.restored.is_empty() {
        return;
    }
    let report = place.undo.redo(false).unwrap();
    check_state(&report, &place.state(), &after, &format!("redo, seed {seed:#x}"));
    assert_eq!(state(&outside), untouched, "seed {seed:#x}");
}

/// Checks that everything is restored except pipes, which are reported instead.
fn check_state(report: &UndoReport, now: &State, wanted: &State, what: &str) {
    let mut pipes = Vec::new();
    for (path, why) in &report.left {
        assert!(matches!(why, LeftReason::NotKept(why) if why.contains("pipe")), "{what}: {path}: {why}");
        pipes.push(path.as_bytes());
    }
    let paths: BTreeSet<&Vec<u8>> = now.keys().chain(wanted.keys()).collect();
    for path in paths.into_iter().filter(|path| !pipes.contains(&path.as_slice())) {
        assert_eq!(now.get(path), wanted.get(path), "{what}: {}, report {report:?}", String::from_utf8_lossy(path));
    }
    for path in pipes {
        assert_eq!(wanted.get(path).map(String::as_str), Some("special"), "{what}");
    }
}
