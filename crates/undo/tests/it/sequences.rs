//! A thousand random sequences of what programs do to files.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use omp_undo::Wanted;

use crate::place::{Place, sh};

/// In each of four tests, so that they run side by side.
const SEQUENCES: u64 = 250;
/// A workspace is used for so many: what one leaves is what the next begins with.
const IN_ONE_PLACE: u64 = 10;
const NAMES: [&[u8]; 8] = [b"a", b"b.rs", b"c d", b"sub", b"deep", b".env", b"not\xfftext", b"line\nbreak"];

/// Small and the same everywhere, so that a failure can be repeated by its seed.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
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

/// Most of these fail now and then, as they do in life.
fn step(random: &mut Random, root: &Path) {
    let path = random.path(root);
    match random.next(14) {
        0..=2 => {
            drop(path.parent().map(fs::create_dir_all));
            drop(fs::write(&path, random.content()));
        }
        3 => {
            if let Ok(mut file) = fs::OpenOptions::new().append(true).open(&path) {
                file.write_all(&random.content()).unwrap();
            }
        }
        4 => drop(fs::remove_file(&path)),
        5 => drop(fs::remove_dir_all(&path)),
        6 => drop(fs::rename(&path, random.path(root))),
        7 => {
            let mode = [0o600, 0o644, 0o755, 0o700, 0o444, 0o555][random.next(6)];
            if !path.is_symlink() {
                drop(fs::set_permissions(&path, fs::Permissions::from_mode(mode)));
            }
        }
        8 => drop(symlink(random.path(Path::new("..")), &path)),
        9 => drop(fs::create_dir_all(&path)),
        10 => drop(fs::remove_dir(&path)),
        11 => drop(fs::hard_link(&path, random.path(root))),
        12 => {
            // Something of another kind takes its place.
            drop(fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)));
            match random.next(3) {
                0 => drop(fs::write(&path, random.content())),
                1 => drop(fs::create_dir(&path)),
                _ => drop(symlink("b.rs", &path)),
            }
        }
        _ => {
            let script = [
                "rm -rf sub a; mkdir -p sub/deep && echo x > sub/deep/a",
                "for f in *; do [ -f \"$f\" ] && cp \"$f\" copy; done 2>/dev/null",
                "mv a b.rs 2>/dev/null; ln -sf /etc/passwd deep 2>/dev/null",
                "find . -name 'b*' -type f -exec sh -c 'echo more >> \"$1\"' _ {} \\; 2>/dev/null",
            ];
            if random.next(4) == 0 {
                sh(root, script[random.next(4)]);
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
        for _ in 0..IN_ONE_PLACE {
            check_one(&place, &mut random);
        }
    }
}

fn check_one(place: &Place, random: &mut Random) {
    let seed = random.0;
    place.undo.begin_turn("a prompt").unwrap();
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
    let report = place.undo.undo(&Wanted::default()).unwrap();
    assert_eq!(report.left, [], "seed {seed:#x}");
    assert_eq!(place.state(), before, "undo, seed {seed:#x}");
    let report = place.undo.redo(false).unwrap();
    assert_eq!(report.left, [], "seed {seed:#x}");
    assert_eq!(place.state(), after, "redo, seed {seed:#x}");
}
