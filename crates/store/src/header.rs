//! The `session` line: identity of a session.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use uuid::{NoContext, Timestamp, Uuid};

use crate::stamp;
use crate::title::TitleSource;

/// The format version that this program writes.
pub(crate) const VERSION: u64 = 3;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionHeader {
    /// Files of the first version have no version field.
    #[serde(default = "first_version")]
    pub version: u64,
    pub id: String,
    #[serde(default)]
    pub timestamp: String,
    #[serde(default)]
    pub cwd: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_source: Option<TitleSource>,
    /// The session this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
}

impl SessionHeader {
    pub(crate) fn to_line(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct HeaderLine<'a> {
            r#type: &'static str,
            #[serde(flatten)]
            header: &'a SessionHeader,
        }
        serde_json::to_string(&HeaderLine { r#type: "session", header: self }).map(|line| line + "\n")
    }

    /// Derives a header from the file name, for a session whose header is lost.
    pub(crate) fn from_file_name(path: &Path) -> Self {
        let id = id_in_name(path).unwrap_or_default();
        Self {
            version: VERSION,
            id,
            timestamp: String::new(),
            cwd: String::new(),
            title: None,
            title_source: None,
            parent_session: None,
        }
    }
}

/// Unique ID and time of a new session.
pub(crate) struct SessionIdentity {
    pub id: String,
    pub timestamp: String,
}

impl SessionIdentity {
    pub fn new(now: SystemTime) -> Self {
        let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let time = Timestamp::from_unix(NoContext, since_epoch.as_secs(), since_epoch.subsec_nanos());
        Self { id: Uuid::new_v7(time).to_string(), timestamp: stamp::iso(now) }
    }

    pub fn path_in(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}_{}.jsonl", stamp::for_file_name(&self.timestamp), self.id))
    }
}

/// Returns the ID part of `<timestamp>_<id>.jsonl`, or the whole stem of other names.
pub(crate) fn id_in_name(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_string_lossy();
    Some(stem.rsplit_once('_').map_or(stem.as_ref(), |(_, id)| id).to_owned())
}

fn first_version() -> u64 {
    1
}
