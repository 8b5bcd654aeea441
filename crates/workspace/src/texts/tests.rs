//! Tests of texts that an editor has open, compared with the file on disk.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

use super::*;
use crate::write::{CommitError, FileChange};

/// An editor that has some files open and refuses or declines to write others.
#[derive(Default)]
struct Editor {
    open: Mutex<HashMap<PathBuf, String>>,
    refuses: Option<PathBuf>,
    declines: bool,
    /// Number of reads so far.
    reads: Mutex<usize>,
    /// Returns this text from the given read on.
    typed_later: Option<(usize, &'static str)>,
}

impl Editor {
    fn with(path: &Path, text: &str) -> Self {
        Self { open: Mutex::new([(path.to_owned(), text.to_owned())].into()), ..Self::default() }
    }

    fn text(&self, path: &Path) -> Option<String> {
        self.open.lock().unwrap().get(path).cloned()
    }
}

impl OpenTexts for Editor {
    fn read(&self, path: &Path) -> Option<String> {
        let mut reads = self.reads.lock().unwrap();
        *reads += 1;
        match self.typed_later {
            Some((from, text)) if *reads >= from => Some(text.to_owned()),
            _ => self.text(path),
        }
    }

    fn write(&self, path: &Path, text: &str) -> Option<Result<(), String>> {
        if self.declines {
            return None;
        }
        if self.refuses.as_deref() == Some(path) {
            return Some(Err("it is locked".into()));
        }
        std::fs::write(path, text).unwrap();
        self.open.lock().unwrap().insert(path.to_owned(), text.to_owned());
        Some(Ok(()))
    }
}

fn plan(path: &Path, expected: Option<&str>, content: &str) -> FileChange {
    let (expected, content) = (expected.map(|text| text.as_bytes().to_vec()), content.as_bytes().to_vec());
    EditPlan { path: path.into(), expected, content, executable: false }.into()
}

fn saved(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Checks the text that is read for given contents on disk and in the editor, and the text that the editor is asked to
/// write.
#[track_caller]
fn check_form(disk: &str, open: &str, read: &str, written: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::fs::write(&path, disk).unwrap();
    let editor = Editor::with(&path, open);
    let texts = Texts::with(Some(&editor));
    assert_eq!(String::from_utf8(texts.read_whole(&path).unwrap()).unwrap(), read);
    let changed = read.replace("one", "1");
    texts.commit_changes(vec![plan(&path, Some(read), &changed)]).unwrap();
    assert_eq!(editor.text(&path).unwrap(), written);
}

#[test]
fn marks_and_line_ends_are_those_of_the_file() {
    check_form("one\n", "one\n", "one\n", "1\n");
    check_form("one\n", "zero\none\n", "zero\none\n", "zero\n1\n");
    check_form("one\r\n", "one\r\nnew\r\n", "one\r\nnew\r\n", "1\r\nnew\r\n");
    check_form("one\r\n", "one\nnew\n", "one\r\nnew\r\n", "1\nnew\n");
    check_form("\u{feff}one\n", "\u{feff}one\nnew\n", "\u{feff}one\nnew\n", "\u{feff}1\nnew\n");
    check_form("\u{feff}one\r\n", "one\nnew\n", "\u{feff}one\r\nnew\r\n", "1\nnew\n");
    // Mixed line endings stay as they are while the text is the same.
    check_form("one\r\ntwo\nthree\n", "one\ntwo\nthree\n", "one\r\ntwo\nthree\n", "1\ntwo\nthree\n");
    check_form("", "one\n", "one\n", "1\n");
}

#[test]
fn only_text_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let editor = Editor::with(&path, "open");
    let texts = Texts::with(Some(&editor));
    assert_eq!(texts.read_if_exists(&path).unwrap(), None, "the disk says what there is");
    for bytes in [&b"\0\x01"[..], b"\xff\xfea\0", b"caf\xe9"] {
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(texts.read_whole(&path).unwrap(), bytes);
        let change =
            EditPlan { path: path.clone(), expected: Some(bytes.into()), content: b"new".into(), executable: false };
        texts.commit_changes(vec![change.into()]).unwrap();
        assert_eq!((saved(&path).as_str(), editor.text(&path).as_deref()), ("new", Some("open")));
    }
    assert_eq!(*editor.reads.lock().unwrap(), 0);
    assert!(matches!(texts.read_whole(folder.path()), Err(FileError::Directory(_))));
    let long = Editor::with(&path, &"x".repeat(MAX_WHOLE_FILE as usize + 1));
    assert!(matches!(Texts::with(Some(&long)).read_whole(&path), Err(FileError::TooLarge { .. })));
}

#[test]
fn all_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b, new) = (folder.path().join("a"), folder.path().join("b"), folder.path().join("deep/new"));
    std::fs::write(&a, "saved").unwrap();
    std::fs::write(&b, "b").unwrap();
    let editor = Editor { refuses: Some(b.clone()), ..Editor::with(&a, "unsaved") };
    let changes = || vec![plan(&a, Some("unsaved"), "A"), plan(&new, None, "N"), plan(&b, Some("b"), "B")];
    let error = Texts::with(Some(&editor)).commit_changes(changes()).unwrap_err().to_string();
    assert!(error.contains("the editor did not save it: it is locked\nnothing was written"), "{error}");
    assert_eq!((editor.text(&a).as_deref(), saved(&b).as_str()), (Some("unsaved"), "b"));
    assert!(!folder.path().join("deep").exists());
    let editor = Editor { refuses: None, ..editor };
    editor.open.lock().unwrap().clear();
    std::fs::write(&a, "unsaved").unwrap();
    Texts::with(Some(&editor)).commit_changes(changes()).unwrap();
    assert_eq!((saved(&a), saved(&b), saved(&new)), ("A".into(), "B".into(), "N".into()));
}

