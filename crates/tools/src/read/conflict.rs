//! Merge conflicts: numbers the conflicts of a file that is read; `conflict://<id>` shows one of them or one of its sides.

use omp_agent::{Output, ToolError};
use omp_workspace::conflict::{Conflict, ConflictId, ConflictUri};
use omp_workspace::{ResolvedPath, TextFile, real_location};

use super::Details;
use super::text::{self, Extract};
use crate::details::Meta;
use crate::files::Files;

/// Limits the conflicts named in a note; the others are counted.
const NAMED: usize = 20;
/// Limits the conflicts that `:conflicts` lists.
const LISTED: usize = 1000;

/// Numbers the conflicts of a file and returns a note with their addresses.
pub fn note(files: &Files, path: &ResolvedPath, file: &TextFile) -> Option<String> {
    let location = real_location(&path.absolute);
    let found = files.with_conflicts(|conflicts| conflicts.register(&location, &path.display, file));
    let place = |conflict: &Conflict| {
        let (first, last) = conflict.lines();
        format!("#{} at lines {first}-{last}", conflict.id)
    };
    let named: Vec<String> = found.iter().take(NAMED).map(place).collect();
    let more = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more ({}:conflicts lists all)", path.display),
    };
    (!found.is_empty()).then(|| {
        format!(
            "merge conflicts: {}{more}; write to conflict://<id> resolves one, conflict://<id>/ours, /theirs, /base show its sides",
            named.join(", ")
        )
    })
}

/// `:conflicts`: lists one line per conflict, even in a long file.
pub fn list(files: &Files, path: &ResolvedPath) -> Result<Output<Details>, ToolError> {
    let bytes = files.read_whole(&path.absolute).map_err(|error| ToolError::reply(error.shown_as(&path.display)))?;
    let file = TextFile::parse(bytes);
    let location = real_location(&path.absolute);
    let found = files.with_conflicts(|conflicts| conflicts.register(&location, &path.display, &file));
    if found.is_empty() {
        let details = Details { meta: Meta::path(&path.absolute), ..Details::default() };
        return Ok(Output::text(format!("{} has no merge conflicts", path.display), details));
    }
    let line = |conflict: &Conflict| {
        let (first, last) = conflict.lines();
        let sides = if conflict.has_base() { "ours, base, theirs" } else { "ours, theirs" };
        format!("conflict://{}  lines {first}-{last}  {sides}", conflict.id)
    };
    let noun = if found.len() == 1 { "conflict" } else { "conflicts" };
    let note = "read conflict://<id> or conflict://<id>/ours shows one, write to conflict://<id> resolves it";
    let mut notes = vec![note.to_owned()];
    if found.len() > LISTED {
        notes.push(format!("{} more; they are listed once some of these are resolved", found.len() - LISTED));
    }
    let extract = Extract {
        path: path.clone(),
        text: found.iter().take(LISTED).map(line).collect::<Vec<_>>().join("\n"),
        title: Some(format!("{} merge {noun} in {}", found.len(), path.display)),
        notes,
        size: file.bytes().len() as u64,
    };
    text::show_whole(extract)
}

pub fn read(files: &Files, uri: &ConflictUri) -> Result<Output<Details>, ToolError> {
    let ConflictId::One(id) = uri.id else {
        return Err(ToolError::Reply("conflict://* can only be written\nhint: read conflict://<id>".into()));
    };
    let conflict = files.with_conflicts(|conflicts| conflicts.get(id).cloned()).map_err(ToolError::reply)?;
    let (first, content) = conflict.text(uri.side).map_err(ToolError::reply)?;
    let numbered: Vec<String> =
        content.lines().enumerate().map(|(index, line)| format!("{}:{line}", first + index)).collect();
    let count = numbered.len();
    let numbered = numbered.join("\n");
    let text = text::fitting(&numbered);
    let shown = text.lines().count();
    let is_cut = text.len() < numbered.len();
    let go_on =
        || format!("{} of {count} lines are shown; {}:{} continues", shown, conflict.display, first + shown - 1);
    let notes = is_cut.then(go_on).into_iter().collect();
    let (from, to) = conflict.lines();
    let title = Some(format!("conflict #{id} in {}, lines {from}-{to}", conflict.display));
    let path = ResolvedPath { absolute: conflict.path.clone(), display: conflict.display.clone() };
    let extract = Extract { path, size: content.len() as u64, text: text.to_owned(), title, notes };
    text::show_whole(extract)
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
        assert!(
            read("f:conflicts").starts_with("1 merge conflict in f\nconflict://1  lines 2-6  ours, theirs\n("),
            "{}",
            read("f:conflicts")
        );
        assert_eq!(read("g:conflicts"), "g has no merge conflicts");
        let long = format!("a\n<<<<<<< a\n{}=======\n>>>>>>> b\n", "x\n".repeat(4000));
        scratch.put("long", long.as_bytes());
        assert!(read("long").contains("#2 at lines 2-4004"));
        let shown = read("conflict://2");
        assert!(shown.ends_with("\n3001:x\n(3000 of 4003 lines are shown; long:3001 continues)"), "{}", shown.len());
        scratch.put("many", "<<<<<<< a\n1\n||||||| o\n=======\n>>>>>>> b\n".repeat(22).as_bytes());
        assert!(
            read("many").contains("#22 at lines 96-100 and 2 more (many:conflicts lists all); "),
            "{}",
            read("many")
        );
        assert!(read("many:conflicts").contains("22 merge conflicts in many\n"));
        assert!(read("many:conflicts").contains("\nconflict://24  lines 106-110  ours, base, theirs\n"));
        assert_eq!(read("conflict://1/theirs"), "conflict #1 in f, lines 2-6\n5:theirs");
        assert!(read("conflict://1").starts_with("conflict #1 in f, lines 2-6\n2:<<<<<<< HEAD\n3:ours"));
        assert!(read("conflict://1/base").starts_with("error: Conflict #1 has no base section"));
        assert!(read("conflict://*").starts_with("error: conflict://* can only be written"));
        let write = Write { files: scratch.files.clone(), urls: Default::default(), block_generated: true };
        let text = scratch.text(&write, json!({"path": "conflict://1", "content": "@ours"}));
        assert!(text.ends_with("Resolved conflict #1 at lines 2–6 in f."), "{text}");
        assert_eq!(scratch.get("f"), "a\nours\nz\n");
        assert!(!read("f").contains("conflict"));
    }
}
