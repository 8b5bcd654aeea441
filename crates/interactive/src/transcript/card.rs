//! Renders a view as rows: the title with its facts, and the content below it, shortened unless expanded.

use omp_stdx::display_width::ellipsize;
use omp_stdx::sanitize;
use omp_stdx::truncate::rows_shown;
use omp_tui::diff::draw_diff_head;
use omp_tui::highlight::highlight;
use omp_tui::text::{clip, from_ansi, wrap, wrap_text};
use omp_tui::{Line, Space, Span, Style, Token};
use omp_view::{Block, Keep, Status, View};

/// Caps the rows of one block while collapsed.
const SHORT: usize = 8;
const SHORT_DIFF: usize = 24;
/// Caps the rows of one block while expanded.
const LONG: usize = 2_000;

/// Draws the title in one row.
pub fn title(view: &View, space: &Space<'_>) -> Line {
    clip(titled(view, space, Some(space.width)), space.width)
}

/// Draws the title in as many rows as it needs.
pub fn title_rows(view: &View, space: &Space<'_>) -> Vec<Line> {
    wrap(&titled(view, space, None), space.width)
}

/// Draws the title with its notes. In a row of limited width the title is shortened rather than the notes, which say how the
/// call ended; but it keeps a third.
fn titled(view: &View, space: &Space<'_>, width: Option<usize>) -> Line {
    let theme = space.theme;
    let (sign, token) = match view.status {
        Status::Running => ("● ", Token::Accent),
        Status::Done => ("✓ ", Token::Success),
        Status::Failed => ("✗ ", Token::Error),
    };
    let mut notes = Line::new();
    for (at, note) in view.notes.iter().enumerate() {
        // The first note of a failed call says how it failed.
        let token = if at == 0 && view.status == Status::Failed { Token::Error } else { Token::Muted };
        notes.push(if at == 0 { "  " } else { " · " }, theme.fg(Token::Muted));
        notes.push(plain(note), theme.fg(token));
    }
    let text = plain(view.title.lines().next().unwrap_or_default());
    let room = width.map(|width| width.saturating_sub(notes.width() + 2).max(width / 3));
    let text = room.map_or_else(|| text.clone(), |room| ellipsize(&text, room).into_owned());
    let mut line = Line::styled(sign, theme.fg(token)).with(text, theme.fg(Token::ToolTitle).bold());
    line.spans.extend(notes.spans);
    line
}

/// Cleans text of a call for use in a row: no control sequences, nothing invisible.
fn plain(text: &str) -> String {
    sanitize::reveal_invisible(&sanitize::strip_control(text)).replace(['\n', '\t'], " ")
}

/// Draws the rows below the title.
pub fn body(view: &View, space: &Space<'_>, expanded: bool, keep: Keep) -> Vec<Line> {
    if view.shown_beside && !expanded {
        return Vec::new();
    }
    let inner = space.narrower(2);
    view.blocks.iter().flat_map(|block| block_rows(block, &inner, expanded, keep)).collect()
}

/// Draws output of a command or an error, which may contain color sequences.
pub fn output(text: &str, space: &Space<'_>, style: Style, expanded: bool, keep: Keep) -> Vec<Line> {
    let inner = space.narrower(2);
    let rows = printed(text, style, inner.width);
    cut(rows, if expanded { LONG } else { SHORT }, 0, &inner, keep)
}

fn printed(text: &str, style: Style, width: usize) -> Vec<Line> {
    let mut rows = Vec::new();
    for mut line in from_ansi(text.trim_end()) {
        for span in &mut line.spans {
            span.style = span.style.over(style);
        }
        rows.push(clip(line, width));
    }
    rows
}

