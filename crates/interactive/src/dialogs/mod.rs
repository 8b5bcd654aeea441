//! Dialogs that temporarily replace the editor: questions and selectors.

mod approve;
mod ask;
mod branch_note;
mod branch_points;
mod card;
mod copy;
#[cfg(test)]
mod every;
mod field;
mod history;
mod hotkeys;
mod letters;
mod menu;
mod model;
mod open_url;
mod page;
mod picker;
mod plan;
mod query;
mod quiet;
#[cfg(test)]
pub(crate) mod screen;
mod sessions;
mod settings;
mod sheet;
#[cfg(test)]
mod states;
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
pub use menu::MenuDialog;
pub(crate) use model::levels_of;
pub use model::{ModelChoices, ModelDialog, ROLES};
pub use open_url::OpenUrlDialog;
pub use page::PageDialog;
pub use plan::PlanDialog;
pub(crate) use quiet::Quiet;
pub use sessions::{Sessions, SessionsDialog};
pub use settings::{SettingsDialog, StoredSetting};
pub(crate) use sheet::{Sheet, one_line, wrapped};
pub use summary::SummaryDialog;
pub use theme::ThemeDialog;
pub use thinking::ThinkingDialog;
pub use tree::{TreeDialog, TreeView};

use crate::action::Action;
use crate::keymap::KeyContext;

/// Replaces the editor until it is closed.
pub trait Dialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line>;

    /// Receives default keys: see [`crate::Keymap::for_component`] for keys that the user has rebound.
    fn input(&mut self, input: &Input) -> DialogStep;

    /// Returns when to call [`Self::woken`].
    fn wakes(&self) -> Option<Instant> {
        None
    }

    /// Called when that time has come.
    fn woken(&mut self) -> DialogStep {
        DialogStep::Ignored
    }

    /// Takes back a text that was edited in the user's own editor: see [`Action::EditDialogOutside`].
    fn edited(&mut self, _text: &str) {}

    /// Returns the context of its key bindings.
    fn context(&self) -> KeyContext {
        KeyContext::List
    }
}

#[derive(Debug)]
pub enum DialogStep {
    /// Nothing changed.
    Ignored,
    Redraw,
    /// Executes an action and keeps the dialog open, such as previewing a theme or deleting a session.
    Do(Action),
    /// Closes the dialog. `None` if nothing was chosen.
    Close(Option<Action>),
}

/// Whether a key closes a list without a choice.
fn is_cancel(key: Key) -> bool {
    key == Key::plain(KeyCode::Escape) || key == Key::ctrl('c')
}

/// Returns the step for a key that a list has handled or not.
fn picked(taken: bool) -> DialogStep {
    if taken { DialogStep::Redraw } else { DialogStep::Ignored }
}
