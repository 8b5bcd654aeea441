//! Short form of cell outputs: text is cut, images and other data are only named.

use serde_json::Value;

use super::{NotebookFile, joined};

/// Limit on lines for all outputs of one cell.
const MAX_LINES: usize = 20;
const MAX_LINE: usize = 200;

/// Returns each cell's outputs as text, with the number of omitted lines; empty for a cell without outputs.
pub fn shown_outputs(notebook: &NotebookFile) -> Vec<String> {
    notebook.cells.iter().map(|cell| shorten(&cell["outputs"])).collect()
}

fn shorten(outputs: &Value) -> String {
    let texts: Vec<String> = outputs.as_array().into_iter().flatten().map(output_text).collect();
    let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
    let mut shown: Vec<String> = lines.iter().take(MAX_LINES).map(|line| cut(line)).collect();
    if lines.len() > MAX_LINES {
        shown.push(format!("[{} more lines of output]", lines.len() - MAX_LINES));
    }
    shown.join("\n")
}

fn output_text(output: &Value) -> String {
    match output["output_type"].as_str() {
        Some("stream") => joined(&output["text"]),
        Some("error") => {
            format!(
                "{}: {}",
                output["ename"].as_str().unwrap_or("error"),
                output["evalue"].as_str().unwrap_or_default()
            )
        }
        _ => {
            let data = output["data"].as_object();
            let plain = data.and_then(|data| data.get("text/plain")).map(joined);
            let others = data.into_iter().flatten().map(|(kind, _)| kind.as_str()).filter(|kind| *kind != "text/plain");
            let others: Vec<String> = others.map(|kind| format!("[{kind}]")).collect();
            plain.into_iter().chain(others).collect::<Vec<_>>().join("\n")
        }
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}… (+{} characters)", &line[..end], line[end..].chars().count()),
    }
}
