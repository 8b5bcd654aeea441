//! Produces the bytes of one frame: cursor moves and rows inside a synchronization bracket.

use std::io::Write as _;

use super::model::ScreenWindow;
use super::profile::Profile;
use super::row;
use crate::line::Line;

/// What is erased before a whole window is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erase {
    /// Only what is overwritten.
    Nothing,
    /// From the first row of the window to the end of the screen.
    Below,
    /// The screen and the scrollback: only for a user action, and in a multiplexer only if its text can be written again.
    Everything,
}

/// The destination of the first rows of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeavingRows {
    /// Into the scrollback.
    Scrolled(usize),
    /// Out of sight, until they are settled.
    Hidden(usize),
}

pub struct Paint<'a> {
    profile: &'a Profile,
    width: usize,
    window: &'a mut ScreenWindow,
    out: &'a mut Vec<u8>,
    /// The start of this frame's bytes in `out`.
    start: usize,
    /// The start of the bytes inside the bracket.
    body: usize,
}

impl<'a> Paint<'a> {
    pub fn new(profile: &'a Profile, width: usize, window: &'a mut ScreenWindow, out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        if profile.synchronized {
            out.extend_from_slice(b"\x1b[?2026h");
        } else if window.cursor_shown != Some(false) {
            out.extend_from_slice(b"\x1b[?25l");
        }
        // A row as wide as the terminal must not wrap to the next one.
        out.extend_from_slice(b"\x1b[?7l");
        let body = out.len();
        Self { profile, width, window, out, start, body }
    }

    fn raw(&mut self, bytes: &str) {
        self.out.extend_from_slice(bytes.as_bytes());
    }

    fn sequence(&mut self, count: usize, what: char) {
        // Writing to memory cannot fail.
        let _ = write!(self.out, "\x1b[{count}{what}");
    }

