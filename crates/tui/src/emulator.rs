//! A terminal inside the terminal: keeps the screen of a program that runs in a pseudo terminal, as rows to draw.

mod keys;

use std::num::NonZeroU16;

use omp_stdx::sanitize;
use vt100::capture::{BasicFormattedCaptureRange, BasicFormattedCaptureState, RowContents, basic_formatted_to_plain};

use crate::input::Input;
use crate::line::Line;
use crate::screen::Size;
use crate::style::{Attrs, Color, Style};

/// Rows kept above the screen. They return when the terminal grows.
const ABOVE: usize = 300;
/// Maximum bytes of answers to terminal queries that the program has not read yet.
const MOST_REPLIES: usize = 4 * 1024;
/// A line without a line break is returned once it has this length.
const LONGEST_LINE: usize = 64 * 1024;
const LEAVE_ALTERNATE: &[u8] = b"\x1b[?1049l";

pub struct Emulator {
    parser: vt100::Parser<Side>,
}

/// Effects of a program other than changes of its screen.
#[derive(Default)]
struct Side {
    /// Answers to its questions about the terminal.
    replies: Vec<u8>,
    /// Lines that left the screen for good, with colours.
    left: String,
    state: BasicFormattedCaptureState,
}

impl Emulator {
    pub fn new(size: Size) -> Self {
        let (rows, columns) = cells(size);
        Self { parser: vt100::Parser::new_with_callbacks(rows, columns, ABOVE, Side::default()) }
    }

