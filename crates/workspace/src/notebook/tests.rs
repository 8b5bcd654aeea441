//! Tests of converting notebooks to text and back without loss.

use proptest::prelude::*;

use super::*;

fn sample() -> NotebookFile {
    let text = json!({
        "cells": [
            {"cell_type": "markdown", "id": "intro", "metadata": {"tags": ["x"]}, "source": ["# Title\n", "text"]},
            {"cell_type": "code", "execution_count": 3, "id": "cell-2", "metadata": {}, "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
                {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": []}
            ], "source": "print(1)\n", "unknown": {"kept": 1.5}}
        ],
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4, "nbformat_minor": 5, "also_unknown": []
    });
    NotebookFile::parse(format!("{text}\n").as_bytes()).unwrap()
}

#[test]
fn cells_as_text() {
    insta::assert_snapshot!(sample().to_text(), @r"
    # %% [markdown] cell:0
    # Title
    text
    # %% [code] cell:1
    print(1)
    ");
    insta::assert_snapshot!(shown_outputs(&sample())[1], @r"
    one
    two
    <Figure>
    [image/png]
    ValueError: bad
    ");
}

#[test]
fn long_outputs_are_cut_with_a_count() {
    let lines = "x\n".repeat(50);
    let long = "y".repeat(500);
    let text = json!({"cells": [
        {"cell_type": "code", "source": "", "outputs": [{"output_type": "stream", "text": lines}]},
        {"cell_type": "code", "source": "", "outputs": [{"output_type": "stream", "text": long}]},
    ]});
    let shown = shown_outputs(&NotebookFile::parse(text.to_string().as_bytes()).unwrap());
    assert!(shown[0].ends_with("x\n[30 more lines of output]"));
    assert!(shown[1].ends_with("y… (+300 characters)"));
}

#[test]
fn actions_change_one_cell_and_nothing_else() {
    let mut notebook = sample();
    notebook.edit(1, "a\nb\n").unwrap();
    notebook.insert(1, CellKind::Code, "new").unwrap();
    assert_eq!(notebook.insert(3, CellKind::Markdown, "").unwrap().id.as_deref(), Some("cell-4"));
    assert_eq!(notebook.delete(0).unwrap().source, "# Title\ntext");
    let was = sample();
    let mut edited = was.cells[1].clone();
    edited["source"] = json!(["a\n", "b\n"]);
    let new = json!({"cell_type": "code", "execution_count": null, "id": "cell-3", "metadata": {}, "outputs": [], "source": ["new"]});
    let last = json!({"cell_type": "markdown", "id": "cell-4", "metadata": {}, "source": []});
    assert_eq!(notebook.cells, [new, edited, last]);
    assert_eq!(notebook.root, was.root);
    let text = String::from_utf8(notebook.to_bytes()).unwrap();
    assert!(text.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"code\"") && text.ends_with("}\n"), "{text}");
    assert_eq!(NotebookFile::parse(text.as_bytes()).unwrap(), notebook);
}

#[test]
fn an_edited_text_goes_back_over_its_cells() {
    let notebook = sample();
    let edited = "# %% [code] cell:1\nprint(2)\n# %% [raw]\nnew\n\n# %% [code] cell:0\nnow code\n";
    let changed = notebook.with_text(edited).unwrap();
    let cells: Vec<Cell> = changed.cells().collect();
    assert_eq!(cells[0].source, "print(2)");
    assert_eq!((cells[1].kind, cells[1].source.as_str()), (CellKind::Raw, "new\n"));
    assert_eq!((cells[2].kind, cells[2].id.as_deref()), (CellKind::Code, Some("intro")));
    assert_eq!(changed.cells[0]["unknown"]["kept"], 1.5);
    assert_eq!(changed.cells[0]["outputs"], notebook.cells[1]["outputs"]);
    assert_eq!(changed.cells[2]["outputs"], json!([]));
    for (text, want) in [
        ("print(1)", NotebookError::TextBeforeCells),
        ("# %% [code] cell:9\n", NotebookError::NoSuchCell { index: 9, count: 2 }),
        ("# %% [code] cell:0\n# %% [code] cell:0\n", NotebookError::CellTwice(0)),
        ("# %% [raw]\n# %% [code] cell:x \n", NotebookError::BadMarker("# %% [code] cell:x".into())),
    ] {
        assert_eq!(notebook.with_text(text), Err(want), "{text}");
    }
}

/// Layouts and spellings that no JSON library would reproduce.
#[test]
fn what_is_not_changed_keeps_its_bytes() {
    for (name, file) in [
        (
            "four blanks",
            "\u{feff}{\n    \"x\": 1.0e-05,\n    \"cells\": [\n        {\"cell_type\": \"raw\",\"n\":1.50,\"source\": \"\\u00e9\"},\n        {\n            \"source\": \"old\"\n        }\n    ]\n}",
        ),
        ("tabs", "{\r\n\t\"cells\": [\r\n\t\t{\"n\":1E2},\r\n\t\t{\r\n\t\t\t\"source\": \"old\"\r\n\t\t}\r\n\t] }\r\n"),
        ("one line", "{\"cells\":[{\"n\":1E2 },{\"source\":\"old\"}],  \"x\":{}}"),
    ] {
        let mut notebook = NotebookFile::parse(file.as_bytes()).unwrap();
        notebook.edit(1, "new").unwrap();
        let written = String::from_utf8(notebook.to_bytes_over(file.as_bytes())).unwrap();
        let squeezed: String = written.split_whitespace().collect();
        assert!(squeezed.contains("{\"source\":[\"new\"]}"), "{name}: {written}");
        let old = file.find("\"old\"").unwrap();
        assert_eq!(written[..old], file[..old], "{name}");
        let tail = &file[old + 5..];
        assert!(written.ends_with(tail), "{name}: {written}");
        notebook.delete(1).unwrap();
        notebook.delete(0).unwrap();
        assert_eq!(NotebookFile::parse(&notebook.to_bytes_over(file.as_bytes())).unwrap(), notebook, "{name}");
    }
}

#[test]
fn what_is_no_notebook() {
    for (text, want) in [
        ("{", "it is not valid JSON"),
        ("[]", "it has no list of cells"),
        ("{\"cells\": 1}", "it has no list of cells"),
        ("{\"cells\": [1]}", "it has no list of cells"),
    ] {
        assert!(NotebookFile::parse(text.as_bytes()).unwrap_err().to_string().starts_with(want), "{text}");
    }
}

proptest! {
    #[test]
    fn text_and_back_is_the_same_notebook(
        sources in proptest::collection::vec("(# %{1,3} \\[(code|raw)\\]( cell:[0-9]?)?|[a%# ]{0,4}|\n){0,6}", 0..5),
        code in any::<bool>(),
    ) {
        let kind = if code { "code" } else { "markdown" };
        let cells: Vec<Value> = sources.iter().map(|source| json!({
            "cell_type": kind, "metadata": {}, "source": source.split_inclusive('\n').collect::<Vec<_>>(),
        })).collect();
        let notebook = NotebookFile::parse(json!({"cells": cells, "x": 1}).to_string().as_bytes()).unwrap();
        prop_assert_eq!(notebook.with_text(&notebook.to_text()).unwrap(), notebook.clone());
        let mut changed = notebook.clone();
        changed.insert(sources.len() / 2, CellKind::Raw, "x").unwrap();
        for file in [notebook.to_bytes(), serde_json::to_vec_pretty(&json!({"cells": cells, "x": 1})).unwrap()] {
            // A file without cells does not show the layout of cells.
            prop_assert!(sources.is_empty() || notebook.to_bytes_over(&file) == file);
            prop_assert_eq!(NotebookFile::parse(&changed.to_bytes_over(&file)).unwrap(), changed.clone());
        }
    }
}