    /// Writes rows into the scrollback and a whole window below them, over the old window. `above` is the text above them
    /// after everything was erased.
    pub fn rewrite<'b>(
        &mut self,
        erase: Erase,
        above: &[u8],
        chunk: impl ExactSizeIterator<Item = &'b Line>,
        rows: &[&Line],
    ) {
        if erase == Erase::Everything {
            self.raw("\x1b[2J\x1b[H\x1b[3J");
            self.out.extend_from_slice(above);
            self.window.cursor_row = 0;
        } else {
            self.go_to(0);
        }
        // The erase precedes the last row: some terminals treat an erase at the first column and row as a screen clear,
        // which they save to the scrollback.
        let below = erase == Erase::Below || chunk.len() + rows.len() < self.window.rows.len();
        for line in chunk {
            self.row(erase, line);
            self.raw("\r\n");
        }
        let last = rows.len() - 1;
        for (at, line) in rows.iter().enumerate() {
            self.raw(if at == last && below { "\x1b[J" } else { "" });
            self.row(erase, line);
            self.raw(if at == last { "" } else { "\r\n" });
        }
        self.window.cursor_row = last;
        self.window.cursor_column = None;
        self.window.rows = rows.iter().map(|row| (*row).clone()).collect();
        self.window.wanted = wanted_cursor(rows);
        self.window.painted = true;
    }

    /// If a terminal has wrapped rows, each must be cleared from its first column, or the terminal joins them again.
    fn row(&mut self, erase: Erase, line: &Line) {
        if erase == Erase::Below {
            row::write_cleared(line, self.profile, self.width, self.out);
        } else {
            row::write(line, self.profile, self.width, self.out);
        }
    }

    /// Updates the window to new rows after its first rows have left it at the top.
    pub fn change_to(&mut self, leave: LeavingRows, rows: &[&Line]) {
        match leave {
            LeavingRows::Scrolled(leaving) => {
                self.extend(self.window.rows.len() - leaving, rows.len());
                self.window.rows.drain(..leaving);
                self.window.cursor_row = self.window.cursor_row.saturating_sub(leaving);
            }
            LeavingRows::Hidden(leaving) => {
                self.hide(leaving);
                self.extend(self.window.rows.len(), rows.len());
            }
        }
        self.move_tail(rows);
        self.window.rows.resize(self.window.rows.len().max(rows.len()), Line::new());
        self.write_changed(rows);
        let last = rows.len() - 1;
        if self.window.cursor_row > last {
            self.go_to(last);
        }
        self.window.rows.truncate(rows.len());
        self.window.wanted = wanted_cursor(rows);
    }

    /// Adds empty rows at the bottom until there are `needed` rows, including the `stay` rows that are kept. The terminal
    /// scrolls if it has no more rows.
    fn extend(&mut self, stay: usize, needed: usize) {
        let missing = needed.saturating_sub(stay);
        if missing > 0 {
            self.go_to(self.window.rows.len() - 1);
            self.out.resize(self.out.len() + missing, b'\n');
            self.window.cursor_row += missing;
        }
    }

    /// Removes rows at the top of the window without adding them to the scrollback.
    fn hide(&mut self, count: usize) {
        if count > 0 {
            self.delete(0, count);
        }
    }

    /// Some terminals save rows deleted at the top of the screen to the scrollback. The first row is therefore kept and
    /// overwritten, and the rows after it are deleted.
    fn delete(&mut self, at: usize, count: usize) {
        let at = at.max(1);
        let end = (at + count).min(self.window.rows.len());
        if at < end {
            self.go_to(at);
            self.sequence(end - at, 'M');
            self.window.rows.drain(at..end);
        }
    }

    fn write_changed(&mut self, rows: &[&Line]) {
        for (at, row) in rows.iter().enumerate() {
            if !self.window.rows[at].looks_like(row) {
                self.go_to(at);
                row::write_over(&self.window.rows[at], row, self.profile, self.width, self.out);
                self.window.rows[at].clone_from(row);
            }
        }
        for at in rows.len()..self.window.rows.len() {
            if !self.window.rows[at].looks_like(&Line::new()) {
                self.go_to(at);
                self.raw("\x1b[K");
            }
        }
    }

    /// Moves the rows at the bottom, such as an editor, instead of writing them again.
    fn move_tail(&mut self, rows: &[&Line]) {
        let painted = &self.window.rows;
        let stay = painted.len();
        if stay == rows.len() {
            return;
        }
        let same = |(old, new): &(&Line, &&Line)| old.looks_like(new);
        let head = painted.iter().zip(rows).take_while(same).count();
        let most = (stay - head).min(rows.len() - head);
        let tail = painted.iter().rev().zip(rows.iter().rev()).take(most).take_while(same).count();
        if painted[stay - tail..].iter().all(Line::is_blank) {
            return;
        }
        if rows.len() > stay {
            let (at, count) = (stay - tail, rows.len() - stay);
            self.go_to(at);
            self.sequence(count, 'L');
            self.window.rows.splice(at..at, std::iter::repeat_n(Line::new(), count));
        } else {
            let (at, count) = (rows.len() - tail, stay - rows.len());
            self.delete(at, count);
        }
    }

    /// Moves the cursor below the last row, to the first column.
    pub fn move_below(&mut self) {
        if self.window.painted {
            self.go_to(self.window.rows.len() - 1);
            self.raw("\n");
        }
        self.window.rows.clear();
        self.window.wanted = None;
        self.window.painted = false;
    }

    pub fn show_cursor(&mut self, shown: bool) {
        if self.window.cursor_shown != Some(shown) {
            self.raw(if shown { "\x1b[?25h" } else { "\x1b[?25l" });
            self.window.cursor_shown = Some(shown);
        }
    }

    /// Places the cursor and closes the bracket. Writes nothing if the frame changed nothing.
    pub fn finish(mut self) {
        let was_shown = self.window.cursor_shown;
        match self.window.wanted {
            Some((row, column)) => self.put_cursor(row, column.min(self.width - 1)),
            None if self.window.painted => self.park(),
            None => {}
        }
        if self.out.len() == self.body {
            self.out.truncate(self.start);
            return;
        }
        self.raw("\x1b[?7h");
        if self.profile.synchronized {
            self.raw("\x1b[?2026l");
        } else if was_shown == Some(true) && self.window.cursor_shown == Some(true) {
            self.raw("\x1b[?25h");
        }
    }

    /// Hides the cursor at the first column: its position must be known when the terminal rewraps its rows.
    fn park(&mut self) {
        if self.window.cursor_column.is_none() {
            self.raw("\r");
            self.window.cursor_column = Some(0);
        }
        self.show_cursor(false);
    }

    fn put_cursor(&mut self, row: usize, column: usize) {
        if self.window.cursor_row != row || self.window.cursor_column != Some(column) {
            self.go_to(row);
            if column > 0 {
                self.sequence(column, 'C');
            }
            self.window.cursor_column = Some(column);
        }
        self.show_cursor(true);
    }

    /// Moves to the first column of a row of the window.
    fn go_to(&mut self, row: usize) {
        let at = self.window.cursor_row;
        match row.cmp(&at) {
            std::cmp::Ordering::Less => self.sequence(at - row, 'A'),
            std::cmp::Ordering::Greater => self.sequence(row - at, 'B'),
            std::cmp::Ordering::Equal => {}
        }
        self.raw("\r");
        self.window.cursor_row = row;
        self.window.cursor_column = None;
    }
}

/// The last row that requests the cursor gets it.
fn wanted_cursor(rows: &[&Line]) -> Option<(usize, usize)> {
    rows.iter().enumerate().rev().find_map(|(at, line)| Some((at, line.cursor?)))
}
