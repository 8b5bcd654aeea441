//! Custom data that programs store in a session in addition to the conversation.

use serde_json::Value;

use crate::entry::Custom;
use crate::open::LoadedSession;
use crate::scan::ContextEntryKind;
use crate::window::Window;

/// Length limit; longer entries are not data of this program.
const LONGEST: u32 = 1024 * 1024;

impl LoadedSession {
    /// Returns the data of all `custom` entries of a type, on all branches, in file order.
    pub fn custom_data(&self, custom_type: &str) -> Vec<Value> {
        let mut window = Window::new(&self.file);
        let spots =
            self.scan.spots.iter().filter(|spot| spot.kind == ContextEntryKind::Bookkeeping && spot.len <= LONGEST);
        let entries = spots.filter_map(|spot| {
            let line = window.read(spot.offset, spot.len as usize).ok()?;
            // Most `custom` entries have other types; searching the bytes is cheaper than parsing.
            memchr::memmem::find(line, custom_type.as_bytes())?;
            serde_json::from_slice::<Custom>(line).ok()
        });
        entries.filter(|entry| entry.custom_type == custom_type).filter_map(|entry| entry.data).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::SystemTime;

    use omp_types::{Message, UserMessage};
    use serde_json::json;

    use super::*;
    use crate::{BlobStore, EntryBody, NewSession, SessionWriter};

    #[test]
    fn data_of_one_type_is_found_on_every_branch() {
        let temp = tempfile::tempdir().unwrap();
        let new = NewSession { cwd: temp.path(), now: SystemTime::now(), parent_session: None };
        let mut writer = SessionWriter::create(temp.path(), BlobStore::new(temp.path()), new);
        let custom = |kind: &str, data: Option<Value>| EntryBody::Custom(Custom { custom_type: kind.into(), data });
        let said = EntryBody::Message(Arc::new(Message::User(UserMessage::text(r#""customType":"mine""#))));
        let root = writer.append(&said).unwrap();
        writer.append(&custom("mine", Some(json!(1)))).unwrap();
        writer.append(&custom("other", Some(json!("mine")))).unwrap();
        writer.set_leaf(Some(root));
        writer.append(&custom("mine", Some(json!({"two": 2})))).unwrap();
        writer.append(&custom("mine", None)).unwrap();
        let loaded = LoadedSession::open(writer.path(), BlobStore::new(temp.path())).unwrap();
        assert_eq!(loaded.custom_data("mine"), [json!(1), json!({"two": 2})]);
        assert!(loaded.custom_data("nobody's").is_empty());
    }
}
