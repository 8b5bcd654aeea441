//! Opens the selection dialogs.

use std::convert::Infallible;
use std::time::SystemTime;

use omp_session::{SessionHost, SessionListing, conversation};
use omp_types::AssistantMessage;
use tokio::sync::oneshot;

use super::screen::Dirty;
use super::{News, Running};
use crate::action::Action;
use crate::dialogs::{
    BranchPointsDialog, CopyDialog, HistoryDialog, HotkeysDialog, ModelChoices, ModelDialog, Sessions, SessionsDialog,
    SettingsDialog, ThemeDialog, ThinkingDialog, TreeDialog, TreeView, code_blocks, copyables,
};
use crate::keymap::KeyContext;
use crate::setup::LoginDialog;
use crate::transcript::Tone;

impl Running {
    pub(super) fn offer_hotkeys(&mut self) {
        self.show_dialog(Box::new(HotkeysDialog::new(self.around.keymap.help())));
    }

    pub(super) fn offer_themes(&mut self) {
        let (names, current) = (self.around.surroundings.themes(), self.screen.theme().name.clone());
        self.show_dialog(Box::new(ThemeDialog::new(names, &current)));
    }

    pub(super) fn offer_settings(&mut self) {
        match self.around.surroundings.settings() {
            Ok(stored) => {
                let settings = self.around.surroundings.setting_list();
                self.show_dialog(Box::new(SettingsDialog::new(&settings, stored)));
            }
            Err(problem) => self.note(Tone::Error, &problem),
        }
    }

    pub(super) fn offer_history(&mut self) {
        let newest_first = self.prompt.history().into_iter().rev().collect();
        self.show_dialog(Box::new(HistoryDialog::new(newest_first)));
    }

    /// `/copy`: copies part of the conversation. Returns `false` if there is nothing to copy, which the session's own
    /// command reports.
    pub(super) async fn offer_copies(&mut self, which: &str) -> bool {
        let Some(live) = &self.live else { return false };
        let messages = live.session.messages();
        let last = messages.iter().rev().filter_map(|message| message.as_assistant()).map(AssistantMessage::text);
        let last = last.into_iter().find(|text| !text.trim().is_empty());
        let command = live.session.last_command();
        let text = match which {
            "" => {
                let pieces = copyables(last.as_deref(), command.as_deref());
                self.show_dialog(Box::new(CopyDialog::new(pieces)));
                return true;
            }
            "last" => last,
            "code" => last.and_then(|text| code_blocks(&text).pop()).map(|(_, code)| code),
            "cmd" => command,
            "all" => conversation(messages.iter().map(|message| &**message)),
            _ => return false,
        };
        match text {
            Some(text) => Box::pin(self.obey(Action::Copy(text))).await,
            None => self.hint("nothing to copy yet"),
        }
        true
    }

    pub(super) fn ask_key(&mut self, provider: Option<&str>) {
        match LoginDialog::new(self.around.surroundings.key_places(), provider) {
            Ok(dialog) => self.show_dialog(Box::new(dialog)),
            Err(problem) => self.note(Tone::Error, &problem),
        }
    }

    pub(super) fn offer_models(&mut self, temporary: bool) {
        let Some(live) = &self.live else { return };
        let snapshot = live.session.snapshot();
        let choices = ModelChoices {
            models: self.around.host.offered_models(),
            current: Some(snapshot.model.selector()),
            thinking: snapshot.thinking,
            roles: self.around.surroundings.roles(),
            favorites: self.around.surroundings.favorite_models(),
            temporary,
        };
        self.show_dialog(Box::new(ModelDialog::new(choices)));
    }

    pub(super) fn offer_thinking(&mut self) {
        let Some(live) = &self.live else { return };
        let snapshot = live.session.snapshot();
        self.show_dialog(Box::new(ThinkingDialog::new(&snapshot.model, snapshot.thinking)));
    }

    pub(super) fn offer_tree(&mut self) {
        let Some(live) = &self.live else { return };
        let points = live.session.branch_points().unwrap_or_default();
        match live.session.trees(&TreeDialog::FILTERS) {
            Ok(trees) if trees.iter().all(Vec::is_empty) => self.hint("this session has no messages yet"),
            Ok(trees) => {
                let view = TreeView { trees, points, leaf: live.session.leaf() };
                let dialog = TreeDialog::new(view).filtered(&self.around.habits.tree_filter);
                self.show_dialog(Box::new(dialog));
            }
            Err(problem) => self.note(Tone::Error, &problem.to_string()),
        }
    }

    pub(super) fn offer_branch_points(&mut self) {
        let Some(live) = &self.live else { return };
        match live.session.branch_points() {
            Ok(points) if points.is_empty() => self.hint("no earlier message to return to"),
            Ok(points) => self.show_dialog(Box::new(BranchPointsDialog::new(points))),
            Err(problem) => self.note(Tone::Error, &problem),
        }
    }

    /// Reads the list of sessions in a task.
    pub(super) fn list_sessions(&mut self) {
        self.with_list(|host| host.sessions(None), News::Sessions);
    }

    /// Changes a session of the list in a task.
    pub(super) fn change_list(&mut self, change: impl FnOnce(&dyn SessionHost) -> Result<(), String> + Send + 'static) {
        self.with_list(change, News::ListChanged);
    }

    /// Runs tasks on the list one after the other, so that a list shows earlier changes.
    fn with_list<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&dyn SessionHost) -> Result<T, String> + Send + 'static,
        news: fn(Result<T, String>) -> News,
    ) {
        let host = self.around.host.clone();
        let (done, ended) = oneshot::channel::<Infallible>();
        let earlier = self.work.list.replace(ended);
        self.beside(async move {
            if let Some(earlier) = earlier {
                // Nothing is ever sent: the channel closes when the earlier task is done.
                drop(earlier.await);
            }
            let outcome = tokio::task::spawn_blocking(move || work(&*host)).await;
            drop(done);
            news(outcome.unwrap_or_else(|error| Err(error.to_string())))
        });
    }

    /// The list already shows the change; if the change failed, the list is read again.
    pub(super) fn list_changed(&mut self, changed: Result<(), String>) {
        let Err(problem) = changed else { return };
        self.note(Tone::Error, &problem);
        if self.dialog.as_ref().is_some_and(|open| open.dialog.context() == KeyContext::Sessions) {
            self.list_sessions();
        }
    }

    pub(super) fn offer_sessions(&mut self, sessions: Result<Vec<SessionListing>, String>) {
        self.screen.mark(Dirty::Now);
        match sessions {
            Ok(listings) if listings.is_empty() => self.hint("no sessions yet"),
            Ok(listings) => {
                let open = self.live.as_ref().and_then(|live| live.session.snapshot().file.clone());
                let cwd = self.place.folder.clone();
                let sessions = Sessions { listings, cwd, open, now: SystemTime::now() };
                self.show_dialog(Box::new(SessionsDialog::new(sessions)));
            }
            Err(problem) => self.note(Tone::Error, &problem),
        }
    }
}
