//! Puts paths back as they were: through handles of folders, without following a link, each file whole or not at all.

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

/// What a file is called until it is whole.
pub(crate) const TEMPORARY: &[u8] = b".omp-undo-";
const OWNER: u32 = 0o700;

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Why a path was left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftReason {
    /// The user, or another program, has changed it since.
    Changed,
    /// What it was is not kept.
    NotKept(String),
    /// What is there now could not be given back, or is more than what was changed.
    Stays(String),
    Failed(String),
}

impl std::fmt::Display for LeftReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LeftReason::Changed => f.write_str("changed since"),
            LeftReason::NotKept(why) => write!(f, "not kept: {why}"),
            LeftReason::Stays(why) => write!(f, "kept: {why}"),
            LeftReason::Failed(why) => f.write_str(why),
        }
    }
}

/// What was changed, and what was left with the reason.
pub(crate) type AppliedChanges = (Vec<TreeChange>, Vec<(RelPath, LeftReason)>);

/// Each change leads from what the tree has to what is wanted.
pub(crate) struct Restore<'a> {
    scanner: &'a Scanner,
    present: &'a WorkspaceTree,
    root: Arc<Folder>,
    /// Folders that could not be written in, with the mode to give back to them.
    opened: HashMap<RelPath, u32>,
    left: Vec<(RelPath, LeftReason)>,
}

impl<'a> Restore<'a> {
    pub fn new(scanner: &'a Scanner, present: &'a WorkspaceTree) -> io::Result<Self> {
        let root = Arc::new(Folder::open(&scanner.workspace)?);
        Ok(Self { scanner, present, root, opened: HashMap::new(), left: Vec::new() })
    }

    /// What was changed, and what was left with the reason.
    pub fn apply(mut self, changes: Vec<TreeChange>) -> AppliedChanges {
        let mut out: Vec<&TreeChange> = changes.iter().filter(|change| goes_first(change)).collect();
        out.sort_by_key(|change| std::cmp::Reverse(change.path.depth()));
        let mut failed = HashSet::new();
        // All that takes another's place is whole before anything goes: a full disk leaves what was there.
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
            // Gone, or given its own mode, by now: then there is nothing to give back.
            let is_set = changes.iter().any(|change| change.path == path && change.after.is_some());
            if !is_set {
                drop(self.set_folder_mode(&path, mode));
            }
        }
        let left = self.left;
        (changes.into_iter().filter(|change| !failed.contains(&change.path)).collect(), left)
    }

    /// What comes where something else goes, under another name.
    fn make(&mut self, change: &TreeChange) -> Result<Option<StagedNode>, LeftReason> {
        let Some(wanted) = &change.after else { return Ok(None) };
        let folder = self.writable(&change.path.parent())?;
        self.made(folder, wanted).map(Some)
    }

    /// Takes away what is there, and puts what was made in its place.
    fn remove(&mut self, change: &TreeChange, made: Option<StagedNode>) -> Result<(), LeftReason> {
        let (parent, name) = (change.path.parent(), change.path.split().1.to_owned());
        let folder = self.writable(&parent)?;
        self.check(&folder, &name, change)?;
        let is_folder = matches!(folder.look(&name), Ok(Some(found)) if found.kind == FolderEntryKind::Folder);
        let removed = if is_folder { folder.remove_folder(&name) } else { folder.remove_file(&name) };
        removed.map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty => LeftReason::Stays("there is more in the folder".to_owned()),
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

    /// What is there is still what the tree has.
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
            // Another name of the same file may have been put back: that changes times, but nothing in it.
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

    /// The folder by its handle, name by name from the workspace on. Made where it is gone; never through a link.
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
                    _ => return Err(LeftReason::Failed("its folder is no folder any more".to_owned())),
                }
                opened = folder.child(name);
            }
            let opened = Arc::new(opened.map_err(|error| failed(&error))?);
            self.unlock(&folder, name, &at)?;
            folder = opened;
        }
        Ok(folder)
    }

    /// For as long as it takes, the owner may do everything in it.
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

/// Whether what is there has to go before the other can come.
fn goes_first(change: &TreeChange) -> bool {
    let is_folder = |node: &Option<Node>| node.as_ref().is_some_and(Node::is_folder);
    match (&change.before, &change.after) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(Node::Uncovered { why }), Some(wanted)) => wanted.is_folder() && !why.may_be_folder(),
        (Some(_), Some(_)) => is_folder(&change.before) != is_folder(&change.after),
    }
}

/// Something whole under a name of its own. Where it is not put anywhere, it goes.
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
        // Nothing is there any more where it was put in its place.
        drop(self.folder.remove_file(&self.name).or_else(|_| self.folder.remove_folder(&self.name)));
    }
}

fn failed(error: &io::Error) -> LeftReason {
    LeftReason::Failed(error.to_string())
}
