//! The files of a call, as named in its arguments: determined by the tool, used by compaction.

use crate::ToolCall;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedFiles {
    pub read: Vec<String>,
    pub modified: Vec<String>,
}

impl TouchedFiles {
    pub fn read(path: Option<&str>) -> Self {
        Self { read: path.into_iter().map(str::to_owned).collect(), modified: Vec::new() }
    }

    pub fn modified<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        Self { read: Vec::new(), modified: paths.into_iter().map(str::to_owned).collect() }
    }
}

/// Handles calls of any session, including tools that are off in this one.
#[derive(Clone, Copy)]
pub struct TouchedBy(pub fn(&ToolCall) -> TouchedFiles);

impl Default for TouchedBy {
    /// Knows no tool.
    fn default() -> Self {
        Self(|_| TouchedFiles::default())
    }
}

impl std::fmt::Debug for TouchedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TouchedBy(…)")
    }
}
