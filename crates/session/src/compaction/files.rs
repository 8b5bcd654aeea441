//! Which files a conversation has read and changed, told as a small tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use omp_types::Message;
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileOps {
    pub read: BTreeSet<String>,
    pub modified: BTreeSet<String>,
}

pub(crate) fn file_operations(messages: &[Arc<Message>]) -> FileOps {
    let _ = messages;
    FileOps::default()
}

impl FileOps {
    pub fn from_details(details: Option<&Value>) -> Self {
        let _ = details;
        Self::default()
    }

    pub fn merge(&mut self, newer: FileOps) {
        self.read.extend(newer.read);
        self.modified.extend(newer.modified);
    }

    /// Empty when no file was touched.
    pub fn tag(&self) -> String {
        String::new()
    }
}
