//! Tests editing notebooks by the text of their cells, in all four languages.

use omp_agent::AnyTool;
use omp_workspace::EditRules;
use serde_json::{Value, json};

use super::super::*;
use super::{edit_text, read_header, tool};
use crate::scratch::Scratch;

/// Written as notebook programs write it; omp would format the number differently.
const FILE: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"tags": ["x"]},
   "source": ["# Title\n", "text"]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "work",
   "metadata": {},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"], "x": 1.50e-05}],
   "source": ["a = 1\n", "print(a)"]
  }
 ],
 "metadata": {"kernelspec": {"name": "python3"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

fn cells(scratch: &Scratch) -> Value {
    let file: Value = serde_json::from_str(&scratch.get("a.ipynb")).unwrap();
    file["cells"].clone()
}

#[test]
fn lines_of_a_cell_by_number() {
    let scratch = Scratch::new(&[("a.ipynb", FILE)]);
    let text = edit_text(&scratch, &format!("{}\n3:better text", read_header(&scratch, "a.ipynb")));
    let (header, shown) = text.split_once('\n').unwrap();
    insta::assert_snapshot!(shown, @"
     1:# %% [markdown] cell:0
     2:# Title
    -3:text
    +3:better text
     4:# %% [code] cell:1
     5:a = 1
    ");
    assert_eq!(header, read_header(&scratch, "a.ipynb"), "the new tag is the one of the new cells");
    let file = scratch.get("a.ipynb");
    let second = FILE.find("  {\n   \"cell_type\": \"code\"").unwrap();
    assert!(file.ends_with(&FILE[second..]), "all behind the changed cell keeps its bytes: {file}");
    assert_eq!(cells(&scratch)[0]["source"], json!(["# Title\n", "better text"]));
    assert_eq!(cells(&scratch)[0]["metadata"], json!({"tags": ["x"]}));

    let text = edit_text(&scratch, &format!("{header}\nEOF↓# %% [code]\n+print(2)\n1-3!"));
    let (header, shown) = text.split_once('\n').unwrap();
    insta::assert_snapshot!(shown, @"
    -1:# %% [markdown] cell:0
    -2:# Title
    -3:better text
    -4:# %% [code] cell:1
    +1:# %% [code] cell:0
     2:a = 1
     3:print(a)
    +4:# %% [code] cell:1
    +5:print(2)
    ");
    let now = cells(&scratch);
    assert_eq!((&now[0]["id"], &now[0]["outputs"][0]["text"]), (&json!("work"), &json!(["1\n"])));
    assert_eq!(
        now[1],
        json!({"cell_type": "code", "execution_count": null, "id": "cell-3", "metadata": {}, "outputs": [], "source": ["print(2)"]})
    );
    assert!(scratch.get("a.ipynb").contains("\"x\": 1.50e-05"));
    assert_eq!(header, read_header(&scratch, "a.ipynb"));
}

#[test]
fn what_breaks_the_cells_is_refused() {
    let scratch = Scratch::new(&[("a.ipynb", FILE)]);
    let header = read_header(&scratch, "a.ipynb");
    for (ops, reason) in [
        ("1!", "the first line must be a cell marker"),
        ("4:# %% [code] cell:0", "cell 0 is named twice"),
        ("4:# %% [code] cell:7", "cell 7 does not exist"),
        ("4:# %% [code] cell 1", "'# %% [code] cell 1' is not a cell marker"),
    ] {
        let text = edit_text(&scratch, &format!("{header}\n{ops}"));
        let want = format!("error: a.ipynb cannot be written back as a notebook: {reason}");
        assert!(text.starts_with(&want) && text.contains("\nhint: "), "{ops}: {text}");
        assert_eq!(scratch.get("a.ipynb"), FILE);
    }
}

#[test]
fn the_other_languages() {
    let rules = EditRules::default();
    let call = |scratch: &Scratch, tool: &dyn AnyTool, arguments: Value| {
        read_header(scratch, "a.ipynb");
        scratch.text(tool, arguments)
    };
    let check = |tool: &dyn Fn(&Scratch) -> Arc<dyn AnyTool>, arguments: Value| {
        let scratch = Scratch::new(&[("a.ipynb", FILE)]);
        let text = call(&scratch, &*tool(&scratch), arguments);
        assert!(text.contains("\n-6:print(a)\n+6:print(a + 1)"), "{text}");
        assert!(!text.contains("Warnings"), "{text}");
        assert_eq!(cells(&scratch)[1]["source"], json!(["a = 1\n", "print(a + 1)"]));
        assert_eq!(cells(&scratch)[1]["execution_count"], 3);
    };
    let hunk = "@@\n a = 1\n-print(a)\n+print(a + 1)\n";
    check(
        &|scratch| Arc::new(ReplaceEdit::new(scratch.files.clone(), rules)),
        json!({"path": "a.ipynb", "edits": [{"old_text": "print(a)", "new_text": "print(a + 1)"}]}),
    );
    check(
        &|scratch| Arc::new(PatchEdit::new(scratch.files.clone(), rules)),
        json!({"path": "a.ipynb", "edits": [{"op": "update", "diff": hunk}]}),
    );
    check(
        &|scratch| Arc::new(ApplyPatchEdit::new(scratch.files.clone(), rules)),
        json!({"input": format!("*** Begin Patch\n*** Update File: a.ipynb\n{hunk}*** End Patch\n")}),
    );
}

#[test]
fn a_new_notebook_of_cells() {
    let scratch = Scratch::new(&[]);
    let text = edit_text(&scratch, "[a.ipynb]\nBOF↓# %% [markdown]\n+# Title\n+# %% [code]\n+print(1)");
    assert!(text.contains("]\nCreated a.ipynb\n+1:# %% [markdown] cell:0\n"), "{text}");
    assert_eq!(text.lines().next().unwrap(), read_header(&scratch, "a.ipynb"));
    let file: Value = serde_json::from_str(&scratch.get("a.ipynb")).unwrap();
    assert_eq!((&file["nbformat"], &file["nbformat_minor"], &file["metadata"]), (&json!(4), &json!(5), &json!({})));
    assert_eq!((&file["cells"][0]["id"], &file["cells"][1]["source"]), (&json!("cell-0"), &json!(["print(1)"])));
    let patch = PatchEdit::new(scratch.files.clone(), EditRules::default());
    let create = |path: &str, content: &str| {
        scratch.text(&patch, json!({"path": path, "edits": [{"op": "create", "diff": content}]}));
    };
    create("b.ipynb", "# %% [code]\nx");
    assert!(scratch.get("b.ipynb").starts_with("{\n \"cells\": ["));
    create("c.ipynb", FILE);
    assert_eq!(scratch.get("c.ipynb"), FILE);
}

#[test]
fn moved_and_deleted_notebooks_keep_their_bytes() {
    let scratch = Scratch::new(&[("a.ipynb", FILE)]);
    let patch = PatchEdit::new(scratch.files.clone(), EditRules::default());
    let rename = |from: &str, to: &str| {
        let text = scratch.text(&patch, json!({"path": from, "edits": [{"op": "update", "rename": to}]}));
        assert!(text.starts_with(&format!("[{to}#")) && text.contains(&format!("Moved {from} to {to}")), "{text}");
        assert_eq!(scratch.get(to), FILE);
        assert_eq!(text.lines().next().unwrap(), read_header(&scratch, to));
        assert!(!scratch.path(from).exists());
    };
    rename("a.ipynb", "b.ipynb");
    rename("b.ipynb", "b.json");
    scratch.put("a.ipynb", FILE.as_bytes());
    read_header(&scratch, "a.ipynb");
    scratch.text(&patch, json!({"path": "a.ipynb", "edits": [{"op": "delete"}]}));
    assert!(!scratch.path("a.ipynb").exists());
}

#[test]
fn the_json_itself_under_its_own_tag() {
    let scratch = Scratch::new(&[("a.ipynb", FILE), ("not.ipynb", "one\ntwo\n")]);
    let tag = omp_workspace::TextFile::parse(FILE.as_bytes()).tag();
    edit_text(&scratch, &format!("[a.ipynb#{tag}]\n5:   \"id\": \"other\","));
    assert_eq!(scratch.get("a.ipynb"), FILE.replace("\"intro\"", "\"other\""));
    edit_text(&scratch, &format!("{}\n2!", read_header(&scratch, "not.ipynb")));
    assert_eq!(scratch.get("not.ipynb"), "one\n");
}

#[test]
fn a_notebook_that_changed_since() {
    let scratch = Scratch::new(&[("a.ipynb", FILE)]);
    let header = read_header(&scratch, "a.ipynb");
    // Only hidden data changed, so the line numbers stay valid.
    scratch.put("a.ipynb", FILE.replace("\"execution_count\": 3", "\"execution_count\": 4").as_bytes());
    let text = edit_text(&scratch, &format!("{header}\n6:print(9)"));
    assert!(!text.contains("Warnings"), "{text}");
    assert_eq!(
        (&cells(&scratch)[1]["execution_count"], &cells(&scratch)[1]["source"][1]),
        (&json!(4), &json!("print(9)"))
    );
    // The edited line itself changed.
    let text = edit_text(&scratch, &format!("{header}\n6:print(10)"));
    assert!(text.starts_with("error: Stale tag for a.ipynb") && text.contains("\n*6:print(9)"), "{text}");
    // Lines above the edited line changed.
    let header = read_header(&scratch, "a.ipynb");
    scratch.put("a.ipynb", scratch.get("a.ipynb").replace("\"# Title\\n\"", "\"# Title\\n\", \"more\\n\"").as_bytes());
    let text = edit_text(&scratch, &format!("{header}\n6:print(11)"));
    assert!(text.contains("\n+7:print(11)") && text.contains("a.ipynb changed after it was read"), "{text}");
}

#[test]
fn preview_shows_cells() {
    let scratch = Scratch::new(&[("a.ipynb", FILE)]);
    let input = format!("{}\n6:print(9)\n", read_header(&scratch, "a.ipynb"));
    let view = crate::scratch::whole(&tool(&scratch), "call", &json!({"input": input})).unwrap();
    let omp_view::Block::Diff(omp_view::Diff { lines, .. }) = &view.blocks[0] else { panic!("{view:?}") };
    assert!(lines.iter().any(|line| line.text == "print(9)"), "{lines:?}");
    assert_eq!(scratch.get("a.ipynb"), FILE);
}
