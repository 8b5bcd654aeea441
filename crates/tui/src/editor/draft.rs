//! The text being edited: a buffer with undo steps and a kill ring. Used by the editor and by the single-line input.

use std::ops::Range;

use super::buffer::Buffer;
use super::fragment::Fragment;
use super::keys::EditingCommand;
use super::kill_ring::{CutSide, KillRing};
use super::undo::{EditorChangeKind, UndoStack};
use super::words::{word_left, word_right};

#[derive(Clone, Debug, Default)]
pub(crate) struct EditorDraft {
    buffer: Buffer,
    undo: UndoStack,
    kills: KillRing,
    last: Last,
    /// The target column of vertical moves.
    goal: Option<usize>,
}

/// The effect of the previous key, for keys that depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    Kill,
    /// The current range of the yanked text.
    Yank(Range<usize>),
}

/// The effect of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    Nothing,
    Moved,
    Changed,
}

impl EditorDraft {
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub fn buffer_mut(&mut self) -> &mut Buffer {
        &mut self.buffer
    }

    /// Inserts a fragment at the cursor as one undo step.
    pub fn insert(&mut self, fragment: Fragment) {
        let at = self.buffer.cursor();
        self.replace(at..at, fragment);
    }

    pub fn replace(&mut self, range: Range<usize>, fragment: Fragment) {
        if range.is_empty() && fragment.text.is_empty() {
            return;
        }
        self.change(range, fragment, EditorChangeKind::Other);
        self.undo.close();
    }

    /// Replaces the whole text, which can be undone.
    pub fn set(&mut self, fragment: Fragment) {
        self.replace(0..self.buffer.text().len(), fragment);
    }

    /// Removes a range and returns it.
    pub fn cut(&mut self, range: Range<usize>) -> Fragment {
        if range.is_empty() {
            return Fragment::default();
        }
        let removed = self.change(range, Fragment::default(), EditorChangeKind::Other);
        self.undo.close();
        removed
    }

    /// Makes the changes until [`Self::end_step`] one undo step.
    pub fn begin_step(&mut self) {
        self.undo.begin_group();
    }

    pub fn end_step(&mut self) {
        self.undo.end_group();
    }

    /// Clears the text and the undo steps; the kill ring stays.
    pub fn clear(&mut self) -> Fragment {
        let taken = self.buffer.content().clone();
        let kills = std::mem::take(&mut self.kills);
        *self = EditorDraft { kills, buffer: self.buffer.emptied(), ..EditorDraft::default() };
        taken
    }

    pub fn move_to(&mut self, to: usize) -> Did {
        let before = self.buffer.cursor();
        self.buffer.set_cursor(to);
        self.rest();
        if self.buffer.cursor() == before { Did::Nothing } else { Did::Moved }
    }

    pub fn apply(&mut self, command: EditingCommand) -> Did {
        let at = self.buffer.cursor();
        match command {
            EditingCommand::Type(char) if char.is_control() => Did::Nothing,
            EditingCommand::Type(char) => {
                self.change(at..at, Fragment::plain(char), EditorChangeKind::Typed);
                Did::Changed
            }
            EditingCommand::Newline => {
                self.insert(Fragment::plain("\n"));
                Did::Changed
            }
            EditingCommand::Left => self.move_to(self.buffer.previous(at)),
            EditingCommand::Right => self.move_to(self.buffer.next(at)),
            EditingCommand::WordLeft => self.move_to(word_left(&self.buffer, at)),
            EditingCommand::WordRight => self.move_to(word_right(&self.buffer, at)),
            EditingCommand::LineStart => self.move_to(self.buffer.line_start(at)),
            EditingCommand::LineEnd => self.move_to(self.buffer.line_end(at)),
            EditingCommand::TextStart => self.move_to(0),
            EditingCommand::TextEnd => self.move_to(self.buffer.text().len()),
            EditingCommand::Up => self.move_rows(-1),
            EditingCommand::Down => self.move_rows(1),
            EditingCommand::PageUp
            | EditingCommand::PageDown
            | EditingCommand::JumpForward
            | EditingCommand::JumpBackward => Did::Nothing,
            EditingCommand::EraseLeft => self.erase(self.buffer.previous(at)..at),
            EditingCommand::EraseRight => self.erase(at..self.buffer.next(at)),
            EditingCommand::KillWordLeft => self.kill(word_left(&self.buffer, at)..at, CutSide::Before),
            EditingCommand::KillWordRight => self.kill(at..word_right(&self.buffer, at), CutSide::After),
            EditingCommand::KillToLineStart => self.kill(self.to_line_start(at), CutSide::Before),
            EditingCommand::KillToLineEnd => self.kill(self.to_line_end(at), CutSide::After),
            EditingCommand::Yank => self.yank(),
            EditingCommand::YankPop => self.yank_pop(),
            EditingCommand::Undo => self.step(UndoStack::undo),
            EditingCommand::Redo => self.step(UndoStack::redo),
        }
    }

