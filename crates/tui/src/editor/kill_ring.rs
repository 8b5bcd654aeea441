//! The kill ring: cut text that can be inserted again.

use std::collections::VecDeque;

use super::fragment::Fragment;

const MOST: usize = 60;
const MOST_BYTES: usize = 8 << 20;

#[derive(Clone, Debug, Default)]
pub(crate) struct KillRing {
    /// Newest first.
    cuts: VecDeque<Fragment>,
}

/// Position of a cut relative to the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutSide {
    Before,
    After,
}

impl KillRing {
    /// `joins` means that the cut directly follows another one and is merged with it.
    pub fn add(&mut self, cut: Fragment, side: CutSide, joins: bool) {
        if cut.text.is_empty() {
            return;
        }
        let joined = if joins { self.cuts.pop_front() } else { None };
        let whole = match (joined, side) {
            (None, _) => cut,
            (Some(newest), CutSide::Before) => joined_to(cut, &newest),
            (Some(newest), CutSide::After) => joined_to(newest, &cut),
        };
        self.cuts.push_front(whole);
        self.cuts.truncate(MOST);
        while self.cuts.len() > 1 && self.cuts.iter().map(Fragment::weight).sum::<usize>() > MOST_BYTES {
            self.cuts.pop_back();
        }
    }

    pub fn newest(&self) -> Option<&Fragment> {
        self.cuts.front()
    }

    /// Rotates to the previous cut, which becomes the newest, and returns it.
    pub fn turn(&mut self) -> Option<&Fragment> {
        self.cuts.rotate_left(usize::from(self.cuts.len() > 1));
        self.cuts.front()
    }
}

fn joined_to(mut left: Fragment, right: &Fragment) -> Fragment {
    left.append(right);
    left
}
