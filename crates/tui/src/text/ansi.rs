//! Converts command output to styled rows: keeps colours and links, drops all other control sequences. A carriage return
//! restarts the row, as progress bars expect.

use std::borrow::Cow;
use std::sync::Arc;

use omp_stdx::display_width::grapheme_width;
use omp_stdx::escape::{EscapePiece, pieces};
use unicode_segmentation::UnicodeSegmentation;

use super::ansi_sgr::apply_sgr;
use crate::line::{Line, Span};
use crate::style::Style;

/// Longer rows are wrapped, so that one line cannot take all memory.
const LONGEST_ROW: usize = 8192;
const TAB_STOP: usize = 8;
const LONGEST_LINK: usize = 2083;

/// The rows contain no control characters, even if the text is malformed.
pub fn from_ansi(text: &str) -> Vec<Line> {
    let mut screen = AnsiScreen::new(text);
    for piece in pieces(text) {
        match piece {
            EscapePiece::Text(plain) => screen.print(plain),
            EscapePiece::Escape(escape) => screen.escape(escape),
        }
    }
    screen.finish()
}

/// The content of one column: a range of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ScreenCell {
    start: usize,
    end: usize,
    pen: u32,
    half: Half,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Whole,
    /// The first half of a wide character; the next cell is the other half.
    Left,
    Right,
}

#[derive(Clone, Default, PartialEq)]
struct Pen {
    style: Style,
    link: Option<Arc<str>>,
}

struct AnsiScreen<'a> {
    text: &'a str,
    rows: Vec<Line>,
    cells: Vec<ScreenCell>,
    column: usize,
    pens: Vec<Pen>,
    /// Whether the last pen has drawn something.
    drawn: bool,
}

