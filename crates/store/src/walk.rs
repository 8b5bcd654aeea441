//! Reads every entry of a session in file order, one at a time, for showing the whole tree.

use serde_json::Value;

use crate::context::read_line;
use crate::entry::EntryId;
use crate::ids::hash;
use crate::open::LoadedSession;
use crate::problem::Damage;
use crate::window::Window;

/// Reads entries by position. Adjacent entries share one system call; nothing is cached.
pub struct EntryReader<'a> {
    session: &'a LoadedSession,
    window: Window<'a>,
}

impl LoadedSession {
    pub fn reader(&self) -> EntryReader<'_> {
        EntryReader { session: self, window: Window::new(&self.file) }
    }

    /// Returns the position of an entry's parent. Parents precede their children, whatever the file says.
    pub fn parent_at(&self, position: usize) -> Option<usize> {
        self.scan.spots.get(position)?.parent().map(|parent| parent as usize)
    }

    pub fn entry_position(&self, id: &EntryId) -> Option<usize> {
        self.scan.ids.position(hash(id.as_str())).map(|position| position as usize)
    }

    pub fn blobs(&self) -> &crate::blob::BlobStore {
        &self.blobs
    }
}

impl EntryReader<'_> {
    /// Returns the entry with all its fields as stored in the file, with images as references. Returns `None` beyond the
    /// last entry.
    pub fn read(&mut self, position: usize) -> Option<Result<Value, Damage>> {
        let spot = self.session.scan.spots.get(position)?;
        Some(read_line(&mut self.window, spot).and_then(|(line, _)| {
            serde_json::from_str(&line).map_err(|error| Damage::Unparsable { why: error.to_string(), recovered: 0 })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::BlobStore;

    #[test]
    fn entries_are_read_by_position_with_their_parents() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("s.jsonl");
        let lines = [
            r#"{"type":"session","version":3,"id":"s"}"#,
            r#"{"type":"custom","id":"a","parentId":null,"customType":"x"}"#,
            r#"{"type":"custom","id":"b","parentId":"a","customType":"y"}"#,
            r#"{"type":"custom","id":"c","parentId":"a","customType":nonsense}"#,
        ];
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let session = LoadedSession::open(&path, BlobStore::new(temp.path())).unwrap();
        let mut reader = session.reader();
        assert_eq!(reader.read(1).unwrap().unwrap()["customType"], "y");
        assert_eq!(reader.read(0).unwrap().unwrap()["customType"], "x");
        assert!(matches!(reader.read(2), Some(Err(Damage::Unparsable { .. }))));
        assert!(reader.read(3).is_none());
        assert_eq!([0, 1, 2, 3].map(|at| session.parent_at(at)), [None, Some(0), Some(0), None]);
        assert_eq!(session.entry_position(&"c".into()), Some(2));
        assert_eq!(session.entry_position(&"d".into()), None);
    }
}
