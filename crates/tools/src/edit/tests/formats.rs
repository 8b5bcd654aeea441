//! The other three languages through the eyes of the loop, previews of all four, and what they have in common.

use omp_view::{Status, View};
use serde_json::Value;

use super::*;

fn any(mode: EditMode, scratch: &Scratch) -> Arc<dyn AnyTool> {
    super::super::tool(mode, scratch.files.clone(), &EditOptions::default())
}

fn replacing(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "edits": [{"old_text": old, "new_text": new}]})
}

fn wrapped(body: &str) -> Value {
    json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch")})
}

#[test]
fn all_four_are_called_edit_and_have_their_own_words() {
    let scratch = Scratch::new(&[]);
    let modes = [EditMode::Hashline, EditMode::Replace, EditMode::Patch, EditMode::ApplyPatch];
    let tools = modes.map(|mode| any(mode, &scratch));
    assert!(tools.iter().all(|tool| tool.name() == "edit"));
    let shapes = tools.each_ref().map(|tool| {
        let properties = tool.parameters()["properties"].as_object().unwrap().clone();
        properties.keys().cloned().collect::<Vec<_>>().join(" ")
    });
    assert_eq!(shapes, ["input", "path edits", "path edits", "input"]);
    let prompts: std::collections::BTreeSet<String> =
        tools.iter().map(|tool| tool.description().into_owned()).collect();
    assert_eq!(prompts.len(), 4);
}

