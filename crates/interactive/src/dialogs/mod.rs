//! What stands in the place of the editor for a while: questions, selectors.

mod approve;
mod ask;
mod branch_note;
mod branch_points;
mod card;
mod copy;
mod field;
mod history;
mod hotkeys;
mod letters;
mod model;
mod open_url;
mod picker;
mod plan;
mod query;
mod quiet;
#[cfg(test)]
mod random_keys;
#[cfg(test)]
pub(crate) mod screen;
mod sessions;
mod settings;
mod sheet;
mod summary;
mod theme;
mod thinking;
mod tree;

use omp_tui::{Input, Key, KeyCode, Line, Space};
use tokio::time::Instant;

pub use approve::{ApproveDialog, PendingApproval};
pub use ask::AskDialog;
pub use branch_note::BranchNoteDialog;
pub use branch_points::BranchPointsDialog;
pub use copy::{CopyDialog, Copyable, code_blocks, copyables};
pub use history::HistoryDialog;
pub use hotkeys::HotkeysDialog;
pub(crate) use model::levels_of;
pub use model::{ModelChoices, ModelDialog, ROLES};
pub use open_url::OpenUrlDialog;
pub use plan::PlanDialog;
pub(crate) use quiet::Quiet;
pub use sessions::{Sessions, SessionsDialog};
pub use settings::{SettingsDialog, StoredSetting};
pub use summary::SummaryDialog;
pub use theme::ThemeDialog;
pub use thinking::ThinkingDialog;
pub use tree::{TreeDialog, TreeView};

use crate::action::Action;
use crate::keymap::KeyContext;

/// Takes the place of the editor until it is done.
pub trait Dialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line>;

    /// Keys are those of the defaults: see [`crate::Keymap::for_component`] for what the user has bound anew.
    fn input(&mut self, input: &Input) -> DialogStep;

    /// When it is to be asked again without a key.
    fn wakes(&self) -> Option<Instant> {
        None
    }

    /// That time has come.
    fn woken(&mut self) -> DialogStep {
        DialogStep::Ignored
    }

    /// Where its keys count.
    fn context(&self) -> KeyContext {
        KeyContext::List
    }
}

#[derive(Debug)]
pub enum DialogStep {
    /// Nothing to see.
    Ignored,
    Redraw,
    /// Done on the way, the dialog stays: a theme is tried, a session deleted.
    Do(Action),
    /// The editor comes back. `None` when nothing was chosen.
    Close(Option<Action>),
}

/// Closes a list without choosing.
fn is_cancel(key: Key) -> bool {
    key == Key::plain(KeyCode::Escape) || key == Key::ctrl('c')
}

/// What a list did with a key.
fn picked(taken: bool) -> DialogStep {
    if taken { DialogStep::Redraw } else { DialogStep::Ignored }
}
