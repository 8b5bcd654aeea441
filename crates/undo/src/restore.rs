//! Restores paths: through directory handles, without following links, each file completely or not at all.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::UndoError;
use crate::folder::{Folder, FolderEntryKind};
use crate::node::{Node, NodeRecord};
use crate::rel_path::RelPath;
use crate::scan::Scanner;
use crate::tree::{TreeChange, WorkspaceTree};

/// Name prefix of files that are being written.
pub(crate) const TEMPORARY: &[u8] = b".omp-undo-";
const OWNER: u32 = 0o700;

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Why a path was not restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftReason {
    /// The user or another program has changed it since.
    Changed,
    /// Its earlier content is not stored.
    NotKept(String),
    /// The current content could not be restored by a redo, or goes beyond the recorded change.
    Stays(String),
    Failed(String),
}

impl std::fmt::Display for LeftReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LeftReason::Changed => f.write_str("changed since"),
            LeftReason::NotKept(why) => write!(f, "not stored: {why}"),
            LeftReason::Stays(why) => write!(f, "kept: {why}"),
            LeftReason::Failed(why) => f.write_str(why),
        }
    }
}

/// Applied changes, and skipped paths with the reason.
pub(crate) type AppliedChanges = (Vec<TreeChange>, Vec<(RelPath, LeftReason)>);

/// Each change leads from the state in the tree to the wanted state.
pub(crate) struct Restore<'a> {
    scanner: &'a Scanner,
    present: &'a WorkspaceTree,
    root: Arc<Folder>,
    /// Folders that were made writable, with the mode to restore.
    opened: HashMap<RelPath, u32>,
    left: Vec<(RelPath, LeftReason)>,
}

impl<'a> Restore<'a> {
    pub fn new(scanner: &'a Scanner, present: &'a WorkspaceTree) -> io::Result<Self> {
        let root = Arc::new(Folder::open(&scanner.workspace)?);
        Ok(Self { scanner, present, root, opened: HashMap::new(), left: Vec::new() })
    }

    /// Applies changes and returns those applied, and the skipped paths with the reason.
    pub fn apply(mut self, changes: Vec<TreeChange>) -> AppliedChanges {
        let mut out: Vec<&TreeChange> = changes.iter().filter(|change| goes_first(change)).collect();
        out.sort_by_key(|change| std::cmp::Reverse(change.path.depth()));
        let mut failed = HashSet::new();
        // All replacements are written completely before anything is removed: a full disk leaves the old files intact.
        let made: Vec<(&TreeChange, Result<Option<StagedNode>, LeftReason>)> =
            out.into_iter().map(|change| (change, self.make(change))).collect();
        for (change, made) in made {
            if let Err(left) = made.and_then(|made| self.remove(change, made)) {
                failed.insert(change.path.clone());
                self.left.push((change.path.clone(), left));
            }
        }
        let mut back: Vec<&TreeChange> =
            changes.iter().filter(|change| change.after.is_some() && !failed.contains(&change.path)).collect();
        back.sort_by_key(|change| change.path.depth());
        for change in back.iter().filter(|change| !goes_first(change)) {
            if let Err(left) = self.create(change) {
                failed.insert(change.path.clone());
                self.left.push((change.path.clone(), left));
            }
        }
        for change in back.iter().rev().filter(|change| !failed.contains(&change.path)) {
            if let Some(Node::Folder { mode }) = change.after
                && let Err(error) = self.set_folder_mode(&change.path, mode)
            {
                self.left.push((change.path.clone(), LeftReason::Failed(error.to_string())));
            }
        }
        for (path, mode) in std::mem::take(&mut self.opened) {
            // A folder that was removed or got its final mode by now needs no reset.
            let is_set = changes.iter().any(|change| change.path == path && change.after.is_some());
            if !is_set {
                drop(self.set_folder_mode(&path, mode));
            }
        }
        let left = self.left;
        (changes.into_iter().filter(|change| !failed.contains(&change.path)).collect(), left)
    }

    /// Creates the replacement of an existing node under a temporary name.
    fn make(&mut self, change: &TreeChange) -> Result<Option<StagedNode>, LeftReason> {
        let Some(wanted) = &change.after else { return Ok(None) };
        let folder = self.writable(&change.path.parent())?;
        self.made(folder, wanted).map(Some)
    }

