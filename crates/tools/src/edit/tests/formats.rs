//! Tests the other three edit languages as the agent loop calls them, and what all four have in common.

use serde_json::Value;

use super::*;

pub(super) fn any(mode: EditMode, scratch: &Scratch) -> Arc<dyn AnyTool> {
    super::super::tool(mode, scratch.files.clone(), &EditOptions::default())
}

pub(super) fn replacing(path: &str, old: &str, new: &str) -> Value {
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
    assert!(text.contains("Warnings:\nold_text was found after ignoring trailing whitespace, at line 1"), "{text}");
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
    assert!(text.contains("a.rs no longer parses as") && text.contains("first at line"), "{text}");
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
    assert!(text.starts_with("error: a.txt: is not a folder, so nothing can be created in it"), "{text}");
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
            crate::scratch::approval(&*patch, &wrapped(&format!("*** Add File: {typed}\n+x"))).reason,
            crate::scratch::approval(&*patch, &wrapped(&moved)).reason,
            crate::scratch::approval(
                &*json_patch,
                &json!({"path": "in/x", "edits": [{"op": "update", "rename": typed}]}),
            )
            .reason,
            crate::scratch::approval(&*any(EditMode::Replace, &scratch), &replacing(typed, "a", "b")).reason,
            crate::scratch::approval(
                &*any(EditMode::Hashline, &scratch),
                &json!({"input": format!("[{typed}]\nBOF↓x")}),
            )
            .reason,
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

#[test]
fn a_new_file_that_does_not_parse_is_told() {
    let scratch = Scratch::new(&[]);
    let text = scratch.text(&*any(EditMode::Replace, &scratch), replacing("a.rs", "", "fn main() {\n"));
    assert!(
        text.contains("Warnings:\nthe new file a.rs does not parse as") && text.contains("first at line"),
        "{text}"
    );
    let text = scratch.text(&*any(EditMode::ApplyPatch, &scratch), wrapped("*** Add File: b.json\n+{\"a\": }"));
    assert!(text.contains("the new file b.json does not parse as"), "{text}");
    for (path, content) in [("c.rs", "fn main() {}\n"), ("d.md", "# (\n"), ("e.unknown", "(((\n")] {
        let text =
            scratch.text(&*any(EditMode::Hashline, &scratch), json!({"input": format!("[{path}]\nBOF↓{content}")}));
        assert!(!text.contains("does not parse"), "{text}");
    }
    let huge = format!("fn main() {{\n{}", "// a comment\n".repeat(200_000));
    assert!(
        !scratch.text(&*any(EditMode::Replace, &scratch), replacing("huge.rs", "", &huge)).contains("does not parse")
    );
}

#[test]
fn scratch_files_of_the_session_are_edited_and_other_addresses_refused() {
    let scratch = Scratch::new(&[("kept/plan.md", "one\n")]);
    let files = Arc::new(Files::new(scratch.folder.path(), None).with_local(Some(scratch.path("kept"))));
    let edit = |mode: EditMode, arguments: Value| {
        scratch.text(&*super::super::tool(mode, files.clone(), &EditOptions::default()), arguments)
    };
    let text = edit(EditMode::Replace, replacing("local://plan.md", "one", "1"));
    assert!(text.starts_with("[local://plan.md#"), "{text}");
    edit(EditMode::Hashline, json!({"input": "[local://plan.md]\nEOF↓2"}));
    edit(EditMode::ApplyPatch, wrapped("*** Update File: local://plan.md\n@@\n 2\n+3"));
    assert_eq!(scratch.get("kept/plan.md"), "1\n2\n3\n");
    for text in [
        edit(EditMode::Replace, replacing("artifact://1", "a", "b")),
        edit(EditMode::Hashline, json!({"input": "[artifact://1]\nBOF↓x"})),
        edit(EditMode::ApplyPatch, wrapped("*** Add File: artifact://1\n+x")),
        edit(EditMode::ApplyPatch, wrapped("*** Add File: local://../out\n+x")),
    ] {
        assert!(
            text.starts_with("error: ") && (text.contains("can only be read") || text.contains("escapes")),
            "{text}"
        );
    }
    assert_eq!(std::fs::read_dir(scratch.folder.path()).unwrap().count(), 1, "no folder was made of an address");
}
