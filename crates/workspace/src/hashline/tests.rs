//! Golden tests of the patch language, recovery tests, and property tests.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::path::PathResolver;
use crate::snapshot::{FileSnapshot, Tag};
use crate::text_file::TextFile;

mod errors;
mod properties;
mod recovery;

/// A temporary folder with one file `f`, and the snapshots of it.
struct Bench {
    folder: tempfile::TempDir,
    seen: Vec<(Tag, FileSnapshot)>,
    options: HashlineOptions,
}

impl Bench {
    fn new(content: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("f"), content).unwrap();
        Self { folder, seen: Vec::new(), options: HashlineOptions::default() }
    }

    fn tag(&self) -> Tag {
        TextFile::parse(fs::read(self.folder.path().join("f")).unwrap()).tag()
    }

    /// Records the current content, then replaces it without the model's knowledge.
    fn change_to(&mut self, content: &str) -> Tag {
        let bytes = fs::read(self.folder.path().join("f")).unwrap();
        let tag = self.tag();
        self.seen.push((tag, FileSnapshot::Whole(Arc::from(bytes))));
        fs::write(self.folder.path().join("f"), content).unwrap();
        tag
    }

    fn plan(&self, patch: &str) -> Result<Vec<crate::FileEdit>, HashlineError> {
        let paths = PathResolver::new(self.folder.path(), None);
        let seen = |_: &std::path::Path, tag: Tag| self.seen.iter().find(|(t, _)| *t == tag).map(|(_, s)| s.clone());
        HashlinePlanner { files: &paths, seen: &seen, options: self.options }.plan(parse(patch)?)
    }

    /// Returns the new content of `f` and the warnings.
    fn apply(&self, ops: &str, tag: Tag) -> Result<(Vec<u8>, Vec<String>), String> {
        let edits = self.plan(&format!("[f#{tag}]\n{ops}")).map_err(|error| error.to_string())?;
        assert_eq!(edits.len(), 1);
        Ok((edits[0].after.as_ref().unwrap().bytes().to_vec(), edits[0].warnings.clone()))
    }
}

#[track_caller]
fn check(content: &str, ops: &str, want: &str) {
    let bench = Bench::new(content);
    let (after, warnings) = bench.apply(ops, bench.tag()).unwrap_or_else(|error| panic!("{ops:?}: {error}"));
    assert_eq!(String::from_utf8_lossy(&after), want, "{ops:?}");
    assert_eq!(warnings, Vec::<String>::new(), "{ops:?}");
}

#[track_caller]
fn check_warned(content: &str, ops: &str, want: &str, warning: &str) {
    let bench = Bench::new(content);
    let (after, warnings) = bench.apply(ops, bench.tag()).unwrap_or_else(|error| panic!("{ops:?}: {error}"));
    assert_eq!(String::from_utf8_lossy(&after), want, "{ops:?}");
    assert!(warnings.len() == 1 && warnings[0].contains(warning), "{ops:?}: {warnings:?}");
}

#[test]
fn inserts() {
    check("a\nb\n", "1↓x", "a\nx\nb\n");
    check("a\nb\n", "1↑x", "x\na\nb\n");
    check("a\nb\n", "2↓x", "a\nb\nx\n");
    check("a\nb\n", "1↓x\n+y\n+z", "a\nx\ny\nz\nb\n");
    check("a\nb\n", "1↓\n+x", "a\nx\nb\n");
    check("a\nb\n", "1↓", "a\n\nb\n");
    check("a\nb\n", "1↑", "\na\nb\n");
    check("a\nb\n", "1↓\n+", "a\n\nb\n");
    check("a\nb\n", "1↓x\n+\n+y", "a\nx\n\ny\nb\n");
    check("a\nb\n", "1↓++x", "a\n++x\nb\n");
    check("a\nb\n", "1↓\n++x", "a\n+x\nb\n");
    check("a\nb\n", "1↓    x", "a\n    x\nb\n");
    check("a\nb\n", "1↓\n+    x  ", "a\n    x  \nb\n");
    check("a\nb\n", "1↓x   ", "a\nx\nb\n");
    check("a\nb\n", "1↓x\n\n\n+y\n", "a\nx\ny\nb\n");
    check("a\nb\n", "1↓x\n1↓y", "a\nx\ny\nb\n");
    check("a\nb\n", "2↑y\n1↓x", "a\nx\ny\nb\n");
    check("a\nb\n", "1↓- [ ] task: now!", "a\n- [ ] task: now!\nb\n");
}

