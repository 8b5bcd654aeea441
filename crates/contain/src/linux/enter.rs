//! The child's side, between fork and exec: only system calls on prepared data, and no allocation.
//!
//! An error is passed to the parent as one number, which also encodes the step that failed.

use std::ffi::{CStr, c_int, c_long};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::libc;

use super::plan::{FileSystemView, MountKind, Plan, PlannedMount};
use super::{devices, door, family};

/// The steps; the index in this list is passed with the error.
const STEPS: &[&str] = &[
    "reading the working folder",
    "making namespaces",
    "mapping the user",
    "making mounts private",
    "keeping a writable folder",
    "making the file system read-only",
    "mounting a writable folder",
    "setting up its devices",
    "pinning a folder",
    "protecting a path",
    "hiding a path",
    "setting up its terminals",
    "bringing up the loopback interface",
    "opening the connection to the proxy",
    "going back to the working folder",
    "dropping capabilities",
    "blocking new privileges",
    "applying Landlock",
    "applying seccomp",
];

#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum EnterStep {
    Cwd,
    Namespaces,
    Map,
    Private,
    Clone,
    ReadOnly,
    Writable,
    Devices,
    Pin,
    Guard,
    Hide,
    Terminals,
    Loopback,
    Door,
    Return,
    Capabilities,
    Privileges,
    Landlock,
    Seccomp,
}

/// Larger than any error number of the system.
const MARK: i32 = 0x4F00_0000;

/// The step of containment that failed, and why; `None` for any other error.
pub fn explain(error: &io::Error) -> Option<String> {
    let (step, errno) = parts(error)?;
    let why = io::Error::from_raw_os_error(errno);
    Some(format!("{} failed: {why}", STEPS.get(step)?))
}

/// Step and error number.
pub(super) fn parts(error: &io::Error) -> Option<(usize, i32)> {
    let code = error.raw_os_error().filter(|code| code & !0x00FF_FFFF == MARK)?;
    Some((((code >> 16) & 0xFF) as usize, code & 0xFFFF))
}

pub(super) fn is_of_the_view(step: usize) -> bool {
    step < EnterStep::Capabilities as usize
}

fn failed(step: EnterStep) -> io::Error {
    error(step, io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}

pub(super) fn error(step: EnterStep, errno: i32) -> io::Error {
    io::Error::from_raw_os_error(MARK | ((step as i32) << 16) | (errno & 0xFFFF))
}

pub(super) fn done(step: EnterStep, result: c_long) -> io::Result<c_long> {
    if result < 0 { Err(failed(step)) } else { Ok(result) }
}

pub(super) fn enter(plan: &mut Plan) -> io::Result<()> {
    if let Some(view) = &mut plan.view {
        change_view(view)?;
    }
    drop_capabilities()?;
    // SAFETY: passes only integers.
    done(EnterStep::Privileges, unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
    if let Some(rules) = &plan.landlock {
        if plan.view.is_some() {
            allow_own_terminals(rules, plan.terminal_rights)?;
        }
        // SAFETY: an open descriptor.
        done(EnterStep::Landlock, unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) })?;
    }
    let program = libc::sock_fprog { len: plan.filter.len() as u16, filter: plan.filter.as_ptr().cast_mut() };
    // SAFETY: the filter program outlives the call, which does not write to it.
    let applied = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
    done(EnterStep::Seccomp, applied).map(drop)
}