impl<'a> AnsiScreen<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, rows: Vec::new(), cells: Vec::new(), column: 0, pens: vec![Pen::default()], drawn: false }
    }

    fn print(&mut self, plain: &'a str) {
        let mut start = plain.as_ptr().addr() - self.text.as_ptr().addr();
        for grapheme in plain.graphemes(true) {
            let end = start + grapheme.len();
            match grapheme {
                "\n" | "\r\n" => self.next_row(),
                "\r" => self.column = 0,
                "\u{8}" => self.column = self.column.saturating_sub(1),
                "\t" => self.tab(),
                control if control.starts_with(char::is_control) => {}
                visible => self.put(start, end, grapheme_width(visible)),
            }
            start = end;
        }
    }

    fn put(&mut self, start: usize, end: usize, columns: usize) {
        let pen = self.pen();
        match columns {
            0 => self.join_to_previous(start, end),
            1 => self.set(ScreenCell { start, end, pen, half: Half::Whole }),
            _ => {
                self.set(ScreenCell { start, end, pen, half: Half::Left });
                self.set(ScreenCell { start, end, pen, half: Half::Right });
            }
        }
    }

    /// Joins a combining mark to its character across an escape sequence.
    fn join_to_previous(&mut self, start: usize, end: usize) {
        let previous = self.column.checked_sub(1).and_then(|column| self.cells.get_mut(column));
        if let Some(cell) = previous.filter(|cell| cell.end == start && cell.half == Half::Whole) {
            cell.end = end;
        }
    }

    fn set(&mut self, cell: ScreenCell) {
        if self.column >= LONGEST_ROW && cell.half != Half::Right {
            self.next_row();
        }
        let at = self.column;
        if at < self.cells.len() {
            self.break_pair(at, cell.half);
            self.cells[at] = cell;
        } else {
            self.cells.push(cell);
        }
        self.column += 1;
    }

    /// Replaces the remaining half of an overwritten wide character by a space.
    fn break_pair(&mut self, at: usize, writing: Half) {
        let blank = self.blank();
        match self.cells[at].half {
            Half::Left if at + 1 < self.cells.len() => self.cells[at + 1] = blank,
            Half::Right if at > 0 && writing != Half::Right => self.cells[at - 1] = blank,
            _ => {}
        }
    }

    fn blank(&mut self) -> ScreenCell {
        ScreenCell { start: 0, end: 0, pen: self.pen(), half: Half::Whole }
    }

    fn tab(&mut self) {
        let stop = (self.column / TAB_STOP + 1) * TAB_STOP;
        let blank = self.blank();
        while self.cells.len() < stop.min(LONGEST_ROW) {
            self.cells.push(blank);
        }
        self.column = stop.min(LONGEST_ROW);
    }

    fn escape(&mut self, escape: &str) {
        let csi = escape.strip_prefix("\u{1b}[").or_else(|| escape.strip_prefix('\u{9b}'));
        if let Some(body) = csi {
            return self.control_sequence(body);
        }
        let osc = escape.strip_prefix("\u{1b}]").or_else(|| escape.strip_prefix('\u{9d}'));
        if let Some(link) = osc.and_then(|body| body.strip_prefix("8;")) {
            self.link(link);
        }
    }

    fn control_sequence(&mut self, body: &str) {
        if let Some(parameters) = body.strip_suffix('m') {
            let mut pen = self.current().clone();
            pen.style = apply_sgr(pen.style, parameters);
            return self.change_pen(pen);
        }
        // Erasing lets a shorter progress line replace a longer one.
        match body {
            "K" | "0K" => self.cells.truncate(self.column),
            "2K" => self.blank_up_to(self.cells.len()),
            "1K" => self.blank_up_to(self.column),
            _ => {}
        }
    }

    fn blank_up_to(&mut self, end: usize) {
        let blank = self.blank();
        let end = end.min(self.cells.len());
        self.cells[..end].fill(blank);
    }

    /// Parses `parameters ; address`, terminated by BEL or ST; an empty address ends the link.
    fn link(&mut self, body: &str) {
        let body = body.trim_end_matches(['\u{7}', '\u{9c}']);
        let body = body.strip_suffix("\u{1b}\\").unwrap_or(body);
        let address = body.split_once(';').map(|(_, address)| address).unwrap_or_default();
        let usable = !address.is_empty() && address.len() <= LONGEST_LINK && !address.contains(char::is_control);
        let link = usable.then(|| Arc::from(address));
        self.change_pen(Pen { link, ..self.current().clone() });
    }

    fn pen(&mut self) -> u32 {
        self.drawn = true;
        (self.pens.len() - 1) as u32
    }

    fn current(&self) -> &Pen {
        &self.pens[self.pens.len() - 1]
    }

    fn change_pen(&mut self, pen: Pen) {
        let last = self.pens.len() - 1;
        if self.pens[last] == pen {
            return;
        }
        // A pen that drew nothing is dropped, so that style changes alone take no memory.
        if self.drawn {
            self.pens.push(pen);
        } else {
            self.pens[last] = pen;
        }
        self.drawn = false;
    }

    fn next_row(&mut self) {
        let mut row = Line::default();
        for cell in self.cells.iter().filter(|cell| cell.half != Half::Right) {
            let text = if cell.end == 0 { " " } else { &self.text[cell.start..cell.end] };
            let pen = &self.pens[cell.pen as usize];
            match row.spans.last_mut() {
                Some(last) if last.style == pen.style && last.link == pen.link => last.text.to_mut().push_str(text),
                _ => {
                    let text = Cow::Owned(text.to_owned());
                    row.spans.push(Span { text, style: pen.style, link: pen.link.clone() });
                }
            }
        }
        self.rows.push(row);
        self.cells.clear();
        self.column = 0;
        // Only the current pen is needed from here on.
        self.pens.drain(..self.pens.len() - 1);
        self.drawn = false;
    }

    fn finish(mut self) -> Vec<Line> {
        if !self.cells.is_empty() || self.rows.is_empty() {
            self.next_row();
        }
        self.rows
    }
}
