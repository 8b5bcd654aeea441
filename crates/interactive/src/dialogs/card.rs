//! Draws what a call would do.

use omp_stdx::sanitize::visible;
use omp_tui::diff::draw_diff;
use omp_tui::highlight::highlight;
use omp_tui::text::{split, wrap};
use omp_tui::{Line, Space, Style, Token};
use omp_view::{Block, View};
use serde_json::Value;

use super::sheet::wrapped;

/// Draws the whole view, because the user must be able to see everything before approving it.
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
        Block::Diff(diff) => {
            let heading = diff.heading().map(|path| wrapped(&visible(path), space.width, plain));
            heading.into_iter().flatten().chain(draw_diff(diff, space)).collect()
        }
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

/// Draws the arguments, one below the other, if the tool has no view of them.
pub(super) fn argument_rows(arguments: &Value, space: &Space<'_>) -> Vec<Line> {
    let style = space.theme.fg(Token::ToolOutput);
    let Value::Object(fields) = arguments else { return wrapped(&arguments.to_string(), space.width, style) };
    fields.iter().flat_map(|(name, value)| argument(name, value, space.width, style)).collect()
}

/// Draws the command line, then the other arguments.
pub(super) fn command_rows(command: &str, arguments: &Value, space: &Space<'_>) -> Vec<Line> {
    let muted = space.theme.fg(Token::Muted);
    let lines = highlight(&visible(command.trim_end()), Some("sh"), space.theme);
    let mut rows: Vec<_> = lines.iter().flat_map(|line| wrap(line, space.width)).collect();
    let others = arguments.as_object().into_iter().flatten().filter(|(_, value)| value.as_str() != Some(command));
    rows.extend(others.flat_map(|(name, value)| argument(name, value, space.width, muted)));
    rows
}

fn argument(name: &str, value: &Value, width: usize, style: Style) -> Vec<Line> {
    let text = match value {
        Value::String(text) if text.contains('\n') => format!("{name}:\n{text}"),
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    };
    wrapped(&visible(&text), width, style)
}
