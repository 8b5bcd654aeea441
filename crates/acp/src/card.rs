//! How a tool call looks in the client: its kind, where it works, and its view as content.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    Content as ShownContent, ContentBlock, Diff, ImageContent, Terminal, TerminalId, ToolCallContent, ToolCallLocation,
    ToolKind,
};
use omp_session::ToolOutput;
use omp_types::{Content, text_of};
use omp_view::{Block, DiffKind, DiffLine, View};
use serde_json::Value;

use crate::updates::text_block;

/// Text of one block that is sent; the client shows it to a person.
const MAX_TEXT: usize = 32 * 1024;
const MAX_LOCATIONS: usize = 16;

pub fn kind(tool: &str) -> ToolKind {
    match tool {
        "read" => ToolKind::Read,
        "edit" | "write" | "notebook" | "ast_edit" | "resolve" => ToolKind::Edit,
        "search" | "find" | "ast_grep" => ToolKind::Search,
        "bash" | "job" => ToolKind::Execute,
        "todo" | "checkpoint" | "rewind" | "calc" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

/// The title with the small facts beside it.
pub fn title(view: &View) -> String {
    let title = view.title.lines().next().unwrap_or_default();
    if view.notes.is_empty() { title.to_owned() } else { format!("{title} ({})", view.notes.join(", ")) }
}

/// Where a call works. `details` are those of the finished call.
pub fn locations(arguments: &Value, details: Option<&Value>, view: &View, cwd: &Path) -> Vec<ToolCallLocation> {
    let source = details.and_then(|details| details["meta"]["source"]["value"].as_str());
    let line = details.and_then(|details| details["firstChangedLine"].as_u64()).or_else(|| first_change(view));
    let named = ["path", "file_path", "notebook_path"].iter().filter_map(|key| arguments[key].as_str());
    let listed = arguments["paths"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut found: Vec<ToolCallLocation> = Vec::new();
    for typed in source.into_iter().chain(named).chain(listed).chain(edited(view)) {
        let Some((path, chosen)) = place(typed, cwd) else { continue };
        if found.len() < MAX_LOCATIONS && !found.iter().any(|known| known.path == path) {
            let line = chosen.or(line.filter(|_| found.is_empty())).and_then(|line| u32::try_from(line).ok());
            found.push(ToolCallLocation::new(path).line(line));
        }
    }
    found
}

fn first_change(view: &View) -> Option<u64> {
    view.blocks.iter().find_map(|block| match block {
        Block::Diff(lines) => {
            let changed = lines.iter().find(|line| matches!(line.kind, DiffKind::Added | DiffKind::Removed));
            changed.map(|line| line.line as u64)
        }
        _ => None,
    })
}

/// The file an edit names in its title.
fn edited(view: &View) -> Option<&str> {
    let named = view.title.strip_prefix("edit ")?;
    Some(named.split_once(" and ").map_or(named, |(first, _)| first))
}

/// A path in full, without the lines that `read` takes behind it. `None` for globs and addresses.
fn place(typed: &str, cwd: &Path) -> Option<(PathBuf, Option<u64>)> {
    let typed = typed.trim();
    if typed.is_empty() || typed.contains("://") || typed.contains(['*', '?', '[', '{', '~']) {
        return None;
    }
    let (path, line) = match typed.rsplit_once(':') {
        Some((path, lines)) if !path.is_empty() && !cwd.join(typed).exists() => {
            let digits: String = lines.chars().take_while(char::is_ascii_digit).collect();
            (path, digits.parse().ok())
        }
        _ => (typed, None),
    };
    Some((cwd.join(path), line))
}

/// What a view shows, diffs as diffs.
pub fn content(view: &View, details: Option<&Value>, cwd: &Path) -> Vec<ToolCallContent> {
    let mut parts = Vec::new();
    let source = details.and_then(|details| details["meta"]["source"]["value"].as_str());
    let mut file = source.or_else(|| edited(view)).map(|path| cwd.join(path));
    let mut blocks = view.blocks.iter().peekable();
    while let Some(block) = blocks.next() {
        match block {
            // A text right above a diff names its file.
            Block::Text(path) if matches!(blocks.peek(), Some(Block::Diff(_))) => file = Some(cwd.join(path)),
            Block::Diff(lines) => parts.extend(diffs(lines, file.as_deref().unwrap_or(cwd))),
            other => parts.push(shown(block_content(other))),
        }
    }
    parts
}

/// What a finished call says where its view shows nothing.
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

/// A file that is written whole.
pub fn written(path: PathBuf, old: Option<String>, new: &str) -> ToolCallContent {
    ToolCallContent::Diff(Diff::new(path, bounded(new)).old_text(old.map(|old| bounded(&old))))
}

/// The newest output of a running call.
pub fn running(partial: &ToolOutput) -> Vec<ToolCallContent> {
    let text = text_of(&partial.content);
    let mut start = text.len().saturating_sub(MAX_TEXT);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    vec![shown(fenced("", &text[start..]))]
}

/// A terminal of the client, which shows by itself what is printed there, also after its end.
pub fn terminal(id: TerminalId) -> ToolCallContent {
    ToolCallContent::Terminal(Terminal::new(id))
}

/// The terminal, and why the call failed, which the terminal does not show.
pub fn ended_in(id: TerminalId, output: &ToolOutput) -> Vec<ToolCallContent> {
    let text = text_of(&output.content);
    let reason = text.rsplit("\n\n").next().filter(|reason| output.is_error && !reason.trim().is_empty());
    std::iter::once(terminal(id)).chain(reason.map(|reason| shown(text_block(bounded(reason))))).collect()
}

/// What the model is told.
pub fn raw(output: &ToolOutput) -> Value {
    serde_json::json!({"output": bounded(&text_of(&output.content))})
}

/// One diff for each hunk, with the lines around it.
fn diffs(lines: &[DiffLine], path: &Path) -> Vec<ToolCallContent> {
    let hunks = lines.split(|line| line.kind == DiffKind::Gap).filter(|hunk| !hunk.is_empty());
    let side = |hunk: &[DiffLine], other: DiffKind| -> String {
        hunk.iter().filter(|line| line.kind != other).map(|line| format!("{}\n", line.text)).collect()
    };
    hunks
        .map(|hunk| {
            let old = side(hunk, DiffKind::Added);
            let diff = Diff::new(path, side(hunk, DiffKind::Removed));
            ToolCallContent::Diff(diff.old_text(Some(old).filter(|old| !old.is_empty())))
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
    ContentBlock::Image(ImageContent::new(data, mime_type))
}

/// Between fences that are longer than any in the text.
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
    ToolCallContent::Content(ShownContent::new(block))
}
