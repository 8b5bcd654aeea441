//! Draws the rows of the editor: the prompt, the text around the cursor, and arrows where rows are hidden.

use omp_stdx::display_width;
use unicode_segmentation::UnicodeSegmentation;

use super::draft::EditorDraft;
use super::layout::{EditorRow, cells};
use crate::component::Space;
use crate::line::Line;
use crate::style::{Attrs, Style};
use crate::theme::{Symbol, Theme, Token};
use crate::widgets::{column, one_line};

const LEAST_ROWS: usize = 3;

#[derive(Clone, Debug)]
pub(super) struct EditorLook {
    pub prompt: String,
    pub prompt_token: Token,
    pub placeholder: String,
    pub max_rows: Option<usize>,
    /// The selection of visual mode.
    pub selected: Option<std::ops::Range<usize>>,
}

impl Default for EditorLook {
    fn default() -> Self {
        Self {
            prompt: "> ".to_owned(),
            prompt_token: Token::Accent,
            placeholder: String::new(),
            max_rows: None,
            selected: None,
        }
    }
}

/// The part of the text that was shown last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShownRows {
    top: usize,
    rows: usize,
}

impl ShownRows {
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Scrolls only as far as the cursor requires.
    fn follow(&mut self, cursor_row: usize, all_rows: usize, most: usize) {
        self.rows = all_rows.min(most);
        let last_top = all_rows - self.rows;
        let least = (cursor_row + 1).saturating_sub(self.rows);
        self.top = self.top.clamp(least, cursor_row.max(least)).min(last_top);
    }
}

pub(super) fn draw(draft: &mut EditorDraft, look: &EditorLook, view: &mut ShownRows, space: &Space<'_>) -> Vec<Line> {
    let sign = display_width::width(&look.prompt);
    let gutter = if space.width >= sign + 2 { sign } else { 0 };
    // One column is reserved for the cursor behind a full row.
    draft.buffer_mut().fit(space.width.saturating_sub(gutter + 1));
    let (buffer, layout) = (draft.buffer(), draft.buffer().layout());
    let most = look.max_rows.unwrap_or_else(|| (space.height * 2 / 5).max(LEAST_ROWS)).min(space.height.max(1));
    let cursor_row = layout.row_at(buffer.cursor());
    view.follow(cursor_row, layout.row_count(), most);
    let mut lines = Vec::with_capacity(view.rows);
    for row in view.top..view.top + view.rows {
        let mut line = Line::new();
        if gutter > 0 {
            push_gutter(&mut line, row, view, layout.row_count(), look, space.theme);
        }
        push_row(&mut line, draft, &layout.row(row), look.selected.as_ref(), space.theme);
        if space.focused && row == cursor_row {
            let column = gutter + layout.column(buffer.text(), buffer.cursor());
            line.cursor = Some(column.min(space.width.saturating_sub(1)));
        }
        lines.push(line);
    }
    if buffer.text().is_empty() && !look.placeholder.is_empty() {
        let room = space.width.saturating_sub(gutter);
        let text = display_width::ellipsize(&one_line(&look.placeholder), room).into_owned();
        lines[0].push(text, space.theme.fg(Token::Dim));
    }
    lines
}

/// Adds the prompt to the first row, or arrows if rows above or below are hidden.
fn push_gutter(line: &mut Line, row: usize, view: &ShownRows, all_rows: usize, look: &EditorLook, theme: &Theme) {
    let width = display_width::width(&look.prompt);
    let hidden_above = row == view.top && row > 0;
    let hidden_below = row + 1 == view.top + view.rows && row + 1 < all_rows;
    let (up, down) = (theme.symbols().get(Symbol::IconInput), theme.symbols().get(Symbol::IconOutput));
    let (sign, token) = match (hidden_above, hidden_below) {
        (true, _) => (up, Token::Muted),
        (false, true) if row > 0 => (down, Token::Muted),
        _ if row == 0 => (look.prompt.as_str(), look.prompt_token),
        _ => ("", Token::Muted),
    };
    line.push(column(sign, width), theme.fg(token));
}

fn push_row(
    line: &mut Line,
    draft: &EditorDraft,
    row: &EditorRow,
    selected: Option<&std::ops::Range<usize>>,
    theme: &Theme,
) {
    let mut at = row.range.start;
    let markers = draft.buffer().markers();
    let first = markers.partition_point(|marker| marker.range.end <= at);
    let mut push = |range: std::ops::Range<usize>, style: Style| {
        let chosen = selected.cloned().unwrap_or_default();
        let (from, to) = (chosen.start.clamp(range.start, range.end), chosen.end.clamp(range.start, range.end));
        push_text(line, draft, range.start..from, style);
        push_text(line, draft, from..to, style.with(Attrs::REVERSE));
        push_text(line, draft, to..range.end, style);
    };
    for marker in markers[first..].iter().take_while(|marker| marker.range.start < row.range.end) {
        push(at..marker.range.start.max(at), Style::PLAIN);
        let end = marker.range.end.min(row.range.end);
        push(marker.range.start.max(at)..end, theme.fg(Token::Accent));
        at = end;
    }
    push(at..row.range.end, Style::PLAIN);
}

fn push_text(line: &mut Line, draft: &EditorDraft, range: std::ops::Range<usize>, style: Style) {
    let text = &draft.buffer().text()[range];
    if text.is_empty() {
        return;
    }
    if !text.contains('\t') {
        line.push(text.to_owned(), style);
        return;
    }
    let width = draft.buffer().layout().width();
    let mut shown = String::with_capacity(text.len() + 8);
    for grapheme in text.graphemes(true) {
        match grapheme {
            "\t" => shown.push_str(&" ".repeat(cells(grapheme, width))),
            other => shown.push_str(other),
        }
    }
    line.push(shown, style);
}
