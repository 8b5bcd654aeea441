//! Parts of the details that several file tools save.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// Where a result came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    #[serde(rename = "type")]
    pub kind: String,
    pub value: String,
}

impl Meta {
    pub fn path(path: &Path) -> Self {
        Self { source: Some(Source { kind: "path".into(), value: path.to_string_lossy().into_owned() }) }
    }
}
