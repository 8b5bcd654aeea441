//! Watches how many processes a tree has, so that a fork bomb ends before the machine does.

use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::platform::{Crowd, Leader, Tree};

/// Between two looks. A look is one small read unless many processes were started meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Guard {
    limit: usize,
    crowd: Crowd,
    looks: Interval,
    /// The tree was too large and has been killed.
    pub(crate) overran: bool,
}

impl Guard {
    /// Needs a running tokio runtime.
    pub(crate) fn new(limit: usize) -> Self {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { limit, crowd: Crowd::of_new_tree(), looks, overran: false }
    }

    /// Waits until it is time to look again.
    pub(crate) async fn next_look(&mut self) {
        self.looks.tick().await;
    }

    /// Kills the tree when it is too large.
    pub(crate) fn look(&mut self, tree: &Tree, leader: Leader) {
        if !self.overran && self.crowd.exceeds(tree, self.limit) {
            self.overran = true;
            tree.kill(leader);
        }
    }
}
