//! Tests file tools with an editor that has unsaved changes in a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use omp_agent::AnyTool;
use omp_types::EditorFiles;
use omp_view::Block;
use serde_json::{Value, json};

use crate::edit;
use crate::options::EditOptions;
use crate::scratch::Scratch;
use crate::urls::Router;
use crate::{AstEdit, AstGrep, EditMode, Files, NoArtifacts, Notebook, PendingActions, Read, Resolve, Search, Write};

#[derive(Default)]
struct Editor {
    open: Mutex<HashMap<PathBuf, String>>,
    written: Mutex<Vec<PathBuf>>,
    refuses: Mutex<Option<PathBuf>>,
}

impl EditorFiles for Editor {
    fn read(&self, path: &Path) -> Option<String> {
        self.open.lock().unwrap().get(path).cloned()
    }

    fn write(&self, path: &Path, text: &str) -> Option<Result<(), String>> {
        if self.refuses.lock().unwrap().as_deref() == Some(path) {
            return Some(Err("it is locked".into()));
        }
        std::fs::write(path, text).unwrap();
        self.open.lock().unwrap().insert(path.into(), text.into());
        self.written.lock().unwrap().push(path.into());
        Some(Ok(()))
    }
}

/// A folder with files, some of them open in the editor with another text.
struct Stage {
    scratch: Scratch,
    editor: Arc<Editor>,
}

impl Stage {
    fn new(saved: &[(&str, &str)], open: &[(&str, &str)]) -> Self {
        let mut scratch = Scratch::new(saved);
        let editor = Arc::new(Editor::default());
        for (path, text) in open {
            editor.open.lock().unwrap().insert(scratch.path(path), (*text).to_owned());
        }
        scratch.files = Arc::new(Files::new(scratch.folder.path(), None).with_editor(Some(editor.clone())));
        Self { scratch, editor }
    }

    fn read(&self, path: &str) -> String {
        let urls = Arc::new(Router::new(Arc::new(NoArtifacts)));
        self.scratch.text(&Read::new(self.scratch.files.clone(), urls), json!({"path": path}))
    }

    fn edit(&self, mode: EditMode) -> Arc<dyn AnyTool> {
        edit::tool(mode, self.scratch.files.clone(), &EditOptions::default())
    }

    fn write(&self, path: &str, content: &str) -> String {
        let write = Write { files: self.scratch.files.clone(), urls: Arc::default(), block_generated: true };
        self.scratch.text(&write, json!({"path": path, "content": content}))
    }

    /// Returns the files written through the editor, in order.
    fn written(&self) -> Vec<String> {
        let written = std::mem::take(&mut *self.editor.written.lock().unwrap());
        written
            .iter()
            .map(|path| path.strip_prefix(self.scratch.folder.path()).unwrap().display().to_string())
            .collect()
    }
}

const SAVED: &str = "one\ntwo\n";
const OPEN: &str = "zero\none\ntwo\n";

#[test]
fn read_shows_what_is_not_saved() {
    let stage = Stage::new(&[("a", SAVED), ("b", SAVED)], &[("a", OPEN)]);
    assert!(stage.read("a").ends_with("]\n1:zero\n2:one\n3:two"), "{}", stage.read("a"));
    assert!(stage.read("a:2-2").contains("\n2:one\n"));
    assert!(stage.read("b").ends_with("]\n1:one\n2:two"));
    assert_eq!(stage.scratch.get("a"), SAVED);
}

#[track_caller]
fn check_edit(mode: EditMode, arguments: impl Fn(&str) -> Value) {
    let stage = Stage::new(&[("a", SAVED)], &[("a", OPEN)]);
    let read = stage.read("a");
    let tag = read.split(['#', ']']).nth(1).unwrap();
    let (tool, arguments) = (stage.edit(mode), arguments(tag));
    let preview = crate::scratch::whole(&*tool, "call", &arguments).unwrap();
    assert!(
        matches!(&preview.blocks[..], [Block::Diff(diff)] if diff.lines.iter().any(|line| line.text.contains("zero"))),
        "{preview:?}"
    );
    let text = stage.scratch.text(&*tool, arguments.clone());
    assert!(!text.starts_with("error"), "{text}");
    assert_eq!(stage.scratch.get("a"), "zero\n1\ntwo\n");
    assert_eq!(stage.written(), ["a"]);
    assert!(stage.read("a").starts_with(text.lines().next().unwrap()), "the tag of the edit is that of the next read");
}

#[test]
fn edit_changes_what_is_not_saved_in_every_language() {
    check_edit(EditMode::Replace, |_| json!({"path": "a", "edits": [{"old_text": "one", "new_text": "1"}]}));
    check_edit(EditMode::Patch, |_| json!({"path": "a", "edits": [{"op": "update", "diff": "@@\n zero\n-one\n+1\n"}]}));
    check_edit(EditMode::Hashline, |tag| json!({"input": format!("[a#{tag}]\n2:1\n")}));
    check_edit(
        EditMode::ApplyPatch,
        |_| json!({"input": "*** Begin Patch\n*** Update File: a\n@@\n zero\n-one\n+1\n*** End Patch\n"}),
    );
}

