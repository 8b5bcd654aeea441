//! The bytes of one frame: a bracket around moves of the cursor and rows.

use std::io::Write as _;

use super::model::ScreenWindow;
use super::profile::Profile;
use super::row;
use crate::line::Line;

/// What is wiped before a window is written as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erase {
    /// What is written over and nothing else.
    Nothing,
    /// From the first row of the window to the end of the screen.
    Below,
    /// The screen and the scrollback: only for a gesture of the user, never in a multiplexer.
    Everything,
}

/// Where the first rows of the window go.
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
    /// Where the bytes of this frame begin.
    start: usize,
    /// Where they begin without the bracket.
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
        // A row that is as wide as the terminal must not make it go to the next one.
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

    /// Writes rows into the scrollback and a whole window below them, over what the window was.
    pub fn rewrite<'b>(&mut self, erase: Erase, chunk: impl ExactSizeIterator<Item = &'b Line>, rows: &[&Line]) {
        if erase == Erase::Everything {
            self.raw("\x1b[2J\x1b[H\x1b[3J");
            self.window.cursor_row = 0;
        } else {
            self.go_to(0);
        }
        // Before the last row: some terminals take an erase at their first column and row for a clear of the screen,
        // which they keep in the scrollback.
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

    /// Where a terminal has wrapped rows each must be cleared from its first column on, or it will join them again.
    fn row(&mut self, erase: Erase, line: &Line) {
        if erase == Erase::Below {
            row::write_cleared(line, self.profile, self.width, self.out);
        } else {
            row::write(line, self.profile, self.width, self.out);
        }
    }

    /// Turns the window into another one after its first rows have left it at the top.
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

    /// Adds empty rows at the bottom, until with those that stay there are as many as needed. The terminal scrolls when
    /// it has no more.
    fn extend(&mut self, stay: usize, needed: usize) {
        let missing = needed.saturating_sub(stay);
        if missing > 0 {
            self.go_to(self.window.rows.len() - 1);
            self.out.resize(self.out.len() + missing, b'\n');
            self.window.cursor_row += missing;
        }
    }

    /// Takes rows out of the window at its top without a trace in the scrollback.
    fn hide(&mut self, count: usize) {
        if count > 0 {
            self.delete(0, count);
        }
    }

    /// Some terminals keep what is deleted at the top of the screen in the scrollback. So the first row stays, to be
    /// written over, and those after it go.
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

    /// What stands at the bottom, such as an editor, is moved rather than written again.
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

    /// Below the last row, at the first column.
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

    /// Puts the cursor where the rows want it and closes the bracket. When nothing was to be done nothing is written.
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

    /// At the first column, hidden: where it is must be known when the terminal wraps its rows to another width.
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

    /// To the first column of a row of the window.
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

/// The last row that asks for the cursor gets it.
fn wanted_cursor(rows: &[&Line]) -> Option<(usize, usize)> {
    rows.iter().enumerate().rev().find_map(|(at, line)| Some((at, line.cursor?)))
}
