//! The plan for the child, prepared in the parent: paths as C strings, rules, filter.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::{CString, c_int};
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::libc;
use nix::unistd::{getegid, geteuid};
use omp_stdx::real_path;
use omp_types::{AccessMap, ContainMode, NetworkMode, Touch};

use super::filter::{self, Strict};
use super::{probe, rules};
use crate::rung::Rung;
use crate::{Hidden, writable_roots};

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) view: Option<FileSystemView>,
    pub(super) landlock: Option<Arc<OwnedFd>>,
    /// The Landlock rights of programs on their own terminals.
    pub(super) terminal_rights: u64,
    pub(super) filter: Arc<[libc::sock_filter]>,
}

/// A private view of the file system.
#[derive(Debug)]
pub(super) struct FileSystemView {
    pub(super) namespaces: c_int,
    pub(super) uid_map: Vec<u8>,
    pub(super) gid_map: Vec<u8>,
    /// Identifies the owner of the namespace; empty if not needed.
    pub(super) tag: Vec<u8>,
    /// The user namespace to share with others; `None` for a new one.
    pub(super) family: Option<Arc<OwnedFd>>,
    /// The socket to which the tree's own namespace is sent.
    pub(super) herald: Option<OwnedFd>,
    /// Whether it has a private `/dev`.
    pub(super) own_devices: bool,
    /// False only if `/` itself is writable.
    pub(super) read_only_root: bool,
    /// Descriptors of the writable folders before mounting, filled in by the child.
    pub(super) clones: Vec<RawFd>,
    /// The socket to which the listener of the proxy is sent, if there is one.
    pub(super) door: Option<OwnedFd>,
    /// Outermost first.
    pub(super) mounts: Vec<PlannedMount>,
}

#[derive(Debug)]
pub(super) struct PlannedMount {
    pub(super) path: CString,
    pub(super) kind: MountKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MountKind {
    /// Contains its index in `FileSystemView::clones`.
    Writable(usize),
    /// A folder on the way to something guarded or hidden: as a mount of its own it cannot be renamed.
    Pin,
    Guarded,
    HiddenFolder,
    HiddenFile,
}

impl Plan {
    pub(super) fn new(map: &AccessMap, rung: Rung, open: &[PathBuf]) -> Result<Self, String> {
        let Hidden { pieces: hidden, opened } = Hidden::of(map);
        // Mounts protect the rest of such a folder; Landlock cannot, so nothing can be created in it at all.
        let closed = if rung == Rung::Landlock { opened.clone() } else { Vec::new() };
        let map = &around_shown(map, opened);
        // A folder whose path now leads elsewhere is not the one that was allowed. Paths inside something hidden stay
        // hidden, whether writable or not.
        let is_itself = |path: &PathBuf| real_path::existing(path).is_some_and(|real| real == *path);
        let writable = writable_roots(map).into_iter().filter(|path| is_itself(path) && !is_within(path, &hidden));
        let writable: Vec<PathBuf> = writable.filter(|path| !closed.contains(path)).collect();
        let own_view = matches!(rung, Rung::Full | Rung::Namespaces);
        let own_network = own_view && map.network != NetworkMode::On;
        let view = own_view
            .then(|| FileSystemView::new(map, CurrentPaths { writable: &writable, hidden: &hidden, open }, own_network))
            .transpose()?;
        let landlock = match rung {
            Rung::Full => Some(rules::ruleset(&writable, &[])?),
            Rung::Landlock => Some(rules::ruleset(&writable, &hidden)?),
            _ => None,
        };
        let no_sockets = map.network != NetworkMode::On && !own_network;
        let filter = filter::program(Strict { no_sockets, one_group: !probe::lists_processes() })?;
        Ok(Self { view, landlock, terminal_rights: rules::terminal_rights(), filter })
    }
}

/// Prevents creating files in a hidden folder beside what is shown of it.
fn around_shown(map: &AccessMap, opened: Vec<PathBuf>) -> Cow<'_, AccessMap> {
    let mut map = Cow::Borrowed(map);
    if map.mode == ContainMode::WorkspaceWrite && !opened.is_empty() {
        let is_inside = |shown: &&PathBuf| opened.iter().any(|folder| shown.starts_with(folder));
        let shown = map.shown.iter().filter(is_inside).filter(|shown| map.allows(Touch::Write, shown).is_ok());
        let shown: Vec<PathBuf> = shown.cloned().collect();
        let map = map.to_mut();
        map.writable.extend(shown);
        map.guarded.extend(opened);
    }
    map
}