#[test]
fn boundaries() {
    check("a\n", "BOF↓x", "x\na\n");
    check("a\n", "BOF↑x", "x\na\n");
    check("a\n", "EOF↓x", "a\nx\n");
    check("a\n", "EOF↑x\n+y", "a\nx\ny\n");
    check("a\nb\n", "BOF↓x\n1!\n2:y\nEOF↓z", "x\ny\nz\n");
    check("a", "EOF↓x", "a\nx");
    check("", "EOF↓x", "x\n");
    check("a\n", "BOF↓p\n1↑q", "p\nq\na\n");
    check("a\n", "EOF↓p\n1↓q", "a\nq\np\n");
    check("a\n", "BOF↓1\nBOF↓2", "1\n2\na\n");
}

#[test]
fn replacements() {
    check("a\nb\nc\n", "2:x", "a\nx\nc\n");
    check("a\nb\nc\n", "2-3:x", "a\nx\n");
    check("a\nb\nc\n", "1-3:x\n+y", "x\ny\n");
    check("a\nb\nc\n", "2:", "a\n\nc\n");
    check("a\nb\nc\n", "1-2:", "\nc\n");
    check("a\nb\nc\n", "2:\n+", "a\n\nc\n");
    check("a\nb\nc\n", "2: x", "a\n x\nc\n");
    check("a\nb\nc\n", "2:x:y", "a\nx:y\nc\n");
    check("a\nb\nc\n", "2:x!↓", "a\nx!↓\nc\n");
    check("a\nb\nc\n", "  2:x", "a\nx\nc\n");
    check("a\nb\nc\n", "*2:x", "a\nx\nc\n");
    check("a\nb\nc\n", "2 :x", "a\nx\nc\n");
    check("a\nb\nc\n", "2:x\r\n+y\r", "a\nx\ny\nc\n");
    check("a\nb\nc\n", "3:z\n1:x", "x\nb\nz\n");
    check("a\nb\nc\n", "2-2:x", "a\nx\nc\n");
    check("a\nb\nc\n", "2:[x]", "a\n[x]\nc\n");
    check("a\nb\nc\n", "2:x\n+[f#1a2b]\n+¶g", "a\nx\n[f#1a2b]\n¶g\nc\n");
    check("a\nb\nc\n", "2:x\n+*** End Patch", "a\nx\n*** End Patch\nc\n");
}

#[test]
fn deletions() {
    check("a\nb\nc\n", "2!", "a\nc\n");
    check("a\nb\nc\n", "1-2!", "c\n");
    check("a\nb\nc\n", "1-3!", "");
    check("a\nb\nc\n", "3!\n1!", "b\n");
    check("a\nb\nc", "3!", "a\nb");
    check("a\nb\nc\n", "2!  ", "a\nc\n");
}

#[test]
fn operations_in_one_place() {
    check("a\nb\nc\n", "2↑x\n2:y\n2↓z", "a\nx\ny\nz\nc\n");
    check("a\nb\nc\n", "2↓z\n2!\n2↑x", "a\nx\nz\nc\n");
    check("a\nb\nc\nd\n", "1-3:x\n2↓in", "x\nin\nd\n");
    check("a\nb\nc\nd\n", "1-3!\n3↓x", "x\nd\n");
    check("a\nb\nc\nd\n", "1-2!\n3-4:x", "x\n");
    check("a\nb\nc\n", "1:x\n2:y\n3:z", "x\ny\nz\n");
}

#[test]
fn fidelity() {
    check("a\r\nb\r\n", "1↓x", "a\r\nx\r\nb\r\n");
    check("\u{feff}a\r\nb", "1:x\n+y", "\u{feff}x\r\ny\r\nb");
    check("\u{feff}a\n", "BOF↓x", "\u{feff}x\na\n");
    check("a\nb\r\nc\n", "2:x", "a\nx\r\nc\n");
    check("a\n\tb\n", "2:\t\tb", "a\n\t\tb\n");
    let bench = Bench::new(b"\xe9\nb\n\xff\xfe");
    assert_eq!(bench.apply("2:\u{e9}", bench.tag()).unwrap().0, b"\xe9\n\xc3\xa9\n\xff\xfe");
}

#[test]
fn envelopes_and_headers() {
    let bench = Bench::new("a\nb\n");
    let tag = bench.tag().to_string();
    let upper = tag.to_uppercase();
    let absolute = bench.folder.path().join("f").display().to_string();
    for patch in [
        format!("[f#{tag}]\n1:x"),
        format!("\u{feff}\n\n[f#{tag}]  \n1:x"),
        format!("[f#{upper}]\n1:x"),
        format!("¶f#{tag}\n1:x"),
        format!("¶¶¶ f#{tag}\n1:x"),
        format!("[\"f\"#{tag}]\n1:x"),
        format!("[./f#{tag}]\n1:x"),
        format!("[{absolute}#{tag}]\n1:x"),
        format!("*** Begin Patch\n[f#{tag}]\n1:x\n*** End Patch\nnot read: any more"),
        format!("[f#{tag}]\r\n1:x\r\n"),
    ] {
        let edits = bench.plan(&patch).unwrap_or_else(|error| panic!("{patch}: {error}"));
        assert_eq!(edits[0].after.as_ref().unwrap().bytes()[..], b"x\nb\n"[..], "{patch}");
        assert_eq!(edits[0].path.display, "f", "{patch}");
    }
}

