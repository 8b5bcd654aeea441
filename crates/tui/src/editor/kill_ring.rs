//! What was cut, to be put in again elsewhere.

use std::collections::VecDeque;

use super::fragment::Fragment;

const MOST: usize = 60;
const MOST_BYTES: usize = 8 << 20;

#[derive(Clone, Debug, Default)]
pub(crate) struct KillRing {
    /// The newest in front.
    cuts: VecDeque<Fragment>,
}

/// Where a cut was, seen from the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutSide {
    Before,
    After,
}

impl KillRing {
    /// `joins` says that it directly follows another cut, with which it becomes one.
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

    /// The one before, which is now the newest.
    pub fn turn(&mut self) -> Option<&Fragment> {
        self.cuts.rotate_left(usize::from(self.cuts.len() > 1));
        self.cuts.front()
    }
}

fn joined_to(mut left: Fragment, right: &Fragment) -> Fragment {
    left.append(right);
    left
}
