//! Limits the number of processes and the memory of a tree, so that a fork bomb is killed before it exhausts the machine.

use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::platform::{Crowd, Leader, Tree, Weight};
use crate::spawn::{Overrun, ProcessLimits};

/// The interval between two checks. A check is two small reads unless many processes were started meanwhile, or memory is
/// short.
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct ResourceGuard {
    processes: Option<usize>,
    memory: Option<u64>,
    crowd: Crowd,
    weight: Weight,
    looks: Interval,
    /// Set if the tree exceeded a limit and was killed.
    pub(crate) overran: Option<Overrun>,
}

impl ResourceGuard {
    /// `None` if there are no limits. Needs a running tokio runtime.
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

    /// Waits until the next check is due.
    pub(crate) async fn next_look(&mut self) {
        self.looks.tick().await;
    }

    /// Kills the tree if it exceeds a limit.
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
