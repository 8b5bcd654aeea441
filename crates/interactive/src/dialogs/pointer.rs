//! Which row of a list is meant, and which rows are seen.

use std::ops::Range;

use omp_tui::{Key, KeyCode};

/// A place in a list of any length, and the rows around it that were drawn last.
#[derive(Debug, Default)]
pub(super) struct Pointer {
    at: usize,
    top: usize,
    page: usize,
}

impl Pointer {
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn go(&mut self, at: usize) {
        self.at = at;
    }

    /// Moves by the keys of lists; the arrows go round. `false` for every other key.
    pub fn key(&mut self, key: Key, len: usize) -> bool {
        if !key.mods.is_empty() {
            return false;
        }
        let last = len.saturating_sub(1);
        let page = self.page.max(1);
        self.at = match key.code {
            KeyCode::Up if self.at == 0 => last,
            KeyCode::Up => self.at - 1,
            KeyCode::Down if self.at >= last => 0,
            KeyCode::Down => self.at + 1,
            KeyCode::PageUp => self.at.saturating_sub(page),
            KeyCode::PageDown => self.at + page,
            KeyCode::Home => 0,
            KeyCode::End => last,
            _ => return false,
        }
        .min(last);
        true
    }

    /// The rows to draw when there is room for so many: as few as possible move.
    pub fn window(&mut self, len: usize, room: usize) -> Range<usize> {
        let room = room.max(1);
        self.page = room;
        self.at = self.at.min(len.saturating_sub(1));
        self.top = self.top.clamp((self.at + 1).saturating_sub(room), self.at).min(len.saturating_sub(room));
        self.top..len.min(self.top + room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_stays_in_the_list_and_in_the_window() {
        use KeyCode::{Down, End, Home, PageDown, PageUp, Up};
        for (len, keys, at, window) in [
            (10, vec![], 0, 0..4),
            (10, vec![Up], 9, 6..10),
            (10, vec![Up, Down], 0, 0..4),
            (10, vec![PageDown, Down], 5, 2..6),
            (10, vec![End, PageUp, Up], 4, 4..8),
            (10, vec![PageDown, PageDown, PageDown], 9, 6..10),
            (10, vec![End, Home], 0, 0..4),
            (2, vec![PageDown], 1, 0..2),
            (0, vec![Up, Down, End], 0, 0..0),
        ] {
            let mut pointer = Pointer::default();
            pointer.window(len, 4);
            for code in &keys {
                assert!(pointer.key(Key::plain(*code), len));
                pointer.window(len, 4);
            }
            assert_eq!((pointer.at(), pointer.window(len, 4)), (at, window), "{len} {keys:?}");
        }
        assert!(!Pointer::default().key(Key::ctrl('a'), 3) && !Pointer::default().key(Key::plain(KeyCode::Enter), 3));
    }
}