/// The disk matches the expected content but the open text does not; in the second case the user types between check and
/// write.
#[test]
fn a_change_in_the_editor_stops_everything() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    std::fs::write(&a, "a").unwrap();
    std::fs::write(&b, "b").unwrap();
    let editors = [Editor::with(&b, "typed"), Editor { typed_later: Some((3, "typed")), ..Editor::with(&b, "b") }];
    for editor in editors {
        let changes = vec![plan(&a, Some("a"), "A"), plan(&b, Some("b"), "B")];
        let error = Texts::with(Some(&editor)).commit_changes(changes).unwrap_err();
        assert!(matches!(error, CommitError::Changed(_) | CommitError::NotRestored { .. }), "{error}");
        assert_eq!((saved(&a).as_str(), saved(&b).as_str()), ("a", "b"));
    }
    let remove = FileChange::Remove { path: b.clone(), place: crate::entry_location(&b), expected: b"b".to_vec() };
    let editor = Editor::with(&b, "typed");
    let error = Texts::with(Some(&editor)).commit_changes(vec![remove]).unwrap_err();
    assert!(matches!(error, CommitError::Changed(_)), "{error}");
    assert!(b.exists());
}

#[test]
fn what_is_declined_goes_to_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (a, moved) = (folder.path().join("a"), folder.path().join("moved"));
    std::fs::write(&a, "saved").unwrap();
    let editor = Editor { declines: true, ..Editor::with(&a, "unsaved") };
    let texts = Texts::with(Some(&editor));
    texts.commit_changes(vec![plan(&a, Some("unsaved"), "A")]).unwrap();
    assert_eq!(saved(&a), "A");
    let editor = Editor::with(&a, "unsaved");
    let put = EditPlan { path: moved.clone(), expected: None, content: b"unsaved".into(), executable: false };
    let changes = vec![
        FileChange::Put { plan: put, place: crate::real_location(&moved), mode_of: Some(a.clone()) },
        FileChange::Remove { path: a.clone(), place: crate::entry_location(&a), expected: b"unsaved".to_vec() },
    ];
    Texts::with(Some(&editor)).commit_changes(changes).unwrap();
    assert_eq!((a.exists(), saved(&moved).as_str(), editor.text(&moved)), (false, "unsaved", None));
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_scripts_can_run() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    std::fs::write(&real, "saved").unwrap();
    symlink("real", &link).unwrap();
    let editor = Editor::with(&real, "unsaved");
    let texts = Texts::with(Some(&editor));
    assert_eq!(texts.read_whole(&link).unwrap(), b"unsaved");
    let (expected, content) = (Some(b"unsaved".to_vec()), b"#!/bin/sh\n".to_vec());
    texts.commit_changes(vec![EditPlan { path: link.clone(), expected, content, executable: true }.into()]).unwrap();
    assert!(link.is_symlink());
    assert_eq!(editor.text(&real).as_deref(), Some("#!/bin/sh\n"));
    assert_ne!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o100, 0);
}
