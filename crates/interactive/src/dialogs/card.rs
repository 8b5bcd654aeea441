//! What a call would do, as rows.

use std::borrow::Cow;

use omp_stdx::sanitize;
use omp_tui::diff::draw_diff;
use omp_tui::highlight::highlight;
use omp_tui::text::split;
use omp_tui::{Line, Space, Style, Token};
use omp_view::{Block, View};
use serde_json::Value;

use super::sheet::wrapped;

/// All of it: who approves something must be able to see the whole.
pub(super) fn view_rows(view: &View, space: &Space<'_>) -> Vec<Line> {
    let theme = space.theme;
    let mut rows = wrapped(&visible(&view.title), space.width, theme.fg(Token::ToolTitle).bold());
    let notes = view.notes.join(" · ");
    rows.extend(wrapped(&notes, space.width, theme.fg(Token::Muted)));
    rows.extend(view.blocks.iter().flat_map(|block| block_rows(block, space)));
    rows
}

fn block_rows(block: &Block, space: &Space<'_>) -> Vec<Line> {
    let plain = space.theme.fg(Token::ToolOutput);
    let muted = space.theme.fg(Token::Muted);
    match block {
        Block::Text(text) => wrapped(&visible(text), space.width, plain),
        Block::Code { text, language, .. } => {
            let rows = highlight(&visible(text), language.as_deref(), space.theme);
            rows.iter().flat_map(|row| split(row, space.width)).collect()
        }
        Block::Diff(lines) => draw_diff(lines, space),
        Block::Lines { lines, hidden } => {
            let mut rows: Vec<_> = lines.iter().flat_map(|line| wrapped(&visible(line), space.width, plain)).collect();
            if *hidden > 0 {
                rows.push(Line::styled(format!("… {hidden} more"), muted));
            }
            rows
        }
        Block::Table { header, rows } => {
            let lines = std::iter::once(header).chain(rows).map(|cells| cells.join(" | "));
            lines.flat_map(|line| wrapped(&line, space.width, plain)).collect()
        }
        Block::Image { mime_type, .. } => wrapped(&format!("[{mime_type}]"), space.width, muted),
        Block::Progress { label, .. } => wrapped(label, space.width, muted),
    }
}

/// The arguments themselves, where the tool has no view of them: one below the other, texts as they are.
pub(super) fn argument_rows(arguments: &Value, space: &Space<'_>) -> Vec<Line> {
    let style = space.theme.fg(Token::ToolOutput);
    let Value::Object(fields) = arguments else { return wrapped(&arguments.to_string(), space.width, style) };
    fields.iter().flat_map(|(name, value)| argument(name, value, space.width, style)).collect()
}

fn argument(name: &str, value: &Value, width: usize, style: Style) -> Vec<Line> {
    let text = match value {
        Value::String(text) if text.contains('\n') => format!("{name}:\n{text}"),
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    };
    wrapped(&visible(&text), width, style)
}

/// Control characters as their pictures, and what takes no space by its number: what runs is what was seen.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |char: char| char.is_control() && !matches!(char, '\n' | '\t');
    if !text.contains(hidden) {
        return sanitize::reveal_invisible(text);
    }
    let picture = |char: char| match u32::from(char) {
        code @ 0..0x20 if hidden(char) => char::from_u32(0x2400 + code).unwrap_or('␣'),
        0x7f => '␡',
        0x80..0xa0 => '␣',
        _ => char,
    };
    let shown: String = text.chars().map(picture).collect();
    Cow::Owned(sanitize::reveal_invisible(&shown).into_owned())
}
