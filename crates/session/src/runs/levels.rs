//! Thinking levels that a model does not take: the user is told once which one is asked for instead.

use crate::actor::{Actor, Models};
use crate::event::SessionEvent;

/// Pairs of a model and a level that are remembered.
const MAX_TOLD: usize = 64;

impl Actor {
    /// Says once for each model and level when another level than the chosen one is asked for.
    pub(crate) async fn tell_of_level(&mut self) {
        let Models { current, thinking } = &self.models;
        let Some(instead) = current.effort_instead_of(*thinking) else { return };
        let told = (current.selector(), *thinking);
        if self.guard.told_levels.contains(&told) {
            return;
        }
        let text = format!("{} does not take the thinking level `{thinking}`: `{instead}` is used", current.selector());
        if self.guard.told_levels.len() == MAX_TOLD {
            self.guard.told_levels.clear();
        }
        self.guard.told_levels.push(told);
        self.tell(SessionEvent::Notice { source: "thinking", text }).await;
    }
}
