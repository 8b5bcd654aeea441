//! The points from which a conversation can be branched: before any message of the user, on any branch.

use omp_store::{Entry, EntryBody, EntryId, LoadedSession};
use omp_types::{Message, text_of};

/// A message of the user, and the entry before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPoint {
    pub entry: EntryId,
    /// The entry before it, `None` for the first.
    pub parent: Option<EntryId>,
    pub text: String,
}

pub(crate) fn branch_points(session: &LoadedSession) -> Vec<BranchPoint> {
    session.entries().filter_map(point).collect()
}

fn point(entry: Entry) -> Option<BranchPoint> {
    let EntryBody::Message(message) = &entry.body else { return None };
    let Message::User(user) = &**message else { return None };
    let text = text_of(&user.content);
    (!text.is_empty()).then_some(BranchPoint { entry: entry.id, parent: entry.parent, text })
}

#[cfg(test)]
mod tests {
    use omp_store::BlobStore;

    use super::*;

    #[test]
    fn only_what_the_user_said_is_a_point() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.jsonl");
        let lines = [
            r#"{"type":"session","id":"s","version":3}"#,
            r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"first"}}"#,
            r#"{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"text","text":"\"role\":\"user\""}]}}"#,
            r#"{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":[{"type":"text","text":"sec"},{"type":"image","data":""},{"type":"text","text":"ond"}]}}"#,
            r#"{"type":"message","id":"d","parentId":"b","message":{"role":"user","content":[]}}"#,
            r#"{"type":"message","id":"e","parentId":"#,
        ];
        std::fs::write(&file, lines.join("\n")).unwrap();
        let points = branch_points(&LoadedSession::open(&file, BlobStore::new(dir.path())).unwrap());
        let shown: Vec<_> =
            points.iter().map(|it| (it.entry.as_str(), it.parent.as_ref().map(EntryId::as_str), &*it.text)).collect();
        assert_eq!(shown, [("a", None, "first"), ("c", Some("b"), "second")]);
    }
}