    /// Removes the existing node and puts its replacement in place.
    fn remove(&mut self, change: &TreeChange, made: Option<StagedNode>) -> Result<(), LeftReason> {
        let (parent, name) = (change.path.parent(), change.path.split().1.to_owned());
        let folder = self.writable(&parent)?;
        self.check(&folder, &name, change)?;
        let is_folder = matches!(folder.look(&name), Ok(Some(found)) if found.kind == FolderEntryKind::Folder);
        let removed = if is_folder { folder.remove_folder(&name) } else { folder.remove_file(&name) };
        removed.map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty => LeftReason::Stays("the folder is not empty".to_owned()),
            _ => failed(&error),
        })?;
        made.map_or(Ok(()), |made| made.put(&name))
    }

    fn create(&mut self, change: &TreeChange) -> Result<(), LeftReason> {
        let (parent, name) = (change.path.parent(), change.path.split().1.to_owned());
        let folder = self.writable(&parent)?;
        let Some(wanted) = &change.after else { return Ok(()) };
        self.check(&folder, &name, change)?;
        match wanted {
            Node::Folder { .. } => match folder.new_folder(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                made => made.map_err(|error| failed(&error)),
            },
            other => self.made(folder, other)?.put(&name),
        }
    }

    fn made(&self, folder: Arc<Folder>, wanted: &Node) -> Result<StagedNode, LeftReason> {
        let lost = |error: UndoError| LeftReason::NotKept(error.to_string());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = [TEMPORARY, format!("{}-{number}", std::process::id()).as_bytes()].concat();
        let made = StagedNode { folder, name };
        match wanted {
            Node::Folder { .. } => made.folder.new_folder(&made.name),
            Node::File { mode, hash, .. } => {
                let content = self.scanner.content(hash).map_err(lost)?;
                made.folder.new_file(&made.name).and_then(|mut file| {
                    file.write_all(&content)?;
                    Folder::set_mode_of(&file, *mode)
                })
            }
            Node::Link { target } => made.folder.new_link(&made.name, &target.0),
            Node::Uncovered { why } => return Err(LeftReason::NotKept(why.as_str().to_owned())),
        }
        .map_err(|error| failed(&error))?;
        Ok(made)
    }

    /// Checks that the current node is still the one in the tree.
    fn check(&self, folder: &Folder, name: &[u8], change: &TreeChange) -> Result<(), LeftReason> {
        let found = folder.look(name).map_err(|error| failed(&error))?;
        match (self.present.get(&change.path), found) {
            (None, None) => Ok(()),
            (Some(NodeRecord { node: Node::Folder { .. }, .. }), Some(found))
                if found.kind == FolderEntryKind::Folder =>
            {
                Ok(())
            }
            (Some(NodeRecord { node: Node::Uncovered { .. }, .. }), Some(found))
                if found.kind == FolderEntryKind::Folder =>
            {
                Ok(())
            }
            (Some(record), Some(found)) if record.stat == found.stat && !record.is_racy() => Ok(()),
            // Another hard link of the same file may have been restored: that changes times, but no content.
            (Some(record), Some(found)) => match (&record.node, found.kind) {
                (Node::File { .. }, FolderEntryKind::File) => {
                    let read = self.scanner.read(folder, name, Some(record)).ok().flatten();
                    if read.is_some_and(|read| read.node == record.node) { Ok(()) } else { Err(LeftReason::Changed) }
                }
                (Node::Link { target }, FolderEntryKind::Link) => {
                    if folder.target(name).is_ok_and(|now| now == target.0) { Ok(()) } else { Err(LeftReason::Changed) }
                }
                _ if record.stat == found.stat => Ok(()),
                _ => Err(LeftReason::Changed),
            },
            _ => Err(LeftReason::Changed),
        }
    }

    /// Opens a folder by handle, name by name from the workspace. Creates missing folders; never follows a link.
    fn writable(&mut self, path: &RelPath) -> Result<Arc<Folder>, LeftReason> {
        let mut folder = self.root.clone();
        let mut at = RelPath::root();
        let names = path.as_bytes().split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        for name in names {
            at = at.join(name);
            let mut opened = folder.child(name);
            if let Err(error) = &opened {
                match error.kind() {
                    io::ErrorKind::NotFound => folder.new_folder(name).map_err(|error| failed(&error))?,
                    io::ErrorKind::PermissionDenied => self.unlock(&folder, name, &at)?,
                    _ => return Err(LeftReason::Failed("its folder is no longer a folder".to_owned())),
                }
                opened = folder.child(name);
            }
            let opened = Arc::new(opened.map_err(|error| failed(&error))?);
            self.unlock(&folder, name, &at)?;
            folder = opened;
        }
        Ok(folder)
    }

    /// Temporarily gives the owner full access to a folder.
    fn unlock(&mut self, parent: &Folder, name: &[u8], path: &RelPath) -> Result<(), LeftReason> {
        let found = parent.look(name).map_err(|error| failed(&error))?;
        let Some(found) =
            found.filter(|found| found.kind == FolderEntryKind::Folder && found.stat.mode & OWNER != OWNER)
        else {
            return Ok(());
        };
        parent.set_mode(name, found.stat.mode | OWNER).map_err(|error| failed(&error))?;
        self.opened.entry(path.clone()).or_insert(found.stat.mode);
        Ok(())
    }

    fn set_folder_mode(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        let mut folder = self.root.clone();
        let (parent, name) = path.split();
        for name in parent.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            folder = Arc::new(folder.child(name)?);
        }
        match folder.child(name) {
            Ok(folder) => folder.set_own_mode(mode),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => folder.set_mode(name, mode),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether the existing node must be removed before the new one can be created.
fn goes_first(change: &TreeChange) -> bool {
    let is_folder = |node: &Option<Node>| node.as_ref().is_some_and(Node::is_folder);
    match (&change.before, &change.after) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(Node::Uncovered { why }), Some(wanted)) => wanted.is_folder() && !why.may_be_folder(),
        (Some(_), Some(_)) => is_folder(&change.before) != is_folder(&change.after),
    }
}

/// A complete node under a temporary name. It is removed on drop unless it was put in place.
struct StagedNode {
    folder: Arc<Folder>,
    name: Vec<u8>,
}

impl StagedNode {
    fn put(self, name: &[u8]) -> Result<(), LeftReason> {
        self.folder.rename(&self.name, name).map_err(|error| failed(&error))
    }
}

impl Drop for StagedNode {
    fn drop(&mut self) {
        // Nothing is left at the temporary name if the node was put in place.
        drop(self.folder.remove_file(&self.name).or_else(|_| self.folder.remove_folder(&self.name)));
    }
}

fn failed(error: &io::Error) -> LeftReason {
    LeftReason::Failed(error.to_string())
}