#[test]
fn a_refusal_leaves_all_files() {
    let stage = Stage::new(&[("a", SAVED), ("b", SAVED)], &[("a", OPEN)]);
    *stage.editor.refuses.lock().unwrap() = Some(stage.scratch.path("b"));
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Update File: b\n@@\n-one\n+1\n*** End Patch\n";
    let text = stage.scratch.text(&*stage.edit(EditMode::ApplyPatch), json!({"input": patch}));
    assert_eq!(text, "error: b: the editor did not save it: it is locked\nnothing was written");
    assert_eq!(stage.editor.read(&stage.scratch.path("a")).as_deref(), Some(OPEN));
    assert_eq!(stage.scratch.get("b"), SAVED);
    assert_eq!(stage.written(), ["a", "a"], "written and put back");
}

#[test]
fn write_makes_and_replaces_through_the_editor() {
    let stage = Stage::new(
        &[("a", SAVED), ("gen.go", "x"), ("blob", "\0")],
        &[("a", OPEN), ("gen.go", "// Code generated by x. DO NOT EDIT.\n")],
    );
    assert!(stage.write("a", "new\n").contains("wrote 4 bytes"));
    assert!(stage.write("deep/er/b", "#!/bin/sh\n").contains("wrote 10 bytes"));
    assert_eq!((stage.scratch.get("a").as_str(), stage.written()), ("new\n", vec!["a".to_owned(), "deep/er/b".into()]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(stage.scratch.path("deep/er/b")).unwrap().permissions().mode();
        assert_ne!(mode & 0o100, 0);
    }
    assert!(stage.write("gen.go", "x").starts_with("error: Cannot modify auto-generated file"));
    assert!(stage.write("blob", "text now").contains("wrote 8 bytes"));
    assert_eq!((stage.scratch.get("blob").as_str(), stage.written().len()), ("text now", 0), "no text before");
}

#[test]
fn notebooks_and_conflicts() {
    let notebook = |source: &str| {
        json!({"cells": [{"cell_type": "raw", "metadata": {}, "source": [source]}],
            "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        .to_string()
    };
    let conflicted = "<<<<<<< a\nours\n=======\ntheirs\n>>>>>>> b\nend\n";
    let stage = Stage::new(
        &[("n.ipynb", &notebook("saved")), ("c", "clean\n")],
        &[("n.ipynb", &notebook("typed")), ("c", conflicted)],
    );
    assert!(stage.read("n.ipynb").contains("typed"), "{}", stage.read("n.ipynb"));
    let tool = Notebook { files: stage.scratch.files.clone() };
    let insert = json!({"action": "insert", "notebook_path": "n.ipynb", "cell_index": 1, "content": "x"});
    assert!(stage.scratch.text(&tool, insert).starts_with("Inserted"));
    assert!(stage.scratch.get("n.ipynb").contains("typed"));
    assert!(stage.read("c").contains("#1 at lines 1-5"));
    assert!(stage.write("conflict://1", "@ours").contains("Resolved conflict #1"));
    assert_eq!((stage.scratch.get("c").as_str(), stage.written().len()), ("ours\nend\n", 2));
}

#[test]
fn structural_tools() {
    let stage = Stage::new(
        &[("a.rs", "fn a() { old(1); }\n"), ("b.rs", "fn b() { old(2); }\n")],
        &[("a.rs", "fn typed() { old(1); }\n"), ("b.rs", "// typed\nfn b() { old(2); }\n")],
    );
    let files = stage.scratch.files.clone();
    let grep = |paths: Value| {
        stage.scratch.text(&AstGrep { files: files.clone() }, json!({"pat": ["old($A)"], "paths": paths}))
    };
    assert!(grep(json!(["a.rs"])).contains("fn typed()"));
    assert!(!grep(json!(["."])).contains("typed"), "what is found in folders is what is on disk");
    let pending = Arc::new(PendingActions::default());
    let tool = AstEdit { files: files.clone(), pending: pending.clone(), block_generated: true };
    let text = stage.scratch.text(&tool, json!({"ops": [{"pat": "old($A)", "out": "new($A)"}], "paths": ["."]}));
    assert!(text.contains("typed"), "{text}");
    let text = stage.scratch.text(&Resolve { pending }, json!({"action": "apply", "reason": "as shown"}));
    assert!(!text.starts_with("error"), "{text}");
    assert_eq!(stage.scratch.get("a.rs"), "fn typed() { new(1); }\n");
    assert_eq!(stage.scratch.get("b.rs"), "// typed\nfn b() { new(2); }\n");
    assert_eq!(stage.written(), ["a.rs", "b.rs"]);
}

/// A preview must not wait for the editor; it uses the last answer until the file on disk changes.
#[test]
fn previews_do_not_ask() {
    let stage = Stage::new(&[("a", SAVED)], &[("a", OPEN)]);
    let tool = stage.edit(EditMode::Replace);
    let shows = |new: &str| {
        let arguments = json!({"path": "a", "edits": [{"old_text": "one", "new_text": new}]});
        format!("{:?}", crate::scratch::whole(&*tool, new, &arguments).unwrap()).contains("zero")
    };
    assert!(!shows("1"), "nobody has read it yet");
    stage.read("a");
    assert!(shows("2"));
    stage.scratch.put("a", b"one\ntwo\nthree\n");
    assert!(!shows("3"));
}

#[test]
fn search_looks_at_the_disk() {
    let stage = Stage::new(&[("a", SAVED)], &[("a", OPEN)]);
    let search = Search::new(stage.scratch.files.clone());
    assert!(stage.scratch.text(&search, json!({"pattern": "zero", "paths": ["a"]})).contains("No matches"));
}
