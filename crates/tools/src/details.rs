//! Details that several file tools store.

use std::path::Path;

use omp_view::ViewFile;
use serde::{Deserialize, Serialize};

use crate::read::split_selector;

/// The source of a result.
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

/// Returns the file that a path names, without a line range or archive member. `None` for patterns and addresses.
pub(crate) fn typed_file(typed: &str) -> Option<ViewFile> {
    let typed = typed.trim();
    if !is_one_file(typed) {
        return None;
    }
    if let Some((path, selector)) = split_selector(typed) {
        let first = selector.ok().and_then(|selector| selector.ranges.first().map(|(first, _)| *first));
        return Some(ViewFile::new(path).at(first));
    }
    // The part after a drive letter is not an archive member.
    let whole = typed.rsplit_once(':').filter(|(path, part)| !path.is_empty() && !part.starts_with(['/', '\\']));
    Some(ViewFile::new(whole.map_or(typed, |(path, _)| path)))
}

fn is_one_file(path: &str) -> bool {
    !path.is_empty() && !path.contains("://") && !path.contains(['*', '?', '[', '{', '~'])
}

impl Meta {
    /// Returns the absolute path of the source if it is a file.
    pub(crate) fn file(&self) -> Option<ViewFile> {
        let source = self.source.as_ref().filter(|source| is_one_file(&source.value));
        source.map(|source| ViewFile::new(&source.value))
    }

    pub fn path(path: &Path) -> Self {
        Self { source: Some(Source { kind: "path".into(), value: path.to_string_lossy().into_owned() }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_what_was_typed() {
        for (typed, expect) in [
            ("a.rs", Some(("a.rs", None))),
            ("src/a.rs:10-20", Some(("src/a.rs", Some(10)))),
            ("a.rs:5+3:raw", Some(("a.rs", Some(5)))),
            ("a.rs:raw", Some(("a.rs", None))),
            ("x.zip:inner/b.txt", Some(("x.zip", None))),
            ("skill://rust", None),
            ("src/**/*.rs", None),
            ("~/x", None),
            (" ", None),
        ] {
            let expect = expect.map(|(path, line)| ViewFile::new(path).at(line));
            assert_eq!(typed_file(typed), expect, "{typed}");
        }
        let saved = Meta::path(Path::new("/w/a:5"));
        assert_eq!(saved.file(), Some(ViewFile::new("/w/a:5")), "a name that is known is not split");
    }
}