fn change_view(view: &mut FileSystemView) -> io::Result<()> {
    let mut cwd = [0_u8; libc::PATH_MAX as usize];
    // SAFETY: the buffer has the given length; all paths are C strings.
    unsafe {
        if libc::getcwd(cwd.as_mut_ptr().cast(), cwd.len()).is_null() {
            return Err(failed(EnterStep::Cwd));
        }
        // If none can be joined the command gets its own namespace; then other commands do not see it.
        let joined =
            view.family.as_ref().is_some_and(|family| libc::setns(family.as_raw_fd(), libc::CLONE_NEWUSER) == 0);
        if joined {
            done(EnterStep::Namespaces, libc::unshare(view.namespaces & !libc::CLONE_NEWUSER).into())?;
        } else {
            done(EnterStep::Namespaces, libc::unshare(view.namespaces).into())?;
            map_user(&view.uid_map, &view.gid_map, &view.tag)?;
        }
        if let Some(herald) = &view.herald {
            // If this fails, the tree is only identified by its group and its mark.
            let _ = family::hand_out(c"/proc/self/ns/ipc", herald.as_raw_fd());
        }
        mount(EnterStep::Private, c"none", c"/", None, libc::MS_REC | libc::MS_SLAVE)?;
        for PlannedMount { path, kind } in &view.mounts {
            if let MountKind::Writable(at) = kind {
                view.clones[*at] = unless_gone(path, || open_tree(path))?.unwrap_or(GONE);
            }
        }
        if view.read_only_root {
            set_read_only(EnterStep::ReadOnly, c"/")?;
        }
    }
    if view.own_devices {
        devices::replace()?;
    }
    for PlannedMount { path, kind } in &view.mounts {
        unless_gone(path, || place(path, *kind, &view.clones))?;
    }
    own_terminals(view.own_devices)?;
    // SAFETY: as above.
    unsafe {
        if view.namespaces & libc::CLONE_NEWNET != 0 {
            bring_up_loopback()?;
        }
        if let Some(door) = &view.door {
            door::hand_out(door)?;
        }
        done(EnterStep::Return, libc::chdir(cwd.as_ptr().cast()).into())?;
    }
    Ok(())
}

/// In place of the descriptor of a folder that no longer exists.
const GONE: c_int = -1;

/// A path that has vanished since it was planned needs no mount. A path that another program replaced at that moment is
/// tried again. Any other failure is an error.
fn unless_gone<T>(path: &CStr, act: impl Fn() -> io::Result<T>) -> io::Result<Option<T>> {
    const TRIES: usize = 100;
    let mut result = act();
    for _ in 0..TRIES {
        match &result {
            Ok(_) => break,
            Err(_) if is_gone(path) => return Ok(None),
            Err(error) if is_of_another(error) => result = act(),
            Err(_) => break,
        }
    }
    result.map(Some)
}

/// Whether the error means that the path changed a moment ago.
fn is_of_another(error: &io::Error) -> bool {
    matches!(parts(error), Some((_, libc::ENOENT | libc::ENOTDIR | libc::ELOOP | libc::EINVAL)))
}

/// A dangling link counts as gone.
fn is_gone(path: &CStr) -> bool {
    // SAFETY: a C string, and a structure that the call fills in.
    unsafe {
        let mut data: libc::stat = std::mem::zeroed();
        libc::stat(path.as_ptr(), &raw mut data) < 0
            && matches!(*libc::__errno_location(), libc::ENOENT | libc::ENOTDIR | libc::ELOOP)
    }
}

/// Whether the path is no longer what was cloned: a file in place of a folder, or the reverse, or something created after a
/// removal, which can no longer be mounted. Then it is not the path that may be written.
fn is_another(tree: c_int, path: &CStr) -> bool {
    // SAFETY: a C string, an open descriptor, and structures that the calls fill in.
    unsafe {
        let (mut taken, mut there): (libc::stat, libc::stat) = (std::mem::zeroed(), std::mem::zeroed());
        let is_folder = |data: &libc::stat| data.st_mode & libc::S_IFMT == libc::S_IFDIR;
        libc::fstat(tree, &raw mut taken) == 0
            && libc::lstat(path.as_ptr(), &raw mut there) == 0
            && (taken.st_nlink == 0 || is_folder(&taken) != is_folder(&there))
    }
}

fn place(path: &CStr, kind: MountKind, clones: &[c_int]) -> io::Result<()> {
    match kind {
        MountKind::Writable(at) if clones[at] == GONE => Ok(()),
        MountKind::Writable(at) => match move_mount(EnterStep::Writable, clones[at], path) {
            Err(_) if is_another(clones[at], path) => Ok(()),
            result => result,
        },
        MountKind::Pin => mount(EnterStep::Pin, path, path, None, libc::MS_BIND | libc::MS_REC),
        MountKind::Guarded => {
            mount(EnterStep::Guard, path, path, None, libc::MS_BIND | libc::MS_REC)?;
            set_read_only(EnterStep::Guard, path)
        }
        // A file may have become a folder, and the reverse.
        MountKind::HiddenFolder => cover_folder(path).or_else(|error| cover_file(path).map_err(|_| error)),
        MountKind::HiddenFile => cover_file(path).or_else(|error| cover_folder(path).map_err(|_| error)),
    }
}

