//! One row of a list: a selection mark, the label with highlighted matches, details, and a hint at the end.

use omp_stdx::display_width::{self, ellipsize, pad};
use omp_stdx::sanitize::strip_control;
use unicode_segmentation::UnicodeSegmentation;

use crate::component::Space;
use crate::line::Line;
use crate::style::{Attrs, Style};
use crate::theme::{Symbol, Token};

const GAP: usize = 2;
/// Details are omitted if there is less width.
const LEAST_DETAIL: usize = 8;

#[derive(Clone, Copy, Default)]
pub(crate) struct ListRow<'a> {
    pub selected: bool,
    pub label: &'a str,
    /// Indexes of the label's graphemes that matched a filter, in order.
    pub hits: &'a [u32],
    pub detail: &'a str,
    pub hint: &'a str,
}

impl ListRow<'_> {
    /// `label_width` is the width of the widest label, so that the details are aligned.
    pub fn draw(&self, space: &Space<'_>, label_width: usize) -> Line {
        let mut line = Line::styled(list_sign(space, self.selected), space.theme.fg(Token::Accent));
        line.spans.extend(self.draw_bare(&space.narrower(line.width()), label_width).spans);
        line
    }

    /// Draws the row without the selection mark.
    pub fn draw_bare(&self, space: &Space<'_>, label_width: usize) -> Line {
        let theme = space.theme;
        let style = if self.selected { theme.fg(Token::Accent) } else { theme.fg(Token::Text) };
        let mut line = Line::new();
        let hint = one_line(self.hint);
        let hint_room = if hint.is_empty() { 0 } else { display_width::width(&hint) + GAP };
        let fits = space.width > hint_room + LEAST_DETAIL;
        let room = if fits { space.width - hint_room } else { space.width };
        let detail = one_line(self.detail);
        let beside = label_width.min(room * 3 / 5);
        let shows_detail = !detail.is_empty() && room >= beside + GAP + LEAST_DETAIL;
        let label_room = if shows_detail { beside } else { room };
        self.push_label(&mut line, label_room, style);
        if shows_detail {
            line.push(" ".repeat(beside.saturating_sub(line.width()) + GAP), Style::PLAIN);
            line.push(ellipsize(&detail, room - beside - GAP).into_owned(), theme.fg(Token::Muted));
        }
        let free = space.width.saturating_sub(line.width());
        if hint_room > 0 && free >= hint_room {
            line.push(" ".repeat(free + GAP - hint_room), Style::PLAIN);
            line.push(hint, theme.fg(Token::Dim));
        }
        line
    }

    fn push_label(&self, line: &mut Line, room: usize, style: Style) {
        let label = one_line(self.label);
        let shown = ellipsize(&label, room);
        if self.hits.is_empty() {
            line.push(shown.into_owned(), style);
            return;
        }
        let mut run = (String::new(), false);
        for (at, grapheme) in shown.graphemes(true).enumerate() {
            let hit = self.hits.binary_search(&(at as u32)).is_ok();
            if hit != run.1 && !run.0.is_empty() {
                line.push(std::mem::take(&mut run.0), emphasis(style, run.1));
            }
            run.0.push_str(grapheme);
            run.1 = hit;
        }
        line.push(run.0, emphasis(style, run.1));
    }
}

/// Returns the mark before an entry, selected or not; empty if there is hardly room for the entry.
pub(crate) fn list_sign(space: &Space<'_>, selected: bool) -> String {
    let sign = space.theme.symbols().get(Symbol::NavCursor);
    match (space.width < 6, selected) {
        (true, _) => String::new(),
        (false, true) => format!("{sign} "),
        (false, false) => " ".repeat(display_width::width(sign) + 1),
    }
}

fn emphasis(style: Style, hit: bool) -> Style {
    if hit { style.with(Attrs::BOLD).with(Attrs::UNDERLINE) } else { style }
}

/// Converts line breaks and tabs to spaces and removes control characters.
pub(crate) fn one_line(text: &str) -> String {
    strip_control(text).replace(['\n', '\t'], " ")
}

/// Pads a label, for columns that are not [`ListRow`]s.
pub(crate) fn column(text: &str, width: usize) -> String {
    pad(&ellipsize(&one_line(text), width), width).into_owned()
}