    /// Moves up or down by screen rows, to the column of the first such move.
    pub fn move_rows(&mut self, rows: isize) -> Did {
        let before = self.buffer.cursor();
        self.buffer.refit();
        let (layout, text) = (self.buffer.layout(), self.buffer.text());
        let row = layout.row_at(before);
        let target = row.saturating_add_signed(rows).min(layout.row_count() - 1);
        if target == row {
            return Did::Nothing;
        }
        let goal = self.goal.unwrap_or_else(|| layout.column(text, before));
        let to = layout.at_column(text, target, goal);
        if rows < 0 {
            self.buffer.set_cursor_before(to);
        } else {
            self.buffer.set_cursor(to);
        }
        self.rest();
        self.goal = Some(goal);
        Did::Moved
    }

    fn change(&mut self, range: Range<usize>, with: Fragment, kind: EditorChangeKind) -> Fragment {
        self.last = Last::Other;
        self.goal = None;
        self.undo.change(&mut self.buffer, range, with, kind)
    }

    /// Makes the next key a separate step.
    fn rest(&mut self) {
        self.last = Last::Other;
        self.goal = None;
        self.undo.close();
    }

    fn erase(&mut self, range: Range<usize>) -> Did {
        if range.is_empty() {
            return Did::Nothing;
        }
        self.change(range, Fragment::default(), EditorChangeKind::Erased);
        Did::Changed
    }

    fn kill(&mut self, range: Range<usize>, side: CutSide) -> Did {
        if range.is_empty() {
            return Did::Nothing;
        }
        let joins = self.last == Last::Kill;
        let cut = self.change(range, Fragment::default(), EditorChangeKind::Other);
        self.kills.add(cut, side, joins);
        self.last = Last::Kill;
        Did::Changed
    }

    /// Returns the range to the start of the line; at the start, the preceding line break.
    fn to_line_start(&self, at: usize) -> Range<usize> {
        let start = self.buffer.line_start(at);
        if start == at { self.buffer.previous(at)..at } else { start..at }
    }

    fn to_line_end(&self, at: usize) -> Range<usize> {
        let end = self.buffer.line_end(at);
        if end == at { at..self.buffer.next(at) } else { at..end }
    }

    fn yank(&mut self) -> Did {
        let Some(newest) = self.kills.newest().cloned() else { return Did::Nothing };
        let at = self.buffer.cursor();
        self.put_yanked(at..at, newest)
    }

    fn yank_pop(&mut self) -> Did {
        let Last::Yank(range) = self.last.clone() else { return Did::Nothing };
        let Some(older) = self.kills.turn().cloned() else { return Did::Nothing };
        self.put_yanked(range, older)
    }

    fn put_yanked(&mut self, range: Range<usize>, fragment: Fragment) -> Did {
        let end = range.start + fragment.text.len();
        let start = range.start;
        self.replace(range, fragment);
        self.last = Last::Yank(start..end);
        Did::Changed
    }

    fn step(&mut self, step: fn(&mut UndoStack, &mut Buffer) -> bool) -> Did {
        self.last = Last::Other;
        self.goal = None;
        if step(&mut self.undo, &mut self.buffer) { Did::Changed } else { Did::Nothing }
    }
}
