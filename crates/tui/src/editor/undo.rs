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
    /// Undone together with the change before it.
    linked: bool,
}

/// Several changes that are undone as one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum UndoGroup {
    #[default]
    Off,
    /// The next change is its first.
    Begun,
    Open,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct UndoStack {
    done: VecDeque<EditorChange>,
    undone: Vec<EditorChange>,
    bytes: usize,
    /// The next change begins a new step.
    closed: bool,
    group: UndoGroup,
}

impl UndoStack {
    /// Makes the changes until [`Self::end_group`] one step.
    pub fn begin_group(&mut self) {
        self.group = UndoGroup::Begun;
        self.closed = true;
    }

    pub fn end_group(&mut self) {
        self.group = UndoGroup::Off;
        self.closed = true;
    }

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
        let linked = self.group == UndoGroup::Open;
        let (at, inserted) = (range.start, with);
        let change = EditorChange { at, removed: removed.clone(), inserted, cursor_before, kind, linked };
        self.undone.clear();
        self.bytes += change.weight();
        let joined = !self.closed && self.done.back_mut().is_some_and(|last| last.join(&change));
        if !joined {
            self.done.push_back(change);
        }
        self.closed = false;
        if self.group == UndoGroup::Begun {
            self.group = UndoGroup::Open;
        }
        self.forget_the_oldest();
        removed
    }

    /// Ends the current step.
    pub fn close(&mut self) {
        self.closed = true;
    }

    pub fn undo(&mut self, buffer: &mut Buffer) -> bool {
        let mut is_undone = false;
        while let Some(change) = self.done.pop_back() {
            self.bytes = self.bytes.saturating_sub(change.weight());
            buffer.replace(change.at..change.at + change.inserted.text.len(), &change.removed);
            buffer.set_cursor(change.cursor_before);
            let linked = change.linked;
            self.undone.push(change);
            is_undone = true;
            if !linked {
                break;
            }
        }
        self.stepped();
        is_undone
    }

    pub fn redo(&mut self, buffer: &mut Buffer) -> bool {
        let mut is_redone = false;
        while let Some(change) = self.undone.pop() {
            self.bytes += change.weight();
            buffer.replace(change.at..change.at + change.removed.text.len(), &change.inserted);
            self.done.push_back(change);
            is_redone = true;
            if self.undone.last().is_none_or(|next| !next.linked) {
                break;
            }
        }
        self.stepped();
        is_redone
    }

    /// What follows is not part of a step that was undone or redone.
    fn stepped(&mut self) {
        self.closed = true;
        if self.group == UndoGroup::Open {
            self.group = UndoGroup::Begun;
        }
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