fn cover_folder(path: &CStr) -> io::Result<()> {
    const FLAGS: libc::c_ulong = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC | libc::MS_RDONLY;
    mount(EnterStep::Hide, c"none", path, Some((c"tmpfs", c"mode=0555,nr_inodes=2")), FLAGS)
}

fn cover_file(path: &CStr) -> io::Result<()> {
    mount(EnterStep::Hide, c"/dev/null", path, None, libc::MS_BIND)
}

const TERMINALS: &CStr = c"/dev/pts";
/// The name by which a child in a terminal finds it.
pub(super) const CONSOLE: &CStr = c"/dev/console";

/// Mounts a private `/dev/pts`, so that commands can neither read nor write the user's terminals: only terminals that
/// programs of the tree open exist there.
fn own_terminals(has_console: bool) -> io::Result<()> {
    // SAFETY: a C string.
    if unsafe { libc::access(TERMINALS.as_ptr(), libc::F_OK) } != 0 {
        return Ok(());
    }
    let mut name = [0_u8; 64];
    if let Some(own) = own_terminal(&mut name).filter(|_| !has_console) {
        // If this fails, only the terminal's name is missing.
        let _ = mount(EnterStep::Terminals, own, CONSOLE, None, libc::MS_BIND);
    }
    let options = c"newinstance,mode=0620,ptmxmode=0666";
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    mount(EnterStep::Terminals, c"devpts", TERMINALS, Some((c"devpts", options)), flags)
}

/// The path of the terminal on the child's standard input.
pub(super) fn own_terminal(name: &mut [u8; 64]) -> Option<&CStr> {
    // SAFETY: the buffer is one byte longer than its stated length, so that it ends with NUL; all strings are C strings.
    unsafe {
        let read = libc::readlink(c"/proc/self/fd/0".as_ptr(), name.as_mut_ptr().cast(), name.len() - 1);
        (read > 0 && libc::isatty(0) == 1).then(|| CStr::from_ptr(name.as_ptr().cast()))
    }
}

/// Landlock rules refer to files, and these were just created. The rules may be shared with other children, who never see
/// these files.
fn allow_own_terminals(rules: &OwnedFd, rights: u64) -> io::Result<()> {
    #[repr(C, packed)]
    struct PathBeneath {
        rights: u64,
        path: c_int,
    }
    const PATH_BENEATH: c_int = 1;
    const READ_FOLDER: u64 = 1 << 3;
    for (path, rights) in [(TERMINALS, rights), (CONSOLE, rights & !READ_FOLDER)] {
        // SAFETY: a C string, open descriptors, and a structure that outlives the call.
        unsafe {
            if path == CONSOLE && libc::isatty(0) != 1 {
                continue;
            }
            let path = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
            if path < 0 {
                continue;
            }
            let rule = PathBeneath { rights, path };
            let added = libc::syscall(libc::SYS_landlock_add_rule, rules.as_raw_fd(), PATH_BENEATH, &raw const rule, 0);
            done(EnterStep::Landlock, added)?;
            libc::close(path);
        }
    }
    Ok(())
}

/// Maps the user of a new user namespace, and tags the namespace.
pub(super) fn map_user(uid_map: &[u8], gid_map: &[u8], tag: &[u8]) -> io::Result<()> {
    write_file(c"/proc/self/setgroups", b"deny")?;
    write_file(c"/proc/self/uid_map", uid_map)?;
    write_file(c"/proc/self/gid_map", gid_map)?;
    if !tag.is_empty() {
        // Within another user namespace this may be forbidden; then the tree is found by other means.
        let _ = write_file(c"/proc/self/projid_map", tag);
    }
    Ok(())
}