#[test]
fn replacing_text() {
    let scratch = Scratch::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let tool = any(EditMode::Replace, &scratch);
    insta::assert_snapshot!(scratch.text(&*tool, replacing("a.txt", "two", "2")), @"
    [a.txt#d2a7]
     1:one
    -2:two
    +2:2
     3:three
    ");
    assert_eq!(scratch.get("a.txt"), "one\n2\nthree\n");
    let text = scratch.text(&*tool, replacing("a.txt", "one \n2", "1\n2"));
    assert!(text.contains("Warnings:\nold_text was found after ignoring blanks at line ends, at line 1"), "{text}");
    let text = scratch.text(&*tool, replacing("a.txt", "four", "4"));
    assert!(text.starts_with("error: old_text was not found in a.txt; nothing was written"), "{text}");
}

#[test]
fn patching_one_file() {
    let scratch = Scratch::new(&[("a", "one\ntwo\n")]);
    let tool = any(EditMode::Patch, &scratch);
    let call = |edits: Value| scratch.text(&*tool, json!({"path": "a", "edits": edits}));
    let text = call(
        json!([{"op": "update", "diff": "@@\n-two\n+2"}, {"op": "update", "diff": "@@\n-one\n+1", "rename": "d/b"}]),
    );
    assert!(text.contains("#") && text.contains("\nMoved a to d/b\n-1:one\n"), "{text}");
    assert_eq!((scratch.get("d/b"), scratch.path("a").exists()), ("1\n2\n".into(), false));
    assert!(call(json!([{"op": "create", "diff": "x"}])).contains("Created a"));
    assert_eq!(call(json!([{"op": "delete"}])), "Deleted a (1 lines)");
    for (edits, why) in [
        (json!([{"op": "delete"}]), "File not found: a"),
        (json!([{"op": "update"}]), "needs a diff or rename"),
        (json!([{"op": "create"}]), "create needs a diff"),
        (json!([{"op": "delete", "diff": "x"}]), "delete takes no diff"),
        (json!([{"op": "create", "diff": "x", "rename": "y"}]), "only update takes rename"),
        (json!([{"op": "other"}]), "Invalid arguments"),
        (json!([]), "no operations"),
    ] {
        let text = call(edits);
        assert!(text.starts_with("error: ") && text.contains(why), "{text}");
    }
}

#[test]
fn a_patch_of_several_files() {
    let scratch = Scratch::new(&[("a", "one\n"), ("b", "x\n"), ("c", "y\n")]);
    let tool = any(EditMode::ApplyPatch, &scratch);
    let body = "*** Update File: a\n@@\n-one\n+1\n*** Delete File: b\n*** Add File: n\n+new\n*** Update File: c\n*** Move to: d";
    let output = scratch.call(&*tool, wrapped(body)).unwrap();
    let text = output.content[0].as_text().unwrap();
    assert!(
        text.contains("Deleted b (1 lines)") && text.contains("Created n") && text.contains("Moved c to d"),
        "{text}"
    );
    let details = output.details.unwrap();
    let results = details["perFileResults"].as_array().unwrap();
    let ops: Vec<&str> = results.iter().map(|result| result["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["update", "delete", "create", "update"]);
    assert_eq!((&results[3]["path"], &results[3]["move"]), (&json!("c"), &json!("d")));
    let view = tool.render(&wrapped(body), omp_agent::Outcome::Done { details: &details, is_error: false });
    assert_eq!(view.title, "edit a and 3 more");
    assert_eq!(scratch.get("a") + &scratch.get("n") + &scratch.get("d"), "1\nnew\ny\n");
}

#[test]
fn a_file_that_stops_parsing_is_told() {
    let scratch = Scratch::new(&[("a.rs", "fn main() {\n    f();\n}\n"), ("b.txt", "(")]);
    let tool = any(EditMode::Replace, &scratch);
    let text = scratch.text(&*tool, replacing("a.rs", "f();\n}", "f();"));
    assert!(text.contains("a.rs does not parse as") && text.contains("first at line"), "{text}");
    assert_eq!(scratch.get("a.rs"), "fn main() {\n    f();\n", "it is applied all the same");
    let text = scratch.text(&*tool, replacing("a.rs", "f();", "f(("));
    assert!(!text.contains("does not parse"), "it was broken before: {text}");
    assert!(!scratch.text(&*tool, replacing("b.txt", "(", "((")).contains("does not parse"));
}

#[test]
fn a_change_behind_the_back_is_merged_or_refused() {
    let scratch = Scratch::new(&[("a", "  one\n  two\nthree\n")]);
    read_header(&scratch, "a");
    scratch.put("a", b"zero\n  one\n  two\nthree\n");
    let tool = any(EditMode::Replace, &scratch);
    let text = scratch.text(&*tool, replacing("a", "one\ntwo", "x"));
    assert!(text.starts_with("error: a changed after it was read") && text.contains("2:  one\n3:  two"), "{text}");
    let text = scratch.text(&*tool, replacing("a", "three", "3"));
    assert!(text.contains("the text to replace was still there"), "{text}");
    assert_eq!(scratch.get("a"), "zero\n  one\n  two\n3\n");
}

#[test]
fn below_a_file_there_is_nothing() {
    let scratch = Scratch::new(&[("a.txt", "x\n")]);
    let text = scratch.text(&*any(EditMode::Replace, &scratch), replacing("a.txt/inner", "", "x"));
    assert!(text.starts_with("error: a.txt: is not a folder, so nothing can be put below it"), "{text}");
}

#[cfg(unix)]
#[test]
fn approval_shows_where_a_path_really_leads() {
    let scratch = Scratch::new(&[("in/x", "1\n")]);
    let outside = tempfile::tempdir().unwrap();
    let real = outside.path().canonicalize().unwrap();
    std::os::unix::fs::symlink(&real, scratch.path("link")).unwrap();
    std::os::unix::fs::symlink(real.join("new"), scratch.path("dangling")).unwrap();
    let name = scratch.folder.path().file_name().unwrap().to_str().unwrap();
    let evil = format!("../{name}-evil/x");
    let patch = any(EditMode::ApplyPatch, &scratch);
    let json_patch = any(EditMode::Patch, &scratch);
    for (typed, shown) in [
        ("in/x", None),
        ("in/../in/x", None),
        ("link/x", Some(format!("link/x leads to {}/x, which is outside", real.display()))),
        ("dangling", Some(format!("dangling leads to {}/new, which is outside", real.display()))),
        ("/etc/hosts", Some("/etc/hosts is outside".into())),
        (&evil, Some(format!("{name}-evil/x is outside"))),
    ] {
        let moved = format!("*** Update File: in/x\n*** Move to: {typed}");
        let reasons = [
            patch.approval(&wrapped(&format!("*** Add File: {typed}\n+x"))).reason,
            patch.approval(&wrapped(&moved)).reason,
            json_patch.approval(&json!({"path": "in/x", "edits": [{"op": "update", "rename": typed}]})).reason,
            any(EditMode::Replace, &scratch).approval(&replacing(typed, "a", "b")).reason,
            any(EditMode::Hashline, &scratch).approval(&json!({"input": format!("[{typed}]\nBOF↓x")})).reason,
        ];
        for reason in reasons {
            match &shown {
                None => assert_eq!(reason, None, "{typed}"),
                Some(shown) => {
                    assert!(reason.as_deref().is_some_and(|it| it.contains(shown.as_str())), "{typed}: {reason:?}")
                }
            }
        }
    }
}

/// Every beginning of a string argument, as it arrives.
fn beginnings(text: &str) -> impl Iterator<Item = &str> {
    (0..=text.len()).filter(|end| text.is_char_boundary(*end)).map(|end| &text[..end])
}

fn signs(view: &View) -> String {
    let mut out = String::new();
    for block in &view.blocks {
        let Block::Diff(lines) = block else { continue };
        for line in lines {
            match line.kind {
                DiffKind::Added => out.push_str(&format!("+{} ", line.text)),
                DiffKind::Removed => out.push_str(&format!("-{} ", line.text)),
                DiffKind::Kept | DiffKind::Gap => {}
            }
        }
    }
    out.trim_end().to_owned()
}

/// What is seen one after another while a call arrives; nothing may be written.
fn previewed(mode: EditMode, arguments: impl Fn(&Scratch) -> Vec<Value>) -> Vec<String> {
    let scratch = Scratch::new(&[("a", "one\ntwo\nthree\n")]);
    let tool = any(mode, &scratch);
    let mut seen: Vec<String> = Vec::new();
    for partial in arguments(&scratch) {
        let Some(view) = tool.preview(&partial) else { continue };
        assert_eq!(view.status, Status::Running);
        let shown = signs(&view);
        if seen.last() != Some(&shown) {
            seen.push(shown);
        }
    }
    assert_eq!(scratch.get("a"), "one\ntwo\nthree\n");
    assert_eq!(std::fs::read_dir(scratch.folder.path()).unwrap().count(), 1);
    seen
}

#[test]
fn previews() {
    let hashline = previewed(EditMode::Hashline, |scratch| {
        let whole = format!("{}\n2:2\n3!\n", read_header(scratch, "a"));
        beginnings(&whole).map(|input| json!({"input": input})).collect()
    });
    assert_eq!(hashline, ["", "-two +2", "-two -three +2"]);
    let apply_patch = previewed(EditMode::ApplyPatch, |_| {
        let whole = "*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n*** Add File: n\n+x\n*** End Patch\n";
        beginnings(whole).map(|input| json!({"input": input})).collect()
    });
    assert_eq!(apply_patch, ["", "-two", "-two +2", "-two +2 +x"]);
    let patch = previewed(EditMode::Patch, |_| {
        let entry = |diff: &str| json!({"path": "a", "edits": [{"op": "update", "diff": diff}]});
        beginnings("@@\n-two\n+2\n@@\n-three\n").map(entry).collect()
    });
    assert_eq!(patch, ["", "-two", "-two +2", "-two -three +2"]);
    let replace = previewed(EditMode::Replace, |_| {
        let mut all = vec![json!({}), json!({"path": "a"}), json!({"path": "a", "edits": [{"old_text": "tw"}]})];
        all.extend(beginnings("2\n2½\n").map(|new| replacing("a", "two\n", new)));
        all
    });
    assert_eq!(replace, ["", "-two", "-two +2", "-two +2 +2½"]);
}

#[test]
fn previews_survive_anything() {
    let scratch = Scratch::new(&[("a", "x\n")]);
    for mode in [EditMode::Hashline, EditMode::Replace, EditMode::Patch, EditMode::ApplyPatch] {
        let tool = any(mode, &scratch);
        for partial in [
            json!(null),
            json!([]),
            json!({}),
            json!({"input": 1}),
            json!({"path": "a", "edits": 1}),
            json!({"path": "a", "edits": [1]}),
            json!({"path": "a", "edits": [{"op": "up"}]}),
            json!({"input": "\n\n"}),
            json!({"path": "", "edits": [{"op": "delete"}]}),
            json!({"input": "x\n".repeat(200_000)}),
        ] {
            if let Some(view) = tool.preview(&partial) {
                assert!(view.title.starts_with("edit"));
            }
        }
    }
}
