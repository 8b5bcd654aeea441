//! A private `/dev` for the command: devices that every program may use, but no disks, other hardware or terminals of the
//! user. Read-only mounts do not prevent writing to a device.

use std::ffi::{CStr, c_int};
use std::io;

use nix::libc;

use super::enter::{CONSOLE, EnterStep, done, move_mount, open_tree, own_terminal, set_only_this_read_only};

const SHARED: [&CStr; 6] = [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/random", c"/dev/urandom", c"/dev/tty"];
const LINKS: [(&CStr, &CStr); 5] = [
    (c"/proc/self/fd", c"/dev/fd"),
    (c"/proc/self/fd/0", c"/dev/stdin"),
    (c"/proc/self/fd/1", c"/dev/stdout"),
    (c"/proc/self/fd/2", c"/dev/stderr"),
    (c"pts/ptmx", c"/dev/ptmx"),
];
const FOLDERS: [&CStr; 2] = [c"/dev/pts", c"/dev/shm"];

/// Called between fork and exec. Devices that do not exist are skipped; without `/dev/null` nothing is changed.
pub(super) fn replace() -> io::Result<()> {
    let is_there = |path: &CStr| {
        // SAFETY: a C string.
        unsafe { libc::access(path.as_ptr(), libc::F_OK) == 0 }
    };
    if !is_there(SHARED[0]) {
        return Ok(());
    }
    let mut taken: [Option<c_int>; SHARED.len()] = [None; SHARED.len()];
    for (place, path) in taken.iter_mut().zip(SHARED) {
        *place = open_tree(path).ok();
    }
    let folders = FOLDERS.map(is_there);
    let memory = open_tree(FOLDERS[1]).ok();
    let mut name = [0_u8; 64];
    let terminal = own_terminal(&mut name).and_then(|own| open_tree(own).ok());
    cover()?;
    for (tree, path) in taken.into_iter().zip(SHARED).chain([(terminal, CONSOLE)]) {
        if let Some(tree) = tree {
            make_file(path)?;
            move_mount(EnterStep::Devices, tree, path)?;
        }
    }
    for (path, _) in FOLDERS.into_iter().zip(folders).filter(|(_, was_there)| *was_there) {
        // SAFETY: a C string.
        done(EnterStep::Devices, unsafe { libc::mkdir(path.as_ptr(), 0o755) }.into())?;
    }
    if let Some(memory) = memory {
        move_mount(EnterStep::Devices, memory, FOLDERS[1])?;
    }
    for (to, path) in LINKS {
        // SAFETY: C strings.
        done(EnterStep::Devices, unsafe { libc::symlink(to.as_ptr(), path.as_ptr()) }.into())?;
    }
    set_only_this_read_only(EnterStep::Devices, c"/dev")
}

fn cover() -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    let options = c"mode=0755,size=64k,nr_inodes=64";
    // SAFETY: C strings.
    let mounted =
        unsafe { libc::mount(c"none".as_ptr(), c"/dev".as_ptr(), c"tmpfs".as_ptr(), flags, options.as_ptr().cast()) };
    done(EnterStep::Devices, mounted.into()).map(drop)
}

fn make_file(path: &CStr) -> io::Result<()> {
    // SAFETY: a C string; the descriptor was opened here.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC, 0o644);
        done(EnterStep::Devices, file.into())?;
        libc::close(file);
    }
    Ok(())
}
