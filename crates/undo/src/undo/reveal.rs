//! Scans single paths that were skipped for lack of time, so that the changes of a turn can be undone nevertheless.

use std::sync::Arc;

use super::{KnownWorkspace, Undo};
use crate::UndoError;
use crate::folder::{Folder, FolderEntry, FolderEntryKind};
use crate::node::{LinkTarget, Node, NodeRecord, Stat, Uncovered};
use crate::rel_path::RelPath;
use crate::scan::now;
use crate::tree::{Names, REST, WorkspaceTree};

impl Undo {
    /// Updates the tree with the current state of each of the paths.
    pub(super) fn reveal<'a>(
        &self,
        state: &mut KnownWorkspace,
        paths: impl Iterator<Item = &'a RelPath>,
    ) -> Result<(), UndoError> {
        let Some(known) = &state.tree else { return Ok(()) };
        let unseen: Vec<&RelPath> = paths.filter(|path| known.is_unseen(path)).collect();
        if unseen.is_empty() {
            return Ok(());
        }
        let mut tree = known.clone();
        for path in unseen {
            self.look_at(&mut tree, path)?;
        }
        self.scanner.objects.flush().and_then(|()| state.index.save(known, &tree)).map_err(UndoError::Store)?;
        state.tree = Some(tree);
        Ok(())
    }

    /// Scans name by name from the workspace. Folders on the way get only this one entry.
    fn look_at(&self, tree: &mut WorkspaceTree, path: &RelPath) -> Result<(), UndoError> {
        let mut folder = Folder::open(&self.options.workspace).map_err(UndoError::Workspace)?;
        let device = folder.itself().map_err(UndoError::Workspace)?.device;
        let mut at = RelPath::root();
        for name in path.as_bytes().split(|byte| *byte == b'/') {
            let inner = at.join(name);
            if tree.is_unseen(&inner) {
                let found = folder.look(name).map_err(UndoError::Workspace)?;
                let Some(found) = found.filter(|found| found.device == device) else { return Ok(()) };
                let Some(record) = self.record_of(&folder, name, &found)? else { return Ok(()) };
                if record.node.is_folder() {
                    let rest = (REST.into(), NodeRecord::uncovered(Stat::default(), Uncovered::Rest));
                    tree.folders.insert(inner.clone(), Arc::new(Names::from([rest])));
                }
                tree.put(&at, name, record);
            }
            match folder.child(name) {
                Ok(child) => folder = child,
                // It is not a folder, no longer exists, or is inaccessible: its content is unknown.
                Err(_) => return Ok(()),
            }
            at = inner;
        }
        Ok(())
    }

    fn record_of(&self, folder: &Folder, name: &[u8], found: &FolderEntry) -> Result<Option<NodeRecord>, UndoError> {
        let record = |node| Some(NodeRecord { stat: found.stat, read_at: now(), node });
        match found.kind {
            FolderEntryKind::File => self.scanner.read(folder, name, None),
            FolderEntryKind::Link => {
                Ok(folder.target(name).ok().and_then(|target| record(Node::Link { target: LinkTarget(target) })))
            }
            FolderEntryKind::Special => Ok(Some(NodeRecord::uncovered(found.stat, Uncovered::Special))),
            FolderEntryKind::Folder => {
                let mode = found.stat.mode;
                let stat = Stat { mode, ..Stat::default() };
                Ok(Some(NodeRecord { stat, read_at: 0, node: Node::Folder { mode } }))
            }
        }
    }
}