fn write_file(path: &CStr, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: a C string, and a buffer with its length.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        done(EnterStep::Map, file.into())?;
        // Always closed: while a file of /proc is open for writing, /proc cannot be made read-only.
        let written = done(EnterStep::Map, libc::write(file, bytes.as_ptr().cast(), bytes.len()) as c_long);
        libc::close(file);
        written.map(drop)
    }
}

/// `kind` is the file system with its options; `None` for a bind mount.
fn mount(
    step: EnterStep,
    source: &CStr,
    target: &CStr,
    kind: Option<(&CStr, &CStr)>,
    flags: libc::c_ulong,
) -> io::Result<()> {
    let (name, options) =
        kind.map_or((std::ptr::null(), std::ptr::null()), |(name, options)| (name.as_ptr(), options.as_ptr().cast()));
    // SAFETY: C strings or null.
    let mounted = unsafe { libc::mount(source.as_ptr(), target.as_ptr(), name, flags, options) };
    done(step, mounted.into()).map(drop)
}

const AT_RECURSIVE: c_int = 0x8000;

pub(super) fn open_tree(path: &CStr) -> io::Result<c_int> {
    const OPEN_TREE_CLONE: c_int = 1;
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC | AT_RECURSIVE;
    // SAFETY: a C string.
    let tree = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    done(EnterStep::Clone, tree).map(|tree| tree as c_int)
}

pub(super) fn move_mount(step: EnterStep, tree: c_int, path: &CStr) -> io::Result<()> {
    const FROM_EMPTY_PATH: c_int = 4;
    // SAFETY: an open descriptor and C strings.
    unsafe {
        let (empty, path) = (c"".as_ptr(), path.as_ptr());
        let moved = libc::syscall(libc::SYS_move_mount, tree, empty, libc::AT_FDCWD, path, FROM_EMPTY_PATH);
        done(step, moved)?;
        libc::close(tree);
    }
    Ok(())
}

fn set_read_only(step: EnterStep, path: &CStr) -> io::Result<()> {
    set_read_only_as(step, path, AT_RECURSIVE)
}

/// Does not affect mounts within it.
pub(super) fn set_only_this_read_only(step: EnterStep, path: &CStr) -> io::Result<()> {
    set_read_only_as(step, path, 0)
}

fn set_read_only_as(step: EnterStep, path: &CStr, flags: c_int) -> io::Result<()> {
    /// `struct mount_attr`; its other fields stay zero.
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    const READ_ONLY: u64 = 1;
    let attributes = Attributes { set: READ_ONLY, clear: 0, propagation: 0, user_namespace: 0 };
    let size = size_of::<Attributes>();
    // SAFETY: a C string and a structure with its size.
    let set = unsafe {
        let attributes = &raw const attributes;
        libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, path.as_ptr(), flags, attributes, size)
    };
    done(step, set).map(drop)
}

/// Brings up the loopback interface, so that test servers on this machine work without a network.
unsafe fn bring_up_loopback() -> io::Result<()> {
    // SAFETY: a zeroed request is valid, and its name ends with NUL.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        done(EnterStep::Loopback, socket.into())?;
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
        done(EnterStep::Loopback, libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request).into())?;
        libc::close(socket);
    }
    Ok(())
}

/// Drops all capabilities, including those that root's programs would get back from the bounding set.
fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct CapabilityHeader {
        version: u32,
        pid: c_int,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = CapabilityHeader { version: VERSION_3, pid: 0 };
    let none = [0_u32; 6];
    // SAFETY: integers, and structures of the size that this version has.
    unsafe {
        for capability in 0..64 {
            if libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) < 0 {
                // Past the last capability, or without the right to drop it: then none can come back, since without root no
                // program gives capabilities to a process that may not gain privileges.
                break;
            }
        }
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        done(EnterStep::Capabilities, libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr())).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_crosses_with_the_error() {
        assert_eq!(STEPS.len(), EnterStep::Seccomp as usize + 1);
        assert_eq!(
            explain(&error(EnterStep::Guard, libc::EPERM)).unwrap(),
            "protecting a path failed: Operation not permitted (os error 1)"
        );
        assert_eq!(explain(&io::Error::from_raw_os_error(libc::ENOENT)), None);
    }
}
