//! Undo steps: a typed word or a run of deleted characters is one step.

use std::collections::VecDeque;

use super::buffer::Buffer;
use super::fragment::Fragment;

const MOST_STEPS: usize = 1000;
const MOST_BYTES: usize = 16 << 20;

/// The kind of a change: consecutive changes of one kind may form one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditorChangeKind {
    Typed,
    Erased,
    Other,
}

#[derive(Clone, Debug)]
struct EditorChange {
    at: usize,
    removed: Fragment,
    inserted: Fragment,
    cursor_before: usize,
    kind: EditorChangeKind,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct UndoStack {
    done: VecDeque<EditorChange>,
    undone: Vec<EditorChange>,
    bytes: usize,
    /// The next change begins a new step.
    closed: bool,
}

impl UndoStack {
    /// Changes the buffer and records the change for undo.
    pub fn change(
        &mut self,
        buffer: &mut Buffer,
        range: std::ops::Range<usize>,
        with: Fragment,
        kind: EditorChangeKind,
    ) -> Fragment {
        let cursor_before = buffer.cursor();
        let removed = buffer.replace(range.clone(), &with);
        let change = EditorChange { at: range.start, removed: removed.clone(), inserted: with, cursor_before, kind };
        self.undone.clear();
        self.bytes += change.weight();
        let joined = !self.closed && self.done.back_mut().is_some_and(|last| last.join(&change));
        if !joined {
            self.done.push_back(change);
        }
        self.closed = false;
        self.forget_the_oldest();
        removed
    }

    /// Ends the current step.
    pub fn close(&mut self) {
        self.closed = true;
    }

    pub fn undo(&mut self, buffer: &mut Buffer) -> bool {
        let Some(change) = self.done.pop_back() else { return false };
        self.bytes = self.bytes.saturating_sub(change.weight());
        buffer.replace(change.at..change.at + change.inserted.text.len(), &change.removed);
        buffer.set_cursor(change.cursor_before);
        self.undone.push(change);
        self.closed = true;
        true
    }

    pub fn redo(&mut self, buffer: &mut Buffer) -> bool {
        let Some(change) = self.undone.pop() else { return false };
        self.bytes += change.weight();
        buffer.replace(change.at..change.at + change.removed.text.len(), &change.inserted);
        self.done.push_back(change);
        self.closed = true;
        true
    }

    fn forget_the_oldest(&mut self) {
        while self.done.len() > MOST_STEPS || (self.bytes > MOST_BYTES && self.done.len() > 1) {
            let Some(oldest) = self.done.pop_front() else { return };
            self.bytes = self.bytes.saturating_sub(oldest.weight());
        }
    }
}

impl EditorChange {
    fn weight(&self) -> usize {
        self.removed.weight() + self.inserted.weight()
    }

    /// Merges a following change into this one if the user perceives both as one.
    fn join(&mut self, next: &EditorChange) -> bool {
        if self.kind != next.kind {
            return false;
        }
        match self.kind {
            EditorChangeKind::Typed => self.join_typed(next),
            EditorChangeKind::Erased => self.join_erased(next),
            EditorChangeKind::Other => false,
        }
    }

    fn join_typed(&mut self, next: &EditorChange) -> bool {
        let follows = next.at == self.at + self.inserted.text.len() && next.removed.text.is_empty();
        let starts_word =
            self.inserted.text.ends_with(char::is_whitespace) && !next.inserted.text.starts_with(char::is_whitespace);
        if !follows || starts_word {
            return false;
        }
        self.inserted.append(&next.inserted);
        true
    }

    fn join_erased(&mut self, next: &EditorChange) -> bool {
        if !(self.inserted.text.is_empty() && next.inserted.text.is_empty()) {
            return false;
        }
        if next.at + next.removed.text.len() == self.at {
            let mut removed = next.removed.clone();
            removed.append(&self.removed);
            self.removed = removed;
            self.at = next.at;
            return true;
        }
        if next.at == self.at {
            self.removed.append(&next.removed);
        }
        next.at == self.at
    }
}
