//! Thinking levels that a model does not support: the user is notified once of the level that is used instead.

use crate::actor::{Actor, Models};
use crate::event::SessionEvent;

/// Maximum remembered pairs of a model and a level.
const MAX_TOLD: usize = 64;

impl Actor {
    /// Notifies the user, once per model and level, if a level other than the chosen one is used.
    pub(crate) async fn tell_of_level(&mut self) {
        let Models { current, thinking } = &self.models;
        let Some(instead) = current.effort_instead_of(*thinking) else { return };
        let told = (current.selector(), *thinking);
        if self.guard.told_levels.contains(&told) {
            return;
        }
        let text =
            format!("{} does not support the thinking level `{thinking}`; using `{instead}`", current.selector());
        if self.guard.told_levels.len() == MAX_TOLD {
            self.guard.told_levels.clear();
        }
        self.guard.told_levels.push(told);
        self.tell(SessionEvent::Notice { source: "thinking", text }).await;
    }
}