fn block_rows(block: &Block, space: &Space<'_>, expanded: bool, keep: Keep) -> Vec<Line> {
    let theme = space.theme;
    let plain = theme.fg(Token::ToolOutput);
    let most = if expanded { LONG } else { SHORT };
    match block {
        Block::Text(text) => {
            let text = sanitize::reveal_invisible(text.trim_end());
            cut(wrap_text(&text, space.width, plain), most, 0, space, keep)
        }
        Block::Code { language, text, first_line } => {
            let text = sanitize::reveal_invisible(text.trim_end_matches('\n'));
            let rows = code(&text, language.as_deref(), *first_line, space);
            cut(rows, most, 0, space, keep)
        }
        Block::Diff(diff) => {
            let heading = diff.heading().map(|path| Block::Text(path.to_owned()));
            let most = if expanded { LONG } else { SHORT_DIFF };
            let mut rows: Vec<Line> = heading.iter().flat_map(|path| block_rows(path, space, expanded, keep)).collect();
            let (mut drawn, hidden) = draw_diff_head(diff, space, most);
            drawn.extend((hidden > 0).then(|| hidden_note(hidden, !expanded, space)));
            rows.extend(indented(drawn));
            rows
        }
        Block::Lines { lines, hidden } => {
            let rows = lines.iter().flat_map(|line| printed(line, plain, space.width)).collect();
            cut(rows, most, *hidden, space, keep)
        }
        Block::Table { header, rows } => cut(table(header, rows, space), most, 0, space, Keep::Head),
        Block::Image { mime_type, data } => {
            let size = omp_stdx::format::bytes(data.len() as u64 * 3 / 4);
            indented(vec![Line::styled(format!("[image {mime_type}, {size}]"), theme.fg(Token::Muted))])
        }
        Block::Progress { done, total, label } => {
            let of = total.map(|total| format!("/{total}")).unwrap_or_default();
            indented(wrap_text(&format!("{label} {done}{of}"), space.width, plain))
        }
    }
}

fn code(text: &str, language: Option<&str>, first_line: Option<usize>, space: &Space<'_>) -> Vec<Line> {
    let mut rows = highlight(text, language, space.theme);
    if let Some(first) = first_line {
        let digits = (first + rows.len()).to_string().len();
        for (at, row) in rows.iter_mut().enumerate() {
            let number = format!("{:>digits$} ", first + at);
            row.spans.insert(0, Span::new(number, space.theme.fg(Token::Dim)));
        }
    }
    rows.into_iter().map(|row| clip(row, space.width)).collect()
}

fn table(header: &[String], rows: &[Vec<String>], space: &Space<'_>) -> Vec<Line> {
    let mut widths: Vec<usize> = Vec::new();
    for row in std::iter::once(header).chain(rows.iter().map(Vec::as_slice)) {
        for (at, cell) in row.iter().enumerate() {
            let width = omp_stdx::display_width::width(cell);
            match widths.get_mut(at) {
                Some(known) => *known = width.max(*known),
                None => widths.push(width),
            }
        }
    }
    let line = |row: &[String], style: Style| {
        let cells =
            row.iter().zip(&widths).map(|(cell, width)| omp_stdx::display_width::pad(cell, *width).into_owned());
        let text = cells.collect::<Vec<_>>().join("  ");
        clip(Line::styled(plain(&text), style), space.width)
    };
    let head = line(header, space.theme.fg(Token::Muted).bold());
    std::iter::once(head).chain(rows.iter().map(|row| line(row, space.theme.fg(Token::ToolOutput)))).collect()
}

/// Indents the rows and adds a note about hidden ones. `hidden` rows were removed before.
fn cut(mut rows: Vec<Line>, most: usize, hidden: usize, space: &Space<'_>, keep: Keep) -> Vec<Line> {
    let over = rows.len() - rows_shown(rows.len(), most);
    let told = over + hidden;
    let note = (told > 0).then(|| hidden_note(told, over > 0, space));
    match keep {
        Keep::Head => {
            rows.truncate(rows.len() - over);
            rows.extend(note);
        }
        Keep::Tail => {
            rows.drain(..over);
            rows.splice(..0, note);
        }
    }
    indented(rows)
}

fn hidden_note(lines: usize, can_expand: bool, space: &Space<'_>) -> Line {
    let key = space.keys.shown("ctrl+o").filter(|_| can_expand);
    let how = key.map(|key| format!(" ({key})")).unwrap_or_default();
    let count = omp_stdx::format::grouped(lines as u64);
    let lines = if lines == 1 { "line" } else { "lines" };
    Line::styled(format!("… {count} more {lines}{how}"), space.theme.fg(Token::Dim))
}

pub fn indented(mut rows: Vec<Line>) -> Vec<Line> {
    rows.iter_mut().for_each(|row| row.spans.insert(0, Span::new("  ", Style::PLAIN)));
    rows
}

#[cfg(test)]
mod tests;
