//! Tests `render_mermaid` as the agent loop calls it.

use serde_json::json;

use super::*;
use crate::scratch::Scratch;

fn draw(source: &str, ascii: bool) -> String {
    Scratch::new(&[]).text(&RenderMermaid::default(), json!({"mermaid": source, "ascii": ascii}))
}

#[test]
fn a_flowchart() {
    let drawn = draw("```mermaid\ngraph LR\nA[Start] --> B[End]\n```", false);
    assert!(drawn.contains("Start") && drawn.contains("End") && drawn.contains('─'), "{drawn}");
    let ascii = draw("graph LR\nA[Start] --> B[End]", true);
    assert!(ascii.is_ascii() && ascii.contains("Start"), "{ascii}");
    assert!(draw("sequenceDiagram\nAda->>Bob: hello", false).contains("hello"));
}

#[test]
fn what_cannot_be_drawn() {
    for (source, want) in [
        ("", "empty or blank input"),
        ("nonsense here", "unsupported diagram type: 'nonsense'"),
        (&"x".repeat(20 * 1024), "the diagram has 20KB of source; at most 16KB are drawn"),
    ] {
        let got = draw(source, false);
        assert!(got.starts_with(&format!("error: {want}")), "{got}");
    }
}