    /// Processes output of the program, which may end anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    pub fn resize(&mut self, size: Size) {
        let (rows, columns) = cells(size);
        self.parser.set_size(rows, columns);
    }

    /// Returns the answers to the program's questions, such as where the cursor is.
    pub fn take_replies(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.parser.callbacks_mut().replies)
    }

    /// Returns whole lines that have left the screen since the last call, except those of full-screen programs.
    pub fn take_text(&mut self) -> String {
        let left = &mut self.parser.callbacks_mut().left;
        let whole = match left.rfind('\n') {
            Some(end) => end + 1,
            None if left.len() > LONGEST_LINE => left.len(),
            None => return String::new(),
        };
        let rest = left.split_off(whole);
        plain(&std::mem::replace(left, rest))
    }

    /// Returns the text that is left on the screen. What a full-screen program drew is not text, so nothing of it is kept.
    pub fn finish(mut self) -> String {
        if self.is_full_screen() {
            self.parser.process(LEAVE_ALTERNATE);
        }
        let (screen, side) = self.parser.screen_and_callbacks_mut();
        let mut text = std::mem::take(&mut side.left);
        // Writing to a string cannot fail.
        let _ = screen.write_contents_formatted_basic(&mut text, BasicFormattedCaptureRange::Full(&mut side.state));
        let mut text = plain(&text);
        let end = text.trim_end().len();
        text.truncate(end);
        let begin = text.len() - text.trim_start_matches('\n').len();
        text.drain(..begin);
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    /// Returns the bytes that a terminal sends to the program for this input.
    pub fn encode(&self, input: &Input) -> Vec<u8> {
        let screen = self.parser.screen();
        match input {
            Input::Key(key) => keys::encode(*key, screen.application_cursor()),
            Input::Paste(text) => keys::pasted(text, screen.bracketed_paste()),
            Input::Mouse(_) | Input::Focus(_) => Vec::new(),
        }
    }

    /// Whether a program has the whole screen for itself.
    pub fn is_full_screen(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// Draws the screen, with the cursor unless it is hidden.
    pub fn lines(&self) -> Vec<Line> {
        let screen = self.parser.screen();
        let (rows, columns) = screen.size();
        let (at, column) = screen.cursor_position();
        let mut lines: Vec<Line> = (0..rows.get()).map(|row| self.line(row, columns.get())).collect();
        if !screen.hide_cursor()
            && let Some(line) = lines.get_mut(usize::from(at))
        {
            line.cursor = Some(usize::from(column.min(columns.get() - 1)));
        }
        lines
    }

    fn line(&self, row: u16, columns: u16) -> Line {
        let screen = self.parser.screen();
        let (mut line, mut text, mut style) = (Line::new(), String::new(), Style::PLAIN);
        for cell in (0..columns).filter_map(|column| screen.cell(row, column)) {
            if cell.is_wide_continuation() {
                continue;
            }
            let next = style_of(cell);
            if next != style && !text.is_empty() {
                line.push(std::mem::take(&mut text), style);
            }
            style = next;
            text.push_str(&shown(cell.contents()));
        }
        if style == Style::PLAIN {
            text.truncate(text.trim_end().len());
        }
        if !text.is_empty() {
            line.push(text, style);
        }
        line
    }
}

/// The text of a cell: one character with its marks, and nothing that hides or reorders text.
fn shown(contents: &str) -> String {
    if contents.is_empty() {
        return " ".to_owned();
    }
    if sanitize::hides_something(contents) {
        return contents.chars().take(1).collect();
    }
    contents.to_owned()
}

fn style_of(cell: &vt100::Cell) -> Style {
    let attrs = [
        (cell.bold(), Attrs::BOLD),
        (cell.dim(), Attrs::DIM),
        (cell.italic(), Attrs::ITALIC),
        (cell.underline(), Attrs::UNDERLINE),
        (cell.inverse(), Attrs::REVERSE),
    ];
    let attrs = attrs.iter().filter(|(is_set, _)| *is_set).fold(Attrs::NONE, |all, (_, attr)| all.with(*attr));
    Style { fg: color(cell.fgcolor()), bg: color(cell.bgcolor()), attrs }
}

fn color(color: vt100::Color) -> Color {
    match color {
        vt100::Color::Default => Color::Default,
        vt100::Color::Idx(index) => Color::Indexed(index),
        vt100::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    }
}

/// Text without colours and without blanks at the ends of lines.
fn plain(formatted: &str) -> String {
    let text: String = basic_formatted_to_plain(formatted).collect();
    let ends = text.ends_with('\n');
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + if ends { "\n" } else { "" }
}

fn cells(size: Size) -> (NonZeroU16, NonZeroU16) {
    let cells = |count: usize| NonZeroU16::new(u16::try_from(count).unwrap_or(u16::MAX)).unwrap_or(NonZeroU16::MIN);
    (cells(size.height), cells(size.width))
}

impl Side {
    fn reply(&mut self, bytes: &[u8]) {
        if self.replies.len() + bytes.len() <= MOST_REPLIES {
            self.replies.extend_from_slice(bytes);
        }
    }
}

impl vt100::Callbacks for Side {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _second: Option<u8>,
        params: &[&[u16]],
        end: char,
    ) {
        let number = params.first().and_then(|param| param.first()).copied().unwrap_or_default();
        match (first, end, number) {
            // What kind of terminal this is: a VT220 with colours, and which version.
            (None, 'c', 0) => self.reply(b"\x1b[?62;22c"),
            (Some(b'>'), 'c', 0) => self.reply(b"\x1b[>1;10;0c"),
            (None, 'n', 5) => self.reply(b"\x1b[0n"),
            (None | Some(b'?'), 'n', 6) => {
                let (row, column) = screen.cursor_position();
                let private = if first.is_some() { "?" } else { "" };
                self.reply(format!("\x1b[{private}{};{}R", row + 1, column + 1).as_bytes());
            }
            (None, 't', 18) => {
                let (rows, columns) = screen.size();
                self.reply(format!("\x1b[8;{rows};{columns}t").as_bytes());
            }
            _ => {}
        }
    }

    fn on_scroll(&mut self, contents: RowContents<'_>, alternate_screen: bool) {
        if !alternate_screen {
            // Writing to a string cannot fail.
            let _ = contents.write_formatted_basic(&mut self.left, &mut self.state);
        }
    }
}

#[cfg(test)]
mod tests;
