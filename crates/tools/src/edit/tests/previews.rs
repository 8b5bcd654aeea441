//! Tests previews of all four languages while their arguments arrive letter by letter.

use omp_types::PartialJson;
use omp_view::{Status, View};
use serde_json::{Map, Value};

use super::formats::{any, replacing};
use super::*;
use crate::scratch::{arriving, whole};

/// Returns every prefix of a string argument, as it arrives.
fn beginnings(text: &str) -> impl Iterator<Item = &str> {
    (0..=text.len()).filter(|end| text.is_char_boundary(*end)).map(|end| &text[..end])
}

fn signs(view: &View) -> String {
    let mut out = String::new();
    for block in &view.blocks {
        let Block::Diff(omp_view::Diff { lines, .. }) = block else { continue };
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

/// Returns the previews shown while a call arrives and checks that nothing is written.
fn previewed(mode: EditMode, arguments: impl Fn(&Scratch) -> Vec<Value>) -> Vec<String> {
    let scratch = Scratch::new(&[("a", "one\ntwo\nthree\n")]);
    let tool = any(mode, &scratch);
    let mut seen: Vec<String> = Vec::new();
    for partial in arguments(&scratch) {
        let Some(view) = arriving(&*tool, "call", &partial) else { continue };
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
    assert_eq!(hashline, ["", "-two +", "-two +2", "-two -three +2"]);
    let apply_patch = previewed(EditMode::ApplyPatch, |_| {
        let whole = "*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n*** Add File: n\n+x\n*** End Patch\n";
        beginnings(whole).map(|input| json!({"input": input})).collect()
    });
    assert_eq!(apply_patch, ["", "-two", "-two +2", "-two +2 +x"]);
    let patch = previewed(EditMode::Patch, |_| {
        let entry = |diff: &str| json!({"path": "a", "edits": [{"op": "update", "diff": diff}]});
        beginnings("@@\n-two\n+2\n@@\n-three\n").map(entry).collect()
    });
    assert_eq!(patch, ["", "-two", "-two +", "-two +2", "-two -three +2"]);
    let replace = previewed(EditMode::Replace, |_| {
        let mut all = vec![json!({}), json!({"path": "a"}), json!({"path": "a", "edits": [{"old_text": "tw"}]})];
        all.extend(beginnings("2\n2½\n").map(|new| replacing("a", "two\n", new)));
        all
    });
    assert_eq!(replace, ["", "-two", "-two +2", "-two +2 +2", "-two +2 +2½"]);
}

/// An approval request shows the whole change, however long it is and whatever was previewed before.
#[test]
fn whoever_is_asked_sees_all_of_it() {
    let lines: String = (0..1000).map(|at| format!("line {at}\n")).collect();
    let scratch = Scratch::new(&[("a", &lines)]);
    let tool = any(EditMode::Replace, &scratch);
    let call = |new: &str| replacing("a", &lines, new);
    arriving(&*tool, "call", &call("x"));
    let new: String = (0..1000).map(|at| format!("other {at}\n")).collect();
    let shown = signs(&crate::scratch::outlook(&*tool, &call(&new)).unwrap());
    assert!(shown.starts_with("-line 0 ") && shown.ends_with("+other 999"), "{shown}");
    assert_eq!(shown.matches(['+', '-']).count(), 2000);
    assert_eq!(
        crate::scratch::outlook(&*tool, &replacing("a", "not there", "x")),
        None,
        "the arguments say more than nothing"
    );
    scratch.put("large", &vec![b'x'; 17 * 1024 * 1024]);
    assert_eq!(
        crate::scratch::outlook(&*tool, &replacing("large", "x", "y")),
        None,
        "nobody agrees to what is too large to be shown"
    );
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
            if let Some(view) = arriving(&*tool, "call", &partial) {
                assert!(view.title.starts_with("edit"));
            }
        }
    }
}

const MODES: [EditMode; 4] = [EditMode::Hashline, EditMode::Replace, EditMode::Patch, EditMode::ApplyPatch];

const BEFORE: &str = "use std::fmt;\n\nfn first() -> u32 {\n    let value = 1; // “one”\n    value\n}\n\nfn second() {\n    todo();\n}\n";

/// Builds a call that changes three places of `src/a.rs`, with text that JSON has to escape.
fn realistic(mode: EditMode, scratch: &Scratch) -> Value {
    let hunks = "@@ fn first() -> u32 {\n-    let value = 1; // “one”\n+    let value = \"two\\n\"; // ½\n     value\n@@\n fn second() {\n-    todo();\n+    done();\n }\n+\n+fn third() {}";
    match mode {
        EditMode::Hashline => {
            let header = read_header(scratch, "src/a.rs");
            json!({"input": format!("{header}\n4:    let value = \"two\\n\"; // ½\n9:    done();\n10↓\n+\n+fn third() {{}}")})
        }
        EditMode::Replace => json!({"path": "src/a.rs", "edits": [
            {"old_text": "    let value = 1; // \"one\"\n    value", "new_text": "    let value = \"two\\n\"; // ½\n    value"},
            {"old_text": "todo", "new_text": "done", "all": true},
            {"old_text": "done();\n}", "new_text": "done();\n}\n\nfn third() {}"},
        ]}),
        EditMode::Patch => json!({"path": "src/a.rs", "edits": [{"op": "update", "diff": hunks}]}),
        EditMode::ApplyPatch => {
            json!({"input": format!("*** Begin Patch\n*** Update File: src/a.rs\n{hunks}\n*** End Patch")})
        }
    }
}

/// Requests a preview for every prefix of the JSON text and returns the last one.
fn streamed(tool: &dyn AnyTool, text: &str) -> Option<View> {
    let (mut parser, mut root) = (PartialJson::default(), Map::new());
    for letter in text.chars() {
        parser.push(letter.encode_utf8(&mut [0; 4]), &mut root);
        arriving(tool, "call", &Value::Object(root.clone()));
    }
    whole(tool, "call", &Value::Object(root))
}

#[test]
fn the_last_preview_is_the_diff_of_the_call() {
    for mode in MODES {
        for escaped in [false, true] {
            let scratch = Scratch::new(&[("src/a.rs", BEFORE)]);
            let tool = any(mode, &scratch);
            let arguments = realistic(mode, &scratch);
            let mut text = arguments.to_string();
            if escaped {
                let escape = |letter: char| {
                    let units = letter.encode_utf16(&mut [0; 2]).to_vec();
                    units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
                };
                text = text.chars().map(|it| if it.is_ascii() { it.to_string() } else { escape(it) }).collect();
            }
            let preview = streamed(&*tool, &text).unwrap();
            assert_eq!(scratch.get("src/a.rs"), BEFORE, "nothing is written");
            let done = scratch.view(&*tool, arguments);
            assert!(scratch.get("src/a.rs").contains("fn third() {}"), "{mode:?}");
            assert_eq!((&preview.title, &preview.blocks), (&done.title, &done.blocks), "{mode:?}");
            assert!(signs(&preview).contains("+fn third() {}"), "{mode:?}");
        }
    }
}

/// The search for similar text runs only for complete arguments.
#[test]
fn the_last_preview_spares_no_effort() {
    let line = "let the_name_of_it = compute_the_value(first, second, third);";
    let scratch = Scratch::new(&[("a", &format!("{line}\n"))]);
    let tool = any(EditMode::Replace, &scratch);
    let arguments = replacing("a", &line.replace("third", "thirt"), "new");
    assert_eq!(signs(&streamed(&*tool, &arguments.to_string()).unwrap()), format!("-{line} +new"));
}

/// Twice the letters take twice the work, not four times, because each request is bounded.
#[test]
fn the_work_grows_with_the_letters_only() {
    let content: String = (0..10_000).map(|n| format!("line {n} of a long file\n")).collect();
    let work = |lines: usize| {
        let scratch = Scratch::new(&[("a", &content)]);
        let tool = HashlineEdit::new(scratch.files.clone(), HashlineOptions::default());
        let payload: String = (0..lines).map(|n| format!("\n+new line {n}")).collect();
        let text = json!({"input": format!("{}\n5000:first{payload}", read_header(&scratch, "a"))}).to_string();
        let last = streamed(&tool, &text).unwrap();
        assert!(signs(&last).ends_with(&format!("+new line {}", lines - 1)), "{}", signs(&last));
        (tool.previews.work(), text.len())
    };
    for lines in [20, 80] {
        let (work, letters) = work(lines);
        assert!(work <= letters * 64 * 1024 + 1024 * 1024, "{work} for {letters}");
        assert!(work < letters * content.len() / 3, "not every letter is worth a look at the whole file: {work}");
    }
}

#[test]
fn files_too_large_are_not_even_read() {
    let scratch = Scratch::new(&[("a", &"some text\n".repeat(300_000))]);
    let tool = any(EditMode::Replace, &scratch);
    let view = arriving(&*tool, "call", &replacing("a", "x", "y")).unwrap();
    assert_eq!(view.blocks, [Block::Text("(too large for a preview)".into())]);
}

/// A call never shows the preview of the previous call, whatever that one cost.
#[test]
fn another_call_is_not_shown_the_one_before() {
    let scratch = Scratch::new(&[("large", &"some text\n".repeat(100_000)), ("small", "x\n")]);
    let tool = any(EditMode::Replace, &scratch);
    let first = replacing("large", "some text\n", "\n");
    whole(&*tool, "first", &first);
    let second = replacing("small", "x\n", "a much longer text than before\n");
    let view = arriving(&*tool, "second", &second).unwrap();
    assert_eq!((view.title.as_str(), signs(&view).as_str()), ("edit small", "-x +a much longer text than before"));
    let view = arriving(&*tool, "third", &replacing("small", "x", "y")).unwrap();
    assert_eq!(signs(&view), "-x +y");
}
