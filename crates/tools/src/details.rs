//! Parts of the details that several file tools save.

use std::path::Path;

use omp_view::ViewFile;
use serde::{Deserialize, Serialize};

use crate::read::split_selector;

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

/// The file that a path names, without the lines that `read` takes behind it. `None` for patterns and addresses.
pub(crate) fn typed_file(typed: &str) -> Option<ViewFile> {
    let typed = typed.trim();
    if typed.is_empty() || typed.contains("://") || typed.contains(['*', '?', '[', '{', '~']) {
        return None;
    }
    let Some((path, selector)) = split_selector(typed) else { return Some(ViewFile::new(typed)) };
    let first = selector.ok().and_then(|selector| selector.ranges.first().map(|(first, _)| *first));
    Some(ViewFile::new(path).at(first))
}

impl Meta {
    /// The file, in full, where it came from one.
    pub(crate) fn file(&self) -> Option<ViewFile> {
        self.source.as_ref().and_then(|source| typed_file(&source.value))
    }

    pub fn path(path: &Path) -> Self {
        Self { source: Some(Source { kind: "path".into(), value: path.to_string_lossy().into_owned() }) }
    }
}
