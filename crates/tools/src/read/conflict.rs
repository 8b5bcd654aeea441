//! Merge conflicts: those in a file that is read get numbers, and `conflict://<id>` shows one of them or a side of it.

use omp_agent::{Output, ToolError};
use omp_workspace::conflict::{Conflict, ConflictId, ConflictUri};
use omp_workspace::{ResolvedPath, TextFile, real_location};

use super::Details;
use super::selector::Selector;
use super::text::{self, Extract};
use crate::files::Files;

/// Conflicts named in a note; the others are counted.
const NAMED: usize = 20;

/// Numbers the conflicts of a file and says what they are called.
pub fn note(files: &Files, path: &ResolvedPath, file: &TextFile) -> Option<String> {
    let location = real_location(&path.absolute);
    let found = files.with_conflicts(|conflicts| conflicts.register(&location, &path.display, file));
    let place = |conflict: &Conflict| {
        let (first, last) = conflict.lines();
        format!("#{} at lines {first}-{last}", conflict.id)
    };
    let named: Vec<String> = found.iter().take(NAMED).map(place).collect();
    let more = if found.len() > NAMED { format!(" and {} more", found.len() - NAMED) } else { String::new() };
    (!found.is_empty()).then(|| {
        format!(
            "merge conflicts: {}{more}; write to conflict://<id> resolves one, conflict://<id>/ours, /theirs, /base show its sides",
            named.join(", ")
        )
    })
}

pub fn read(files: &Files, uri: &ConflictUri) -> Result<Output<Details>, ToolError> {
    let ConflictId::One(id) = uri.id else {
        return Err(ToolError::Reply("conflict://* can only be written\nhint: read conflict://<id>".into()));
    };
    let conflict = files.with_conflicts(|conflicts| conflicts.get(id).cloned()).map_err(ToolError::reply)?;
    let (first, content) = conflict.text(uri.side).map_err(ToolError::reply)?;
    let numbered: Vec<String> =
        content.lines().enumerate().map(|(index, line)| format!("{}:{line}", first + index)).collect();
    let (from, to) = conflict.lines();
    let title = Some(format!("conflict #{id} in {}, lines {from}-{to}", conflict.display));
    let path = ResolvedPath { absolute: conflict.path.clone(), display: conflict.display.clone() };
    let extract = Extract { path, size: content.len() as u64, text: numbered.join("\n"), title, notes: Vec::new() };
    text::show(extract, Selector::default())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use crate::scratch::Scratch;
    use crate::urls::Router;
    use crate::{NoArtifacts, Read, Write};

    #[test]
    fn read_shows_them_and_write_resolves_them() {
        let scratch =
            Scratch::new(&[("f", "a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> x\nz\n"), ("g", "clean\n")]);
        let read = |path: &str| {
            let urls = Arc::new(Router::new(Arc::new(NoArtifacts)));
            scratch.text(&Read::new(scratch.files.clone(), urls), json!({"path": path}))
        };
        assert!(read("f").contains("\n(merge conflicts: #1 at lines 2-6; "), "{}", read("f"));
        assert!(!read("g").contains("conflict"));
        assert_eq!(read("conflict://1/theirs"), "conflict #1 in f, lines 2-6\n5:theirs");
        assert!(read("conflict://1").starts_with("conflict #1 in f, lines 2-6\n2:<<<<<<< HEAD\n3:ours"));
        assert!(read("conflict://1/base").starts_with("error: Conflict #1 has no base section"));
        assert!(read("conflict://*").starts_with("error: conflict://* can only be written"));
        let write = Write { files: scratch.files.clone(), block_generated: true };
        let text = scratch.text(&write, json!({"path": "conflict://1", "content": "@ours"}));
        assert!(text.ends_with("Resolved conflict #1 at lines 2–6 in f."), "{text}");
        assert_eq!(scratch.get("f"), "a\nours\nz\n");
        assert!(!read("f").contains("conflict"));
    }
}
