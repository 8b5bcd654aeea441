//! Watches how many processes a tree has and how much memory they take, so that a bomb ends before the machine does.

use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::platform::{Crowd, Leader, Tree, Weight};
use crate::spawn::{Overrun, ProcessLimits};

/// Between two looks. A look is two small reads unless many processes were started meanwhile, or memory is short.
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct ResourceGuard {
    processes: Option<usize>,
    memory: Option<u64>,
    crowd: Crowd,
    weight: Weight,
    looks: Interval,
    /// The tree was too large and has been killed.
    pub(crate) overran: Option<Overrun>,
}

impl ResourceGuard {
    /// `None` where nothing is to be watched. Needs a running tokio runtime.
    pub(crate) fn new(limits: ProcessLimits) -> Option<Self> {
        let ProcessLimits { tree_processes: processes, tree_memory: memory, .. } = limits;
        if processes.is_none() && memory.is_none() {
            return None;
        }
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (crowd, weight) = (Crowd::of_new_tree(), Weight::default());
        Some(Self { processes, memory, crowd, weight, looks, overran: None })
    }

    /// Waits until it is time to look again.
    pub(crate) async fn next_look(&mut self) {
        self.looks.tick().await;
    }

    /// Kills the tree when it is too large.
    pub(crate) fn look(&mut self, tree: &Tree, leader: Leader) {
        if self.overran.is_some() {
            return;
        }
        if self.processes.is_some_and(|limit| self.crowd.exceeds(tree, limit)) {
            self.overran = Some(Overrun::Processes);
        } else if self.memory.is_some_and(|limit| self.weight.exceeds(tree, limit)) {
            self.overran = Some(Overrun::Memory);
        }
        if self.overran.is_some() {
            tree.kill(leader);
        }
    }
}
