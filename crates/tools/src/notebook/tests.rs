//! Tests `notebook` as the agent loop calls it.

use serde_json::{Value, json};

use super::*;
use crate::scratch::Scratch;

fn sample() -> Scratch {
    let notebook = json!({
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
            {"cell_type": "code", "execution_count": 2, "metadata": {"x": 1}, "outputs": [{"output_type": "stream"}], "source": "old"},
        ],
        "metadata": {"kernel": "k"}, "nbformat": 4, "nbformat_minor": 4
    });
    Scratch::new(&[("a.ipynb", &notebook.to_string()), ("bad.ipynb", "{"), ("none.ipynb", "{}"), ("a.txt", "{}")])
}

fn call(scratch: &Scratch, arguments: Value) -> String {
    scratch.text(&Notebook { files: scratch.files.clone() }, arguments)
}

fn saved(scratch: &Scratch) -> Value {
    serde_json::from_str(&scratch.get("a.ipynb")).unwrap()
}

#[test]
fn cells_change_and_the_rest_stays() {
    let scratch = sample();
    let edit = json!({"action": "edit", "notebook_path": "a.ipynb", "cell_index": 1, "content": "a\nb\n"});
    assert_eq!(call(&scratch, edit), "Replaced code cell 1 in a.ipynb (2 cells)");
    let insert = json!({"action": "insert", "notebook_path": "a.ipynb", "cell_index": 2, "content": "text", "cell_type": "markdown"});
    assert_eq!(call(&scratch, insert), "Inserted markdown cell 2 in a.ipynb (3 cells)");
    let delete = json!({"action": "delete", "notebook_path": "a.ipynb", "cell_index": 0});
    assert_eq!(call(&scratch, delete), "Deleted markdown cell 0 in a.ipynb (2 cells)");
    let want = json!({
        "cells": [
            {"cell_type": "code", "execution_count": 2, "metadata": {"x": 1}, "outputs": [{"output_type": "stream"}], "source": ["a\n", "b\n"]},
            {"cell_type": "markdown", "metadata": {}, "source": ["text"]},
        ],
        "metadata": {"kernel": "k"}, "nbformat": 4, "nbformat_minor": 4
    });
    assert_eq!(saved(&scratch), want);
}

#[test]
fn cells_that_are_not_changed_keep_their_bytes() {
    // A layout and number format that no JSON library would write.
    let first = "{\"cell_type\":\"code\",   \"n\":1.50e-05, \"outputs\":[],\"source\":\"\\u00e9\"}";
    let file = |second: &str| format!("{{ \"x\": 1E2,\n\t\"cells\": [\n\t\t{first}{second}\n\t] }}\r\n");
    let old = ",\n\t\t{\"cell_type\":\"raw\",\"source\":[\"old\"]}";
    let scratch = Scratch::new(&[("a.ipynb", &file(old))]);
    let edit = json!({"action": "edit", "notebook_path": "a.ipynb", "cell_index": 1, "content": "new"});
    call(&scratch, edit);
    let new = ",\n\t\t{\n\t\t\t\"cell_type\": \"raw\",\n\t\t\t\"source\": [\n\t\t\t\t\"new\"\n\t\t\t]\n\t\t}";
    assert_eq!(scratch.get("a.ipynb"), file(new));
    call(&scratch, json!({"action": "delete", "notebook_path": "a.ipynb", "cell_index": 1}));
    assert_eq!(scratch.get("a.ipynb"), file(""));
}

#[test]
fn the_text_of_the_cells_is_what_was_seen() {
    let scratch = sample();
    let output = scratch.call(
        &Notebook { files: scratch.files.clone() },
        json!({"action": "edit", "notebook_path": "a.ipynb", "cell_index": 1, "content": "a\nb"}),
    );
    assert_eq!(output.unwrap().details.unwrap()["cellSource"], json!(["a\n", "b"]));
    let text = "# %% [markdown] cell:0\n# Title\n# %% [code] cell:1\na\nb\n";
    let seen = scratch.files.last_seen(&scratch.path("a.ipynb"));
    assert_eq!(seen, Some(scratch.files.record(&scratch.path("a.ipynb"), &TextFile::parse(text.as_bytes()))));
}

#[test]
fn refusals() {
    let scratch = sample();
    let before = scratch.get("a.ipynb");
    for (action, path, index, content, want) in [
        ("edit", "no.ipynb", 0, Some("x"), "error: File not found: no.ipynb"),
        ("edit", "bad.ipynb", 0, Some("x"), "error: bad.ipynb: it is not valid JSON"),
        ("edit", "none.ipynb", 0, Some("x"), "error: none.ipynb: it has no list of cells"),
        ("edit", "a.txt", 0, Some("x"), "error: a.txt is not a notebook"),
        ("edit", "a.ipynb", 2, Some("x"), "error: a.ipynb: cell 2 does not exist; the notebook has 2 cells"),
        ("delete", "a.ipynb", 2, None, "error: a.ipynb: cell 2 does not exist"),
        ("insert", "a.ipynb", 3, Some("x"), "error: a.ipynb: a cell cannot be inserted at 3"),
        ("edit", "a.ipynb", 0, None, "error: `edit` needs `content`"),
        ("insert", "a.ipynb", 0, None, "error: `insert` needs `content`"),
    ] {
        let text =
            call(&scratch, json!({"action": action, "notebook_path": path, "cell_index": index, "content": content}));
        assert!(text.starts_with(want), "{action} {path} {index}: {text}");
    }
    let wrong = json!({"action": "run", "notebook_path": "a.ipynb", "cell_index": 0});
    assert!(call(&scratch, wrong).contains("Invalid arguments for `notebook`"));
    assert_eq!(scratch.get("a.ipynb"), before);
}

#[test]
fn views() {
    let scratch = sample();
    let arguments = json!({"action": "delete", "notebook_path": "a.ipynb", "cell_index": 0});
    let view = scratch.view(&Notebook { files: scratch.files.clone() }, arguments);
    assert_eq!(view.title, "notebook delete a.ipynb cell 0");
    assert_eq!(view.notes, ["markdown", "1 cells"]);
}