/// The paths as they exist now.
#[derive(Clone, Copy)]
struct CurrentPaths<'a> {
    writable: &'a [PathBuf],
    hidden: &'a [PathBuf],
    /// Protected in another way.
    open: &'a [PathBuf],
}

impl FileSystemView {
    fn new(map: &AccessMap, grounds: CurrentPaths<'_>, own_network: bool) -> Result<Self, String> {
        let CurrentPaths { writable, hidden, open } = grounds;
        let mut namespaces = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWIPC;
        if own_network {
            namespaces |= libc::CLONE_NEWNET;
        }
        let (uid, gid) = (geteuid(), getegid());
        let mut places: Vec<(PathBuf, MountKind)> = Vec::new();
        places.extend(writable.iter().enumerate().map(|(at, path)| (path.clone(), MountKind::Writable(at))));
        if map.mode == ContainMode::WorkspaceWrite {
            let guarded = map.guarded.iter().filter(|path| !open.contains(path));
            let guarded = guarded.filter_map(|path| real_path::existing(path));
            let guarded = guarded.filter(|path| is_within(path, writable) && !is_within(path, hidden));
            places.extend(guarded.map(|path| (path, MountKind::Guarded)));
        }
        places.extend(hidden.iter().map(|path| (path.clone(), covered(path))));
        let covering: Vec<PathBuf> = places
            .iter()
            .filter(|(_, kind)| !matches!(kind, MountKind::Writable(_)))
            .map(|(path, _)| path.clone())
            .chain(
                open.iter().filter(|path| !is_within(path, hidden) && path.parent().is_some_and(Path::is_dir)).cloned(),
            )
            .collect();
        let mut known: HashSet<PathBuf> = places.iter().map(|(path, _)| path.clone()).collect();
        for path in covering {
            for outer in path.ancestors().skip(1).take_while(|outer| is_within(outer, writable)) {
                if known.insert(outer.to_owned()) {
                    places.push((outer.to_owned(), MountKind::Pin));
                }
            }
        }
        places.sort_by_key(|(path, kind)| (path.components().count(), rank(*kind)));
        let mount = |(path, kind): (PathBuf, MountKind)| c_string(&path).map(|path| PlannedMount { path, kind });
        Ok(Self {
            namespaces,
            uid_map: format!("{uid} {uid} 1").into_bytes(),
            gid_map: format!("{gid} {gid} 1").into_bytes(),
            tag: Vec::new(),
            family: None,
            herald: None,
            own_devices: false,
            read_only_root: writable.iter().all(|path| path != Path::new("/")),
            clones: vec![-1; writable.len()],
            door: None,
            mounts: places.into_iter().map(mount).collect::<Result<_, _>>()?,
        })
    }
}

/// The order of mounts on one path: the last one wins.
fn rank(kind: MountKind) -> u8 {
    match kind {
        MountKind::Writable(_) => 0,
        MountKind::Pin => 1,
        MountKind::Guarded => 2,
        MountKind::HiddenFolder | MountKind::HiddenFile => 3,
    }
}

fn is_within(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

fn covered(path: &Path) -> MountKind {
    if path.is_dir() { MountKind::HiddenFolder } else { MountKind::HiddenFile }
}

fn c_string(path: &Path) -> Result<CString, String> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| format!("{} is not a path", path.display()))
}