#[test]
fn sections_of_one_file_are_one() {
    let bench = Bench::new("a\nb\nc\n");
    let tag = bench.tag();
    let edits = bench.plan(&format!("[f#{tag}]\n1!\n¶./f#{tag}\n3:z\n[f]\nEOF↓end")).unwrap();
    assert_eq!(edits.len(), 1);
    assert_eq!(edits[0].after.as_ref().unwrap().bytes()[..], b"b\nz\nend\n"[..]);
}

#[test]
fn files_are_made_and_names_may_hold_anything() {
    let bench = Bench::new("a\n");
    for (header, name) in [("[new/deep.txt]", "new/deep.txt"), ("¶odd#name", "odd#name"), ("[c#]x]", "c#]x")] {
        let edits = bench.plan(&format!("{header}\nBOF↓one\n+two")).unwrap();
        assert!(edits[0].before.is_none());
        assert_eq!(
            (edits[0].path.display.as_str(), &edits[0].after.as_ref().unwrap().bytes()[..]),
            (name, &b"one\ntwo\n"[..])
        );
    }
    let edits = bench.plan("[new]\nEOF↓x\n[other]\nBOF↓y").unwrap();
    assert_eq!(edits.len(), 2);
}

#[test]
fn abort_keeps_what_came_before() {
    let bench = Bench::new("a\nb\n");
    let (after, warnings) = bench.apply("1:x\n*** Abort\n2:y", bench.tag()).unwrap();
    assert_eq!(after, b"x\nb\n");
    assert!(warnings[0].starts_with("*** Abort"), "{warnings:?}");
    let (after, _) = bench.apply("1:x\n[g#1234]\n*** Abort", bench.tag()).unwrap();
    assert_eq!(after, b"x\nb\n");
}

#[test]
fn identical_ranges_in_a_row_are_one() {
    check_warned("a\nb\nc\n", "1-2:old\n1-2:new", "new\nc\n", "identical-range");
    check_warned("a\nb\nc\n", "2:b\n+more\n\n2:new", "a\nnew\nc\n", "identical-range");
}

#[test]
fn repeated_neighbours_are_dropped() {
    let text = "fn one() {\n    first();\n}\nfn two() {\n    second();\n}\n";
    check_warned(
        text,
        "2:fn one() {\n+    changed();",
        "fn one() {\n    changed();\n}\nfn two() {\n    second();\n}\n",
        "line 1 ",
    );
    check_warned(
        text,
        "2:    changed();\n+}",
        "fn one() {\n    changed();\n}\nfn two() {\n    second();\n}\n",
        "line 3 ",
    );
    check_warned(
        text,
        "2:    changed();\n+}\n+fn two() {",
        "fn one() {\n    changed();\n}\nfn two() {\n    second();\n}\n",
        "lines 3-4 ",
    );
    check_warned("alpha\nbeta\ngamma\n", "2:alpha\n+BETA", "alpha\nBETA\ngamma\n", "line 1 ");
    check_warned("alpha\nbeta\ngamma\n", "2:BETA\n+gamma", "alpha\nBETA\ngamma\n", "line 3 ");
}

#[test]
fn repetitions_that_may_be_meant_stay() {
    check("0,\n1,\n2,\n", "2:1,\n+2,", "0,\n1,\n2,\n2,\n");
    check("same\nsame\nsame\n", "2:same\n+same", "same\nsame\nsame\nsame\n");
    check("{\n{\nx\n}\n}\n", "3:{\n+y\n+}", "{\n{\n{\ny\n}\n}\n}\n");
    check("alpha\nbeta\n", "2:alpha", "alpha\nalpha\n");
    check("alpha\nbeta\ngamma\n", "2:x\n+gamma\n3:delta", "alpha\nx\ngamma\ndelta\n");
    check("alpha\nbeta\n", "1↓alpha\n+new", "alpha\nalpha\nnew\nbeta\n");
}

#[test]
fn inserts_drop_repetitions_only_when_told_to() {
    let mut bench = Bench::new("alpha\nbeta\n");
    bench.options.drop_insert_duplicates = true;
    let (after, warnings) = bench.apply("1↓alpha\n+new", bench.tag()).unwrap();
    assert_eq!((&after[..], warnings.len()), (&b"alpha\nnew\nbeta\n"[..], 1));
    let (after, warnings) = bench.apply("2↑new\n+beta", bench.tag()).unwrap();
    assert_eq!((&after[..], warnings.len()), (&b"alpha\nnew\nbeta\n"[..], 1));
}
