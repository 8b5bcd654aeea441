//! How a tool call is shown in the client: its kind, its locations, and its view as content.

use std::path::{Path, PathBuf};

use omp_session::ToolOutput;
use omp_types::{Content, text_of};
use omp_view::{Block, CallKind, DiffKind, DiffLine, View};
use serde_json::Value;

use crate::protocol::{ContentBlock, ToolCallContent, ToolCallLocation, ToolKind};
use crate::updates::text_block;

/// Caps the text sent for one block.
const MAX_TEXT: usize = 32 * 1024;
const MAX_LOCATIONS: usize = 16;

pub fn kind(kind: CallKind) -> ToolKind {
    match kind {
        CallKind::Read => ToolKind::Read,
        CallKind::Edit => ToolKind::Edit,
        CallKind::Search => ToolKind::Search,
        CallKind::Execute => ToolKind::Execute,
        CallKind::Think => ToolKind::Think,
        CallKind::Other => ToolKind::Other,
    }
}

/// Returns the title with its facts.
pub fn title(view: &View) -> String {
    let title = view.title.lines().next().unwrap_or_default();
    if view.notes.is_empty() { title.to_owned() } else { format!("{title} ({})", view.notes.join(", ")) }
}

/// Returns the paths that a call accesses.
pub fn locations(view: &View, cwd: &Path) -> Vec<ToolCallLocation> {
    let mut found: Vec<ToolCallLocation> = Vec::new();
    for file in &view.files {
        let path = cwd.join(&file.path);
        if found.len() < MAX_LOCATIONS && !found.iter().any(|known| known.path == path) {
            let line = file.line.and_then(|line| u32::try_from(line).ok());
            found.push(ToolCallLocation { path, line });
        }
    }
    found
}

/// Converts a view to content, with diffs as diffs.
pub fn content(view: &View, cwd: &Path) -> Vec<ToolCallContent> {
    let mut parts = Vec::new();
    for block in &view.blocks {
        match block {
            Block::Diff(diff) => {
                let path = diff.path.as_ref().map_or_else(|| cwd.to_owned(), |path| cwd.join(path));
                parts.extend(diffs(&diff.lines, &path));
            }
            other => parts.push(shown(block_content(other))),
        }
    }
    parts
}

/// Returns path and new text if the view is that of a whole written file.
pub fn whole_file(view: &View) -> Option<(&str, &str)> {
    let path = view.whole_file.as_deref()?;
    view.blocks.iter().find_map(|block| match block {
        Block::Code { text, .. } => Some((path, text.as_str())),
        _ => None,
    })
}

/// Returns the output of a finished call whose view is empty.
pub fn output(output: &ToolOutput) -> Vec<ToolCallContent> {
    let text = text_of(&output.content);
    let text = Some(text).filter(|text| !text.trim().is_empty());
    let said = text.map(|text| if output.is_error { text_block(bounded(&text)) } else { fenced("", &text) });
    let images = output.content.iter().filter_map(|block| match block {
        Content::Image(image) => Some(image_block(&image.data, &image.mime_type)),
        _ => None,
    });
    said.into_iter().chain(images).map(shown).collect()
}

/// Returns the diff of a file that is written as a whole.
pub fn written(path: PathBuf, old: Option<String>, new: &str) -> ToolCallContent {
    ToolCallContent::Diff { path, old_text: old.map(|old| bounded(&old)), new_text: bounded(new) }
}

/// Returns the newest output of a running call.
pub fn running(partial: &ToolOutput) -> Vec<ToolCallContent> {
    let text = text_of(&partial.content);
    let mut start = text.len().saturating_sub(MAX_TEXT);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    vec![shown(fenced("", &text[start..]))]
}

/// Embeds a terminal of the client, which shows its output even after it has ended.
pub fn terminal(id: String) -> ToolCallContent {
    ToolCallContent::Terminal { terminal_id: id }
}

/// Embeds the terminal, and the error of the call, which the terminal does not show.
pub fn ended_in(id: String, output: &ToolOutput) -> Vec<ToolCallContent> {
    let text = text_of(&output.content);
    let reason = text.rsplit("\n\n").next().filter(|reason| output.is_error && !reason.trim().is_empty());
    std::iter::once(terminal(id)).chain(reason.map(|reason| shown(text_block(bounded(reason))))).collect()
}

/// Returns the result that the model receives.
pub fn raw(output: &ToolOutput) -> Value {
    serde_json::json!({"output": bounded(&text_of(&output.content))})
}

/// Returns one diff per hunk, with its context lines.
fn diffs(lines: &[DiffLine], path: &Path) -> Vec<ToolCallContent> {
    let hunks = lines.split(|line| line.kind == DiffKind::Gap).filter(|hunk| !hunk.is_empty());
    let side = |hunk: &[DiffLine], other: DiffKind| -> String {
        hunk.iter().filter(|line| line.kind != other).map(|line| format!("{}\n", line.text)).collect()
    };
    hunks
        .map(|hunk| {
            let old = side(hunk, DiffKind::Added);
            ToolCallContent::Diff {
                path: path.to_owned(),
                old_text: Some(old).filter(|old| !old.is_empty()),
                new_text: side(hunk, DiffKind::Removed),
            }
        })
        .collect()
}

fn block_content(block: &Block) -> ContentBlock {
    match block {
        Block::Text(text) => text_block(bounded(text)),
        Block::Code { language, text, .. } => fenced(language.as_deref().unwrap_or_default(), text),
        Block::Lines { lines, hidden } => {
            let more = if *hidden > 0 { format!("\n… {hidden} more") } else { String::new() };
            fenced("", &format!("{}{more}", lines.join("\n")))
        }
        Block::Table { header, rows } => {
            let lines = std::iter::once(header).chain(rows).map(|row| row.join(" | "));
            fenced("", &lines.collect::<Vec<_>>().join("\n"))
        }
        Block::Image { mime_type, data } => image_block(data, mime_type),
        Block::Progress { done, total, label } => {
            let of = total.map(|total| format!("/{total}")).unwrap_or_default();
            text_block(format!("{label} {done}{of}"))
        }
        Block::Diff(_) => text_block(""),
    }
}

fn image_block(data: &str, mime_type: &str) -> ContentBlock {
    ContentBlock::Image { data: data.to_owned(), mime_type: mime_type.to_owned() }
}

/// Uses a fence that is longer than any in the text.
fn fenced(language: &str, text: &str) -> ContentBlock {
    let text = bounded(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    text_block(format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n')))
}

fn bounded(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    let mut end = MAX_TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\n… {} more bytes", &text[..end], text.len() - end)
}

fn shown(block: ContentBlock) -> ToolCallContent {
    ToolCallContent::Content { content: block }
}
